"""Time limits, threads and cancellation: a tool can be slow or stuck, and nothing else is."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from opspilot.core.interrupts import Principal
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.ports import CallContext
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Tool, tool

CONTEXT = CallContext("ops-1", "run-1", "3.1", 1, "run-1/3.1#1", Principal("ann"))


@tool(effect="read")
def look() -> str:
    """Look."""
    return "seen"


def runtime_of(*tools: Tool, **options: Any) -> ToolRuntime:
    return ToolRuntime(Registry(tools), **options)


class Blocker:
    """A blocking tool that a test lets go, and that tells what it saw."""

    def __init__(self, **options: Any) -> None:
        self.started = threading.Semaphore(0)
        self.release = threading.Event()
        self.ended = threading.Semaphore(0)
        self.was_cancelled: bool | None = None

        @tool(name="block", **{"effect": "read", "timeout_seconds": 30, **options})
        def block(context: CallContext) -> str:
            """Block."""
            self.started.release()
            assert self.release.wait(20)
            self.was_cancelled = context.cancelled()
            self.ended.release()
            return "done"

        self.tool = block


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.002)


@pytest.fixture
def blocker() -> Iterator[Blocker]:
    subject = Blocker()
    yield subject
    subject.release.set()


async def test_a_blocking_tool_does_not_stall_the_event_loop(blocker: Blocker) -> None:
    call = asyncio.create_task(runtime_of(blocker.tool).run("block", {}, CONTEXT))
    await until(lambda: blocker.started.acquire(blocking=False))
    for _ in range(50):
        await asyncio.sleep(0)
    assert not call.done()
    blocker.release.set()
    assert (await call).observation == Observation(ok=True, data="done")
    assert blocker.was_cancelled is False


@pytest.mark.parametrize(
    ("effect", "message"),
    [
        ("read", "block did not finish within 0.05 s."),
        ("write", "block did not finish within 0.05 s. It may still take effect: check before trying again."),
    ],
)
async def test_a_blocking_tool_is_given_up_at_its_time_limit_and_its_thread_is_counted(
    effect: str, message: str
) -> None:
    blocker = Blocker(timeout_seconds=0.05, effect=effect)
    runtime = runtime_of(blocker.tool)
    returned = await runtime.run("block", {}, CONTEXT)
    assert returned.observation == Observation.failure(ErrorCode.TIMED_OUT, message)
    assert runtime.abandoned == 1
    blocker.release.set()
    await until(lambda: runtime.abandoned == 0)
    assert blocker.was_cancelled is True


async def test_an_async_tool_is_cancelled_at_its_time_limit_even_when_it_resists() -> None:
    let_go = asyncio.Event()
    seen: list[bool] = []

    @tool(effect="read", timeout_seconds=0.05)
    async def resist(context: CallContext) -> str:
        """Resist."""
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append(context.cancelled())
            await let_go.wait()
        return "late"

    observation = (await runtime_of(resist).run("resist", {}, CONTEXT)).observation
    assert observation == Observation.failure(ErrorCode.TIMED_OUT, "resist did not finish within 0.05 s.")
    await until(lambda: seen == [True])
    let_go.set()


async def test_cancelling_a_call_is_prompt_and_tells_the_tool(blocker: Blocker) -> None:
    runtime = runtime_of(blocker.tool)
    call = asyncio.create_task(runtime.run("block", {}, CONTEXT))
    await until(lambda: blocker.started.acquire(blocking=False))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(call, 1)
    assert runtime.abandoned == 1
    blocker.release.set()
    await until(lambda: runtime.abandoned == 0)
    assert blocker.was_cancelled is True


async def test_cancelling_reaches_an_async_tool() -> None:
    entered, left = asyncio.Event(), asyncio.Event()

    @tool(effect="read")
    async def wait() -> None:
        """Wait."""
        entered.set()
        try:
            await asyncio.sleep(30)
        finally:
            left.set()

    call = asyncio.create_task(runtime_of(wait).run("wait", {}, CONTEXT))
    await entered.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.wait_for(left.wait(), 1)


async def test_the_callers_own_flag_reaches_the_tool(blocker: Blocker) -> None:
    blocker.release.set()
    await runtime_of(blocker.tool).run("block", {}, replace(CONTEXT, cancelled=lambda: True))
    assert blocker.was_cancelled is True


async def test_when_every_thread_is_stuck_a_call_is_refused_in_a_sentence() -> None:
    blocker = Blocker(timeout_seconds=0.05)
    runtime = runtime_of(blocker.tool, look, threads=2, thread_wait_seconds=0.05)
    for _ in range(2):
        await runtime.run("block", {}, CONTEXT)
    assert runtime.abandoned == 2
    returned = await runtime.run("look", {}, CONTEXT)
    assert returned.observation == Observation.failure(
        ErrorCode.TOOL_FAILED,
        "look did not start: all 2 threads are busy. Nothing happened; try again later.",
    )
    blocker.release.set()
    await until(lambda: runtime.abandoned == 0)
    assert (await runtime.run("look", {}, CONTEXT)).observation == Observation(ok=True, data="seen")


async def test_a_call_waits_for_a_thread_that_is_freed_in_time(blocker: Blocker) -> None:
    runtime = runtime_of(blocker.tool, look, threads=1)
    first = asyncio.create_task(runtime.run("block", {}, CONTEXT))
    await until(lambda: blocker.started.acquire(blocking=False))
    second = asyncio.create_task(runtime.run("look", {}, CONTEXT))
    await asyncio.sleep(0)
    blocker.release.set()
    assert (await first).observation == Observation(ok=True, data="done")
    assert (await second).observation == Observation(ok=True, data="seen")


async def test_reads_run_beside_each_other() -> None:
    meet = threading.Barrier(4, timeout=10)

    @tool(effect="read")
    def join() -> bool:
        """Wait for the others."""
        meet.wait()
        return True

    runtime = runtime_of(join)
    returned = await asyncio.gather(*(runtime.run("join", {}, CONTEXT) for _ in range(4)))
    assert all(result.observation == Observation(ok=True, data=True) for result in returned)
