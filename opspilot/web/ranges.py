"""Ranges of time as people choose them: whole days by UTC, the last one included. Knows no request and no page."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

Day: TypeAlias = Annotated[date | None, BeforeValidator(lambda given: given or None)]
"""A day in a form, such as `2026-11-30`; empty: none was chosen."""


class Span(StrEnum):
    """The last days up to now: one, seven, thirty, or all there are."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    ALL = "all"


DAYS = {Span.DAY: 1, Span.WEEK: 7, Span.MONTH: 30}


@dataclass(frozen=True)
class Range:
    """From the beginning of the first day to the end of the last; None leaves that side open."""

    first: date | None = None
    last: date | None = None

    @property
    def since(self) -> datetime | None:
        """The first moment."""
        return None if self.first is None else _midnight(self.first)

    @property
    def until(self) -> datetime | None:
        """The first moment after it. There is nothing after the last day that a calendar has."""
        return None if self.last is None or self.last == date.max else _midnight(self.last + timedelta(days=1))

    @property
    def query(self) -> dict[str, str]:
        """As fields of a form, empty where it is open."""
        return {name: day.isoformat() if day else "" for name, day in (("from", self.first), ("to", self.last))}


def last_days(span: Span, today: date) -> Range:
    """The days of this span that ends today; it stays open, so that what happens next belongs to it."""
    return Range(today - timedelta(days=DAYS[span] - 1)) if span in DAYS else Range()


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
