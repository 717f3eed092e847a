"""Golden table: our conversation, and the exact JSON that an OpenAI-compatible server gets."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.messages import (
    AssistantMessage,
    Message,
    ModelRequest,
    ProtocolCall,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from opspilot.models.openai_request import Dialect, encode
from opspilot.models.wire_names import wire_name, wire_names

OPENAI = Dialect.of("https://api.openai.com/v1", "gpt-5")
LOCAL = Dialect.of("http://127.0.0.1:8080/v1", "qwen")
MISTRAL = Dialect.of("https://api.mistral.ai/v1", "mistral-small-latest")
DEEPSEEK = Dialect.of("https://api.deepseek.com", "deepseek-v4")

SEARCH = ToolSpec("search", "Searches.", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})
NOW = ToolSpec("now", "", {})
ASKED = (
    SystemMessage("Be brief."),
    UserMessage("What is 支付?"),
    AssistantMessage(
        "Looking.", (ProtocolCall("call_1", "search", '{"q": "支付"}'), ProtocolCall("call_2", "now", " "))
    ),
    ToolMessage("call_1", "search", '{"ok":true,"data":[]}', ok=True),
    ToolMessage("call_2", "now", "", ok=False),
)


def sent(*messages: Message, dialect: Dialect = OPENAI) -> list[dict[str, Any]]:
    body = encode(ModelRequest(messages), "m", dialect)
    result: list[dict[str, Any]] = body["messages"]
    return result


GOLDEN: list[tuple[str, ModelRequest, Dialect, dict[str, Any]]] = [
    (
        "a first question without tools says nothing about tools",
        ModelRequest((UserMessage("hi"),), force="search", parallel=False),
        OPENAI,
        {
            "model": "m",
            "messages": [{"role": "user", "content": "hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
        },
    ),
    (
        "a whole step, the arguments byte for byte, blank ones as {}",
        ModelRequest(ASKED, (SEARCH, NOW), max_output_tokens=100),
        OPENAI,
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "What is 支付?"},
                {
                    "role": "assistant",
                    "content": "Looking.",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "search", "arguments": '{"q": "支付"}'},
                        },
                        {"id": "call_2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
                    ],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": '{"ok":true,"data":[]}'},
                {"role": "tool", "tool_call_id": "call_2", "content": ""},
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "search",
                        "description": "Searches.",
                        "parameters": {
                            "type": "object",
                            "properties": {"q": {"type": "string"}},
                            "required": ["q"],
                        },
                    },
                },
                {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
            ],
            "max_completion_tokens": 100,
        },
    ),
    (
        "one forced tool, one call at most, another server's word for the limit",
        ModelRequest((UserMessage("hi"),), (NOW,), force="now", parallel=False, max_output_tokens=7),
        LOCAL,
        {
            "model": "m",
            "messages": [{"role": "user", "content": "hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "tools": [
                {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
            ],
            "tool_choice": {"type": "function", "function": {"name": "now"}},
            "parallel_tool_calls": False,
            "max_tokens": 7,
        },
    ),
    (
        "Mistral is not asked for usage, which it refuses",
        ModelRequest((UserMessage("hi"),)),
        MISTRAL,
        {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True},
    ),
]


@pytest.mark.parametrize(("request_", "dialect", "body"), [row[1:] for row in GOLDEN], ids=[row[0] for row in GOLDEN])
def test_a_request_becomes_exactly_this_json(request_: ModelRequest, dialect: Dialect, body: dict[str, Any]) -> None:
    assert json.dumps(encode(request_, "m", dialect)) == json.dumps(body)


def test_without_streaming_neither_stream_nor_its_options_are_sent() -> None:
    assert encode(ModelRequest((UserMessage("hi"),)), "m", OPENAI, stream=False).keys() == {"model", "messages"}


def test_the_o_series_is_not_sent_the_parallel_flag_that_it_refuses() -> None:
    dialect = Dialect.of("https://api.openai.com/v1", "o4-mini")
    assert "parallel_tool_calls" not in encode(ModelRequest((), (NOW,), parallel=False), "o4-mini", dialect)


@pytest.mark.parametrize("raw", ['{"q": "cut', "[1]", '"text"', "not json", '{"x": NaN}'])
def test_arguments_that_strict_servers_refuse_are_wrapped_and_still_readable(raw: str) -> None:
    message = sent(
        AssistantMessage("", (ProtocolCall("c", "search", raw),)), ToolMessage("c", "search", "no", ok=False)
    )[0]
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"invalid_arguments": raw}


def test_calls_without_text_carry_empty_text_and_text_without_calls_no_list() -> None:
    with_call, _, without = sent(
        AssistantMessage("", (ProtocolCall("c", "now", "{}"),)),
        ToolMessage("c", "now", "1", ok=True),
        AssistantMessage("t"),
    )
    assert with_call["content"] == ""
    assert without == {"role": "assistant", "content": "t"}


def test_an_assistant_message_with_nothing_in_it_is_left_out() -> None:
    assert sent(UserMessage("a"), AssistantMessage(""), UserMessage("b")) == [
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
    ]


def test_ids_that_come_again_are_told_apart_together_with_their_results() -> None:
    turn = (AssistantMessage("", (ProtocolCall("c", "now", "{}"),)), ToolMessage("c", "now", "1", ok=True))
    first, first_result, second, second_result = sent(*turn, *turn)
    assert first["tool_calls"][0]["id"] == first_result["tool_call_id"] == "c"
    assert second["tool_calls"][0]["id"] == second_result["tool_call_id"] != "c"


def test_ids_are_made_to_fit_the_server_and_stay_the_same_from_request_to_request() -> None:
    long_id = "toolu_" + "x" * 50
    messages = (AssistantMessage("", (ProtocolCall(long_id, "now", "{}"),)), ToolMessage(long_id, "now", "1", ok=True))
    for dialect, pattern_length in ((OPENAI, 40), (MISTRAL, 9)):
        call, result = sent(*messages, dialect=dialect)
        assert len(call["tool_calls"][0]["id"]) <= pattern_length
        assert call["tool_calls"][0]["id"] == result["tool_call_id"]
        assert sent(*messages, dialect=dialect) == [call, result]


def test_opaque_fields_go_back_to_the_server_that_they_came_from_and_to_no_other() -> None:
    opaque = {
        "message": {"reasoning_content": "hm"},
        "calls": [{"extra_content": {"google": {"thought_signature": "S="}}}],
    }
    asked = AssistantMessage("", (ProtocolCall("c", "now", "{}"),), DEEPSEEK.provider, opaque)
    result = ToolMessage("c", "now", "1", ok=True)
    same = sent(asked, result, dialect=DEEPSEEK)[0]
    other = sent(asked, result, dialect=OPENAI)[0]
    assert same["reasoning_content"] == "hm"
    assert same["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "S="}}
    assert other.keys() == {"role", "content", "tool_calls"}
    assert other["tool_calls"][0].keys() == {"id", "type", "function"}


def test_reasoning_is_sent_back_only_for_turns_that_used_tools() -> None:
    thought = {"message": {"reasoning_content": "hm"}}
    talk = AssistantMessage("hello", (), DEEPSEEK.provider, thought)
    call = AssistantMessage("", (ProtocolCall("c", "now", "{}"),), DEEPSEEK.provider, thought)
    conclusion = AssistantMessage("It is noon.", (), DEEPSEEK.provider, thought)
    messages = sent(
        UserMessage("hi"), talk, UserMessage("time?"), call, ToolMessage("c", "now", "12", ok=True), conclusion,
        dialect=DEEPSEEK,
    )  # fmt: skip
    assert ["reasoning_content" in message for message in messages] == [False, False, False, True, False, True]


@pytest.mark.parametrize("name", ["查日志", "a.b", "x" * 65, "", "query<|channel|>x", "a b"])
def test_names_outside_the_alphabet_get_one_inside_it_and_find_back(name: str) -> None:
    on_wire = wire_name(name)
    assert 1 <= len(on_wire) <= 64
    assert all(char.isascii() and (char.isalnum() or char in "_-") for char in on_wire)
    assert wire_names([ToolSpec(name, "", {})]) == {on_wire: name}


def test_two_names_never_become_one() -> None:
    assert wire_name("a.b") != wire_name("a b") != wire_name("a_b")


def test_half_characters_do_not_reach_the_wire() -> None:
    message = sent(UserMessage("a\ud83dz"), UserMessage("\ud83d\ude00"))
    assert [part["content"] for part in message] == ["a\ufffdz", "\U0001f600"]


TEXT = st.text(st.characters(exclude_categories=[]), max_size=8)
CALLS = st.lists(st.builds(ProtocolCall, id=TEXT, name=TEXT, arguments=TEXT), max_size=3)
MESSAGES = st.lists(
    st.one_of(
        st.builds(UserMessage, TEXT),
        st.builds(lambda text, calls: AssistantMessage(text, tuple(calls)), TEXT, CALLS),
        st.builds(ToolMessage, call_id=TEXT, name=TEXT, text=TEXT, ok=st.booleans()),
    ),
    max_size=8,
)


@given(messages=MESSAGES, dialect=st.sampled_from([OPENAI, LOCAL, MISTRAL, DEEPSEEK]))
def test_any_conversation_becomes_a_request_that_no_server_has_to_refuse(
    messages: list[Message], dialect: Dialect
) -> None:
    body = encode(ModelRequest(tuple(messages)), "m", dialect)
    json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    ids: list[str] = []
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("tool_calls", [])]
        ids += waiting
        for call in message.get("tool_calls", []):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert not waiting
    assert len(ids) == len(set(ids))
