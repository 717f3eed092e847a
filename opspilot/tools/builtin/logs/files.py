"""Finding log files, and telling which of them are one log that was rotated. Knows nothing of what is in them."""

import fnmatch
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from opspilot.tools.builtin.inner_files import look_at

_ROTATED = re.compile(
    r"(?i)^(?P<base>.+?)(?:[._-](?P<date>\d{4}-?\d\d-?\d\d(?:[T_.-]?\d{2}[-:.]?\d{2}(?:[-:.]?\d{2})?)?))?"
    r"(?:\.(?P<number>\d{1,4}))?(?P<packed>\.gz)?$"
)
_DATE_BEFORE_SUFFIX = re.compile(r"^(?P<base>.+?)[._-](?P<date>\d{4}-?\d\d-?\d\d)(?P<suffix>\.(?!gz$)[a-z]{2,6})$")


@dataclass(frozen=True)
class LogFile:
    """A log file. `name` is its path relative to the configured folder, with `/` between its parts.

    `family` is the name of the log that it is a part of: its own, unless it was rotated out of it. `age` orders the
    parts of a family: the largest is the oldest.
    """

    path: Path
    name: str
    written: datetime
    family: str = ""
    age: int = 0
    size_bytes: int = 0


def find_logs(root: Path, exclude: Sequence[str]) -> tuple[list[LogFile], list[str]]:
    """The files under a folder (or the one file), latest first, and a sentence for each that can't be used.

    The parts of a rotated log stand together, the latest of them first.
    """
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
            status = path.stat() if path == root else look_at(path, root)
        except OSError as error:
            problems.append(f"{name} can't be read: {error.strerror}")
            continue
        written = datetime.fromtimestamp(status.st_mtime, UTC)
        files.append(LogFile(path, name, written, name, 0, status.st_size))
    return _in_families(files, problems), problems


def _sentence(error: OSError, base: Path) -> str:
    where = Path(os.fsdecode(error.filename)) if error.filename is not None else base
    name = where.relative_to(base).as_posix() if where.is_relative_to(base) else where.name
    return f"{name} can't be read: {error.strerror}"


def _in_families(files: list[LogFile], problems: list[str]) -> list[LogFile]:
    """All files, the families with the latest line first, each from its latest part to its oldest."""
    families: dict[str, list[tuple[tuple[str, int], LogFile]]] = {}
    for file in files:
        base, order = family_of(file.name)
        families.setdefault(base, []).append((order, file))
    ordered: list[list[LogFile]] = []
    for base, parts in families.items():
        if len(parts) == 1:
            ordered.append([parts[0][1]])
            continue
        # The one without a date or number is being written; then the latest dates, then the lowest numbers.
        parts.sort(key=lambda part: part[0][1])
        parts.sort(key=lambda part: part[0][0], reverse=True)
        rows = [
            LogFile(file.path, file.name, file.written, base, age, file.size_bytes)
            for age, (_, file) in enumerate(parts)
        ]
        names = {file.name for file in rows}
        problems += [
            f"{name} and {name}.gz are both there: if one is the other one packed, their lines are counted twice"
            for name in sorted(names)
            if f"{name}.gz" in names
        ]
        ordered.append(rows)
    ordered.sort(key=lambda rows: max(file.written for file in rows), reverse=True)
    return [file for rows in ordered for file in rows]


def family_of(name: str) -> tuple[str, tuple[str, int]]:
    """(name of the log that a file is a part of, its place in it): `app.log.2.gz` is `app.log`, its second."""
    folder, slash, last = name.rpartition("/")
    dated = _DATE_BEFORE_SUFFIX.match(last)
    if dated is not None:
        return folder + slash + dated["base"] + dated["suffix"], (dated["date"], 0)
    match = _ROTATED.match(last)
    if match is None or (match["date"] is None and match["number"] is None):
        return name.removesuffix(".gz"), ("~", 0)
    return folder + slash + match["base"], (match["date"] or "~", int(match["number"] or 0))
