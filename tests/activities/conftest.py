"""A desk with a journal of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.activities.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.journal.close()


@pytest.fixture
def careful_desk(tmp_path: Path) -> Iterator[Desk]:
    """Its policy holds writes for a person before they run."""
    desk = Desk(tmp_path, careful=True)
    yield desk
    desk.journal.close()
