"""Opens the journal's database: connections, transactions, creation, and errors that people can read.

Knows how SQLite wants to be treated; the rest of the journal doesn't. Knows nothing of entries, but who can upgrade an
older journal.
"""

import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError, StatementError

from opspilot.core.errors import JournalError
from opspilot.core.messages import Json
from opspilot.journal import upgrading
from opspilot.journal.schema import SCHEMA_VERSION, meta, metadata

BUSY_SECONDS: Final = 30.0
"""How long a writer waits for the others before it gives up."""

OPENING_SECONDS: Final = 15.0
"""How long opening goes on trying: of two processes that create one file, one can find it locked with no waiting."""


class Database:
    """The engine of one journal. `read` and `write` give a connection in a transaction; both raise `JournalError`."""

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise JournalError(
                "The journal's address isn't a database URL. Write one like sqlite:////var/lib/opspilot/journal.sqlite."
            ) from None
        self.where: Final = parsed.render_as_string(hide_password=True)
        try:
            self._engine: Final = _sqlite_engine(parsed) if _is_sqlite(parsed) else _engine(parsed)
        except (ArgumentError, ImportError) as error:
            raise JournalError(f"There is no driver for the journal at {self.where}: {_cause(error)}.") from error
        self._writing: Final[AbstractContextManager[object]] = threading.Lock() if _is_sqlite(parsed) else nullcontext()
        try:
            self.journal_id: Final = self._open()
        except BaseException:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Close the idle connections."""
        self._engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the journal throughout and holds nobody up."""
        with self._errors_for_people(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that commits at the end; on SQLite the only one that writes, from its first moment.

        A deferred transaction that reads first and writes later fails at once, without waiting, when another has
        written in between. Threads of this process queue on a lock, since SQLite's own waiting is polling, which
        under load starves some of them.
        """
        with self._errors_for_people(), self._writing, self._engine.connect() as plain:
            connection = plain.execution_options(sqlite_begin="BEGIN IMMEDIATE")
            with connection.begin():
                yield connection

    @contextmanager
    def _errors_for_people(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, UnicodeError) as error:
            raise JournalError(f"The journal at {self.where} failed: {_cause(error)}.") from error

    def _open(self) -> str:
        give_up_at = time.monotonic() + OPENING_SECONDS
        while True:
            try:
                if self._engine.dialect.name == "sqlite":
                    _make_private(self._engine.url)
                    _write_ahead(self._engine)
                with self._writing, self._engine.connect() as plain:
                    connection = plain.execution_options(sqlite_begin="BEGIN IMMEDIATE")
                    with connection.begin():
                        return self._create_or_check(connection)
            except SQLAlchemyError as error:
                locked = "locked" in _cause(error)
                if not locked or time.monotonic() > give_up_at:
                    what_to_do = (
                        "Another process holds it, perhaps to upgrade it, which can take minutes; try again later."
                        if locked
                        else "Does its folder exist, may this user write to it, and is it a journal?"
                    )
                    raise JournalError(
                        f"The journal at {self.where} can't be opened: {_cause(error)}. {what_to_do}"
                    ) from error
                time.sleep(0.02)

    def _create_or_check(self, connection: Connection) -> str:
        facts: dict[str, str] = {}
        if inspect(connection).has_table(meta.name):
            facts = {row.name: row.value for row in connection.execute(select(meta))}
        if not facts:
            metadata.create_all(connection)
            facts = {"schema_version": str(SCHEMA_VERSION), "id": uuid.uuid4().hex}
            connection.execute(insert(meta), [{"name": name, "value": value} for name, value in facts.items()])
        version = int(facts["schema_version"])
        if version > SCHEMA_VERSION:
            raise JournalError(
                f"The journal at {self.where} was written by a newer OpsPilot (its schema is {version}, this one knows "
                f"{SCHEMA_VERSION}). Upgrade OpsPilot, or name another journal in OPSPILOT_JOURNAL."
            )
        if version < SCHEMA_VERSION:
            upgrading.upgrade(connection, version)
            connection.execute(update(meta).where(meta.c.name == "schema_version").values(value=str(SCHEMA_VERSION)))
        return facts["id"]


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _engine(url: URL, **more: Json) -> Engine:
    # Parameters are content, and content has no business in an error or a log.
    return create_engine(url, hide_parameters=True, **more)


def _sqlite_engine(url: URL) -> Engine:
    if url.database in {None, "", ":memory:"} or "mode=memory" in (url.database or ""):
        raise JournalError("The journal needs a file: workers and clients share it, and memory can't be shared.")
    engine = _engine(url, pool_size=8, max_overflow=-1, connect_args={"timeout": BUSY_SECONDS, "isolation_level": None})

    @event.listens_for(engine, "connect")
    def _each_connection(connection: DBAPIConnection, _record: object) -> None:
        # WAL's usual NORMAL can lose the last commits in a power cut, and Temporal has already counted those.
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _each_transaction(connection: Connection) -> None:
        if begin := connection.get_execution_options().get("sqlite_begin", "BEGIN"):
            connection.exec_driver_sql(begin)

    return engine


def _make_private(url: URL) -> None:
    # What SQLite creates anybody may read; files beside it get the mode of the one that is there. An empty file is an
    # empty database.
    path = str(url.database)
    if path.startswith("file:"):
        return
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _write_ahead(engine: Engine) -> None:
    # It stays with the file. Inside a transaction SQLite would ignore it.
    with engine.connect() as plain:
        connection = plain.execution_options(sqlite_begin="")
        if connection.exec_driver_sql("PRAGMA journal_mode").scalar() != "wal":
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")


def _cause(error: Exception) -> str:
    # The text of a SQLAlchemyError holds the statement; the database's own words are enough.
    if isinstance(error, StatementError) and error.orig is not None:
        return str(error.orig).rstrip(".")
    return str(error).rstrip(".")
