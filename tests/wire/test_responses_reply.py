"""Golden table: the bytes of an OpenAI Responses server, and the reply that we make of them; malformed rows too."""

import json
from collections.abc import Callable
from contextlib import suppress
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.errors import ModelError, ModelFault
from opspilot.core.messages import AssistantMessage, Finish, ModelReply, ModelRequest, ProtocolCall, Usage
from opspilot.models.responses_request import ResponsesDialect, encode
from opspilot.models.responses_stream import ResponsesDecoder

DIALECT = ResponsesDialect.of("https://api.openai.com/v1", "gpt-5")
DECLARED = {"search": "search", "now": "now", "see_logs_1a": "see.logs"}


def decoder() -> ResponsesDecoder:
    numbers = count(1)
    return ResponsesDecoder(DIALECT.provider, "llm.example", DECLARED, lambda: f"made_{next(numbers)}")


def decode(*packets: bytes) -> ModelReply:
    reading = decoder()
    for packet in packets:
        reading.feed(packet)
    return reading.finish()


def event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | data)}\n\n"


def added(index: Any, kind: str, **item: Any) -> str:
    return event("response.output_item.added", output_index=index, item={"type": kind, "status": "in_progress"} | item)


def done(index: Any, kind: str, **item: Any) -> str:
    return event("response.output_item.done", output_index=index, item={"type": kind, "status": "completed"} | item)


def words(index: int, *pieces: str, id_: str = "msg_1") -> str:
    return "".join(
        event("response.output_text.delta", item_id=id_, output_index=index, delta=piece) for piece in pieces
    )


def parts(text: str) -> list[dict[str, Any]]:
    return [{"type": "output_text", "text": text, "annotations": []}]


def said(index: int, *pieces: str, id_: str = "msg_1") -> str:
    begun = added(index, "message", id=id_, role="assistant", content=[])
    return (
        begun
        + words(index, *pieces, id_=id_)
        + done(index, "message", id=id_, role="assistant", content=parts("".join(pieces)))
    )


def arguments(index: Any, *pieces: str, id_: str = "") -> str:
    kind = "response.function_call_arguments.delta"
    return "".join(event(kind, item_id=id_, output_index=index, delta=piece) for piece in pieces)


def call(index: int, call_id: str, name: str, *pieces: str, **more: Any) -> str:
    item = {"id": f"fc_{call_id}", "call_id": call_id, "name": name} | more
    return (
        added(index, "function_call", **item, arguments="")
        + arguments(index, *pieces, id_=f"fc_{call_id}")
        + done(index, "function_call", **item, arguments="".join(pieces))
    )


def ended(status: str = "completed", **response: Any) -> str:
    whole = {"id": "resp_1", "status": status, "output": [], "error": None, "incomplete_details": None} | response
    return event(f"response.{status}", response=whole)


START = event("response.created", response={"id": "resp_1", "status": "in_progress", "output": []})


def called(*rows: tuple[str, str, str]) -> tuple[ProtocolCall, ...]:
    return tuple(ProtocolCall(*row) for row in rows)


