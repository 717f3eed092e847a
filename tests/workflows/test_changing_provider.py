"""One session, three runs, each with another wire format: thinking, parallel calls and a broken call in its history."""

import json
from typing import Any

import pytest

from opspilot.core.limits import StopReason
from opspilot.models.anthropic import AnthropicModel
from opspilot.models.openai import OpenAIModel
from opspilot.models.responses import ResponsesModel
from tests.models.canned import canned
from tests.workflows.desk import Desk, paired

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOPICS = ('{"topic": "etcd"}', '{"topic": "disk"}', '{"topic": "cut')
SIGNED = {"type": "thinking", "thinking": "hm", "signature": "SIGNATURE"}


def claude(*content: dict[str, Any]) -> str:
    return json.dumps({"type": "message", "content": content, "stop_reason": "end_turn"})


def chat(**message: Any) -> str:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})


def responses(*output: dict[str, Any]) -> str:
    return json.dumps({"status": "completed", "output": output})


def said(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}


async def test_a_session_goes_from_provider_to_provider_and_back(desk: Desk) -> None:
    calls = [{"type": "tool_use", "id": f"t{at}", "name": "look", "input": raw} for at, raw in enumerate(TOPICS)]
    with canned(claude(SIGNED, *calls), claude({"type": "text", "text": "First."})) as server:
        async with desk.worker(AnthropicModel("m", server.url)):
            asked = await desk.ask("one")
            assert (await desk.result(asked)).answer == "First."
        assert desk.codes(asked.session) == {"1.1": "ok", "1.2": "ok", "1.3": "invalid_json"}
        assert server.asked[1][2]["messages"][1]["content"][0] == SIGNED

    wanted = [
        {"type": "function_call", "call_id": f"t{at}", "name": "look", "arguments": raw}
        for at, raw in enumerate(TOPICS)
    ]
    hidden = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "CIPHER"}
    with canned(responses(hidden, *wanted), responses(said("Second."))) as server:
        async with desk.worker(ResponsesModel("gpt-5", server.url)):
            await desk.ask("two", asked.session)
            assert (await desk.result(asked)).answer == "Second."
        first, second = (body["input"] for _, _, body in server.asked)
        assert "SIGNATURE" not in json.dumps(first)
        assert [item["call_id"] for item in first if item["type"] == "function_call_output"] == ["t0", "t1", "t2"]
        assert hidden in second

    with canned(chat(content="Third.")) as server:
        async with desk.worker(OpenAIModel("m", server.url)):
            await desk.ask("three", asked.session)
            assert (await desk.result(asked)).stop_reason is StopReason.ANSWERED
        messages = server.asked[0][2]["messages"]
        owed = [call["id"] for message in messages for call in message.get("tool_calls", [])]
        assert owed == [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert len(set(owed)) == 6
        assert "CIPHER" not in json.dumps(messages)

    with canned(claude({"type": "text", "text": "Fourth."})) as server:
        async with desk.worker(AnthropicModel("m", server.url)):
            await desk.ask("four", asked.session)
            assert (await desk.result(asked)).answer == "Fourth."
        history = server.asked[0][2]["messages"]
        assert history[1]["content"][0] == SIGNED
        assert "CIPHER" not in json.dumps(history)
    paired(desk, asked.session)
