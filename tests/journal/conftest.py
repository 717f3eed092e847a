"""A real journal in a real SQLite file, new for each test; for many examples one that doesn't wait for the disk."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection

from opspilot.journal.store import SqlJournal


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'journal.sqlite'}"


@pytest.fixture
def journal(url: str) -> Iterator[SqlJournal]:
    journal = SqlJournal(url)
    yield journal
    journal.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlJournal]:
    journal = SqlJournal(f"sqlite:///{tmp_path_factory.mktemp('shared') / 'journal.sqlite'}")
    hurry(journal)
    yield journal
    journal.close()


def hurry(journal: SqlJournal) -> None:
    """From now on what is written need not survive a power cut."""

    @event.listens_for(journal._database._engine, "connect")
    def _each_connection(connection: DBAPIConnection, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous=OFF")
        cursor.close()

    journal.close()
