"""One round of one call: started once, ended once, never run when that isn't sure to be right."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.tools import ToolActivities
from opspilot.core.calls import digest
from opspilot.core.contract import RunTool, ToolOutcome
from opspilot.core.entries import Entry, Kind, NewEntry, tool_started_key
from opspilot.core.interrupts import AnswerAction, shown_digest
from opspilot.core.observations import ErrorCode
from opspilot.journal.store import SqlJournal
from tests.activities.desk import ME, NOON, Desk, call, until


def start_before(desk: Desk, round_: int = 1) -> None:
    """Another attempt at this round has started it."""
    at = datetime.fromtimestamp(NOON, UTC)
    key = tool_started_key("run-1", "1.1", round_)
    data = {"round": round_, "nonce": "another"}
    desk.journal.append(desk.session, "run-1", [NewEntry(key, Kind.TOOL_STARTED, at, data, 1, "1.1")])


async def test_a_round_is_started_and_ended_in_the_journal(desk: Desk) -> None:
    await desk.propose(call("change", name="x"))
    outcome = await desk.act()
    started, result = desk.entries()[-2:]
    assert (started.kind, started.step, started.call, started.data["round"]) == (Kind.TOOL_STARTED, 1, "1.1", 1)
    assert (result.kind, result.data["ok"], result.data["data"], result.data["round"]) == (
        Kind.TOOL_RESULT, True, "changed x", 1,
    )  # fmt: skip
    assert (outcome.ok, outcome.code, outcome.interrupted) == (True, None, False)
    assert outcome.digest == digest({"ok": True, "data": "changed x"})
    assert outcome.active_seconds == result.data["duration_ms"] / 1000


@pytest.mark.parametrize("tool", ["change", "refuse", "tidy"])
async def test_a_recorded_result_is_returned_without_running_again(desk: Desk, tool: str) -> None:
    await desk.propose(call(tool, name="x"))
    first = await desk.act()
    before, done = desk.entries(), list(desk.done)
    assert await desk.act(attempt=2) == first
    assert (desk.entries(), desk.done) == (before, done)


async def test_a_recorded_question_is_returned_without_asking_again(desk: Desk) -> None:
    await desk.propose(call("risky", name="x"))
    first = await desk.act()
    before = desk.entries()
    assert await desk.act(attempt=2) == first
    assert (first.ok, first.interrupted, first.digest) == (
        False, True, shown_digest("run-1", "1.1#1", "risky", {"name": "x"}),
    )  # fmt: skip
    assert desk.entries() == before


async def test_a_write_that_was_started_before_is_never_run_again(desk: Desk) -> None:
    await desk.propose(call("change", name="x"))
    start_before(desk)
    with pytest.raises(ApplicationError) as refused:
        await desk.act(attempt=2)
    assert (refused.value.type, refused.value.non_retryable, desk.done) == ("AlreadyStarted", True, [])
    assert desk.entries(Kind.TOOL_RESULT) == []


@pytest.mark.parametrize(
    ("proposed", "done"),
    [
        (call("tidy", name="x"), ["tidied x run-1/1.1#1"]),
        (call("count", topic="x"), ["counted x"]),
    ],
    ids=["idempotent write", "read"],
)
async def test_what_may_run_twice_is_run_again(desk: Desk, proposed: dict[str, Any], done: list[str]) -> None:
    await desk.propose(proposed)
    start_before(desk)
    assert (await desk.act(attempt=2)).ok
    assert desk.done == done
    assert len(desk.entries(Kind.TOOL_STARTED)) == 1


@pytest.mark.parametrize("tool", ["change", "tidy"])
async def test_a_round_that_was_declared_dead_between_look_and_start_is_never_run(desk: Desk, tool: str) -> None:
    class Paused(SqlJournal):
        """A worker that stands still before it starts the round, while the workflow settles it."""

        def append(self, session: str, run: str, entries: Sequence[NewEntry], *a: Any, **k: Any) -> tuple[Entry, ...]:
            if not desk.entries(Kind.TOOL_STARTED):
                asyncio.run(desk.settle())
            return super().append(session, run, entries, *a, **k)

    await desk.propose(call(tool, name="x"))
    journal = Paused(f"sqlite:///{desk.folder / 'journal.sqlite'}")
    with pytest.raises(ApplicationError) as refused:
        await desk.do(ToolActivities(journal, desk.tools).run_tool, desk.round())
    journal.close()
    assert (refused.value.type, desk.done, desk.codes()) == ("AlreadyStarted", [], {"1.1": "not_started"})


async def test_a_round_that_was_settled_is_answered_with_that(desk: Desk) -> None:
    await desk.propose(call("change", name="x"))
    settled = await desk.settle()
    assert await desk.act() == settled
    assert desk.done == []


async def test_other_arguments_than_those_agreed_on_are_refused_for_good(desk: Desk) -> None:
    await desk.propose(call("change", name="x"))
    with pytest.raises(ApplicationError, match="nothing was run") as refused:
        await desk.act(digest=digest({"name": "y"}))
    assert (refused.value.type, refused.value.non_retryable) == ("JournalConflict", True)
    assert (desk.done, desk.entries(Kind.TOOL_STARTED)) == ([], [])


async def test_a_call_that_the_journal_lacks_is_refused_for_good(desk: Desk) -> None:
    await desk.open("a")
    with pytest.raises(ApplicationError) as refused:
        await desk.do(ToolActivities(desk.journal, desk.tools).run_tool, RunTool("run-1", "1.1", 1, "d"))
    assert (refused.value.type, refused.value.non_retryable) == ("JournalBehind", True)


async def test_a_run_that_was_replaced_runs_nothing(desk: Desk) -> None:
    await desk.propose(call("change", name="x"), call("change", name="y"))
    order = desk.round("1.2")
    await desk.act("1.1")
    journal = SqlJournal(f"sqlite:///{desk.folder / 'journal.sqlite'}")
    journal.begin_run(desk.session, "run-2", datetime.fromtimestamp(NOON + 9, UTC), ME)
    journal.close()
    with pytest.raises(ApplicationError) as refused:
        await desk.do(ToolActivities(desk.journal, desk.tools).run_tool, order)
    assert (refused.value.type, desk.done) == ("StaleRun", ["change x"])


# ---------------------------------------------------------------- what a person agreed to


async def test_without_an_answer_a_call_is_not_approved_and_with_one_it_is(desk: Desk) -> None:
    await desk.propose(call("ranked", name="x"))
    assert (await desk.act()).interrupted
    await desk.judge(AnswerAction.APPROVE)
    assert (await desk.act(round_=2)).ok
    assert desk.done == ["ranked x 1"]
    assert desk.only(Kind.TOOL_RESULT).data["data"] == "x 1 tester"


async def test_edited_arguments_come_from_the_journal(desk: Desk) -> None:
    await desk.propose(call("ranked", name="x"))
    await desk.act()
    judged = await desk.judge(AnswerAction.PROVIDE, values={"level": 3})
    await desk.act(round_=2, digest=judged.digest)
    assert desk.done == ["ranked x 3"]


async def test_the_arguments_as_proposed_are_not_run_when_others_were_agreed_on(desk: Desk) -> None:
    await desk.propose(call("ranked", name="x"))
    await desk.act()
    await desk.judge(AnswerAction.PROVIDE, values={"level": 3})
    with pytest.raises(ApplicationError) as refused:
        await desk.act(round_=2)
    assert (refused.value.type, desk.done) == ("JournalConflict", [])


async def test_the_answer_to_a_question_reaches_the_tool_and_approves_nothing(desk: Desk) -> None:
    await desk.propose(call("ask_colour", name="x"))
    await desk.act()
    await desk.judge(AnswerAction.PROVIDE, values={"colour": "blue"})
    await desk.act(round_=2)
    assert desk.only(Kind.TOOL_RESULT).data["data"] == {"name": "x", "colour": "blue", "approved": False}


async def test_filled_in_parameters_are_run_and_count_as_agreed(desk: Desk) -> None:
    await desk.propose(call("needs_place", name="x"))
    await desk.act()
    judged = await desk.judge(AnswerAction.PROVIDE, values={"place": "here"})
    assert (await desk.act(round_=2, digest=judged.digest)).ok
    assert desk.done == ["x at here"]


async def test_a_call_held_before_it_ran_runs_in_the_same_round_once_approved(careful_desk: Desk) -> None:
    desk = careful_desk
    await desk.propose(call("risky", name="x"))
    await desk.judge(AnswerAction.APPROVE, desk.question)
    outcome = await desk.act()
    assert (outcome.ok, outcome.interrupted, desk.done) == (True, False, ["risked x"])
    assert desk.codes() == {"1.1": "ok"}
    assert await desk.act(attempt=2) == outcome
    assert desk.done == ["risked x"]


async def test_a_tool_that_asks_in_its_last_round_has_asked_too_often(desk: Desk) -> None:
    await desk.propose(call("never_content", name="x"))
    outcome = await desk.act(last_round=True)
    assert (outcome.ok, outcome.interrupted, outcome.code) == (False, False, ErrorCode.TOO_MANY_ROUNDS)
    assert desk.codes() == {"1.1": "too_many_rounds"}
    assert desk.journal.open_interrupts() == ()


async def test_secrets_in_arguments_are_not_shown_in_a_question(desk: Desk) -> None:
    await desk.propose(call("risky", name="password=hunter2"))
    await desk.act()
    question = desk.only(Kind.INTERRUPT_OPENED)
    assert "hunter2" not in str(question.data)
    assert question.data["digest"] == shown_digest("run-1", "1.1#1", "risky", question.data["arguments"])


async def test_what_ran_before_an_approval_is_marked(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"), call("look", topic="y"))
    await desk.act("1.1", before_approval=True)
    await desk.act("1.2")
    for kind in (Kind.TOOL_STARTED, Kind.TOOL_RESULT):
        marks = {entry.call: entry.data.get("ran_before_approval") for entry in desk.entries(kind)}
        assert marks == {"1.1": True, "1.2": None}


# ---------------------------------------------------------------- time, cancelling, size


@pytest.mark.parametrize(
    ("proposed", "doubt"),
    [(call("held_read", topic="x"), False), (call("held_write", name="x"), True)],
    ids=["read", "write"],
)
async def test_a_tool_that_is_out_of_time_is_told_so_and_a_write_may_have_happened(
    desk: Desk, proposed: dict[str, Any], doubt: bool
) -> None:
    await desk.propose(proposed)
    outcome = await desk.act(seconds=10.2)
    assert (outcome.ok, outcome.code) == (False, ErrorCode.TIMED_OUT)
    assert 0.15 < outcome.active_seconds < 5
    message = desk.only(Kind.TOOL_RESULT).data["message"]
    assert message.startswith(f"{proposed['name']} did not finish within 0.2 s.")
    assert ("check before trying again" in message) is doubt


@pytest.mark.parametrize(
    ("proposed", "code"),
    [(call("held_read", topic="x"), "cancelled"), (call("held_write", name="x"), "outcome_unknown")],
    ids=["read", "write"],
)
async def test_a_cancel_in_flight_gives_no_result_and_settling_tells_the_truth(
    desk: Desk, proposed: dict[str, Any], code: str
) -> None:
    await desk.propose(proposed)
    environment = desk.environment()
    running = asyncio.create_task(environment.run(ToolActivities(desk.journal, desk.tools).run_tool, desk.round()))
    await until(lambda: bool(desk.done))
    environment.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert desk.entries(Kind.TOOL_RESULT) == []
    await desk.settle(code=ErrorCode.CANCELLED)
    assert desk.codes() == {"1.1": code}
    assert not any("ended" in line for line in desk.done)


@pytest.mark.parametrize("proposed", [call("change", name="x"), call("look", topic="x"), call("risky", name="x")])
async def test_a_cancel_while_the_end_is_being_written_does_not_lose_it(desk: Desk, proposed: dict[str, Any]) -> None:
    writing, go = threading.Event(), threading.Event()

    class SlowAtTheEnd(SqlJournal):
        def append(self, session: str, run: str, entries: Sequence[NewEntry], *a: Any, **k: Any) -> tuple[Entry, ...]:
            if entries[0].kind in (Kind.TOOL_RESULT, Kind.INTERRUPT_OPENED):
                writing.set()
                assert go.wait(10)
            return super().append(session, run, entries, *a, **k)

    await desk.propose(proposed)
    journal = SlowAtTheEnd(f"sqlite:///{desk.folder / 'journal.sqlite'}")
    environment = desk.environment()
    running = asyncio.create_task(environment.run(ToolActivities(journal, desk.tools).run_tool, desk.round()))
    await until(writing.is_set)
    environment.cancel()
    await asyncio.sleep(0)
    go.set()
    outcome = await running
    assert isinstance(outcome, ToolOutcome)
    assert (outcome.ok or outcome.interrupted, desk.entries()[-1].kind) == (
        True,
        Kind.INTERRUPT_OPENED if outcome.interrupted else Kind.TOOL_RESULT,
    )
    journal.close()


async def test_a_tool_that_is_silent_heartbeats_by_timer(desk: Desk) -> None:
    await desk.propose(call("held_read", topic="x"))
    beats: list[object] = []
    environment = desk.environment()
    environment.on_heartbeat = lambda *details: beats.append(details)
    running = asyncio.create_task(environment.run(ToolActivities(desk.journal, desk.tools).run_tool, desk.round()))
    await until(lambda: len(beats) >= 2)
    desk.go.set()
    assert (await running).ok


async def test_a_result_that_is_too_long_is_trimmed_and_can_be_read_on_in_the_journal(desk: Desk) -> None:
    await desk.propose(call("enormous", characters=50_000))
    outcome = await desk.act()
    data = desk.only(Kind.TOOL_RESULT).data["data"]
    assert outcome.digest == digest({"ok": True, "data": data})
    rest = desk.journal.overflow(desk.session, data["read_more"]["ref"], data["read_more"]["offset"], 100_000)
    assert rest is not None
    assert data["excerpt"] + rest[0] == '"' + "x" * 50_000 + '"'


@pytest.mark.parametrize(
    ("proposed", "code"),
    [
        (call("boom"), ErrorCode.TOOL_FAILED),
        (call("refuse", name="x"), ErrorCode.TOOL_FAILED),
        (call("binary"), ErrorCode.RESULT_UNUSABLE),
    ],
)
async def test_what_a_tool_does_wrong_is_its_observation(desk: Desk, proposed: dict[str, Any], code: ErrorCode) -> None:
    await desk.propose(proposed)
    outcome = await desk.act()
    assert (outcome.ok, outcome.code) == (False, code)
    assert "hunter2" not in str([entry.data for entry in desk.entries()])


async def test_two_attempts_at_a_read_that_race_end_in_one_result_that_both_tell(desk: Desk) -> None:
    await desk.propose(call("held_read", topic="x"))
    first, second = (asyncio.create_task(desk.act(attempt=attempt)) for attempt in (1, 2))
    await until(lambda: len(desk.done) == 2)
    desk.go.set()
    assert await first == await second
    assert desk.codes() == {"1.1": "ok"}


async def test_two_attempts_at_a_write_that_race_run_it_once(desk: Desk) -> None:
    await desk.propose(call("held_write", name="x"))
    attempts = [asyncio.create_task(desk.act(attempt=attempt)) for attempt in (1, 2)]
    await until(lambda: any(attempt.done() for attempt in attempts) and bool(desk.done))
    desk.go.set()
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ApplicationError", "ToolOutcome"]
    assert desk.done == ["began x", "ended x"]
