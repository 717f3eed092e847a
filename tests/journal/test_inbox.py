"""Questions to people: what each shows, who may see it as theirs, in which order, and how many there are."""

from datetime import UTC, datetime

import pytest

from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.journal.inbox import AskedOf, InboxChoices, InboxFilter, InboxPlace
from opspilot.journal.queries import Approval, InterruptRow
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
    stopped,
)

RULED: dict[str, Json] = {
    "rule": "production",
    "risk": "high",
    "role": "approver",
    "quorum": 2,
    "requester": "ann",
    "terms": {"role": "approver", "quorum": 2, "not_requester": True, "risk": "high", "ladder": []},
    "schema": {"type": "object", "properties": {"service": {"type": "string"}}},
}


def ask(journal: SqlJournal, session: str, seconds: float = 0, *, due: str | None = None, **more: Json) -> str:
    run = f"run-{session}"
    journal.begin_run(session, run, at(seconds), ANN)
    opening = [run_started(run), message(f"m-{session}", f"Restart {session}"), call(run, "1.1", tool="restart")]
    journal.append(session, run, [*opening, question(run, "1.1", 0, due=due, when=at(seconds), **more)])
    return run


def the_question(journal: SqlJournal, session: str) -> InterruptRow:
    (row,) = journal.interrupts(session)
    return row


def test_a_question_shows_its_terms_and_who_asked_for_the_run(journal: SqlJournal) -> None:
    ask(journal, "s", due="2026-01-03T09:00:00+08:00", **RULED)
    (row,) = journal.open_interrupts()
    assert (row.session, row.run, row.interrupt, row.call, row.title) == ("s", "run-s", "1.1#0", "1.1", "Restart s")
    assert (row.rule, row.risk, row.quorum, row.role, row.roles) == ("production", "high", 2, "approver", ("approver",))
    assert (row.requester, row.requester_name, row.not_requester) == ("ann", "Ann", True)
    assert (row.schema, row.due) == (RULED["schema"], datetime(2026, 1, 3, 1, tzinfo=UTC))
    assert (row.approvals, row.reminded_at, row.escalated_at, row.by, row.asks_again) == ((), None, None, None, False)


def test_a_question_nobody_ruled_on_is_for_anybody(journal: SqlJournal) -> None:
    ask(journal, "s")
    (row,) = journal.open_interrupts(wanted=InboxFilter(AskedOf(unruled=True)))
    assert (row.roles, row.quorum, row.risk, row.not_requester, row.schema) == ((), 1, "medium", False, {})


def test_approvals_gather_while_the_question_stays_open_and_who_settles_it_gives_the_last(journal: SqlJournal) -> None:
    run = ask(journal, "s", **RULED)
    journal.append("s", run, [approved(run, "1.1", 0, when=at(5))])
    (row,) = journal.open_interrupts()
    assert row.approvals == (Approval("cleo", "Cleo", at(5), "Fine."),)
    session = journal.session("s")
    assert session is not None
    assert (session.status, session.waiting) == ("waiting", 1)
    journal.append("s", run, [answered(run, "1.1", 0, when=at(9))])
    row = the_question(journal, "s")
    assert (row.state, row.by, row.name, row.method, row.settled_at) == ("answered", "ben", "Ben", "local", at(9))
    assert [one.by for one in row.approvals] == ["cleo"]


def test_an_escalated_question_is_for_either_role(journal: SqlJournal) -> None:
    run = ask(journal, "s", **RULED)
    journal.append("s", run, [climbed(run, "1.1", 0, when=at(60)), climbed(run, "1.1", 0, role="lead", when=at(240))])
    (row,) = journal.open_interrupts()
    assert (row.reminded_at, row.escalated_at, row.role) == (at(60), at(240), "approver")
    assert row.roles == ("approver", "lead")


def test_an_escalation_gives_nobody_less(journal: SqlJournal) -> None:
    run = ask(journal, "s")
    journal.append("s", run, [climbed(run, "1.1", 0, role="lead")])
    (row,) = journal.open_interrupts(wanted=InboxFilter(AskedOf(unruled=True)))
    assert row.roles == ()


