"""The page of a session: its story from the first question on, while it is written, each change exactly once."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Header
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from opspilot.core.entries import Entry
from opspilot.core.interrupts import Principal
from opspilot.core.observations import COUNTED_AS_FAILURE
from opspilot.core.ports import Draft
from opspilot.journal.queries import SessionRow
from opspilot.outward import outward
from opspilot.redaction import redact
from opspilot.texts.endings import asked, ending, figures, told_of_budgets
from opspilot.web.api.sessions import session_of
from opspilot.web.asked import Card, card, question_id
from opspilot.web.backend import Backend, Served
from opspilot.web.lasting import server_sent
from opspilot.web.paging import After, last_seen
from opspilot.web.people.guard import Looker
from opspilot.web.people.rights import may_steer
from opspilot.web.rendering import page, part
from opspilot.web.story.results import shown
from opspilot.web.story.timeline import Question, Timeline, arguments_of

router = APIRouter()

TELLING: dict[str, Any] = {
    "arguments_of": arguments_of,
    "asked": asked,
    "ending": ending,
    "failures": frozenset(code.value for code in COUNTED_AS_FAILURE),
    "figures": figures,
    "shown": shown,
    "told_of_budgets": told_of_budgets,
}
"""What the templates of the story use."""


@dataclass(frozen=True)
class Seen:
    """A session as somebody sees it: its row, its story, and the cards of the questions that are open in it."""

    row: SessionRow
    timeline: Timeline
    cards: dict[str, Card]
    who: Principal
    console: str

    @property
    def address(self) -> str:
        """Its path."""
        return f"/sessions/{quote(self.row.id, safe='')}"

    @property
    def may_steer(self) -> bool:
        """Whether they may send messages, and stop the run."""
        return may_steer(self.who, self.row.owner)

    @property
    def waiting_for(self) -> list[Card]:
        """What the run waits for, what they may answer first."""
        cards = [self.cards[each.interrupt] for each in self.timeline.open_questions if each.interrupt in self.cards]
        return sorted(cards, key=lambda each: not each.answers)

    def card_of(self, question: Question) -> Card | None:
        """The card of an open question of the current run."""
        found = self.cards.get(question.interrupt) if question.is_open else None
        return found if found is not None and found.question.run == question.opened.run else None

    def id_of(self, question: Question) -> str:
        """Of its element, open or settled."""
        return question_id(self.row.id, question.opened.run, question.interrupt)


@router.get("/sessions/{session}", name="session")
async def show_session(request: Request, session: str, who: Looker, backend: Served) -> Response:
    """All that was said and seen. What comes after is fetched by the page itself."""
    await session_of(backend, session)
    timeline, drafts = await backend.read(_read, backend, session)
    seen = await backend.read(_seen, backend, session, timeline, who.principal)
    draft = next((each for each in reversed(drafts) if timeline.takes(each)), None)
    return page(request, "session.html", seen=seen, draft=draft, **TELLING)


@router.get("/sessions/{session}/changes")
async def changes(
    request: Request,
    session: str,
    who: Looker,
    backend: Served,
    *,
    after: After = 0,
    last_event_id: Annotated[str, Header()] = "",
) -> EventSourceResponse:
    """What each entry after this one changes in the page; the id of an event is the entry's sequence number."""
    await session_of(backend, session)
    last = last_seen(last_event_id, after)
    return server_sent(request, who, _changes(request, backend, who.principal, session, last))


async def _changes(
    request: Request, backend: Backend, who: Principal, session: str, last: int
) -> AsyncGenerator[ServerSentEvent, None]:
    timeline, _ = await backend.read(_read, backend, session, last)
    async with aclosing(backend.live.happenings(session, last)) as happenings:
        async for happening in happenings:
            if isinstance(happening, Draft):
                if timeline.takes(happening):
                    yield ServerSentEvent(data=part(request, "_draft_update.html", draft=happening))
                continue
            parts = timeline.add(happening)
            seen = await backend.read(_seen, backend, session, timeline, who)
            values: dict[str, Any] = {"seen": seen, "parts": parts, "entry": happening, **TELLING}
            html = await backend.read(part, request, "_session_update.html", **values)
            yield ServerSentEvent(id=str(happening.seq), data=html)


def _read(backend: Backend, session: str, up_to: int | None = None) -> tuple[Timeline, tuple[Draft, ...]]:
    # Drafts first: what is said by the time that the entries are read is no draft any more.
    drafts = tuple(replace(each, text=redact(each.text)) for each in backend.journal.drafts(session))
    timeline = Timeline()
    for entry in _entries(backend, session, up_to):
        timeline.add(entry)
    return timeline, drafts


def _entries(backend: Backend, session: str, up_to: int | None) -> Sequence[Entry]:
    limit = up_to if up_to is None or up_to > 0 else 0
    return [] if limit == 0 else [outward(entry) for entry in backend.journal.read(session, 0, limit)]


def _seen(backend: Backend, session: str, timeline: Timeline, who: Principal) -> Seen:
    """Raises no error for a session that is there; only those are looked at."""
    row = backend.journal.session(session)
    assert row is not None
    cards: dict[str, Card] = {}
    if timeline.open_questions:
        found = backend.journal.interrupts(session, row.current_run)
        cards = {each.interrupt: card(each, who) for each in found}
    console = ""
    if backend.console:
        run = timeline.current.name if timeline.current else row.current_run
        where = f"{quote(session, safe='')}/{quote(run, safe='')}"
        console = f"{backend.console}/namespaces/{backend.temporal.namespace}/workflows/{where}/history"
    return Seen(replace(row, title=redact(row.title)), timeline, cards, who, console)
