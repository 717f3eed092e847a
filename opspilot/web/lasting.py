"""Replies that go on for long: they end when whoever gets them may see no more of it.

Who that is was found out when the reply began; here they are asked after again, as often as a heartbeat is sent. Where
only a new request could tell, as behind a proxy, such a reply ends after a while: who asks again goes on where it was.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from typing import TypeVar

import structlog
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from opspilot.core.errors import JournalError
from opspilot.texts.language import text
from opspilot.web.people.guard import people_of
from opspilot.web.people.visitors import Visitor
from opspilot.web.refusing import Refused, SignInNeeded

HEARTBEAT_SECONDS = 15
RECHECK_SECONDS = 15.0
UNCONFIRMED_SECONDS = 600.0
"""How long what a proxy said counts."""

T = TypeVar("T")

log = structlog.stdlib.get_logger("web")


def server_sent(request: Request, who: Visitor, events: AsyncGenerator[ServerSentEvent, None]) -> EventSourceResponse:
    """These events as a reply, and heartbeats. It just ends when it has to: whoever comes back is told why."""
    return EventSourceResponse(_till_the_end(request, who, events), ping=HEARTBEAT_SECONDS)


async def while_known(request: Request, who: Visitor, events: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """These events, as long as they are the same person with the same roles, and some `RECHECK_SECONDS` more.

    Raises `Refused` when they aren't, and what `events` raises. Closes `events`.
    """
    clock = asyncio.get_running_loop().time
    begun = clock()
    check_at = begun + RECHECK_SECONDS
    async with aclosing(with_pauses(events, lambda: check_at - clock())) as heard:
        async for event in heard:
            if clock() >= check_at:
                await _need_known(request, who, clock() - begun)
                check_at = clock() + RECHECK_SECONDS
            if event is not None:
                yield event


async def with_pauses(
    events: AsyncGenerator[T, None], pause_seconds: Callable[[], float]
) -> AsyncGenerator[T | None, None]:
    """These events, and None whenever none has come for so long. Closes `events`."""
    awaited: asyncio.Task[T | None] | None = None
    async with aclosing(events):
        try:
            while True:
                awaited = awaited or asyncio.create_task(_next(events))
                done, _ = await asyncio.wait({awaited}, timeout=max(0.0, pause_seconds()))
                if not done:
                    yield None
                    continue
                event, awaited = awaited.result(), None
                if event is None:
                    return
                yield event
        finally:
            if awaited is not None:
                awaited.cancel()
                with suppress(asyncio.CancelledError):
                    await awaited


async def _next(events: AsyncGenerator[T, None]) -> T | None:
    return await anext(events, None)


async def _need_known(request: Request, who: Visitor, seconds: float) -> None:
    if await people_of(request).known(request) != who:
        raise SignInNeeded(text("web.sign_in.over"))
    if who.by_request_alone and seconds >= UNCONFIRMED_SECONDS:
        raise SignInNeeded(text("web.sign_in.unconfirmed"))


async def _till_the_end(
    request: Request, who: Visitor, events: AsyncGenerator[ServerSentEvent, None]
) -> AsyncIterator[ServerSentEvent]:
    try:
        async with aclosing(while_known(request, who, events)) as seen:
            async for event in seen:
                yield event
    except Refused as refused:
        log.info("a stream has ended", path=request.url.path, why=refused.code)
    except JournalError as error:
        log.warning("a stream has ended", path=request.url.path, why=str(error))