def test_a_question_nobody_decided_in_time_leaves_the_inbox(journal: SqlJournal) -> None:
    run = ask(journal, "s")
    journal.append(
        "s", run, [expired(run, "1.1", 0, when=at(9)), result(run, "1.1", code="approval_expired", round_=0)]
    )
    assert journal.open_interrupts() == ()
    row = the_question(journal, "s")
    assert (row.state, row.settled_at, row.by) == ("expired", at(9), None)


def test_an_edit_that_makes_another_call_of_it_settles_one_question_and_opens_the_next(journal: SqlJournal) -> None:
    run = ask(journal, "s", **RULED)
    again = [answered(run, "1.1", 0, action="provide", asks_again=True), question(run, "1.1", 1, **RULED)]
    journal.append("s", run, [*again, approved(run, "1.1", 1)])
    first, second = journal.interrupts("s")
    assert (first.state, first.asks_again) == ("answered", True)
    assert (second.state, second.asks_again, [one.by for one in second.approvals]) == ("open", False, ["cleo"])
    assert [row.interrupt for row in journal.open_interrupts()] == ["1.1#1"]


def test_a_question_about_a_limit_belongs_to_no_call(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [reply("r1", 1), call("r1", "1.1"), result("r1", "1.1"), limit_question("r1")])
    (row,) = journal.open_interrupts(wanted=InboxFilter(tool=""))
    assert (row.interrupt, row.call, row.tool, row.arguments) == ("limit#1", "limit", "", {"limit": "max_steps"})
    assert [one.call for one in journal.calls("s")] == ["1.1"]
    journal.append("s", "r1", [answered("r1", "limit")])
    session = journal.session("s")
    assert session is not None
    assert (session.status, session.waiting) == ("running", 0)


def test_the_end_of_a_run_closes_its_question_about_a_limit_and_another_calls_result_does_not(
    journal: SqlJournal,
) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [call("r1", "1.1"), limit_question("r1"), result("r1", "1.1")])
    assert len(journal.open_interrupts()) == 1
    journal.append("s", "r1", [stopped("r1", reason="cancelled")])
    assert journal.open_interrupts() == ()


def test_oldest_deadline_comes_first_then_what_waits_longest_without_one(journal: SqlJournal) -> None:
    ask(journal, "late", 1, due="2026-01-05T00:00:00+00:00")
    ask(journal, "never-young", 3)
    ask(journal, "never-old", 2)
    ask(journal, "soon", 4, due="2026-01-03T00:00:00+00:00")
    ask(journal, "late-too", 0, due="2026-01-05T00:00:00+00:00")
    expected = ["soon", "late-too", "late", "never-old", "never-young"]
    assert [row.session for row in journal.open_interrupts()] == expected
    assert [row.session for row in journal.open_interrupts(limit=2)] == expected[:2]


@pytest.mark.parametrize("page", [1, 2, 3, 10])
def test_page_by_page_come_all_of_them_once_in_the_same_order_whatever_leaves_meanwhile(
    journal: SqlJournal, page: int
) -> None:
    """Several questions have one deadline, or none, and were asked at one moment, some of them by one session."""
    early, late = "2026-01-03T09:00:00+00:00", "2026-01-04T09:00:00+00:00"
    for number, (seconds, due) in enumerate([(0, late), (0, None), (5, early), (5, None), (0, late), (0, early)]):
        run = ask(journal, f"s{number}", seconds, due=due)
        if number % 2:
            calls = [call(run, "1.10", tool="restart"), call(run, "1.2", tool="restart")]
            asks = [question(run, name, 0, due=due, when=at(seconds)) for name in ("1.10", "1.2")]
            journal.append(f"s{number}", run, [*calls, *asks])
    every = journal.open_interrupts()
    assert len(every) == 12
    found: list[InterruptRow] = []
    while rows := journal.open_interrupts(limit=page, after=InboxPlace.of(found[-1]) if found else None):
        found += rows
        # What one page ended with is settled before the next one is asked for.
        last = rows[-1]
        journal.append(last.session, last.run, [answered(last.run, last.call, 0)])
    assert [(row.session, row.interrupt) for row in found] == [(row.session, row.interrupt) for row in every]


