"""Small pictures: every day is in exactly one column, columns stay in the picture, and what is there can be seen."""

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.web.charts import HEIGHT, LABELS, MOST_COLUMNS, WIDTH, Period, Stretch, columns, periods, share_of

DAYS = st.dates(date(1990, 1, 1), date(2090, 1, 1))


@given(DAYS, st.integers(0, 4000))
def test_periods_follow_one_another_and_hold_each_day_once(first: date, length: int) -> None:
    last = first + timedelta(days=length)
    stretch, found = periods(first, last)
    assert (found[0].first, found[-1].last) == (first, last)
    assert all(earlier.last + timedelta(days=1) == later.first for earlier, later in pairwise(found))
    assert all(period.first <= period.last for period in found)
    if stretch is not Stretch.MONTH:
        assert len(found) <= MOST_COLUMNS + 1


@pytest.mark.parametrize(
    ("first", "last", "stretch", "count"),
    [
        (date(2026, 3, 1), date(2026, 3, 1), Stretch.DAY, 1),
        (date(2026, 3, 1), date(2026, 3, 31), Stretch.DAY, 31),
        (date(2026, 1, 1), date(2026, 12, 31), Stretch.WEEK, 53),
        (date(2020, 2, 10), date(2026, 2, 9), Stretch.MONTH, 73),
    ],
)
def test_a_long_range_has_wider_columns(first: date, last: date, stretch: Stretch, count: int) -> None:
    found, every = periods(first, last)
    assert (found, len(every)) == (stretch, count)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e12)), min_size=1, max_size=80))
def test_columns_lie_beside_one_another_within_the_picture_and_the_highest_fills_it(values: list[float | None]) -> None:
    days = [date(2026, 1, 1) + timedelta(days=nth) for nth in range(len(values))]
    given_values = [(Period(day, day), value) for day, value in zip(days, values, strict=True)]
    picture = columns(given_values, lambda period, value: f"{period.first}: {value}", str)
    assert len(picture.columns) == len(values)
    for column, value in zip(picture.columns, values, strict=True):
        assert 0 <= column.x <= column.x + column.width <= WIDTH + 0.01
        assert LABELS - 0.1 <= column.y <= HEIGHT - LABELS
        assert (column.height > 0) == bool(value)
    for left, right in pairwise(picture.columns):
        assert left.x + left.width <= right.x + 0.01
    highest = max((value or 0) for value in values)
    if highest:
        assert max(column.height for column in picture.columns) == pytest.approx(HEIGHT - 2 * LABELS, abs=0.1)
    assert picture.highest == str(float(highest)) or not highest


def test_a_picture_of_nothing_is_empty() -> None:
    picture = columns([], lambda period, value: "", str)
    assert (picture.columns, picture.first, picture.last) == ((), "", "")


@pytest.mark.parametrize(
    ("part", "whole", "length"),
    [(None, 5, 0), (5, None, 0), (0, 5, 0), (5, 0, 0), (1, 4, 25), (1, 1_000_000, 0.5), (9, 4, 100)],
)
def test_a_share_can_be_seen_and_is_never_more_than_all(part: float | None, whole: float | None, length: float) -> None:
    assert share_of(part, whole) == length
