"""The page of sessions: found by what is asked for, one page after another, and whom each waits for."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.core.entries import Kind, NewEntry, stopped_key
from opspilot.core.interrupts import Principal
from opspilot.journal.store import SqlJournal
from opspilot.web.pages import sessions
from tests.web.stand import Stand

pytestmark = pytest.mark.asyncio(loop_scope="session")

BEGAN = datetime(2026, 3, 1, 12, tzinfo=UTC)
FOR_YOU = '<span class="badge yours">waiting for you</span>'
LINK = re.compile(r'<a href="/sessions/([^"?]+)">([^<]*)</a>')


class Told:
    """Writes sessions into a journal as a worker would."""

    def __init__(self, journal: SqlJournal) -> None:
        self.journal = journal

    def session(self, name: str, text: str, day: int = 0, owner: str = "ann", reason: str = "") -> None:
        """One that began on some day; it has ended if there is a reason."""
        at = BEGAN + timedelta(days=day)
        self.journal.begin_run(name, f"{name}-run", at, Principal(owner, owner.title()))
        self.write(name, at, f"message/{name}", Kind.USER_MESSAGE, {"id": name, "text": text})
        if reason:
            end = {"stop_reason": reason, "steps": 1}
            self.write(name, at, stopped_key(f"{name}-run", 1), Kind.RUN_STOPPED, end)

    def asks(self, name: str, role: str, day: int = 0) -> None:
        """It waits for somebody with this role."""
        data = {"interrupt": "1.1#0", "kind": "confirm_risky", "reason": "Restart?", "tool": "restart", "role": role}
        at = BEGAN + timedelta(days=day)
        self.write(name, at, f"{name}/asks", Kind.INTERRUPT_OPENED, {**data, "arguments": {}, "digest": "d"}, "1.1")

    def write(self, name: str, at: datetime, key: str, kind: Kind, data: dict[str, Any], call: str = "") -> None:
        self.journal.append(name, f"{name}-run", [NewEntry(key, kind, at, data, 1 if call else None, call or None)])


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path) as stand:
        yield stand


@pytest.fixture
def told(stand: Stand) -> Told:
    return Told(stand.desk.journal)


async def listed(client: httpx.AsyncClient, address: str = "/sessions", **wanted: str) -> tuple[list[str], str]:
    """The names of the sessions on a page, and the page."""
    response = await client.get(address, params=wanted or None, headers={"Accept": "text/html"})
    assert response.status_code == 200, response.text
    return [name for name, _ in LINK.findall(response.text)], response.text


async def test_sessions_are_found_by_state_reason_person_text_and_day(stand: Stand, told: Told) -> None:
    told.session("gone", "Why is checkout slow?", 0, reason="answered")
    told.session("shut", "支付服务为什么报错", 1, "bob", reason="cancelled")
    told.session("busy", "Is the gateway up?", 2)
    client = await stand.program("ann", "viewer")
    for wanted, found in (
        ({}, ["busy", "shut", "gone"]),
        ({"text": "CHECKOUT"}, ["gone"]),
        ({"text": "支付"}, ["shut"]),
        ({"status": "running"}, ["busy"]),
        ({"status": "done", "stop_reason": "cancelled"}, ["shut"]),
        ({"owner": "bob"}, ["shut"]),
        ({"from": "2026-03-02"}, ["busy", "shut"]),
        ({"from": "2026-03-01", "to": "2026-03-01"}, ["gone"]),
        ({"to": "9999-12-31", "owner": ""}, ["busy", "shut", "gone"]),
        ({"text": "no such thing"}, []),
    ):
        names, html = await listed(client, **wanted)
        assert names == found
        assert ("No session is like this." in html) == (not found)
        assert f"{len(found)} session" in html


@pytest.mark.parametrize(
    "wrong", [{"status": "asleep"}, {"from": "yesterday"}, {"before": "x"}, {"stop_reason": "boredom"}]
)
async def test_what_can_not_be_meant_is_said_on_a_page(stand: Stand, wrong: dict[str, str]) -> None:
    client = await stand.program("ann", "viewer")
    response = await client.get("/sessions", params=wrong, headers={"Accept": "text/html"})
    assert response.status_code == 422
    assert "<html" in response.text
    assert "Traceback" not in response.text


async def test_page_by_page_each_session_comes_once_and_filters_stay(
    stand: Stand, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PAGE", 2)
    for day in range(5):
        told.session(f"s{day}", f"What about {day}?", day, reason="answered")
    client = await stand.program("ann", "viewer")
    address, seen = "/sessions?stop_reason=answered", []
    while address:
        names, html = await listed(client, address)
        seen += names
        assert '<option value="answered" selected>' in html
        assert "5 sessions" in html
        link = re.search(r'rel="next" href="([^"]+)"', html)
        address = link[1].replace("&amp;", "&") if link else ""
    assert seen == ["s4", "s3", "s2", "s1", "s0"]
    assert "Newest" in html


async def test_a_session_that_waits_says_whether_it_waits_for_you(stand: Stand, told: Told) -> None:
    for name, role in (("restart", "sre"), ("drop", "dba"), ("free", "")):
        told.session(name, f"{name}?")
        told.asks(name, role)
    viewer, sre = await stand.program("vic", "viewer"), await stand.program("sue", "sre")
    _, seen = await listed(viewer)
    assert (FOR_YOU in seen, "waiting for the role sre" in seen) == (False, True)
    assert "waiting for the role approver" in seen
    names, mine = await listed(sre, status="waiting")
    assert sorted(names) == ["drop", "free", "restart"]
    assert mine.count(FOR_YOU) == 1
    assert "waiting for the role dba" in mine


async def test_the_owner_of_a_question_is_not_told_that_it_waits_for_them(stand: Stand, told: Told) -> None:
    told.session("restart", "Restart it")
    told.asks("restart", "sre")
    asker = await stand.program("ann", "operator")
    assert "waiting for the role sre" in (await listed(asker))[1]


async def test_sessions_in_which_a_tool_failed_are_found_and_the_filter_can_be_taken_back(
    stand: Stand, told: Told
) -> None:
    for name, tool, ended in (("bad", "restart", False), ("good", "restart", True), ("other", "look", False)):
        told.session(name, f"{name}?")
        told.write(name, BEGAN, f"{name}/call", Kind.TOOL_CALL, {"name": tool, "effect": "read"}, "1.1")
        outcome = {"ok": ended, "errorCode": None if ended else "tool_failed", "round": 1}
        told.write(name, BEGAN, f"{name}/result", Kind.TOOL_RESULT, outcome, "1.1")
    names, html = await listed(await stand.program("ann", "viewer"), failed_tool="restart", owner="ann")
    assert names == ["bad"]
    assert "a call of restart failed" in html
    assert '<a href="/sessions?owner=ann">whatever failed</a>' in html
    assert '<input type="hidden" name="failed_tool" value="restart">' in html


async def test_titles_are_text_without_secrets_and_names_that_need_it_are_escaped(stand: Stand, told: Told) -> None:
    told.session("loud", "<script>alert(1)</script> password=hunter22\nand more")
    _, html = await listed(await stand.program("ann", "viewer"))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "hunter22" not in html


async def test_an_empty_list_leads_to_a_question_who_may_ask_one(stand: Stand) -> None:
    _, html = await listed(await stand.program("ann", "operator"))
    assert 'href="/ask"' in html.partition("<main")[2]
    _, html = await listed(await stand.program("vic", "viewer"))
    assert 'href="/ask"' not in html


async def test_strangers_are_not_shown_anything(stand: Stand, told: Told) -> None:
    told.session("gone", "Why?")
    stranger = await stand.anybody(Accept="text/html")
    response = await stranger.get("/sessions")
    assert response.status_code == 303
    assert response.headers["location"].startswith("/sign-in")
