"""Records the histories that `test_replay.py` replays. Run it to add histories, never to make a failing replay pass:

    python -m tests.replay.record v2

A replay that fails means that runs which are open right now would break: patch the workflow (`workflow.patched`).
"""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from opspilot.client import Asked
from opspilot.core.calls import Gate
from opspilot.core.entries import Kind
from opspilot.core.interrupts import AnswerAction
from opspilot.core.limits import Limits, OnLimit
from opspilot.core.policy import RUN_ANYTHING, Policy, Rule
from opspilot.core.terms import Rung, RungKind, Terms
from opspilot.embedded import server_binary
from opspilot.temporal import plugin
from opspilot.testing.server import ATTRIBUTES
from tests.workflows.desk import Desk
from tests.workflows.test_agent import DONE, call, calls
from tests.workflows.test_races import write_runs

FOLDER = Path(__file__).parent / "histories"


async def parallel_reads(desk: Desk) -> Asked:
    async with desk.worker([calls(call("look", topic="a"), call("boom"), call("lok")), DONE]):
        asked = await desk.ask()
        await desk.result(asked)
    return asked


async def approved_and_rejected(desk: Desk) -> Asked:
    script = [calls(call("risky", name="a"), call("look", topic="x"), call("risky", name="b")), DONE]
    async with desk.worker(script):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#1", AnswerAction.APPROVE)
        await desk.until(asked.session, Kind.INTERRUPT_OPENED, count=2)
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.3#1", AnswerAction.REJECT, comment="no")
        await desk.result(asked)
    return asked


async def stopped_in_a_write(desk: Desk) -> Asked:
    script = [calls(call("slow_change", name="slow", seconds=30), call("change", name="later")), DONE]
    async with desk.worker(script):
        asked = await desk.ask()
        await write_runs(desk, asked.session)
        await desk.opspilot.stop(asked.session)
        await desk.result(asked)
    return asked


async def at_a_limit(desk: Desk) -> Asked:
    async with desk.worker([calls(call("look", topic="a"))] * 4):
        asked = await desk.ask()
        await desk.result(asked)
    return asked


async def continued_as_new(desk: Desk) -> Asked:
    script = [*[calls(call("look", topic=f"t{n}")) for n in range(4)], DONE]
    async with desk.worker(script):
        asked = await desk.ask(limits=Limits(continue_as_new_steps=3))
        await desk.result(asked)
    return asked


async def reminded_escalated_and_approved(desk: Desk) -> Asked:
    async with desk.worker([calls(call("change", name="a")), DONE]):
        asked = await desk.ask()
        await desk.until(asked.session, Kind.INTERRUPT_ESCALATED)
        await desk.answer(asked.session, "1.1#0", AnswerAction.APPROVE)
        await desk.result(asked)
    return asked


async def expired(desk: Desk) -> Asked:
    async with desk.worker([calls(call("slow_change", name="a", seconds=0)), DONE]):
        asked = await desk.ask()
        await desk.result(asked)
    return asked


async def edited_and_asked_again(desk: Desk) -> Asked:
    async with desk.worker([calls(call("refuse", name="a")), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#0", AnswerAction.PROVIDE, values={"name": "b"})
        await desk.until(asked.session, Kind.INTERRUPT_OPENED, count=2)
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#1", AnswerAction.REJECT)
        await desk.result(asked)
    return asked


async def went_on_beyond_its_limit(desk: Desk) -> Asked:
    async with desk.worker([calls(call("look", topic="a")), calls(call("look", topic="b")), DONE]):
        asked = await desk.ask(limits=Limits(steps=2, on_limit=OnLimit.ASK))
        await desk.until(asked.session, Kind.INTERRUPT_OPENED)
        await desk.waiting(asked.session)
        await desk.answer(asked.session, "limit#1", AnswerAction.APPROVE)
        await desk.result(asked)
    return asked


LADDER = (Rung(RungKind.REMIND, 0.1), Rung(RungKind.ESCALATE, 0.2, role="lead"))
POLICY = Policy(
    (
        Rule("climbs", Gate.CONFIRM, tools=("change",), arguments={"name": ("a",)}, terms=Terms(ladder=LADDER)),
        Rule("expires", Gate.CONFIRM, tools=("slow_change",), terms=Terms(ladder=(Rung(RungKind.EXPIRE, 0.1),))),
        Rule("two", Gate.CONFIRM, tools=("refuse",), terms=Terms(quorum=2)),
        Rule("others", Gate.RUN),
    )
)
"""For the scenarios in which people are asked because of a rule."""

Scenario = Callable[[Desk], Awaitable[Asked]]
ASKED_BY_RULE: tuple[Scenario, ...] = (reminded_escalated_and_approved, expired, edited_and_asked_again)
SCENARIOS: tuple[Scenario, ...] = (
    parallel_reads,
    approved_and_rejected,
    stopped_in_a_write,
    at_a_limit,
    continued_as_new,
    went_on_beyond_its_limit,
    *ASKED_BY_RULE,
)


async def record(client: Client, scenario: Scenario, version: str) -> None:
    """Play one scenario and write the history of each run of its chain."""
    name = str(getattr(scenario, "__name__", ""))
    with tempfile.TemporaryDirectory() as folder:
        policy = POLICY if scenario in ASKED_BY_RULE else RUN_ANYTHING
        desk = Desk(client, f"record-{name}", Path(folder), 100, policy=policy)
        asked = await scenario(desk)
        run: str | None = desk.entries(asked.session)[0].run
        part = 0
        while run:
            part += 1
            history = await client.get_workflow_handle(asked.session, run_id=run).fetch_history()
            events = json.loads(history.to_json())
            file = FOLDER / f"{version}-{name}-{part}.json"
            file.write_text(_without_machine(json.dumps(events, indent=1)) + "\n", encoding="utf-8")
            run = _continued(events)
        desk.journal.close()


def _continued(events: dict[str, Any]) -> str | None:
    last = events["events"][-1]
    attributes = last.get("workflowExecutionContinuedAsNewEventAttributes", {})
    found = attributes.get("newExecutionRunId")
    return None if found is None else str(found)


def _without_machine(text: str) -> str:
    return re.sub(r'"\d+@[^"]*"', '"recorder"', text)


async def main(version: str) -> None:
    """Record every scenario on a fresh server."""
    environment = await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(server_binary()), search_attributes=ATTRIBUTES, plugins=[plugin()]
    )
    async with environment:
        for scenario in SCENARIOS:
            await record(environment.client, scenario, version)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
