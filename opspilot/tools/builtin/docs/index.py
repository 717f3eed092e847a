"""The full-text index over a folder of documents: in memory, brought up to date at each search. Safe in threads."""

import os
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

from opspilot.tools.builtin.docs.passages import Document, Passage, read_document
from opspilot.tools.builtin.docs.words import heading_words, match_expression, prepare, query_words

MAX_DOCUMENT_BYTES = 1024 * 1024
_SUFFIXES = (".md", ".markdown", ".mdx")
_SCHEMA = """
CREATE VIRTUAL TABLE documents USING
    fts5(path, title, tags, heading, text, tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE passages USING
    fts5(path, title, tags, heading, text, tokenize = 'porter unicode61 remove_diacritics 2');
"""
_INSERT_DOCUMENT = "INSERT INTO documents (rowid, path, title, tags, heading, text) VALUES (?, ?, ?, ?, ?, ?)"
_INSERT_PASSAGE = _INSERT_DOCUMENT.replace("documents", "passages")
_DOCUMENT_WEIGHT = 1.0
_RANKED_DOCUMENTS = "SELECT rowid, bm25(documents, 4.0, 6.0, 5.0, 3.0, 1.0) FROM documents WHERE documents MATCH ?"
_RANKED_PASSAGES = _RANKED_DOCUMENTS.replace("documents", "passages")
"""A word in the title, the tags or the path of a document says more than one in its text."""


@dataclass(frozen=True)
class Hit:
    """A passage that was found, and where it stands: `path` is relative to the folder."""

    path: str
    document: Document
    passage: Passage


@dataclass(frozen=True)
class Found:
    """What a search came to: the best passages first, and the words that no document contains."""

    hits: list[Hit]
    unknown_words: list[str]


@dataclass
class _Indexed:
    stamp: tuple[int, int]
    document: Document
    row: int
    passage_rows: list[int]


