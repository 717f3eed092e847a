"""Answers over HTTP: who may give them, what they are told, and that a retry, a race or a dead worker does no harm."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.core.calls import Gate
from opspilot.core.entries import Kind
from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.policy import Policy, Rule
from opspilot.core.terms import Terms
from opspilot.testing import Step, call
from opspilot.tools.spec import Tool, tool
from tests.web.stand import Stand, answer, question

pytestmark = pytest.mark.asyncio(loop_scope="session")

DONE = Step(text="That is all.")
CHANGE = [Step(calls=[call("change", name="db")]), DONE]


def tools(done: list[str]) -> list[Tool]:
    @tool()
    def change(name: str, by: int = 1) -> str:
        """Change something."""
        done.append(f"change {name} {by}")
        return "changed"

    @tool()
    def deploy(service: str, environment: str = "") -> str | Interrupt:
        """Deploy something somewhere."""
        if not environment:
            fields = {"fields": ["environment"], "options": {"environment": ["staging", "production"]}}
            return Interrupt(InterruptType.PARAMS_REQUIRED, "Where to?", fields)
        done.append(f"deploy {service} {environment}")
        return "deployed"

    return [change, deploy]


def asks(**terms: Any) -> Policy:
    return Policy((Rule("changes", Gate.CONFIRM, tools=("change",), terms=Terms(**terms)), Rule("rest", Gate.RUN)))


@pytest.fixture
def done() -> list[str]:
    """What really happened, in order."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path, done: list[str]) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path, tools(done), policy=asks(role="sre", quorum=2, not_requester=True)) as stand:
        yield stand


async def asked_by(stand: Stand, name: str, *roles: str) -> tuple[Any, str]:
    """Somebody's client, and the session in which they asked something that waits for people."""
    client = await stand.program(name, *roles)
    response = await client.post("/api/sessions", json={"text": "Change it."})
    assert response.status_code == 201, response.text
    session = response.json()["session"]
    await stand.desk.waiting(session)
    return client, session


async def test_two_different_people_have_to_agree_and_each_is_told_what_their_answer_did(
    stand: Stand, done: list[str]
) -> None:
    async with stand.desk.worker(CHANGE):
        ann, session = await asked_by(stand, "ann", "operator", "sre")
        bob, eve = await stand.program("bob", "sre"), await stand.program("eve", "sre", "viewer")
        shown = await question(bob, session)
        assert (shown["tool"], shown["rule"], shown["requester"], shown["quorum"]) == ("change", "changes", "ann", 2)
        assert shown["answers"] == ["approve", "reject", "provide"]
        assert (await question(ann, session))["answers"] == ["reject", "provide"]

        own = await answer(ann, shown, "approve")
        assert (own.status_code, own.json()["message"]) == (
            403,
            "You asked for this, so somebody else has to agree to it.",
        )
        first = (await answer(bob, shown, "approve", comment="fine", id="click")).json()
        again = (await answer(bob, shown, "approve", comment="fine", id="click")).json()
        assert (first["outcome"], first["approvals"], first["quorum"]) == ("counted", 1, 2)
        assert again == first
        twice = await answer(bob, shown, "approve")
        assert (twice.status_code, twice.json()["message"][:23]) == (403, "You have agreed already")
        last = (await answer(eve, shown, "approve")).json()
        assert (last["outcome"], last["message"]) == ("settled", "Approved; the run goes on.")
        await stand.desk.until(session, Kind.RUN_STOPPED)

    assert done == ["change db 1"]
    (settled,) = stand.desk.entries(session, Kind.INTERRUPT_ANSWERED)
    assert (settled.data["by"], settled.data["method"], settled.data["approvals"]) == ("eve", "token", ["bob"])


