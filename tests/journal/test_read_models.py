"""The tables that lists read say exactly what the entries say, whatever was written in whatever order."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Table, select

from opspilot.core.entries import NewEntry
from opspilot.core.errors import JournalError
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.journal import schema, upgrading
from opspilot.journal.store import SqlJournal
from tests.journal.builders import (
    ANN,
    NOON,
    answered,
    approved,
    at,
    call,
    climbed,
    expired,
    limit_question,
    message,
    question,
    reply,
    result,
    run_started,
    started,
    stopped,
)
from tests.journal.conftest import hurry
from tests.journal.recompute import Began, Tables, recompute

NAMES = st.sampled_from(["1.1", "1.2"])
ROUNDS = st.integers(1, 2)
RUNS = st.sampled_from([1, 1, 2])
TOKENS = st.tuples(st.integers(0, 50), st.integers(0, 50))
CODES = st.sampled_from([None, "tool_failed", "rejected_by_human", "outcome_unknown", "not_started", "invalid_json"])
REASONS = st.sampled_from(["answered", "cancelled", "max_steps"])
ASKERS = st.sampled_from(["1.1", "1.2", "limit"])
MAYBE = st.sampled_from([None, 0, 700, 12_346])
COSTS = st.sampled_from([None, 0.0, 0.25, 0.000001])
RULED: dict[str, Json] = {
    "rule": "writes",
    "risk": "high",
    "role": "approver",
    "quorum": 2,
    "requester": "ann",
    "terms": {"not_requester": True},
    "schema": {"type": "object"},
}

SESSION_NUMBERS = itertools.count(1)


def of(run: int) -> str:
    return f"r{run}"


def entry_of(run: int, make: Callable[..., NewEntry], *arguments: object, **named: object) -> tuple[int, NewEntry]:
    return run, make(of(run), *arguments, **named)


def one(make: Callable[..., NewEntry], *arguments: object, **named: object) -> st.SearchStrategy[tuple[int, NewEntry]]:
    drawn = [given if isinstance(given, st.SearchStrategy) else st.just(given) for given in arguments]
    named_drawn = {
        name: given if isinstance(given, st.SearchStrategy) else st.just(given) for name, given in named.items()
    }
    return st.builds(entry_of, RUNS, st.just(make), *drawn, **named_drawn)


SOMETHING = st.one_of(
    st.builds(lambda run, name: (run, message(name, f"Question {name}")), RUNS, st.sampled_from("abc")),
    one(reply, st.integers(1, 3), tokens=TOKENS, latency_ms=MAYBE, cost=COSTS, model=st.sampled_from([None, "m2"])),
    one(reply, 2, final=True, tokens=TOKENS, cost=COSTS),
    one(call, NAMES),
    one(call, NAMES, effect="write"),
    one(started, NAMES, ROUNDS, void=st.booleans()),
    one(question, NAMES, ROUNDS),
    one(question, NAMES, ROUNDS, due="2026-01-03T09:00:00+08:00", **RULED),
    one(limit_question, ROUNDS),
    one(approved, ASKERS, ROUNDS, ROUNDS),
    one(climbed, ASKERS, ROUNDS, role=st.sampled_from([None, "lead"])),
    one(answered, ASKERS, ROUNDS, asks_again=st.booleans()),
    one(expired, ASKERS, ROUNDS),
    one(result, NAMES, code=CODES, round_=st.integers(0, 2), took_ms=st.sampled_from([0, 12, 98_765])),
    one(stopped, ROUNDS, reason=REASONS, steps=st.integers(0, 4), tokens=TOKENS, cost=COSTS),
)
"""An entry for one of the first two runs of a session, written by that run itself or by a later one that repairs it."""

BATCHES = st.lists(st.just("next run") | st.lists(SOMETHING, min_size=2, max_size=12), min_size=1, max_size=6)


def write(
    journal: SqlJournal, session: str, batches: list[str | list[tuple[int, NewEntry]]]
) -> tuple[list[Began], list[datetime]]:
    """Give the runs that began, and the moments at which something was written."""
    people = itertools.cycle([ANN, Principal("root", "Root", ("admin",)), Principal("ann", "Ann Other")])
    clock = itertools.count(1)
    runs: list[Began] = []
    changed: list[datetime] = []
    for batch in ["next run", *batches]:
        moment = at(next(clock))
        last_seq = len(journal.read(session))
        if isinstance(batch, str):
            user = next(people)
            runs.append(Began(of(len(runs) + 1), moment, user.id, user.name))
            journal.begin_run(session, runs[-1].run, moment, user)
            journal.append(session, runs[-1].run, [run_started(runs[-1].run, user=user, when=moment)])
        else:
            entries = [replace(entry, at=moment, run=of(run)) for run, entry in batch if run <= len(runs)]
            journal.append(session, runs[-1].run, entries)
        if len(journal.read(session)) > last_seq:
            changed.append(moment)
    return runs, changed


@given(batches=BATCHES)
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tables_equal_what_is_computed_from_the_entries(
    shared: SqlJournal, batches: list[str | list[tuple[int, NewEntry]]]
) -> None:
    session = f"s{next(SESSION_NUMBERS)}"
    runs, changed = write(shared, session, batches)
    assert tables(shared, session) == recompute(session, shared.read(session), runs, changed)


def tables(journal: SqlJournal, session: str) -> Tables:
    def keyed(table: Table, of_session: str, *names: str) -> dict[Any, dict[str, Json]]:
        with journal._database.read() as connection:
            found = connection.execute(select(table).where(table.c[of_session] == session)).mappings().all()
        hidden = {of_session, "run_id"}
        return {
            tuple(row[name] for name in names) if len(names) > 1 else row[names[0]]: {
                name: value for name, value in row.items() if name not in hidden
            }
            for row in found
        }

    return Tables(
        session=keyed(schema.sessions, "id", "id")[session],
        runs=keyed(schema.runs, "session_id", "run_id"),
        calls=keyed(schema.calls, "session_id", "run_id", "call"),
        interrupts=keyed(schema.interrupts, "session_id", "run_id", "interrupt"),
        spending={
            seq: {name: value for name, value in row.items() if name != "seq"}
            for seq, row in keyed(schema.spending, "session_id", "seq").items()
        },
    )


@given(batches=BATCHES)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tables_computed_again_say_what_they_said(
    tmp_path_factory: pytest.TempPathFactory, batches: list[str | list[tuple[int, NewEntry]]]
) -> None:
    journal = SqlJournal(f"sqlite:///{tmp_path_factory.mktemp('again') / 'journal.sqlite'}")
    hurry(journal)
    write(journal, "s", batches)
    write(journal, "t", batches[::-1])
    before = [tables(journal, session) for session in "st"]
    with journal._database.write() as connection:
        upgrading.upgrade(connection, upgrading.FIRST)
    assert [tables(journal, session) for session in "st"] == before
    journal.close()


def test_a_session_runs_waits_and_is_done_and_runs_again_for_a_late_message(journal: SqlJournal) -> None:
    def status() -> tuple[str, str | None]:
        row = journal.session("s")
        assert row is not None
        return row.status, row.stop_reason

    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [message("m1"), reply("r1", 1), call("r1", "1.1", effect="write", gate="confirm")])
    assert status() == ("running", None)
    journal.append("s", "r1", [question("r1", "1.1")])
    assert status() == ("waiting", None)
    journal.append("s", "r1", [answered("r1", "1.1")])
    assert status() == ("running", None)
    journal.append("s", "r1", [started("r1", "1.1"), result("r1", "1.1"), reply("r1", 2), stopped("r1")])
    assert status() == ("done", "answered")
    journal.append("s", "r1", [message("m2")])
    assert status() == ("running", None)
    journal.append("s", "r1", [reply("r1", 3), stopped("r1", 2, reason="cancelled")])
    assert status() == ("done", "cancelled")
    journal.begin_run("s", "r2", at(9), ANN)
    assert status() == ("running", None)


def test_a_title_is_the_beginning_of_the_first_question(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [message("m1", "支付" * 300), message("m2", "Another")])
    row = journal.session("s")
    assert row is not None
    assert row.title == "支付" * 100


def test_a_result_closes_the_questions_of_its_own_call_alone(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [call("r1", "1.1"), call("r1", "1.2"), question("r1", "1.1"), question("r1", "1.2")])
    journal.append("s", "r1", [result("r1", "1.1", code="cancelled")])
    assert [row.interrupt for row in journal.open_interrupts()] == ["1.2#1"]


def test_a_session_was_last_changed_by_the_latest_of_what_was_written_not_the_last(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", at(1), ANN)
    journal.append("s", "r1", [message("m2", when=at(20)), message("m1", when=at(10))])
    journal.append("s", "r1", [message("m3", when=at(5))])
    row = journal.session("s")
    assert row is not None
    assert (row.created_at, row.updated_at) == (at(1), at(20))


@pytest.mark.parametrize("due", ["soon", "2026-01-02T12:00:00", 12.5])
def test_a_due_time_that_is_none_is_refused_by_name(journal: SqlJournal, due: str) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    with pytest.raises(JournalError, match="`due` must be an ISO time with its zone"):
        journal.append("s", "r1", [call("r1", "1.1"), question("r1", "1.1", due=due)])
    assert journal.read("s") == ()


def test_a_question_without_a_name_is_refused(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    with pytest.raises(JournalError, match="doesn't say which interrupt"):
        journal.append("s", "r1", [replace(question("r1", "1.1"), data={"kind": "question"})])