CALLS: list[tuple[str, str, tuple[ProtocolCall, ...]]] = [
    (
        "two calls in parallel, their fragments interleaved, ordered by index",
        added(1, "function_call", id="fc_b", call_id="b", name="now")
        + added(0, "function_call", id="fc_a", call_id="a", name="search")
        + arguments(1, "{", id_="fc_b")
        + arguments(0, '{"q": ', "1}", id_="fc_a")
        + arguments(1, "}", id_="fc_b"),
        called(("a", "search", '{"q": 1}'), ("b", "now", "{}")),
    ),
    (
        "arguments stay as they were written, spaces, escapes and all",
        call(0, "a", "search", ' {"q" : ', '"\\u00e9"}\n'),
        called(("a", "search", ' {"q" : "\\u00e9"}\n')),
    ),
    ("no fragment is no argument", call(0, "a", "now"), called(("a", "now", ""))),
    (
        "arguments at the end of the item alone",
        done(0, "function_call", id="fc_1", call_id="a", name="now", arguments="{}"),
        called(("a", "now", "{}")),
    ),
    (
        "arguments in their own end alone",
        added(0, "function_call", id="fc_1", call_id="a", name="now", arguments="")
        + event("response.function_call_arguments.done", item_id="fc_1", output_index=0, arguments="{}"),
        called(("a", "now", "{}")),
    ),
    (
        "fragments of an item that says nothing at its end",
        added(0, "function_call", id="fc_1", call_id="a", name="now")
        + arguments(0, "{}", id_="fc_1")
        + done(0, "function_call", id="fc_1", call_id="a", name="now", arguments=""),
        called(("a", "now", "{}")),
    ),
    (
        "items whose id changes on the way are told by their place",
        added(0, "function_call", id="x1", call_id="a", name="now")
        + added(1, "function_call", id="x2", call_id="b", name="search")
        + arguments(1, '{"q":1}', id_="x3")
        + done(0, "function_call", id="x4", call_id="a", name="now", arguments="{}")
        + done(1, "function_call", id="x5", call_id="b", name="search", arguments='{"q":1}'),
        called(("a", "now", "{}"), ("b", "search", '{"q":1}')),
    ),
    (
        "every item in place 0 is told by its id",
        call(0, "a", "now", "{}") + call(0, "b", "search", '{"q":1}'),
        called(("a", "now", "{}"), ("b", "search", '{"q":1}')),
    ),
    (
        "neither place nor id: the latest goes on",
        added(None, "function_call", call_id="a", name="now")
        + arguments(None, "{}")
        + added(None, "function_call", call_id="b", name="search")
        + arguments(None, "{}"),
        called(("a", "now", "{}"), ("b", "search", "{}")),
    ),
    (
        "an item's own id where there is no call_id, and one that is made up",
        done(0, "function_call", id="fc_1", name="now", arguments="{}")
        + done(1, "function_call", name="now", arguments="{}"),
        called(("fc_1", "now", "{}"), ("made_1", "now", "{}")),
    ),
    (
        "two calls with one id",
        call(0, "a", "now", "{}") + call(1, "a", "search", "{}", id="fc_2"),
        called(("a", "now", "{}"), ("made_1", "search", "{}")),
    ),
    (
        "a declared name comes back as our own, others as they are",
        call(0, "a", "see_logs_1a", "{}") + call(1, "b", "rm", "{}"),
        called(("a", "see.logs", "{}"), ("b", "rm", "{}")),
    ),
    (
        "arguments as an object become text",
        done(0, "function_call", call_id="a", name="search", arguments={"q": "é"}),
        called(("a", "search", '{"q": "é"}')),
    ),
    (
        "what the provider runs itself is no call of ours",
        done(0, "web_search_call", id="ws_1", action={"type": "search"}) + call(1, "a", "now", "{}"),
        called(("a", "now", "{}")),
    ),
]


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_items_become_these_calls(body: str, expected: tuple[ProtocolCall, ...]) -> None:
    reply = decode((START + body + ended()).encode())
    assert (reply.calls, reply.finish) == (expected, Finish.TOOL_CALLS)


REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "gAAA==",
}
LENGTH = {"incomplete_details": {"reason": "max_output_tokens"}}
WHOLE_MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "content": parts("a")}
REPLIES: list[tuple[str, str, ModelReply]] = [
    (
        "text, and usage with cached tokens",
        START
        + said(0, "Hel", "lo")
        + ended(usage={"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}),
        ModelReply("Hello", usage=Usage(9, 2, 4)),
    ),
    ("usage that is null", START + said(0, "a") + ended(usage=None), ModelReply("a")),
    ("nothing said at all", START + ended(), ModelReply("")),
    (
        "text without any item begun",
        START + words(0, "a", "b") + ended(),
        ModelReply("ab"),
    ),
    (
        "text at the end of its item alone",
        START + done(0, "message", id="msg_1", role="assistant", content=parts("a")) + ended(),
        ModelReply("a"),
    ),
    (
        "text at its own end alone",
        START + event("response.output_text.done", item_id="msg_1", output_index=0, text="a") + ended(),
        ModelReply("a"),
    ),
    ("all of it in the last event alone", START + ended(output=[WHOLE_MESSAGE]), ModelReply("a")),
    ("and again in the last event", START + said(0, "a") + ended(output=[WHOLE_MESSAGE]), ModelReply("a")),
    (
        "an item that only the last event ends",
        START
        + added(0, "function_call", id="fc_1", call_id="a", name="now")
        + ended(output=[{"type": "function_call", "id": "fc_1", "call_id": "a", "name": "now", "arguments": "{}"}]),
        ModelReply("", called(("a", "now", "{}")), Finish.TOOL_CALLS),
    ),
    ("events without their names", (START + said(0, "a") + ended()).replace("event: ", ": "), ModelReply("a")),
    ("a [DONE] behind the end", START + said(0, "a") + ended() + "data: [DONE]\n\n", ModelReply("a")),
    (
        "unknown events are passed over",
        START + event("response.novelty", x=1) + said(0, "a") + ended(),
        ModelReply("a"),
    ),
    ("cut at the limit", START + said(0, "a") + ended("incomplete", **LENGTH), ModelReply("a", finish=Finish.LENGTH)),
    ("cut for a reason not known", START + said(0, "a") + ended("incomplete"), ModelReply("a", finish=Finish.LENGTH)),
    (
        "filtered",
        START + said(0, "a") + ended("incomplete", incomplete_details={"reason": "content_filter"}),
        ModelReply("a", finish=Finish.CONTENT_FILTER),
    ),
    (
        "cut inside a call: its text is kept, what may have lost its arguments is not",
        START
        + added(0, "function_call", id="fc_1", call_id="a", name="search")
        + arguments(0, '{"q": "x', id_="fc_1")
        + added(1, "function_call", id="fc_2", call_id="b", name="now")
        + ended("incomplete", **LENGTH),
        ModelReply("", called(("a", "search", '{"q": "x')), Finish.LENGTH),
    ),
    (
        "refused",
        START
        + added(0, "message", id="msg_1", role="assistant")
        + event("response.refusal.delta", item_id="msg_1", output_index=0, delta="No.")
        + ended(),
        ModelReply("No.", finish=Finish.REFUSAL),
    ),
    (
        "refused, at the end of its item",
        START + done(0, "message", content=[{"type": "refusal", "refusal": "No."}]) + ended(),
        ModelReply("No.", finish=Finish.REFUSAL),
    ),
    (
        "encrypted reasoning as it stands at the item's end, before its call",
        START
        + event(
            "response.output_item.added", output_index=0, item=REASONING | {"encrypted_content": "gA", "summary": []}
        )
        + event("response.reasoning_summary_text.delta", item_id="rs_1", output_index=0, delta="hm")
        + event("response.output_item.done", output_index=0, item=REASONING)
        + call(1, "a", "now", "{}")
        + ended(),
        ModelReply(
            "",
            called(("a", "now", "{}")),
            Finish.TOOL_CALLS,
            opaque={"output": [REASONING, {"type": "function_call", "status": "completed", "id": "fc_a"}]},
            reasoning="hm",
        ),
    ),
    (
        "reasoning in the open",
        START
        + event("response.reasoning_text.delta", output_index=0, delta="h")
        + event("response.reasoning_text.delta", output_index=0, delta="m")
        + said(1, "a")
        + ended(),
        ModelReply("a", reasoning="hm"),
    ),
    (
        "reasoning that was not ended, or has nothing behind it, does not go back",
        START
        + said(0, "a")
        + event("response.output_item.done", output_index=1, item=REASONING)
        + added(2, "reasoning", id="rs_2", encrypted_content="g")
        + ended("incomplete", **LENGTH),
        ModelReply("a", finish=Finish.LENGTH, reasoning="hm"),
    ),
    (
        "tools of the provider's and the phase of a message are kept",
        START
        + done(0, "web_search_call", id="ws_1", action={"query": "x"})
        + done(1, "message", id="msg_1", role="assistant", phase="final_answer", content=parts("a"))
        + ended(),
        ModelReply(
            "a",
            opaque={
                "output": [
                    {"type": "web_search_call", "status": "completed", "id": "ws_1", "action": {"query": "x"}},
                    {
                        "type": "message",
                        "status": "completed",
                        "id": "msg_1",
                        "role": "assistant",
                        "phase": "final_answer",
                        "content": parts("a"),
                    },
                ]
            },
        ),
    ),
    (
        "text behind a call keeps its place, also where only fragments told it",
        START + call(0, "a", "now", "{}") + words(1, "So.") + ended(),
        ModelReply(
            "So.",
            called(("a", "now", "{}")),
            Finish.TOOL_CALLS,
            opaque={
                "output": [
                    {"type": "function_call", "status": "completed", "id": "fc_a"},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]},
                ]
            },
        ),
    ),
    (
        "half characters that meet are whole",
        START + words(0, "\ud83d", "\ude00") + ended(),
        ModelReply("\U0001f600"),
    ),
    (
        "a whole response",
        json.dumps({"object": "response", "status": "completed", "error": None, "output": [REASONING, WHOLE_MESSAGE]}),
        ModelReply("a", opaque={"output": [REASONING, WHOLE_MESSAGE]}, reasoning="hm"),
    ),
]


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in REPLIES], ids=[row[0] for row in REPLIES])
def test_bytes_become_this_reply(body: str, expected: ModelReply) -> None:
    reply = decode(body.encode())
    assert reply.provider == "openai-responses:api.openai.com"
    assert (reply.text, reply.calls, reply.finish) == (expected.text, expected.calls, expected.finish)
    assert (reply.usage, reply.opaque, reply.reasoning) == (expected.usage, expected.opaque, expected.reasoning)


