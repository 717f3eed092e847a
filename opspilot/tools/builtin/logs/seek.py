"""Finding the part of a log that a time range lies in, without reading the rest.

A log that grows is ordered by time, as good as always. Whether this one is, is looked at in many places; whoever uses
the answer looks again at what is read, and reads everything when it isn't so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

SLACK_SECONDS = 60.0
"""How far a line's time may lie before an earlier line's: programs with several threads write that way."""

_PLACES = 64
_CLOSE_BYTES = 64 * 1024
_LINES_TRIED = 200
_MAX_LINE_BYTES = 256 * 1024

TimeOf = Callable[[bytes], float | None]


@dataclass(frozen=True)
class Part:
    """The bytes from `start` to `end` hold the range. Lines begin at both. `places` were looked at."""

    start: int
    end: int
    places: int


@dataclass(frozen=True)
class _Mark:
    offset: int
    time: float


def part_with(stream: BinaryIO, size: int, time_of: TimeOf, since: float | None, until: float | None) -> Part | None:
    """The part of a file with the lines from `since` to `until`; None when the file is in no order by time."""
    marks: list[_Mark] = []
    for place in range(_PLACES):
        mark = _mark_after(stream, size * place // _PLACES, size, time_of)
        if mark is not None and (not marks or mark.offset > marks[-1].offset):
            marks.append(mark)
    latest = float("-inf")
    for mark in marks:
        if mark.time < latest - SLACK_SECONDS:
            return None
        latest = max(latest, mark.time)
    if len(marks) < _PLACES // 4:
        return None
    start, end = 0, size
    if since is not None:
        start = _last_before(stream, size, time_of, marks, since - SLACK_SECONDS)
    if until is not None:
        end = _first_after(stream, size, time_of, marks, until + SLACK_SECONDS)
    return Part(start, max(start, end), len(marks))


def _mark_after(stream: BinaryIO, offset: int, size: int, time_of: TimeOf) -> _Mark | None:
    """The first line with a time that begins at or after this place."""
    if offset:
        stream.seek(offset - 1)
        stream.readline(_MAX_LINE_BYTES)
    else:
        stream.seek(0)
    for _ in range(_LINES_TRIED):
        begin = stream.tell()
        line = stream.readline(_MAX_LINE_BYTES)
        if not line or begin >= size:
            return None
        time = time_of(line)
        if time is not None:
            return _Mark(begin, time)
    return None


def _last_before(stream: BinaryIO, size: int, time_of: TimeOf, marks: list[_Mark], moment: float) -> int:
    """A line before which all are earlier than the moment, at most 64 KiB before the first that isn't."""
    low = max((mark.offset for mark in marks if mark.time < moment), default=0)
    high = min((mark.offset for mark in marks if mark.time >= moment), default=size)
    while high - low > _CLOSE_BYTES:
        middle = (low + high) // 2
        mark = _mark_after(stream, middle, size, time_of)
        if mark is None or mark.time >= moment or mark.offset >= high:
            high = middle
        else:
            low = mark.offset
    return low


def _first_after(stream: BinaryIO, size: int, time_of: TimeOf, marks: list[_Mark], moment: float) -> int:
    """A line from which on all are later than the moment, or the file's end."""
    low = max((mark.offset for mark in marks if mark.time <= moment), default=0)
    high = min((mark.offset for mark in marks if mark.time > moment), default=size)
    while high - low > _CLOSE_BYTES:
        middle = (low + high) // 2
        mark = _mark_after(stream, middle, size, time_of)
        if mark is None or mark.offset >= high:
            break
        if mark.time > moment:
            high = mark.offset
        else:
            low = mark.offset
    return high
