"""The front page: every open question that whoever looks may answer, oldest deadline first, kept up to date."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from opspilot.core.interrupts import Principal
from opspilot.journal.inbox import InboxFilter, InboxPlace
from opspilot.web.asked import card
from opspilot.web.backend import Backend, Served
from opspilot.web.lasting import server_sent
from opspilot.web.pages.questions import said_before
from opspilot.web.pages.showing_inbox import Inbox, Seen, place_in, seen_in, told_of, word_of
from opspilot.web.pages.waiting import MOST_COUNTED
from opspilot.web.people.guard import Looker
from opspilot.web.people.rights import asked_of
from opspilot.web.rendering import page, part

router = APIRouter()

MOST_KNOWN = 500
"""Of what a page says that it shows: each is looked up again whenever something happens."""
MOST_SHOWN = 30
"""On one page."""
MOST_IN_ALL = 1000
"""So many or more are not told apart."""
ABOUT_LIMITS = "#limit"
"""Stands for questions about limits among the tools: they have none."""

Choice = Annotated[str, Query(max_length=200)]


@dataclass(frozen=True)
class View:
    """A page of the inbox, narrowed to a role, a tool, a risk; `after` is where another one ended."""

    role: Choice = ""
    tool: Choice = ""
    risk: Choice = ""
    after: Choice = ""

    @property
    def filters(self) -> dict[str, str]:
        """What it is narrowed to, by the names of its fields."""
        return {"role": self.role, "tool": self.tool, "risk": self.risk}

    def wanted(self, who: Principal) -> InboxFilter:
        """What the journal is asked for."""
        tool = "" if self.tool == ABOUT_LIMITS else self.tool or None
        return InboxFilter(asked_of(who), self.role or None, tool, self.risk or None)


Viewed = Annotated[View, Depends()]


@router.get("/", name="inbox")
async def show_inbox(request: Request, who: Looker, backend: Served, view: Viewed) -> Response:
    """A page of it."""
    inbox = await backend.read(_read, backend, who.principal, view)
    choices = await backend.read(backend.journal.inbox_choices, asked_of(who.principal))
    shown = told_of([Seen.of(each) for each in inbox.cards])
    values: dict[str, Any] = {
        "inbox": inbox,
        "choices": choices,
        "after": view.after,
        "shown": shown,
        "limits": ABOUT_LIMITS,
    }
    return page(request, "inbox.html", filters=view.filters, most_counted=MOST_IN_ALL, **values)


@router.get("/inbox/changes")
async def changes(
    request: Request,
    who: Looker,
    backend: Served,
    view: Viewed,
    *,
    shown: Annotated[str, Query(max_length=20_000)] = "",
    last_event_id: Annotated[str, Header()] = "",
) -> EventSourceResponse:
    """What has to change in a page that shows these questions, as it happens.

    The id of an event says what the page shows after it, so that one that was cut off goes on exactly where it was.
    """
    place_in(view.after)
    known = seen_in(last_event_id or shown)[:MOST_KNOWN]
    return server_sent(request, who, _changes(request, backend, who.principal, view, known))


async def _changes(
    request: Request, backend: Backend, who: Principal, view: View, known: list[Seen]
) -> AsyncGenerator[ServerSentEvent, None]:
    around = None
    async with aclosing(backend.live.inbox_changes()) as changed:
        async for _ in changed:
            inbox = await backend.read(_read, backend, who, view)
            update = await backend.read(inbox.since, known, backend.journal, who)
            if update.is_empty and inbox.around == around:
                continue
            known, around = update.known, inbox.around
            values = {"update": update, "inbox": inbox, "filters": view.filters, "most_counted": MOST_IN_ALL}
            html = part(request, "_inbox_update.html", **values)
            yield ServerSentEvent(id=told_of(known), data=html)


def _read(backend: Backend, who: Principal, view: View) -> Inbox:
    wanted, place = view.wanted(who), place_in(view.after)
    found = backend.journal.open_interrupts(wanted=wanted, limit=MOST_SHOWN + 1, after=place)
    shown = found[:MOST_SHOWN]
    cards = tuple(card(question, who, said_before(backend, question)) for question in shown)
    there_is_more, count = len(found) > MOST_SHOWN, len(found)
    if there_is_more or place is not None:
        count = backend.journal.count_open_interrupts(wanted, MOST_IN_ALL)
    mine = InboxFilter(wanted.asked_of)
    waiting = count if wanted == mine else backend.journal.count_open_interrupts(mine, MOST_COUNTED)
    following = word_of(InboxPlace.of(shown[-1])) if there_is_more else ""
    return Inbox(cards, count, min(waiting, MOST_COUNTED), following, place is None)
