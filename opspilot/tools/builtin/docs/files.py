"""Which documents a folder holds, and what is in one. Knows formats by their names; passages are others' affair."""

import os
from pathlib import Path

from opspilot.tools.builtin.docs.html import read_html
from opspilot.tools.builtin.docs.passages import Document, read_document
from opspilot.tools.builtin.docs.plain import read_plain
from opspilot.tools.builtin.inner_files import look_at, open_file

MAX_DOCUMENT_BYTES = 1024 * 1024
_READERS = {
    **dict.fromkeys((".md", ".markdown", ".mdx"), read_document),
    **dict.fromkeys((".html", ".htm", ".xhtml"), read_html),
    **dict.fromkeys((".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org"), read_plain),
}
SUFFIXES = tuple(_READERS)


class Unreadable(Exception):
    """A document that can't be read. The text says why, and doesn't name the file."""


def stamps_of(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """What each document's file looks like from outside, and why some can't be looked at; both by relative path."""
    stamps: dict[str, str] = {}
    unreadable: dict[str, str] = {}

    def note(error: OSError) -> None:
        name = Path(os.fsdecode(error.filename)).name if error.filename is not None else "a folder"
        unreadable[name] = f"can't be read: {error.strerror}"

    for place, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in sorted(names):
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                path = Path(place, name)
                relative = path.relative_to(folder).as_posix()
                try:
                    status = look_at(path, folder)
                except OSError as error:
                    unreadable[relative] = f"can't be read: {error.strerror}"
                    continue
                # The time of the last change of any kind can't be set, so that a file that was replaced is noticed.
                stamps[relative] = f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"
    return stamps, unreadable


def read_file(path: Path, folder: Path) -> Document:
    """A document in the folder, read by its kind. Raises `Unreadable`; what is merely wrong is said in `problem`."""
    try:
        with open_file(path, folder) as stream:
            data = stream.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"can't be read: {error.strerror}") from error
    text = data[:MAX_DOCUMENT_BYTES].decode("utf-8-sig", "replace").replace("\x00", "\ufffd")
    try:
        document = _READERS[path.suffix.lower()](text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("can't be understood as a document") from error
    faults = [document.problem] if document.problem else []
    if len(data) > MAX_DOCUMENT_BYTES:
        faults.append(f"only its first {MAX_DOCUMENT_BYTES:,} bytes are searched")
    elif "\ufffd" in text:
        faults.append("it is not valid UTF-8 and was read as well as it goes")
    return Document(document.title, document.tags, document.passages, "; ".join(faults))
