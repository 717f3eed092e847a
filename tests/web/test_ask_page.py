"""The page to ask on: a question is one question however often its form is sent, under what the page shows."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.client import Asked
from opspilot.core.entries import Kind
from opspilot.core.limits import Limits
from opspilot.testing import Step
from opspilot.tools.spec import tool
from opspilot.web import asking
from tests.web.stand import Stand

pytestmark = pytest.mark.asyncio(loop_scope="session")

DONE = [Step(text="That is all.")]
HTML = {"Accept": "text/html"}


@tool(effect="read")
def look(topic: str) -> str:
    """Say what is known."""
    return topic


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path, [look]) as stand:
        stand.app.state.backend = replace(stand.backend, limits=Limits(steps=7), models=("demo", "large"))
        yield stand


async def form_id(client: httpx.AsyncClient) -> str:
    found = re.search(r'name="id" value="([0-9a-f]{32})"', (await client.get("/ask")).text)
    assert found
    return found[1]


async def send(client: httpx.AsyncClient, **fields: str) -> httpx.Response:
    return await client.post("/ask", data=fields, headers=HTML)


async def test_the_form_shows_the_tools_and_limits_that_a_question_will_run_under(stand: Stand) -> None:
    html = (await (await stand.program("ann", "operator")).get("/ask")).text
    assert '<span class="mono">look</span>' in html
    assert "It ends after 7 steps" in html
    assert '<option value="large">' in html


async def test_a_form_that_is_sent_twice_is_one_question_in_one_session(stand: Stand) -> None:
    ann = await stand.browser("ann", "operator")
    fields = {
        "id": await form_id(ann),
        "text": "First line\r\nand second",
        "only": "look",
        "steps": "3",
        "model": "demo",
    }
    async with stand.desk.worker(DONE):
        first, second = await send(ann, **fields), await send(ann, **fields)
        assert (first.status_code, second.status_code) == (303, 303)
        assert first.headers["location"] == second.headers["location"]
        session = first.headers["location"].rpartition("/")[2]
        await stand.desk.until(session, Kind.RUN_STOPPED)
    (message,) = stand.desk.entries(session, Kind.USER_MESSAGE)
    assert message.data["text"] == "First line\nand second"
    (started,) = stand.desk.entries(session, Kind.RUN_STARTED)
    assert started.data["mode"]["only"] == "look"
    assert (started.data["limits"]["steps"], started.data["user"]["id"]) == (3, "ann")
    assert len(stand.desk.journal.sessions()) == 1


async def test_two_people_or_two_forms_are_two_questions(stand: Stand) -> None:
    ann, bob = await stand.program("ann", "operator"), await stand.program("bob", "operator")
    async with stand.desk.worker(DONE):
        asked = [await send(who, id=id_, text="Why?") for who, id_ in ((ann, "a"), (bob, "a"), (ann, "b"))]
        again = await ann.post("/api/sessions", json={"text": "Why?", "id": "a"})
    places = {response.headers["location"] for response in asked}
    assert len(places) == 3
    assert f"/sessions/{again.json()['session']}" == asked[0].headers["location"]


@pytest.mark.parametrize(
    ("field", "value", "status", "said"),
    [
        ("text", " ", 422, "Say what you want to know."),
        ("steps", "0", 422, "This must be a number from 1 to 1,000."),
        ("tokens", "many", 422, "This must be a number from 1 to 1,000,000,000."),
        ("force", "on", 400, "`force` needs `only`"),
    ],
)
async def test_what_can_not_be_asked_is_said_and_all_that_was_typed_stays(
    stand: Stand, field: str, value: str, status: int, said: str
) -> None:
    ann = await stand.program("ann", "operator")
    fields = {"id": "one", "text": "Why <b>so</b> slow?", "active_seconds": "12.5", field: value}
    response = await send(ann, **fields)
    assert response.status_code == status
    assert said in response.text
    assert 'value="12.5"' in response.text
    assert 'name="id" value="one"' in response.text
    if field != "text":
        assert "Why &lt;b&gt;so&lt;/b&gt; slow?</textarea>" in response.text


async def test_when_nobody_works_the_question_is_kept_in_the_form(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ASK_SECONDS", 0.3)
    response = await send(await stand.program("ann", "operator"), id="x", text="Anybody there?")
    assert response.status_code == 503
    assert "Anybody there?</textarea>" in response.text
    assert 'role="alert"' in response.text


async def test_a_question_that_was_accepted_but_has_not_begun_is_told_so(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def accepted(*_: object) -> Asked:
        return Asked("ops-later", "x", 1, 0)

    monkeypatch.setattr(asking, "ask", accepted)
    response = await send(await stand.program("ann", "operator"), id="x", text="Why?")
    assert response.status_code == 202
    assert 'href="/sessions/ops-later"' in response.text


async def test_a_session_can_be_looked_at_as_soon_as_its_question_is_accepted(stand: Stand) -> None:
    ann = await stand.program("ann", "operator")
    async with stand.desk.worker(DONE):
        for number in range(3):
            place = (await send(ann, id=f"q{number}", text="Why?")).headers["location"]
            assert (await ann.get(place, headers=HTML)).status_code == 200


async def test_a_viewer_is_told_that_asking_takes_a_role_and_a_forged_form_is_refused(stand: Stand) -> None:
    viewer = await stand.program("vic", "viewer")
    for response in (await viewer.get("/ask", headers=HTML), await send(viewer, id="x", text="Why?")):
        assert response.status_code == 403
        assert "that takes the role operator" in response.text
    ann = await stand.browser("ann", "operator")
    ann.headers.pop("X-CSRF-Token")
    assert (await send(ann, id="x", text="Why?")).status_code == 403
    assert stand.desk.journal.sessions() == ()
