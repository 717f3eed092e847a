"""The ways in which log lines spell a time at their beginning. Pure; what stands behind the time is others' affair."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from opspilot.tools.builtin.logs.line import Clock, parse_time

MONTHS = dict(
    zip(("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), range(1, 13), strict=True)
)
"""Not `calendar.month_abbr`, which follows the machine's language; logs don't."""

_MONTH = "|".join(MONTHS)
_CLOCK = r"(?P<h>\d\d?):(?P<m>\d\d?):(?P<s>\d\d?)(?:[.,:](?P<f>\d{1,9}))?"
_ZONE = r"(?P<z>Z|\s?[+-]\d\d:?\d\d|\s(?:UTC|GMT)(?![A-Za-z]))?"
_FORMS = (
    re.compile(rf"(?P<Y>\d{{4}})[-/.](?P<M>\d\d)[-/.](?P<D>\d\d)[T ]{_CLOCK}{_ZONE}"),
    re.compile(rf"(?P<y>\d\d)/(?P<M>\d\d)/(?P<D>\d\d) {_CLOCK}"),
    re.compile(r"(?P<y>\d\d)(?P<M>\d\d)(?P<D>\d\d) (?P<h>\d\d)(?P<m>\d\d)(?P<s>\d\d)(?=\s)"),
    re.compile(rf"(?P<Y>\d{{4}})(?P<M>\d\d)(?P<D>\d\d)[-T ]{_CLOCK}{_ZONE}"),
    re.compile(rf"(?P<M>\d\d)[-.](?P<D>\d\d) {_CLOCK}"),
    re.compile(rf"(?P<D>\d\d?)[ /](?P<B>{_MONTH})[ /](?P<Y>\d{{4}})[: ]{_CLOCK}{_ZONE}"),
    re.compile(rf"(?P<B>{_MONTH}) (?P<D>\d\d?), (?P<Y>\d{{4}}) {_CLOCK}(?: (?P<p>AM|PM))?"),
    re.compile(r"(?P<epoch>\d{10}\.\d{3,9})(?=\s)"),
    re.compile(r"(?P<epoch>1\d{9}(?:\d{3}|\.\d{1,9})?)(?=[|,;])"),
)
"""ISO with any separator (Go, nginx, PostgreSQL); Spark; HDFS and old MySQL; compact; Android, with no year; Apache and
Redis; java.util.logging; seconds since 1970 (Squid), also with milliseconds, before a bar."""


@dataclass(frozen=True, slots=True)
class TimeAtStart:
    """A time that was found: seconds since 1970, where it ends in the text, and whether its year is a guess."""

    seconds: float
    end: int
    year_assumed: bool = False


def time_at(text: str, start: int, clock: Clock) -> TimeAtStart | None:
    """The time that begins at this place of a text, None when there is none."""
    if not text[start : start + 1].isalnum():
        return None
    for form in _FORMS:
        match = form.match(text, start)
        if match is not None and (found := _moment(match, clock)) is not None:
            return found
    return None


def _moment(match: re.Match[str], clock: Clock) -> TimeAtStart | None:
    parts = match.groupdict()
    if parts.get("epoch"):
        seconds = parse_time(parts["epoch"], clock)
        return None if seconds is None else TimeAtStart(seconds, match.end())
    month = MONTHS[parts["B"]] if parts.get("B") else int(parts["M"])
    day = int(parts["D"])
    said = parts.get("Y") or (f"20{parts['y']}" if parts.get("y") else "")
    year = int(said) if said else clock.year_of(month, day)
    hour = int(parts["h"])
    if parts.get("p"):
        hour = hour % 12 + (12 if parts["p"] == "PM" else 0)
    naive = moment_of(year, month, day, (hour, int(parts["m"]), int(parts["s"])))
    if naive is None:
        return None
    zone = zone_of(parts.get("z") or "")
    seconds = clock.seconds(naive if zone is None else naive.replace(tzinfo=zone))
    return TimeAtStart(seconds + float(f"0.{parts.get('f') or 0}"), match.end(), not said)


def moment_of(year: int, month: int, day: int, clock: tuple[int, int, int]) -> datetime | None:
    """A date and (hour, minute, second) without a zone; None when there is no such moment. Leap seconds count as 59."""
    hour, minute, second = clock
    try:
        return datetime(year, month, day, hour, minute, min(second, 59) if second == 60 else second)  # noqa: DTZ001
    except ValueError:
        return None


def zone_of(text: str) -> timezone | None:
    """The zone of `Z`, `UTC`, `GMT`, `+01:00` or `-0800`; None for an empty text."""
    name = text.strip()
    if not name:
        return None
    if name[0] not in "+-":
        return UTC
    digits = name[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    if offset >= timedelta(hours=24):
        return UTC
    return timezone(offset if name[0] == "+" else -offset)


def time_without_year(month: str, day: int, clock_text: str, clock: Clock) -> float | None:
    """Seconds since 1970 of `Dec 10 06:55:46`, in the latest year that doesn't put it into the future."""
    number = MONTHS.get(month)
    if number is None:
        return None
    year = clock.year_of(number, day)
    if (number, day) == (2, 29):
        year -= year % 4
    hour, minute, second = (int(part) for part in clock_text.split(":"))
    naive = moment_of(year, number, day, (hour, minute, second))
    return None if naive is None else clock.seconds(naive)
