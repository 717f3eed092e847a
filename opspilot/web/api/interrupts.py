"""`/api/interrupts`: what waits for people, and one of it."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from opspilot.core.interrupts import AnswerAction, Principal
from opspilot.journal.inbox import InboxFilter
from opspilot.journal.queries import InterruptRow
from opspilot.outward import shown
from opspilot.redaction import redact
from opspilot.texts.language import text
from opspilot.web.backend import Served
from opspilot.web.people.guard import Looker
from opspilot.web.people.rights import answers_of, asked_of
from opspilot.web.questions import find_question
from opspilot.web.refusing import Problem, Refused

router = APIRouter(tags=["interrupts"])


class GivenApproval(BaseModel):
    """One of several agreements."""

    by: str
    name: str
    at: datetime
    comment: str


class Interrupt(BaseModel):
    """A question to people. `digest` has to be sent back with an answer: it says what was seen.

    `answers` are those that you may give. `arguments` are exact for whoever may answer, redacted for everybody else;
    sensitive ones are masked (a mask that is sent back leaves the value).
    """

    session: str = Field(examples=["ops-1a2b3c4d"])
    title: str = Field(examples=["Restart the payment service in production"])
    run: str
    interrupt: str = Field(examples=["3.1#0"])
    kind: str = Field(examples=["confirm_risky"])
    reason: str = Field(examples=["Restarting drops open requests."])
    payload: dict[str, Any] | None
    tool: str = Field(examples=["restart_service"])
    arguments: dict[str, Any] = Field(examples=[{"service": "payment", "environment": "production"}])
    arguments_schema: dict[str, Any]
    digest: str
    rule: str = Field(examples=["production-writes"])
    risk: str = Field(examples=["high"])
    roles: tuple[str, ...] = Field(examples=[["approver"]])
    quorum: int
    not_requester: bool
    requester: str = Field(examples=["alice"])
    requester_name: str = Field(examples=["Alice"])
    opened_at: datetime
    due: datetime | None
    approvals: tuple[GivenApproval, ...]
    state: str = Field(examples=["open"], description="open, answered, expired, or closed (its run went on without it)")
    settled_at: datetime | None
    action: AnswerAction | None
    by: str | None
    name: str | None
    comment: str | None
    answers: tuple[AnswerAction, ...]


@router.get("/interrupts")
async def list_interrupts(
    who: Looker,
    backend: Served,
    *,
    all: Annotated[bool, Query(description="also what you may not answer")] = False,
    session: str | None = None,
    role: str | None = None,
    tool: str | None = None,
    risk: str | None = None,
) -> list[Interrupt]:
    """What is open, what is due first at the top: by default what you may answer."""
    wanted = InboxFilter(None if all else asked_of(who.principal), role, tool, risk)
    found = await backend.read(backend.journal.open_interrupts, session, wanted)
    return [_as_json(shown(question), who.principal) for question in found]


@router.get("/interrupts/{session}/{interrupt}", responses={404: {"model": Problem}})
async def show_interrupt(session: str, interrupt: str, who: Looker, backend: Served) -> Interrupt:
    """One question of a session's current run, open or settled."""
    found = await backend.read(find_question, backend.journal, session, interrupt)
    if found is None:
        raise Refused(404, "no_such_question", text("web.no_question", session=session, interrupt=interrupt))
    return _as_json(found, who.principal)


def _as_json(question: InterruptRow, who: Principal) -> Interrupt:
    answers = answers_of(who, question)
    data = asdict(question)
    if not answers:
        data |= {name: redact(data[name]) for name in ("payload", "arguments", "reason")}
    data |= {"title": redact(question.title), "arguments_schema": question.schema or {}, "answers": answers}
    return Interrupt(**data)
