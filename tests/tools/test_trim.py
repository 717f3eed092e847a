"""A long result is cut, says so, and can be put together again."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from opspilot.core.messages import Json
from opspilot.tools.trim import json_text, trim

values = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
)


@settings(deadline=None)
@given(value=values, max_chars=st.integers(3, 60), page=st.integers(1, 50))
def test_excerpt_and_pages_add_up_to_the_whole_result(value: Json, max_chars: int, page: int) -> None:
    trimmed = trim(value, "r1", max_chars=max_chars)
    if len(json_text(value)) <= max_chars:
        assert (trimmed.data, trimmed.whole) == (value, "")
        return
    offset = trimmed.data["read_more"]["offset"]
    pages = [trimmed.whole[at : at + page] for at in range(offset, len(trimmed.whole), page)]
    assert trimmed.data["total_chars"] == len(trimmed.whole)
    assert trimmed.data["read_more"] == {"ref": "r1", "offset": offset}
    assert json.loads(trimmed.data["excerpt"] + "".join(pages)) == value


def test_the_first_keys_stay_first_in_the_excerpt() -> None:
    trimmed = trim({"zebra": 1, "apple": "x" * 100}, "r1", max_chars=30)
    assert trimmed.data["excerpt"] == '{"zebra":1,"apple":"'


def test_what_can_not_be_kept_is_said() -> None:
    trimmed = trim("x" * 100, "r1", max_chars=30, kept_chars=50)
    assert len(trimmed.whole) == 50
    assert trimmed.data["total_chars"] == 102
    assert "first 50 characters" in trimmed.data["note"]


def test_without_a_reference_nothing_promises_more() -> None:
    trimmed = trim("x" * 100, "", max_chars=30)
    assert trimmed.data == {"excerpt": '"' + "x" * 19, "total_chars": 102}
    assert trimmed.whole == ""
