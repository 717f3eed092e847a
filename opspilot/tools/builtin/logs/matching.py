"""Whether an entry of a log is what was asked for. Pure; knows neither files nor what is counted."""

from dataclasses import dataclass

import regex

from opspilot.tools.builtin.logs.levels import RANK, Level
from opspilot.tools.builtin.logs.line import LogLine

_SECONDS_PER_LINE = 1.0


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
    sort_by: str = ""
    ascending: bool = False
    limit: int = 10

    @property
    def needs_every_line(self) -> bool:
        """Must lines be understood even where the text isn't in them? For the time before them, or their service."""
        return bool(self.service) or self.has_range

    @property
    def has_range(self) -> bool:
        """Is a time range asked for?"""
        return self.since is not None or self.until is not None


def has_words(query: Query, needle: str, text: str, line: LogLine | None, where: str) -> "regex.Match[str] | bool":
    """Are the query's text and pattern in the entry, or in what it says? A match of the pattern is given back.

    `needle` is the query's text in folded case. Raises `PatternTooSlow`.
    """
    if needle and needle not in text.casefold() and not (line is not None and needle in _said(line).casefold()):
        return False
    if query.pattern is None:
        return True
    try:
        found = query.pattern.search(text, timeout=_SECONDS_PER_LINE, concurrent=True)
        if found is None and line is not None and "\\" in text:
            found = query.pattern.search(_said(line), timeout=_SECONDS_PER_LINE, concurrent=True)
            if found is None:
                found = query.pattern.search(line.message, timeout=_SECONDS_PER_LINE, concurrent=True)
    except TimeoutError as error:
        raise PatternTooSlow(where) from error
    return found or False


def _said(line: LogLine) -> str:
    """The message and the fields as they are meant: JSON spells them with escapes."""
    values = [value for value in line.fields.values() if value != line.message]
    return "\n".join([line.message, *values])


def fits(query: Query, line: LogLine, line_time: float | None) -> str:
    """`yes`, `no`, or what a line that is right otherwise lacks: `level` or `time`."""
    if query.level is not None and line.level is not None and RANK[line.level] < RANK[query.level]:
        return "no"
    if line_time is not None:
        if query.since is not None and line_time < query.since:
            return "no"
        if query.until is not None and line_time > query.until:
            return "no"
    if query.level is not None and line.level is None:
        return "level"
    return "time" if line_time is None and query.has_range else "yes"
