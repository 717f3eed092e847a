"""A run that Temporal ended behind our back: shown as done by whoever learns of it first, repaired by the next run."""

from collections.abc import Callable

import pytest

from opspilot.core.entries import NewEntry
from opspilot.core.errors import JournalError, StaleRun
from opspilot.core.ghosts import ended_behind_our_back
from opspilot.core.ports import Draft
from opspilot.journal.store import SqlJournal
from tests.journal.builders import ANN, NOON, at, call, message, question, reply, result, run_started, started, stopped


def waiting(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [run_started("r1"), message("m1"), reply("r1", 1), call("r1", "1.1", effect="write")])
    journal.append("s", "r1", [question("r1", "1.1")])


def test_it_is_done_and_its_questions_leave_the_inbox(journal: SqlJournal) -> None:
    waiting(journal)
    journal.put_draft("s", Draft("r1", 2, 1, "Half a"))
    assert journal.end_ghost("s", "r1", at(60)) is True
    row = journal.session("s")
    assert row is not None
    assert (row.status, row.stop_reason, row.waiting, row.updated_at) == ("done", "internal_error", 0, at(60))
    assert journal.open_interrupts() == ()
    assert journal.drafts("s") == ()
    assert [(one.state, one.settled_at) for one in journal.interrupts("s")] == [("closed", at(60))]
    last = journal.read("s")[-1]
    assert (last.key, last.run, last.at) == ("r1/stopped/0", "r1", at(60))
    assert "ended outside OpsPilot" in last.data["message"]


def test_saying_it_again_changes_nothing(journal: SqlJournal) -> None:
    waiting(journal)
    journal.end_ghost("s", "r1", at(60))
    before = journal.read("s")
    assert journal.end_ghost("s", "r1", at(90)) is False
    assert journal.read("s") == before


NOT_GHOSTS: list[tuple[str, Callable[[SqlJournal], object]]] = [
    ("stopped by itself", lambda journal: journal.append("s", "r1", [stopped("r1")])),
    ("replaced", lambda journal: journal.begin_run("s", "r2", at(30), ANN)),
]


@pytest.mark.parametrize(("name", "happens"), NOT_GHOSTS, ids=[name for name, _ in NOT_GHOSTS])
def test_a_run_that_is_no_ghost_is_left_alone(
    journal: SqlJournal, name: str, happens: Callable[[SqlJournal], object]
) -> None:
    waiting(journal)
    happens(journal)
    before = journal.read("s"), journal.session("s")
    assert journal.end_ghost("s", "r1", at(60)) is False
    assert (journal.read("s"), journal.session("s")) == before
    assert journal.end_ghost("nobody", "r1", at(60)) is False


def test_a_run_that_went_on_for_a_late_message_can_be_a_ghost(journal: SqlJournal) -> None:
    waiting(journal)
    journal.append("s", "r1", [stopped("r1"), message("m2")])
    assert journal.end_ghost("s", "r1", at(60)) is True


LATE = [
    reply("r1", 2),
    message("m2"),
    question("r1", "1.1", 2),
    result("r1", "1.1"),
    stopped("r1", 1),
]


@pytest.mark.parametrize("late", LATE, ids=[entry.kind.value for entry in LATE])
def test_an_activity_that_outlives_it_writes_nothing_any_more(journal: SqlJournal, late: NewEntry) -> None:
    waiting(journal)
    journal.end_ghost("s", "r1", at(60))
    before = journal.read("s")
    with pytest.raises(StaleRun, match="was ended outside OpsPilot"):
        journal.append("s", "r1", [late])
    journal.put_draft("s", Draft("r1", 2, 1, "Half a"))
    assert journal.drafts("s") == ()
    assert journal.read("s") == before


def test_the_next_run_repairs_the_calls_that_it_left_and_ends_it_no_second_time(journal: SqlJournal) -> None:
    waiting(journal)
    journal.append("s", "r1", [started("r1", "1.1")])
    journal.end_ghost("s", "r1", at(60))
    left = journal.begin_run("s", "r2", at(90), ANN)
    assert (left.runs, [one.call for one in left.calls]) == ((), ["1.1"])
    repairs = [result("r1", "1.1", code="outcome_unknown", into="r1"), run_started("r2")]
    journal.append("s", "r2", repairs)
    assert journal.begin_run("s", "r2", at(90), ANN).calls == ()
    assert [entry.key for entry in journal.read("s") if entry.run == "r1"].count("r1/stopped/0") == 1


def test_a_repair_that_was_under_way_already_and_this_are_one_end(journal: SqlJournal) -> None:
    waiting(journal)
    left = journal.begin_run("s", "r2", at(50), ANN)
    assert left.runs == ("r1",)
    assert journal.end_ghost("s", "r1", at(60)) is False
    (entry,) = journal.append("s", "r2", [ended_behind_our_back("r1", at(70))])
    assert (entry.key, entry.run, journal.runs("s")[0].stopped_at) == ("r1/stopped/0", "r1", at(70))


def test_a_moment_without_a_zone_is_refused(journal: SqlJournal) -> None:
    waiting(journal)
    with pytest.raises(JournalError, match="has no time zone"):
        journal.end_ghost("s", "r1", at(60).replace(tzinfo=None))
