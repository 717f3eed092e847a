"""What is counted of the lines that match: levels, shapes, values, numbers, and some lines. Bounded memory."""

import heapq
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import tzinfo

from opspilot.tools.builtin.logs.evidence import Evidence, Group
from opspilot.tools.builtin.logs.matching import Query
from opspilot.tools.builtin.logs.numbers import Number, Numbers, number_of, numeric_names
from opspilot.tools.builtin.logs.templates import Templates
from opspilot.tools.builtin.logs.values import Found, value_of

_MAX_VALUES = 100_000
_MAX_NAMES = 1_000

_REPEATED = re.compile(r"message repeated (\d{1,9}) times?: ")
"""What syslog daemons write instead of the same line again and again."""


@dataclass
class Coverage:
    """What was looked at in one file. `first_line` above 1 (0: unknown): the search began there, found by its time.

    `places` are how many places were looked at to see that the file is in order; `family` is the log it is a part of.
    """

    name: str
    format: str
    family: str = ""
    lines: int = 0
    complete: bool = False
    first_line: int = 1
    sought: bool = False
    places: int = 0
    disordered: bool = False
    status_levels: bool = False


@dataclass
class Tally:
    """Everything counted. Counts are of entries: lines, and stack traces together with the line that they follow."""

    matched: int = 0
    scanned: int = 0
    without_time: int = 0
    without_level: int = 0
    sieved: bool = False
    yearless_files: set[str] = field(default_factory=set)
    repeated_lines: int = 0
    repeated_events: int = 0
    several_lines: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    services: Counter[str] = field(default_factory=Counter)
    field_names: Counter[str] = field(default_factory=Counter)
    shapes: Templates = field(default_factory=Templates)
    unshaped: int = 0
    values: dict[str, Group] = field(default_factory=dict)
    valueless: int = 0
    untracked_values: int = 0
    numbers: Numbers = field(default_factory=Numbers)
    numberless: int = 0
    kept: list[tuple[tuple[float, int, int], Evidence]] = field(default_factory=list)
    newest: float | None = None
    oldest: float | None = None
    files: list[Coverage] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def best_first(self) -> list[Evidence]:
        """The matching lines that were kept: the latest first, or those with the largest numbers."""
        return [evidence for _, evidence in sorted(self.kept, key=lambda entry: entry[0], reverse=True)]

    def saw(self, service: str, time: float | None) -> None:
        """Count a line that was understood, whether it matches or not."""
        if service in self.services or len(self.services) < _MAX_NAMES:
            self.services[service] += 1
        if time is not None:
            self.newest = time if self.newest is None else max(self.newest, time)
            self.oldest = time if self.oldest is None else min(self.oldest, time)

    def add(self, found: Found, query: Query, zone: tzinfo, age: int) -> None:
        """Count a line that matches, and keep it if it is among the latest, or the first by `sort_by`.

        `age` says how old its file is among the parts of a rotated log.
        """
        count_by, sort_by, limit = query.count_by, query.sort_by, query.limit
        self.matched += 1
        self.levels[found.line.level or "unknown"] += 1
        self.several_lines += found.lines > 1
        if found.line.year_assumed:
            self.yearless_files.add(found.file)
        repeated = _REPEATED.search(found.line.message[:200])
        if repeated is not None:
            self.repeated_lines += 1
            self.repeated_events += int(repeated[1])
        self._count_shape(found)
        number = number_of(found, sort_by) if sort_by else None
        if count_by:
            self._count_value(found, count_by, zone, number)
        if sort_by and number is None:
            self.numberless += 1
            if self.numberless <= _MAX_NAMES:
                self.field_names.update(numeric_names(found))
            return
        if number is not None:
            self.numbers.add(number)
        moment = found.time if found.time is not None else float("-inf")
        # Of equal numbers the first one found stays.
        place = -self.matched if sort_by else self.matched
        value = 0.0 if number is None else -number.value if query.ascending else number.value
        order = (moment if number is None else value, -age, place)
        if len(self.kept) < limit or (self.kept and order > self.kept[0][0]):
            evidence = Evidence.of(found, number.value if number is not None else None)
            if len(self.kept) < limit:
                heapq.heappush(self.kept, (order, evidence))
            else:
                heapq.heapreplace(self.kept, (order, evidence))

    def _count_shape(self, found: Found) -> None:
        shape = found.shape
        group = self.shapes.find(found.line.level, shape)
        if group is None:
            group = Group.of(found, with_text=True)
            if not self.shapes.put(found.line.level, shape, group):
                self.unshaped += 1
                return
        group.add(found.time)

    def _count_value(self, found: Found, count_by: str, zone: tzinfo, number: Number | None) -> None:
        values = self.values
        value = value_of(found, count_by, zone)
        if value is None:
            self.valueless += 1
            if self.valueless <= _MAX_NAMES:
                self.field_names.update(found.line.fields.keys())
            return
        group = values.get(value)
        if group is None:
            if len(values) >= _MAX_VALUES:
                self.untracked_values += 1
                return
            group = values[value] = Group.of(found)
        group.add(found.time, number.value if number is not None else None)
