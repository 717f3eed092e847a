"""One file's search: which part of it is read, which of its lines are looked at, and what an entry says."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path

import regex

from opspilot.tools.builtin.logs.chunks import (
    MAX_LINE_BYTES,
    Chunk,
    UnreadableLog,
    count_lines,
    is_packed,
    open_log,
    read_chunks,
)
from opspilot.tools.builtin.logs.entries import Assembler, Entry, cause_of, may_continue
from opspilot.tools.builtin.logs.files import LogFile
from opspilot.tools.builtin.logs.formats import TEXT, detect_format, parse_line
from opspilot.tools.builtin.logs.levels import level_in_words
from opspilot.tools.builtin.logs.line import Clock, LogLine, parse_time, service_of_path
from opspilot.tools.builtin.logs.literals import literal_of
from opspilot.tools.builtin.logs.matching import Query, fits, has_words
from opspilot.tools.builtin.logs.seek import SLACK_SECONDS, Part, part_with
from opspilot.tools.builtin.logs.services import normal_service
from opspilot.tools.builtin.logs.sieve import Sieve, entry_before, sieve_for, surely_milder
from opspilot.tools.builtin.logs.tally import Coverage, Tally
from opspilot.tools.builtin.logs.values import Found
from opspilot.tools.builtin.logs.wrappers import WRAPPERS, detect_wrapper

LARGE_BYTES = 16 * 1024 * 1024
"""Of smaller files every line is understood where that helps to say what there is instead of what was asked for."""

_SAMPLE_LINES = 50
_CHECK_EVERY_LINES = 256
_MAX_LONG_LINES_NAMED = 3


class _Stopped(Exception):
    """Time is up, or nobody waits any more."""


@dataclass(frozen=True, slots=True)
class _Before:
    """The entry that was passed over before this place, should anybody ask for its time."""

    data: bytes
    start: int


class Scan:
    """One file's search: what must be remembered from line to line."""

    def __init__(
        self,
        query: Query,
        tally: Tally,
        coverage: Coverage,
        file: LogFile,
        zone: tzinfo,
        deadline: float,
        *,
        whole: bool = False,
    ) -> None:
        self.query = query
        self.tally = tally
        self.coverage = coverage
        self.file = file
        self.zone = zone
        self.deadline = deadline
        self.whole = whole
        self.clock = Clock(file.written, zone)
        self.file_service = service_of_path(file.name)
        self.wanted_service = normal_service(query.service) if query.service else ""
        self.needle = query.text.casefold()
        self.sieve: Sieve | None = None
        self.peeks = False
        self.assembler = Assembler(heads=False)
        self.wrapper = ""
        self.inner = TEXT
        self.before: _Before | bytes | str | LogLine | None = None
        self.mild: tuple[bytes, int, int] | None = None
        self.next_number = 1
        self.latest: float | None = None
        self.disordered = False
        self.long_lines = 0

    def run(self, stopped: Callable[[], bool]) -> bool:
        """Search the file; False if it was stopped before the end. Raises `UnreadableLog`."""
        self._learn(stopped)
        try:
            part = self._part(stopped)
            if part is None:
                self._read(0, None, stopped)
            else:
                self._read(part.start, part.end, stopped)
                if self.disordered:
                    self._read_the_rest(part, stopped)
        except _Stopped:
            return False
        finally:
            if self.long_lines > _MAX_LONG_LINES_NAMED:
                more = self.long_lines - _MAX_LONG_LINES_NAMED
                self.tally.problems.append(f"{self.file.name} has {more:,} more lines as long")
        return True

    def _learn(self, stopped: Callable[[], bool]) -> None:
        """Find the file's format by looking, and what that allows to be passed over."""
        sample: list[str] = []
        try:
            with open_log(self.file.path) as stream:
                for chunk in read_chunks(stream, stopped):
                    lines = chunk.data.split(b"\n", _SAMPLE_LINES)[:_SAMPLE_LINES]
                    sample = [_text(line[:MAX_LINE_BYTES]) for line in lines]
                    break
        except OSError as error:
            raise UnreadableLog(f"can't be read: {error.strerror or 'the system refuses'}") from error
        except UnreadableLog as error:
            raise (error if error.__cause__ is None else UnreadableLog(f"can't be read: {error}")) from error
        self.wrapper = detect_wrapper(sample)
        unwrap = WRAPPERS.get(self.wrapper)
        if unwrap is not None:
            sample = [wrapped.content for text in sample if (wrapped := unwrap(text)) is not None]
        self.inner = detect_format(sample)
        self.coverage.format = f"{self.wrapper}/{self.inner}" if self.wrapper else self.inner
        self.coverage.status_levels = self.inner == "access"
        self.assembler = Assembler(self.inner != TEXT, self.inner == "json", unwrap)
        large = self.file.size_bytes >= LARGE_BYTES
        if self.whole or unwrap is not None or (self.query.needs_every_line and not large):
            return
        self.sieve = self._sieve(large=large)
        self.peeks = self.query.level is not None and large
        self.tally.sieved = self.tally.sieved or (large and (self.sieve is not None or self.peeks))

    def _sieve(self, *, large: bool) -> Sieve | None:
        words = self.query.text
        if not words and self.query.pattern is not None:
            literal = literal_of(self.query.pattern.pattern)
            words = literal if len(literal) >= 2 else ""
        sieve = sieve_for(words) if words else None
        if sieve is None and large and self.wanted_service and self.wanted_service != normal_service(self.file_service):
            sieve = sieve_for(max(self.wanted_service.split("-"), key=len))
        return sieve

    def _part(self, stopped: Callable[[], bool]) -> Part | None:
        """The part of a large file that the time range lies in; None when all of it has to be read."""
        query, file = self.query, self.file
        if self.whole or not query.has_range or file.size_bytes < LARGE_BYTES:
            return None
        try:
            with open_log(file.path) as stream:
                if is_packed(stream):
                    return None
                part = part_with(stream, file.size_bytes, self._time_of, query.since, query.until)
        except OSError as error:
            raise UnreadableLog(f"can't be read: {error.strerror}") from error
        if part is None or (part.start == 0 and part.end == file.size_bytes):
            return None
        self.coverage.sought, self.coverage.places = True, part.places
        self.next_number = self._number_at(file.path, part.start, stopped)
        self.coverage.first_line = self.next_number
        if self.disordered:
            self.coverage.sought = False
            self.coverage.disordered = True
            self.next_number = self.coverage.first_line = 1
            return None
        return part

    def _number_at(self, path: Path, start: int, stopped: Callable[[], bool]) -> int:
        """The number of the line that begins at a byte, 0 when there is no time to count so far.

        What is read on the way is looked at: each megabyte's first time must lie before the range.
        """
        since = self.query.since
        if start == 0 or since is None:
            return 1

        def look(data: bytes) -> None:
            first = next((at for line in data.split(b"\n", 5)[:5] if (at := self._time_of(line)) is not None), None)
            self.coverage.places += first is not None
            self.disordered = self.disordered or (first is not None and first >= since)

        # Numbers are worth half of the time that there is; the lines themselves come first.
        half = time.monotonic() + (self.deadline - time.monotonic()) / 2
        lines = count_lines(path, start, lambda: stopped() or time.monotonic() > half, look)
        return 0 if lines is None else lines + 1

    def _read_the_rest(self, part: Part, stopped: Callable[[], bool]) -> None:
        """What was taken for ordered isn't: read also what lies before and behind the part."""
        self.coverage.sought = False
        self.coverage.disordered = True
        after = self.next_number
        self.before = self.mild = None
        self.next_number = self.coverage.first_line = 1
        self._read(0, part.start, stopped)
        self.before = self.mild = None
        self.next_number = after
        if part.end < self.file.size_bytes:
            self._read(part.end, None, stopped)

    def _time_of(self, line: bytes) -> float | None:
        text = _text(line.rstrip(b"\r\n"))
        if self.wrapper:
            wrapped = WRAPPERS[self.wrapper](text)
            return parse_time(wrapped.time, self.clock) if wrapped is not None else None
        return parse_line(text, self.inner, self.clock).time

    def _read(self, start: int, end: int | None, stopped: Callable[[], bool]) -> None:
        if end is not None and end <= start:
            return
        first = self.next_number
        try:
            with open_log(self.file.path) as stream:
                for chunk in read_chunks(stream, stopped, start, end):
                    self._take(chunk, stopped)
                    if stopped() and chunk.line_bytes:
                        raise _Stopped
        except (OSError, UnreadableLog) as error:
            reason = (error.strerror or "") if isinstance(error, OSError) else str(error)
            read = self.next_number - first
            self._finish()
            raise UnreadableLog(f"can't be read{f' after line {read:,}' if read else ''}: {reason}") from error
        self._finish()

    def _finish(self) -> None:
        """Look at the entries that nothing can be added to any more."""
        for entry in self.assembler.finish():
            self._look_at(entry)

    def _take(self, chunk: Chunk, stopped: Callable[[], bool]) -> None:
        """Look at the lines of a chunk, or at those of them that a sieve lets through; count them all."""
        data = chunk.data
        if self.coverage.sought:
            self._look_at_order(data)
        if self.sieve is None or chunk.line_bytes:
            self._feed(chunk, 0, len(data), stopped)
            return
        position = 0
        for start, end in self.sieve.lines(data, self._is_mild if self.peeks else None):
            if start > position:
                passed = data.count(b"\n", position, start)
                self._count(passed)
                self._finish()
                self.mild = None
                self.before = _Before(data, start)
            self._feed(chunk, start, end, stopped)
            position = end
        if position < len(data):
            self._count(data.count(b"\n", position) + (not data.endswith(b"\n")))
        if stopped():
            raise _Stopped

    def _look_at_order(self, data: bytes) -> None:
        moment = next((found for line in data.split(b"\n", 5)[:5] if (found := self._time_of(line)) is not None), None)
        if moment is not None:
            self.coverage.places += 1
            self._note_order(moment)

    def _count(self, lines: int) -> None:
        self.next_number += lines if self.coverage.first_line else 0
        self.coverage.lines += lines
        self.tally.scanned += lines

    def _feed(self, chunk: Chunk, start: int, end: int, stopped: Callable[[], bool]) -> None:
        offset = chunk.offset + start
        for line in _lines(chunk.data[start:end]):
            if self.coverage.lines % _CHECK_EVERY_LINES == 0 and stopped():
                raise _Stopped
            number = self.next_number
            self._count(1)
            total = chunk.line_bytes or len(line)
            kept = line
            if total > MAX_LINE_BYTES:
                kept = line[:MAX_LINE_BYTES]
                self._note_long_line(number, total - line.endswith(b"\r"), len(kept))
            if not self._passes_over(kept, number, offset):
                for entry in self.assembler.feed(kept.removesuffix(b"\r"), number, offset):
                    self._look_at(entry)
            offset += len(line) + 1

    def _is_mild(self, line: bytes) -> bool:
        return self.query.level is not None and surely_milder(line, self.inner, self.query.level)

    def _passes_over(self, line: bytes, number: int, offset: int) -> bool:
        """Is this line surely too mild? It waits, since the next line might make it an entry of several lines."""
        if not self.peeks:
            return False
        head = not may_continue(line, 0)
        mild, self.mild = self.mild, None
        if mild is not None:
            if head:
                self.before = mild[0]
            else:
                for entry in self.assembler.feed(*mild):
                    self._look_at(entry)
        if not head or not self._is_mild(line):
            return False
        self._finish()
        self.mild = (line.removesuffix(b"\r"), number, offset)
        return True

    def _note_long_line(self, number: int, total: int, kept: int) -> None:
        self.long_lines += 1
        if self.long_lines <= _MAX_LONG_LINES_NAMED:
            self.tally.problems.append(
                f"{self.file.name} line {number:,} is {total:,} bytes long; only the first {kept:,} were looked at"
            )

    def _look_at(self, entry: Entry) -> None:
        query = self.query
        text = _text(b"\n".join(entry.lines))
        where = f"{self.file.name}:{entry.number}"
        if entry.cut:
            self._note_cut_entry(entry)
        # What has no backslash says the same raw as understood, so that most lines need not be understood at all.
        every = self.whole or (query.needs_every_line and self.sieve is None)
        if not every and "\\" not in text and not has_words(query, self.needle, text, None, where):
            self.before = text
            return
        line, line_time = self._understand(text, entry)
        service = line.service or self.file_service
        if every or query.needs_every_line:
            self.tally.saw(service, line_time)
        if not self._is_of_service(service):
            return
        words = has_words(query, self.needle, text, line, where)
        if not words:
            return
        verdict = fits(query, line, line_time)
        if verdict == "yes":
            self._add(entry, text, line, line_time, words)
        elif verdict == "level":
            self.tally.without_level += 1
        elif verdict == "time":
            self.tally.without_time += 1

    def _add(
        self, entry: Entry, text: str, line: LogLine, line_time: float | None, words: "regex.Match[str] | bool"
    ) -> None:
        groups = words if not isinstance(words, bool) else None
        at = groups.start() if groups is not None else max(0, text.casefold().find(self.needle))
        found = Found(
            *(line, text, self.file.name, entry.number, line.service or self.file_service, line_time, groups, at),
            *(entry.offset, entry.count, cause_of(text.partition("\n")[2]) if entry.count > 1 else ""),
        )
        self.tally.add(found, self.query, self.zone, self.file.age)

    def _note_cut_entry(self, entry: Entry) -> None:
        self.tally.problems.append(
            f"{self.file.name} line {entry.number:,} begins an entry of {entry.count:,} lines; only the first "
            f"{len(entry.lines):,} were looked at"
        )

    def _understand(self, text: str, entry: Entry) -> tuple[LogLine, float | None]:
        """The entry, and its time: its own, else that of the entry just before it, if that has one."""
        head, _, rest = text.partition("\n")
        line = parse_line(head, self.inner, self.clock)
        if entry.time:
            fields = {**line.fields, "stream": entry.stream}
            written = parse_time(entry.time, self.clock)
            line = replace(line, time=written if line.time is None else line.time, fields=fields)
        if rest:
            level = line.level or level_in_words(rest)
            line = replace(line, message=f"{line.message}\n{rest}", level=level)
        before = self.before
        self.before = line
        if line.time is not None:
            self._note_order(line.time)
            return line, line.time
        if isinstance(before, _Before):
            before = entry_before(before.data, before.start)
        if isinstance(before, bytes):
            before = _text(before)
        if isinstance(before, str):
            before = parse_line(before.partition("\n")[0], self.inner, self.clock)
        return line, before.time if before is not None else None

    def _note_order(self, moment: float) -> None:
        if self.latest is not None and moment < self.latest - SLACK_SECONDS:
            self.disordered = True
        self.latest = moment if self.latest is None else max(self.latest, moment)

    def _is_of_service(self, service: str) -> bool:
        wanted = self.wanted_service
        return not wanted or wanted in (normal_service(service), normal_service(self.file_service))


_COLOUR = regex.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def _lines(data: bytes) -> Iterator[bytes]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return iter(lines)


def _text(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return _COLOUR.sub("", text) if "\x1b" in text else text


__all__ = ["LARGE_BYTES", "Scan"]