async def test_an_edit_may_leave_out_an_argument_and_others_see_what_it_is_then(stand: Stand, done: list[str]) -> None:
    async with stand.desk.worker([Step(calls=[call("change", name="db", by=7)]), DONE]):
        _, session = await asked_by(stand, "ann", "operator")
        bob, eve = await stand.program("bob", "sre"), await stand.program("eve", "sre")
        shown = await question(bob, session)
        refused = (await answer(bob, shown, "provide", without=["speed"])).json()
        assert (refused["outcome"], "Only an argument that is shown" in refused["message"]) == ("ignored", True)
        assert (await answer(bob, shown, "provide", without=["by"])).json()["outcome"] == "asked_again"
        again = await question(eve, session)
        assert again["arguments"] == {"name": "db", "by": 1}
        assert (await answer(eve, again, "approve")).json()["outcome"] == "settled"
        await stand.desk.until(session, Kind.RUN_STOPPED)
        page = (await eve.get(f"/sessions/{session}", headers={"Accept": "text/html"})).text
    assert done == ["change db 1"]
    assert "Left out: by" in page


async def test_who_comes_second_is_told_who_decided_and_what(stand: Stand, done: list[str]) -> None:
    async with stand.desk.worker(CHANGE):
        _, session = await asked_by(stand, "ann", "operator")
        bob, eve = await stand.program("bob", "sre"), await stand.program("eve", "sre")
        shown = await question(bob, session)
        told = await asyncio.gather(*(answer(who, shown, "reject", comment="Not now.") for who in (bob, eve)))
        await stand.desk.until(session, Kind.RUN_STOPPED)
    won, lost = sorted(told, key=lambda response: response.status_code)
    assert (won.status_code, won.json()["outcome"]) == (200, "settled")
    assert lost.status_code == 409
    assert lost.json()["code"] == "settled"
    assert lost.json()["message"] in {
        f"{name} has rejected this already. They said: Not now." for name in ("bob", "eve")
    }
    assert done == []
    late = await answer(eve if lost is told[1] else bob, shown, "approve")
    assert (late.status_code, late.json()["code"]) == (409, "settled")


async def test_a_principal_in_the_body_is_not_who_it_is(stand: Stand) -> None:
    async with stand.desk.worker(CHANGE):
        _, session = await asked_by(stand, "ann", "operator")
        bob = await stand.program("bob", "sre")
        forged = {"principal": {"id": "eve", "name": "Eve", "roles": ["admin"]}, "by": "eve", "roles": ["admin"]}
        told = await answer(bob, await question(bob, session), "reject", **forged)
        assert told.json()["outcome"] == "settled"
        await stand.desk.until(session, Kind.RUN_STOPPED)
    (settled,) = stand.desk.entries(session, Kind.INTERRUPT_ANSWERED)
    assert (settled.data["by"], settled.data["name"]) == ("bob", "bob")


async def test_an_answer_for_something_else_than_was_shown_settles_nothing(stand: Stand) -> None:
    async with stand.desk.worker(CHANGE):
        _, session = await asked_by(stand, "ann", "operator")
        bob = await stand.program("bob", "sre")
        shown = await question(bob, session)
        other = await answer(bob, {**shown, "digest": "0" * 32}, "approve")
        assert (other.status_code, other.json()["code"]) == (409, "changed")
        missing = await bob.post(f"/api/interrupts/{session}/1.1%230/answer", json={"action": "approve"})
        assert (missing.status_code, missing.json()["code"]) == (422, "not_understood")
        unknown = await answer(bob, {**shown, "interrupt": "7.7#0"}, "approve")
        assert (unknown.status_code, unknown.json()["code"]) == (404, "no_such_question")
        assert (await question(bob, session))["state"] == "open"
        await stand.desk.opspilot.stop(session)
        await stand.desk.until(session, Kind.RUN_STOPPED)
        closed = await answer(bob, shown, "approve")
    assert (closed.status_code, closed.json()["message"]) == (
        409,
        "This is closed: the run ended, or went on without it.",
    )


async def test_what_is_missing_is_provided_by_who_asked_and_a_viewer_can_do_nothing(
    stand: Stand, done: list[str]
) -> None:
    async with stand.desk.worker([Step(calls=[call("deploy", service="web")]), DONE]):
        ann, session = await asked_by(stand, "ann", "operator")
        shown = await question(ann, session)
        assert (shown["kind"], shown["answers"]) == ("params_required", ["reject", "provide"])
        viewer = await stand.program("vic", "viewer")
        assert (await question(viewer, session))["answers"] == []
        assert (await viewer.get("/api/interrupts")).json() == []
        refused = await answer(viewer, shown, "provide", values={"environment": "staging"})
        assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")
        nonsense = (await answer(ann, shown, "provide", values={"colour": "red"})).json()
        assert (nonsense["outcome"], nonsense["message"]) == ("ignored", "Not taken: Nobody asked for colour.")
        taken = (await answer(ann, shown, "provide", values={"environment": "staging"})).json()
        assert (taken["outcome"], taken["message"]) == ("settled", "Taken; the run goes on.")
        await stand.desk.until(session, Kind.RUN_STOPPED)
    assert done == ["deploy web staging"]


