"""Small pictures of numbers: a column for each stretch of days, a bar for a share. Geometry alone; templates draw it.

Lengths are in units of the picture, rounded, so that a picture of hundreds of days stays small.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

WIDTH, HEIGHT = 320, 100
LABELS = 16
"""The height of a line of labels, above and below the columns."""
MOST_COLUMNS = 62
"""Two months day by day, a year week by week; what is longer goes month by month."""
GAP = 0.25
"""Of a column's share of the width."""
WIDEST = 48
"""A column that is alone is no wall."""


class Stretch(StrEnum):
    """How many days a column stands for."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True)
class Period:
    """The days that one column stands for, the last one included."""

    first: date
    last: date

    def holds(self, day: date) -> bool:
        """Whether that day is one of them."""
        return self.first <= day <= self.last


@dataclass(frozen=True)
class Column:
    """One rectangle, with what it stands for in words."""

    x: float
    y: float
    width: float
    height: float
    says: str


@dataclass(frozen=True)
class Columns:
    """A picture `width` by `height`: rectangles above the line at `base`, and what the highest one says."""

    columns: tuple[Column, ...]
    highest: str
    first: str
    last: str
    width: int = WIDTH
    height: int = HEIGHT
    base: int = HEIGHT - LABELS


def periods(first: date, last: date) -> tuple[Stretch, tuple[Period, ...]]:
    """All days from the first to the last in so few periods that each can be seen."""
    days = (last - first).days + 1
    if days <= MOST_COLUMNS:
        every = [first + timedelta(days=nth) for nth in range(days)]
        return Stretch.DAY, tuple(Period(day, day) for day in every)
    stretch = Stretch.WEEK if days <= MOST_COLUMNS * 7 else Stretch.MONTH
    begin, found = first, []
    while begin <= last:
        end = min(_end_of_week(begin) if stretch is Stretch.WEEK else _end_of_month(begin), last)
        found.append(Period(begin, end))
        begin = end + timedelta(days=1)
    return stretch, tuple(found)


def columns(
    values: Sequence[tuple[Period, float | None]],
    says: Callable[[Period, float | None], str],
    top: Callable[[float], str],
) -> Columns:
    """A column for each period; one without a value has none, one that is not nothing can be seen.

    `says` puts a column in words, `top` the highest value.
    """
    highest = max((value for _, value in values if value is not None), default=0.0)
    room = HEIGHT - 2 * LABELS
    share = WIDTH / max(len(values), 1)
    width = min(share * (1 - GAP), WIDEST)
    drawn = []
    for nth, (period, value) in enumerate(values):
        height = round(room * (value or 0) / highest, 1) if highest else 0.0
        if value:
            height = max(height, 1.0)
        x = round((nth + 0.5) * share - width / 2, 2)
        drawn.append(Column(x, HEIGHT - LABELS - height, round(width, 2), height, says(period, value)))
    return Columns(
        tuple(drawn),
        highest=top(highest),
        first=values[0][0].first.isoformat() if values else "",
        last=values[-1][0].last.isoformat() if values else "",
    )


def share_of(part: float | None, whole: float | None) -> float:
    """A length from 0 to 100 for a bar; what is not nothing can be seen, and nothing is longer than all of it."""
    if not part or not whole:
        return 0.0
    return round(min(max(100 * part / whole, 0.5), 100.0), 1)


def _end_of_week(day: date) -> date:
    return day + timedelta(days=6 - day.weekday())


def _end_of_month(day: date) -> date:
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)
