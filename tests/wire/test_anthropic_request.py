"""Golden table: our conversation, and the exact JSON that an Anthropic server gets."""

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
from opspilot.models.anthropic_request import DEFAULT_MAX_TOKENS, AnthropicDialect, encode
from opspilot.models.wire_names import wire_name

ANTHROPIC = AnthropicDialect.of("https://api.anthropic.com")
OTHER = AnthropicDialect.of("http://127.0.0.1:8080/v1")

SEARCH = ToolSpec("search", "Searches.", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})
NOW = ToolSpec("now", "", {})
CACHED = {"cache_control": {"type": "ephemeral"}}
HI = {"role": "user", "content": [{"type": "text", "text": "hi", **CACHED}]}
NO_PARAMETERS = {"type": "object", "properties": {}}


def sent(*messages: Message, dialect: AnthropicDialect = ANTHROPIC, tools: tuple[ToolSpec, ...] = ()) -> dict[str, Any]:
    return encode(ModelRequest(messages, tools), "m", dialect)


def uncached(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: uncached(item) for key, item in value.items() if key != "cache_control"}
    return [uncached(item) for item in value] if isinstance(value, list) else value


def said(*messages: Message, dialect: AnthropicDialect = ANTHROPIC) -> list[tuple[str, list[dict[str, Any]]]]:
    """Role and blocks of each message, without the marks of the cache."""
    return [(message["role"], uncached(message["content"])) for message in sent(*messages, dialect=dialect)["messages"]]


def text(words: str) -> dict[str, Json]:
    return {"type": "text", "text": words}


def call(id_: str = "a", arguments: str = "{}", name: str = "now") -> ProtocolCall:
    return ProtocolCall(id_, name, arguments)


def result(id_: str = "a", words: str = "12", *, ok: bool = True) -> ToolMessage:
    return ToolMessage(id_, "now", words, ok=ok)


GOLDEN: list[tuple[str, ModelRequest, dict[str, Any]]] = [
    (
        "a first question without tools says nothing about tools",
        ModelRequest((UserMessage("hi"),), force="search", parallel=False),
        {"model": "m", "max_tokens": DEFAULT_MAX_TOKENS, "messages": [HI], "stream": True},
    ),
    (
        "a whole step: system apart, results first and in one message, the prefix marked for the cache",
        ModelRequest(
            (
                SystemMessage("Be brief."),
                UserMessage("What is 支付?"),
                AssistantMessage("Looking.", (call("toolu_1", '{"q": "支付"}', "search"), call("toolu_2", " "))),
                ToolMessage("toolu_1", "search", '{"ok":true,"data":[]}', ok=True),
                ToolMessage("toolu_2", "now", "", ok=False),
                UserMessage("and docs?"),
            ),
            (SEARCH, NOW),
            max_output_tokens=100,
        ),
        {
            "model": "m",
            "max_tokens": 100,
            "system": [text("Be brief.") | CACHED],
            "tools": [
                {
                    "name": "search",
                    "description": "Searches.",
                    "input_schema": {
                        "type": "object",
                        "properties": {"q": {"type": "string"}},
                        "required": ["q"],
                    },
                },
                {"name": "now", "input_schema": NO_PARAMETERS},
            ],
            "messages": [
                {"role": "user", "content": [text("What is 支付?") | CACHED]},
                {
                    "role": "assistant",
                    "content": [
                        text("Looking."),
                        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "支付"}},
                        {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": '{"ok":true,"data":[]}'},
                        {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": True},
                        text("and docs?") | CACHED,
                    ],
                },
            ],
            "stream": True,
        },
    ),
    (
        "one forced tool, one call at most; without a system message the tools end the stable part",
        ModelRequest((UserMessage("hi"),), (NOW,), force="now", parallel=False),
        {
            "model": "m",
            "max_tokens": DEFAULT_MAX_TOKENS,
            "tools": [{"name": "now", "input_schema": NO_PARAMETERS, **CACHED}],
            "tool_choice": {"type": "tool", "name": "now", "disable_parallel_tool_use": True},
            "messages": [HI],
            "stream": True,
        },
    ),
    (
        "one call at most, whichever it is",
        ModelRequest((SystemMessage("s"), UserMessage("hi")), (NOW,), parallel=False),
        {
            "model": "m",
            "max_tokens": DEFAULT_MAX_TOKENS,
            "system": [text("s") | CACHED],
            "tools": [{"name": "now", "input_schema": NO_PARAMETERS}],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
            "messages": [HI],
            "stream": True,
        },
    ),
    (
        "a last turn without tools: what was called stays declared, and may not be called",
        ModelRequest((UserMessage("hi"), AssistantMessage("", (call(name="a.b"), call("b"))), result(), result("b"))),
        {
            "model": "m",
            "max_tokens": DEFAULT_MAX_TOKENS,
            "tools": [
                {"name": wire_name("a.b"), "input_schema": NO_PARAMETERS},
                {"name": "now", "input_schema": NO_PARAMETERS},
            ],
            "tool_choice": {"type": "none"},
            "messages": [
                HI,
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "a", "name": wire_name("a.b"), "input": {}},
                        {"type": "tool_use", "id": "b", "name": "now", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "a", "content": "12"},
                        {"type": "tool_result", "tool_use_id": "b", "content": "12", **CACHED},
                    ],
                },
            ],
            "stream": True,
        },
    ),
]


