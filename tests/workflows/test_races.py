"""Stops, cancels, floods and terminations at awkward moments: nothing lost, nothing twice, each call answered once."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.client import RPCError, WorkflowFailureError
from temporalio.exceptions import CancelledError

from opspilot.client import OpsPilot
from opspilot.core.conversation import conversation
from opspilot.core.entries import Kind
from opspilot.core.errors import OpsPilotError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import StopReason
from opspilot.core.messages import UserMessage, unanswered
from tests.workflows.desk import ME, Desk, paired
from tests.workflows.test_agent import DONE, call, calls

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROMPT_SECONDS = 6.0


async def model_thinks(desk: Desk, session: str) -> None:
    """The model call is under way."""
    while True:
        description = await desk.handle(session).describe()
        if any(
            activity.activity_type.name == "call_model" for activity in description.raw_description.pending_activities
        ):
            return
        await asyncio.sleep(0.02)


async def reads_run(desk: Desk, session: str) -> None:
    """A quick read is done, a slow one is under way."""
    await desk.until(session, Kind.TOOL_RESULT)


async def write_runs(desk: Desk, session: str) -> None:
    """A write has begun and isn't done."""
    while "began slow" not in desk.done:
        await asyncio.sleep(0.02)


async def person_is_asked(desk: Desk, session: str) -> None:
    """A question is open."""
    await desk.waiting(session)


async def model_is_tried_again(desk: Desk, session: str) -> None:
    """The model failed and waits for its next attempt."""
    while True:
        description = await desk.handle(session).describe()
        if any(activity.last_failure.message for activity in description.raw_description.pending_activities):
            return
        await asyncio.sleep(0.02)


SLOW_MODEL = {"text": "let me think about this for a while", "delay_seconds": 20}
BUSY = {"fault": "rate_limit", "message": "busy", "retryable": True, "retry_after_seconds": 600}

Phase = Callable[[Desk, str], Awaitable[None]]
PHASES: list[tuple[Phase, list[dict[str, Any]], dict[str, str]]] = [
    (model_thinks, [SLOW_MODEL], {}),
    (reads_run, [calls(call("look", topic="a"), call("nap", seconds=30)), DONE], {"1.1": "ok", "1.2": "cancelled"}),
    (
        write_runs,
        [calls(call("slow_change", name="slow", seconds=30), call("change", name="later")), DONE],
        {"1.1": "outcome_unknown", "1.2": "cancelled"},
    ),
    (
        person_is_asked,
        [calls(call("look", topic="a"), call("risky", name="db"), call("change", name="later")), DONE],
        {"1.1": "ok", "1.2": "cancelled", "1.3": "cancelled"},
    ),
    (model_is_tried_again, [{**DONE, "error": BUSY}], {}),
]


