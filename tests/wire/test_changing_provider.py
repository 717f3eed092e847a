"""A session that changes provider between runs: what each made goes on to the others, and comes home as it was."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import pytest

from opspilot.core.messages import (
    AssistantMessage,
    Json,
    Message,
    ModelRequest,
    ProtocolCall,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from opspilot.models import anthropic_request, openai_request, responses_request
from opspilot.models.anthropic_stream import AnthropicDecoder
from opspilot.models.decoding import ReplyDecoder
from opspilot.models.openai_stream import OpenAIDecoder
from opspilot.models.responses_stream import ResponsesDecoder
from opspilot.models.wire_names import wire_name, wire_names

TOOLS = (ToolSpec("search", "", {}), ToolSpec("see.logs", "", {}))
CUT = '{"q": "cut'
SECRETS = ("SIGNATURE", "REDACTED", "CIPHER", "REASONED", "THOUGHT")


@dataclass(frozen=True)
class Provider:
    """One wire format at its own server, and a whole reply of it: thinking, two sound calls, one with broken JSON."""

    encode: Callable[[ModelRequest], dict[str, Json]]
    decoder: Callable[[], ReplyDecoder]
    reply: dict[str, Any]

    def said(self) -> AssistantMessage:
        decoder = self.decoder()
        decoder.feed(json.dumps(self.reply).encode())
        reply = decoder.finish()
        assert len(reply.calls) == 3
        return AssistantMessage(reply.text, reply.calls, reply.provider, reply.opaque)


CHAT = openai_request.Dialect.of("https://api.deepseek.com", "deepseek-v4")
CLAUDE = anthropic_request.AnthropicDialect.of("https://api.anthropic.com")
RESPONSES = responses_request.ResponsesDialect.of("https://api.openai.com/v1", "gpt-5")
CALLS = [("a", "search", '{"q": 1}'), ("b", wire_name("see.logs"), '{"level":"error"}')]
BROKEN = ("c", "search", CUT)

PROVIDERS = {
    "chat": Provider(
        lambda request: openai_request.encode(request, "m", CHAT),
        lambda: OpenAIDecoder(CHAT.provider, CHAT.server, wire_names(TOOLS)),
        {
            "choices": [
                {
                    "finish_reason": "tool_calls",
                    "message": {
                        "content": "Let me look.",
                        "reasoning_content": "REASONED",
                        "tool_calls": [
                            {
                                "id": id_,
                                "function": {"name": name, "arguments": arguments},
                                "extra_content": {"google": {"thought_signature": "THOUGHT"}},
                            }
                            for id_, name, arguments in (*CALLS, BROKEN)
                        ],
                    },
                }
            ]
        },
    ),
    "anthropic": Provider(
        lambda request: anthropic_request.encode(request, "m", CLAUDE),
        lambda: AnthropicDecoder(CLAUDE.provider, CLAUDE.server, wire_names(TOOLS)),
        {
            "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "REASONED", "signature": "SIGNATURE"},
                {"type": "redacted_thinking", "data": "REDACTED"},
                {"type": "text", "text": "Let me look."},
                *({"type": "tool_use", "id": id_, "name": name, "input": json.loads(raw)} for id_, name, raw in CALLS),
                {"type": "tool_use", "id": BROKEN[0], "name": BROKEN[1], "input": CUT},
            ],
        },
    ),
    "responses": Provider(
        lambda request: responses_request.encode(request, "m", RESPONSES),
        lambda: ResponsesDecoder(RESPONSES.provider, RESPONSES.server, wire_names(TOOLS)),
        {
            "status": "completed",
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "CIPHER"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
                *(
                    {"type": "function_call", "call_id": id_, "name": name, "arguments": raw}
                    for id_, name, raw in (*CALLS, BROKEN)
                ),
            ],
        },
    ),
}


def run(provider: str) -> tuple[Message, ...]:
    """What a run with this provider leaves in the conversation."""
    said = PROVIDERS[provider].said()
    results = [ToolMessage(call.id, call.name, f"result of {call.id}", ok=call.id != "c") for call in said.calls]
    return (UserMessage("What is wrong?"), said, *results, AssistantMessage("All of it."))


def encoded(provider: str, *runs: str) -> dict[str, Json]:
    history = [message for name in runs for message in run(name)]
    return PROVIDERS[provider].encode(ModelRequest((SystemMessage("s"), *history, UserMessage("And now?")), TOOLS))


def pairs(body: dict[str, Json]) -> Iterator[tuple[list[str], list[str]]]:
    """For each step in the request: the ids of its calls, and of the results right behind them."""
    steps: list[tuple[list[str], list[str]]] = []
    for item in body.get("messages") or body["input"]:
        content = item.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        calls = [call["id"] for call in item.get("tool_calls", [])]
        calls += [block["id"] for block in blocks if block["type"] == "tool_use"]
        calls += [item["call_id"]] if item.get("type") == "function_call" else []
        results = [item["tool_call_id"]] if item.get("role") == "tool" else []
        results += [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        results += [item["call_id"]] if item.get("type") == "function_call_output" else []
        if calls and (not steps or steps[-1][1]):
            steps.append(([], []))
        if calls or results:
            steps[-1][0].extend(calls)
            steps[-1][1].extend(results)
    yield from steps


CHANGES = [(old, new) for old in PROVIDERS for new in PROVIDERS if old != new]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_each_takes_what_another_made_with_every_call_answered_and_nothing_foreign(old: str, new: str) -> None:
    body = encoded(new, old)
    steps = list(pairs(body))
    assert [len(calls) for calls, _ in steps] == [3]
    assert all(calls == results for calls, results in steps)
    text = json.dumps(body)
    assert not [secret for secret in SECRETS if secret in text]
    assert "Let me look." in text
    assert "result of a" in text
    assert "see.logs" not in text
    assert "invalid_arguments" in text


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_gets_its_own_back_as_it_was_with_others_runs_before_and_between(name: str) -> None:
    others = [other for other in PROVIDERS if other != name]
    alone = json.dumps(encoded(name, name))
    kept = [secret for secret in SECRETS if secret in alone]
    assert kept
    between = json.dumps(encoded(name, others[0], name, others[1], name))
    for secret in SECRETS:
        assert between.count(secret) == 2 * alone.count(secret)


@pytest.mark.parametrize("runs", list(permutations(PROVIDERS)))
@pytest.mark.parametrize("name", PROVIDERS)
def test_ids_that_all_three_used_are_told_apart(name: str, runs: tuple[str, ...]) -> None:
    steps = list(pairs(encoded(name, *runs)))
    ids = [id_ for calls, _ in steps for id_ in calls]
    assert len(ids) == len(set(ids)) == 9
    assert all(calls == results for calls, results in steps)


@pytest.mark.parametrize("name", PROVIDERS)
def test_calls_mean_the_same_whoever_made_them(name: str) -> None:
    assert PROVIDERS[name].said().calls == (
        ProtocolCall("a", "search", '{"q": 1}'),
        ProtocolCall("b", "see.logs", '{"level": "error"}' if name == "anthropic" else '{"level":"error"}'),
        ProtocolCall("c", "search", CUT),
    )
