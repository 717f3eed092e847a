"""A session as server-sent events: each event once, in order, wherever a reader was cut off, and drafts beside it."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import Client

from opspilot.access.tokens import Tokens
from opspilot.core.entries import Kind, NewEntry
from opspilot.core.errors import JournalError
from opspilot.core.interrupts import Principal
from opspilot.core.ports import Draft
from opspilot.journal.store import SqlJournal
from opspilot.sections.web import WebSettings
from opspilot.web import lasting, live
from opspilot.web.app import create_app
from opspilot.web.backend import Backend
from opspilot.web.live import Live
from opspilot.web.people.ways import people
from tests.web.serving import serving

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ANN = Principal("ann")


class Writer:
    """What a worker would write, as a test wants it."""

    def __init__(self, folder: Path) -> None:
        self.journal = SqlJournal(f"sqlite:///{folder / 'journal.sqlite'}")
        self.journal.begin_run("talk", "run", NOW, ANN)
        self.written = 0

    def write(self, count: int = 1, **data: Any) -> None:
        for _ in range(count):
            self.written += 1
            entry = NewEntry(f"note/{self.written}", Kind.BUDGET_WARNED, NOW, {"number": self.written, **data})
            self.journal.append("talk", "run", [entry])

    def draft(self, step: int, attempt: int, text: str) -> None:
        self.journal.put_draft("talk", Draft("run", step, attempt, text))


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    writer = Writer(tmp_path)
    yield writer
    writer.journal.close()


@pytest.fixture
def url(writer: Writer, tmp_path: Path) -> Iterator[str]:
    """A real server, since a stream has no end that a client in memory could wait for. There is no Temporal."""
    temporal = asyncio.run(Client.connect("127.0.0.1:1", lazy=True))
    backend = Backend(temporal=temporal, journal=writer.journal, live=Live(writer.journal), task_queue="none")
    web = WebSettings(auth="token", tokens_file=tmp_path / "tokens.json")
    with serving(create_app(backend, people(web, tmp_path, (), writer.journal, approval_key=None, port=80))) as address:
        yield address


@pytest.fixture
async def reader(url: str, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    token = Tokens(tmp_path / "tokens.json").add("ann", ("viewer",))
    async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=20) as client:
        yield client


async def frames(client: httpx.AsyncClient, **request: Any) -> AsyncGenerator[dict[str, str], None]:
    """Each frame of a stream as its fields; a comment is one under the empty name."""
    async with client.stream("GET", "/api/sessions/talk/events", **request) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        frame: dict[str, str] = {}
        async for line in response.aiter_lines():
            if line:
                name, _, value = line.partition(":")
                frame[name] = value.strip()
            elif frame:
                yield frame
                frame = {}


async def read(client: httpx.AsyncClient, count: int, **request: Any) -> list[dict[str, Any]]:
    """So many events, then the connection is cut."""
    found: list[dict[str, Any]] = []
    async with aclosing(frames(client, **request)) as stream_of_frames:
        async for frame in stream_of_frames:
            if "data" in frame:
                found.append({**frame, "data": json.loads(frame["data"])})
            if len(found) == count:
                break
    return found


async def test_a_reader_that_is_cut_off_again_and_again_sees_each_event_once(
    reader: httpx.AsyncClient, writer: Writer
) -> None:
    total = 120
    writing = threading.Thread(target=writer.write, args=(total,))
    writing.start()
    seen: list[int] = []
    headers: dict[str, str] = {}
    while len(seen) < total:
        events = await read(reader, min(7, total - len(seen)), headers=headers)
        seen += [event["data"]["seq"] for event in events]
        assert [int(event["id"]) for event in events] == [event["data"]["seq"] for event in events]
        headers = {"Last-Event-ID": str(seen[-1])}
    writing.join()
    assert seen == list(range(1, total + 1))


async def test_many_readers_who_come_at_any_time_see_the_same(reader: httpx.AsyncClient, writer: Writer) -> None:
    writer.write(30)
    early = [asyncio.create_task(read(reader, 60, params={"after": 0})) for _ in range(4)]
    await asyncio.to_thread(writer.write, 15)
    late = [asyncio.create_task(read(reader, 20, params={"after": 40})) for _ in range(4)]
    await asyncio.to_thread(writer.write, 15)
    for events in await asyncio.gather(*early):
        assert [event["data"]["seq"] for event in events] == list(range(1, 61))
    for events in await asyncio.gather(*late):
        assert [event["data"]["seq"] for event in events] == list(range(41, 61))


async def test_a_reader_goes_on_far_behind_what_is_at_hand(
    reader: httpx.AsyncClient, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "READ_AT_ONCE", 5)
    monkeypatch.setattr(live, "AT_HAND", 5)
    writer.write(40)
    events = await read(reader, 40)
    assert [event["data"]["seq"] for event in events] == list(range(1, 41))


async def test_drafts_are_beside_the_events_and_say_which_attempt_they_are_of(
    reader: httpx.AsyncClient, writer: Writer
) -> None:
    writer.write()
    async with aclosing(frames(reader)) as found:
        assert (await anext(found))["id"] == "1"
        writer.draft(1, 1, "The payment")
        first = await anext(found)
        writer.draft(1, 1, "The payment service: password=hunter22")
        second = await anext(found)
        writer.draft(1, 2, "It")
        third = await anext(found)
    assert [frame["event"] for frame in (first, second, third)] == ["draft"] * 3
    assert "id" not in first
    drafts = [json.loads(frame["data"]) for frame in (first, second, third)]
    assert [(draft["run"], draft["step"], draft["attempt"]) for draft in drafts] == [
        ("run", 1, 1),
        ("run", 1, 1),
        ("run", 1, 2),
    ]
    assert (drafts[0]["text"], drafts[2]["text"]) == ("The payment", "It")
    assert "hunter22" not in drafts[1]["text"]


async def test_secrets_and_line_ends_of_any_kind_do_not_break_out(reader: httpx.AsyncClient, writer: Writer) -> None:
    text = "one\ntwo\r\nthree\u2028four\x85five\n\nevent: draft\ndata: {}\n\npassword=hunter22"
    writer.write(text=text)
    writer.write()
    first, second = await read(reader, 2)
    assert (first["id"], second["id"], "event" in first) == ("1", "2", False)
    assert first["data"]["data"]["text"].startswith("one\ntwo\r\nthree\u2028four\x85five\n\nevent: draft")
    assert "hunter22" not in str(first)


async def test_a_heartbeat_comes_while_nothing_happens(
    reader: httpx.AsyncClient, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lasting.HEARTBEAT_SECONDS == 15
    monkeypatch.setattr(lasting, "HEARTBEAT_SECONDS", 0.05)
    async with aclosing(frames(reader)) as found:
        async for frame in found:
            assert list(frame) == [""]
            break


async def test_a_reader_who_has_no_leave_or_nothing_to_read_gets_no_stream(reader: httpx.AsyncClient, url: str) -> None:
    async with httpx.AsyncClient(base_url=url) as anybody:
        assert (await anybody.get("/api/sessions/talk/events")).status_code == 401
    assert (await reader.get("/api/sessions/other/events")).status_code == 404


async def test_nothing_is_read_any_more_when_the_last_onlooker_has_left(writer: Writer) -> None:
    watching = Live(writer.journal)
    writer.write(3)
    async with aclosing(watching.happenings("talk")) as one, aclosing(watching.happenings("talk", 2)) as other:
        assert [(await anext(one)).seq for _ in range(3)] == [1, 2, 3]  # type: ignore[union-attr]
        assert (await anext(other)).seq == 3  # type: ignore[union-attr]
        (watched,) = watching._sessions.values()
        assert watched.onlookers == 2
    assert watching._sessions == {}
    assert watched.reading is not None
    with pytest.raises(asyncio.CancelledError):
        await watched.reading


async def test_a_journal_that_fails_ends_the_stream_and_the_next_onlooker_tries_again(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching = Live(writer.journal)
    writer.write()
    with monkeypatch.context() as patch:
        patch.setattr(writer.journal, "drafts", _broken)
        with pytest.raises(JournalError):
            async for _ in watching.happenings("talk"):
                pass
    async with aclosing(watching.happenings("talk")) as again:
        assert (await anext(again)).seq == 1  # type: ignore[union-attr]


async def test_the_inbox_says_when_something_happened_in_a_session_that_waits(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "INBOX_POLL_SECONDS", 0.02)
    async with aclosing(Live(writer.journal).inbox_changes()) as changes:
        await anext(changes)
        changed = asyncio.ensure_future(anext(changes))
        opened = {
            "interrupt": "1.1#0",
            "kind": "question",
            "reason": "Why?",
            "tool": "t",
            "arguments": {},
            "digest": "d",
        }
        writer.journal.append("talk", "run", [NewEntry("o", Kind.INTERRUPT_OPENED, NOW, opened, 1, "1.1")])
        await asyncio.wait_for(changed, 10)


def _broken(_: str) -> tuple[Draft, ...]:
    raise JournalError("It is on fire.")
