"""A restart that a person has to agree to, as it is shipped: asked, left for a while, agreed to or not, and done once.

The shop of examples/shop with its offline model, in a folder of its own; everything goes through the command line.
"""

import asyncio
import json
import os
import shutil
import signal
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from opspilot import stack
from opspilot.client import OpsPilot
from opspilot.core.conversation import conversation
from opspilot.core.entries import Entry, Kind
from opspilot.core.errors import OpsPilotError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.messages import unanswered
from opspilot.journal.queries import InterruptRow
from opspilot.journal.store import SqlJournal
from opspilot.temporal import connect
from tests.e2e.conftest import Ended, run_command

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
SECONDS = 60.0
RESTART = "restart_service"
DANA = Principal("dana", roles=("operator", "approver"))


@dataclass
class Shop:
    """The example with a stack of its own. Each restart takes as long as its settings say."""

    folder: Path
    journal: SqlJournal

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def run(self, *arguments: str, **environment: str) -> Ended:
        """A command to its end, with nobody at a terminal."""
        known = {**os.environ, "OPSPILOT_STATE_DIR": str(self.state), "LOGNAME": "dana", **environment}
        return run_command(self.folder, known, *arguments)

    def ask(self, session: str, question: str, *options: str) -> None:
        """Ask for a restart; it waits for a person."""
        asked = self.run("ask", "--local", "--session", session, *options, question)
        assert asked.status == 4, asked

    def restarts(self, session: str) -> list[str]:
        """The services that were restarted for this session, by what the restarts themselves have written down."""
        record = self.folder / "examples" / "shop" / "state" / "restarts.jsonl"
        lines = record.read_text().split("\n")[:-1] if record.exists() else []
        run = self.journal.session(session)
        assert run is not None
        return [restart["service"] for restart in map(json.loads, lines) if run.current_run in restart["key"]]

    def entries(self, session: str, kind: Kind) -> list[Entry]:
        return [entry for entry in self.journal.read(session) if entry.kind is kind]

    def result(self, session: str) -> dict[str, Any]:
        """The one result of the one call that restarts."""
        calls = [entry.call for entry in self.entries(session, Kind.TOOL_CALL) if entry.data["name"] == RESTART]
        results = [entry for entry in self.entries(session, Kind.TOOL_RESULT) if entry.call in calls]
        assert (len(calls), len(results)) == (1, 1)
        return dict(results[0].data)

    async def pilot(self) -> tuple[OpsPilot, Client]:
        """The client of whoever is at the command line, and Temporal's."""
        temporal = await connect(f"127.0.0.1:{stack.load(self.state / 'stack.json').port}")
        return OpsPilot(temporal, self.journal, DANA), temporal

    def kill_worker(self) -> None:
        (worker,) = stack.find(f"opspilot-state={self.state}", 0)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait(10)

    def until(self, reached: Callable[[], object]) -> None:
        deadline = time.monotonic() + SECONDS
        while not reached():
            assert time.monotonic() < deadline
            time.sleep(0.005)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop").resolve()
    shutil.copy(ROOT / "opspilot.toml", folder)
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("state", "logs"))
    (folder / "state").mkdir()
    journal = SqlJournal(f"sqlite:///{folder / 'state' / 'journal.sqlite'}")
    try:
        yield Shop(folder, journal)
    finally:
        journal.close()
        state = folder / "state"
        marks = (f"opspilot-web={state}", f"opspilot-state={state}", f"--db-filename={state / 'temporal.db'}")
        for mark in marks:
            for process in stack.find(mark, 0):
                process.kill()


def test_a_restart_waits_over_a_shutdown_of_everything_and_is_done_once_when_a_person_agrees(shop: Shop) -> None:
    shop.ask("pay", "Restart the payment service in production")
    assert shop.run("down").status == 0
    assert stack.find(f"opspilot-state={shop.state}", 0) == []
    assert shop.restarts("pay") == []

    up = shop.run("up")
    assert up.status == 0
    assert "The web UI is at http://127.0.0.1:" in up.out
    listed = shop.run("answer", "pay").out
    assert 'restart_service service="payment"' in listed
    assert "rule unmatched-write · medium risk" in listed
    answered = shop.run("answer", "pay", "--approve", "--comment", "go ahead")
    assert (answered.status, answered.out) == (0, "Approved; the run goes on.\n")

    watched = shop.run("watch", "pay")
    assert watched.status == 0
    assert "approve by dana: go ahead" in watched.out
    stopped = shop.entries("pay", Kind.RUN_STOPPED)[-1].data
    assert stopped["stop_reason"] == "answered"
    assert "payment" in stopped["answer"]
    assert "restart" in stopped["answer"].lower()
    assert shop.restarts("pay") == ["payment"]
    assert shop.result("pay")["ok"]