@pytest.mark.parametrize(("request_", "body"), [row[1:] for row in GOLDEN], ids=[row[0] for row in GOLDEN])
def test_a_request_becomes_exactly_this_json(request_: ModelRequest, body: dict[str, Any]) -> None:
    assert json.dumps(encode(request_, "m", ANTHROPIC)) == json.dumps(body)


def test_without_streaming_the_word_is_not_sent() -> None:
    assert "stream" not in encode(ModelRequest((UserMessage("hi"),)), "m", ANTHROPIC, stream=False)


@pytest.mark.parametrize("raw", ['{"q": "cut', "[1]", '"text"', "not json", '{"x": NaN}'])
def test_arguments_that_are_no_object_are_wrapped_in_one_and_the_failure_is_marked(raw: str) -> None:
    (_, asked), (_, answered) = said(UserMessage("q"), AssistantMessage("", (call("a", raw),)), result(ok=False))[1:]
    assert asked[0]["input"] == {"invalid_arguments": raw}
    assert answered[0]["is_error"] is True


@pytest.mark.parametrize("blank", ["", " \n"])
def test_blank_text_is_never_a_block(blank: str) -> None:
    told = said(UserMessage("q"), AssistantMessage(blank, (call(),)), result(words=blank), AssistantMessage(blank))
    assert told == [
        ("user", [text("q")]),
        ("assistant", [{"type": "tool_use", "id": "a", "name": "now", "input": {}}]),
        ("user", [{"type": "tool_result", "tool_use_id": "a"}]),
    ]


def test_messages_of_one_role_are_one_message() -> None:
    assert said(UserMessage("a"), UserMessage("b"), AssistantMessage("c"), AssistantMessage("d"), UserMessage("e")) == [
        ("user", [text("a"), text("b")]),
        ("assistant", [text("c"), text("d")]),
        ("user", [text("e")]),
    ]


def test_instructions_in_the_middle_stand_with_the_others() -> None:
    body = sent(SystemMessage("one"), UserMessage("a"), SystemMessage("two"), UserMessage("b"))
    assert uncached(body["system"]) == [text("one"), text("two")]
    assert [message["role"] for message in body["messages"]] == ["user"]


def test_a_conversation_that_a_person_did_not_begin_is_begun() -> None:
    assert [role for role, _ in said(AssistantMessage("hello"), UserMessage("hi"))] == ["user", "assistant", "user"]


def test_a_last_word_of_the_model_ends_without_blanks_and_earlier_ones_stay_as_they_are() -> None:
    told = said(UserMessage("a"), AssistantMessage("b \n"), UserMessage("c"), AssistantMessage("d \n"))
    assert [told[1][1], told[3][1]] == [[text("b \n")], [text("d")]]


def test_ids_are_made_to_fit_and_told_apart_together_with_their_results() -> None:
    turn = (AssistantMessage("", (call("call|1"), call("call|1"))), result("call|1"), result("call|1"))
    told = said(UserMessage("q"), *turn, *turn)
    asked = [block["id"] for _, blocks in told for block in blocks if block["type"] == "tool_use"]
    answered = [block["tool_use_id"] for _, blocks in told for block in blocks if block["type"] == "tool_result"]
    assert asked == answered
    assert len(set(asked)) == 4
    assert all(id_.startswith("toolu_") for id_ in asked)
    assert said(UserMessage("q"), *turn, *turn) == told


@pytest.mark.parametrize("key", ["oneOf", "anyOf", "allOf"])
def test_a_schema_has_no_alternatives_at_its_top_and_keeps_those_inside(key: str) -> None:
    inner = {"a": {key: [{"type": "string"}, {"type": "null"}]}}
    schema = {"type": "object", "properties": inner, key: [{"required": ["a"]}]}
    body = sent(UserMessage("q"), tools=(ToolSpec("t", "", schema),))
    assert uncached(body["tools"][0])["input_schema"] == {"type": "object", "properties": inner}


THINKING: list[dict[str, Json]] = [
    {"type": "thinking", "thinking": "hm \ufffd", "signature": "EqQB=="},
    {"type": "redacted_thinking", "data": "gAAA"},
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"encrypted_content": "abc"}]},
    {"type": "text", "text": "Found.", "citations": [{"type": "web_search_result_location"}]},
    {"type": "tool_use", "caller": {"type": "direct"}},
    {"type": "text", "text": "And "},
    {"type": "tool_use"},
]


def thought(provider: str = ANTHROPIC.provider) -> AssistantMessage:
    return AssistantMessage("Found.And ", (call("a", '{"q": 1}'), call("b")), provider, {"content": THINKING})


