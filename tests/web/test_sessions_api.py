"""Asking, listing, reading and steering over HTTP, and that what is another's stays theirs."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.core.entries import Kind
from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.testing import Step, call
from opspilot.tools.spec import Tool, tool
from tests.web.stand import Stand

pytestmark = pytest.mark.asyncio(loop_scope="session")

DONE = Step(text="That is all.")


def tools() -> list[Tool]:
    @tool(effect="read")
    def look(topic: str) -> str:
        """Say what is known."""
        return f"{topic}: password=hunter22"

    @tool(effect="read")
    def wonder(topic: str) -> str | Interrupt:
        """Ask a person."""
        return Interrupt(InterruptType.QUESTION, "What do you think?", {"fields": ["answer"]})

    return [look, wonder]


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path, tools()) as stand:
        yield stand


async def ask(client: httpx.AsyncClient, text: str, **more: Any) -> dict[str, Any]:
    response = await client.post("/api/sessions", json={"text": text, **more})
    assert response.status_code == 201, response.text
    accepted: dict[str, Any] = response.json()
    return accepted


async def test_a_question_is_asked_once_however_often_the_request_is_sent(stand: Stand) -> None:
    ann = await stand.program("ann", "operator")
    async with stand.desk.worker([Step(calls=[call("look", topic="db")]), DONE]):
        asked = await ask(ann, "How is the database?", session="db", id="first")
        assert asked == {"session": "db", "id": "first", "after": 0}
        await stand.desk.until("db", Kind.RUN_STOPPED)
        again = await ask(ann, "How is the database?", session="db", id="first")
        assert (again["session"], again["id"]) == ("db", "first")
        other = await ann.post("/api/sessions", json={"text": "And now?", "session": "db", "id": "first"})
        assert (other.status_code, other.json()["code"]) == (400, "not_possible")
    assert len(stand.desk.entries("db", Kind.USER_MESSAGE)) == 1

    shown = (await ann.get("/api/sessions/db")).json()
    assert (shown["session"]["owner"], shown["session"]["stop_reason"], shown["more"]) == ("ann", "answered", False)
    assert [event["seq"] for event in shown["events"]] == list(range(1, shown["session"]["last_seq"] + 1))
    assert "hunter22" not in str(shown)
    part = (await ann.get("/api/sessions/db", params={"after": 2, "limit": 2})).json()
    assert ([event["seq"] for event in part["events"]], part["more"]) == ([3, 4], True)


async def test_sessions_are_listed_page_by_page_and_found_by_status_owner_and_text(stand: Stand) -> None:
    ann, bob = await stand.program("ann", "operator"), await stand.program("bob", "operator")
    async with stand.desk.worker([DONE]):
        for name in ("one", "two", "three"):
            await ask(ann, f"What about {name}?", session=name)
            await stand.desk.until(name, Kind.RUN_STOPPED)
        await ask(bob, "What about four?", session="four")
        await stand.desk.until("four", Kind.RUN_STOPPED)

    async def listed(**wanted: Any) -> tuple[list[str], str | None]:
        found = (await ann.get("/api/sessions", params=wanted)).json()
        return [session["id"] for session in found["sessions"]], found["next"]

    first, cursor = await listed(limit=3)
    rest, end = await listed(limit=3, before=cursor)
    assert (first, rest, end) == (["four", "three", "two"], ["one"], None)
    assert await listed(owner="bob") == (["four"], None)
    assert await listed(text="ABOUT T") == (["three", "two"], None)
    assert await listed(status="waiting") == ([], None)
    for wrong in ({"before": "yesterday"}, {"before": "2026-01-01T00:00:00~x"}, {"limit": 0}, {"limit": 100_000}):
        assert (await ann.get("/api/sessions", params=wrong)).status_code == 422


async def test_nobody_speaks_in_or_stops_the_session_of_another_but_an_admin(stand: Stand) -> None:
    ann, bob, root = (
        await stand.program("ann", "operator"),
        await stand.program("bob", "operator", "approver"),
        await stand.program("root", "admin"),
    )
    async with stand.desk.worker([Step(calls=[call("wonder", topic="db")]), DONE]):
        await ask(ann, "Why?", session="anns")
        await stand.desk.waiting("anns")
        for path, body in (("messages", {"text": "Stop it!"}), ("stop", {"reason": "mine now"})):
            refused = await bob.post(f"/api/sessions/anns/{path}", json=body)
            assert (refused.status_code, refused.json()["code"]) == (403, "not_yours")
        hijack = await bob.post("/api/sessions", json={"text": "Stop it!", "session": "anns"})
        assert (hijack.status_code, hijack.json()["code"]) == (403, "not_yours")
        assert (await bob.get("/api/sessions/anns")).status_code == 200
        assert len(stand.desk.entries("anns", Kind.USER_MESSAGE)) == 1

        said = await ann.post("/api/sessions/anns/messages", json={"text": "And the web?"})
        assert said.status_code == 201
        stopping = await root.post("/api/sessions/anns/stop", json={})
        assert (stopping.status_code, "stop" in stopping.json()["message"]) == (202, True)
        await stand.desk.until("anns", Kind.RUN_STOPPED)
    stopped = stand.desk.entries("anns", Kind.RUN_STOPPED)[-1]
    assert stopped.data["stop_reason"] == "cancelled"


async def test_a_viewer_looks_on_and_can_do_nothing(stand: Stand) -> None:
    viewer = await stand.program("vic", "viewer")
    for path, body in (
        ("/api/sessions", {"text": "Hello?"}),
        ("/api/sessions/any/messages", {"text": "Hello?"}),
        ("/api/sessions/any/stop", {}),
        ("/api/interrupts/any/1.1%230/answer", {"action": "reject", "digest": "x"}),
    ):
        refused = await viewer.post(path, json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed"), path
    for path in ("/api/sessions", "/api/interrupts", "/api/numbers", "/api/me"):
        assert (await viewer.get(path)).status_code == 200


async def test_what_is_not_there_and_what_can_not_be_is_said(stand: Stand) -> None:
    ann = await stand.program("ann", "operator")
    for method, path, body, status, code in (
        ("GET", "/api/sessions/none", None, 404, "no_such_session"),
        ("GET", "/api/sessions/none/events", None, 404, "no_such_session"),
        ("POST", "/api/sessions/none/stop", {}, 404, "no_such_session"),
        ("GET", "/api/interrupts/none/1.1%230", None, 404, "no_such_question"),
        ("GET", "/api/nothing", None, 404, "not_found"),
        ("DELETE", "/api/sessions", None, 405, "method_not_allowed"),
        ("POST", "/api/sessions", {"text": " "}, 400, "not_possible"),
        ("POST", "/api/sessions", {"text": "x", "session": "../x"}, 400, "not_possible"),
        ("POST", "/api/sessions", {"text": "x", "force": True}, 400, "not_possible"),
        ("POST", "/api/sessions", {"text": "x", "limits": {"steps": 0}}, 422, "not_understood"),
        ("GET", "/api/numbers?since=2026-01-01", None, 422, "not_understood"),
    ):
        response = await ann.request(method, path, json=body)
        assert (response.status_code, response.json()["code"]) == (status, code), path
        assert len(response.json()["message"]) > 10


async def test_numbers_are_those_of_a_range_of_time(stand: Stand) -> None:
    ann = await stand.program("ann", "operator")
    async with stand.desk.worker([Step(calls=[call("look", topic="db")]), DONE]):
        await ask(ann, "How is it?", session="db")
        await stand.desk.until("db", Kind.RUN_STOPPED)
    all_of_it = (await ann.get("/api/numbers")).json()
    assert (all_of_it["runs_stopped"], all_of_it["mean_steps"], all_of_it["calls_ok"]) == (1, 2.0, 1)
    none_of_it = (await ann.get("/api/numbers", params={"until": "2020-01-01T00:00:00Z"})).json()
    assert (none_of_it["runs_stopped"], none_of_it["mean_steps"]) == (0, None)


async def test_without_a_temporal_everything_can_be_read_and_nothing_be_asked(stand: Stand) -> None:
    ann = await stand.program("ann", "operator")
    async with stand.desk.worker([DONE]):
        await ask(ann, "How is it?", session="lonely")
        await stand.desk.until("lonely", Kind.RUN_STOPPED)
    away = await Client.connect("127.0.0.1:1", lazy=True)
    object.__setattr__(stand.backend, "temporal", away)
    for path in ("/api/sessions", "/api/sessions/lonely", "/api/interrupts", "/api/numbers"):
        assert (await ann.get(path)).status_code == 200
    for path in ("/api/sessions", "/api/sessions/lonely/messages", "/api/sessions/lonely/stop"):
        refused = await ann.post(path, json={"text": "And now?"})
        assert (refused.status_code, refused.json()["code"]) == (503, "unreachable")
        assert "127.0.0.1:1" in refused.json()["message"]


async def test_the_api_describes_itself(stand: Stand) -> None:
    described = (await (await stand.anybody()).get("/api/openapi.json")).json()
    assert set(described["paths"]) >= {
        "/api/me",
        "/api/interrupts",
        "/api/interrupts/{session}/{interrupt}",
        "/api/interrupts/{session}/{interrupt}/answer",
        "/api/sessions",
        "/api/sessions/{session}",
        "/api/sessions/{session}/messages",
        "/api/sessions/{session}/stop",
        "/api/sessions/{session}/events",
        "/api/numbers",
    }
    undescribed = [
        path
        for path, methods in described["paths"].items()
        for about in methods.values()
        if not about.get("description")
    ]
    assert undescribed == []
