"""The OpenAI adapter against the scripted server: real sockets, real packets, real faults."""

import asyncio
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest

from opspilot.core.errors import ModelError, ModelFault, UsageError
from opspilot.core.messages import (
    AssistantMessage,
    Finish,
    ModelReply,
    ModelRequest,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from opspilot.models.openai import OpenAIModel
from opspilot.models.scripted_server import ScriptedServer
from opspilot.models.wire_model import WireOptions

KEY = "sk-very-secret-key"
QUESTION = UserMessage("支付 🎉?")
TOOLS = (ToolSpec("search", "Searches.", {"type": "object", "properties": {}}), ToolSpec("读日志", "Logs.", {}))
STEPS: list[dict[str, Any]] = [
    {
        "text": "我看看 🎉, a moment.",
        "calls": [
            {"name": "search", "arguments": {"q": "支付 é"}},
            {"name": "search", "arguments": {"q": "docs", "n": [1]}},
        ],
        "usage": {"input_tokens": 90, "output_tokens": 12, "cached_tokens": 64},
    },
    {"text": "Done.", "expect": {"contains": ["two", "one"]}},
]


def model(server: ScriptedServer, **more: Any) -> OpenAIModel:
    return OpenAIModel("m", server.url, KEY, WireOptions(**more))


async def ask(asked: OpenAIModel, *messages: Any, shown: Callable[[str], None] = lambda _: None) -> ModelReply:
    return await asked.reply(ModelRequest(messages or (QUESTION,), TOOLS), shown)


async def until(state: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not state():
            await asyncio.sleep(0.005)


async def failure(steps: list[dict[str, Any]], **more: Any) -> ModelError:
    with ScriptedServer(steps) as server, pytest.raises(ModelError) as caught:
        await ask(model(server, **more))
    assert KEY not in caught.value.message
    return caught.value


async def test_a_whole_run_of_two_parallel_calls_over_the_wire() -> None:
    shown: list[str] = []
    with ScriptedServer(STEPS) as server:
        asked = model(server, max_output_tokens=50, extra_headers={"X-Team": "ops"})
        first = await ask(asked, shown=shown.append)
        assert first.text == "".join(shown) == "我看看 🎉, a moment."
        assert [json.loads(call.arguments) for call in first.calls] == [{"q": "支付 é"}, {"q": "docs", "n": [1]}]
        assert (first.finish, first.usage) == (Finish.TOOL_CALLS, Usage(90, 12, 64))
        results = [
            ToolMessage(call.id, call.name, text, ok=True)
            for call, text in zip(first.calls, ("one", "two"), strict=True)
        ]
        answer = await ask(
            asked, QUESTION, AssistantMessage(first.text, first.calls, first.provider, first.opaque), *results
        )
        assert (answer.text, answer.calls) == ("Done.", ())
        server.assert_done()
        sent = server.requests[0]
        assert sent.path == "/v1/chat/completions"
        assert sent.headers["authorization"] == "[set]"
        assert sent.headers["x-team"] == "ops"
        assert (sent.body["model"], sent.body["max_tokens"]) == ("m", 50)


async def test_a_tool_whose_name_the_wire_does_not_take_is_called_by_its_own_name() -> None:
    with ScriptedServer([{"text": "x"}]) as server:
        await ask(model(server))
        on_wire = server.requests[0].body["tools"][1]["function"]["name"]
    assert on_wire.isascii()
    with ScriptedServer([{"calls": [{"name": on_wire}]}]) as server:
        assert (await ask(model(server))).calls[0].name == "读日志"


async def test_a_rate_limit_carries_the_wait_and_the_next_attempt_passes() -> None:
    fault = {"status": 429, "headers": {"Retry-After": "7"}, "body": {"error": {"message": f"slow down, {KEY}"}}}
    with ScriptedServer([{"text": "now", "http": fault}]) as server:
        with pytest.raises(ModelError) as caught:
            await ask(model(server))
        assert (caught.value.fault, caught.value.retryable) == (ModelFault.RATE_LIMIT, True)
        assert caught.value.retry_after_seconds == 7
        assert KEY not in caught.value.message
        assert len(server.requests) == 1, "the adapter itself retries nothing"
        assert (await ask(model(server))).text == "now"


@pytest.mark.parametrize("kept_bytes", [0, 1, 300, 700])
async def test_a_cut_stream_is_worth_another_attempt_and_tells_what_had_come(kept_bytes: int) -> None:
    error = await failure([STEPS[0] | {"http": {"cut_after_bytes": kept_bytes}}])
    assert (error.fault, error.retryable) == (ModelFault.NETWORK, True)
    assert STEPS[0]["text"].startswith(error.text)


@pytest.mark.parametrize(
    ("fault", "retryable"),
    [
        ("rate_limit", True),
        ("quota", False),
        ("overloaded", True),
        ("auth", False),
        ("bad_request", False),
        ("context_length", False),
        ("server", True),
        ("network", True),
    ],
)
async def test_each_scripted_fault_arrives_as_the_same_fault(fault: str, retryable: bool) -> None:
    error = await failure([{"error": {"fault": fault, "message": "no luck", "retryable": retryable}}])
    assert (error.fault, error.retryable) == (fault, retryable)


@pytest.mark.parametrize(
    ("step", "says"), [({"text": ""}, "wrote nothing"), ({"text": "", "finish": "length"}, "output limit")]
)
async def test_an_empty_reply_is_a_failure_worth_another_attempt(step: dict[str, Any], says: str) -> None:
    error = await failure([step])
    assert (error.fault, error.retryable) == (ModelFault.BAD_REPLY, True)
    assert says in error.message


async def test_a_filtered_reply_is_a_reply() -> None:
    with ScriptedServer([{"text": "", "finish": "content_filter"}]) as server:
        assert (await ask(model(server))).finish is Finish.CONTENT_FILTER


async def test_silence_ends_at_the_read_timeout() -> None:
    error = await failure([{"text": "late", "delay_seconds": 30}], read_timeout_seconds=0.05)
    assert (error.fault, error.retryable) == (ModelFault.NETWORK, True)
    assert "sent nothing for 0.05 seconds" in error.message


async def test_cancelling_closes_the_connection() -> None:
    with ScriptedServer([{"text": "late", "delay_seconds": 30}]) as server:
        asking = asyncio.create_task(ask(model(server)))
        await until(lambda: bool(server.requests) and server.requests[0].step == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: server.requests[0].disconnected)


async def test_a_server_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ModelError, match=rf"127\.0\.0\.1:{port} can't be reached") as caught:
        await ask(OpenAIModel("m", f"http://127.0.0.1:{port}/v1"))
    assert (caught.value.fault, caught.value.retryable) == (ModelFault.NETWORK, True)


async def test_a_query_in_the_base_url_stays_behind_the_path() -> None:
    with ScriptedServer([{"text": "a"}]) as server:
        await ask(OpenAIModel("m", f"{server.url}/?api-version=1"))
        assert server.requests[0].path == "/v1/chat/completions?api-version=1"


@pytest.mark.parametrize("url", ["", "llm.example/v1", "ftp://llm.example", "http://"])
def test_a_base_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(UsageError, match="must look like"):
        OpenAIModel("m", url, KEY)


def test_a_key_that_can_not_be_sent_is_refused_without_being_shown() -> None:
    with pytest.raises(UsageError) as caught:
        OpenAIModel("m", "https://llm.example/v1", KEY + "\n")
    assert KEY not in str(caught.value)


def test_the_key_is_in_no_representation() -> None:
    shown = repr(
        OpenAIModel("m", "https://llm.example/v1", KEY, WireOptions(extra_headers={"x-key": "another-secret"}))
    )
    assert "llm.example" in shown
    assert KEY not in shown
    assert "another-secret" not in shown
