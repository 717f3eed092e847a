"""The search itself: which lines of which files match a query. What is counted of them is the tally's affair."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import tzinfo
from itertools import chain, islice

import regex

from opspilot.tools.builtin.logs.files import LogFile, RawLine, UnreadableLog, read_lines
from opspilot.tools.builtin.logs.formats import TEXT, detect_format, parse_line
from opspilot.tools.builtin.logs.levels import RANK, Level
from opspilot.tools.builtin.logs.line import Clock, LogLine, service_of_path
from opspilot.tools.builtin.logs.services import normal_service
from opspilot.tools.builtin.logs.tally import Coverage, Tally
from opspilot.tools.builtin.logs.values import Found

_SAMPLE_LINES = 50
_CHECK_EVERY_LINES = 256
_SECONDS_PER_LINE = 1.0
_MAX_LONG_LINES_NAMED = 3


class PatternTooSlow(Exception):
    """The pattern needs too long on a line. `where` is `file:line`."""

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.where = where


@dataclass(frozen=True)
class Query:
    """What is asked. Times are seconds since 1970; `text` is a substring in any case; `level` means this or worse."""

    text: str = ""
    pattern: regex.Pattern[str] | None = None
    level: Level | None = None
    service: str = ""
    since: float | None = None
    until: float | None = None
    count_by: str = ""
    limit: int = 10

    @property
    def needs_every_line(self) -> bool:
        """Must lines be understood even where the text isn't in them? For the time before them, or their service."""
        return bool(self.service) or self.since is not None or self.until is not None


def search(
    files: Iterable[LogFile], query: Query, zone: tzinfo, deadline: float, cancelled: Callable[[], bool] = lambda: False
) -> Tally:
    """Search files until `deadline` (of `time.monotonic`). Raises `PatternTooSlow`; what can't be read is a problem."""
    tally = Tally()

    def stopped() -> bool:
        return time.monotonic() > deadline or cancelled()

    for file in files:
        coverage = Coverage(file.name, TEXT)
        tally.files.append(coverage)
        if stopped():
            continue
        try:
            coverage.complete = _Scan(query, tally, coverage, file, zone).run(stopped)
        except UnreadableLog as error:
            tally.problems.append(f"{file.name} {error}")
            coverage.complete = True
    return tally


class _Scan:
    """One file's search: what must be remembered from line to line."""

    def __init__(self, query: Query, tally: Tally, coverage: Coverage, file: LogFile, zone: tzinfo) -> None:
        self.query = query
        self.tally = tally
        self.coverage = coverage
        self.file = file
        self.zone = zone
        self.clock = Clock(file.written, zone)
        self.file_service = service_of_path(file.name)
        self.wanted_service = normal_service(query.service) if query.service else ""
        self.needle = query.text.casefold()
        self.head: str | LogLine | None = None
        self.head_time: float | None = None
        self.long_lines = 0

    def run(self, stopped: Callable[[], bool]) -> bool:
        """Search the file; False if it was stopped before the end."""
        lines = read_lines(self.file, stopped)
        sample = list(islice(lines, _SAMPLE_LINES))
        self.coverage.format = detect_format(_text(raw) for raw in sample)
        cut = False
        for raw in chain(sample, lines):
            if raw.number % _CHECK_EVERY_LINES == 0 and stopped():
                return False
            self.tally.scanned += 1
            self.coverage.lines += 1
            cut = raw.total_bytes > len(raw.data)
            if cut:
                self._note_long_line(raw)
            self._look_at(_text(raw), raw.number)
        if self.long_lines > _MAX_LONG_LINES_NAMED:
            self.tally.problems.append(
                f"{self.file.name} has {self.long_lines - _MAX_LONG_LINES_NAMED:,} more lines as long"
            )
        return not (stopped() and cut)

    def _note_long_line(self, raw: RawLine) -> None:
        self.long_lines += 1
        if self.long_lines <= _MAX_LONG_LINES_NAMED:
            self.tally.problems.append(
                f"{self.file.name} line {raw.number:,} is {raw.total_bytes:,} bytes long; "
                f"only the first {len(raw.data):,} were looked at"
            )

    def _look_at(self, text: str, number: int) -> None:
        query = self.query
        # What has no backslash says the same raw as understood, so that most lines need not be understood at all.
        if not query.needs_every_line and "\\" not in text and not self._has_words(text, text, number):
            if not _continues(text):
                self.head, self.head_time = text, None
            return
        line, line_time = self._understand(text)
        service = line.service or self.file_service
        if query.needs_every_line:
            self.tally.saw(service, line_time)
        if not self._is_of_service(service) or not self._has_words(text, line.message, number):
            return
        if self._fits(line, line_time):
            groups = self._groups(text, line.message, number)
            at = groups.start() if groups is not None else max(0, text.casefold().find(self.needle))
            found = Found(line, text, self.file.name, number, service, line_time, groups, at)
            self.tally.add(found, query.count_by, query.limit, self.zone)

    def _understand(self, text: str) -> tuple[LogLine, float | None]:
        """The line, and its time: its own, else that of the line before it, if that is known."""
        line = parse_line(text, self.coverage.format, self.clock)
        if line.time is not None:
            self.head, self.head_time = line, line.time
            return line, line.time
        if isinstance(self.head, str):
            self.head = parse_line(self.head, self.coverage.format, self.clock)
            self.head_time = self.head.time
        if not _continues(text):
            self.head = line
        elif self.head is not None:
            line = LogLine(line.message, level=line.level, service=self.head.service)
        return line, self.head_time

    def _is_of_service(self, service: str) -> bool:
        wanted = self.wanted_service
        return not wanted or wanted in (normal_service(service), normal_service(self.file_service))

    def _has_words(self, text: str, message: str, number: int) -> bool:
        """Are the query's text and pattern in the line, or in what it says?"""
        if self.needle not in text.casefold() and self.needle not in message.casefold():
            return False
        return self.query.pattern is None or self._groups(text, message, number) is not None

    def _groups(self, text: str, message: str, number: int) -> regex.Match[str] | None:
        pattern = self.query.pattern
        if pattern is None:
            return None
        try:
            found = pattern.search(text, timeout=_SECONDS_PER_LINE, concurrent=True)
            if found is None and message not in text:
                found = pattern.search(message, timeout=_SECONDS_PER_LINE, concurrent=True)
        except TimeoutError as error:
            raise PatternTooSlow(f"{self.file.name}:{number}") from error
        return found

    def _fits(self, line: LogLine, line_time: float | None) -> bool:
        """Are level and time as asked? A line that is right but for lacking one of them is counted as such."""
        query = self.query
        if query.level is not None and line.level is not None and RANK[line.level] < RANK[query.level]:
            return False
        if line_time is not None:
            if query.since is not None and line_time < query.since:
                return False
            if query.until is not None and line_time > query.until:
                return False
        if query.level is not None and line.level is None:
            self.tally.without_level += 1
            return False
        if line_time is None and (query.since is not None or query.until is not None):
            self.tally.without_time += 1
            return False
        return True


def _continues(text: str) -> bool:
    """Does a line that begins like this belong to the one before it?"""
    return text[:1] in (" ", "\t", "")


_COLOUR = regex.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def _text(raw: RawLine) -> str:
    text = raw.data.decode("utf-8", "replace")
    return _COLOUR.sub("", text) if "\x1b" in text else text
