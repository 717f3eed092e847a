"""Heartbeats by timer, so that an activity that waits in silence is neither lost nor deaf to a cancel."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from temporalio import activity

EVERY_SECONDS = 0.5
"""Half of the worker's throttle of 1 s: a cancel is seen at most about a second after it was asked for."""

GRACE_SECONDS = 10.0
"""Added to what a tool or model may take to give start-to-close: our own limit always comes first, with a sentence."""


@asynccontextmanager
async def heartbeating() -> AsyncIterator[None]:
    """Heartbeat for as long as the block runs."""
    beat = asyncio.create_task(_beat())
    try:
        yield
    finally:
        beat.cancel()
        with suppress(asyncio.CancelledError):
            await beat


async def _beat() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(EVERY_SECONDS)


def own_limit_seconds() -> float:
    """What this activity may take by its own clock: start-to-close without the grace."""
    timeout = activity.info().start_to_close_timeout
    assert timeout is not None
    return max(0.1, timeout.total_seconds() - GRACE_SECONDS)
