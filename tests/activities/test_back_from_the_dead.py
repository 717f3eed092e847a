"""A call that was given up has its result; what its activity still does when it comes back changes nothing more."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opspilot.core.entries import Kind, NewEntry, interrupt_key, tool_started_key
from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.limits import StopReason
from opspilot.core.policy import RUN_ANYTHING
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import tool
from tests.activities.desk import Desk, call, until

pytestmark = pytest.mark.asyncio


@pytest.fixture(params=["read", "write"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """With a tool that waits before it asks a person."""
    desk = Desk(tmp_path)

    @tool(effect=request.param)
    async def hesitate(name: str, place: str = "") -> Interrupt:
        """Wait until let go, then ask."""
        desk.done.append(f"began {name}{place}")
        await desk.go.wait()
        return Interrupt(InterruptType.PARAMS_REQUIRED, "Where?", {"fields": ["place"]})

    desk.tools = ToolRuntime(Registry([hesitate]), RUN_ANYTHING)
    return desk


async def test_it_asks_nobody_about_a_call_that_was_given_up(desk: Desk) -> None:
    await desk.propose(call("hesitate", name="db"))
    lost = asyncio.create_task(desk.act())
    await until(lambda: desk.done == ["began db"])
    given_up = await desk.settle()
    desk.go.set()
    assert (await lost).code is given_up.code is not None
    assert desk.entries(Kind.INTERRUPT_OPENED) == []
    assert desk.journal.open_interrupts() == ()


@pytest.mark.parametrize("late", [Kind.TOOL_STARTED, Kind.INTERRUPT_OPENED])
async def test_a_run_closes_also_when_such_a_call_wrote_something_behind_its_result(desk: Desk, late: Kind) -> None:
    """Between an activity's look at the journal and its writing anything may happen."""
    await desk.propose(call("hesitate", name="db"), call("hesitate", name="web"))
    desk.go.set()
    await desk.act("1.2")
    question = desk.only(Kind.INTERRUPT_OPENED).data
    await desk.settle()
    written = {
        Kind.TOOL_STARTED: (tool_started_key("run-1", "1.1", 2), {"round": 2, "nonce": "late"}),
        Kind.INTERRUPT_OPENED: (interrupt_key("run-1", "1.1", 2), {**question, "interrupt": "1.1#2"}),
    }
    key, data = written[late]
    desk.journal.append(desk.session, "run-1", [NewEntry(key, late, datetime.now(UTC), data, 1, "1.1")])
    await desk.close(StopReason.CANCELLED)
    assert desk.codes().keys() == {"1.1", "1.2"}
    assert desk.journal.open_interrupts() == ()
