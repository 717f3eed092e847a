"""Golden table: the bytes of an Anthropic server, and the reply that we make of them; malformed rows too."""

import json
from collections.abc import Callable
from contextlib import suppress
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.errors import ModelError, ModelFault
from opspilot.core.messages import AssistantMessage, Finish, ModelReply, ModelRequest, ProtocolCall, Usage, UserMessage
from opspilot.models.anthropic_request import AnthropicDialect, encode
from opspilot.models.anthropic_stream import AnthropicDecoder

DIALECT = AnthropicDialect.of("https://llm.example")
DECLARED = {"search": "search", "now": "now", "see_logs_1a": "see.logs"}


def decoder() -> AnthropicDecoder:
    numbers = count(1)
    return AnthropicDecoder(DIALECT.provider, "llm.example", DECLARED, lambda: f"made_{next(numbers)}")


def decode(*packets: bytes) -> ModelReply:
    reading = decoder()
    for packet in packets:
        reading.feed(packet)
    return reading.finish()


def event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | data)}\n\n"


def started(id_: str = "msg_1", **usage: Any) -> str:
    return event("message_start", message={"id": id_, "content": [], "usage": usage})


def begun(index: Any, kind: str, **block: Any) -> str:
    return event("content_block_start", index=index, content_block={"type": kind} | block)


def delta(index: Any, kind: str, **change: Any) -> str:
    return event("content_block_delta", index=index, delta={"type": kind} | change)


def stopped(index: int) -> str:
    return event("content_block_stop", index=index)


def text(index: int, *pieces: str) -> str:
    said = "".join(delta(index, "text_delta", text=piece) for piece in pieces)
    return begun(index, "text", text="") + said + stopped(index)


def arguments(index: int, *pieces: str) -> str:
    return "".join(delta(index, "input_json_delta", partial_json=piece) for piece in pieces)


def call(index: Any, id_: Any, name: Any, *pieces: str, **block: Any) -> str:
    fields = {"id": id_, "name": name, "input": {}} | block
    return begun(index, "tool_use", **fields) + arguments(index, *pieces) + stopped(index)


def ended(reason: str | None = "end_turn", **usage: Any) -> str:
    return event("message_delta", delta={"stop_reason": reason}, usage=usage) + event("message_stop")


def called(*rows: tuple[str, str, str]) -> tuple[ProtocolCall, ...]:
    return tuple(ProtocolCall(*row) for row in rows)


