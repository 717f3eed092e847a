"""The tables that lists read say exactly what the entries say, whatever was written in whatever order."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from opspilot.core.entries import NewEntry
from opspilot.core.errors import JournalError
from opspilot.journal import schema
from opspilot.journal.store import SqlJournal
from tests.journal.builders import (
    ANN,
    NOON,
    answered,
    at,
    call,
    expired,
    message,
    question,
    reply,
    result,
    started,
    stopped,
)
from tests.journal.recompute import Facts, recompute

NAMES = st.sampled_from(["1.1", "1.2"])
ROUNDS = st.integers(1, 2)
RUNS = st.sampled_from([1, 1, 2])
TOKENS = st.tuples(st.integers(0, 50), st.integers(0, 50))
CODES = st.sampled_from([None, "tool_failed", "rejected_by_human", "outcome_unknown", "not_started", "invalid_json"])
REASONS = st.sampled_from(["answered", "cancelled", "max_steps"])

SESSION_NUMBERS = itertools.count(1)


def of(run: int) -> str:
    return f"r{run}"


SOMETHING = st.one_of(
    st.builds(lambda run, name: (run, message(name, f"Question {name}")), RUNS, st.sampled_from("abc")),
    st.builds(lambda run, step, tokens: (run, reply(of(run), step, tokens=tokens)), RUNS, st.integers(1, 3), TOKENS),
    st.builds(lambda run, tokens: (run, reply(of(run), 2, final=True, tokens=tokens)), RUNS, TOKENS),
    st.builds(lambda run, name: (run, call(of(run), name)), RUNS, NAMES),
    st.builds(lambda run, name: (run, call(of(run), name, effect="write")), RUNS, NAMES),
    st.builds(
        lambda run, name, nth, void: (run, started(of(run), name, nth, void=void)), RUNS, NAMES, ROUNDS, st.booleans()
    ),
    st.builds(lambda run, name, nth: (run, question(of(run), name, nth)), RUNS, NAMES, ROUNDS),
    st.builds(lambda run, name, nth: (run, answered(of(run), name, nth)), RUNS, NAMES, ROUNDS),
    st.builds(lambda run, name, nth: (run, expired(of(run), name, nth)), RUNS, NAMES, ROUNDS),
    st.builds(
        lambda run, name, code, nth: (run, result(of(run), name, code=code, round_=nth)), RUNS, NAMES, CODES, ROUNDS
    ),
    st.builds(
        lambda run, nth, reason, steps, tokens: (
            run,
            stopped(of(run), nth, reason=reason, steps=steps, tokens=tokens),
        ),
        RUNS,
        st.integers(1, 2),
        REASONS,
        st.integers(0, 4),
        TOKENS,
    ),
)
"""An entry for one of the first two runs of a session, written by that run itself or by a later one that repairs it."""

BATCHES = st.lists(st.just("next run") | st.lists(SOMETHING, min_size=2, max_size=12), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlJournal]:
    folder: Path = tmp_path_factory.mktemp("journal")
    journal = SqlJournal(f"sqlite:///{folder / 'journal.sqlite'}")
    yield journal
    journal.close()


@given(batches=BATCHES)
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tables_equal_what_is_computed_from_the_entries(
    shared: SqlJournal, batches: list[str | list[tuple[int, NewEntry]]]
) -> None:
    session = f"s{next(SESSION_NUMBERS)}"
    runs = 1
    clock = itertools.count(1)
    shared.begin_run(session, of(runs), NOON, ANN)
    for batch in batches:
        if isinstance(batch, str):
            runs += 1
            shared.begin_run(session, of(runs), at(next(clock)), ANN)
            continue
        moment = at(next(clock))
        entries = [replace(entry, at=moment, run=of(run)) for run, entry in batch if run <= runs]
        shared.append(session, of(runs), entries)
        latest = shared.session(session)
        assert latest is not None
        assert latest.updated_at <= moment
    names = [of(run) for run in range(1, runs + 1)]
    assert tables(shared, session) == recompute(shared.read(session), names)


def tables(journal: SqlJournal, session: str) -> Facts:
    row = journal.session(session)
    assert row is not None
    assert [run.run for run in journal.runs(session)][-1] == row.current_run
    with journal._database.read() as connection:
        questions = connection.execute(select(schema.interrupts).where(schema.interrupts.c.session_id == session)).all()
    return Facts(
        title=row.title,
        status=row.status,
        stop_reason=row.stop_reason,
        steps=row.steps,
        tokens=row.tokens,
        last_seq=row.last_seq,
        runs={
            run.run: (
                run.stopped_at,
                run.stop_reason,
                run.steps,
                run.tokens,
                run.calls,
                run.calls_ok,
                run.calls_failed,
                run.interrupts,
            )
            for run in journal.runs(session)
        },
        calls={
            (one.run, one.call): (
                one.state,
                one.ok,
                one.error_code,
                one.rounds,
                one.proposed_at,
                one.settled_at,
                one.effect,
                one.step,
            )
            for one in journal.calls(session)
        },
        interrupts={
            (one.run_id, one.interrupt): (one.state, one.settled_at, one.action, one.by, one.opened_at, one.digest)
            for one in questions
        },
    )


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
