"""The tool `read_file`: lines of a text file inside configured folders, and of no other.

A path is taken as relative to a folder; where it leads, with every link followed, must lie in that same folder.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Annotated, BinaryIO

from pydantic import BaseModel, ConfigDict, Field

from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode
from opspilot.tools.spec import Tool, ToolError, ToolPlace, tool

_MAX_LINES = 400
_MAX_CHARACTERS = 8_000
_MAX_LINE_CHARACTERS = 2_000
_MAX_COUNTED_BYTES = 64 * 1024 * 1024
_READ_LINE_BYTES = 64 * 1024
_LOOK_BYTES = 8192
_NAMES_SHOWN = 20
_NAMES_KNOWN = 5_000
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ": "xz"}


class Config(BaseModel):
    """Settings of `[tools.read_file]`. `path` is a folder, or a list of folders."""

    model_config = ConfigDict(extra="forbid")

    path: Path | tuple[Path, ...]


@dataclass(frozen=True)
class _Place:
    """A file that may be read: the configured folder, the path in it as it was asked for, and where that leads."""

    folder: Path
    name: str
    real: Path


def build(name: str, config: Config, place: ToolPlace) -> Tool:
    """The tool over one or several folders. A folder that isn't there is reported when the tool is called."""
    given = config.path if isinstance(config.path, tuple) else (config.path,)
    folders = tuple(place.base / path.expanduser() for path in given)

    def read_file(
        path: Annotated[
            str,
            Field(
                min_length=1,
                max_length=500,
                description="The file, relative to its folder, as other tools give it in `file`.",
            ),
        ],
        line: Annotated[int, Field(ge=1, description="The first line to read, counted from 1.")] = 1,
        lines: Annotated[int, Field(ge=1, le=_MAX_LINES, description="How many lines to read.")] = 100,
    ) -> dict[str, Json]:
        found = _find(name, folders, path)
        return _read(found, line, lines)

    shown = ", ".join(folder.name for folder in folders)
    read_file.__doc__ = (
        "Read lines of a text file, such as a runbook, a log or a catalogue file that another tool named: use it to "
        "see more of what was quoted.\n"
        "Returns the text of those lines, the number of the first and the last, how many the file has, and where to go "
        f"on. Only files in these folders can be read: {shown}."
    )
    return tool(name=name, effect="read", timeout_seconds=20.0)(read_file)


def _find(name: str, folders: Sequence[Path], path: str) -> _Place:
    missing = [folder for folder in folders if not folder.is_dir()]
    if len(missing) == len(folders):
        raise ToolError(f"There is no folder {missing[0]}. It is the setting path of [tools.{name}].")
    parts = PurePosixPath(path.replace("\\", "/")).parts
    if "\x00" in path or not parts:
        raise _refused(f"{path!r} is not a path.")
    if parts[0].startswith(("/", "~")) or ":" in parts[0]:
        raise _refused(f"{path!r} is not relative: give the path inside a folder, as other tools do in `file`.")
    if ".." in parts:
        raise _refused(f"{path!r} leads out of the folder; '..' is not allowed.")
    hidden = next((part for part in parts if part.startswith(".") and part != "."), None)
    if hidden is not None:
        raise _refused(f"{hidden!r} is hidden; hidden files and folders are not read.")
    places = [found for folder in folders if (found := _place(folder, parts)) is not None]
    if len(places) > 1:
        choices = " or ".join(f"{place.folder.name}/{place.name}" for place in places)
        raise _refused(f"Several folders have a file {path!r}: say {choices}.")
    if places:
        return places[0]
    raise ToolError(f"There is no file {path!r}.{_instead(folders, '/'.join(parts))}")


def _refused(sentence: str) -> ToolError:
    return ToolError(sentence, ErrorCode.INVALID_ARGUMENTS)


