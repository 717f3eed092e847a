"""The inbox and the pages of questions over HTTP: who sees and may do what, forms, and what has to change in a page."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.interrupts import InterruptType, Principal
from opspilot.core.terms import Risk, Terms
from opspilot.journal.inbox import AskedOf, InboxFilter
from opspilot.journal.queries import InterruptRow
from opspilot.journal.store import SqlJournal
from opspilot.temporal import connect
from opspilot.web.asked import card
from opspilot.web.pages.showing_inbox import Inbox, Seen, seen_in, told_of
from opspilot.web.people.rights import answers_of, asked_of
from tests.web.seeds import RESTART, RESTART_SCHEMA, WRITE, Pen, at_a_limit, missing, seed, waiting
from tests.web.stand import Stand

BEN = Principal("ben", "Ben", ("approver",))
QUESTION = "/sessions/restart-payment/questions/1.2%230"


@pytest_asyncio.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    """Without a Temporal: what only needs the journal works all the same."""
    async with Stand(await connect("127.0.0.1:1", lazy=True), tmp_path) as stand:
        yield stand


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqlJournal]:
    journal = SqlJournal(f"sqlite:///{tmp_path / 'journal.sqlite'}")
    yield journal
    journal.close()


def fields(html: str) -> dict[str, str]:
    """The hidden inputs of the first form for answers in a page."""
    form = html[html.index("/questions/") :]
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))


def titles(html: str) -> list[str]:
    """The sentences of the questions in a page, in order."""
    return [unescape(found) for found in re.findall(r'<p class="strong">(.*?)</p>', html)]


def restart(journal: SqlJournal, session: str, **terms: Any) -> tuple[Pen, str]:
    """A session that asks whether to restart something, and the name of the question."""
    pen = Pen(journal, session)
    pen.ask(f"Restart {session}")
    pen.think("I propose it.", ("restart_service", RESTART, WRITE))
    return pen, pen.open("1.1", "restart_service", RESTART, f"{session}?", terms=Terms(**terms), schema=RESTART_SCHEMA)


# ---------------------------------------------------------------- who sees what


async def test_it_shows_what_one_may_answer_what_is_due_first_at_the_top(stand: Stand) -> None:
    seed(stand.desk.journal)
    ben = await stand.browser("cleo", "approver")
    page = (await ben.get("/")).text
    assert titles(page) == [
        "Restart payment in production? Requests that it is serving may fail.",
        "In which environment, and to how many replicas?",
        "Which maintenance window should I plan for?",
        "The limit of this run is reached. Go on for 2 more steps?",
    ]
    assert "4 questions wait for you" in page
    assert '<span id="waiting" class="count">4<' in page
    for shown in (
        "restart_service", "high risk", "33 min left", "asked by Ann Lee", "production-writes", "1 of 2 approvals",
        "Ben Ortiz approved", "Fine with me.", "Reminded", "leaked connections",
    ):  # fmt: skip
        assert shown in page


async def test_who_may_not_answer_is_shown_none_and_told_why(stand: Stand) -> None:
    seed(stand.desk.journal)
    for roles, words in ((("viewer",), "You may look on, but not answer."), (("dba",), "Nothing waits for you.")):
        page = (await (await stand.browser(f"vic-{roles[0]}", *roles)).get("/")).text
        assert titles(page) == []
        assert words in page


async def test_who_asked_may_turn_down_what_their_own_run_wants_to_do_but_not_agree(stand: Stand) -> None:
    waiting(stand.desk.journal)
    page = (await (await stand.browser("ann", "operator", "approver")).get("/")).text
    assert "waiting for the role approver" in page
    assert 'value="reject"' in page
    assert 'value="approve"' not in page


async def test_it_is_narrowed_by_role_tool_and_risk(stand: Stand) -> None:
    journal = stand.desk.journal
    restart(journal, "high", role="sre", risk=Risk.HIGH)
    restart(journal, "low", role="approver", risk=Risk.LOW)
    at_a_limit(journal)
    bo = await stand.browser("bo", "sre", "approver")
    found = {}
    for query in ("", "role=sre", "risk=low", "tool=%23limit", "tool=restart_service&role=approver", "tool=other"):
        found[query] = set(titles((await bo.get(f"/?{query}")).text))
    limit = "The limit of this run is reached. Go on for 2 more steps?"
    assert found == {
        "": {"low?", "high?", limit},
        "role=sre": {"high?"},
        "risk=low": {"low?"},
        "tool=%23limit": {limit},
        "tool=restart_service&role=approver": {"low?"},
        "tool=other": set(),
    }
    assert "Nothing that waits for you fits these filters." in (await bo.get("/?tool=other")).text


async def test_secrets_are_exact_for_who_decides_and_sensitive_ones_for_nobody(stand: Stand) -> None:
    schema = {"properties": {"note": {"type": "string"}, "pin": {"type": "string", "writeOnly": True}}}
    given = {"note": "password=hunter22", "pin": "4711-secret"}
    pen = Pen(stand.desk.journal, "s")
    pen.ask("Open it")
    pen.think("", ("open", given, WRITE))
    pen.open("1.1", "open", given, "Open?", terms=Terms("sre"), schema=schema)
    path = "/sessions/s/questions/1.1%230"
    decides = (await (await stand.browser("bo", "sre")).get(path)).text
    looks = (await (await stand.browser("vic", "viewer")).get(path)).text
    assert "hunter22" in decides
    assert "hunter22" not in looks
    for page in (decides, looks, (await (await stand.browser("cy", "admin")).get("/sessions/s")).text):
        assert "4711-secret" not in page
        assert "[redacted:sensitive]" in page


async def test_what_can_not_be_seen_is_shown_all_the_same(stand: Stand) -> None:
    given = {
        "service": "pay\u202ement\u200b",
        "count": "5",
        "number": 5,
        "empty": "",
        "long": "x" * 5000,
        "lone": "\ud800",
    }
    pen = Pen(stand.desk.journal, "s")
    pen.ask("Go")
    pen.think("", ("go", given, WRITE))
    pen.open("1.1", "go", given, "Go?", terms=Terms("sre"))
    page = unescape((await (await stand.browser("bo", "sre")).get("/")).text)
    for shown in (r'"pay\u202ement\u200b"', '>"5"<', ">5<", "empty text", "show all 5,000 characters", r'"\ud800"'):
        assert shown in page
    assert "\u202e" not in page


# ---------------------------------------------------------------- answering


async def test_a_form_needs_its_token_and_our_origin(stand: Stand) -> None:
    waiting(stand.desk.journal)
    ben = await stand.browser("cleo", "approver")
    sent = fields((await ben.get("/")).text) | {"action": "approve"}
    del ben.headers["X-CSRF-Token"]
    for wrong in ({"csrf": ""}, {"csrf": "x" * 64}):
        refused = await ben.post(QUESTION, data=sent | wrong)
        assert refused.status_code == 403
    refused = await ben.post(QUESTION, data=sent, headers={"Origin": "https://evil.test"})
    assert refused.status_code == 403
    assert (await (await stand.anybody()).post(QUESTION, data=sent)).status_code == 401


async def test_while_temporal_is_away_it_says_so_and_nothing_is_lost(stand: Stand) -> None:
    missing(stand.desk.journal)
    cleo = await stand.browser("cleo", "approver")
    path = "/sessions/scale-search/questions/1.1%231"
    sent = fields((await cleo.get(path)).text) | {"action": "provide", "a/environment": "1", "a/replicas": "7"}
    reply = await cleo.post(path, data=sent, headers={"HX-Request": "true"})
    assert reply.status_code == 503
    assert "No Temporal server answers" in reply.text
    assert 'value="7"' in reply.text
    assert reply.text.lstrip().startswith("<article")


async def test_an_edit_is_shown_as_what_it_changes_before_it_is_sent(stand: Stand) -> None:
    waiting(stand.desk.journal)
    cleo = await stand.browser("cleo", "approver")
    asked = fields((await cleo.get(QUESTION)).text)
    form = (await cleo.post(QUESTION, data=asked | {"action": "change"})).text
    assert 'name="a/instances"' in form
    assert "How many at a time." in form
    typed = {
        "a/service": "payment",
        "a/environment": "1",
        "a/instances": "1",
        "a/drain": "true",
        "a/hosts": "",
        "a/note": "",
    }
    same = await cleo.post(QUESTION, data=asked | typed | {"action": "review", "a/instances": "2"})
    assert "Nothing is changed." in same.text
    wrong = await cleo.post(QUESTION, data=asked | typed | {"action": "review", "a/instances": "some"})
    assert wrong.status_code == 422
    assert "This must be a whole number." in wrong.text
    review = (await cleo.post(QUESTION, data=asked | typed | {"action": "review"})).text
    assert re.search(r"<del>.*?2.*?</del>.*?<ins>.*?1.*?</ins>", review, re.DOTALL)
    assert json.loads(unescape(fields(review)["values"])) == {"instances": 1}
    without = await cleo.post(QUESTION, data=asked | typed | {"action": "review", "a/instances": ""})
    assert json.loads(unescape(fields(without.text)["values"])) == {"instances": 1}
    stale = await cleo.post(QUESTION, data=asked | typed | {"action": "review", "digest": "other"})
    assert (stale.status_code, "What is asked now is not what you were shown." in stale.text) == (409, True)


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        ("/sessions/restart-payment/questions/9.9%230", {"action": "approve"}, 404),
        ("/sessions/nothing/questions/1.1%230", {"action": "approve"}, 404),
        (QUESTION, {"action": "dance"}, 422),
        (QUESTION, {}, 422),
        (QUESTION, {"action": "edit", "values": "[1"}, 422),
        (QUESTION, {"action": "edit", "values": "[1]"}, 422),
        (QUESTION, {"action": "reject", "comment": "x" * 5000}, 422),
        (QUESTION, {"action": "approve", "digest": "of something else"}, 409),
    ],
)
async def test_what_no_page_of_ours_would_send_is_refused_in_a_sentence(
    stand: Stand, path: str, sent: dict[str, str], status: int
) -> None:
    waiting(stand.desk.journal)
    cleo = await stand.browser("cleo", "approver")
    reply = await cleo.post(path, data=sent, headers={"Accept": "text/html"})
    assert reply.status_code == status
    assert "<main" in reply.text
    assert "Traceback" not in reply.text


async def test_who_may_not_edit_is_not_given_the_form(stand: Stand) -> None:
    restart(stand.desk.journal, "s", role="sre")
    ann = await stand.browser("ann", "operator")
    path = "/sessions/s/questions/1.1%230"
    asked = fields((await ann.get(path)).text)
    reply = await ann.post(path, data=asked | {"action": "change"})
    assert (reply.status_code, "a/instances" in reply.text) == (403, False)


async def test_a_settled_question_says_how_it_ended_whatever_is_pressed(stand: Stand) -> None:
    pen, name = restart(stand.desk.journal, "s", role="approver")
    cleo = await stand.browser("cleo", "approver")
    path = "/sessions/s/questions/1.1%230"
    asked = fields((await cleo.get(path)).text)
    pen.answer(name, "reject", "ben", "Ben", "Not today.")
    for action in ("approve", "reject", "change", "review", "show"):
        reply = await cleo.post(path, data=asked | {"action": action})
        assert "Ben has rejected this already. They said: Not today." in unescape(reply.text)
        assert "<form method" not in reply.text.partition("<main")[2]


# ---------------------------------------------------------------- what has to change in a page


def shown(journal: SqlJournal, who: Principal = BEN, limit: int = 30) -> Inbox:
    wanted = InboxFilter(asked_of(who))
    found = journal.open_interrupts(wanted=wanted, limit=limit)
    return Inbox(tuple(card(each, who) for each in found), len(found), len(found))


def test_what_a_page_shows_is_told_and_understood(journal: SqlJournal) -> None:
    seed(journal)
    seen = [Seen.of(each) for each in shown(journal).cards]
    assert len(seen) == 4
    assert seen_in(told_of(seen)) == seen
    assert seen_in("") == []
    assert seen_in("nonsense,~~~~,a~b") == [Seen("", "", "", "", "")]


def test_while_nothing_happens_nothing_has_to_change(journal: SqlJournal) -> None:
    seed(journal)
    inbox = shown(journal)
    assert inbox.since([Seen.of(each) for each in inbox.cards], journal, BEN).is_empty


def test_new_questions_come_where_they_belong_and_settled_ones_stay_to_say_so(journal: SqlJournal) -> None:
    first, name = restart(journal, "b-first")
    restart(journal, "d-second")
    known = [Seen.of(each) for each in shown(journal).cards]
    for session in ("a", "c", "e"):
        pen = Pen(journal, session, ago=timedelta(minutes={"a": 30, "c": 20, "e": 1}[session]))
        pen.ask("Go")
        pen.think("", ("go", {}, WRITE))
        pen.open("1.1", "go", {}, f"{session}?")
    first.answer(name, "approve", "cat", "Cat")
    inbox = shown(journal)
    update = inbox.since(known, journal, BEN)
    assert [each.question.session for each in update.settled] == ["b-first"]
    order = [each.question.session for each in inbox.cards]
    before = {new.following.question.session if new.following else None for new in update.added}
    assert [each.question.session for new in update.added for each in new.cards] == [
        session for session in order if session != "d-second"
    ]
    assert before <= {"d-second", None}
    again = shown(journal).since(update.known, journal, BEN)
    assert again.is_empty


def test_what_is_said_of_a_question_changes_without_its_form(journal: SqlJournal) -> None:
    pen, name = restart(journal, "s", quorum=3)
    before = shown(journal)
    pen.agree(name, "cat", "Cat", quorum=3)
    update = shown(journal).since([Seen.of(each) for each in before.cards], journal, BEN)
    (changed,) = update.changed
    assert changed.allowed == before.cards[0].allowed
    mine = shown(journal, Principal("cat", "Cat", ("approver",))).cards[0]
    assert mine.allowed != changed.allowed


def test_ghosts_are_told_to_be_closed_and_what_others_may_answer_now_stays(journal: SqlJournal) -> None:
    pen, _ = restart(journal, "s")
    known = [Seen.of(each) for each in shown(journal).cards]
    pen.again("Something else")
    update = shown(journal).since(known, journal, BEN)
    assert [(each.question.state, each.is_open) for each in update.settled] == [("closed", False)]
    restart(journal, "t")
    known = [Seen.of(each) for each in shown(journal).cards]
    update = shown(journal, limit=0).since(known, journal, BEN)
    assert (update.is_empty, update.known) == (True, known)


ROLES = st.sets(st.sampled_from(["viewer", "operator", "approver", "admin", "sre", "boss"]))


@given(
    roles=ROLES,
    person=st.sampled_from(["ann", "ben"]),
    asked=st.sampled_from(["", "sre", "approver", "boss"]),
    escalated=st.sampled_from(["", "boss"]),
    kind=st.sampled_from(list(InterruptType)),
    about_limit=st.booleans(),
)
def test_an_inbox_is_exactly_the_questions_that_one_may_answer_in_some_way(
    roles: set[str], person: str, asked: str, escalated: str, kind: InterruptType, *, about_limit: bool
) -> None:
    """`asked_of` says in the journal's words what `answers_of` says of each question."""
    who = Principal(person, person, tuple(sorted(roles)))
    named = tuple(filter(None, (asked, escalated))) if asked else ()
    row = _row(kind, named, "" if about_limit and kind is InterruptType.CONFIRM_RISKY else "restart")
    whom = asked_of(who)
    assert _is_asked(whom, row) == bool(answers_of(who, row))


def _is_asked(whom: AskedOf | None, row: InterruptRow) -> bool:
    if whom is None:
        return True
    by_role = any(role in whom.roles for role in row.roles)
    unruled = whom.unruled and (not row.roles or row.kind != InterruptType.CONFIRM_RISKY)
    return by_role or unruled or row.requester == whom.requester


def _row(kind: InterruptType, roles: tuple[str, ...], tool: str) -> InterruptRow:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return InterruptRow(
        session="s", run="r", interrupt="1.1#0", call="1.1", kind=kind.value, reason="?", payload={},
        role=roles[0] if roles else "", due=None, tool=tool, arguments={}, digest="d", state="open", opened_at=now,
        settled_at=None, action=None, by=None, comment=None, requester="ann", roles=roles,
    )  # fmt: skip
