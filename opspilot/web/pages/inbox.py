"""The front page: every open question that whoever looks may answer, oldest deadline first, kept up to date."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Header, Query
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from opspilot.core.interrupts import Principal
from opspilot.journal.inbox import InboxFilter
from opspilot.web.api.stream import HEARTBEAT_SECONDS
from opspilot.web.asked import card
from opspilot.web.backend import Backend, Served
from opspilot.web.pages.questions import said_before
from opspilot.web.pages.showing_inbox import Inbox, Seen, seen_in, told_of
from opspilot.web.pages.waiting import MOST_COUNTED
from opspilot.web.people.guard import Looker
from opspilot.web.people.rights import asked_of
from opspilot.web.rendering import page, part

router = APIRouter()

MOST_SHOWN = 30
ABOUT_LIMITS = "#limit"
"""Stands for questions about limits among the tools: they have none."""

Choice = Annotated[str, Query(max_length=200)]


@router.get("/", name="inbox")
async def show_inbox(
    request: Request, who: Looker, backend: Served, role: Choice = "", tool: Choice = "", risk: Choice = ""
) -> Response:
    """The inbox, narrowed to a role, a tool, a risk."""
    wanted = _wanted(who.principal, role, tool, risk)
    inbox = await backend.read(_read, backend, who.principal, wanted)
    choices = await backend.read(backend.journal.inbox_choices, asked_of(who.principal))
    filters = {"role": role, "tool": tool, "risk": risk}
    seen = [Seen.of(each) for each in inbox.cards]
    return page(
        request, "inbox.html", inbox=inbox, choices=choices, filters=filters, shown=told_of(seen), limits=ABOUT_LIMITS
    )


@router.get("/inbox/changes")
async def changes(
    request: Request,
    who: Looker,
    backend: Served,
    *,
    shown: Annotated[str, Query(max_length=20_000)] = "",
    role: Choice = "",
    tool: Choice = "",
    risk: Choice = "",
    last_event_id: Annotated[str, Header()] = "",
) -> EventSourceResponse:
    """What has to change in a page that shows these questions, as it happens.

    The id of an event says what the page shows after it, so that one that was cut off goes on exactly where it was.
    """
    wanted = _wanted(who.principal, role, tool, risk)
    known = seen_in(last_event_id or shown)
    return EventSourceResponse(_changes(request, backend, who.principal, wanted, known), ping=HEARTBEAT_SECONDS)


async def _changes(
    request: Request, backend: Backend, who: Principal, wanted: InboxFilter, known: list[Seen]
) -> AsyncIterator[ServerSentEvent]:
    async with aclosing(backend.live.inbox_changes()) as changed:
        async for _ in changed:
            inbox = await backend.read(_read, backend, who, wanted)
            update = await backend.read(inbox.since, known, backend.journal, who)
            if update.is_empty:
                continue
            known = update.known
            html = part(request, "_inbox_update.html", update=update, inbox=inbox)
            yield ServerSentEvent(id=told_of(known), data=html)


def _read(backend: Backend, who: Principal, wanted: InboxFilter) -> Inbox:
    found = backend.journal.open_interrupts(wanted=wanted, limit=MOST_SHOWN)
    cards = tuple(card(question, who, said_before(backend, question)) for question in found)
    count = len(cards)
    if count == MOST_SHOWN:
        count = backend.journal.count_open_interrupts(wanted)
    mine = InboxFilter(wanted.asked_of)
    waiting = count if wanted == mine else backend.journal.count_open_interrupts(mine, MOST_COUNTED)
    return Inbox(cards, count, min(waiting, MOST_COUNTED))


def _wanted(who: Principal, role: str, tool: str, risk: str) -> InboxFilter:
    return InboxFilter(asked_of(who), role or None, "" if tool == ABOUT_LIMITS else tool or None, risk or None)
