"""Keeping answers honest: a line is written only if what it quotes stands in what the tools returned.

The last check on every answer. It knows nothing of how answers are made.
"""

import re
from collections.abc import Iterable

from opspilot.core.messages import Json
from opspilot.models.demo.findings import scalar
from opspilot.models.demo.history import Done
from opspilot.models.demo.wording import wording

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
CUT = "…"


class Sheet:
    """An answer in the making. Collects lines, and drops each that quotes what no tool returned."""

    def __init__(self, calls: Iterable[Done], *, chinese: bool) -> None:
        self.chinese = chinese
        self._lines: list[str] = []
        self._sources = "\n".join(text for call in calls for text in (*texts_of(call.data), call.message))

    def write(self, key: str, *, own: dict[str, str] | None = None, **quoted: str) -> bool:
        """Write one of the planner's sentences. `quoted` must come from results; `own` are names of tools and such."""
        if not all(self.holds(value, place=name == "place") for name, value in quoted.items()):
            return False
        values = {name: one_line(value) for name, value in quoted.items()} | (own or {})
        self._lines.append(wording(key, chinese=self.chinese, **values))
        return True

    def add(self, key: str, *, own: dict[str, str] | None = None, **quoted: str) -> None:
        """Write on at the end of the last line."""
        if self.write(key, own=own, **quoted) and len(self._lines) > 1:
            tail = self._lines.pop()
            self._lines[-1] += tail

    def quote(self, lines: Iterable[str]) -> None:
        """Lines of a document as a block quote."""
        self._lines += [f"> {line}" for line in lines if self.holds(line)]

    @property
    def lines(self) -> tuple[str, ...]:
        """What was written, line by line."""
        return tuple(self._lines)

    def append(self, other: "Sheet") -> None:
        """All lines of another sheet."""
        self._lines += other.lines

    def gap(self) -> None:
        """An empty line."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def holds(self, quoted: str, *, place: bool = False) -> bool:
        """Does this stand in a result, word for word? Of a `place` such as `file:line` each part must."""
        text = quoted.removesuffix(CUT)
        if text in self._sources:
            return True
        source, mark, line = text.rpartition(":")
        return place and bool(mark) and source in self._sources and line in self._sources

    @property
    def text(self) -> str:
        """The answer."""
        return "\n".join(self._lines).strip()


def short(text: str, most_characters: int) -> str:
    """The beginning of a long text, marked as such. Never cuts a word or a number in two, unless it is all one."""
    text = text.strip()
    if len(text) <= most_characters:
        return text
    cut = text[:most_characters]
    whole = re.sub(r"\w+$", "", cut).rstrip() if text[most_characters].isalnum() else cut.rstrip()
    return (whole or re.sub(r"\d+$", "", cut)) + CUT


def one_line(text: str) -> str:
    """A quoted text in one line: line breaks would end the list item that it stands in."""
    return re.sub(r"[\r\n\u2028\u2029\x85\x0b\x0c]+", " ", text).strip()


def texts_of(data: Json) -> Iterable[str]:
    """All scalars and keys of a result as text."""
    pending = [data]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield from (str(key) for key in node)
            pending += node.values()
        elif isinstance(node, list):
            pending += node
        else:
            yield scalar(node)


def numbers(text: str) -> frozenset[str]:
    """The numbers that a text holds, as it spells them."""
    return frozenset(_NUMBER.findall(text))
