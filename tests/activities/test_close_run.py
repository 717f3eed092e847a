"""Closing a run: everything owed is written, nothing lands behind it, and twice is as good as once."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from opspilot.core.contract import UserMessage
from opspilot.core.conversation import conversation
from opspilot.core.cost import Price
from opspilot.core.entries import Entry, Kind, NewEntry
from opspilot.core.errors import JournalError
from opspilot.core.limits import AT_A_LIMIT, StopReason
from opspilot.core.messages import Usage, unanswered
from opspilot.journal.store import SqlJournal
from tests.activities.desk import NOON, Desk, Says, call, until


async def test_a_run_that_answered_is_closed_with_its_whole_answer(desk: Desk) -> None:
    await desk.open("a")
    answer = "é" * 9_000
    await desk.think(Says(answer))
    await desk.close(StopReason.ANSWERED)
    stopped = desk.only(Kind.RUN_STOPPED)
    assert (stopped.key, stopped.at) == ("run-1/stopped/1", datetime.fromtimestamp(NOON + 60, UTC))
    assert stopped.data == {
        "stop_reason": "answered",
        "answer": answer,
        "message": "It ended.",
        "steps": 1,
        "usage": {"input_tokens": 7, "output_tokens": 3, "cached_tokens": 0},
    }
    assert desk.entries()[-1] == stopped
    assert len(desk.entries(Kind.ASSISTANT_MESSAGE)) == 1


@pytest.mark.parametrize("reason", sorted(AT_A_LIMIT))
async def test_a_run_at_a_limit_is_closed_with_its_last_words(desk: Desk, reason: StopReason) -> None:
    await desk.propose(call("look", topic="x"))
    await desk.act()
    await desk.think(Says("I found x."), final=reason)
    await desk.close(reason)
    assert desk.only(Kind.RUN_STOPPED).data["answer"] == "I found x."


async def test_a_run_at_a_limit_whose_last_words_failed_has_none_and_gets_none_later(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"))
    await desk.act()
    await desk.close(StopReason.MAX_STEPS)
    before = desk.entries()
    assert desk.only(Kind.RUN_STOPPED).data["answer"] == ""
    assert (await desk.think(Says("I found x."), final=StopReason.MAX_STEPS)).answer == ""
    assert desk.entries() == before


@pytest.mark.parametrize("reason", [StopReason.CANCELLED, StopReason.MODEL_FAILED, StopReason.INTERNAL_ERROR])
async def test_a_run_that_ended_otherwise_has_no_answer(desk: Desk, reason: StopReason) -> None:
    await desk.open("a")
    await desk.think(Says("Well."))
    await desk.close(reason)
    assert desk.only(Kind.RUN_STOPPED).data["answer"] == ""


async def test_a_refusal_is_told_in_the_models_words(desk: Desk) -> None:
    await desk.open("a")
    await desk.think(Says("I won't."))
    await desk.close(StopReason.MODEL_REFUSED)
    assert desk.only(Kind.RUN_STOPPED).data["answer"] == "I won't."


async def test_every_open_call_of_the_run_is_answered_before_it_is_stopped(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"), call("risky", name="x"), call("change", name="x"), call("nothing"))
    await desk.act("1.1")
    await desk.act("1.2")
    await desk.close(StopReason.CANCELLED)
    assert desk.codes() == {"1.1": "ok", "1.2": "cancelled", "1.3": "cancelled", "1.4": "unknown_tool"}
    assert desk.entries()[-1].kind is Kind.RUN_STOPPED
    assert desk.journal.open_interrupts() == ()
    assert unanswered(conversation(desk.entries())) == ()


async def test_calls_of_other_runs_are_left_alone(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"))
    await desk.close(StopReason.CANCELLED)
    first = desk.entries()
    await desk.propose(call("look", topic="y"), run="run-2", at=NOON + 99)
    await desk.close(StopReason.CANCELLED, run="run-2")
    assert desk.entries()[: len(first)] == first
    assert (desk.codes("run-1"), desk.codes("run-2")) == ({"1.1": "cancelled"}, {"1.1": "cancelled"})


@pytest.mark.parametrize("reason", [StopReason.ANSWERED, StopReason.CANCELLED, StopReason.MAX_STEPS])
async def test_closing_twice_is_closing_once(desk: Desk, reason: StopReason) -> None:
    await desk.propose(call("look", topic="x"))
    await desk.close(reason, messages=(UserMessage("m", "unread"),))
    before = desk.entries()
    await desk.close(reason, messages=(UserMessage("m", "unread"),))
    assert desk.entries() == before


async def test_a_thought_that_was_given_up_keeps_what_was_said_and_its_step(desk: Desk) -> None:
    await desk.open("a")
    environment_goes = asyncio.create_task(desk.think(Says("The disk is", until=desk.go)))
    await until(lambda: bool(desk.journal.drafts(desk.session)))
    await desk.close(StopReason.CANCELLED)
    tombstone = desk.only(Kind.ASSISTANT_MESSAGE)
    assert (tombstone.key, tombstone.step) == ("run-1/1/assistant", 1)
    assert tombstone.data == {"text": "The disk is", "tool_calls": [], "cancelled": True}
    assert desk.journal.drafts(desk.session) == ()
    desk.go.set()
    await environment_goes


async def test_last_words_that_were_given_up_keep_what_was_said(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"))
    await desk.act()
    late = asyncio.create_task(desk.think(Says("I found", until=desk.go), final=StopReason.MAX_STEPS))
    await until(lambda: bool(desk.journal.drafts(desk.session)))
    await desk.close(StopReason.CANCELLED)
    assert desk.entries(Kind.ASSISTANT_MESSAGE)[-1].data["text"] == "I found"
    assert desk.only(Kind.RUN_STOPPED).data["answer"] == ""
    assert desk.journal.drafts(desk.session) == ()
    desk.go.set()
    await late


async def test_a_thought_that_never_said_anything_leaves_an_empty_reply_that_no_model_is_shown(desk: Desk) -> None:
    await desk.open("a")
    await desk.close(StopReason.CANCELLED)
    assert desk.only(Kind.ASSISTANT_MESSAGE).data["text"] == ""
    assert [message.text for message in conversation(desk.entries())] == ["a"]


async def test_a_closing_that_broke_half_way_is_finished_by_the_next_attempt(desk: Desk) -> None:
    class Breaks(SqlJournal):
        def append(self, session: str, run: str, entries: Sequence[NewEntry], *a: Any, **k: Any) -> tuple[Entry, ...]:
            if entries[-1].kind is Kind.RUN_STOPPED:
                raise JournalError("The journal is busy.")
            return super().append(session, run, entries, *a, **k)

    await desk.open("a")
    whole = desk.journal
    desk.journal = Breaks(f"sqlite:///{desk.folder / 'journal.sqlite'}")
    with pytest.raises(ApplicationError, match="The journal is busy"):
        await desk.close(StopReason.CANCELLED)
    desk.journal.close()
    desk.journal = whole
    await desk.close(StopReason.CANCELLED)
    assert [entry.kind for entry in desk.entries()[2:]] == [Kind.ASSISTANT_MESSAGE, Kind.RUN_STOPPED]


async def test_a_run_that_never_thought_is_closed_without_a_reply(desk: Desk) -> None:
    await desk.open("a")
    await desk.close(StopReason.NOTHING_TO_DO, step=0)
    assert [entry.kind for entry in desk.entries()] == [Kind.RUN_STARTED, Kind.USER_MESSAGE, Kind.RUN_STOPPED]


async def test_unread_messages_are_recorded_before_the_stop(desk: Desk) -> None:
    await desk.open("a")
    await desk.think(Says("Yes."))
    await desk.close(StopReason.CANCELLED, messages=(UserMessage("m-1", "wait"), UserMessage("m-1", "wait")))
    assert [entry.kind for entry in desk.entries()[-2:]] == [Kind.USER_MESSAGE, Kind.RUN_STOPPED]
    assert len(desk.entries(Kind.USER_MESSAGE)) == 2


async def test_a_run_that_goes_on_stops_again_and_the_last_stop_counts(desk: Desk) -> None:
    await desk.open("a")
    await desk.think(Says("Yes."))
    await desk.close(StopReason.ANSWERED)
    await desk.think(Says("No."), 2, messages=(UserMessage("b", "b"),))
    await desk.close(StopReason.ANSWERED, step=2, nth=2)
    stops = desk.entries(Kind.RUN_STOPPED)
    assert [(stop.key, stop.data["answer"]) for stop in stops] == [
        ("run-1/stopped/1", "Yes."),
        ("run-1/stopped/2", "No."),
    ]
    session = desk.journal.session(desk.session)
    assert session is not None
    assert (session.status, session.stop_reason) == ("done", "answered")


async def test_a_belated_attempt_at_closing_does_not_touch_a_run_that_went_on(desk: Desk) -> None:
    await desk.open("a")
    await desk.think(Says("Yes."))
    await desk.close(StopReason.ANSWERED)
    await desk.think(Says(calls=[call("look", topic="x")]), 2, messages=(UserMessage("b", "b"),))
    before = desk.entries()
    await desk.close(StopReason.ANSWERED)
    assert desk.entries() == before
    assert (await desk.act("2.1")).ok


async def test_a_run_says_what_its_replies_cost_by_the_prices_of_the_models_that_gave_them(desk: Desk) -> None:
    desk.prices = {"says": Price(2.0, 8.0), "scripted": Price(90.0, 90.0)}
    await desk.open("a")
    await desk.think(Says(calls=[call("look", topic="x")], usage=Usage(1_000_000, 500_000)))
    await desk.act()
    await desk.think(Says("Yes.", usage=Usage(500_000, 0, 100_000)), 2)
    assert [entry.data["cost"] for entry in desk.entries(Kind.ASSISTANT_MESSAGE)] == [6.0, 1.0]
    await desk.close(StopReason.ANSWERED, 2)
    assert desk.only(Kind.RUN_STOPPED).data["cost"] == 7.0


async def test_a_run_with_a_model_that_has_no_price_says_no_cost(desk: Desk) -> None:
    desk.prices = {"scripted": Price(2.0, 8.0)}
    await desk.open("a")
    await desk.think(Says("Yes.", usage=Usage(9, 9)))
    await desk.close(StopReason.ANSWERED)
    assert "cost" not in desk.only(Kind.RUN_STOPPED).data