CALLS: list[tuple[str, str, tuple[ProtocolCall, ...]]] = [
    (
        "interleaved fragments, ordered by index",
        begun(2, "tool_use", id="b", name="now", input={})
        + begun(1, "tool_use", id="a", name="search", input={})
        + arguments(2, "{")
        + arguments(1, '{"q": ', "1}")
        + arguments(2, "}"),
        called(("a", "search", '{"q": 1}'), ("b", "now", "{}")),
    ),
    (
        "arguments stay as they were written, spaces, escapes and all",
        call(0, "a", "search", ' {"q" : ', '"\\u00e9"}\n'),
        called(("a", "search", ' {"q" : "\\u00e9"}\n')),
    ),
    ("no fragment is no argument", call(0, "a", "now"), called(("a", "now", ""))),
    (
        "input given at the start counts only where nothing follows",
        call(0, "a", "search", input={"q": "é"}) + call(1, "b", "search", '{"q":2}', input={"q": 1}),
        called(("a", "search", '{"q": "é"}'), ("b", "search", '{"q":2}')),
    ),
    ("input as text is that text", call(0, "a", "search", input='{"q":1}'), called(("a", "search", '{"q":1}'))),
    ("input that is no object is not run", call(0, "a", "search", input=[1]), called(("a", "search", "[1]"))),
    (
        "every block under index 0",
        call(0, "a", "search", '{"q":1}') + call(0, "b", "search", '{"q":2}'),
        called(("a", "search", '{"q":1}'), ("b", "search", '{"q":2}')),
    ),
    (
        "the same start twice is one call",
        begun(0, "tool_use", id="a", name="now", input={}) + call(0, "a", "now", "{}"),
        called(("a", "now", "{}")),
    ),
    (
        "no index: the latest block goes on",
        begun(None, "tool_use", id="a", name="search") + arguments(None, "{}") + call(None, "b", "now"),  # type: ignore[arg-type]
        called(("a", "search", "{}"), ("b", "now", "")),
    ),
    (
        "two calls with one id, and one without",
        call(0, "a", "now") + call(1, "a", "now") + call(2, None, "now"),
        called(("a", "now", ""), ("made_1", "now", ""), ("made_2", "now", "")),
    ),
    (
        "a declared name comes back as our own, others as they are",
        call(0, "a", "see_logs_1a") + call(1, "b", "rm"),
        called(("a", "see.logs", ""), ("b", "rm", "")),
    ),
    (
        "what the provider runs itself is no call of ours",
        begun(0, "server_tool_use", id="s", name="web_search", input={})
        + arguments(0, '{"q":1}')
        + call(1, "a", "now"),
        called(("a", "now", "")),
    ),
]


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
@pytest.mark.parametrize("reason", ["tool_use", "end_turn", "stop_sequence", "what_will_be"])
def test_blocks_become_these_calls_whatever_the_reason_says(
    body: str, expected: tuple[ProtocolCall, ...], reason: str
) -> None:
    reply = decode((started() + body + ended(reason)).encode())
    assert (reply.calls, reply.finish) == (expected, Finish.TOOL_CALLS)


