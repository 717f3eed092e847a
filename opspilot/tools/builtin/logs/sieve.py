"""Passing over lines that can't match by looking at their bytes alone, so that most need not be understood.

Pure. A sieve never decides that a line matches: whatever it lets through is looked at in full.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from opspilot.tools.builtin.logs.entries import may_continue
from opspilot.tools.builtin.logs.levels import RANK, Level, level_named

_FOLDS_TO_ASCII = (
    "\u00df\u0130\u0149\u017f\u01f0\u1e96\u1e97\u1e98\u1e99\u1e9a\u1e9e\u212a\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
)
_FOLDING = re.compile(b"|".join(character.encode() for character in _FOLDS_TO_ASCII))
"""Characters beyond ASCII that are ASCII letters when case is ignored (Unicode's CaseFolding.txt)."""

_SAFE_RUN = re.compile("[\u3000-\u9fff\uac00-\ud7a3]+|[\x20-\x7e]+")
"""Runs of characters whose bytes are known in any case: Chinese, Japanese, Korean, and ASCII."""

_ESCAPES = (b"\\", b"\x1b")
"""A line with these may say in other bytes what is looked for: JSON's escapes, and colours within words."""


@dataclass(frozen=True)
class Sieve:
    """`needle`: lower-case bytes that a line must hold, in any case, unless it holds something that may spell it."""

    needle: bytes

    def lines(self, data: bytes, mild: Callable[[bytes], bool] | None = None) -> list[tuple[int, int]]:
        """Parts of a chunk (start, end) that hold all entries which may match.

        The first and the last entry are always among them, since they may go on in another chunk. `mild` says of a
        line that it can't match by itself.
        """
        starts = {0, _line_start(data, len(data.rstrip(b"\n")))}
        lowered = data.lower()
        for needle in (self.needle, *_ESCAPES):
            position = lowered.find(needle)
            while position >= 0:
                start, end = _line_start(data, position), _line_end(data, position)
                if mild is None or not mild(data[start:end]) or _has_company(data, start, end):
                    starts.add(start)
                position = lowered.find(needle, end)
        if not data.isascii():
            starts.update(_line_start(data, match.start()) for match in _FOLDING.finditer(data))
        parts: list[tuple[int, int]] = []
        for start in sorted(starts):
            if parts and start < parts[-1][1]:
                continue
            begin = entry_start(data, start)
            end = _line_end(data, start)
            while end < len(data) and may_continue(data, end):
                end = _line_end(data, end)
            if parts and begin <= parts[-1][1]:
                parts[-1] = (parts[-1][0], end)
            else:
                parts.append((begin, end))
        return parts


def sieve_for(words: str) -> Sieve | None:
    """A sieve for lines that contain these words in any case; None when their bytes can't be told."""
    runs = [run.encode().lower() for run in _SAFE_RUN.findall(words)]
    needle = max((run for run in runs if run.strip()), key=len, default=b"")
    return Sieve(needle) if needle else None


def _line_start(data: bytes, position: int) -> int:
    return data.rfind(b"\n", 0, max(position, 0)) + 1


def entry_before(data: bytes, start: int) -> bytes:
    """The entry before the one that begins at this place; empty when there is none."""
    return data[entry_start(data, _line_start(data, start - 1)) : start] if start else b""


def _line_end(data: bytes, position: int) -> int:
    return data.find(b"\n", position) + 1 or len(data)


def _has_company(data: bytes, start: int, end: int) -> bool:
    """Might the line be one of several of an entry?"""
    return may_continue(data, start) or (end < len(data) and may_continue(data, end))


def entry_start(data: bytes, start: int) -> int:
    """Where the entry begins that the line at this place is of, as far as these bytes go."""
    while start > 0 and may_continue(data, start):
        start = _line_start(data, start - 1)
    return start


_JSON_LEVEL = re.compile(rb'"level"\s*:\s*"([^"\\]{1,20})"')
_LOGFMT_LEVEL = re.compile(rb"(?:^|\s)level=([A-Za-z]{1,20})(?=\s|$)")


def surely_milder(line: bytes, format_name: str, level: Level) -> bool:
    """Does a line of JSON or logfmt say, where nothing else can be meant, that it is milder than this level?"""
    if format_name == "json":
        match = _JSON_LEVEL.search(line)
        if match is None or line.count(b"{", 0, match.start()) != 1 or line.find(b'"level"', match.end()) >= 0:
            return False
    elif format_name == "logfmt":
        match = _LOGFMT_LEVEL.search(line)
        if match is None or b'"' in line[: match.start()] or line.find(b"level=", match.end()) >= 0:
            return False
    else:
        return False
    said = _LEVELS_SEEN.get(match[1])
    if said is None:
        said = _LEVELS_SEEN.setdefault(match[1], level_named(match[1].decode("utf-8", "replace")) or "")
        if len(_LEVELS_SEEN) > 500:
            _LEVELS_SEEN.clear()
    return said != "" and RANK[said] < RANK[level]


_LEVELS_SEEN: dict[bytes, str] = {}
"""What spellings of levels mean: pure memory, so that each is looked up once."""
