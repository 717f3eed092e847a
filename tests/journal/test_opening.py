"""Opening: what is created, what is kept, and what is refused with a sentence."""

import sqlite3
from pathlib import Path

import pytest

from opspilot.core.errors import JournalError
from opspilot.journal import database
from opspilot.journal.store import SqlJournal
from tests.journal.builders import ANN, NOON, message


def test_a_journal_keeps_its_identity_and_its_entries(url: str) -> None:
    first = SqlJournal(url)
    first.begin_run("s", "r1", NOON, ANN)
    written = first.append("s", "r1", [message("m1")])
    first.close()
    again = SqlJournal(url)
    assert again.id == first.id
    assert again.read("s") == written
    again.close()


def test_two_journals_have_two_identities(tmp_path: Path) -> None:
    journals = [SqlJournal(f"sqlite:///{tmp_path / name}") for name in ("a.sqlite", "b.sqlite")]
    assert journals[0].id != journals[1].id
    for journal in journals:
        journal.close()


def test_every_connection_writes_ahead_and_waits_for_the_disk(journal: SqlJournal) -> None:
    for transaction in (journal._database.read, journal._database.write):
        with transaction() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_a_journal_of_a_newer_version_is_refused_and_left_alone(url: str, tmp_path: Path) -> None:
    SqlJournal(url).close()
    with sqlite3.connect(tmp_path / "journal.sqlite") as raw:
        raw.execute("UPDATE meta SET value = '99' WHERE name = 'schema_version'")
    raw.close()
    with pytest.raises(JournalError, match=r"newer OpsPilot \(its schema is 99, this one knows 4\)"):
        SqlJournal(url)


REFUSED = [
    ("sqlite://", "needs a file"),
    ("sqlite:///:memory:", "needs a file"),
    ("journal.sqlite", "isn't a database URL"),
    ("nosuchdatabase://somewhere/journal", "no driver for"),
]


@pytest.mark.parametrize(("url", "sentence"), REFUSED)
def test_an_address_that_cannot_be_a_journal_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(JournalError, match=sentence):
        SqlJournal(url)


def test_a_missing_folder_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"missing/journal.sqlite can't be opened: unable to open database file"):
        SqlJournal(f"sqlite:///{tmp_path}/missing/journal.sqlite")


def test_a_journal_that_another_process_upgrades_for_long_is_no_mystery(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SqlJournal(url).close()
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr(database, "OPENING_SECONDS", 0.1)
    holder = sqlite3.connect(tmp_path / "journal.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(JournalError, match="Another process holds it, perhaps to upgrade it"):
        SqlJournal(url)
    holder.close()


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("These are my notes.\n" * 100)
    with pytest.raises(JournalError, match="file is not a database"):
        SqlJournal(f"sqlite:///{file}")
    assert file.read_text().startswith("These are my notes.")


def test_a_password_in_the_address_is_never_shown() -> None:
    with pytest.raises(JournalError) as raised:
        SqlJournal("nosuchdatabase://ops:hunter2@somewhere/journal")
    assert "hunter2" not in str(raised.value)


def test_content_never_shows_in_errors_of_the_database(url: str, tmp_path: Path, journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    with sqlite3.connect(tmp_path / "journal.sqlite") as raw:
        raw.execute("DROP TABLE calls")
        raw.execute("DROP TABLE entries")
    raw.close()
    with pytest.raises(JournalError) as raised:
        journal.append("s", "r1", [message("m1", "the words of a person")])
    error: BaseException | None = raised.value
    assert "no such table" in str(error)
    while error is not None:
        assert "the words of a person" not in str(error)
        error = error.__cause__