SIGNED = {"type": "thinking", "thinking": "hm", "signature": "Eq=="}
REPLIES: list[tuple[str, str, ModelReply]] = [
    (
        "text, and all of the input counted, with what the cache gave and took",
        started(input_tokens=5, output_tokens=1, cache_read_input_tokens=40, cache_creation_input_tokens=2)
        + text(0, "Hel", "lo")
        + ended(output_tokens=7),
        ModelReply("Hello", usage=Usage(47, 7, 40)),
    ),
    (
        "counts that come late, and zeros that say nothing",
        started(input_tokens=0) + text(0, "a") + ended(input_tokens=9, output_tokens=0),
        ModelReply("a", usage=Usage(9)),
    ),
    ("counts that never come", started() + text(0, "a") + ended(), ModelReply("a")),
    ("nothing said at all", started() + ended(), ModelReply("")),
    (
        "no message_stop, but a reason",
        started() + text(0, "a") + ended().removesuffix(event("message_stop")),
        ModelReply("a"),
    ),
    ("no reason, but message_stop", started() + text(0, "a") + event("message_stop"), ModelReply("a")),
    ("the same message begun twice", started() + started() + text(0, "a") + ended(), ModelReply("a")),
    ("text that no block was begun for", started() + delta(0, "text_delta", text="a") + ended(), ModelReply("a")),
    (
        "a delta that says nothing takes nothing away",
        started() + begun(0, "text", text="a") + delta(0, "text_delta", text=None) + ended(),
        ModelReply("a"),
    ),
    ("cut at the limit", started() + text(0, "a") + ended("max_tokens"), ModelReply("a", finish=Finish.LENGTH)),
    (
        "cut at the end of the window",
        started() + text(0, "a") + ended("model_context_window_exceeded"),
        ModelReply("a", finish=Finish.LENGTH),
    ),
    (
        "cut inside a call: its text is kept, what may have lost its arguments is not",
        started() + call(0, "a", "search", '{"q": "x') + begun(1, "tool_use", id="b", name="now", input={})
        + ended("max_tokens"),
        ModelReply("", called(("a", "search", '{"q": "x')), Finish.LENGTH),
    ),
    (
        "refused in the middle: nothing of it is run",
        started() + text(0, "No.") + call(1, "a", "search", '{"q":1}') + ended("refusal"),
        ModelReply("No.", finish=Finish.REFUSAL),
    ),
    (
        "filtered",
        started() + call(0, "a", "search", '{"q":1}') + ended("guardrail_intervened"),
        ModelReply("", finish=Finish.CONTENT_FILTER),
    ),
    (
        "thinking is signed, not said, and goes back with its call",
        started() + begun(0, "thinking", thinking="", signature="")
        + delta(0, "thinking_delta", thinking="h") + delta(0, "thinking_delta", thinking="m")
        + delta(0, "signature_delta", signature="Eq==") + stopped(0) + call(1, "a", "now", caller={"type": "direct"})
        + ended("tool_use"),
        ModelReply(
            "",
            called(("a", "now", "")),
            Finish.TOOL_CALLS,
            opaque={"content": [SIGNED, {"type": "tool_use", "caller": {"type": "direct"}}]},
            reasoning="hm",
        ),
    ),
    (
        "redacted thinking, unknown blocks and unknown deltas are kept as they came",
        started() + begun(0, "redacted_thinking", data="gAAA=") + begun(1, "novelty", part="a")
        + delta(1, "novelty_delta", part="b", more=1) + text(2, "Hi") + ended(),
        ModelReply(
            "Hi",
            opaque={
                "content": [
                    {"type": "redacted_thinking", "data": "gAAA="},
                    {"type": "novelty", "part": "ab", "more": 1},
                    {"type": "text", "text": "Hi"},
                ]
            },
        ),
    ),
    (
        "the provider's own tools: input put together, result as it came, citations beside the text",
        started() + begun(0, "server_tool_use", id="s", name="web_search", input={})
        + arguments(0, "", '{"query": ', '"x"}')
        + begun(1, "web_search_tool_result", tool_use_id="s", content=[{"encrypted_content": "abc"}])
        + begun(2, "text", text="", citations=[]) + delta(2, "citations_delta", citation={"url": "u"})
        + delta(2, "text_delta", text="Found.") + ended(),
        ModelReply(
            "Found.",
            opaque={
                "content": [
                    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
                    {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"encrypted_content": "abc"}]},
                    {"type": "text", "text": "Found.", "citations": [{"url": "u"}]},
                ]
            },
        ),
    ),
    (
        "a cut reply keeps neither unsigned thinking nor a tool of the provider's without its result",
        started() + begun(0, "server_tool_use", id="s", name="web_search", input={}) + arguments(0, "{}") + text(1, "a")
        + begun(2, "thinking", thinking="h") + ended("max_tokens"),
        ModelReply("a", finish=Finish.LENGTH),
    ),
    (
        "text behind a call keeps its place; blank text has none",
        started() + text(0, "\n") + call(1, "a", "now") + text(2, "So.") + ended("tool_use"),
        ModelReply(
            "\nSo.",
            called(("a", "now", "")),
            Finish.TOOL_CALLS,
            opaque={"content": [{"type": "tool_use"}, {"type": "text", "text": "So."}]},
        ),
    ),
    ("nothing behind message_stop counts", started() + text(0, "a") + ended() + text(1, "b"), ModelReply("a")),
    ("a [DONE] as other servers send it", started() + text(0, "a") + ended() + "data: [DONE]\n\n", ModelReply("a")),
    (
        "a whole message",
        json.dumps(
            {
                "type": "message",
                "content": [SIGNED, {"type": "text", "text": "a"}, {"type": "tool_use", "id": "a", "name": "now"}],
                "stop_reason": "tool_use",
                "usage": {"input_tokens": 1, "cache_read_input_tokens": None, "output_tokens": 2},
            }
        ),
        ModelReply(
            "a",
            called(("a", "now", "")),
            Finish.TOOL_CALLS,
            Usage(1, 2),
            opaque={"content": [SIGNED, {"type": "text", "text": "a"}, {"type": "tool_use"}]},
            reasoning="hm",
        ),
    ),
    ("a whole message with text for content", '{"content":"a","stop_reason":"end_turn"}', ModelReply("a")),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in REPLIES], ids=[row[0] for row in REPLIES])