def test_ghosts_are_left_out(journal: SqlJournal) -> None:
    ask(journal, "replaced")
    ask(journal, "ended")
    journal.begin_run("replaced", "next", at(60), ANN)
    journal.end_ghost("ended", "run-ended", at(60))
    assert journal.open_interrupts() == ()
    assert journal.count_open_interrupts() == 0
    row = journal.session("replaced")
    assert row is not None
    assert (row.status, row.waiting) == ("running", 0)


EVERYTHING = ["open-to-all", "form", "plain", "escalated", "owned"]
FILTERS: list[tuple[InboxFilter, list[str]]] = [
    (InboxFilter(), EVERYTHING),
    (InboxFilter(AskedOf()), []),
    (InboxFilter(AskedOf([""])), []),
    (InboxFilter(AskedOf(unruled=True)), ["open-to-all", "form"]),
    (InboxFilter(AskedOf(["viewer"])), []),
    (InboxFilter(AskedOf(["approver"])), ["plain", "escalated"]),
    (InboxFilter(AskedOf(["approver"], unruled=True)), ["open-to-all", "form", "plain", "escalated"]),
    (InboxFilter(AskedOf({"lead"})), ["escalated"]),
    (InboxFilter(AskedOf(["dba", "lead"])), ["form", "escalated", "owned"]),
    (InboxFilter(AskedOf(requester="ann")), EVERYTHING),
    (InboxFilter(AskedOf(requester="ben")), []),
    (InboxFilter(role="approver"), ["plain", "escalated"]),
    (InboxFilter(role="lead"), ["escalated"]),
    (InboxFilter(tool="drop"), ["owned"]),
    (InboxFilter(risk="high"), ["escalated", "owned"]),
    (InboxFilter(AskedOf(["approver"]), risk="high"), ["escalated"]),
    (InboxFilter(tool="drop", risk="low"), []),
]


@pytest.mark.parametrize(("wanted", "found"), FILTERS, ids=[str(wanted) for wanted, _ in FILTERS])
def test_the_inbox_is_filtered_by_whom_it_asks_role_tool_and_risk(
    journal: SqlJournal, wanted: InboxFilter, found: list[str]
) -> None:
    fill(journal)
    assert [row.session for row in journal.open_interrupts(wanted=wanted)] == found
    assert journal.count_open_interrupts(wanted) == len(found)
    assert journal.count_open_interrupts(wanted, at_most=3) == min(3, len(found))


def test_an_inbox_can_be_narrowed_to_what_its_questions_name(journal: SqlJournal) -> None:
    fill(journal)
    whole = journal.inbox_choices()
    assert (whole.roles, whole.tools, whole.risks) == (
        ("approver", "dba", "lead"),
        ("drop", "restart"),
        ("high", "medium"),
    )
    assert journal.inbox_choices(AskedOf(["dba"])).roles == ("dba",)
    assert journal.inbox_choices(AskedOf()) == InboxChoices((), (), ())


def fill(journal: SqlJournal) -> None:
    ask(journal, "open-to-all", 1, requester="ann")
    ask(journal, "form", 2, requester="ann", role="dba", kind="params_required")
    ask(journal, "plain", 3, requester="ann", role="approver")
    run = ask(journal, "escalated", 4, requester="ann", role="approver", risk="high")
    journal.append("escalated", run, [climbed(run, "1.1", 0, role="lead")])
    ask(journal, "owned", 5, requester="ann", role="dba", risk="high", tool="drop")


def test_all_questions_of_a_session_come_in_the_order_in_which_they_were_asked(journal: SqlJournal) -> None:
    run = ask(journal, "s")
    journal.append("s", run, [answered(run, "1.1", 0), result(run, "1.1"), call(run, "2.1"), question(run, "2.1", 0)])
    journal.begin_run("s", "next", at(60), Principal("root", "Root", ("admin",)))
    journal.append("s", "next", [call("next", "1.1"), question("next", "1.1", 0)])
    shown = [(row.run, row.interrupt, row.state, row.requester_name) for row in journal.interrupts("s")]
    assert shown == [
        (run, "1.1#0", "answered", "Ann"),
        (run, "2.1#0", "open", "Ann"),
        ("next", "1.1#0", "open", "Root"),
    ]
    assert [row.interrupt for row in journal.interrupts("s", "next")] == ["1.1#0"]
    assert journal.interrupts("nobody") == ()
