"""`/api/sessions`: ask something, list what was asked, and read what was said and seen."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from opspilot.bounds import MOST_SECONDS, MOST_STEPS, MOST_TOKENS
from opspilot.client import new_session
from opspilot.core.contract import Mode, Status
from opspilot.core.errors import UsageError
from opspilot.core.limits import Limits, StopReason
from opspilot.journal.queries import SessionFilter, SessionRow
from opspilot.outward import outward
from opspilot.redaction import redact
from opspilot.texts.language import text
from opspilot.web.answering import FIT_FOR_ID
from opspilot.web.backend import Backend, Served
from opspilot.web.paging import cursor, cursor_after
from opspilot.web.people.guard import Asker, Looker
from opspilot.web.people.rights import may_steer
from opspilot.web.refusing import Problem, Refused

router = APIRouter(tags=["sessions"])

ASK_SECONDS = 20.0
"""How long a question is offered to the workers before whoever asks is told that none took it."""
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


class LimitsBody(BaseModel):
    """What bounds the run; what isn't given is as the server's settings say."""

    steps: Annotated[int, Field(gt=0, le=MOST_STEPS)] | None = None
    active_seconds: Annotated[float, Field(gt=0, le=MOST_SECONDS)] | None = None
    tokens: Annotated[int, Field(gt=0, le=MOST_TOKENS)] | None = None
    failures_in_a_row: Annotated[int, Field(gt=0, le=MOST_STEPS)] | None = None


class AskBody(BaseModel):
    """A question. With the same `id` a request that is sent again is one question.

    `only` is the one tool that may be called, `force` makes the model call it first, `model` names the one that thinks.
    """

    text: str = Field(min_length=1, examples=["What happened to the payment service?"])
    session: str = Field("", max_length=100, examples=[""])
    id: str = Field("", pattern=f"^({FIT_FOR_ID.pattern})?$")
    only: str = Field("", max_length=200, examples=[""])
    force: bool = False
    model: str = Field("", max_length=200, examples=[""])
    limits: LimitsBody = Field(default_factory=LimitsBody)

    def limits_over(self, usual: Limits) -> Limits:
        """The server's limits with those that were given."""
        return replace(usual, **self.limits.model_dump(exclude_none=True))


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
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
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
    session = body.session or new_session()
    if body.session:
        there = await backend.read(backend.journal.session, session)
        if there is not None and not may_steer(who.principal, there.owner):
            raise Refused(403, "not_yours", text("refused.not_owner", session=session, owner=there.owner))
    if body.force and not body.only:
        raise UsageError(text("web.force"))
    pilot = await backend.pilot(who.principal)
    asked = await pilot.ask(
        body.text,
        session,
        limits=body.limits_over(backend.limits),
        mode=Mode(body.only or None, body.force, body.model),
        message_id=body.id or None,
        deadline_seconds=ASK_SECONDS,
    )
    return Accepted(session=asked.session, id=asked.message_id, after=asked.after)


@router.get("/sessions/{session}", responses={404: {"model": Problem}})
async def show_session(
    session: str,
    _: Looker,
    backend: Served,
    *,
    after: Annotated[int, Query(ge=0)] = 0,
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
