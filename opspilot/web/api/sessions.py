"""`/api/sessions`: ask something, list what was asked, and read what was said and seen."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from opspilot.core.contract import Status
from opspilot.core.limits import StopReason
from opspilot.journal.queries import SessionFilter, SessionRow
from opspilot.outward import outward
from opspilot.redaction import redact
from opspilot.texts.language import text
from opspilot.web import asking
from opspilot.web.asking import AskBody
from opspilot.web.backend import Backend, Served
from opspilot.web.paging import After, cursor, cursor_after
from opspilot.web.people.guard import Asker, Looker
from opspilot.web.ranges import Moment
from opspilot.web.refusing import Problem, Refused

router = APIRouter(tags=["sessions"])

MOST_LISTED = 200
MOST_EVENTS = 1000


class About(BaseModel):
    """A session. `status`: running, waiting (for a person) or done; `stop_reason` says how it ended."""

    model_config = ConfigDict(from_attributes=True)

    id: str = Field(examples=["ops-1a2b3c4d"])
    owner: str = Field(examples=["alice"])
    title: str = Field(examples=["What happened to the payment service?"])
    status: str = Field(examples=["waiting"])
    stop_reason: str | None
    created_at: datetime
    updated_at: datetime
    last_seq: int
    steps: int
    tokens: int


class Listed(BaseModel):
    """A page of sessions, latest change first. `next` is the `before` of the next page; None: that's all."""

    sessions: list[About]
    next: str | None


class Whole(BaseModel):
    """A session with its events `{seq, kind, at, session, run, step?, call?, data}`. `more`: go on with `after`."""

    session: About
    events: list[dict[str, Any]]
    more: bool


class Accepted(BaseModel):
    """A question that a run has accepted. Its events have `seq > after`."""

    session: str
    id: str
    after: int


@router.get("/sessions")
async def list_sessions(  # noqa: PLR0913 each a part of the query
    _: Looker,
    backend: Served,
    *,
    status: Status | None = None,
    stop_reason: StopReason | None = None,
    owner: str | None = None,
    contains: Annotated[str | None, Query(alias="text", max_length=200)] = None,
    since: Moment | None = None,
    until: Moment | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
    before: str = "",
) -> Listed:
    """Sessions, by status, why their last run ended, owner, a text in their title or name, and when they began."""
    wanted = SessionFilter(status, stop_reason, owner, contains, created_since=since, created_until=until)
    rows = await backend.read(backend.journal.find_sessions, wanted, limit, cursor(before))
    return Listed(sessions=[about(row) for row in rows], next=cursor_after(rows[-1]) if len(rows) == limit else None)


@router.post("/sessions", status_code=201, responses={409: {"model": Problem}, 503: {"model": Problem}})
async def ask(body: AskBody, who: Asker, backend: Served) -> Accepted:
    """Ask something, in a new session or in one of yours. Returns when a run has accepted it."""
    asked = await asking.ask(backend, who.principal, body)
    return Accepted(session=asked.session, id=asked.message_id, after=asked.after)


@router.get("/sessions/{session}", responses={404: {"model": Problem}})
async def show_session(
    session: str,
    _: Looker,
    backend: Served,
    *,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_EVENTS)] = MOST_EVENTS,
) -> Whole:
    """What was said and seen, in order, secrets redacted."""
    row = await session_of(backend, session)
    entries = await backend.read(backend.journal.read, session, after, limit + 1)
    events = [outward(entry).as_event() for entry in entries[:limit]]
    return Whole(session=about(row), events=events, more=len(entries) > limit)


async def session_of(backend: Backend, session: str) -> SessionRow:
    """The session. Raises `Refused` when there is none of that name."""
    row = await backend.read(backend.journal.session, session)
    if row is None:
        raise Refused(404, "no_such_session", text("web.no_session", session=session))
    return row


def about(row: SessionRow) -> About:
    """What the API tells of a session."""
    return About.model_validate(replace(row, title=redact(row.title)))
