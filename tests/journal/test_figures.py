"""The page of figures: each says what the entries say, over any range; percentiles are values that were measured."""

import itertools
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from math import ceil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opspilot.core.budget import Spent
from opspilot.core.interrupts import Principal
from opspilot.journal import totals
from opspilot.journal.figures import Numbers, Times, ToolFigures
from opspilot.journal.store import SqlJournal
from tests.journal.builders import (
    ANN,
    NOON,
    answered,
    at,
    call,
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
from tests.journal.recompute import rounded

DAY = 86_400


def test_the_figures_of_an_empty_journal_are_unknown_not_zero(journal: SqlJournal) -> None:
    assert journal.numbers() == Numbers(
        runs=0,
        runs_stopped=0,
        mean_steps=None,
        input_tokens=0,
        output_tokens=0,
        cost=None,
        calls_ok=0,
        calls_failed=0,
        failure_rate=None,
        runs_interrupted=0,
        interrupted_finished=0,
        finished_rate=None,
        model_calls=0,
        mean_model_ms=None,
        model_time=Times(),
        tool_time=Times(),
        tools=(),
        stop_reasons=(),
        days=(),
    )


def begin(journal: SqlJournal, session: str, seconds: float) -> str:
    run = f"run-{session}"
    journal.begin_run(session, run, at(seconds), ANN)
    return run


def test_the_figures_count_what_they_say(journal: SqlJournal) -> None:
    finished = begin(journal, "one", 1)
    journal.append("one", finished, [reply(finished, 1, latency_ms=100), call(finished, "1.1")])
    journal.append("one", finished, [question(finished, "1.1"), answered(finished, "1.1"), started(finished, "1.1")])
    journal.append("one", finished, [result(finished, "1.1"), reply(finished, 2, latency_ms=300)])
    journal.append("one", finished, [stopped(finished, steps=2, tokens=(90, 10), cost=0.5)])
    given_up = begin(journal, "two", 2)
    journal.append("two", given_up, [reply(given_up, 1), call(given_up, "1.1"), question(given_up, "1.1")])
    journal.append("two", given_up, [result(given_up, "1.1", code="rejected_by_human"), call(given_up, "1.2")])
    journal.append(
        "two", given_up, [result(given_up, "1.2", code="tool_failed"), stopped(given_up, reason="cancelled")]
    )
    going_on = begin(journal, "three", 3)
    journal.append("three", going_on, [reply(going_on, 1), call(going_on, "1.1"), result(going_on, "1.1")])
    numbers = journal.numbers()
    assert (numbers.runs, numbers.runs_stopped, numbers.mean_steps) == (3, 2, 1.5)
    assert (numbers.calls_ok, numbers.calls_failed, numbers.failure_rate) == (2, 1, 1 / 3)
    assert (numbers.runs_interrupted, numbers.interrupted_finished, numbers.finished_rate) == (2, 1, 0.5)
    assert (numbers.input_tokens, numbers.output_tokens, numbers.cost) == (90, 10, 0.5)
    assert (numbers.model_calls, numbers.mean_model_ms) == (2, 200)
    assert numbers.stop_reasons == (("answered", 1), ("cancelled", 1))
    assert journal.numbers(since=at(2)).interrupted_finished == 0
    assert journal.numbers(since=at(2)).runs_stopped == 1
    assert journal.numbers(until=at(2)).runs_stopped == 1


def test_a_tool_is_judged_by_its_own_calls_and_timed_by_those_that_ran(journal: SqlJournal) -> None:
    run = begin(journal, "s", 0)
    outcomes: list[tuple[str, str | None, int, float]] = [
        ("logs", None, 1, 10),
        ("logs", None, 1, 30),
        ("logs", "timed_out", 1, 5000),
        ("logs", "rejected_by_human", 0, 0),
        ("logs", "invalid_arguments", 0, 0),
        ("restart", None, 2, 0),
        ("restart", "outcome_unknown", 1, 0),
        ("made_up", "unknown_tool", 0, 0),
        ("held", "rejected_by_human", 0, 0),
    ]
    for index, (tool, code, round_, took_ms) in enumerate(outcomes, start=1):
        name = f"1.{index}"
        ended = result(run, name, code=code, round_=round_, took_ms=took_ms)
        journal.append("s", run, [call(run, name, tool=tool), ended])
    numbers = journal.numbers()
    assert numbers.tools == (
        ToolFigures("logs", 2, 2, 0.5, Times(3, 30, 5000)),
        ToolFigures("restart", 1, 1, 0.5, Times(1, 0, 0)),
        ToolFigures("made_up", 0, 1, 1.0, Times()),
    )
    assert numbers.tool_time == Times(4, 10, 5000)
    assert (numbers.calls_ok, numbers.calls_failed) == (3, 4)


def test_a_question_about_a_limit_counts_as_asking_a_person(journal: SqlJournal) -> None:
    run = begin(journal, "s", 0)
    journal.append("s", run, [reply(run, 1), limit_question(run), answered(run, "limit"), stopped(run, steps=1)])
    assert journal.numbers().finished_rate == 1.0


def test_a_day_is_one_of_utc_and_holds_the_runs_that_began_on_it(journal: SqlJournal) -> None:
    for name, seconds in (("a", 0), ("b", DAY / 2 - 1), ("c", DAY / 2), ("d", 3 * DAY)):
        run = begin(journal, name, seconds)
        end = at(seconds + 2 * DAY)
        journal.append(name, run, [reply(run, 1, tokens=(5, 1), when=end), stopped(run, steps=1, when=end)])
    days = journal.numbers().days
    assert [(one.day, one.runs, one.input_tokens) for one in days] == [
        (date(2026, 1, 2), 2, 10),
        (date(2026, 1, 3), 1, 5),
        (date(2026, 1, 5), 1, 5),
    ]
    assert [one.cost for one in days] == [None, None, None]


def test_a_range_may_be_given_in_any_zone(journal: SqlJournal) -> None:
    begin(journal, "s", 0)
    east, west = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
    for zone in (east, UTC, west):
        assert journal.numbers(since=NOON.astimezone(zone)).runs == 1
        assert journal.numbers(until=(NOON + timedelta(seconds=1)).astimezone(zone)).runs == 1
        assert journal.numbers(until=NOON.astimezone(zone)).runs == 0


# ---------------------------------------------------------------- against the plainest way of counting


WEEKS = itertools.count(1)
"""Each example has a week of its own, in which its runs begin."""

CALL = st.tuples(
    st.sampled_from(["logs", "docs", "restart"]),
    st.sampled_from([None, None, "tool_failed", "rejected_by_human"]),
    st.integers(0, 2000),
)
RUN = st.tuples(
    st.integers(0, 4 * DAY),
    st.lists(st.integers(0, 3000), max_size=4),
    st.lists(CALL, max_size=5),
    st.sampled_from([None, "answered", "cancelled"]),
    st.booleans(),
)
MOMENT = st.integers(-DAY, 5 * DAY)


@given(runs=st.lists(RUN, max_size=12), since=MOMENT, until=MOMENT)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_range_gives_what_counting_by_hand_gives(
    shared: SqlJournal,
    runs: list[tuple[int, list[int], list[tuple[str, str | None, int]], str | None, bool]],
    since: int,
    until: int,
) -> None:
    week = next(WEEKS)
    for number, (seconds, latencies, calls, reason, asks) in enumerate(runs):
        session = f"s{week}-{number}"
        run = begin(shared, session, week * 7 * DAY + seconds)
        entries = [reply(run, step, latency_ms=ms, tokens=(ms, 1)) for step, ms in enumerate(latencies, start=1)]
        for index, (tool, code, took_ms) in enumerate(calls, start=1):
            entries += [call(run, f"1.{index}", tool=tool), result(run, f"1.{index}", code=code, took_ms=took_ms)]
        entries += [limit_question(run)] if asks else []
        entries += [stopped(run, reason=reason)] if reason else []
        shared.append(session, run, entries)
    numbers = shared.numbers(at(week * 7 * DAY + since), at(week * 7 * DAY + until))
    inside = [run for run in runs if since <= run[0] < until]
    every_call = [one for _, _, calls, _, _ in inside for one in calls]
    latencies = [ms for _, found, _, _, _ in inside for ms in found]
    assert numbers.runs == len(inside)
    assert dict(numbers.stop_reasons) == Counter(reason for *_, reason, _ in inside if reason)
    assert numbers.input_tokens == sum(latencies)
    assert numbers.model_time == times(latencies)
    assert numbers.tool_time == times([ms for _, code, ms in every_call if measured(code, ms)])
    assert {one.tool: (one.calls_ok, one.calls_failed, one.times) for one in numbers.tools} == {
        tool: (
            sum(1 for name, code, _ in every_call if name == tool and code is None),
            sum(1 for name, code, _ in every_call if name == tool and code == "tool_failed"),
            times([ms for name, code, ms in every_call if name == tool and measured(code, ms)]),
        )
        for tool in {name for name, code, _ in every_call if code != "rejected_by_human"}
    }
    for name in ("runs", "runs_stopped", "input_tokens", "calls_ok", "calls_failed", "runs_interrupted", "model_calls"):
        assert sum(getattr(one, name) for one in numbers.days) == getattr(numbers, name)
    assert numbers.runs_interrupted == sum(1 for *_, asks in inside if asks)
    assert numbers.interrupted_finished == sum(1 for *_, reason, asks in inside if asks and reason == "answered")


WRITE = st.tuples(
    st.integers(0, 3),
    st.integers(1, 4),
    st.sampled_from(["reply", "call", "well", "failed", "rejected", "ask", "stop", "give up", "message", "repair"]),
    st.integers(0, 3000),
)
LONG_AGO, MUCH_LATER = NOON - timedelta(days=9, microseconds=1), NOON + timedelta(days=9, microseconds=1)
"""With these bounds everything is counted, since they are not the bounds of days."""


@given(writes=st.lists(WRITE, max_size=40))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_sums_that_are_kept_are_what_counting_gives_whatever_was_written_in_which_order(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[int, int, str, int]]
) -> None:
    """Also after runs that stopped go on, calls are settled twice, and a later run repairs an earlier one."""
    journal = SqlJournal(f"sqlite:///{tmp_path_factory.mktemp('sums') / 'journal.sqlite'}")
    hurry(journal)
    runs = dict.fromkeys(range(4), "")
    for number, (session, nth, what, ms) in enumerate(writes):
        name, run = f"s{session}", runs[session]
        if what == "repair" or not run:
            before, run = run, f"run-{session}-{number}"
            runs[session] = run
            journal.begin_run(name, run, at(number * DAY / 9), ANN)
            if before:
                late = replace(result(before, f"1.{nth}", took_ms=ms), run=before)
                journal.append(name, run, [late, replace(stopped(before), run=before)])
        latest = {
            "reply": [reply(run, nth, latency_ms=ms, tokens=(ms, nth), cost=ms / 1_000_000)],
            "call": [call(run, f"1.{nth}", tool=f"tool{nth}")],
            "well": [call(run, f"1.{nth}", tool=f"tool{nth}"), result(run, f"1.{nth}", took_ms=ms)],
            "failed": [result(run, f"1.{nth}", code="tool_failed", took_ms=ms)],
            "rejected": [result(run, f"1.{nth}", code="rejected_by_human", took_ms=ms)],
            "ask": [limit_question(run)],
            "stop": [stopped(run, nth, steps=nth, tokens=(ms, ms), cost=ms / 1_000)],
            "give up": [stopped(run, nth, reason="cancelled", steps=nth)],
            "message": [message(f"m{number}")],
            "repair": [],
        }
        journal.append(name, run, latest[what])
    kept, counted = journal.numbers(), journal.numbers(LONG_AGO, MUCH_LATER)
    assert kept == counted
    days = sorted(day.day for day in kept.days)
    for first, last in itertools.product(days[:2], days[-2:]):
        since = datetime(first.year, first.month, first.day, tzinfo=UTC)
        until = datetime(last.year, last.month, last.day, tzinfo=UTC)
        hair = timedelta(microseconds=1)
        assert journal.numbers(since, until) == journal.numbers(since - hair, until - hair)
    with journal._database.write() as connection:
        totals.compute(connection)
    assert journal.numbers() == kept
    journal.close()


