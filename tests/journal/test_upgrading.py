"""A journal of the first version, as that version wrote it, is opened: its record is kept, its tables are today's."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from opspilot.core.budget import Spent
from opspilot.core.errors import JournalError
from opspilot.core.ports import Draft, Leftovers
from opspilot.journal import upgrading
from opspilot.journal.store import SqlJournal
from tests.journal.builders import ANN, NOON, answered, at, message
from tests.journal.recompute import Began, recompute
from tests.journal.test_read_models import tables

FIRST_VERSION = Path(__file__).parent / "version_1.sql"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "journal.sqlite"
    with sqlite3.connect(file) as raw:
        raw.executescript(FIRST_VERSION.read_text(encoding="utf-8"))
    raw.close()
    return file


@pytest.fixture
def upgraded(old: Path) -> Iterator[SqlJournal]:
    journal = SqlJournal(f"sqlite:///{old}")
    yield journal
    journal.close()


def test_the_record_is_kept_to_the_letter(old: Path) -> None:
    def record() -> list[list[tuple[object, ...]]]:
        with sqlite3.connect(old) as raw:
            kept = [
                raw.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
                for table in ("entries", "overflow", "drafts")
            ]
        raw.close()
        return kept

    before = record()
    SqlJournal(f"sqlite:///{old}").close()
    assert record() == before
    assert all(before)


def test_its_identity_and_what_only_the_beginning_of_a_run_knew_are_kept(upgraded: SqlJournal) -> None:
    assert upgraded.id == "0123456789abcdef0123456789abcdef"
    rows = upgraded.sessions()
    assert [(row.id, row.owner, row.owner_name) for row in rows] == [
        ("shop", "ann", "Ann"),
        ("empty", "ann", ""),
        ("waits", "ben", ""),
    ]
    assert [(row.run, row.started_at) for row in upgraded.runs("shop")] == [("r1", NOON), ("r2", at(100))]
    assert upgraded.drafts("waits") == (Draft("w1", 2, 1, "Half a"),)
    assert upgraded.overflow("shop", "ref1", 0, 6) == ("a long", 11)


def test_how_far_it_is_is_said_now_and_then(
    old: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(upgrading, "TOLD_EVERY", 10)
    SqlJournal(f"sqlite:///{old}").close()
    with sqlite3.connect(old) as raw:
        (count,) = raw.execute("SELECT count(*) FROM entries").fetchone()
    raw.close()
    assert caplog.messages == [
        f"The journal is being upgraded: {done} of {count} entries." for done in range(10, count + 1, 10)
    ]
    assert len(caplog.messages) > 1


BEGAN = {
    "shop": ([Began("r1", NOON, "ann", "Ann"), Began("r2", at(100), "ann", "Ann")], [NOON, at(106)]),
    "waits": ([Began("w1", at(10), "ben", "")], [at(11)]),
    "empty": ([Began("e1", at(20), "ann", "")], [at(20)]),
}


@pytest.mark.parametrize("session", BEGAN)
def test_its_tables_say_what_its_entries_say(upgraded: SqlJournal, session: str) -> None:
    began, changed = BEGAN[session]
    assert tables(upgraded, session) == recompute(session, upgraded.read(session), began, changed)


def test_what_the_first_version_did_not_keep_is_there(upgraded: SqlJournal) -> None:
    first, second = upgraded.runs("shop")
    assert (first.model, first.input_tokens, first.output_tokens, first.model_ms) == ("m1", 100, 20, 900)
    assert (second.model, second.cost, second.model_calls, second.cached_tokens) == ("m2", 0.5, 2, 55)
    assert upgraded.spent("shop") == Spent(241, 0.5)
    assert upgraded.spent_by("ann", at(102)) == Spent(121, 0.5)
    (question,) = upgraded.open_interrupts()
    assert (question.session, question.due, question.quorum) == ("waits", datetime(2026, 1, 3, 1, tzinfo=UTC), 1)
    assert (question.roles, question.approvals, question.title) == ((), (), "Restart it")


def test_it_is_written_on_as_if_it_had_always_been_so(upgraded: SqlJournal) -> None:
    upgraded.append("waits", "w1", [answered("w1", "1.1", when=at(200))])
    assert upgraded.open_interrupts() == ()
    assert upgraded.begin_run("shop", "r3", at(300), ANN) == Leftovers()
    (entry,) = upgraded.append("shop", "r3", [message("m9", when=at(301))])
    assert entry.seq == 19


def test_it_has_the_tables_of_a_new_journal(upgraded: SqlJournal, old: Path, tmp_path: Path) -> None:
    def layout(file: Path) -> Mapping[str, object]:
        engine = create_engine(f"sqlite:///{file}")
        seen = inspect(engine)
        found = {
            table: (
                [(column["name"], str(column["type"]), column["nullable"]) for column in seen.get_columns(table)],
                sorted((index["name"] or "", *index["column_names"]) for index in seen.get_indexes(table)),
                seen.get_pk_constraint(table)["constrained_columns"],
            )
            for table in seen.get_table_names()
        }
        engine.dispose()
        return found

    SqlJournal(f"sqlite:///{tmp_path / 'new.sqlite'}").close()
    assert layout(old) == layout(tmp_path / "new.sqlite")


def test_one_of_the_second_version_gets_what_is_new_and_keeps_its_tables(journal: SqlJournal, url: str) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [message("m1")])
    with journal._database.write() as connection:
        connection.execute(text("DROP TABLE sign_outs"))
        connection.execute(text("UPDATE meta SET value = '2' WHERE name = 'schema_version'"))
        # Would be lost if the tables were made anew.
        connection.execute(text("UPDATE sessions SET title = 'as it was'"))
    again = SqlJournal(url)
    assert (again.id, again.sessions()[0].title) == (journal.id, "as it was")
    assert again.is_signed_out("x") is False
    again.sign_out("x", NOON, at(60))
    assert journal.is_signed_out("x")
    again.close()


def test_it_is_upgraded_once_however_many_open_it_at_the_same_moment(old: Path) -> None:
    together = threading.Barrier(4)

    def open_it(_: int) -> str:
        together.wait()
        journal = SqlJournal(f"sqlite:///{old}")
        try:
            assert len(journal.sessions()) == 3
            return journal.id
        finally:
            journal.close()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(open_it, range(4))) == {"0123456789abcdef0123456789abcdef"}


def test_an_upgrade_that_fails_leaves_the_old_journal_as_it_was(old: Path) -> None:
    with sqlite3.connect(old) as raw:
        raw.execute("""UPDATE entries SET data = replace(data, '"1.1#1"', '7') WHERE kind = 'interrupt.opened'""")
    raw.close()
    with pytest.raises(JournalError, match="doesn't say which interrupt"):
        SqlJournal(f"sqlite:///{old}")
    engine = create_engine(f"sqlite:///{old}")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT value FROM meta WHERE name = 'schema_version'")).scalar() == "1"
        assert connection.execute(text("SELECT count(tokens) FROM runs")).scalar() == 4
    engine.dispose()
