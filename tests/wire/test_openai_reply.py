"""Golden table: the bytes of an OpenAI-compatible server, and the reply that we make of them; malformed rows too."""

import json
from collections.abc import Callable
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.errors import ModelError, ModelFault
from opspilot.core.messages import Finish, ModelReply, ProtocolCall, Usage
from opspilot.models.openai_stream import OpenAIDecoder

DECLARED = {"search": "search", "now": "now", "see_logs_1a": "see.logs"}


def decoder() -> OpenAIDecoder:
    numbers = count(1)
    return OpenAIDecoder("openai:llm.example", "llm.example", DECLARED, lambda: f"made_{next(numbers)}")


def decode(*packets: bytes) -> ModelReply:
    reading = decoder()
    for packet in packets:
        reading.feed(packet)
    return reading.finish()


def chunk(delta: Any = None, finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]} | more)}\n\n"


def fragment(
    index: int | None = 0, id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    known = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return known | {"function": function}


def calls(*fragments: dict[str, Any]) -> str:
    return chunk({"tool_calls": list(fragments)})


DONE = "data: [DONE]\n\n"
END = chunk(finish="tool_calls") + DONE


def called(*rows: tuple[str, str, str]) -> tuple[ProtocolCall, ...]:
    return tuple(ProtocolCall(*row) for row in rows)


CALLS: list[tuple[str, str, tuple[ProtocolCall, ...]]] = [
    (
        "interleaved fragments, ordered by index",
        calls(fragment(2, "b", "now", ""))
        + calls(fragment(1, "a", "search", ""))
        + calls(fragment(2, arguments="{"), fragment(1, arguments='{"q": '))
        + calls(fragment(1, arguments="1}"), fragment(2, arguments="}")),
        called(("a", "search", '{"q": 1}'), ("b", "now", "{}")),
    ),
    (
        "arguments stay as they were written, spaces, escapes and all",
        calls(fragment(0, "a", "search", ' {"q" : "\\u00e9"}\n')),
        called(("a", "search", ' {"q" : "\\u00e9"}\n')),
    ),
    (
        "no index: the latest call goes on, a new id begins another",
        calls(fragment(None, "a", "search", "{"))
        + calls(fragment(None, arguments="}"))
        + calls(fragment(None, "b", "now", "{}")),
        called(("a", "search", "{}"), ("b", "now", "{}")),
    ),
    (
        "the index is missing at first and there later",
        calls(fragment(None, "a", "search", "")) + calls(fragment(0, arguments="{}")),
        called(("a", "search", "{}")),
    ),
    (
        "an id for each chunk is still one call",
        calls(fragment(0, "a", "search", '{"q"'))
        + calls(fragment(0, "x", None, ":1"))
        + calls(fragment(0, "y", "search", "}")),
        called(("a", "search", '{"q":1}')),
    ),
    (
        "index 0 for each call, in fragments",
        calls(fragment(0, "a", "search", ""))
        + calls(fragment(0, arguments='{"q":1}'))
        + calls(fragment(0, "b", "search", ""))
        + calls(fragment(0, arguments='{"q":2}')),
        called(("a", "search", '{"q":1}'), ("b", "search", '{"q":2}')),
    ),
    (
        "a whole call sent again at the end is not a second one",
        calls(fragment(0, "a", "search", ""))
        + calls(fragment(0, arguments='{"q":1}'))
        + calls(fragment(0, "a", "search", '{"q":1}')),
        called(("a", "search", '{"q":1}')),
    ),
    (
        "whole calls under one id and one index are two",
        calls(fragment(0, "a", "search", '{"q":1}')) + calls(fragment(0, "a", "search", '{"q":2}')),
        called(("a", "search", '{"q":1}'), ("made_1", "search", '{"q":2}')),
    ),
    (
        "no ids, one index, a call without arguments, then a call of another tool",
        calls(fragment(0, None, "now", "")) + calls(fragment(0, None, "search", '{"q":1}')),
        called(("made_1", "now", ""), ("made_2", "search", '{"q":1}')),
    ),
    (
        "a name in parts, and a name that grows",
        calls(fragment(0, "a", "sea"))
        + calls(fragment(0, None, "rch", "{}"))
        + calls(fragment(1, "b", "no"))
        + calls(fragment(1, "b", "now", "{}")),
        called(("a", "search", "{}"), ("b", "now", "{}")),
    ),
    (
        "a declared name comes back as our own, others as they are",
        calls(
            fragment(0, "a", "see_logs_1a", "{}"), fragment(1, "b", "functions.now", "{}"), fragment(2, "c", "rm", "{}")
        ),
        called(("a", "see.logs", "{}"), ("b", "now", "{}"), ("c", "rm", "{}")),
    ),
    ("an empty fragment is no call", calls(fragment(0, arguments="")) + chunk({"content": "hi"}), ()),
    (
        "arguments as an object become text",
        calls(fragment(0, "a", "search", {"q": "é"})),
        called(("a", "search", '{"q": "é"}')),
    ),
    ("a number as id is text", calls(fragment(0, 7, "now", "{}")), called(("7", "now", "{}"))),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_fragments_become_these_calls(body: str, expected: tuple[ProtocolCall, ...]) -> None:
    assert decode((body + END).encode()).calls == expected


REPLIES: list[tuple[str, str, ModelReply]] = [
    (
        "text, usage in the last chunk, cached tokens",
        chunk({"role": "assistant", "content": "Hel"})
        + chunk({"content": "lo"}, "stop")
        + 'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,'
        '"prompt_tokens_details":{"cached_tokens":4}}}\n\n' + DONE,
        ModelReply("Hello", usage=Usage(9, 2, 4)),
    ),
    (
        "a growing count: the last stands",
        chunk({"content": "a"}, usage={"prompt_tokens": 1, "completion_tokens": 1})
        + chunk({}, "stop", usage={"prompt_tokens": 1, "completion_tokens": 5}),
        ModelReply("a", usage=Usage(1, 5)),
    ),
    (
        "DeepSeek's word for cached tokens",
        chunk({"content": "a"}, "stop", usage={"prompt_tokens": 3, "prompt_cache_hit_tokens": 2}),
        ModelReply("a", usage=Usage(3, 0, 2)),
    ),
    ("no DONE, but a reason", chunk({"content": "a"}, "stop"), ModelReply("a")),
    ("an unknown reason", chunk({"content": "a"}, "eos") + DONE, ModelReply("a")),
    ("cut at the limit", chunk({"content": "a"}, "length") + DONE, ModelReply("a", finish=Finish.LENGTH)),
    (
        "a limit that a later chunk plays down",
        chunk({"content": "a"}, "length") + chunk({}, "stop"),
        ModelReply("a", finish=Finish.LENGTH),
    ),
    ("filtered", chunk({}, "content_filter") + DONE, ModelReply("", finish=Finish.CONTENT_FILTER)),
    ("refused", chunk({"refusal": "No."}, "stop") + DONE, ModelReply("No.", finish=Finish.REFUSAL)),
    (
        "reasoning is kept apart and goes back",
        chunk({"reasoning_content": "h"}) + chunk({"reasoning_content": "m", "content": "a"}, "stop"),
        ModelReply("a", reasoning="hm", opaque={"message": {"reasoning_content": "hm"}}),
    ),
    (
        "two fields with one reasoning count once",
        chunk({"reasoning": "hm", "reasoning_content": "hm", "content": "a"}, "stop"),
        ModelReply("a", reasoning="hm", opaque={"message": {"reasoning_content": "hm"}}),
    ),
    (
        "OpenRouter's blocks are put together",
        chunk(
            {
                "reasoning": "h",
                "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "h", "signature": None}],
            }
        )
        + chunk(
            {
                "reasoning": "m",
                "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "m", "signature": "S"}],
            }
        )
        + chunk(
            {"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "D"}], "content": "a"}, "stop"
        ),
        ModelReply(
            "a",
            reasoning="hm",
            opaque={
                "message": {
                    "reasoning_details": [
                        {"type": "reasoning.text", "index": 0, "text": "hm", "signature": "S"},
                        {"type": "reasoning.encrypted", "index": 1, "data": "D"},
                    ]
                }
            },
        ),
    ),
    (
        "a call's signature stays with its call",
        calls(
            fragment(0, "a", "now", "{}") | {"extra_content": {"google": {"thought_signature": "S="}}},
            fragment(1, "b", "now", "{}"),
        )
        + chunk({}, "stop"),
        ModelReply(
            "",
            called(("a", "now", "{}"), ("b", "now", "{}")),
            Finish.TOOL_CALLS,
            opaque={"calls": [{"extra_content": {"google": {"thought_signature": "S="}}}, {}]},
        ),
    ),
    (
        "half characters that meet are whole, lone ones are replaced",
        (
            'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'
            'data: {"choices":[{"delta":{"content":"\\ude00 \\ud83d"},"finish_reason":"stop"}]}\n\n'
        ),
        ModelReply("\U0001f600 \ufffd"),
    ),
    (
        "a whole completion inside a stream",
        'data: {"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}\n\n',
        ModelReply("a"),
    ),
    (
        "a whole completion",
        '{"choices":[{"message":{"content":"a","tool_calls":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}',
        ModelReply("a", usage=Usage(1)),
    ),
    (
        "unknown events are passed over",
        "event: ping\ndata: still here\n\n" + chunk({"content": "a"}, "stop"),
        ModelReply("a"),
    ),
    (
        "a call cut at the limit keeps its broken text, one without arguments goes",
        calls(fragment(0, "a", "search", '{"q'), fragment(1, "b", "now", "")) + chunk({}, "length"),
        ModelReply("", called(("a", "search", '{"q')), Finish.LENGTH),
    ),
]


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in REPLIES], ids=[row[0] for row in REPLIES])
def test_bytes_become_this_reply(body: str, expected: ModelReply) -> None:
    reply = decode(body.encode())
    assert reply.provider == "openai:llm.example"
    assert (reply.text, reply.calls, reply.finish) == (expected.text, expected.calls, expected.finish)
    assert (reply.usage, reply.opaque, reply.reasoning) == (expected.usage, expected.opaque, expected.reasoning)


MALFORMED: list[tuple[str, str, ModelFault, bool, str]] = [
    ("nothing at all", "", ModelFault.NETWORK, True, ""),
    ("only blank lines", "\n\n\n", ModelFault.NETWORK, True, ""),
    ("only DONE", DONE, ModelFault.NETWORK, True, ""),
    ("no end", chunk({"content": "Hi"}), ModelFault.NETWORK, True, "Hi"),
    ("a whole call but no end", calls(fragment(0, "a", "search", "{}")), ModelFault.NETWORK, True, ""),
    ("cut inside a chunk", chunk({"content": "Hi"}, "stop") + 'data: {"cho', ModelFault.NETWORK, True, "Hi"),
    ("not JSON in the middle", chunk({"content": "Hi"}) + "data: {oops}\n\n" + END, ModelFault.BAD_REPLY, True, "Hi"),
    (
        "an error in the middle",
        chunk({"content": "Hi"}) + 'data: {"error":{"code":503}}\n\n',
        ModelFault.OVERLOADED,
        True,
        "Hi",
    ),
    (
        "an error that looks like usage",
        'data: {"choices":[],"error":{"code":402}}\n\n' + DONE,
        ModelFault.QUOTA,
        False,
        "",
    ),
    (
        "vLLM's error",
        'data: {"object":"error","message":"no","type":"BadRequestError","code":400}\n\n',
        ModelFault.BAD_REQUEST,
        False,
        "",
    ),
    ("an error event that is text", "event: error\ndata: overloaded\n\n", ModelFault.SERVER, True, ""),
    (
        "an error in a choice",
        '{"choices":[{"error":{"code":401},"message":{"content":"Hi"}}]}',
        ModelFault.AUTH,
        False,
        "Hi",
    ),
    ("the reason is an error", chunk({"content": "Hi"}, "error") + DONE, ModelFault.SERVER, True, "Hi"),
    ("Gemini's error in a list", '[{"error":{"code":429,"message":"slow"}}]', ModelFault.RATE_LIMIT, True, ""),
    ("a web page", "<!doctype html><title>Welcome</title>", ModelFault.BAD_REPLY, True, ""),
    ("JSON of another kind", '{"models":[]}', ModelFault.BAD_REPLY, True, ""),
    ("half a JSON document", '{"choices":[{"mess', ModelFault.NETWORK, True, ""),
    ("JSON nested beyond reason", "[" * 100_000, ModelFault.NETWORK, True, ""),
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


def test_text_is_shown_as_it_comes_and_never_in_half_characters() -> None:
    reading = decoder()
    shown = [
        reading.feed(packet.encode())
        for packet in (
            'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n',
            'data: {"choices":[{"delta":{"content":"\\ude00b"}}]}\n\ndata: {"choi',
            'ces":[{"delta":{"content":"c"},"finish_reason":"stop"}]}\n\n',
        )
    ]
    assert shown == ["", "a\U0001f600b", "c"]
    assert reading.finish().text == "".join(shown)


WHOLE = (
    chunk({"content": "漢字 🎉"})
    + calls(fragment(0, "a", "search", '{"q":"é'), fragment(1, "b", "now", "{}"))
    + calls(fragment(0, arguments='"}'))
    + END
).encode()


@pytest.mark.parametrize("body", [WHOLE, b'\n{"choices":[{"message":{"content":"\xc3\xa9"}}]}'])
@given(data=st.data())
def test_any_cutting_into_packets_gives_the_same_reply(body: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    edges = [0, *cuts, len(body)]
    assert decode(*(body[start:end] for start, end in pairwise(edges))) == decode(body)


@given(keep=st.integers(0, len(WHOLE) - 1))
def test_a_stream_cut_anywhere_never_hands_on_an_incomplete_call(keep: int) -> None:
    complete = len(WHOLE) - len(DONE) - 2
    if keep >= complete:
        assert decode(WHOLE[:keep]) == decode(WHOLE)
        return
    with pytest.raises(ModelError) as caught:
        decode(WHOLE[:keep])
    assert caught.value.retryable


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=4) | st.sampled_from(["{}", "error", "stop"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "message",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "id",
                    "index",
                    "usage",
                    "prompt_tokens",
                    "finish_reason",
                    "error",
                    "code",
                    "type",
                    "text",
                    "thinking",
                    "refusal",
                    "reasoning_details",
                    "x_groq",
                    "prompt_tokens_details",
                    "extra_content",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def _as_chunk(value: Any) -> Any:
    return {"choices": [{"delta": value, "finish_reason": "stop"}]}


@given(value=VALUES, shape=st.sampled_from([lambda value: value, _as_chunk]), streamed=st.booleans())
def test_no_json_whatever_its_shape_breaks_the_decoder(value: Any, shape: Callable[[Any], Any], streamed: bool) -> None:
    text = json.dumps(shape(value))
    try:
        reply = decode((f"data: {text}\n\n{DONE}" if streamed else text).encode())
    except ModelError:
        return
    assert len({call.id for call in reply.calls}) == len(reply.calls)
    json.dumps([reply.text, dict(reply.opaque)], ensure_ascii=False).encode()
