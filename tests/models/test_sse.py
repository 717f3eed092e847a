"""Server-sent events are read the same however the network cuts them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.models.sse import Event, EventReader


def read(*packets: bytes) -> list[Event]:
    reader = EventReader()
    events = [event for packet in packets for event in reader.feed(packet)]
    return events + reader.close()


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\n\n", [Event("", "a")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [Event("", "a"), Event("", "b")]),
        (b"data: a\r\rdata: b\r\r", [Event("", "a"), Event("", "b")]),
        (b"data:a\n\n", [Event("", "a")]),
        (b"data:  two spaces\n\n", [Event("", " two spaces")]),
        (b"data: a\ndata:\ndata: b\n\n", [Event("", "a\n\nb")]),
        (b"event: error\ndata: x\n\ndata: y\n\n", [Event("error", "x"), Event("", "y")]),
        (b": a comment\n\ndata: a\n: another\n\n", [Event("", "a")]),
        (b"id: 1\nretry: 10\nfoo: bar\nfoo\ndata: a\n\n", [Event("", "a")]),
        (b"\n\n\ndata: a\n\n", [Event("", "a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [Event("", "a")]),
        (b"event: ping\n\ndata: a\n\n", [Event("", "a")]),
        (b"data\n\n", []),
        (b"", []),
        ("data: x\u2028y\u2029z\u0085\u000b\u000c\n\n".encode(), [Event("", "x\u2028y\u2029z\u0085\u000b\u000c")]),
        (b"data: \xff\n\n", [Event("", "\ufffd")]),
    ],
)
def test_events_follow_the_grammar(body: bytes, events: list[Event]) -> None:
    assert read(body) == events


@pytest.mark.parametrize("body", [b"data: a\n", b"data: a", b"data: a\r"])
def test_an_event_that_the_stream_ends_in_is_handed_on_and_marked(body: bytes) -> None:
    assert read(body) == [Event("", "a", complete=False)]


def test_the_field_error_of_old_llama_cpp_is_an_event_of_that_name() -> None:
    assert read(b'error: {"code":500}\n\n') == [Event("error", '{"code":500}')]


def test_a_character_split_over_packets_is_whole_again() -> None:
    assert read(b"data: h\xc3", b"\xa9!\n\n") == [Event("", "hé!")]


def test_crlf_split_over_packets_is_one_line_end() -> None:
    assert read(b"data: a\r", b"\n\r", b"\ndata: b\r", b"", b"\n\r\n") == [Event("", "a"), Event("", "b")]


LINES = st.sampled_from(
    [
        "data: ",
        "data:",
        "data",
        "event: x",
        ": c",
        "",
        "",
        "data: ä漢🎉\u2028",
        "id: 1",
        "\ufeff",
        "error: e",
        "data: {}",
    ]
)


@given(data=st.data(), lines=st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r", "\r\n"])), max_size=12))
def test_any_cutting_into_packets_gives_the_same_events(data: st.DataObject, lines: list[tuple[str, str]]) -> None:
    body = "".join(line + end for line, end in lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=10)))
    edges = [0, *cuts, len(body)]
    assert read(*(body[start:end] for start, end in pairwise(edges))) == read(body)
