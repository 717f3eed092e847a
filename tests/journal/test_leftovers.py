"""What a run that ended without closing leaves to its successor."""

import pytest

from opspilot.core.entries import NewEntry
from opspilot.core.ports import Leftovers, OpenCall
from opspilot.journal.store import SqlJournal
from tests.journal.builders import ANN, NOON, answered, at, call, message, question, reply, result, started, stopped


def leftovers_of(journal: SqlJournal, entries: list[NewEntry]) -> Leftovers:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", entries)
    return journal.begin_run("s", "r2", at(9), ANN)


HALF_FINISHED = [
    pytest.param([call("r1", "1.1")], (), (), id="proposed only"),
    pytest.param([call("r1", "1.1"), started("r1", "1.1")], (1,), (), id="started"),
    pytest.param(
        [call("r1", "1.1"), started("r1", "1.1"), question("r1", "1.1")], (1,), (1,), id="asked while running"
    ),
    pytest.param([call("r1", "1.1"), question("r1", "1.1")], (), (1,), id="held before it ran"),
    pytest.param(
        [call("r1", "1.1"), question("r1", "1.1"), answered("r1", "1.1")], (), (1,), id="held and approved, not started"
    ),
    pytest.param(
        [call("r1", "1.1"), question("r1", "1.1"), answered("r1", "1.1"), started("r1", "1.1")],
        (1,),
        (),
        id="held, approved and started in the same round: it may have happened",
    ),
    pytest.param(
        [
            call("r1", "1.1"),
            started("r1", "1.1"),
            question("r1", "1.1"),
            answered("r1", "1.1"),
            started("r1", "1.1", 2),
        ],
        (1, 2),
        (1,),
        id="in its second round",
    ),
    pytest.param(
        [
            call("r1", "1.1"),
            started("r1", "1.1"),
            question("r1", "1.1"),
            started("r1", "1.1", 2),
            question("r1", "1.1", 2),
        ],
        (1, 2),
        (1, 2),
        id="asked twice",
    ),
    pytest.param(
        [call("r1", "1.1"), started("r1", "1.1", void=True)], (), (), id="start claimed so that nobody starts it"
    ),
]


@pytest.mark.parametrize(("entries", "started_rounds", "interrupted_rounds"), HALF_FINISHED)
def test_an_open_call_is_told_with_the_rounds_that_started_and_those_that_ended_in_a_question(
    journal: SqlJournal,
    entries: list[NewEntry],
    started_rounds: tuple[int, ...],
    interrupted_rounds: tuple[int, ...],
) -> None:
    left = leftovers_of(journal, entries)
    assert left.calls == (OpenCall("r1", "1.1", "look", "read", started_rounds, interrupted_rounds),)
    assert left.runs == ("r1",)


def test_settled_calls_are_left_out_and_open_ones_come_in_the_order_of_proposal(journal: SqlJournal) -> None:
    names = [f"1.{index}" for index in range(1, 12)]
    calls = [call("r1", name, effect="write") for name in names]
    left = leftovers_of(journal, [reply("r1", 1), *calls, started("r1", "1.2"), result("r1", "1.2")])
    assert [(one.call, one.effect) for one in left.calls] == [(name, "write") for name in names if name != "1.2"]


def test_open_questions_are_told_settled_ones_are_not(journal: SqlJournal) -> None:
    left = leftovers_of(
        journal,
        [call("r1", "1.1"), question("r1", "1.1"), answered("r1", "1.1"), call("r1", "1.2"), question("r1", "1.2")],
    )
    assert left.interrupts == (("r1", "1.2#1"),)


def test_a_run_that_closed_leaves_nothing(journal: SqlJournal) -> None:
    entries = [message("m1"), reply("r1", 1), call("r1", "1.1"), result("r1", "1.1"), stopped("r1")]
    assert leftovers_of(journal, entries) == Leftovers()


def test_a_question_of_a_call_that_has_its_result_is_no_longer_open(journal: SqlJournal) -> None:
    left = leftovers_of(journal, [call("r1", "1.1"), question("r1", "1.1"), result("r1", "1.1", code="cancelled")])
    assert left == Leftovers(runs=("r1",))


def test_a_run_that_went_on_after_stopping_is_unstopped_until_it_stops_again(journal: SqlJournal) -> None:
    left = leftovers_of(journal, [message("m1"), stopped("r1"), message("m2")])
    assert left.runs == ("r1",)


def test_the_current_run_is_never_its_own_leftover_and_a_retried_beginning_says_the_same(journal: SqlJournal) -> None:
    left = leftovers_of(journal, [call("r1", "1.1"), question("r1", "1.1")])
    journal.append("s", "r2", [call("r2", "1.1"), started("r2", "1.1"), question("r2", "1.1")])
    assert journal.begin_run("s", "r2", at(9), ANN) == left


def test_leftovers_of_several_runs_come_oldest_first_until_they_are_repaired(journal: SqlJournal) -> None:
    leftovers_of(journal, [call("r1", "1.1"), question("r1", "1.1")])
    journal.append("s", "r2", [call("r2", "1.1")])
    left = journal.begin_run("s", "r3", at(20), ANN)
    assert left.runs == ("r1", "r2")
    assert [(one.run, one.call) for one in left.calls] == [("r1", "1.1"), ("r2", "1.1")]
    repairs = [
        result("r1", "1.1", code="not_started", into="r1"),
        result("r2", "1.1", code="not_started", into="r2"),
        stopped("r1", 0, reason="internal_error", into="r1"),
        stopped("r2", 0, reason="internal_error", into="r2"),
    ]
    journal.append("s", "r3", repairs)
    assert journal.begin_run("s", "r3", at(20), ANN) == Leftovers()
    assert journal.open_interrupts() == ()