def measured(code: str | None, took_ms: float) -> bool:
    return code is None or took_ms > 0


def times(measured_ms: list[int]) -> Times:
    if not measured_ms:
        return Times()
    ordered = sorted(map(rounded, measured_ms))
    return Times(len(ordered), *(ordered[ceil(share * len(ordered)) - 1] for share in (0.5, 0.95)))


# ---------------------------------------------------------------- budgets


def test_what_was_spent_includes_the_open_run_and_every_earlier_one(journal: SqlJournal) -> None:
    assert journal.spent("s") == Spent()
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [run_started("r1"), reply("r1", 1, tokens=(100, 10), cost=0.25)])
    assert journal.spent("s") == Spent(110, 0.25)
    journal.append("s", "r1", [stopped("r1", steps=1, tokens=(100, 10), cost=0.25)])
    assert journal.spent("s") == Spent(110, 0.25)
    journal.begin_run("s", "r2", at(60), ANN)
    journal.append("s", "r2", [run_started("r2"), reply("r2", 1, tokens=(200, 20), cost=0.5)])
    assert journal.spent("s") == Spent(330, 0.75)


def test_what_a_person_spent_is_counted_by_when_it_was_spent_over_all_sessions(journal: SqlJournal) -> None:
    root = Principal("root", "Root", ("admin",))
    for session, user, seconds, tokens in (("a", ANN, 10, 100), ("b", ANN, 20, 50), ("c", root, 30, 7)):
        journal.begin_run(session, f"r-{session}", NOON, user)
        run, when = f"r-{session}", at(seconds)
        journal.append(session, run, [run_started(run, user=user), message(f"m-{session}")])
        journal.append(session, run, [reply(run, 1, tokens=(tokens, 1), cost=0.1, when=when)])
    journal.begin_run("a", "r-again", at(40), root)
    journal.append("a", "r-again", [run_started("r-again", user=root), reply("r-again", 1, tokens=(4, 0), when=at(41))])
    assert journal.spent_by("ann", NOON) == Spent(152, 0.2)
    assert journal.spent_by("ann", at(10)) == Spent(152, 0.2)
    assert journal.spent_by("ann", at(11)) == Spent(51, 0.1)
    assert journal.spent_by("root", NOON) == Spent(12, 0.1)
    assert journal.spent_by("nobody", NOON) == Spent()


def test_an_end_that_knows_of_more_than_the_replies_adds_the_difference(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [reply("r1", 1, tokens=(100, 10), cost=0.25)])
    journal.append("s", "r1", [stopped("r1", tokens=(150, 10), cost=0.75, when=at(9))])
    assert journal.spent("s") == Spent(160, 0.75)
    assert journal.spent_by("ann", at(9)) == Spent(50, 0.5)
    journal.append("s", "r1", [message("m2"), stopped("r1", 2, tokens=(150, 10), cost=0.75, when=at(10))])
    assert journal.spent("s") == Spent(160, 0.75)
