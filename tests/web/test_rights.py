"""What the roles allow, as a table: who may answer what is decided here before the run judges by the same rule."""

from datetime import UTC, datetime
from typing import Any

import pytest

from opspilot.core.interrupts import AnswerAction, Principal
from opspilot.journal.queries import Approval, InterruptRow
from opspilot.web.people.rights import Right, answers_of, may, may_steer

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def question(kind: str = "confirm_risky", **more: Any) -> InterruptRow:
    known: dict[str, Any] = {
        "session": "s", "run": "r", "interrupt": "1.1#0", "call": "1.1", "kind": kind, "reason": "Why?", "payload": {},
        "role": "", "due": None, "tool": "change", "arguments": {}, "digest": "d", "state": "open", "opened_at": NOW,
        "settled_at": None, "action": None, "by": None, "comment": None, "requester": "ann",
    }  # fmt: skip
    return InterruptRow(**{**known, **more})


def names(actions: tuple[AnswerAction, ...]) -> str:
    return " ".join(action.value for action in actions)


@pytest.mark.parametrize(
    ("roles", "rights"),
    [
        ((), ""),
        (("viewer",), "look"),
        (("sre",), "look answer"),
        (("approver",), "look answer"),
        (("operator",), "look ask answer"),
        (("admin",), "look ask answer"),
    ],
)
def test_roles_give_rights(roles: tuple[str, ...], rights: str) -> None:
    who = Principal("eve", roles=roles)
    assert " ".join(right.value for right in Right if may(who, right)) == rights


@pytest.mark.parametrize(
    ("who", "roles", "asked", "answers"),
    [
        ("eve", ("viewer",), question(), ""),
        ("eve", ("operator",), question(), ""),
        ("eve", ("sre",), question(), ""),
        ("eve", ("approver",), question(), "approve reject provide"),
        ("eve", ("admin",), question(), "approve reject provide"),
        ("ann", ("operator",), question(), "reject"),
        ("ann", ("viewer",), question(), ""),
        ("ann", ("operator", "approver"), question(), "approve reject provide"),
        ("ann", ("operator", "approver"), question(not_requester=True), "reject provide"),
        ("eve", ("approver",), question(roles=("sre",)), ""),
        ("eve", ("sre",), question(roles=("sre",)), "approve reject provide"),
        ("eve", ("lead",), question(roles=("sre", "lead")), "approve reject provide"),
        ("eve", ("admin",), question(roles=("sre",)), "approve reject provide"),
        ("eve", ("approver",), question(tool="", call="limit"), "approve reject"),
        ("eve", ("approver",), question(approvals=(Approval("eve", "", NOW, ""),)), "reject provide"),
        ("eve", ("approver",), question(approvals=(Approval("bob", "", NOW, ""),)), "approve reject provide"),
        ("ann", ("operator",), question("params_required"), "reject provide"),
        ("eve", ("operator",), question("params_required"), ""),
        ("eve", ("approver",), question("question"), "reject provide"),
        ("eve", ("viewer",), question("question"), ""),
        ("eve", ("admin",), question(state="answered"), ""),
    ],
)
def test_who_may_answer_what(who: str, roles: tuple[str, ...], asked: InterruptRow, answers: str) -> None:
    assert names(answers_of(Principal(who, roles=roles), asked)) == answers


@pytest.mark.parametrize(
    ("who", "roles", "may_it"),
    [
        ("ann", ("operator",), True),
        ("eve", ("operator",), False),
        ("ann", ("viewer",), False),
        ("eve", ("admin",), True),
    ],
)
def test_operators_steer_their_own_sessions_and_admins_all(who: str, roles: tuple[str, ...], may_it: bool) -> None:
    assert may_steer(Principal(who, roles=roles), "ann") is may_it