def test_bytes_become_this_reply(body: str, expected: ModelReply) -> None:
    reply = decode(body.encode())
    assert reply.provider == "anthropic:llm.example"
    assert (reply.text, reply.calls, reply.finish) == (expected.text, expected.calls, expected.finish)
    assert (reply.usage, reply.opaque, reply.reasoning) == (expected.usage, expected.opaque, expected.reasoning)


@pytest.mark.parametrize(
    ("reason", "body", "paused"),
    [
        ("pause_turn", text(0, "S") + begun(1, "server_tool_use", id="s", name="web_search", input={}), True),
        ("pause_turn", text(0, "S") + call(1, "a", "now"), False),
        ("end_turn", text(0, "S"), False),
    ],
)
def test_a_pause_is_known_unless_a_call_of_ours_is_owed_a_result(reason: str, body: str, paused: bool) -> None:
    reading = decoder()
    reading.feed((started() + body + ended(reason)).encode())
    reading.finish()
    assert reading.paused is paused


@pytest.mark.parametrize(
    ("body", "flaws"),
    [
        (call(0, "a", "now") + call(1, "b", "now"), ()),
        (call(0, None, "now"), ("a call without an id",)),
        (call(0, "a", ""), ("a call without a name",)),
        (call(0, "a", "now") + call(1, "a", "now"), ("two calls with one id",)),
    ],
)
def test_what_was_wrong_with_the_calls_is_told(body: str, flaws: tuple[str, ...]) -> None:
    reading = decoder()
    reading.feed((started() + body + ended()).encode())
    reading.finish()
    assert reading.flaws == flaws


HALF = started() + text(0, "Hi")
MALFORMED: list[tuple[str, str, ModelFault, bool, str]] = [
    ("nothing at all", "", ModelFault.NETWORK, True, ""),
    ("only a ping", event("ping"), ModelFault.NETWORK, True, ""),
    ("only [DONE]", "data: [DONE]\n\n", ModelFault.NETWORK, True, ""),
    ("no end", HALF, ModelFault.NETWORK, True, "Hi"),
    ("no end inside arguments", HALF + begun(1, "tool_use", id="a", name="now"), ModelFault.NETWORK, True, "Hi"),
    ("cut inside an event", HALF + ended()[:40], ModelFault.NETWORK, True, "Hi"),
    (
        "not JSON in the middle",
        HALF + "event: content_block_delta\ndata: {oops}\n\n" + ended(),
        ModelFault.BAD_REPLY,
        True,
        "Hi",
    ),
    ("arguments of no call", started() + arguments(0, "{}") + ended(), ModelFault.BAD_REPLY, True, ""),
    ("a message inside another", HALF + started("msg_2") + ended(), ModelFault.BAD_REPLY, True, "Hi"),
    (
        "overloaded in the middle",
        HALF + event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
        ModelFault.OVERLOADED,
        True,
        "Hi",
    ),
    ("a rate limit", event("error", error={"type": "rate_limit_error"}), ModelFault.RATE_LIMIT, True, ""),
    ("an error of the server", event("error", error={"type": "api_error"}), ModelFault.SERVER, True, ""),
    ("a refused request", event("error", error={"type": "invalid_request_error"}), ModelFault.BAD_REQUEST, False, ""),
    (
        "a prompt that is too long",
        event("error", error={"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens"}),
        ModelFault.CONTEXT_LENGTH,
        False,
        "",
    ),
    ("a wrong key, whole", '{"type":"error","error":{"type":"authentication_error"}}', ModelFault.AUTH, False, ""),
    ("an error without its event's name", 'data: {"error":{"type":"timeout_error"}}\n\n', ModelFault.SERVER, True, ""),
    ("an error event that is text", "event: error\ndata: overloaded\n\n", ModelFault.SERVER, True, ""),
    ("a web page", "<!doctype html><title>Welcome</title>", ModelFault.BAD_REPLY, True, ""),
    ("JSON of another kind", '{"choices":[]}', ModelFault.BAD_REPLY, True, ""),
    ("half a JSON document", '{"content":[{"ty', ModelFault.NETWORK, True, ""),
]


