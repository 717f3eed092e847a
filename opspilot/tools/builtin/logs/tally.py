"""What is counted of the lines that match: levels, shapes, values, and the latest lines themselves. Bounded memory."""

import heapq
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import tzinfo

from opspilot.tools.builtin.logs.levels import Level
from opspilot.tools.builtin.logs.shapes import shape_of
from opspilot.tools.builtin.logs.values import Found, value_of

_MAX_SHAPES = 5_000
_MAX_VALUES = 100_000
_MAX_NAMES = 1_000

_REPEATED = re.compile(r"message repeated (\d{1,9}) times?: ")
"""What syslog daemons write instead of the same line again and again."""


_EVIDENCE_CHARACTERS = 300
_BEFORE_MATCH_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is kept of a matching line. `text` is the line, or 300 characters of it around what matched."""

    file: str
    line: int
    time: float | None
    level: Level | None
    service: str
    text: str

    @classmethod
    def of(cls, found: Found) -> "Evidence":
        """The line as evidence; an ellipsis stands where something was cut."""
        text = found.text.strip()
        start = 0
        if len(text) > _EVIDENCE_CHARACTERS and found.at > _EVIDENCE_CHARACTERS - _BEFORE_MATCH_CHARACTERS:
            start = found.at - _BEFORE_MATCH_CHARACTERS
        end = start + _EVIDENCE_CHARACTERS
        excerpt = ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
        return cls(found.file, found.number, found.time, found.line.level, found.service, excerpt)


@dataclass
class Group:
    """Lines that are alike in something: how many, from when to when, and the first of them as an example."""

    example: Evidence
    count: int = 0
    first: float | None = None
    last: float | None = None

    def add(self, found: Found) -> None:
        """Count one more."""
        self.count += 1
        if found.time is not None:
            self.first = found.time if self.first is None else min(self.first, found.time)
            self.last = found.time if self.last is None else max(self.last, found.time)


@dataclass
class Coverage:
    """What was looked at in one file."""

    name: str
    format: str
    lines: int = 0
    complete: bool = False


@dataclass
class Tally:
    """Everything counted. Counts are of lines."""

    matched: int = 0
    scanned: int = 0
    without_time: int = 0
    without_level: int = 0
    yearless_files: set[str] = field(default_factory=set)
    repeated_lines: int = 0
    repeated_events: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    services: Counter[str] = field(default_factory=Counter)
    field_names: Counter[str] = field(default_factory=Counter)
    shapes: dict[tuple[str, str | None], Group] = field(default_factory=dict)
    unshaped: int = 0
    values: dict[str, Group] = field(default_factory=dict)
    valueless: int = 0
    untracked_values: int = 0
    latest: list[tuple[float, int, Evidence]] = field(default_factory=list)
    newest: float | None = None
    oldest: float | None = None
    files: list[Coverage] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def newest_first(self) -> list[Evidence]:
        """The matching lines that were kept."""
        return [evidence for _, _, evidence in sorted(self.latest, key=lambda entry: entry[:2], reverse=True)]

    def saw(self, service: str, time: float | None) -> None:
        """Count a line that was understood, whether it matches or not."""
        if service in self.services or len(self.services) < _MAX_NAMES:
            self.services[service] += 1
        if time is not None:
            self.newest = time if self.newest is None else max(self.newest, time)
            self.oldest = time if self.oldest is None else min(self.oldest, time)

    def add(self, found: Found, count_by: str, limit: int, zone: tzinfo) -> None:
        """Count a line that matches, and keep it if it is among the `limit` latest."""
        self.matched += 1
        self.levels[found.line.level or "unknown"] += 1
        if found.line.year_assumed:
            self.yearless_files.add(found.file)
        repeated = _REPEATED.search(found.line.message[:200])
        if repeated is not None:
            self.repeated_lines += 1
            self.repeated_events += int(repeated[1])
        self._count_shape(found)
        if count_by:
            self._count_value(found, count_by, zone)
        order = found.time if found.time is not None else float("-inf")
        if len(self.latest) < limit:
            heapq.heappush(self.latest, (order, self.matched, Evidence.of(found)))
        elif self.latest and (order, self.matched) > self.latest[0][:2]:
            heapq.heapreplace(self.latest, (order, self.matched, Evidence.of(found)))

    def _count_shape(self, found: Found) -> None:
        shapes = self.shapes
        key = (shape_of(found.line.message), found.line.level)
        group = shapes.get(key)
        if group is None:
            if len(shapes) >= _MAX_SHAPES:
                self.unshaped += 1
                return
            group = shapes[key] = Group(Evidence.of(found))
        group.add(found)

    def _count_value(self, found: Found, count_by: str, zone: tzinfo) -> None:
        values = self.values
        value = value_of(found, count_by, zone)
        if value is None:
            self.valueless += 1
            if len(self.field_names) < _MAX_NAMES:
                self.field_names.update(found.line.fields.keys())
            return
        group = values.get(value)
        if group is None:
            if len(values) >= _MAX_VALUES:
                self.untracked_values += 1
                return
            group = values[value] = Group(Evidence.of(found))
        group.add(found)