class DocsIndex:
    """All Markdown documents under a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._documents: dict[str, _Indexed] = {}
        self._rows: dict[int, tuple[str, Passage]] = {}
        self._unreadable: dict[str, str] = {}
        self._next_row = 1
        self._database: sqlite3.Connection | None = None

    def search(self, question: str, path: str, limit: int, per_document: int) -> Found:
        """The best passages for a question in any words. At most `per_document` of one document."""
        with self._lock:
            database = self._refresh()
            words = query_words(question)
            if not words:
                return Found([], [])
            expression = match_expression(words, heading_words(question))
            unknown = [
                word
                for word in words
                if database.execute(
                    "SELECT 1 FROM passages WHERE passages MATCH ? LIMIT 1", (match_expression([word], []),)
                ).fetchone()
                is None
            ]
            if len(unknown) == len(words):
                return Found([], unknown)
            hits: list[Hit] = []
            taken: dict[str, int] = {}
            for row in self._ranked(database, expression):
                name, passage = self._rows[row]
                if path.casefold() not in name.casefold() or taken.get(name, 0) >= per_document:
                    continue
                taken[name] = taken.get(name, 0) + 1
                hits.append(Hit(name, self._documents[name].document, passage))
                if len(hits) >= limit:
                    break
            return Found(hits, unknown)

    def _ranked(self, database: sqlite3.Connection, expression: str) -> list[int]:
        """Rows of the passages that match, best first: by how well the passage fits, and its document as a whole.

        bm25 is negative, and the lower the better. A short passage alone would win over the document that is meant.
        """
        of_documents: dict[int, float] = dict(database.execute(_RANKED_DOCUMENTS, (expression,)))
        scores = {
            row: score + _DOCUMENT_WEIGHT * of_documents.get(self._documents[self._rows[row][0]].row, 0.0)
            for row, score in database.execute(_RANKED_PASSAGES, (expression,))
        }
        return sorted(scores, key=lambda row: (scores[row], row))

    def paths(self) -> list[str]:
        """The path of each document that there is now, read or not."""
        with self._lock:
            return sorted(self._stamps())

    def titles(self) -> dict[str, str]:
        """The title of each document, by path."""
        with self._lock:
            self._refresh()
            return {name: indexed.document.title for name, indexed in sorted(self._documents.items())}

    def problems(self) -> list[str]:
        """A sentence for each document that could not be read, or not in full."""
        with self._lock:
            broken = {name: indexed.document.problem for name, indexed in self._documents.items()}
            return [f"{name}: {problem}" for name, problem in sorted((broken | self._unreadable).items()) if problem]

    def _refresh(self) -> sqlite3.Connection:
        """Index what is new or changed since the last search, forget what is gone."""
        if self._database is None:
            self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            self._database.executescript(_SCHEMA)
        self._unreadable = {}
        present = self._stamps()
        database = self._database
        for name in [name for name in self._documents if present.get(name) != self._documents[name].stamp]:
            self._forget(database, name)
        for name, stamp in present.items():
            if name not in self._documents:
                self._add(database, name, stamp)
        return database

    def _stamps(self) -> dict[str, tuple[int, int]]:
        stamps: dict[str, tuple[int, int]] = {}
        for folder, folders, names in os.walk(self._folder, onerror=self._note_folder):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
            for name in sorted(names):
                if name.lower().endswith(_SUFFIXES) and not name.startswith("."):
                    path = Path(folder, name)
                    relative = path.relative_to(self._folder).as_posix()
                    try:
                        status = path.stat()
                    except OSError as error:
                        self._unreadable[relative] = f"can't be read: {error.strerror}"
                        continue
                    stamps[relative] = (status.st_mtime_ns, status.st_size)
        return stamps

    def _note_folder(self, error: OSError) -> None:
        name = Path(os.fsdecode(error.filename)).name if error.filename is not None else "a folder"
        self._unreadable[name] = f"can't be read: {error.strerror}"

    def _forget(self, database: sqlite3.Connection, name: str) -> None:
        gone = self._documents.pop(name)
        database.execute("DELETE FROM documents WHERE rowid = ?", (gone.row,))
        for row in gone.passage_rows:
            del self._rows[row]
            database.execute("DELETE FROM passages WHERE rowid = ?", (row,))

    def _add(self, database: sqlite3.Connection, name: str, stamp: tuple[int, int]) -> None:
        try:
            document = _read(self._folder / name)
        except OSError as error:
            self._unreadable[name] = f"can't be read: {error.strerror}"
            return
        except (ValueError, RecursionError):
            self._unreadable[name] = "can't be understood as Markdown"
            return
        columns = tuple(prepare(part) for part in (_spaced(name), document.title, " ".join(document.tags)))
        rows: list[int] = []
        for passage in document.passages:
            texts = (*columns, prepare(" ".join(passage.headings)), prepare(passage.text))
            rows.append(self._insert(database, _INSERT_PASSAGE, texts))
            self._rows[rows[-1]] = (name, passage)
        all_headings = dict.fromkeys(heading for passage in document.passages for heading in passage.headings)
        whole = "\n".join(passage.text for passage in document.passages)
        texts = (*columns, prepare(" ".join(all_headings)), prepare(whole))
        self._documents[name] = _Indexed(stamp, document, self._insert(database, _INSERT_DOCUMENT, texts), rows)

    def _insert(self, database: sqlite3.Connection, statement: str, texts: tuple[str, ...]) -> int:
        row = self._next_row
        self._next_row += 1
        database.execute(statement, (row, *texts))
        return row


def _spaced(path: str) -> str:
    return path.rpartition(".")[0].replace("/", " ").replace("-", " ")


def _read(path: Path) -> Document:
    with path.open("rb") as stream:
        data = stream.read(MAX_DOCUMENT_BYTES + 1)
    text = data[:MAX_DOCUMENT_BYTES].decode("utf-8-sig", "replace").replace("\x00", "\ufffd")
    document = read_document(text)
    faults = [document.problem] if document.problem else []
    if len(data) > MAX_DOCUMENT_BYTES:
        faults.append(f"only its first {MAX_DOCUMENT_BYTES:,} bytes are searched")
    elif "\ufffd" in text:
        faults.append("it is not valid UTF-8 and was read as well as it goes")
    return Document(document.title, document.tags, document.passages, "; ".join(faults))
