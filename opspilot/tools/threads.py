"""Threads for functions that block, so that none of them stalls the event loop or the end of the process.

Owns a fixed number of slots. A thread can't be stopped: one whose caller has gone (time limit, cancellation) is
abandoned, and keeps its slot until its function returns. Knows nothing of tools.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Failed", "NoFreeThread", "Threads"]


class NoFreeThread(Exception):
    """Every slot stayed taken for as long as the caller wanted to wait."""


@dataclass(frozen=True)
class Failed:
    """What a function raised. A value, so that `StopIteration` or `SystemExit` can cross a future."""

    error: BaseException


class Threads:
    """`slots` functions at once, each in a daemon thread of its own: a stuck one doesn't keep the process alive."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._free = asyncio.Semaphore(slots)
        self._running: set[asyncio.Future[Any]] = set()

    @property
    def abandoned(self) -> int:
        """How many slots are held by functions that nobody waits for any more."""
        return sum(future.cancelled() for future in self._running)

    async def start(self, function: Callable[[], Any], name: str, wait_seconds: float) -> "asyncio.Future[Any]":
        """Start a function as soon as a slot is free. The future's result is what it returns, or `Failed`.

        Cancelling the future abandons the thread. Raises `NoFreeThread` after `wait_seconds`.
        """
        try:
            async with asyncio.timeout(wait_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise NoFreeThread(f"all {self.slots} threads are busy") from None
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()

        def work() -> None:
            outcome = _outcome(context, function)
            try:
                loop.call_soon_threadsafe(self._settle, future, outcome)
            except RuntimeError:
                return  # the loop is closed: the process is ending, and nobody counts slots

        try:
            threading.Thread(target=work, name=name, daemon=True).start()
        except RuntimeError as error:
            self._free.release()
            raise NoFreeThread(f"the system gives no more threads ({error})") from error
        self._running.add(future)
        return future

    def _settle(self, future: "asyncio.Future[Any]", outcome: Any) -> None:
        self._free.release()
        self._running.discard(future)
        if not future.done():
            future.set_result(outcome)


def _outcome(context: contextvars.Context, function: Callable[[], Any]) -> Any:
    try:
        return context.run(function)
    except BaseException as error:  # noqa: BLE001 - whatever ends the function is its outcome, SystemExit as well
        return Failed(error)