HALF = START + words(0, "Hi")


def failed(code: str, message: str = "no") -> str:
    return ended("failed", error={"code": code, "message": message})


MALFORMED: list[tuple[str, str, ModelFault, bool, str]] = [
    ("nothing at all", "", ModelFault.NETWORK, True, ""),
    ("only a start", START, ModelFault.NETWORK, True, ""),
    ("only [DONE]", "data: [DONE]\n\n", ModelFault.NETWORK, True, ""),
    ("no end", HALF, ModelFault.NETWORK, True, "Hi"),
    ("a whole call but no end", START + call(0, "a", "now", "{}"), ModelFault.NETWORK, True, ""),
    ("cut inside the last event", HALF + ended()[:60], ModelFault.NETWORK, True, "Hi"),
    (
        "not JSON in the middle",
        HALF + "event: response.output_text.delta\ndata: {oops}\n\n" + ended(),
        ModelFault.BAD_REPLY,
        True,
        "Hi",
    ),
    ("arguments of no call", START + arguments(0, "{}") + ended(), ModelFault.BAD_REPLY, True, ""),
    ("failed at the server", HALF + failed("server_error"), ModelFault.SERVER, True, "Hi"),
    ("failed, without a word", HALF + ended("failed"), ModelFault.SERVER, True, "Hi"),
    ("cancelled at the server", HALF + ended("cancelled"), ModelFault.SERVER, True, "Hi"),
    ("failed at a rate limit", HALF + failed("rate_limit_exceeded"), ModelFault.RATE_LIMIT, True, "Hi"),
    ("failed for want of room", HALF + failed("server_is_overloaded"), ModelFault.OVERLOADED, True, "Hi"),
    ("failed for want of credit", HALF + failed("insufficient_quota"), ModelFault.QUOTA, False, "Hi"),
    ("failed for the prompt", HALF + failed("invalid_prompt"), ModelFault.BAD_REQUEST, False, "Hi"),
    ("failed for length", HALF + failed("context_length_exceeded"), ModelFault.CONTEXT_LENGTH, False, "Hi"),
    (
        "an error event with its code beside it",
        HALF + event("error", code="rate_limit_exceeded", message="slow", param=None),
        ModelFault.RATE_LIMIT,
        True,
        "Hi",
    ),
    (
        "an error event with its code inside it",
        HALF + event("error", error={"type": "invalid_request_error", "code": "context_length_exceeded"}),
        ModelFault.CONTEXT_LENGTH,
        False,
        "Hi",
    ),
    ("an error, whole", '{"error":{"type":"invalid_request_error"}}', ModelFault.BAD_REQUEST, False, ""),
    (
        "a failed response, whole",
        '{"status":"failed","output":[],"error":{"code":"server_error"}}',
        ModelFault.SERVER,
        True,
        "",
    ),
    ("a web page", "<!doctype html><title>Welcome</title>", ModelFault.BAD_REPLY, True, ""),
    ("JSON of another kind", '{"choices":[]}', ModelFault.BAD_REPLY, True, ""),
    ("half a JSON document", '{"output":[{"ty', ModelFault.NETWORK, True, ""),
]