def _place(folder: Path, parts: Sequence[str]) -> _Place | None:
    """The file in this folder; its path may begin with the folder's own name. Raises when a link leads out of it."""
    if not folder.is_dir():
        return None
    root = folder.resolve()
    for inner in (parts, parts[1:] if parts[0] == folder.name else ()):
        if not inner:
            continue
        try:
            real = root.joinpath(*inner).resolve(strict=True)
        except (OSError, RuntimeError):
            continue
        if not real.is_relative_to(root):
            raise _refused(f"{'/'.join(inner)!r} is a link that leads out of the folder, and is not followed.")
        if any(part.startswith(".") for part in real.relative_to(root).parts):
            raise _refused(f"{'/'.join(inner)!r} is a link to a hidden file; hidden files are not read.")
        return _Place(folder, "/".join(inner), real)
    return None


def _instead(folders: Sequence[Path], wanted: str) -> str:
    names: list[str] = []
    for folder in folders:
        for place, below, files in os.walk(folder):
            below[:] = sorted(name for name in below if not name.startswith("."))
            inner = Path(place).relative_to(folder)
            names += [(inner / name).as_posix() for name in sorted(files) if not name.startswith(".")]
            if len(names) >= _NAMES_KNOWN:
                break
    last = {name.rpartition("/")[2].lower(): name for name in names}
    near = [name for name in names if name.lower() == wanted.lower()]
    near += get_close_matches(wanted, names, n=3, cutoff=0.6)
    near += [last[name] for name in get_close_matches(wanted.rpartition("/")[2].lower(), last, n=3, cutoff=0.7)]
    if near:
        return f" Did you mean {' or '.join(repr(name) for name in list(dict.fromkeys(near))[:3])}?"
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f" There are: {', '.join(names[:_NAMES_SHOWN])}{more}." if names else " The folders are empty."


def _read(place: _Place, line: int, count: int) -> dict[str, Json]:
    try:
        # Not followed again: a link put there since it was looked at is an error, and a pipe isn't waited for.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(place.real, flags)
    except OSError as error:
        raise ToolError(f"{place.name} can't be read: {error.strerror}.") from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        if stat.S_ISDIR(status.st_mode):
            names = sorted(entry.name for entry in place.real.iterdir() if not entry.name.startswith("."))
            raise ToolError(f"{place.name} is a folder. In it are: {', '.join(names[:_NAMES_SHOWN]) or 'no files'}.")
        raise ToolError(f"{place.name} is not a regular file.")
    with os.fdopen(descriptor, "rb") as stream:
        _check_text(place.name, stream.read(_LOOK_BYTES))
        stream.seek(0)
        return _lines(place.name, stream, status.st_size, line, count)


def _check_text(name: str, head: bytes) -> None:
    packed = next((kind for magic, kind in _PACKED.items() if head.startswith(magic)), "")
    if packed:
        raise ToolError(f"{name} is compressed with {packed}; only plain text can be read.")
    if b"\x00" in head:
        raise ToolError(f"{name} is not a text file.")


def _lines(name: str, stream: BinaryIO, size: int, line: int, count: int) -> dict[str, Json]:
    taken: list[str] = []
    characters = 0
    number = 0
    full = False
    counted = True
    while data := stream.readline(_READ_LINE_BYTES):
        number += 1
        while not data.endswith(b"\n") and (more := stream.readline(_READ_LINE_BYTES)):
            data = data[:_READ_LINE_BYTES] + (b"\n" if more.endswith(b"\n") else b"")
        if line <= number < line + count and not full:
            text = _shown(data)
            if taken and characters + len(text) > _MAX_CHARACTERS:
                full = True
            else:
                taken.append(text)
                characters += len(text) + 1
        if (full or number >= line + count) and size > _MAX_COUNTED_BYTES:
            counted = False  # how many lines there are isn't worth reading so much for
            break
    if not taken and number:
        raise ToolError(f"{name} has {number:,} lines, and none from line {line:,} on.", ErrorCode.INVALID_ARGUMENTS)
    last = line + len(taken) - 1
    result: dict[str, Json] = {"file": name, "from_line": line, "to_line": last, "text": "\n".join(taken)}
    if counted:
        result["total_lines"] = number
    if last < number:
        result["next_line"] = last + 1
    return result


def _shown(data: bytes) -> str:
    text = data.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
    return text if len(text) <= _MAX_LINE_CHARACTERS else text[: _MAX_LINE_CHARACTERS - 1] + "…"
