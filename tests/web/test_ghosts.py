"""Runs that somebody terminated in Temporal: they are shown as ended, and their questions leave the inbox."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.core.calls import Gate
from opspilot.core.entries import Entry, Kind
from opspilot.core.policy import Policy, Rule
from opspilot.ghosts import Ghosts
from opspilot.testing import Step, call
from opspilot.tools.spec import tool
from opspilot.web.live import Live
from tests.web.stand import Stand

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASKS = [Step(calls=[call("change")]), Step(text="That is all.")]


@tool()
def change() -> str:
    """Change something."""
    return "changed"


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path) -> AsyncIterator[Stand]:
    policy = Policy((Rule("changes", Gate.CONFIRM, tools=("change",)),))
    async with Stand(temporal, tmp_path, [change], policy=policy) as stand:
        yield stand


@pytest_asyncio.fixture(loop_scope="session")
async def waiting(stand: Stand) -> str:
    """A session that waits for a person; its worker has gone home."""
    async with stand.desk.worker(ASKS):
        asked = await stand.desk.ask()
        await stand.desk.waiting(asked.session)
    return asked.session


async def terminate(stand: Stand, session: str) -> None:
    await stand.desk.handle(session).terminate("A test does this.")


async def test_a_terminated_run_is_shown_so_and_its_question_leaves_the_inbox(stand: Stand, waiting: str) -> None:
    client = await stand.program("ann", "approver")
    look = Ghosts(stand.desk.client, stand.desk.journal)
    assert await look.look(waiting) is False
    assert len((await client.get("/api/interrupts")).json()) == 1
    await terminate(stand, waiting)
    assert await look.look(waiting) is True
    assert (await client.get("/api/interrupts")).json() == []
    about = (await client.get(f"/api/sessions/{waiting}")).json()["session"]
    assert (about["status"], about["stop_reason"]) == ("done", "internal_error")
    assert await look.look(waiting) is False


async def test_a_sweep_finds_what_nobody_looks_at(stand: Stand, waiting: str) -> None:
    async with stand.desk.worker(ASKS):
        other = (await stand.desk.ask()).session
        await stand.desk.waiting(other)
    look = Ghosts(stand.desk.client, stand.desk.journal)
    await terminate(stand, waiting)
    while not await look.sweep():
        # Temporal's list still names it.
        await asyncio.sleep(0.02)
    states = {row.id: row.status for row in stand.desk.journal.sessions()}
    assert states == {waiting: "done", other: "waiting"}
    assert await look.sweep() == 0


async def test_whoever_watches_a_session_finds_its_ghost(stand: Stand, waiting: str) -> None:
    await terminate(stand, waiting)
    live = Live(stand.desk.journal, Ghosts(stand.desk.client, stand.desk.journal).look)
    async with aclosing(live.happenings(waiting)) as happenings:
        async for happening in happenings:
            if isinstance(happening, Entry) and happening.kind is Kind.RUN_STOPPED:
                assert happening.data["stop_reason"] == "internal_error"
                break


async def test_a_run_that_temporal_does_not_know_is_left_alone_and_not_asked_about_again(
    stand: Stand, waiting: str
) -> None:
    stand.desk.journal.begin_run("elsewhere", "run", stand.desk.journal.read(waiting)[0].at, stand.desk.principal)
    look = Ghosts(stand.desk.client, stand.desk.journal)
    assert await look.sweep() == 0
    assert look._unknown == {("elsewhere", "run")}
    assert stand.desk.journal.session("elsewhere").status == "running"  # type: ignore[union-attr]


async def test_without_temporal_nothing_is_found_and_nothing_fails(
    stand: Stand, waiting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = await Client.connect("127.0.0.1:1", lazy=True)
    look = Ghosts(away, stand.desk.journal)
    assert await look.look(waiting) is False
    sweeps = 0

    async def count(seconds: float) -> None:
        nonlocal sweeps
        sweeps += 1
        if sweeps == 2:
            raise asyncio.CancelledError

    monkeypatch.setattr("opspilot.ghosts.asyncio.sleep", count)
    with pytest.raises(asyncio.CancelledError):
        await look.keep_sweeping()
    assert stand.desk.journal.session(waiting).status == "waiting"  # type: ignore[union-attr]