@pytest.mark.parametrize(
    ("body", "fault", "retryable", "said"), [row[1:] for row in MALFORMED], ids=[row[0] for row in MALFORMED]
)
def test_malformed_answers_are_failures_that_name_the_server(
    body: str, fault: ModelFault, retryable: bool, said: str
) -> None:
    with pytest.raises(ModelError) as caught:
        decode(body.encode())
    assert (caught.value.fault, caught.value.retryable, caught.value.text) == (fault, retryable, said)
    assert "llm.example" in caught.value.message


def test_what_is_kept_goes_back_byte_for_byte() -> None:
    blocks = [SIGNED, {"type": "redacted_thinking", "data": "gAAA="}, {"type": "text", "text": "Hi 支付\u2028"}]
    starts = [event("content_block_start", index=at, content_block=block) for at, block in enumerate(blocks)]
    reply = decode((started() + "".join(starts) + ended()).encode())
    again = AssistantMessage(reply.text, reply.calls, reply.provider, reply.opaque)
    body = encode(ModelRequest((UserMessage("q"), again, UserMessage("r"))), "m", DIALECT)
    assert body["messages"][1]["content"] == blocks


WHOLE = (
    started(input_tokens=3)
    + text(0, "漢字 🎉")
    + begun(1, "tool_use", id="a", name="search", input={})
    + begun(2, "tool_use", id="b", name="now", input={})
    + arguments(1, '{"q":"é', '"}')
    + ended("tool_use", output_tokens=4)
).encode()
COMPLETE = WHOLE.index(b"event: message_stop")
"""From here on the reason has been read, blank line included."""


@pytest.mark.parametrize("body", [WHOLE, b'\n{"content":[{"type":"text","text":"\xc3\xa9"}]}'])
@given(data=st.data())
def test_any_cutting_into_packets_gives_the_same_reply(body: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    edges = [0, *cuts, len(body)]
    assert decode(*(body[start:end] for start, end in pairwise(edges))) == decode(body)


@given(keep=st.integers(0, len(WHOLE) - 1))
def test_a_stream_cut_anywhere_never_hands_on_an_incomplete_call(keep: int) -> None:
    if keep >= COMPLETE - 2:
        with suppress(ModelError):  # cut inside `message_stop`, which might have been an error
            assert decode(WHOLE[:keep]) == decode(WHOLE)
        return
    with pytest.raises(ModelError) as caught:
        decode(WHOLE[:keep])
    assert caught.value.retryable


KEYS = [
    "type", "message", "content", "content_block", "delta", "index", "text", "thinking", "signature", "partial_json",
    "input", "id", "name", "usage", "input_tokens", "stop_reason", "error", "citation", "citations", "tool_use_id",
]  # fmt: skip
KINDS = [
    "message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "message", "text",
    "tool_use", "thinking", "server_tool_use", "text_delta", "input_json_delta", "citations_delta", "max_tokens", "{}",
]  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)


def _as_block(value: Any) -> Any:
    return {"content": [value], "stop_reason": "max_tokens"}


@given(values=st.lists(VALUES, max_size=4), shape=st.sampled_from([lambda value: value, _as_block]))
def test_no_json_whatever_its_shape_breaks_the_decoder(values: list[Any], shape: Callable[[Any], Any]) -> None:
    lines = [f"data: {json.dumps(shape(value))}\n\n" for value in values]
    try:
        reply = decode((started() + "".join(lines) + ended()).encode())
    except ModelError:
        return
    assert len({call.id for call in reply.calls}) == len(reply.calls)
    again = AssistantMessage(reply.text, reply.calls, reply.provider, reply.opaque)
    json.dumps(encode(ModelRequest((again,)), "m", DIALECT), ensure_ascii=False).encode()