async def test_edited_arguments_are_another_call_that_is_asked_about_anew(stand: Stand, done: list[str]) -> None:
    async with stand.desk.worker(CHANGE):
        _, session = await asked_by(stand, "ann", "operator")
        bob, eve = await stand.program("bob", "sre"), await stand.program("eve", "sre")
        told = (await answer(bob, await question(bob, session), "provide", values={"by": 7})).json()
        assert told["outcome"] == "asked_again"
        again = await question(eve, session)
        assert (again["interrupt"], again["arguments"]["by"]) == ("1.1#1", 7)
        assert [approval["by"] for approval in again["approvals"]] == ["bob"]
        assert (await answer(eve, again, "approve")).json()["outcome"] == "settled"
        await stand.desk.until(session, Kind.RUN_STOPPED)
    assert done == ["change db 7"]


async def test_while_no_worker_is_up_an_answer_is_kept_and_taken_once_when_one_is_back(
    temporal: Client, tmp_path: Path, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opspilot.client.ANSWER_SECONDS", 0.5)
    async with Stand(temporal, tmp_path, tools(done), policy=asks(role="sre")) as stand:
        async with stand.desk.worker(CHANGE):
            _, session = await asked_by(stand, "ann", "operator")
        bob = await stand.program("bob", "sre")
        shown = await question(bob, session)
        kept = (await answer(bob, shown, "approve", id="click")).json()
        assert kept["outcome"] == "kept"
        assert kept["message"].startswith("No worker answers right now.")
        assert (await answer(bob, shown, "approve", id="click")).json() == kept
        async with stand.desk.worker([DONE]):
            await stand.desk.until(session, Kind.RUN_STOPPED)
        assert (await answer(bob, shown, "approve", id="click")).json()["outcome"] == "settled"
    assert done == ["change db 1"]


async def test_the_inbox_holds_what_one_may_answer_and_can_be_narrowed(stand: Stand) -> None:
    async with stand.desk.worker(CHANGE):
        ann, session = await asked_by(stand, "ann", "operator")
        sre, approver = await stand.program("bob", "sre"), await stand.program("leo", "approver")

        async def listed(client: Any, **wanted: Any) -> list[str]:
            return [found["session"] for found in (await client.get("/api/interrupts", params=wanted)).json()]

        assert await listed(sre) == [session]
        assert await listed(sre, tool="change", role="sre", risk="medium") == [session]
        assert await listed(sre, tool="deploy") == []
        assert await listed(ann) == [session]
        assert await listed(approver) == []
        assert await listed(approver, all=True) == [session]
        stranger = await answer(approver, await question(approver, session), "approve")
        assert (stranger.status_code, stranger.json()["message"]) == (
            403,
            "You may not decide this: it takes the role sre.",
        )
        await stand.desk.opspilot.stop(session)
        await stand.desk.until(session, Kind.RUN_STOPPED)


async def test_an_id_is_of_whoever_used_it_and_cannot_use_up_another_ones(stand: Stand) -> None:
    async with stand.desk.worker(CHANGE):
        _, session = await asked_by(stand, "ann", "operator")
        bob, eve = await stand.program("bob", "sre"), await stand.program("eve", "sre")
        shown = await question(bob, session)
        assert (await answer(bob, shown, "approve", id="same")).json()["outcome"] == "counted"
        assert (await answer(eve, shown, "approve", id="same")).json()["outcome"] == "settled"
        replayed = await answer(bob, shown, "approve", id="same")
        await stand.desk.until(session, Kind.RUN_STOPPED)
    assert (replayed.status_code, replayed.json()["message"]) == (409, "eve has approved this already.")