def test_a_rejection_in_chinese_is_told_with_its_reason_and_nothing_is_restarted(shop: Shop) -> None:
    shop.ask("zh", "重启生产环境的支付服务", "--lang", "zh")
    rejected = shop.run("answer", "zh", "--reject", "--comment", "发布冻结到周五", "--lang", "zh")
    assert (rejected.status, rejected.out) == (0, "已拒绝；运行继续，但不做这件事。\n")

    watched = shop.run("watch", "zh", "--lang", "zh")
    assert watched.status == 0
    assert "dana 拒绝：发布冻结到周五" in watched.out
    assert "有人拒绝了这个调用；它没有执行。留言：发布冻结到周五" in watched.out
    answer = str(shop.entries("zh", Kind.RUN_STOPPED)[-1].data["answer"])
    assert "发布冻结到周五" in answer
    assert any(word in answer for word in ("没有", "不会", "未", "拒绝")), answer
    assert shop.restarts("zh") == []
    assert shop.result("zh")["errorCode"] == "rejected_by_human"


# ---------------------------------------------------------------- kill -9


def keeps_every_rule(shop: Shop, session: str) -> None:
    assert len(shop.restarts(session)) <= 1
    assert unanswered(conversation(shop.journal.read(session))) == ()
    assert len(shop.entries(session, Kind.INTERRUPT_ANSWERED)) == 1
    assert len(shop.entries(session, Kind.RUN_STOPPED)) == 1


async def judged(shop: Shop, _: Client, session: str) -> None:
    """The journal has the approval; whether Temporal has heard of it is open."""
    while not shop.entries(session, Kind.INTERRUPT_ANSWERED):
        await asyncio.sleep(0.002)


async def dispatched(_: Shop, temporal: Client, session: str) -> None:
    """The restart is on its way to its command, or has just begun."""
    handle = temporal.get_workflow_handle(session)
    while True:
        pending = (await handle.describe()).raw_description.pending_activities
        if any(activity.activity_type.name == "run_tool" for activity in pending):
            return
        await asyncio.sleep(0.002)


Moment = Callable[[Shop, Client, str], Awaitable[None]]


@pytest.mark.timeout(200)
@pytest.mark.parametrize("moment", [dispatched, pytest.param(judged, marks=pytest.mark.slow)])
def test_a_worker_killed_between_the_approval_and_the_restart_leads_to_one_restart_at_most(
    shop: Shop, moment: Moment
) -> None:
    session = f"between-{moment.__name__}"
    shop.ask(session, "Restart the payment service in production")

    async def approve_and_kill() -> None:
        pilot, temporal = await shop.pilot()
        (question,) = await pilot.questions(session)
        await pilot.answer(session, approval(question))
        await moment(shop, temporal, session)
        shop.kill_worker()

    asyncio.run(approve_and_kill())
    assert shop.run("up").status == 0
    assert shop.run("watch", session).status == 0

    keeps_every_rule(shop, session)
    result = shop.result(session)
    if result["ok"]:
        assert shop.restarts(session) == ["payment"]
    else:
        assert result["errorCode"] in {"outcome_unknown", "not_started"}
        assert result["errorCode"] == "outcome_unknown" or shop.restarts(session) == []


def test_a_worker_killed_during_the_restart_finds_that_it_happened_and_does_not_repeat_it(shop: Shop) -> None:
    session = "during"
    shop.ask(session, "Restart the payment service in production")
    assert shop.run("answer", session, "--approve").status == 0
    shop.until(lambda: shop.restarts(session))
    shop.kill_worker()

    assert shop.run("up").status == 0
    assert shop.run("watch", session).status == 0

    keeps_every_rule(shop, session)
    assert shop.restarts(session) == ["payment"]
    assert shop.result(session)["ok"], "the restart says by its key that it happened"


def approval(question: InterruptRow) -> Answer:
    """What whoever was shown this question says."""
    return Answer(uuid.uuid4().hex, question.interrupt, AnswerAction.APPROVE, DANA, digest=question.digest)


# ---------------------------------------------------------------- races


async def test_an_approval_that_races_a_stop_ends_in_one_truth(shop: Shop) -> None:
    """Whichever comes first: a restart that happened is a result, one that didn't is `cancelled`, and nothing hangs."""
    pilot, _ = await shop.pilot()
    outcomes = set()
    for attempt, pause in enumerate((0.0, 0.01, 0.03, 0.1, 0.4, 1.5)):
        asked = await pilot.ask("Restart the payment service in production", f"race-{attempt}")
        session = asked.session
        while not (waiting := await pilot.questions(session)):
            await asyncio.sleep(0.02)
        answering = pilot.answer(session, approval(waiting[0]))

        async def stopping(session: str = session, pause: float = pause) -> None:
            await asyncio.sleep(pause)
            await pilot.stop(session, "race")

        answered, stopped = await asyncio.gather(answering, stopping(), return_exceptions=True)
        for said in (answered, stopped):
            # Who comes too late is told so.
            assert not isinstance(said, BaseException) or isinstance(said, OpsPilotError), said
        async with asyncio.timeout(SECONDS):
            async for _ in pilot.follow(session, asked.message_id, asked.after):
                pass
        result = shop.result(session)
        restarts = shop.restarts(session)
        outcomes.add("ok" if result["ok"] else str(result["errorCode"]))
        assert len(restarts) <= 1
        assert restarts == ["payment"] if result["ok"] else True
        assert restarts == [] if result.get("errorCode") == "cancelled" else True
        assert unanswered(conversation(shop.journal.read(session))) == ()
    assert outcomes <= {"ok", "cancelled", "outcome_unknown"}
