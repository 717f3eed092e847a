"""What a whole run does, on a real server with skipped time, sandboxed, with and without a workflow cache."""

from typing import Any

import pytest

from opspilot.core.contract import AGENT_WORKFLOW, Mode, RunRequest, RunResult
from opspilot.core.entries import Kind
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import AnswerAction
from opspilot.core.limits import Limits, StopReason
from tests.workflows.desk import ME, Desk, paired

pytestmark = pytest.mark.asyncio(loop_scope="session")


def call(name: str, /, **arguments: object) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def calls(*of: dict[str, Any], text: str = "") -> dict[str, Any]:
    return {"text": text, "calls": list(of), "final": "That is all I found."}


DONE: dict[str, Any] = {"text": "Here is the answer."}


async def test_two_reads_in_one_turn_give_two_calls_and_two_results(desk: Desk) -> None:
    async with desk.worker([calls(call("look", topic="login"), call("look", topic="session")), DONE]):
        asked = await desk.ask()
        result = await desk.result(asked)
    assert (result.stop_reason, result.answer, result.steps) == (StopReason.ANSWERED, "Here is the answer.", 2)
    assert desk.codes(asked.session) == {"1.1": "ok", "1.2": "ok"}
    assert desk.results(asked.session)["1.2"]["data"] == {"topic": "session", "known": "facts about session"}
    kinds = [entry.kind for entry in desk.entries(asked.session)]
    assert kinds[:5] == [
        Kind.RUN_STARTED, Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_CALL,
    ]  # fmt: skip
    assert kinds[-2:] == [Kind.ASSISTANT_MESSAGE, Kind.RUN_STOPPED]
    paired(desk, asked.session)


async def test_a_tool_that_throws_still_ends_in_an_answer_with_a_result_for_each_call(desk: Desk) -> None:
    async with desk.worker([calls(call("boom", topic="x"), call("look", topic="y")), DONE]):
        asked = await desk.ask()
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.ANSWERED
    assert desk.codes(asked.session) == {"1.1": "tool_failed", "1.2": "ok"}
    told = desk.results(asked.session)["1.1"]["message"]
    assert "no luck" in told
    assert "hunter2" not in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (call("lok", topic="x"), "unknown_tool"),
        (call("look", subject="x"), "invalid_arguments"),
        ({"name": "look", "arguments": '{"topic": '}, "invalid_json"),
        ({"name": "look", "arguments": "[1]"}, "invalid_json"),
        (call("binary"), "result_unusable"),
    ],
)
async def test_a_call_that_cannot_be_run_is_answered_and_its_sibling_runs(
    desk: Desk, bad: dict[str, Any], code: str
) -> None:
    async with desk.worker([calls(bad, call("look", topic="y")), DONE]):
        asked = await desk.ask()
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.ANSWERED
    assert desk.codes(asked.session) == {"1.1": code, "1.2": "ok"}
    paired(desk, asked.session)


async def test_an_enormous_result_is_trimmed_for_the_model_and_can_be_read_on(desk: Desk) -> None:
    async with desk.worker([calls(call("enormous", characters=300_000)), DONE]):
        asked = await desk.ask()
        await desk.result(asked)
    data = desk.results(asked.session)["1.1"]["data"]
    assert len(data["excerpt"]) < 13_000
    rest = desk.journal.overflow(asked.session, data["read_more"]["ref"], data["read_more"]["offset"], 50)
    assert rest is not None
    assert rest[0] == "x" * 50


async def test_one_of_two_parallel_tools_asks_and_the_others_result_is_kept(desk: Desk) -> None:
    async with desk.worker([calls(call("look", topic="a"), call("risky", name="db"), call("look", topic="b")), DONE]):
        asked = await desk.ask()
        status = await desk.waiting(asked.session)
        assert [question.interrupt for question in status.questions] == ["1.2#1"]
        assert desk.codes(asked.session) == {"1.1": "ok", "1.3": "ok"}
        assert desk.done == []
        await desk.answer(asked.session, "1.2#1", AnswerAction.APPROVE, digest=status.questions[0].digest)
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.ANSWERED
    assert desk.done == ["risked db"]
    assert desk.results(asked.session)["1.2"]["round"] == 2
    assert desk.results(asked.session)["1.3"]["ran_before_approval"] is True
    paired(desk, asked.session)


