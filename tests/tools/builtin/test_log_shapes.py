"""Message shapes and values: what is counted under one name."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.tools.builtin.logs.evidence import Group
from opspilot.tools.builtin.logs.line import LogLine
from opspilot.tools.builtin.logs.shapes import MAX_SHAPE_CHARACTERS, shape_of
from opspilot.tools.builtin.logs.templates import Templates
from opspilot.tools.builtin.logs.values import Found, address_in, value_of


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ("jk2_init() Found child 6725 in scoreboard slot 10", "jk2_init() Found child <n> in scoreboard slot <n>"),
        ("Failed password for root from 183.62.140.253 port 34100", "Failed password for root from <ip> port <n>"),
        ('user \'anna\' said "no \\" way"', "user <str> said <str>"),
        ("it's the server's fault, isn't it", "it's the server's fault, isn't it"),
        ("instance 17288ea8-cbf4-4f0e-94fe-853fd2735f29 gone", "instance <id> gone"),
        ("base a489c868f0c37da93b76227c91bb03908ac0e742 at 0x7ff", "base <hex> at <hex>"),
        ("took 12ms, 3.5 s of 1,000", "took <n>ms, <n> s of <n>"),
        ("order ORD-8812 of user4711", "order ORD-<n> of user<n>"),
        ("at Sat Jul  9 12:16:49 2005 or 2026-11-30T10:00:00.5Z", "at <time> or <time>"),
        ("peer fe80::1 and 2001:db8:0:0:0:0:0:1", "peer <ip> and <ip>"),
        ("std::vector and a::b", "std::vector and a::b"),
        ("支付失败 订单 12345", "支付失败 订单 <n>"),
    ],
)
def test_what_varies_is_masked(message: str, shape: str) -> None:
    assert shape_of(message) == shape


@given(st.text(max_size=400))
def test_a_shape_is_short_and_holds_no_long_number(message: str) -> None:
    shape = shape_of(message)
    assert len(shape) <= MAX_SHAPE_CHARACTERS
    assert re.search(r"\d{3}", shape) is None


@given(st.integers(min_value=0, max_value=10**9), st.integers(min_value=0, max_value=10**9))
def test_numbers_alone_make_no_new_shape(one: int, other: int) -> None:
    assert shape_of(f"waited {one} ms") == shape_of(f"waited {other} ms")


def counted(shapes: list[str]) -> tuple[Templates, int]:
    """The templates of these shapes, each counted once, and how many found no room."""
    templates = Templates()
    lost = 0
    for number, shape in enumerate(shapes, start=1):
        group = templates.find(None, shape)
        if group is None:
            group = Group("a.log", number, 0)
            lost += not templates.put(None, shape, group)
        group.add(None)
    return templates, lost


def test_a_word_that_varies_is_one_template_and_one_that_hardly_does_is_not() -> None:
    users = [f"session {what} for user {name}" for what in ("opened", "closed") for name in "abcdef"]
    templates, _ = counted(users)
    assert sorted((shape, group.count) for shape, _, group in templates.ranked()) == [
        ("session closed for user <*>", 6),
        ("session opened for user <*>", 6),
    ]


def test_a_hundred_thousand_lines_of_ten_kinds_are_ten_rows() -> None:
    rng = random.Random(5)
    words = ["".join(rng.choices("abcdefghij", k=8)) for _ in range(9_000)]
    kinds = [
        "{} met {} again today",
        "user {} of team {} gone",
        "no route to {}",
        "waited for {} or {}",
        "saw {} twice",
    ]
    kinds += [f"{name} failed for {{}}" for name in ("login", "upload", "payment", "search", "export")]
    lines = [rng.choice(kinds).format(rng.choice(words), rng.choice(words)) for _ in range(100_000)]
    templates, lost = counted([shape_of(line) for line in lines])
    rows = templates.ranked()
    assert lost == 0
    assert sum(group.count for _, _, group in rows) == len(lines)
    assert len(rows) == 10


@given(st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=5).map(" ".join), max_size=300))
def test_merging_loses_no_line(shapes: list[str]) -> None:
    templates, lost = counted(shapes)
    assert sum(group.count for _, _, group in templates.ranked()) + lost == len(shapes)


@pytest.mark.parametrize(
    ("message", "address"),
    [
        ("Failed password for root from 1.2.3.4 port 22 ssh2", "1.2.3.4"),
        ("Failed password for invalid user 9.9.9.9 from 1.2.3.4 port 22", "1.2.3.4"),
        ("Failed password for invalid user from from 1.2.3.4 port 22", "1.2.3.4"),
        ("authentication failure; rhost=1.2.3.4  user=root", "1.2.3.4"),
        ("authentication failure; rhost=a.example.net  user=root", "a.example.net"),
        ("reverse mapping checking getaddrinfo for ns.example.com [1.2.3.4] failed", "1.2.3.4"),
        ("Address 1.2.3.4 maps to a.example, but this does not map back", "1.2.3.4"),
        ("[client 1.2.3.4:5678] File does not exist", "1.2.3.4"),
        ("connection from 2001:db8::7 refused", "2001:db8::7"),
        ("Invalid user x from mail.example.org", "mail.example.org"),
        ("client 1.2.3.4 closed, server: _", "1.2.3.4"),
        ("from 12:00:00 to 13:00:00 nothing", None),
        ("version 1.2.3.4.5 of 999.1.1.1", None),
        ("nothing", None),
    ],
)
def test_the_other_machine_is_found_in_the_text(message: str, address: str | None) -> None:
    assert address_in(LogLine(message)) == address


def test_a_value_is_a_field_before_it_is_words_of_the_text() -> None:
    line = LogLine("status: 500 user=anna", fields={"Status": "200", "machine": "web-1"}, level="error")
    found = Found(line, "status: 500 user=anna", "a.log", 1, "web", 0.0)
    names = ("status", "user", "level", "service", "file", "hour", "day", "machine", "shape", "colour")
    assert [value_of(found, name) for name in names] == [
        *("200", "anna", "error", "web", "a.log", "1970-01-01T00", "1970-01-01", "web-1"),
        *("status: <n> user=anna", None),
    ]
