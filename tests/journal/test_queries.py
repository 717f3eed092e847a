"""Lists, the inbox and the figures: what they show, in which order, and that an index answers them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event

from opspilot.core.interrupts import Principal
from opspilot.journal.inbox import AskedOf, InboxFilter, InboxPlace
from opspilot.journal.queries import SessionFilter
from opspilot.journal.store import SqlJournal
from tests.journal.builders import (
    ANN,
    NOON,
    answered,
    at,
    call,
    message,
    question,
    reply,
    result,
    run_started,
    started,
    stopped,
)

BEN = Principal("ben")


def ask(journal: SqlJournal, session: str, text: str, seconds: float, owner: Principal = ANN) -> str:
    run = f"run-{session}"
    journal.begin_run(session, run, at(seconds), owner)
    journal.append(session, run, [message(f"m-{session}", text, at(seconds))])
    return run


def ids(journal: SqlJournal, **filters: object) -> list[str]:
    return [row.id for row in journal.sessions(**filters)]  # type: ignore[arg-type]


def test_sessions_come_latest_change_first_and_are_filtered_by_status_owner_and_text(journal: SqlJournal) -> None:
    ask(journal, "one", "Why does Payment fail?", 1)
    done = ask(journal, "two", "支付服务为什么报错", 2, BEN)
    waiting = ask(journal, "three", "Restart 100% of it_all", 3)
    journal.append("two", done, [stopped(done, when=at(20))])
    journal.append("three", waiting, [call(waiting, "1.1", when=at(10)), question(waiting, "1.1", when=at(10))])
    assert ids(journal) == ["two", "three", "one"]
    assert ids(journal, status="running") == ["one"]
    assert ids(journal, status="waiting") == ["three"]
    assert ids(journal, status="done", owner="ben") == ["two"]
    assert ids(journal, owner="ann") == ["three", "one"]
    assert ids(journal, owner="nobody") == []
    assert ids(journal, text="payment FAIL") == ["one"]
    assert ids(journal, text="报错") == ["two"]
    assert ids(journal, text="THREE") == ["three"]
    assert ids(journal, text="100%") == ["three"]
    assert ids(journal, text="_") == ["three"]
    assert ids(journal, text="x%l") == []


def found(journal: SqlJournal, **wanted: object) -> list[str]:
    filter_ = SessionFilter(**wanted)  # type: ignore[arg-type]
    rows = [row.id for row in journal.find_sessions(filter_)]
    assert journal.count_sessions(filter_) == len(rows)
    return rows


def test_sessions_are_found_by_why_they_stopped_and_by_when_they_began_and_changed(journal: SqlJournal) -> None:
    for name, began, reason, ended in (
        ("one", 10, "answered", 500),
        ("two", 20, "cancelled", 30),
        ("three", 30, "answered", 40),
        ("four", 45, None, 0),
    ):
        run = ask(journal, name, "q", began)
        if reason is not None:
            journal.append(name, run, [stopped(run, reason=reason, when=at(ended))])
    assert found(journal) == ["one", "four", "three", "two"]
    assert found(journal, stop_reason="answered") == ["one", "three"]
    assert found(journal, stop_reason="answered", updated_until=at(500)) == ["three"]
    assert found(journal, stop_reason="nothing_to_do") == []
    assert found(journal, created_since=at(20)) == ["four", "three", "two"]
    assert found(journal, created_since=at(20), created_until=at(45)) == ["three", "two"]
    assert found(journal, created_until=at(20)) == ["one"]
    assert found(journal, updated_since=at(40)) == ["one", "four", "three"]
    assert found(journal, updated_since=at(30), updated_until=at(40)) == ["two"]
    assert found(journal, status="done", stop_reason="answered", owner="ann", text="THREE") == ["three"]


def test_counting_stops_where_it_is_told_to(journal: SqlJournal) -> None:
    for number in range(5):
        ask(journal, f"s{number}", "q", number)
    assert [journal.count_sessions(SessionFilter(), at_most=most) for most in (1, 5, 6)] == [1, 5, 5]


def test_a_session_shows_its_owner_model_cost_and_how_many_questions_wait(journal: SqlJournal) -> None:
    root = Principal("root", "Root", ("admin",))
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [run_started("r1", model="small"), reply("r1", 1, tokens=(10, 1), cost=0.25)])
    journal.append("s", "r1", [call("r1", "1.1"), call("r1", "1.2"), question("r1", "1.1"), question("r1", "1.2")])
    row = journal.session("s")
    assert row is not None
    assert (row.owner_name, row.model, row.cost, row.waiting, row.tokens) == ("Ann", "small", 0.25, 2, 11)
    journal.append("s", "r1", [stopped("r1", reason="cancelled", tokens=(10, 1), cost=0.25)])
    journal.begin_run("s", "r2", at(9), root)
    journal.append("s", "r2", [run_started("r2", user=root, model="big"), reply("r2", 1, cost=0.5, model="bigger")])
    row = journal.session("s")
    assert row is not None
    assert (row.owner, row.owner_name, row.model, row.cost, row.waiting) == ("ann", "Ann", "bigger", 0.75, 0)
    assert [(run.requester, run.requester_name, run.model) for run in journal.runs("s")] == [
        ("ann", "Ann", "small"),
        ("root", "Root", "bigger"),
    ]


def test_a_run_shows_tokens_and_model_time_while_it_goes_on(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [reply("r1", 1, tokens=(100, 7), latency_ms=800)])
    journal.append("s", "r1", [reply("r1", 2, tokens=(200, 9), latency_ms=400), reply("r1", 2, final=True)])
    (run,) = journal.runs("s")
    assert (run.input_tokens, run.output_tokens, run.cached_tokens, run.tokens) == (300, 16, 150, 316)
    assert (run.model_calls, run.model_ms, run.cost, run.stopped_at) == (2, 1200, None, None)


def test_text_is_found_whatever_its_case_in_any_script(journal: SqlJournal) -> None:
    ask(journal, "one", "ПЛАТЁЖ und STRASSE", 1)
    assert ids(journal, text="платёж") == ["one"]
    assert ids(journal, text="straße") == ["one"]


def test_paging_gives_each_session_once_even_when_many_changed_at_the_same_moment(journal: SqlJournal) -> None:
    names = {f"s{number:02}" for number in range(25)}
    for number, name in enumerate(sorted(names)):
        ask(journal, name, "q", number // 10)
    seen: list[str] = []
    page = journal.sessions(limit=7)
    while page:
        seen += [row.id for row in page]
        page = journal.sessions(limit=7, before=(page[-1].updated_at, page[-1].id))
    assert len(seen) == len(names)
    assert set(seen) == names
    assert seen == ids(journal)


def test_a_session_that_is_not_there_is_none(journal: SqlJournal) -> None:
    assert journal.session("nobody") is None
    assert journal.runs("nobody") == ()
    assert journal.calls("nobody") == ()


def test_the_inbox_shows_what_can_still_be_settled_longest_open_first(journal: SqlJournal) -> None:
    first, second = ask(journal, "one", "q", 1), ask(journal, "two", "q", 2)
    due = "2026-01-03T09:00:00+08:00"
    journal.append("two", second, [call(second, "1.1"), question(second, "1.1", when=at(5), due=due)])
    journal.append("one", first, [call(first, "1.1"), call(first, "1.2"), question(first, "1.2", when=at(7))])
    journal.append("one", first, [question(first, "1.1", when=at(6)), answered(first, "1.1", when=at(8))])
    shown = journal.open_interrupts()
    assert [(row.session, row.interrupt) for row in shown] == [("two", "1.1#1"), ("one", "1.2#1")]
    assert shown[0].due == datetime(2026, 1, 3, 1, tzinfo=UTC)
    assert shown[0].arguments == {"service": "payment"}
    assert shown[0].payload == {"impact": "high"}
    assert (shown[0].kind, shown[0].tool, shown[0].digest, shown[0].call) == ("confirm_risky", "restart", "d1", "1.1")
    assert [row.session for row in journal.open_interrupts("one")] == ["one"]
    journal.begin_run("two", "next", at(30), ANN)
    assert [row.session for row in journal.open_interrupts()] == ["one"]


def test_calls_come_in_the_order_of_proposal_with_how_they_ended(journal: SqlJournal) -> None:
    run = ask(journal, "one", "q", 1)
    proposed = [call(run, "1.1"), call(run, "1.2", effect="write", gate="deny"), call(run, "10.1"), call(run, "2.1")]
    journal.append("one", run, proposed)
    journal.append("one", run, [result(run, "1.2", code="denied_by_policy", round_=0), started(run, "1.1")])
    journal.append("one", run, [result(run, "1.1", when=at(3))])
    rows = journal.calls("one")
    assert [row.call for row in rows] == ["1.1", "1.2", "10.1", "2.1"]
    assert (rows[0].state, rows[0].ok, rows[0].duration_ms, rows[0].rounds) == ("done", True, 12, 1)
    assert (rows[1].ok, rows[1].error_code, rows[1].gate, rows[1].rounds) == (False, "denied_by_policy", "deny", 0)
    assert (rows[2].state, rows[2].ok, rows[2].settled_at) == ("proposed", None, None)
    assert journal.calls("one", run) == rows
    assert journal.calls("one", "another") == ()


MINE = AskedOf(["approver"], unruled=True, requester="ann")
ASKED: list[tuple[str, Callable[[SqlJournal], object]]] = [
    ("all", lambda journal: journal.sessions()),
    ("status", lambda journal: journal.sessions(status="waiting")),
    ("owner", lambda journal: journal.sessions(owner="ann")),
    ("both", lambda journal: journal.sessions(status="done", owner="ann")),
    ("page", lambda journal: journal.sessions(before=(NOON, "s"))),
    ("page of both", lambda journal: journal.sessions(status="done", owner="ann", before=(NOON, "s"))),
    ("text", lambda journal: journal.sessions(text="payment")),
    ("one", lambda journal: journal.session("s")),
    ("reason", lambda journal: journal.find_sessions(SessionFilter(stop_reason="answered"), before=(NOON, "s"))),
    ("began", lambda journal: journal.find_sessions(SessionFilter(created_since=NOON, created_until=NOON))),
    ("changed", lambda journal: journal.find_sessions(SessionFilter(updated_since=NOON, updated_until=NOON))),
    ("count", lambda journal: journal.count_sessions(SessionFilter(status="done", text="payment"))),
    ("inbox", lambda journal: journal.open_interrupts()),
    ("my inbox", lambda journal: journal.open_interrupts(wanted=InboxFilter(MINE, None, "restart", "high"), limit=20)),
    ("next page", lambda journal: journal.open_interrupts(limit=20, after=InboxPlace(NOON, NOON, "s", 1))),
    ("questions of one", lambda journal: journal.interrupts("s")),
    ("how many wait", lambda journal: journal.count_open_interrupts(InboxFilter(MINE))),
    ("what an inbox names", lambda journal: journal.inbox_choices(MINE)),
    ("spent", lambda journal: journal.spent("s")),
    ("spent by one", lambda journal: journal.spent_by("ann", NOON)),
    ("inbox of one", lambda journal: journal.open_interrupts("s")),
    ("calls", lambda journal: journal.calls("s")),
    ("runs", lambda journal: journal.runs("s")),
    ("numbers", lambda journal: journal.numbers(NOON - timedelta(days=1))),
    ("all numbers", lambda journal: journal.numbers()),
    ("tail", lambda journal: journal.read("s", after=5)),
    ("keys", lambda journal: journal.find("s", ["a", "b"])),
    ("leftovers", lambda journal: journal.begin_run("s", "r1", NOON, ANN)),
]


@pytest.mark.parametrize(("name", "query"), ASKED, ids=[name for name, _ in ASKED])
def test_every_query_is_answered_from_an_index(
    journal: SqlJournal, name: str, query: Callable[[SqlJournal], object]
) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [reply("r1", 1, latency_ms=9), call("r1", "1.1"), result("r1", "1.1")])
    statements: list[tuple[str, object]] = []

    @event.listens_for(journal._database._engine, "before_cursor_execute")
    def _see(_connection: object, _cursor: object, statement: str, parameters: object, *_rest: object) -> None:
        statements.append((statement, parameters))

    query(journal)
    asked = [(text, values) for text, values in statements if text.lstrip().startswith("SELECT")]
    assert asked
    with journal._database.read() as connection:
        for statement, values in asked:
            plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]  # type: ignore[arg-type]
            # `times` are sums, of which all are wanted.
            scans = [
                line
                for line in plan
                if line.startswith("SCAN") and "USING" not in line and line not in {"SCAN counted", "SCAN times"}
            ]
            assert not scans, plan
            if "FROM sessions" in statement:
                assert not [line for line in plan if "TEMP B-TREE" in line], plan
