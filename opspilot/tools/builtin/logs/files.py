"""Finding log files and reading their lines as a stream, in bounded memory. Knows nothing of what a line says."""

import fnmatch
import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast

MAX_LINE_BYTES = 256 * 1024
"""Of a longer line only this much is looked at."""

_LOOK_BYTES = 4096
_SKIP_BYTES = 1024 * 1024
_GZIP = b"\x1f\x8b"
_OTHER_COMPRESSION = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
_BOM = b"\xef\xbb\xbf"
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0b\x0c\x1b\x08")


@dataclass(frozen=True)
class LogFile:
    """A log file. `name` is its path relative to the configured folder, with `/` between its parts."""

    path: Path
    name: str
    written: datetime


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line without its end (LF or CR LF). `number` counts from 1; `total_bytes` is above `data`'s if it was cut."""

    number: int
    data: bytes
    total_bytes: int


class UnreadableLog(Exception):
    """A log that can't be read, or not any further. The text is fit for a person and doesn't name the file."""


def find_logs(root: Path, exclude: Sequence[str]) -> tuple[list[LogFile], list[str]]:
    """The files under a folder (or the one file), latest first, and a sentence for each that can't be used."""
    problems: list[str] = []
    if root.is_file():
        paths = [root]
        base = root.parent
    else:
        base = root
        paths = []
        for folder, folders, names in os.walk(root, onerror=lambda error: problems.append(_sentence(error, base))):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            paths += [
                Path(folder, name)
                for name in sorted(names)
                if not name.startswith(".") and not any(fnmatch.fnmatch(name, glob) for glob in exclude)
            ]
    files: list[LogFile] = []
    for path in paths:
        name = path.relative_to(base).as_posix()
        try:
            status = path.stat()
        except OSError as error:
            problems.append(f"{name} can't be read: {error.strerror}")
            continue
        if stat.S_ISREG(status.st_mode):
            files.append(LogFile(path, name, datetime.fromtimestamp(status.st_mtime, UTC)))
        else:
            problems.append(f"{name} is not a regular file and was left out")
    files.sort(key=lambda file: file.written, reverse=True)
    return files, problems


def _sentence(error: OSError, base: Path) -> str:
    where = Path(os.fsdecode(error.filename)) if error.filename is not None else base
    name = where.relative_to(base).as_posix() if where.is_relative_to(base) else where.name
    return f"{name} can't be read: {error.strerror}"


def read_lines(file: LogFile, stopped: Callable[[], bool] = lambda: False) -> Iterator[RawLine]:
    """The lines of a plain or gzipped file. Ends inside an endless line once `stopped`. Raises `UnreadableLog`."""
    number = 0
    try:
        with _open(file.path) as stream:
            while data := stream.readline(MAX_LINE_BYTES):
                number += 1
                total = len(data)
                if total == MAX_LINE_BYTES and not data.endswith(b"\n"):
                    total += _skip_rest_of_line(stream, stopped)
                else:
                    data = data.removesuffix(b"\n").removesuffix(b"\r")
                    total = len(data)
                yield RawLine(number, data.removeprefix(_BOM) if number == 1 else data, total)
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else f"it is damaged ({error})"
        where = f" after line {number:,}" if number else ""
        raise UnreadableLog(f"can't be read{where}: {reason}") from error


def _skip_rest_of_line(stream: BinaryIO, stopped: Callable[[], bool]) -> int:
    skipped = 0
    while not stopped() and (more := stream.readline(_SKIP_BYTES)):
        skipped += len(more)
        if more.endswith(b"\n"):
            return skipped - (2 if more.endswith(b"\r\n") else 1)
    return skipped


def _open(path: Path) -> BinaryIO:
    stream = path.open("rb")
    try:
        head = stream.read(_LOOK_BYTES)
        stream.seek(0)
        if head.startswith(_GZIP):
            return cast(BinaryIO, _GzipFile(stream))
        for magic, name in _OTHER_COMPRESSION.items():
            if head.startswith(magic):
                raise UnreadableLog(f"is compressed with {name}; plain and gzip files are searched")
        controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head)
        if controls * 10 > len(head) * 3:
            raise UnreadableLog("is not text")
    except BaseException:
        stream.close()
        raise
    return stream


class _GzipFile(gzip.GzipFile):
    """Closes the file below it, which `gzip.GzipFile` leaves open when it was given one."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(fileobj=stream, mode="rb")
        self._below = stream

    def close(self) -> None:
        """Close both."""
        super().close()
        self._below.close()
