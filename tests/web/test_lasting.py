"""Whoever may see no more is told no more, though what they listen to goes on for long; others lose nothing."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs
from temporalio.client import Client

from opspilot.access.tokens import Tokens
from opspilot.core.entries import Kind, NewEntry
from opspilot.core.errors import JournalError
from opspilot.core.interrupts import Principal
from opspilot.journal.store import SqlJournal
from opspilot.sections.web import ProxySettings, WebSettings
from opspilot.web import lasting
from opspilot.web.app import create_app
from opspilot.web.backend import Backend
from opspilot.web.live import Live
from opspilot.web.people.ways import people
from tests.web.serving import serving

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STREAMS = ["/api/sessions/talk/events", "/sessions/talk/changes", "/inbox/changes"]
PATIENCE_SECONDS = 10


class Served:
    """A real web server at `url`, since a stream has no end that a client in memory could wait for. No Temporal."""

    def __init__(self, folder: Path, web: WebSettings) -> None:
        self.journal = SqlJournal(f"sqlite:///{folder / 'journal.sqlite'}")
        self.journal.begin_run("talk", "run", NOW, Principal("ann"))
        self.tokens = Tokens(folder / "tokens.json")
        temporal = asyncio.run(Client.connect("127.0.0.1:1", lazy=True))
        backend = Backend(temporal=temporal, journal=self.journal, live=Live(self.journal), task_queue="none")
        web = web.model_copy(update={"tokens_file": self.tokens.file})
        self.app = create_app(backend, people(web, folder, (), self.journal, approval_key=None, port=80))
        self.url = ""
        self.written = 0

    @contextmanager
    def serving(self) -> Iterator["Served"]:
        with serving(self.app) as self.url:
            yield self
        self.journal.close()

    def write(self) -> None:
        self.written += 1
        self.journal.append("talk", "run", [NewEntry(f"n/{self.written}", Kind.BUDGET_WARNED, NOW, {})])

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[httpx.AsyncClient]:
        """Ann has signed in with it."""
        token = self.tokens.add("ann", ("viewer",))
        async with httpx.AsyncClient(base_url=self.url, timeout=PATIENCE_SECONDS) as client:
            assert (await client.post("/sign-in", data={"token": token})).status_code == 303
            yield client


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path, WebSettings(auth="token")).serving() as served:
        yield served


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Served]:
    proxy = ProxySettings(addresses=("127.0.0.1",))
    with Served(tmp_path, WebSettings(auth="proxy", proxy=proxy, everyone=("viewer",))).serving() as served:
        yield served


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (lasting.RECHECK_SECONDS, lasting.HEARTBEAT_SECONDS) == (15, 15)
    monkeypatch.setattr(lasting, "RECHECK_SECONDS", 0.1)
    monkeypatch.setattr(lasting, "HEARTBEAT_SECONDS", 0.05)


async def _sign_out(served: Served, browser: httpx.AsyncClient, _: pytest.MonkeyPatch) -> None:
    csrf = (await browser.get("/api/me")).json()["csrf"]
    cookies = dict(browser.cookies)
    assert (await browser.post("/sign-out", data={"csrf": csrf})).status_code == 303
    browser.cookies.update(cookies)


async def _be_forgotten(served: Served, browser: httpx.AsyncClient, _: pytest.MonkeyPatch) -> None:
    served.tokens.remove("ann")


async def _lose_ones_roles(served: Served, browser: httpx.AsyncClient, _: pytest.MonkeyPatch) -> None:
    known = json.loads(served.tokens.file.read_text(encoding="utf-8"))
    served.tokens.file.write_text(json.dumps([{**token, "roles": []} for token in known]), encoding="utf-8")


async def _run_out_of_time(served: Served, browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    tomorrow = time.time() + 86_400
    monkeypatch.setattr(time, "time", lambda: tomorrow)


@pytest.mark.parametrize("leave", [_sign_out, _be_forgotten, _lose_ones_roles, _run_out_of_time])
@pytest.mark.parametrize("path", STREAMS)
async def test_a_stream_ends_soon_after_whoever_listens_may_see_it_no_more(
    served: Served, monkeypatch: pytest.MonkeyPatch, path: str, leave: Callable[..., Any]
) -> None:
    async with served.browser() as browser, browser.stream("GET", path) as response:
        assert response.status_code == 200
        lines = response.aiter_lines()
        heartbeats = 0
        while heartbeats < 6:
            # By then they have been asked after, and nothing was found.
            heartbeats += (await anext(lines)).startswith(":")
        await leave(served, browser, monkeypatch)
        async for line in lines:
            assert not line.startswith("data:")
        served.write()
        assert (await browser.get(path)).status_code in {401, 403}


async def test_an_agui_run_says_why_it_ends(served: Served) -> None:
    token = served.tokens.add("bot", ("viewer",))
    body = {"threadId": "talk", "runId": "r", "messages": []}
    async with (
        httpx.AsyncClient(
            base_url=served.url, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_SECONDS
        ) as bot,
        bot.stream("POST", "/agui", json=body) as response,
    ):
        lines = response.aiter_lines()
        assert "RUN_STARTED" in await anext(lines)
        served.tokens.remove("bot")
        told = [json.loads(line.removeprefix("data: ")) async for line in lines if line.startswith("data: ")]
    assert (told[-1]["type"], told[-1]["code"]) == ("RUN_ERROR", "sign_in_needed")
    assert [event for event in told if event["type"] == "RUN_ERROR"] == told[-1:]


async def test_what_a_proxy_said_counts_for_a_while_and_who_comes_back_goes_on_where_they_were(
    proxied: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lasting.UNCONFIRMED_SECONDS == 600
    monkeypatch.setattr(lasting, "UNCONFIRMED_SECONDS", 0.3)
    headers, seen, ended = {"X-Forwarded-User": "ann"}, [], 0
    async with httpx.AsyncClient(base_url=proxied.url, timeout=PATIENCE_SECONDS) as browser:
        while ended < 3:
            proxied.write()
            async with browser.stream("GET", STREAMS[0], headers=headers) as response:
                async for line in response.aiter_lines():
                    if line.startswith("id:"):
                        seen.append(int(line.removeprefix("id:")))
                        headers["Last-Event-ID"] = str(seen[-1])
            ended += 1
        headers["X-CSRF-Token"] = (await browser.get("/api/me", headers=headers)).json()["csrf"]
        chat = await browser.post("/agui", json={"threadId": "talk", "runId": "r", "messages": []}, headers=headers)
    assert seen == [1, 2, 3]
    last = json.loads(chat.text.strip("\n").split("\n\n")[-1].removeprefix("data: "))
    assert (last["type"], last["code"], "Send the request again" in last["message"]) == (
        "RUN_ERROR",
        "sign_in_needed",
        True,
    )


async def test_who_stays_hears_everything_once_however_often_they_are_asked_after(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lasting, "RECHECK_SECONDS", 0.005)
    seen: list[int] = []
    async with served.browser() as browser, browser.stream("GET", STREAMS[0]) as response:
        async for line in response.aiter_lines():
            if line.startswith("id:"):
                seen.append(int(line.removeprefix("id:")))
            if len(seen) == served.written < 25:
                served.write()
            if len(seen) == 25:
                break
    assert seen == list(range(1, 26))


async def test_a_journal_that_fails_ends_the_stream_with_a_line_in_the_log(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_fire(*_: object) -> None:
        raise JournalError("It is on fire.")

    with capture_logs() as logged:
        async with served.browser() as browser, browser.stream("GET", STREAMS[0]) as response:
            lines = response.aiter_lines()
            await anext(lines)
            monkeypatch.setattr(served.journal, "read", on_fire)
            async for _ in lines:
                pass
    assert [line["why"] for line in logged if line["event"] == "a stream has ended"] == ["It is on fire."]
    assert [line for line in logged if line["log_level"] == "error"] == []


# ---------------------------------------------------------------- pauses


async def _events(closed: list[bool], *counts: int) -> AsyncGenerator[int, None]:
    try:
        for count in counts:
            yield count
        await asyncio.Event().wait()
    finally:
        closed.append(True)


async def test_pauses_are_told_and_nothing_that_comes_is_lost_to_them() -> None:
    closed: list[bool] = []
    async with aclosing(lasting.with_pauses(_events(closed, 1, 2, 3), lambda: 0.001)) as heard:
        found = [await anext(heard) for _ in range(6)]
    assert [event for event in found if event is not None] == [1, 2, 3]
    assert found[3:] == [None, None, None]
    assert closed == [True]


async def test_what_ends_or_fails_ends_or_fails_for_whoever_hears_of_it() -> None:
    async def ending() -> AsyncGenerator[int, None]:
        yield 1

    async def failing() -> AsyncGenerator[int, None]:
        yield 1
        raise JournalError("It is on fire.")

    def never() -> float:
        return 10.0

    assert [event async for event in lasting.with_pauses(ending(), never)] == [1]
    with pytest.raises(JournalError):
        assert [event async for event in lasting.with_pauses(failing(), never)] == [1]