@pytest.mark.parametrize(("reached", "script", "codes"), PHASES, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("by_temporal", [False, True], ids=["stop", "cancel"])
async def test_a_stop_in_any_phase_answers_each_call_once_and_is_prompt(
    desk: Desk, reached: Phase, script: list[dict[str, Any]], codes: dict[str, str], by_temporal: bool
) -> None:
    async with desk.worker(script):
        asked = await desk.ask()
        await reached(desk, asked.session)
        began = time.monotonic()
        if by_temporal:
            await desk.handle(asked.session).cancel()
            with pytest.raises(WorkflowFailureError) as ended:
                await desk.result(asked)
            assert isinstance(ended.value.cause, CancelledError)
        else:
            await desk.opspilot.stop(asked.session)
            assert (await desk.result(asked)).stop_reason is StopReason.CANCELLED
        assert time.monotonic() - began < PROMPT_SECONDS + (3.0 if desk.cached_workflows == 0 else 0.0)
    assert desk.codes(asked.session) == codes
    assert desk.entries(asked.session)[-1].data["stop_reason"] == "cancelled"
    assert "later" not in " ".join(desk.done)
    paired(desk, asked.session)


async def test_a_session_goes_on_after_a_stop_in_the_middle_of_a_thought(desk: Desk) -> None:
    async with desk.worker([SLOW_MODEL, DONE, DONE]):
        asked = await desk.ask()
        await model_thinks(desk, asked.session)
        await desk.opspilot.stop(asked.session)
        await desk.result(asked)
        again = await desk.ask("And now?", asked.session)
        await model_thinks(desk, asked.session)
        await desk.opspilot.stop(asked.session)
        assert (await desk.result(again)).stop_reason is StopReason.CANCELLED
    assert unanswered(conversation(desk.entries(asked.session))) == ()
    paired(desk, asked.session)


async def test_a_stop_before_a_worker_came_keeps_the_message_and_runs_nothing(desk: Desk) -> None:
    asking = asyncio.create_task(desk.ask(session=desk.queue))
    while not await _exists(desk, desk.queue):
        await asyncio.sleep(0.02)
    await desk.opspilot.stop(desk.queue)
    async with desk.worker([]):
        asked = await asking
        assert (await desk.result(asked)).stop_reason is StopReason.CANCELLED
    assert [entry.data["text"] for entry in desk.entries(asked.session, Kind.USER_MESSAGE)] == ["What is going on?"]
    assert desk.entries(asked.session, Kind.ASSISTANT_MESSAGE) == []
    paired(desk, asked.session)


async def test_200_messages_while_runs_finish_are_read_once_each(desk: Desk) -> None:
    if desk.cached_workflows == 0:
        pytest.skip("what is tested is the end of runs, which the cache has no part in")
    async with desk.worker([DONE] * 210):
        first = await desk.ask("message 0")
        session = first.session

        async def send(numbers: range) -> None:
            for number in numbers:
                await desk.opspilot.ask(f"message {number}", session, message_id=f"id-{number}")

        await asyncio.gather(*(send(range(start, 200, 4)) for start in range(1, 5)))
        await desk.handle(session).result()
        while await _is_open(desk, session):
            await desk.handle(session).result()
    texts = [entry.data["text"] for entry in desk.entries(session, Kind.USER_MESSAGE)]
    assert sorted(texts) == sorted({f"message {number}" for number in range(200)})
    said = [message.text for message in conversation(desk.entries(session)) if isinstance(message, UserMessage)]
    assert said == texts
    last = desk.entries(session)[-1]
    assert last.kind is Kind.RUN_STOPPED
    paired(desk, session)


async def _exists(desk: Desk, session: str) -> bool:
    try:
        await desk.handle(session).describe()
    except RPCError:
        return False
    return True


async def _is_open(desk: Desk, session: str) -> bool:
    description = await desk.handle(session).describe()
    return description.close_time is None


async def test_a_session_whose_run_was_terminated_goes_on_with_a_valid_conversation(desk: Desk) -> None:
    script = [
        calls(call("look", topic="a"), call("slow_change", name="slow", seconds=30), call("risky", name="db")),
        DONE,
    ]
    async with desk.worker(script):
        asked = await desk.ask()
        await write_runs(desk, asked.session)
        await desk.handle(asked.session).terminate()
        again = await desk.ask("And now?", asked.session)
        result = await desk.result(again)
    assert (result.stop_reason, result.answer) == (StopReason.ANSWERED, "Here is the answer.")
    assert desk.codes(asked.session) == {"1.1": "ok", "1.2": "outcome_unknown", "1.3": "not_started"}
    assert unanswered(conversation(desk.entries(asked.session))) == ()
    behind_our_back = desk.entries(asked.session, Kind.RUN_STOPPED)[0]
    assert "outside OpsPilot" in behind_our_back.data["message"]
    paired(desk, asked.session)


async def test_a_terminated_run_that_asked_a_person_leaves_no_question_open(desk: Desk) -> None:
    async with desk.worker([calls(call("risky", name="db")), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await desk.handle(asked.session).terminate()
        with pytest.raises(OpsPilotError):
            await desk.answer(asked.session, "1.1#1", AnswerAction.APPROVE)
        await desk.result(await desk.ask("And now?", asked.session))
    assert desk.journal.open_interrupts(asked.session) == ()
    assert desk.codes(asked.session) == {"1.1": "cancelled"}
    assert desk.done == []


async def test_somebody_elses_session_cannot_be_used(desk: Desk) -> None:
    async with desk.worker([DONE, DONE]):
        asked = await desk.ask()
        await desk.result(asked)
        stranger = OpsPilot(desk.client, desk.journal, Principal("stranger"), desk.queue)
        with pytest.raises(OpsPilotError, match="belongs to tester"):
            await stranger.ask("let me in", asked.session)


async def test_two_answers_at_once_settle_a_question_once(desk: Desk) -> None:
    async with desk.worker([calls(call("risky", name="db")), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        outcomes = await asyncio.gather(
            desk.answer(asked.session, "1.1#1", AnswerAction.APPROVE),
            desk.answer(asked.session, "1.1#1", AnswerAction.REJECT),
            return_exceptions=True,
        )
        await desk.result(asked)
    assert len(desk.entries(asked.session, Kind.INTERRUPT_ANSWERED)) == 1
    assert any(not isinstance(outcome, Exception) for outcome in outcomes)
    assert desk.done in ([], ["risked db"])
    paired(desk, asked.session)


async def test_more_unread_text_than_fits_is_refused_and_a_stop_records_what_was_accepted(desk: Desk) -> None:
    async with desk.worker([calls(call("risky", name="db")), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        accepted = 0
        with pytest.raises(OpsPilotError, match="unread"):  # noqa: PT012 how many are accepted is what is tested
            for number in range(20):
                await desk.opspilot.ask(f"{number} " + "x" * 200_000, asked.session)
                accepted += 1
        await desk.opspilot.stop(asked.session)
        await desk.result(asked)
    assert accepted == 5
    assert len(desk.entries(asked.session, Kind.USER_MESSAGE)) == 1 + accepted
    paired(desk, asked.session)


async def test_an_answer_of_any_size_or_shape_does_not_hold_a_run_up(desk: Desk) -> None:
    async with desk.worker([calls(call("risky", name="db")), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        with pytest.raises(OpsPilotError, match="16 KiB"):
            await desk.answer(asked.session, "1.1#1", AnswerAction.REJECT, comment="x" * 1_900_000)
        huge = Answer("huge", "1.1#1", AnswerAction.REJECT, ME, comment="x" * 1_900_000)
        await desk.handle(asked.session).signal("answer_signal", huge)
        await desk.answer(asked.session, "1.1#1", AnswerAction.APPROVE)
        await desk.result(asked)
    assert desk.done == ["risked db"]


async def test_an_approval_does_not_outlive_the_arguments_it_was_given_for(desk: Desk) -> None:
    async with desk.worker([calls(call("move", name="staging-db")), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#1", AnswerAction.APPROVE)
        await desk.until(asked.session, Kind.INTERRUPT_OPENED, count=2)
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#2", AnswerAction.PROVIDE, values={"place": "here", "name": "prod-db"})
        refused = await desk.until(asked.session, Kind.ANSWER_IGNORED)
        assert "name" in refused.data["message"]
        again = Answer("again", "1.1#2", AnswerAction.PROVIDE, ME, values={"place": "here"})
        await desk.opspilot.answer(asked.session, again)
        opened = await desk.until(asked.session, Kind.INTERRUPT_OPENED, count=3)
        assert opened.data["kind"] == "confirm_risky"
        assert desk.done == []
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#3", AnswerAction.APPROVE)
        await desk.result(asked)
    assert desk.done == ["moved staging-db to here"]