def test_kept_blocks_go_back_as_they_came_in_their_order_with_the_calls_in_their_places() -> None:
    (_, blocks), (_, answered) = said(UserMessage("q"), thought(), result("a"), result("b"))[1:]
    assert blocks == [
        *THINKING[:5],
        {
            "type": "tool_use",
            "caller": {"type": "direct"},
            "id": "a",
            "name": "now",
            "input": {"q": 1},
        },
        THINKING[6],
        {"type": "tool_use", "id": "b", "name": "now", "input": {}},
    ]
    assert [block["tool_use_id"] for block in answered] == ["a", "b"]


@pytest.mark.parametrize("provider", [OTHER.provider, "openai:api.openai.com", "openai-responses:api.openai.com", ""])
def test_kept_blocks_of_another_provider_leave_text_and_calls(provider: str) -> None:
    (_, blocks) = said(UserMessage("q"), thought(provider), result("a"), result("b"))[1]
    assert [block["type"] for block in blocks] == ["text", "tool_use", "tool_use"]
    assert {key for block in blocks for key in block} == {"type", "text", "id", "name", "input"}


def test_thinking_without_its_signature_goes_back_only_to_imitators() -> None:
    content = [{"type": "thinking", "thinking": "hm"}, text("Hello")]

    def kinds(dialect: AnthropicDialect) -> list[str]:
        spoken = AssistantMessage("Hello", (), dialect.provider, {"content": content})
        return [block["type"] for block in said(UserMessage("q"), spoken, UserMessage("r"), dialect=dialect)[1][1]]

    assert kinds(ANTHROPIC) == ["text"]
    assert kinds(OTHER) == ["thinking", "text"]


def test_thinking_is_never_the_end_of_a_message() -> None:
    content = [text("Hello"), THINKING[0], THINKING[1]]
    spoken = AssistantMessage("Hello", (), ANTHROPIC.provider, {"content": content})
    thought_only = AssistantMessage("", (), ANTHROPIC.provider, {"content": content[1:]})
    told = said(UserMessage("q"), spoken, UserMessage("r"), thought_only, UserMessage("s"))
    assert told == [("user", [text("q")]), ("assistant", [text("Hello")]), ("user", [text("r"), text("s")])]


def test_a_turn_that_the_provider_paused_is_the_last_word() -> None:
    content = [
        text("S"),
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
    ]
    told = said(UserMessage("q"), AssistantMessage("S", (), ANTHROPIC.provider, {"content": content}))
    assert told == [("user", [text("q")]), ("assistant", content)]


def test_of_a_long_conversation_the_last_two_messages_of_the_user_are_marked_and_the_prefix_stays_the_same() -> None:
    turn = (AssistantMessage("", (call(),)), result())
    messages: list[Message] = [SystemMessage("s"), UserMessage("q"), *turn, *turn, *turn]
    body = sent(*messages)
    marked = [any("cache_control" in block for block in message["content"]) for message in body["messages"]]
    assert marked == [False, False, False, False, True, False, True]
    earlier = uncached(sent(*messages[:-2])["messages"])
    assert uncached(body["messages"])[: len(earlier)] == earlier


def test_half_characters_do_not_reach_the_wire() -> None:
    told = said(UserMessage("a\ud83dz"), AssistantMessage("", (call(),)), result(words="\ud83d"))
    assert told[0] == ("user", [text("a\ufffdz")])
    assert told[2][1][0]["content"] == "\ufffd"


TEXT = st.text(st.characters(exclude_categories=[]), max_size=8)
CALLS = st.lists(st.builds(ProtocolCall, id=TEXT, name=TEXT, arguments=TEXT), max_size=3)
BLOCKS = st.lists(st.sampled_from(THINKING), max_size=4)
MESSAGES = st.lists(
    st.one_of(
        st.builds(SystemMessage, TEXT),
        st.builds(UserMessage, TEXT),
        st.builds(
            lambda words, calls, blocks: AssistantMessage(words, tuple(calls), ANTHROPIC.provider, {"content": blocks}),
            TEXT,
            CALLS,
            BLOCKS,
        ),
        st.builds(ToolMessage, call_id=TEXT, name=TEXT, text=TEXT, ok=st.booleans()),
    ),
    max_size=8,
)


@given(messages=MESSAGES, tools=st.sampled_from([(), (NOW,)]))
def test_any_conversation_becomes_a_request_that_no_server_has_to_refuse(
    messages: list[Message], tools: tuple[ToolSpec, ...]
) -> None:
    body = sent(*messages, tools=tools)
    json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    roles = [message["role"] for message in body["messages"]]
    assert roles == [("user", "assistant")[at % 2] for at in range(len(roles))]
    assert roles
    assert json.dumps(body).count('"cache_control"') <= 4
    ids: list[str] = []
    waiting: list[str] = []
    for message in body["messages"]:
        blocks = message["content"]
        assert blocks
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert answered == waiting
        assert [block["type"] for block in blocks[: len(answered)]] == ["tool_result"] * len(answered)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        ids += waiting
        assert all(isinstance(block["input"], dict) for block in blocks if block["type"] == "tool_use")
    assert not waiting
    assert len(ids) == len(set(ids))
    assert bool(body.get("tools")) == bool(tools or ids)
