"""A catalogue on disk: its files are read again when they change. What stands in them is read by `entities`."""

import os
import re
import threading
from pathlib import Path

from opspilot.tools.builtin.catalog.entities import CatalogFile, Entity, read_catalog
from opspilot.tools.builtin.inner_files import look_at, open_file

_MAX_FILE_BYTES = 2 * 1024 * 1024


class Catalog:
    """All entities under a folder, or in one file and those that its Locations name. Read again when they change.

    Locations are followed to files in the folder (that of the file, where one is configured) and nowhere else. Safe in
    threads.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._files: dict[str, tuple[tuple[int, int], CatalogFile]] = {}

    def read(self) -> tuple[list[Entity], list[str]]:
        """Every entity, and a sentence for each file or document that can't be used."""
        with self._lock:
            problems: list[str] = []
            folder = self._folder()
            files: dict[str, tuple[tuple[int, int], CatalogFile]] = {}
            waiting = self._paths(problems)
            while waiting:
                name, path = waiting.pop(0)
                if name in files:
                    continue
                # The configured file itself may be a link.
                inside = path.resolve().parent if path == self._path else folder
                try:
                    status = look_at(path, inside)
                    stamp = (status.st_mtime_ns, status.st_size)
                    known = self._files.get(name)
                    files[name] = (
                        known if known is not None and known[0] == stamp else (stamp, _read(path, inside, name))
                    )
                except OSError as error:
                    problems.append(f"{name} can't be read: {error.strerror}")
                    continue
                waiting += self._located(files[name][1], path, problems)
            self._files = files
            entities = [entity for _, file in files.values() for entity in file.entities]
            return entities, problems + [problem for _, file in files.values() for problem in file.problems]

    def _folder(self) -> Path:
        return self._path.parent if self._path.is_file() else self._path

    def _paths(self, problems: list[str]) -> list[tuple[str, Path]]:
        if self._path.is_file():
            return [(self._path.name, self._path)]
        found = []
        for folder, folders, names in os.walk(self._path, onerror=lambda error: problems.append(str(error.strerror))):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
            paths = (Path(folder, name) for name in sorted(names) if name.lower().endswith((".yaml", ".yml")))
            found += [(path.relative_to(self._path).as_posix(), path) for path in paths]
        return found

    def _located(self, file: CatalogFile, path: Path, problems: list[str]) -> list[tuple[str, Path]]:
        """The files that a file's Locations name, but for those outside the folder, which are said."""
        root = self._folder().resolve()
        found: list[tuple[str, Path]] = []
        for entity in file.entities:
            for target in entity.targets:
                where = f"{entity.file} line {entity.line}: the target {target!r} of the Location {entity.name!r}"
                if re.match(r"[a-z][a-z+.-]*://", target):
                    problems.append(f"{where} is an address; only files in the folder are read")
                    continue
                try:
                    named = (path.parent / target).resolve()
                    inside = named.is_relative_to(root)
                except (OSError, ValueError, RuntimeError):
                    inside = False
                if not inside:
                    problems.append(f"{where} lies outside the folder and was not read")
                    continue
                several = sorted(named.parent.glob(named.name)) if "*" in named.name else [named]
                inner = [each for each in several if each.resolve().is_relative_to(root)]
                if not any(each.is_file() for each in inner):
                    problems.append(f"{where} is not there")
                found += [(each.relative_to(root).as_posix(), each) for each in inner if each.is_file()]
        return found


def _read(path: Path, folder: Path, name: str) -> CatalogFile:
    with open_file(path, folder) as stream:
        data = stream.read(_MAX_FILE_BYTES + 1)
    if len(data) > _MAX_FILE_BYTES:
        return CatalogFile((), (f"{name} is larger than {_MAX_FILE_BYTES:,} bytes and was left out",))
    text = data.decode("utf-8-sig", "replace")
    file = read_catalog(text, name)
    if "\ufffd" in text:
        return CatalogFile(
            file.entities, (*file.problems, f"{name} is not valid UTF-8 and was read as well as it goes")
        )
    return file