async def test_a_rejected_call_never_runs_and_later_writes_are_skipped(desk: Desk) -> None:
    script = [calls(call("risky", name="db"), call("change", name="config"), call("look", topic="b")), DONE]
    async with desk.worker(script):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#1", AnswerAction.REJECT, comment="not today")
        await desk.result(asked)
    assert desk.codes(asked.session) == {
        "1.1": "rejected_by_human",
        "1.2": "skipped_after_unsuccessful_write",
        "1.3": "ok",
    }
    assert "not today" in desk.results(asked.session)["1.1"]["message"]
    assert desk.done == []


async def test_missing_parameters_are_provided_by_a_person_and_used(desk: Desk) -> None:
    async with desk.worker([calls(call("needs_place", name="backup")), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#1", AnswerAction.PROVIDE, values={"place": "there"})
        await desk.result(asked)
    assert desk.done == ["backup at there"]


async def test_a_bad_answer_is_recorded_and_the_question_stays_open(desk: Desk) -> None:
    async with desk.worker([calls(call("needs_place", name="backup")), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#1", AnswerAction.PROVIDE, values={"planet": "mars"})
        ignored = await desk.until(asked.session, Kind.ANSWER_IGNORED)
        assert "planet" in ignored.data["message"]
        await desk.waiting(asked.session)
        await desk.opspilot.stop(asked.session)
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.CANCELLED
    assert desk.codes(asked.session) == {"1.1": "cancelled"}
    paired(desk, asked.session)


async def test_several_questions_are_asked_together_and_agreed_calls_run_in_proposal_order(desk: Desk) -> None:
    script = [calls(call("risky", name="a"), call("look", topic="x"), call("risky", name="b")), DONE]
    async with desk.worker(script):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#1", AnswerAction.APPROVE)
        second = await desk.waiting(asked.session)
        assert [question.interrupt for question in second.questions] == ["1.3#1"]
        await desk.answer(asked.session, "1.3#1", AnswerAction.APPROVE)
        await desk.result(asked)
    assert desk.done == ["risked a", "risked b"]


async def test_a_question_can_be_answered_while_other_calls_of_its_batch_still_run(desk: Desk) -> None:
    async with desk.worker([calls(call("locate", name="db"), call("nap", seconds=1.5)), DONE]):
        asked = await desk.ask()
        question = await desk.until(asked.session, Kind.INTERRUPT_OPENED)
        shown = question.data["digest"]
        await desk.answer(asked.session, "1.1#1", AnswerAction.PROVIDE, values={"place": "here"}, digest=shown)
        assert "1.2" not in desk.results(asked.session)
        await desk.result(asked)
    assert desk.results(asked.session)["1.1"]["data"] == "db is at here"


async def test_a_tool_that_asks_for_ever_is_stopped_after_five_rounds(desk: Desk) -> None:
    async with desk.worker([calls(call("never_content", name="x")), DONE]):
        asked = await desk.ask()
        for round_ in range(1, 5):
            await desk.until(asked.session, Kind.INTERRUPT_OPENED, count=round_)
            await desk.waiting(asked.session)
            await desk.answer(asked.session, f"1.1#{round_}", AnswerAction.APPROVE)
        await desk.result(asked)
    assert desk.codes(asked.session) == {"1.1": "too_many_rounds"}


async def test_the_same_call_again_and_again_ends_as_a_loop_with_last_words(desk: Desk) -> None:
    async with desk.worker([calls(call("look", topic="a"))] * 4):
        asked = await desk.ask()
        result = await desk.result(asked)
    assert (result.stop_reason, result.answer) == (StopReason.LOOP_DETECTED, "That is all I found.")
    assert result.message.startswith("Stopped because the same call")
    assert len(desk.results(asked.session)) == 3


async def test_a_polling_tool_may_repeat_itself(desk: Desk) -> None:
    async with desk.worker([*[calls(call("poll", job="j"))] * 7, DONE]):
        result = await desk.result(await desk.ask())
    assert result.stop_reason is StopReason.ANSWERED


async def test_a_tight_limit_of_steps_ends_in_a_sentence_that_a_person_can_read(desk: Desk) -> None:
    async with desk.worker([calls(call("look", topic=f"t{n}")) for n in range(4)]):
        asked = await desk.ask(limits=Limits(steps=2))
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.MAX_STEPS
    assert result.message == "Stopped after 2 steps, the limit of this run, without a complete answer."
    stopped = desk.entries(asked.session, Kind.RUN_STOPPED)[-1].data
    assert (stopped["answer"], stopped["steps"]) == ("That is all I found.", 2)


async def test_failures_in_a_row_end_the_run(desk: Desk) -> None:
    async with desk.worker([calls(call("boom", topic=f"t{n}")) for n in range(6)]):
        result = await desk.result(await desk.ask(limits=Limits(failures_in_a_row=3)))
    assert (result.stop_reason, result.steps) == (StopReason.TOO_MANY_FAILS, 3)


async def test_a_used_up_budget_ends_the_run(desk: Desk) -> None:
    script = [{**calls(call("look", topic=f"t{n}")), "usage": {"input_tokens": 400}} for n in range(5)]
    async with desk.worker(script):
        result = await desk.result(await desk.ask(limits=Limits(tokens=1000)))
    assert (result.stop_reason, result.steps) == (StopReason.BUDGET, 3)


async def test_a_tool_that_takes_all_the_time_ends_the_run_with_a_timed_out_call(desk: Desk) -> None:
    async with desk.worker([calls(call("nap", seconds=30), call("change", name="later"))]):
        asked = await desk.ask(limits=Limits(active_seconds=1))
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.TIMEOUT
    assert desk.codes(asked.session) == {"1.1": "timed_out", "1.2": "not_started"}
    assert desk.done == []


async def test_a_model_that_fails_for_good_ends_the_run_with_its_reason(desk: Desk) -> None:
    broken = {"error": {"fault": "auth", "message": "The key was refused."}}
    async with desk.worker([broken]):
        result = await desk.result(await desk.ask())
    assert result.stop_reason is StopReason.MODEL_FAILED
    assert result.message == "The model could not be used. The key was refused."


async def test_a_passing_model_failure_is_tried_again_after_the_wait_that_was_asked_for(desk: Desk) -> None:
    busy = {"fault": "rate_limit", "message": "busy", "retryable": True, "retry_after_seconds": 0.2, "attempts": 2}
    async with desk.worker([{**DONE, "error": busy}]):
        asked = await desk.ask()
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.ANSWERED
    assert len(desk.entries(asked.session, Kind.ASSISTANT_MESSAGE)) == 1


async def test_a_model_that_stays_away_for_hours_ends_the_run_and_loses_no_message(desk: Desk) -> None:
    away = {"fault": "overloaded", "message": "overloaded", "retryable": True, "retry_after_seconds": 1800}
    async with desk.worker([{**DONE, "error": away}]):
        asked = await desk.ask()
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.MODEL_FAILED
    assert result.message == "The model could not be used. overloaded"
    assert len(desk.entries(asked.session, Kind.USER_MESSAGE)) == 1
    paired(desk, asked.session)


async def test_serial_mode_answers_other_calls_without_running_them(desk: Desk) -> None:
    script = [calls(call("look", topic="a"), call("look", topic="b"), call("change", name="x")), DONE]
    async with desk.worker(script):
        asked = await desk.ask(mode=Mode(only="look"))
        await desk.result(asked)
    assert desk.codes(asked.session) == {
        "1.1": "ok", "1.2": "skipped_in_serial_step", "1.3": "skipped_in_serial_step",
    }  # fmt: skip
    assert desk.done == []


async def test_a_run_without_a_message_ends_as_nothing_to_do(desk: Desk) -> None:
    async with desk.worker([DONE]):
        result = await desk.client.execute_workflow(
            AGENT_WORKFLOW, RunRequest(ME), id=desk.queue, task_queue=desk.queue, result_type=RunResult
        )
    assert result.stop_reason is StopReason.NOTHING_TO_DO
    assert desk.entries(desk.queue) == []


async def test_a_follow_up_sees_what_was_said_before(desk: Desk) -> None:
    script = [calls(call("look", topic="a")), DONE, {"text": "Again.", "expect": {"contains": "And now?"}}]
    async with desk.worker(script):
        first = await desk.ask()
        await desk.result(first)
        second = await desk.ask("And now?", session=first.session)
        result = await desk.result(second)
    assert result.answer == "Again."
    paired(desk, first.session)


async def test_a_message_during_a_run_steers_its_next_step(desk: Desk) -> None:
    script = [calls(call("nap", seconds=0.8)), {"text": "Steered.", "expect": {"contains": "only the last hour"}}]
    async with desk.worker(script):
        asked = await desk.ask()
        await desk.until(asked.session, Kind.TOOL_STARTED)
        await desk.ask("only the last hour", session=asked.session)
        result = await desk.result(asked)
    assert (result.stop_reason, result.answer) == (StopReason.ANSWERED, "Steered.")


async def test_a_message_sent_twice_with_the_same_id_is_one_message(desk: Desk) -> None:
    async with desk.worker([DONE, DONE]):
        first = await desk.ask()
        await desk.result(first)
        again = await desk.opspilot.ask("What is going on?", first.session, message_id=first.message_id)
        assert (await desk.result(again)).stop_reason is StopReason.ANSWERED
        await desk.result(await desk.ask("And now?", first.session))
        with pytest.raises(UsageError, match="another text"):
            await desk.opspilot.ask("Something else?", first.session, message_id=first.message_id)
        late = await desk.opspilot.ask("What is going on?", first.session, message_id=first.message_id)
        assert (await desk.result(late)).stop_reason is StopReason.NOTHING_TO_DO
    messages = desk.entries(first.session, Kind.USER_MESSAGE)
    assert [message.data["text"] for message in messages] == ["What is going on?", "And now?"]
    paired(desk, first.session)


async def test_a_long_run_goes_on_as_new_and_keeps_its_count(desk: Desk) -> None:
    script = [*[calls(call("look", topic=f"t{n}")) for n in range(7)], DONE]
    async with desk.worker(script):
        asked = await desk.ask(limits=Limits(continue_as_new_steps=3))
        result = await desk.result(asked)
    assert (result.stop_reason, result.steps) == (StopReason.ANSWERED, 8)
    assert len({entry.run for entry in desk.entries(asked.session)}) == 1
    paired(desk, asked.session)


async def test_a_pause_for_a_person_survives_a_worker_that_comes_and_goes(desk: Desk) -> None:
    script = [calls(call("risky", name="db")), DONE]
    async with desk.worker(script):
        asked = await desk.ask()
        await desk.waiting(asked.session)
    async with desk.worker(script):
        await desk.answer(asked.session, "1.1#1", AnswerAction.APPROVE)
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.ANSWERED
    assert desk.done == ["risked db"]


async def test_blocking_tools_do_not_stall_the_worker(desk: Desk) -> None:
    async with desk.worker([calls(call("block", seconds=1.0), call("look", topic="a")), DONE]):
        asked = await desk.ask()
        first = await desk.until(asked.session, Kind.TOOL_RESULT)
        result = await desk.result(asked)
    assert first.call == "1.2"
    assert result.stop_reason is StopReason.ANSWERED
