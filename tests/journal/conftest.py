"""A real journal in a real SQLite file, new for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from opspilot.journal.store import SqlJournal


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'journal.sqlite'}"


@pytest.fixture
def journal(url: str) -> Iterator[SqlJournal]:
    journal = SqlJournal(url)
    yield journal
    journal.close()
