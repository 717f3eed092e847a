"""Lost activities: what became of a call is found out, told once, and never guessed."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from opspilot.core.contract import Record, Settle
from opspilot.core.entries import Kind, NewEntry, tool_started_key
from opspilot.core.interrupts import AnswerAction
from opspilot.core.observations import ErrorCode
from opspilot.tools.spec import ToolError
from tests.activities.desk import NOON, Desk, call


def started(desk: Desk, round_: int = 1) -> None:
    """The round's activity began, and was lost."""
    at = datetime.fromtimestamp(NOON, UTC)
    key = tool_started_key("run-1", "1.1", round_)
    entry = NewEntry(key, Kind.TOOL_STARTED, at, {"round": round_, "nonce": "lost"}, 1, "1.1")
    desk.journal.append(desk.session, "run-1", [entry])


def no(key: str) -> Any:
    raise ToolError("It never came.", ErrorCode.NOT_STARTED)


def odd(key: str) -> Any:
    raise RuntimeError("password=hunter2")


LOST: list[Any] = [
    pytest.param("look", False, None, ErrorCode.TOOL_FAILED, "tool_failed", id="a read that never started"),
    pytest.param("look", True, None, ErrorCode.TIMED_OUT, "timed_out", id="a read out of time"),
    pytest.param("look", True, None, ErrorCode.CANCELLED, "cancelled", id="a read given up"),
    pytest.param("change", False, None, ErrorCode.CANCELLED, "not_started", id="a write never started"),
    pytest.param("tidy", False, None, ErrorCode.TOOL_FAILED, "not_started", id="an idempotent write never started"),
    pytest.param("ship", False, lambda key: "came", ErrorCode.TOOL_FAILED, "not_started", id="not asked in vain"),
    pytest.param("change", True, None, ErrorCode.CANCELLED, "outcome_unknown", id="a write under way"),
    pytest.param("change", True, None, ErrorCode.TIMED_OUT, "outcome_unknown", id="a write out of time"),
    pytest.param("ship", True, lambda key: f"came: {key}", ErrorCode.CANCELLED, "ok", id="its tool knows"),
    pytest.param("ship", True, lambda key: None, ErrorCode.CANCELLED, "outcome_unknown", id="its tool doesn't know"),
    pytest.param("ship", True, no, ErrorCode.CANCELLED, "not_started", id="its tool knows that nothing happened"),
    pytest.param("ship", True, odd, ErrorCode.CANCELLED, "outcome_unknown", id="its tool breaks when asked"),
]


@pytest.mark.parametrize(("tool", "began", "truth", "lost_as", "code"), LOST)
async def test_a_lost_round_is_told_what_is_known_of_it_and_always_the_same(
    desk: Desk, tool: str, began: bool, truth: Callable[[str], Any], lost_as: ErrorCode, code: str
) -> None:
    await desk.propose(call(tool, **({"topic": "x"} if tool == "look" else {"name": "x"})))
    if began:
        started(desk)
    desk.truth = truth
    outcome = await desk.settle(code=lost_as)
    assert desk.codes() == {"1.1": code}
    assert (outcome.ok, outcome.code) == (code == "ok", None if code == "ok" else ErrorCode(code))
    assert desk.done == []
    assert "hunter2" not in str([entry.data for entry in desk.entries()])
    if code == "ok":
        assert desk.only(Kind.TOOL_RESULT).data["data"] == "came: run-1/1.1#1"
    before = desk.entries()
    desk.truth = lambda key: "something else"
    assert await desk.settle(code=ErrorCode.TOOL_FAILED) == outcome
    assert desk.entries() == before


@pytest.mark.parametrize("tool", ["change", "refuse", "look"])
async def test_a_recorded_result_stands(desk: Desk, tool: str) -> None:
    await desk.propose(call(tool, **({"topic": "x"} if tool == "look" else {"name": "x"})))
    ran = await desk.act()
    before = desk.entries()
    assert await desk.settle() == ran
    assert desk.entries() == before


async def test_a_recorded_question_stands(desk: Desk) -> None:
    await desk.propose(call("risky", name="x"))
    asked = await desk.act()
    before = desk.entries()
    assert await desk.settle() == asked
    assert desk.entries() == before


async def test_only_the_lost_round_counts(desk: Desk) -> None:
    await desk.propose(call("risky", name="x"))
    await desk.act()
    await desk.judge(AnswerAction.APPROVE)
    assert (await desk.settle(round_=2)).code is ErrorCode.NOT_STARTED


async def test_a_held_call_that_was_approved_and_lost_before_it_began_did_not_start(careful_desk: Desk) -> None:
    desk = careful_desk
    await desk.propose(call("change", name="x"))
    await desk.judge(AnswerAction.APPROVE, desk.question)
    assert (await desk.settle()).code is ErrorCode.NOT_STARTED


async def test_a_held_call_that_was_approved_and_lost_under_way_may_have_happened(careful_desk: Desk) -> None:
    desk = careful_desk
    await desk.propose(call("change", name="x"))
    await desk.judge(AnswerAction.APPROVE, desk.question)
    started(desk)
    assert (await desk.settle()).code is ErrorCode.OUTCOME_UNKNOWN


async def test_two_settlers_that_race_tell_the_same(desk: Desk) -> None:
    truths = iter(["one", "two"])
    await desk.propose(call("ship", name="x"))
    started(desk)
    desk.truth = lambda key: next(truths)
    first, second = await asyncio.gather(desk.settle(), desk.settle())
    assert first == second
    assert desk.codes() == {"1.1": "ok"}


async def test_a_call_that_the_journal_lacks_is_refused_for_good(desk: Desk) -> None:
    await desk.open("a")
    with pytest.raises(ApplicationError) as refused:
        await desk.do(desk.keeping.settle, Settle("run-1", "1.1", 1, ErrorCode.TOOL_FAILED))
    assert (refused.value.type, refused.value.non_retryable) == ("JournalBehind", True)


# ---------------------------------------------------------------- record


async def test_calls_that_will_not_run_get_their_observation_once_and_those_that_ran_keep_theirs(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"), call("change", name="x"), call("change", name="y"))
    await desk.act("1.1")
    order = Record(
        "run-1",
        (
            ("1.1", ErrorCode.CANCELLED),
            ("1.2", ErrorCode.SKIPPED_AFTER_UNSUCCESSFUL_WRITE),
            ("1.3", ErrorCode.CANCELLED),
        ),
    )
    await desk.do(desk.keeping.record, order)
    before = desk.entries()
    await desk.do(desk.keeping.record, order, attempt=2)
    assert desk.codes() == {"1.1": "ok", "1.2": "skipped_after_unsuccessful_write", "1.3": "cancelled"}
    assert desk.entries() == before
    assert [entry.data["round"] for entry in before if entry.kind is Kind.TOOL_RESULT] == [1, 0, 0]


async def test_a_run_that_was_replaced_can_record_nothing(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"))
    await desk.open("b", run="run-2", at=NOON + 9)
    before = desk.entries()
    with pytest.raises(ApplicationError) as refused:
        await desk.do(desk.keeping.record, Record("run-1", (("1.1", ErrorCode.CANCELLED),)))
    assert (refused.value.type, refused.value.non_retryable) == ("StaleRun", True)
    assert desk.entries() == before
