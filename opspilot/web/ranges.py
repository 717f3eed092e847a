"""Moments and ranges of time as people and programs give them. Knows no request and no page.

People choose whole days by UTC, the last one included. A moment has its own zone, and there are some that only that
zone's calendar has: by UTC they would be before the year 1, or after 9999. Nothing happened then.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, AwareDatetime, BeforeValidator
from pydantic_core import PydanticCustomError

from opspilot.texts.language import text


def by_utc(moment: datetime) -> datetime:
    """The same moment in UTC. Raises `ValueError` when it has no zone or UTC's calendar doesn't have it."""
    if moment.tzinfo is None:
        raise ValueError(moment)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(moment) from None


def _bounded(moment: datetime) -> datetime:
    try:
        return by_utc(moment)
    except ValueError:
        raise PydanticCustomError("moment", text("web.moment")) from None


Moment: TypeAlias = Annotated[AwareDatetime, AfterValidator(_bounded)]
"""A moment with its zone, such as `2026-11-30T12:00:00Z`, by UTC from then on."""
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
