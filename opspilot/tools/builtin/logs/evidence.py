"""What is kept of matching lines: evidence to be quoted, and groups of lines that are alike."""

from dataclasses import dataclass

from opspilot.tools.builtin.logs.levels import Level
from opspilot.tools.builtin.logs.values import Found

_EVIDENCE_CHARACTERS = 300
_ENTRY_CHARACTERS = 700
_BEFORE_MATCH_CHARACTERS = 80
_EXAMPLE_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is kept of a matching line or entry. `text` is all of it, or what surrounds the match, or head and end.

    `line` is the number of its first line, `offset` where that begins, in bytes; `lines` are how many it has.
    `value` is the number that it was ranked by.
    """

    file: str
    line: int
    offset: int
    time: float | None
    level: Level | None
    service: str
    text: str
    lines: int = 1
    value: float | None = None

    @classmethod
    def of(cls, found: Found, value: float | None = None) -> "Evidence":
        """The line as evidence; an ellipsis stands where something was cut."""
        text = found.text.strip()
        shown = _excerpt(text, found.at) if found.lines == 1 else _entry(text, found.at)
        return cls(
            *(found.file, found.number, found.offset, found.time, found.line.level, found.service, shown),
            *(found.lines, value),
        )


def _excerpt(text: str, at: int) -> str:
    start = 0
    if len(text) > _EVIDENCE_CHARACTERS and at > _EVIDENCE_CHARACTERS - _BEFORE_MATCH_CHARACTERS:
        start = at - _BEFORE_MATCH_CHARACTERS
    end = start + _EVIDENCE_CHARACTERS
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def _entry(text: str, at: int) -> str:
    """A stack trace: its beginning and its end, where the exceptions stand, and the match between them."""
    if len(text) <= _ENTRY_CHARACTERS:
        return text
    head = text[:_EVIDENCE_CHARACTERS].rpartition("\n")[0] or text[:_EVIDENCE_CHARACTERS]
    tail = text[-_EVIDENCE_CHARACTERS:].partition("\n")[2] or text[-_EVIDENCE_CHARACTERS:]
    between = ""
    if len(head) <= at < len(text) - len(tail):
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        between = f"{text[start : end if end >= 0 else len(text)][:_EVIDENCE_CHARACTERS]}\n…\n"
    return f"{head}\n…\n{between}{tail}"


@dataclass(slots=True)
class Group:
    """Lines that are alike in something: how many, from when to when, and where the first of them stands."""

    file: str
    line: int
    offset: int
    example: str = ""
    count: int = 0
    first: float | None = None
    last: float | None = None
    numbers: int = 0
    total: float = 0.0
    largest: float = float("-inf")

    @classmethod
    def of(cls, found: Found, *, with_text: bool = False) -> "Group":
        """A group that begins with this line, which isn't counted yet."""
        text = ""
        if with_text:
            text = found.line.message.partition("\n")[0].strip()
            text = text if len(text) <= _EXAMPLE_CHARACTERS else text[: _EXAMPLE_CHARACTERS - 1] + "…"
        return cls(found.file, found.number, found.offset, text)

    def add(self, time: float | None, value: float | None = None) -> None:
        """Count one more, from this time, with this number."""
        self.count += 1
        if time is not None:
            self.first = time if self.first is None else min(self.first, time)
            self.last = time if self.last is None else max(self.last, time)
        if value is not None:
            self.numbers += 1
            self.total += value
            self.largest = max(self.largest, value)

    def merge(self, other: "Group") -> None:
        """Take over what another group has counted; the example stays."""
        self.count += other.count
        for time in (other.first, other.last):
            if time is not None:
                self.first = time if self.first is None else min(self.first, time)
                self.last = time if self.last is None else max(self.last, time)
        self.numbers += other.numbers
        self.total += other.total
        self.largest = max(self.largest, other.largest)
