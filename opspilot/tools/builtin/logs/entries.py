"""Which lines are one entry: a stack trace belongs to the line it follows, pieces of a long line are one line.

Pure. An entry begins at a line that can't continue another one whatever came before it, so that reading may begin at
any such line and sees the same entries as reading from the file's beginning.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from opspilot.tools.builtin.logs.wrappers import Unwrap

MAX_ENTRY_LINES = 1000
MAX_ENTRY_BYTES = 256 * 1024
"""Of a longer entry the rest is counted as a part of it, but not looked at."""

_MAY_CONTINUE = re.compile(
    rb"[ \t\r\n]|$|Traceback \(most|Caused by:|Suppressed:|During handling of|The above exception|\.\.\. \d+ more"
    rb"|[A-Za-z_$][\w$.]*(?:: |:?\r?(?:\n|$))"
)
_FRAME = re.compile(rb'[ \t]+(?:at [\w$.<>/]|File "|\.\.\. \d+ (?:more|common))')
_CHAIN = re.compile(rb"Caused by: |Suppressed: |\.\.\. \d+ more|During handling of the above|The above exception was")
_JAVA_EXCEPTION = re.compile(rb"(?:[a-z_$][\w$]*\.)+[A-Z][\w$]*(?:: |$)")
_PYTHON_END = re.compile(rb"[A-Za-z_][\w.]*(?:: |:?$)")
_TRACEBACK = b"Traceback (most recent call last)"
_LEVEL_BEFORE_TRACE = re.compile(rb"(?i)error|critical|fatal|exception|failed|severe")


@dataclass(slots=True)
class Entry:
    """Lines that are one. `number` and `offset` are where the first stands; `count` lines, of which `lines` were kept.

    `time` and `stream` are what a container runtime wrote around it.
    """

    number: int
    offset: int
    lines: list[bytes]
    count: int = 1
    total_bytes: int = 0
    time: str = ""
    stream: str = ""
    line_bytes: int = 0
    in_trace: str = ""
    unfinished: bool = False

    def add(self, line: bytes) -> None:
        """One more line."""
        self.count += 1
        self.total_bytes += len(line)
        if self.count <= MAX_ENTRY_LINES and self.total_bytes <= MAX_ENTRY_BYTES:
            self.lines.append(line)

    @property
    def cut(self) -> bool:
        """Is there more of it than was kept?"""
        return self.count > MAX_ENTRY_LINES or self.total_bytes > MAX_ENTRY_BYTES


def may_continue(data: bytes, position: int) -> bool:
    """Could the line that begins at this place belong to the one before it? False is certain."""
    return _MAY_CONTINUE.match(data, position) is not None


@dataclass
class Assembler:
    """Makes entries of lines. `heads`: lines of this file begin with a time, so that indented ones continue another."""

    heads: bool
    json: bool = False
    unwrap: Unwrap | None = None
    _open: dict[str, Entry] = field(default_factory=dict)

    def feed(self, line: bytes, number: int, offset: int, line_bytes: int = 0) -> Iterator[Entry]:
        """Take the next line, without its end; gives the entries that are complete now."""
        time = stream = ""
        partial = False
        if self.unwrap is not None:
            wrapped = self.unwrap(line.decode("utf-8", "replace"))
            if wrapped is not None:
                time, stream, partial = wrapped.time, wrapped.stream, wrapped.partial
                line = wrapped.content.encode()
        last = self._open.get(stream)
        if last is not None and last.unfinished:
            last.lines[-1] += line if len(last.lines[-1]) < MAX_ENTRY_BYTES else b""
            last.count += 1
            last.unfinished = partial
            return
        if last is not None and may_continue(line, 0) and self._joins(last, line):
            last.add(line)
            last.unfinished = partial
            return
        entry = Entry(number, offset, [line], 1, len(line), time, stream, line_bytes, unfinished=partial)
        if line.startswith(_TRACEBACK):
            entry.in_trace = "python"
        self._open[stream] = entry
        if last is not None:
            yield last

    def finish(self) -> list[Entry]:
        """The entries that were still open, in their order: there is nothing more to come."""
        rest = sorted(self._open.values(), key=lambda entry: entry.number)
        self._open.clear()
        return rest

    def _joins(self, last: Entry, line: bytes) -> bool:
        if self.json and last.lines[0].startswith(b"{"):
            return False  # an object is whole: what stands between objects was written by something else
        blank = not line.strip()
        if line[:1] in b" \t" or blank:
            if self.json and line.lstrip()[:1] == b"{":
                return False
            if _FRAME.match(line):
                last.in_trace = last.in_trace or ("python" if b'File "' in line else "java")
                return True
            return self.heads or (bool(last.in_trace) and (not blank or last.in_trace != "java"))
        if line.startswith(_TRACEBACK):
            joins = self.heads or bool(last.in_trace) or _LEVEL_BEFORE_TRACE.search(last.lines[0]) is not None
            last.in_trace = "python" if joins else last.in_trace
            return joins
        if _CHAIN.match(line):
            return self.heads or bool(last.in_trace)
        if last.in_trace == "python" and _PYTHON_END.match(line):
            last.in_trace = "python-end"
            return True
        if self.heads and _JAVA_EXCEPTION.match(line):
            last.in_trace = "java"
            return True
        return False


_CAUSE = re.compile(
    r"(?m)^\s*(?:Caused by: )?"
    r"((?:[A-Za-z_$][\w$]*\.)*[A-Z][\w$]*(?:Error|Exception|Throwable|Exit|Interrupt|Warning)\b[^\n]*)"
)


def cause_of(rest: str) -> str:
    """The exception that lies at the bottom of a trace: the last one that its lines name; empty when none is named."""
    causes = _CAUSE.findall(rest)
    return str(causes[-1]).strip() if causes else ""
