"""The scripted model: which step it plays, what it refuses, what it counts."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from opspilot.core.errors import ModelError, ModelFault, UsageError
from opspilot.core.messages import (
    AssistantMessage,
    Finish,
    Message,
    ModelReply,
    ModelRequest,
    ProtocolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from opspilot.models.scripted import ScriptedModel

TOOLS = (ToolSpec("search", "", {}), ToolSpec("restart", "", {}))
CALL_THEN_ANSWER: list[dict[str, Any]] = [
    {
        "text": "Looking.",
        "calls": [{"name": "search", "arguments": {"q": "é"}}, {"name": "search", "arguments": "{bad"}],
    },
    {"text": "Found it.", "usage": {"input_tokens": 7, "output_tokens": 3}},
]


async def play(model: ScriptedModel, *messages: Message, tools: tuple[ToolSpec, ...] = TOOLS) -> ModelReply:
    return await model.reply(ModelRequest(messages, tools), lambda _: None)


def after(reply: ModelReply) -> tuple[Message, ...]:
    results = (ToolMessage(call.id, call.name, f"result of {call.name}", ok=True) for call in reply.calls)
    return (AssistantMessage(reply.text, reply.calls), *results)


async def test_steps_follow_the_conversation_and_all_are_played_in_the_end() -> None:
    model = ScriptedModel(CALL_THEN_ANSWER)
    first = await play(model, UserMessage("q"))
    assert first.text == "Looking."
    assert first.calls == (
        ProtocolCall("call_1_1", "search", '{"q": "é"}'),
        ProtocolCall("call_1_2", "search", "{bad"),
    )
    assert first.finish is Finish.TOOL_CALLS
    with pytest.raises(AssertionError, match="never played: 2"):
        model.assert_done()
    second = await play(model, UserMessage("q"), *after(first))
    assert (second.text, second.calls, second.finish) == ("Found it.", (), Finish.STOP)
    assert second.usage == Usage(7, 3)
    model.assert_done()


async def test_a_retried_attempt_and_another_session_play_the_same_step() -> None:
    model = ScriptedModel(CALL_THEN_ANSWER)
    assert (
        await play(model, UserMessage("q"))
        == await play(model, UserMessage("q"))
        == await play(model, UserMessage("r"))
    )


async def test_a_request_beyond_the_script_fails_in_a_sentence_that_no_retry_mends() -> None:
    with pytest.raises(ModelError, match=r"has 1 step.*asks for step 2") as caught:
        await play(ScriptedModel([{"text": "a"}]), UserMessage("q"), AssistantMessage("a"), UserMessage("and?"))
    assert (caught.value.fault, caught.value.retryable) == (ModelFault.BAD_REQUEST, False)


@pytest.mark.parametrize(
    ("expect", "complaint"),
    [
        ({"contains": "no such text"}, "expects 'no such text'"),
        ({"contains": ["result of search", "question"]}, "expects 'question'"),
        ({"tools": ["search"]}, "expects the tools"),
        ({"tools": []}, "expects the tools"),
    ],
)
async def test_an_expectation_that_does_not_hold_fails_the_call(expect: dict[str, Any], complaint: str) -> None:
    model = ScriptedModel([{"calls": [{"name": "search"}]}, {"text": "done", "expect": expect}])
    first = await play(model, UserMessage("question"))
    with pytest.raises(ModelError, match=complaint):
        await play(model, UserMessage("question"), *after(first))


async def test_expectations_look_at_what_is_new_and_at_exactly_the_tools_offered() -> None:
    expect = {"contains": "result of search", "tools": ["restart", "search"]}
    model = ScriptedModel([{"calls": [{"name": "search"}]}, {"text": "done", "expect": expect}])
    first = await play(model, UserMessage("question"))
    assert (await play(model, UserMessage("question"), *after(first))).text == "done"


async def test_without_tools_a_step_says_its_final_text_and_calls_nothing() -> None:
    model = ScriptedModel([{"text": "Looking.", "final": "That is all.", "calls": [{"name": "search"}]}])
    reply = await play(model, UserMessage("q"), tools=())
    assert (reply.text, reply.calls, reply.finish) == ("That is all.", (), Finish.STOP)


async def test_without_tools_and_a_final_text_the_steps_own_text_is_said() -> None:
    model = ScriptedModel([{"text": "Looking.", "calls": [{"name": "search"}]}])
    assert (await play(model, UserMessage("q"), tools=())).text == "Looking."


async def test_a_step_of_calls_alone_can_not_be_played_without_tools() -> None:
    with pytest.raises(ModelError, match='Give it a "final" text'):
        await play(ScriptedModel([{"calls": [{"name": "search"}]}]), UserMessage("q"), tools=())


async def test_an_error_is_raised_for_as_many_attempts_as_it_says_in_each_conversation() -> None:
    error = {"fault": "rate_limit", "message": "slow down", "retryable": True, "retry_after_seconds": 2, "attempts": 1}
    model = ScriptedModel([{"text": "at last", "error": error}])
    for question in ("one", "two"):
        with pytest.raises(ModelError) as caught:
            await play(model, UserMessage(question))
        assert (caught.value.fault, caught.value.retryable) == (ModelFault.RATE_LIMIT, True)
        assert caught.value.retry_after_seconds == 2
        assert (await play(model, UserMessage(question))).text == "at last"


async def test_an_error_without_a_number_of_attempts_stays() -> None:
    model = ScriptedModel([{"error": {"fault": "auth", "message": "no"}}])
    for _ in range(3):
        with pytest.raises(ModelError, match="no"):
            await play(model, UserMessage("q"))


async def test_text_arrives_in_pieces() -> None:
    shown: list[str] = []
    await ScriptedModel([{"text": "a text of some length"}]).reply(ModelRequest((UserMessage("q"),)), shown.append)
    assert len(shown) > 1
    assert "".join(shown) == "a text of some length"


async def test_a_delayed_reply_can_be_cancelled() -> None:
    playing = asyncio.create_task(play(ScriptedModel([{"text": "late", "delay_seconds": 3600}]), UserMessage("q")))
    await asyncio.sleep(0)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing


async def test_a_script_is_loaded_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(CALL_THEN_ANSWER), encoding="utf-8")
    assert (await play(ScriptedModel.load(path), UserMessage("q"))).text == "Looking."


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is not valid JSON"),
        ("{}", r"script\.json.*valid list"),
        ('[{"txt": "typing error"}]', r"step 1\.txt"),
        ('[{}, {"calls": [{"name": 5}]}]', r"step 2\.calls\.1\.name"),
        ('[{"error": {"fault": "bad luck", "message": ""}}]', "rate_limit"),
    ],
)
def test_a_wrong_script_is_refused_with_its_file_and_place(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=complaint):
        ScriptedModel.load(path)


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json can't be read"):
        ScriptedModel.load(tmp_path / "none.json")
