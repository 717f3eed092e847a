"""Whose answer counts, and for what; two spellings of one person's id are no second pair of eyes."""

from dataclasses import replace

import pytest

from opspilot.core.approvals import Agreed, Counted, Judgement, OpenQuestion, Refused, judge
from opspilot.core.calls import Gate, Verdict
from opspilot.core.interrupts import Answer, AnswerAction, InterruptType, Principal
from opspilot.core.signatures import is_signed, signed
from opspilot.core.terms import Terms

QUESTION = OpenQuestion(
    kind=InterruptType.CONFIRM_RISKY,
    digest="shown",
    tool="restart",
    arguments={"service": "payment"},
    terms=Terms(quorum=2, not_requester=True),
    roles=(),
    requester="carol",
    approvals=("alice",),
)
SAME = ["alice", "Alice", "ALICE", " alice", "ａｌｉｃｅ"]


def judged(question: OpenQuestion, who: str, action: AnswerAction = AnswerAction.APPROVE, **values: str) -> Judgement:
    answer = Answer("a", "1.1#0", action, Principal(who), values, digest="shown")
    return judge(question, answer, lambda _: Verdict(Gate.CONFIRM, terms=question.terms), known=True)


@pytest.mark.parametrize("who", SAME)
def test_nobody_agrees_twice_under_another_spelling(who: str) -> None:
    assert isinstance(judged(QUESTION, who), Refused)


@pytest.mark.parametrize("who", SAME)
@pytest.mark.parametrize("action", [AnswerAction.APPROVE, AnswerAction.PROVIDE])
def test_nor_agrees_to_their_own_request_by_an_edit_neither(who: str, action: AnswerAction) -> None:
    question = replace(QUESTION, requester="alice", approvals=())
    values = {"service": "billing"} if action is AnswerAction.PROVIDE else {}
    given = judged(question, who, action, **values)
    assert isinstance(given, Refused) or getattr(given, "approvals", None) == ()


@pytest.mark.parametrize("who", SAME)
def test_nor_to_what_the_run_does_after_they_told_it_something(who: str) -> None:
    assert isinstance(judged(replace(QUESTION, approvals=(), spoke=("bob", "alice")), who), Refused)


@pytest.mark.parametrize("who", ["bob", "alice2", "alice@example.com"])
def test_somebody_else_is_somebody_else(who: str) -> None:
    assert judged(QUESTION, who) == Agreed({"service": "payment"}, approved=True)
    assert judged(replace(QUESTION, approvals=()), who) == Counted((who,))


# ---------------------------------------------------------------- arguments that are left out


BOTH = replace(QUESTION, terms=Terms(), arguments={"service": "payment", "hosts": ["a"]})


def left_out(action: AnswerAction, *names: str, kind: InterruptType = BOTH.kind, **values: str) -> Judgement:
    answer = Answer("a", "1.1#0", action, Principal("bob"), values, digest="shown", without=names)
    return judge(replace(BOTH, kind=kind), answer, lambda _: Verdict(Gate.CONFIRM, terms=BOTH.terms), known=True)


def test_an_edit_may_leave_out_what_was_shown_and_is_judged_by_what_remains() -> None:
    assert left_out(AnswerAction.PROVIDE, "hosts") == Agreed({"service": "payment"}, approved=True)
    assert left_out(AnswerAction.PROVIDE, "hosts", service="db") == Agreed({"service": "db"}, approved=True)


def test_nothing_is_left_out_of_what_is_approved_or_only_filled_in_nor_what_was_not_shown() -> None:
    assert isinstance(left_out(AnswerAction.PROVIDE, "unheard-of"), Refused)
    assert isinstance(left_out(AnswerAction.APPROVE, "hosts"), Refused)
    assert isinstance(left_out(AnswerAction.PROVIDE, "hosts", kind=InterruptType.PARAMS_REQUIRED), Refused)


def test_a_signature_is_for_what_is_left_out_too() -> None:
    key = b"k" * 32
    answer = Answer("a", "1.1#0", AnswerAction.PROVIDE, Principal("bob"), {"service": "db"}, without=("hosts",))
    given = signed(answer, key, "s", "r")
    assert is_signed(given, key, "s", "r")
    for other in ((), ("service",), ("hosts", "service")):
        assert not is_signed(replace(given, without=other), key, "s", "r")
