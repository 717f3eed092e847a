"""Lines about calls that people and models read: short, one line, without secrets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.messages import Json
from opspilot.tools.public import summary_line

SUMMARIES: tuple[tuple[dict[str, Json], str], ...] = (
    ({}, "look"),
    ({"service": "payment", "level": "error", "limit": 5}, "look service=payment level=error limit=5"),
    ({"text": "two words", "x": None, "y": True, "z": ""}, 'look text="two words" x=null y=true z=""'),
    ({"tags": ["a", {"b": 1}]}, 'look tags=["a",{"b":1}]'),
    ({"text": "a\nb\u2028c\x1b[31m\u202e"}, r'look text="a\nb c\u001b[31m "'),
    ({"password": "hunter2", "to": "a@example.com"}, "look password=[redacted:secret] to=[redacted:email]"),
    ({"text": "x" * 1_000_000}, f"look text={'x' * 39}…"),
    ({"half": "\ud83d"}, "look half="),
    ({"服务": "支付服务"}, "look 服务=支付服务"),
)


@pytest.mark.parametrize(("arguments", "expected"), SUMMARIES)
def test_a_summary_is_one_short_redacted_line(arguments: dict[str, Json], expected: str) -> None:
    assert summary_line("look", arguments) == expected


@given(arguments=st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text())))
def test_a_summary_has_at_most_120_visible_characters(arguments: dict[str, Json]) -> None:
    line = summary_line("look", arguments)
    assert len(line) <= 120
    assert not any(character in line for character in "\n\r\x1b\x00\u2028\u2029\x85")
    assert line == " ".join(line.split())
    line.encode()
