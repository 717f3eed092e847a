"""Documents, passages and their words in SQLite. Knows the tables; which documents there are is the index's affair."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from opspilot.tools.builtin.docs.passages import Document, Passage
from opspilot.tools.builtin.docs.words import prepare

_WORDS = "fts5(path, title, tags, heading, text, tokenize = 'porter unicode61 remove_diacritics 2')"
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, title TEXT NOT NULL, tags TEXT NOT NULL,
    problem TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS passages (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents, headings TEXT NOT NULL,
    heading_line INTEGER NOT NULL, text_line INTEGER NOT NULL, text TEXT NOT NULL, whole INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS passages_of_document ON passages (document);
CREATE VIRTUAL TABLE IF NOT EXISTS document_words USING {_WORDS};
CREATE VIRTUAL TABLE IF NOT EXISTS passage_words USING {_WORDS};
"""
_RANKED_DOCUMENTS = """
SELECT rowid, bm25(document_words, 4.0, 6.0, 5.0, 3.0, 1.0) FROM document_words WHERE document_words MATCH ?
"""
_RANKED_PASSAGES = """
SELECT passages.id, passages.document, bm25(passage_words, 4.0, 6.0, 5.0, 3.0, 1.0)
FROM passage_words JOIN passages ON passages.id = passage_words.rowid WHERE passage_words MATCH ?
"""
"""A word in the title, the tags or the path of a document says more than one in its text."""

_ADD_PASSAGE = """
INSERT INTO passages (document, headings, heading_line, text_line, text, whole) VALUES (?, ?, ?, ?, ?, ?)
"""


class Store:
    """An open index. Writes happen inside `writing()`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @staticmethod
    def create(database: sqlite3.Connection) -> None:
        """Make the tables that aren't there."""
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'passage_words'").fetchone():
            database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All or nothing, and alone."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """What is read inside belongs together, whatever others write meanwhile."""
        self._database.execute("BEGIN")
        try:
            yield
        finally:
            self._database.execute("COMMIT")

    def stamps(self) -> dict[str, str]:
        """What each document's file looked like when it was read, by path."""
        return dict(self._database.execute("SELECT path, stamp FROM documents"))

    def problems(self) -> dict[str, str]:
        """What is wrong with documents that were read, by path."""
        return dict(self._database.execute("SELECT path, problem FROM documents WHERE problem <> ''"))

    def titles(self, limit: int) -> dict[str, str]:
        """Some documents' titles, by path."""
        return dict(self._database.execute("SELECT path, title FROM documents ORDER BY path LIMIT ?", (limit,)))

    def count(self) -> int:
        """How many documents there are."""
        return int(self._database.execute("SELECT count(*) FROM documents").fetchone()[0])

    def has(self, expression: str) -> bool:
        """Does any passage match?"""
        found = self._database.execute("SELECT 1 FROM passage_words WHERE passage_words MATCH ? LIMIT 1", (expression,))
        return found.fetchone() is not None

    def ranked_documents(self, expression: str) -> dict[int, float]:
        """How well each document fits as a whole."""
        return dict(self._database.execute(_RANKED_DOCUMENTS, (expression,)))

    def ranked_passages(self, expression: str) -> list[tuple[int, int, float]]:
        """(passage, document, how well it fits) of each passage that matches."""
        return list(self._database.execute(_RANKED_PASSAGES, (expression,)))

    def passage(self, row: int) -> tuple[str, str, tuple[str, ...], Passage]:
        """(path, title, tags) of a passage's document, and the passage."""
        path, title, tags, headings, heading_line, text_line, text, whole = self._database.execute(
            "SELECT path, title, tags, headings, heading_line, text_line, text, whole FROM passages "
            "JOIN documents ON documents.id = passages.document WHERE passages.id = ?",
            (row,),
        ).fetchone()
        passage = Passage(tuple(json.loads(headings)), heading_line, text_line, text, bool(whole))
        return path, title, tuple(json.loads(tags)), passage

    def forget(self, path: str) -> None:
        """Take a document out, if it is there."""
        found = self._database.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
        if found is not None:
            ids = "SELECT id FROM passages WHERE document = ?"
            self._database.execute(f"DELETE FROM passage_words WHERE rowid IN ({ids})", found)  # noqa: S608 - no input
            self._database.execute("DELETE FROM document_words WHERE rowid = ?", found)
            self._database.execute("DELETE FROM passages WHERE document = ?", found)
            self._database.execute("DELETE FROM documents WHERE id = ?", found)

    def add(self, path: str, stamp: str, document: Document) -> None:
        """Put a document in."""
        tags = json.dumps(document.tags, ensure_ascii=False)
        row = (path, stamp, document.title, tags, document.problem)
        added = self._database.execute(
            "INSERT INTO documents (path, stamp, title, tags, problem) VALUES (?, ?, ?, ?, ?)", row
        )
        number = added.lastrowid
        columns = tuple(prepare(part) for part in (_spaced(path), document.title, " ".join(document.tags)))
        for passage in document.passages:
            headings = json.dumps(passage.headings, ensure_ascii=False)
            added = self._database.execute(
                _ADD_PASSAGE,
                (number, headings, passage.heading_line, passage.text_line, passage.text, passage.whole),
            )
            self._put("passage_words", added.lastrowid, (*columns, " ".join(passage.headings), passage.text))
        all_headings = dict.fromkeys(heading for passage in document.passages for heading in passage.headings)
        whole = "\n".join(passage.text for passage in document.passages)
        self._put("document_words", number, (*columns, " ".join(all_headings), whole))

    def _put(self, table: str, row: int | None, texts: tuple[str, ...]) -> None:
        prepared = (*texts[:3], *(prepare(text) for text in texts[3:]))
        self._database.execute(
            f"INSERT INTO {table} (rowid, path, title, tags, heading, text) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - no input
            (row, *prepared),
        )


def _spaced(path: str) -> str:
    return path.rpartition(".")[0].replace("/", " ").replace("-", " ")
