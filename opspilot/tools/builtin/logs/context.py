"""The lines around a line that was found. Reads them where they stand; knows nothing of what a line says."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from opspilot.tools.builtin.logs.chunks import UnreadableLog, open_log
from opspilot.tools.builtin.logs.evidence import Evidence

_BEFORE_BYTES = 64 * 1024
_LINE_BYTES = 16 * 1024
_LINE_CHARACTERS = 200
_MAX_CHARACTERS = 4_000

Around = tuple[list[str], list[str]]


def lines_around(
    found: Iterable[Evidence], count: int, paths: Mapping[str, Path], stopped: Callable[[], bool]
) -> dict[tuple[str, int], Around]:
    """The `count` lines before and after each entry, by its file and offset, until 4,000 characters are reached."""
    around: dict[tuple[str, int], Around] = {}
    left = _MAX_CHARACTERS
    for evidence in found:
        if stopped() or left <= 0:
            break
        try:
            with open_log(paths[evidence.file]) as stream:
                lines = _around(stream, evidence, count)
        except (OSError, UnreadableLog, EOFError):
            continue
        left -= sum(len(line) for part in lines for line in part)
        around[evidence.file, evidence.offset] = lines
    return around


def _around(stream: BinaryIO, evidence: Evidence, count: int) -> Around:
    start = max(0, evidence.offset - _BEFORE_BYTES)
    stream.seek(start)
    data = stream.read(evidence.offset - start)
    earlier = data.split(b"\n")[:-1]
    if start:
        earlier = earlier[1:]
    for _ in range(evidence.lines):
        while (piece := stream.readline(_LINE_BYTES)) and not piece.endswith(b"\n"):
            pass
    later = []
    for _ in range(count):
        piece = line = stream.readline(_LINE_BYTES)
        while piece and not piece.endswith(b"\n"):
            piece = stream.readline(_LINE_BYTES)
        if not line:
            break
        later.append(line)
    return [_shown(line) for line in earlier[-count:]], [_shown(line) for line in later]


def _shown(line: bytes) -> str:
    text = line.rstrip(b"\r\n").decode("utf-8", "replace")
    return text if len(text) <= _LINE_CHARACTERS else text[: _LINE_CHARACTERS - 1] + "…"