@pytest.mark.parametrize(
    ("body", "fault", "retryable", "text"), [row[1:] for row in MALFORMED], ids=[row[0] for row in MALFORMED]
)
def test_malformed_answers_are_failures_that_name_the_server(
    body: str, fault: ModelFault, retryable: bool, text: str
) -> None:
    with pytest.raises(ModelError) as caught:
        decode(body.encode())
    assert (caught.value.fault, caught.value.retryable, caught.value.text) == (fault, retryable, text)
    assert "llm.example" in caught.value.message


def test_text_is_shown_once_whether_it_comes_in_pieces_or_whole() -> None:
    reading = decoder()
    shown = [reading.feed(packet.encode()) for packet in (START, said(0, "a", "b"), ended(output=[WHOLE_MESSAGE]))]
    assert shown == ["", "ab", ""]
    late = decoder()
    assert late.feed((START + done(0, "message", content=parts("ab"))).encode()) == "ab"


WHOLE = (START + said(0, "漢字 🎉") + call(1, "a", "search", '{"q":"é', '"}') + call(2, "b", "now") + ended()).encode()


@pytest.mark.parametrize("body", [WHOLE, json.dumps({"output": [WHOLE_MESSAGE]}).encode()])
@given(data=st.data())
def test_any_cutting_into_packets_gives_the_same_reply(body: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    edges = [0, *cuts, len(body)]
    assert decode(*(body[start:end] for start, end in pairwise(edges))) == decode(body)


@given(keep=st.integers(0, len(WHOLE) - 1))
def test_a_stream_cut_anywhere_never_hands_on_an_incomplete_call(keep: int) -> None:
    if keep >= len(WHOLE) - 2:
        assert decode(WHOLE[:keep]) == decode(WHOLE)
        return
    with pytest.raises(ModelError) as caught:
        decode(WHOLE[:keep])
    assert caught.value.retryable


KEYS = [
    "type", "response", "item", "item_id", "output_index", "delta", "output", "content", "summary", "text", "refusal",
    "arguments", "call_id", "name", "id", "usage", "input_tokens", "status", "error", "incomplete_details", "reason",
]  # fmt: skip
KINDS = [
    "message", "function_call", "reasoning", "web_search_call", "output_text", "refusal", "summary_text", "{}",
    "completed", "incomplete", "failed", "max_output_tokens", "encrypted",
]  # fmt: skip
EVENTS = [
    "response.output_item.added", "response.output_item.done", "response.output_text.delta",
    "response.output_text.done", "response.function_call_arguments.delta", "response.function_call_arguments.done",
    "response.reasoning_text.delta", "response.completed", "response.incomplete",
]  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


def _as_item(value: Any) -> Any:
    return {"item": value, "output_index": 0}


@given(
    values=st.lists(st.tuples(st.sampled_from(EVENTS), VALUES), max_size=4),
    shape=st.sampled_from([lambda value: value, _as_item]),
)
def test_no_json_whatever_its_shape_breaks_the_decoder(
    values: list[tuple[str, Any]], shape: Callable[[Any], Any]
) -> None:
    lines = [f"event: {name}\ndata: {json.dumps(shape(value))}\n\n" for name, value in values]
    with suppress(ModelError):
        reply = decode((START + "".join(lines) + ended()).encode())
        assert len({call.id for call in reply.calls}) == len(reply.calls)
        again = AssistantMessage(reply.text, reply.calls, reply.provider, reply.opaque)
        json.dumps(encode(ModelRequest((again,)), "m", DIALECT), ensure_ascii=False).encode()
