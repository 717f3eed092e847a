"""Where a page or a story goes on: what was never given out, however big or odd, is refused or passed over in words."""

import pytest

from opspilot.web.paging import cursor, last_seen
from opspilot.web.refusing import Refused


@pytest.mark.parametrize(
    ("header", "number"),
    [
        pytest.param("", 7, id="none"),
        pytest.param("12", 12, id="one of ours"),
        pytest.param("0", 0, id="from the beginning"),
        pytest.param("9" * 18, 10**18 - 1, id="the biggest that fits a database"),
        pytest.param("9" * 19, 7, id="a bigger one"),
        pytest.param("9" * 5000, 7, id="one that is no number to Python any more"),
        pytest.param("-1", 7, id="below nothing"),
        pytest.param("１２", 7, id="digits of another script"),
        pytest.param("12a", 7, id="no number"),
    ],
)
def test_a_stream_goes_on_behind_what_was_seen_last(header: str, number: int) -> None:
    assert last_seen(header, 7) == number


@pytest.mark.parametrize(
    "before",
    ["x", "~", "2026-01-01T00:00:00~a", "0001-01-01T00:00:00+14:00~x", "9999-12-31T23:59:59-14:00~x", "2026-13-01~a"],
)
def test_a_page_that_nobody_was_shown_the_way_to_is_refused_in_a_sentence(before: str) -> None:
    with pytest.raises(Refused):
        cursor(before)


def test_a_page_goes_on_where_the_last_one_ended() -> None:
    found = cursor("2026-11-30T19:00:00+00:00~ops-1")
    assert found is not None
    assert (found[0].isoformat(), found[1]) == ("2026-11-30T19:00:00+00:00", "ops-1")
    assert cursor("") is None
