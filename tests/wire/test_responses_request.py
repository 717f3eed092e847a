"""Golden table: our conversation, and the exact JSON that an OpenAI Responses server gets."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from opspilot.models.responses_request import ResponsesDialect, encode

OPENAI = ResponsesDialect.of("https://api.openai.com/v1", "gpt-5-mini")
CHAT = ResponsesDialect.of("https://api.openai.com/v1", "gpt-4o")
LOCAL = ResponsesDialect.of("http://127.0.0.1:8080/v1", "qwen")

SEARCH = ToolSpec("search", "Searches.", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})
NOW = ToolSpec("now", "", {})
STATELESS: dict[str, Json] = {"include": ["reasoning.encrypted_content"], "store": False, "stream": True}
NOW_ON_WIRE = {
    "type": "function",
    "name": "now",
    "parameters": {"type": "object", "properties": {}},
    "strict": False,
}


def user(words: str) -> dict[str, Json]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}


def assistant(words: str) -> dict[str, Json]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}


def asked(id_: str = "a", arguments: str = "{}", name: str = "now") -> dict[str, Json]:
    return {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments}


def answered(id_: str = "a", words: str = "12") -> dict[str, Json]:
    return {"type": "function_call_output", "call_id": id_, "output": words}


def call(id_: str = "a", arguments: str = "{}", name: str = "now") -> ProtocolCall:
    return ProtocolCall(id_, name, arguments)


def result(id_: str = "a", words: str = "12") -> ToolMessage:
    return ToolMessage(id_, "now", words, ok=True)


def sent(*messages: Message, dialect: ResponsesDialect = OPENAI) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = encode(ModelRequest(messages), "m", dialect)["input"]
    return items


GOLDEN: list[tuple[str, ModelRequest, ResponsesDialect, dict[str, Any]]] = [
    (
        "a first question without tools says nothing about tools",
        ModelRequest((UserMessage("hi"),), force="search", parallel=False),
        OPENAI,
        {"model": "m", "input": [user("hi")], **STATELESS},
    ),
    (
        "a model that does not think is not asked for its thoughts",
        ModelRequest((UserMessage("hi"),)),
        CHAT,
        {"model": "m", "input": [user("hi")], "store": False, "stream": True},
    ),
    (
        "a whole step, the arguments byte for byte, blank ones as {}",
        ModelRequest(
            (
                SystemMessage("Be brief."),
                SystemMessage("Be kind."),
                UserMessage("What is 支付?"),
                AssistantMessage("Looking.", (call("call_1", '{"q": "支付"}', "search"), call("call_2", " "))),
                ToolMessage("call_1", "search", '{"ok":true,"data":[]}', ok=True),
                ToolMessage("call_2", "now", "", ok=False),
            ),
            (SEARCH, NOW),
            max_output_tokens=100,
        ),
        OPENAI,
        {
            "model": "m",
            "instructions": "Be brief.\n\nBe kind.",
            "input": [
                user("What is 支付?"),
                assistant("Looking."),
                asked("call_1", '{"q": "支付"}', "search"),
                asked("call_2"),
                answered("call_1", '{"ok":true,"data":[]}'),
                answered("call_2", ""),
            ],
            "tools": [
                {
                    "type": "function",
                    "name": "search",
                    "description": "Searches.",
                    "parameters": {
                        "type": "object",
                        "properties": {"q": {"type": "string"}},
                        "required": ["q"],
                    },
                    "strict": False,
                },
                NOW_ON_WIRE,
            ],
            "max_output_tokens": 100,
            **STATELESS,
        },
    ),
    (
        "one forced tool, one call at most",
        ModelRequest((UserMessage("hi"),), (NOW,), force="now", parallel=False),
        OPENAI,
        {
            "model": "m",
            "input": [user("hi")],
            "tools": [NOW_ON_WIRE],
            "tool_choice": {"type": "function", "name": "now"},
            "parallel_tool_calls": False,
            **STATELESS,
        },
    ),
    (
        "a last turn without tools keeps the calls that were made",
        ModelRequest((UserMessage("hi"), AssistantMessage("", (call(),)), result())),
        OPENAI,
        {"model": "m", "input": [user("hi"), asked(), answered()], **STATELESS},
    ),
]


@pytest.mark.parametrize(("request_", "dialect", "body"), [row[1:] for row in GOLDEN], ids=[row[0] for row in GOLDEN])
def test_a_request_becomes_exactly_this_json(
    request_: ModelRequest, dialect: ResponsesDialect, body: dict[str, Any]
) -> None:
    assert json.dumps(encode(request_, "m", dialect)) == json.dumps(body)


def test_without_streaming_the_word_is_not_sent() -> None:
    assert "stream" not in encode(ModelRequest((UserMessage("hi"),)), "m", OPENAI, stream=False)


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ("gpt-5", True), ("o4-mini", True), ("grok-4", True), ("gpt-4.1", False), ("chatgpt-4o-latest", False),
        ("gpt-5-chat-latest", False), ("openai/gpt-4o", False),
    ],
)  # fmt: skip
def test_who_thinks_is_told_from_the_models_name(model: str, thinks: bool) -> None:
    assert ResponsesDialect.of("https://api.openai.com/v1", model).encrypted_reasoning is thinks


@pytest.mark.parametrize("raw", ['{"q": "cut', "[1]", "not json", '{"x": NaN}'])
def test_arguments_that_are_no_object_are_wrapped_and_still_readable(raw: str) -> None:
    item = sent(AssistantMessage("", (call("a", raw),)), result())[0]
    assert json.loads(item["arguments"]) == {"invalid_arguments": raw}


def test_blank_messages_are_left_out() -> None:
    assert sent(UserMessage("a"), AssistantMessage(" "), UserMessage("\n"), UserMessage("b")) == [user("a"), user("b")]


def test_ids_are_made_to_fit_and_told_apart_together_with_their_results() -> None:
    turn = (AssistantMessage("", (call("x" * 80), call("x" * 80))), result("x" * 80), result("x" * 80))
    items = sent(*turn, *turn)
    made = [item["call_id"] for item in items if item["type"] == "function_call"]
    assert made == [item["call_id"] for item in items if item["type"] == "function_call_output"]
    assert len(set(made)) == 4
    assert max(map(len, made)) <= 64
    assert sent(*turn, *turn) == items


REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "gAAA==",
}
KEPT: list[dict[str, Json]] = [
    {**REASONING, "status": "completed", "content": None},
    {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "Look.", "annotations": []}],
    },
    {"type": "function_call", "id": "fc_1", "status": "completed", "namespace": "n"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
    {"type": "function_call", "id": "fc_2"},
]


def thought(provider: str = OPENAI.provider) -> AssistantMessage:
    return AssistantMessage("Look.", (call("a"), call("b", '{"x":1}')), provider, {"output": KEPT})


def test_kept_items_go_back_in_their_order_without_ids_of_what_is_not_stored() -> None:
    assert sent(thought(), result("a"), result("b")) == [
        REASONING,
        {
            "type": "message",
            "role": "assistant",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "Look.", "annotations": []}],
        },
        asked("a") | {"namespace": "n"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
        asked("b", '{"x":1}'),
        answered("a"),
        answered("b"),
    ]


@pytest.mark.parametrize("provider", [LOCAL.provider, "openai:api.openai.com", "anthropic:api.anthropic.com", ""])
def test_kept_items_of_another_provider_leave_text_and_calls(provider: str) -> None:
    assert sent(thought(provider), result("a"), result("b")) == [
        assistant("Look."),
        asked("a"),
        asked("b", '{"x":1}'),
        answered("a"),
        answered("b"),
    ]


def test_reasoning_that_only_its_server_could_find_is_left_out_and_readable_reasoning_is_for_others() -> None:
    readable = {"type": "reasoning", "id": "rs_1", "content": [{"type": "reasoning_text", "text": "hm"}]}
    kept = {"output": [readable, KEPT[1]]}
    for dialect, expected in ((OPENAI, ["message"]), (LOCAL, ["reasoning", "message"])):
        items = sent(AssistantMessage("Look.", (), dialect.provider, kept), dialect=dialect)
        assert [item["type"] for item in items] == expected
    assert items[0] == readable | {"summary": []}


def test_half_characters_do_not_reach_the_wire() -> None:
    assert sent(UserMessage("a\ud83dz"), UserMessage("\ud83d\ude00")) == [user("a\ufffdz"), user("\U0001f600")]


TEXT = st.text(st.characters(exclude_categories=[]), max_size=8)
CALLS = st.lists(st.builds(ProtocolCall, id=TEXT, name=TEXT, arguments=TEXT), max_size=3)
ITEMS = st.lists(st.sampled_from(KEPT), max_size=4)
MESSAGES = st.lists(
    st.one_of(
        st.builds(UserMessage, TEXT),
        st.builds(
            lambda words, calls, items: AssistantMessage(words, tuple(calls), OPENAI.provider, {"output": items}),
            TEXT,
            CALLS,
            ITEMS,
        ),
        st.builds(ToolMessage, call_id=TEXT, name=TEXT, text=TEXT, ok=st.booleans()),
    ),
    max_size=8,
)


@given(messages=MESSAGES, dialect=st.sampled_from([OPENAI, CHAT, LOCAL]))
def test_any_conversation_becomes_a_request_that_no_server_has_to_refuse(
    messages: list[Message], dialect: ResponsesDialect
) -> None:
    items = sent(*messages, dialect=dialect)
    json.dumps(items, ensure_ascii=False, allow_nan=False).encode()
    made = [item["call_id"] for item in items if item["type"] == "function_call"]
    assert made == [item["call_id"] for item in items if item["type"] == "function_call_output"]
    assert len(made) == len(set(made))
    for item in items:
        if item["type"] == "function_call":
            assert isinstance(json.loads(item["arguments"]), dict)
