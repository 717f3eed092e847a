"""`kill -9` of the worker in every phase of a step: the same run goes on with the next worker, and every rule holds.

The real server, the real worker process, the real wire format; the model is the shipped script, served over HTTP.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from opspilot import embedded, stack
from opspilot.client import Asked, OpsPilot
from opspilot.core.contract import Status
from opspilot.core.conversation import conversation
from opspilot.core.entries import Kind
from opspilot.core.errors import OpsPilotError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import StopReason
from opspilot.core.messages import unanswered
from opspilot.journal.store import SqlJournal
from opspilot.models.scripted_server import ScriptedServer
from opspilot.place import Place
from opspilot.temporal import connect

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
ME = Principal("tester")
RESUMED_SECONDS = 15.0
TOOLS = ("nap", "look", "change", "again", "risky")


def call(name: str, /, **arguments: object) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@dataclass
class Site:
    """One stack, its model server, and ways to look at what happened."""

    place: Place
    server: ScriptedServer
    address: str
    journal: SqlJournal

    def kill_worker(self) -> None:
        for process in stack.find(self.place.worker_mark, 0):
            process.kill()
            process.wait(10)

    async def start_worker(self) -> float:
        """A new worker is polling; returns the moment."""
        await asyncio.to_thread(embedded.ensure, self.place)
        return time.monotonic()

    def effects(self) -> list[str]:
        file = self.place.state / "effects"
        return file.read_text().splitlines() if file.exists() else []

    @asynccontextmanager
    async def pilot(self) -> AsyncIterator[OpsPilot]:
        yield OpsPilot(await connect(self.address), self.journal, ME)

    def codes(self, session: str) -> dict[str, str]:
        results = [entry for entry in self.journal.read(session) if entry.kind is Kind.TOOL_RESULT]
        assert len({entry.call for entry in results}) == len(results)
        return {str(entry.call): "ok" if entry.data["ok"] else entry.data["errorCode"] for entry in results}


SCRIPT: list[dict[str, Any]] = [
    {"calls": [call("look", topic="a"), call("nap", seconds=1.0)], "delay_seconds": 1.0},
    {"calls": [call("again", name="twice", seconds=1.0), call("look", topic="b")]},
    {"calls": [call("risky", name="db")]},
    {"calls": [call("change", name="once", seconds=1.0), call("change", name="never")]},
    {"text": "Here is the answer."},
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("kill").resolve()
    with ScriptedServer(SCRIPT) as server:
        config = folder / "opspilot.toml"
        tools = "".join(f'[tools.{name}]\nuse = "tests.e2e.kill_tools:build"\n' for name in TOOLS)
        model = f'[model]\nprovider = "openai"\nname = "scripted"\nbase_url = "{server.url}"\n'
        rules = '[[policy.rules]]\nname = "harmless"\ntool = ["again", "change"]\nverdict = "run"\n'
        config.write_text(model + tools + rules)
        environment = {
            **os.environ,
            "OPSPILOT_CONFIG": str(config),
            "OPSPILOT_STATE_DIR": str(folder),
            "OPSPILOT_WEB__AUTH": "local",
        }
        place = Place(folder, ROOT / "worker.py", "1", environment, ROOT)
        endpoint = embedded.ensure(place)
        journal = SqlJournal(f"sqlite:///{folder / 'journal.sqlite'}")
        try:
            yield Site(place, server, endpoint.address, journal)
        finally:
            journal.close()
            for process in (*stack.find(place.worker_mark, 0), *stack.find(place.server_mark, 0)):
                process.kill()


async def until(reached: Callable[[], bool]) -> None:
    """Poll what another process writes."""
    while not reached():
        await asyncio.sleep(0.03)


async def ended(pilot: OpsPilot, asked: Asked) -> dict[str, Any]:
    """Data of the `run.stopped` that answers the question."""
    data: dict[str, Any] = {}
    async for entry in pilot.follow(asked.session, asked.message_id, asked.after):
        data = dict(entry.data)
    return data


async def answered(site: Site, pilot: OpsPilot, session: str) -> None:
    """Approve the question of step 3 as soon as it is open."""
    while not any(entry.kind is Kind.INTERRUPT_ANSWERED for entry in site.journal.read(session)):
        for question in await pilot.questions(session):
            # The worker may die at this very moment: then the answer is given again, under the same id.
            with suppress(OpsPilotError):
                await pilot.answer(
                    session, Answer("yes", question.interrupt, AnswerAction.APPROVE, ME, digest=question.digest)
                )
        await asyncio.sleep(0.05)


def keeps_every_rule(site: Site, session: str) -> None:
    entries = site.journal.read(session)
    calls = [entry.call for entry in entries if entry.kind is Kind.TOOL_CALL]
    assert sorted(site.codes(session)) == sorted(str(name) for name in calls)
    assert unanswered(conversation(entries)) == ()
    assert len({entry.run for entry in entries}) == 1
    assert len([entry for entry in entries if entry.kind is Kind.RUN_STOPPED]) == 1


def has_entries(site: Site, session: str, count: int) -> bool:
    return len(site.journal.read(session)) >= count


Moment = Callable[[Site, OpsPilot, str], Awaitable[None]]


async def model_thinks(site: Site, _: OpsPilot, session: str) -> None:
    asked = len(site.server.requests)
    await until(lambda: any(entry.kind is Kind.USER_MESSAGE for entry in site.journal.read(session)))
    await until(lambda: len(site.server.requests) > asked)


async def read_runs(site: Site, _: OpsPilot, session: str) -> None:
    await until(lambda: "nap began" in site.effects() and "1.1" in site.codes(session))


async def idempotent_write_runs(site: Site, _: OpsPilot, session: str) -> None:
    await until(lambda: any(line.startswith("again twice began") for line in site.effects()))


async def person_is_asked(_: Site, pilot: OpsPilot, session: str) -> None:
    while (status := await pilot.status(session)) is None or status.status is not Status.WAITING:
        await asyncio.sleep(0.05)


async def write_runs(site: Site, pilot: OpsPilot, session: str) -> None:
    await answered(site, pilot, session)
    await until(lambda: any(line.startswith("change once began") for line in site.effects()))


@pytest.mark.parametrize("moment", [model_thinks, read_runs, idempotent_write_runs, person_is_asked, write_runs])
async def test_kill_of_the_worker_in_a_phase_of_a_step_loses_nothing(site: Site, moment: Moment) -> None:
    (site.place.state / "effects").unlink(missing_ok=True)
    async with site.pilot() as pilot:
        asked = await pilot.ask("What is going on?", f"kill-{moment.__name__}")
        await asyncio.wait_for(moment(site, pilot, asked.session), 60)
        site.kill_worker()
        started = await site.start_worker()
        answering = asyncio.create_task(answered(site, pilot, asked.session))
        stopped = await ended(pilot, asked)
        took = time.monotonic() - started
        answering.cancel()
    assert stopped["stop_reason"] == StopReason.ANSWERED
    assert took < RESUMED_SECONDS
    keeps_every_rule(site, asked.session)
    effects = Counter(line.rsplit(" ", 1)[0] for line in site.effects())
    assert effects["change never began"] == (0 if moment is write_runs else 1)
    assert effects["change once began"] == 1
    assert site.codes(asked.session)["4.1"] == ("outcome_unknown" if moment is write_runs else "ok")
    keys = {line.rsplit(" ", 1)[1] for line in site.effects() if line.startswith("again")}
    assert len(keys) == 1
    assert effects["risky db"] == 1


@pytest.mark.slow
async def test_kills_at_any_moment_lose_nothing(site: Site) -> None:
    (site.place.state / "effects").unlink(missing_ok=True)
    async with site.pilot() as pilot:
        asked = await pilot.ask("What is going on?", "kill-often")
        answering = asyncio.create_task(answered(site, pilot, asked.session))
        for count in (3, 8, 13):
            await until(partial(has_entries, site, asked.session, count))
            site.kill_worker()
            await site.start_worker()
        stopped = await ended(pilot, asked)
        answering.cancel()
    assert stopped["stop_reason"] == StopReason.ANSWERED
    keeps_every_rule(site, asked.session)
    assert sum(line.startswith("change once began") for line in site.effects()) <= 1
