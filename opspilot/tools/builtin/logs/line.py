"""A log line, understood, and the reading of times. Pure; knows no format."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo

from opspilot.tools.builtin.logs.levels import Level


@dataclass(frozen=True, slots=True)
class LogLine:
    """What a line says. `time` is in seconds since 1970; `service` None means that the line doesn't say.

    `year_assumed`: the line gives its time without a year.
    """

    message: str
    time: float | None = None
    level: Level | None = None
    service: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    year_assumed: bool = False


@dataclass(frozen=True, slots=True)
class Clock:
    """How incomplete times are read: `zone` for those without a time zone, `latest` for those without a year.

    A time without a year is given the latest year that doesn't put it more than a day after `latest`, which is when
    its file was last written.
    """

    latest: datetime
    zone: tzinfo = UTC

    def seconds(self, time: datetime) -> float:
        """Seconds since 1970."""
        return (time if time.tzinfo is not None else time.replace(tzinfo=self.zone)).timestamp()

    def year_of(self, month: int, day: int) -> int:
        """The year of a date that doesn't say one."""
        limit = self.latest.astimezone(self.zone) + timedelta(days=1)
        return limit.year if (month, day) <= (limit.month, limit.day) else limit.year - 1


Parser = Callable[[str, Clock], LogLine | None]
"""One format: what a line says, None when it isn't of this format."""


def parse_time(text: str, clock: Clock) -> float | None:
    """Seconds since 1970 of an ISO time, or of a number of seconds, milli-, micro- or nanoseconds; None if neither."""
    text = text.strip()
    try:
        return clock.seconds(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        pass
    if re.fullmatch(r"\d{4}-\d\d-\d\d[T ][\d:.,]+ [+-]\d\d:?\d\d", text):
        return parse_time(text.replace(" +", "+").replace(" -", "-"), clock)
    if not re.fullmatch(r"\d{9,20}(?:\.\d{1,12})?", text):
        return None
    number = float(text)
    while number > 1e11:
        number /= 1000
    return number


_ROTATION = re.compile(
    r"(?i)(?:\.(?:gz|log|txt|out|err|jsonl?|ndjson|\d{1,3})|[._-]\d{4}-?\d\d-?\d\d(?:[T_-]?[\d:-]*)?)$"
)
_CONTAINER = re.compile(r"[^_]+_[^_]+_(?P<container>.+)-[0-9a-f]{64}\.log")
"""What Kubernetes calls the links in /var/log/containers: pod, namespace, container, its id."""
_GENERIC = frozenset(
    {
        "app",
        "application",
        "error",
        "errors",
        "access",
        "stdout",
        "stderr",
        "output",
        "out",
        "log",
        "current",
        "server",
        "main",
    }
)


def service_of_path(path: str) -> str:
    """The service that a log's path names: the file's name without endings, dates and rotation, else its folder."""
    parts = [part for part in path.split("/") if part]
    for part in reversed(parts):
        container = _CONTAINER.match(part)
        name = container["container"] if container is not None else part
        while (shorter := _ROTATION.sub("", name)) != name and shorter:
            name = shorter
        if name.lower() not in _GENERIC and not name.isdigit():
            return name
    return parts[-1] if parts else path
