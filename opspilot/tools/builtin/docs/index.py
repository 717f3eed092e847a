"""The full-text index over a folder of documents: an SQLite file, brought up to date at each search.

Safe with several threads, workers and processes: each search opens the file anew, one of them brings it up to date
while others wait or read what there was, and each sees one state of it from beginning to end.
"""

import hashlib
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from opspilot.tools.builtin.docs import glossary, html, passages, plain, words
from opspilot.tools.builtin.docs.files import Unreadable, read_file, stamps_of
from opspilot.tools.builtin.docs.glossary import other_words
from opspilot.tools.builtin.docs.passages import Passage
from opspilot.tools.builtin.docs.store import Store
from opspilot.tools.builtin.docs.words import heading_words, is_pair, match_expression, query_words

_WAIT_SECONDS = 20.0
_DOCUMENT_WEIGHT = 1.0
_TITLES = 30


class IndexBusy(Exception):
    """Another process has been bringing the index up to date for too long."""


@dataclass(frozen=True)
class Hit:
    """A passage that was found, and where it stands: `path` is relative to the folder."""

    path: str
    title: str
    tags: tuple[str, ...]
    passage: Passage


@dataclass(frozen=True)
class Found:
    """What a search came to: the best passages first, the words that no document contains, and what there is.

    `titles` are those of some documents, by path; `problems` a sentence for each that can't be read, or not in full.
    """

    hits: list[Hit]
    unknown_words: list[str]
    documents: int
    titles: dict[str, str]
    problems: list[str]


class DocsIndex:
    """All documents under a folder. `state` is a folder to keep the index in; without it a temporary one is used."""

    def __init__(self, folder: Path, state: Path) -> None:
        self._folder = folder
        self._state = state

    def paths(self) -> list[str]:
        """The path of each document that there is now, read or not."""
        return sorted(stamps_of(self._folder)[0])

    def search(self, question: str, path: str, limit: int, per_document: int) -> Found:
        """The best passages for a question in any words. At most `per_document` of one document. Raises `IndexBusy`."""
        stamps, unreadable = stamps_of(self._folder)
        with self._opened() as store:
            unreadable |= self._refresh(store, stamps)
            with store.one_state():
                hits, unknown = _search(store, question, path, limit, per_document)
                problems = {**store.problems(), **unreadable}
                return Found(
                    hits,
                    unknown,
                    store.count(),
                    store.titles(_TITLES),
                    [f"{name}: {problem}" for name, problem in sorted(problems.items()) if problem],
                )

    @contextmanager
    def _opened(self) -> Iterator[Store]:
        try:
            database = _open(self._file())
        except sqlite3.OperationalError:
            # The state folder can't be written to: the index serves all the same, but has to be made anew next time.
            self._state = Path(tempfile.mkdtemp(prefix="opspilot-docs-"))
            database = _open(self._file())
        except sqlite3.DatabaseError:
            for rest in ("", "-wal", "-shm"):
                self._file().with_name(self._file().name + rest).unlink(missing_ok=True)
            database = _open(self._file())
        with closing(database):
            try:
                yield Store(database)
            except sqlite3.OperationalError as error:
                raise IndexBusy(str(error)) from error

    def _file(self) -> Path:
        """One file for a folder and for this way of reading: changed code makes a new one."""
        place = hashlib.sha256(str(self._folder.resolve()).encode()).hexdigest()[:12]
        return self._state / "search_docs" / f"{place}-{_reading()}.sqlite"

    def _refresh(self, store: Store, stamps: Mapping[str, str]) -> dict[str, str]:
        """Index what is new or changed, forget what is gone; what can't be read, with the reason."""
        unreadable: dict[str, str] = {}
        known = store.stamps()
        if known == stamps:
            return unreadable
        read = {}
        for name in stamps:
            if known.get(name) != stamps[name]:
                try:
                    read[name] = read_file(self._folder / name, self._folder)
                except Unreadable as problem:
                    unreadable[name] = str(problem)
        with store.writing():
            known = store.stamps()
            for name in known:
                if name not in stamps or name in unreadable:
                    store.forget(name)
            for name, document in read.items():
                if known.get(name) != stamps[name]:
                    store.forget(name)
                    store.add(name, stamps[name], document)
        return unreadable


def _reading() -> str:
    """What the code that reads documents looks like: an index made by other code is of no use."""
    digest = hashlib.sha256()
    for module in (glossary, html, passages, plain, words):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:8]


def _open(file: Path) -> sqlite3.Connection:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise sqlite3.OperationalError(str(error)) from error
    database = sqlite3.connect(file, timeout=_WAIT_SECONDS, isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        Store.create(database)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _search(store: Store, question: str, path: str, limit: int, per_document: int) -> tuple[list[Hit], list[str]]:
    asked = query_words(question)
    if not asked:
        return [], []
    others = other_words(question)
    unknown = [word for word in asked if not store.has(match_expression([word], []))]
    if len(unknown) == len(asked) and not others:
        return [], [word for word in unknown if not is_pair(word)] or unknown
    expression = match_expression([*asked, *others], heading_words(question))
    of_documents = store.ranked_documents(expression)
    scores = {
        row: score + _DOCUMENT_WEIGHT * of_documents.get(document, 0.0)
        for row, document, score in store.ranked_passages(expression)
    }
    hits: list[Hit] = []
    taken: dict[str, int] = {}
    # bm25 is negative, and the lower the better. A short passage alone would win over the document that is meant.
    for row in sorted(scores, key=lambda row: (scores[row], row)):
        name, title, tags, passage = store.passage(row)
        if path.casefold() not in name.casefold() or taken.get(name, 0) >= per_document:
            continue
        taken[name] = taken.get(name, 0) + 1
        hits.append(Hit(name, title, tags, passage))
        if len(hits) >= limit:
            break
    return hits, [word for word in unknown if not is_pair(word)]
