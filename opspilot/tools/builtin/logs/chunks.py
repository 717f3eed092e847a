"""Log files as chunks of whole lines, in bounded memory. Knows nothing of what a line says."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

MAX_LINE_BYTES = 256 * 1024
"""Of a longer line only this much is looked at."""

CHUNK_BYTES = 1024 * 1024
_LOOK_BYTES = 4096
_GZIP = b"\x1f\x8b"
_UNUSABLE = {
    b"BZh": "is compressed with bzip2; plain and gzip files are searched",
    b"\xfd7zXZ": "is compressed with xz; plain and gzip files are searched",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; plain and gzip files are searched",
    b"PK\x03\x04": "is compressed with zip; plain and gzip files are searched",
}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0b\x0c\x1b\x08")


class UnreadableLog(Exception):
    """A log that can't be read, or not any further. The text is fit for a person and doesn't name the file."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines, of which the file's last may lack its line feed.

    `offset` is where they begin, in bytes of the (unpacked) file. `line_bytes` above 0: this is the beginning of one
    line, without its line feed, that is so long in all.
    """

    data: bytes
    offset: int
    line_bytes: int = 0


def open_log(path: Path) -> BinaryIO:
    """The bytes of a plain or gzipped log. Raises `UnreadableLog` for what is no text, `OSError` otherwise."""
    stream = path.open("rb")
    try:
        head = stream.read(_LOOK_BYTES)
        stream.seek(0)
        if head.startswith(_GZIP):
            return cast(BinaryIO, _GzipFile(stream))
        for magic, problem in _UNUSABLE.items():
            if head.startswith(magic):
                raise UnreadableLog(problem)
        if head.startswith(_UTF_16) and b"\x00" in head:
            raise UnreadableLog("is UTF-16; UTF-8 files are searched (iconv -f UTF-16 -t UTF-8 makes one)")
        controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head)
        if controls * 10 > len(head) * 3:
            raise UnreadableLog("is not text")
    except BaseException:
        stream.close()
        raise
    return stream


def read_chunks(
    stream: BinaryIO, stopped: Callable[[], bool], start: int = 0, end: int | None = None
) -> Iterator[Chunk]:
    """The lines from `start` (where a line begins) on, up to `end`. Ends inside an endless line once `stopped`.

    Raises `UnreadableLog` after the last line that can be read.
    """
    read = cast(Callable[[int], bytes], getattr(stream, "read1", stream.read))
    if start:
        stream.seek(start)
    buffer = bytearray()
    offset = start
    failure: Exception | None = None
    at_end = False
    while not at_end:
        want = CHUNK_BYTES if end is None else min(CHUNK_BYTES, end - offset)
        while len(buffer) < want and failure is None and not at_end:
            try:
                piece = read(want - len(buffer))
            except (OSError, EOFError, zlib.error) as error:
                failure = error
            else:
                buffer += piece
                at_end = not piece
        at_end = at_end or failure is not None or (end is not None and offset + len(buffer) >= end)
        if not buffer:
            break
        cut = len(buffer) if at_end else buffer.rfind(b"\n") + 1
        if cut:
            data = bytes(buffer[:cut])
            del buffer[:cut]
            bom = len(_BOM) if offset == 0 and data.startswith(_BOM) else 0
            yield Chunk(data[bom:], offset + bom)
            offset += cut
        else:
            head = bytes(buffer[:MAX_LINE_BYTES])
            try:
                total, end_bytes, rest = _end_of_line(read, buffer, stopped)
            except (OSError, EOFError, zlib.error) as error:
                failure = error
                total, end_bytes, rest = len(buffer), 0, None
            yield Chunk(head, offset, total)
            if rest is None:
                break
            offset += total + end_bytes
            buffer = rest
    if failure is not None:
        reason = failure.strerror if isinstance(failure, OSError) and failure.strerror else f"it is damaged ({failure})"
        raise UnreadableLog(reason) from failure


def _end_of_line(
    read: Callable[[int], bytes], buffer: bytearray, stopped: Callable[[], bool]
) -> tuple[int, int, bytearray | None]:
    """How long an endless line is, how long its end, and what was read of the lines behind it (None without any)."""
    total = len(buffer)
    before = bytes(buffer[-1:])
    while not stopped():
        piece = read(CHUNK_BYTES)
        if not piece:
            break
        at = piece.find(b"\n")
        if at < 0:
            total += len(piece)
            before = piece[-1:]
            continue
        total += at
        returns = (piece[at - 1 : at] if at else before) == b"\r"
        return total - returns, 1 + returns, bytearray(piece[at + 1 :])
    return total, 0, None


def count_lines(path: Path, end: int, stopped: Callable[[], bool], look: Callable[[bytes], None]) -> int | None:
    """How many lines there are before the byte `end` of a plain file; None if stopped before it was reached.

    `look` is shown a piece of every megabyte, from the beginning of its first whole line on.
    """
    lines = 0
    left = end
    with path.open("rb") as stream:
        while left > 0:
            if stopped():
                return None
            block = stream.read(min(CHUNK_BYTES, left))
            if not block:
                return None
            lines += block.count(b"\n")
            left -= len(block)
            look(block[block.find(b"\n") + 1 :][:_LOOK_BYTES])
    return lines


def is_packed(stream: BinaryIO) -> bool:
    """Is this a stream of `open_log` that unpacks, in which one can't jump ahead?"""
    return isinstance(stream, _GzipFile)


class _GzipFile(gzip.GzipFile):
    """Closes the file below it, which `gzip.GzipFile` leaves open when it was given one."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(fileobj=stream, mode="rb")
        self._below = stream

    def close(self) -> None:
        """Close both."""
        super().close()
        self._below.close()
