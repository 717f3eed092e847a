"""`POST /api/sessions/{session}/messages` and `/stop`: steer what is going on."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from opspilot.core.interrupts import Principal
from opspilot.texts.language import text
from opspilot.web.answering import FIT_FOR_ID
from opspilot.web.api.sessions import Accepted, session_of
from opspilot.web.asking import ASK_SECONDS
from opspilot.web.backend import Backend, Served
from opspilot.web.people.guard import Asker
from opspilot.web.people.rights import may_steer
from opspilot.web.refusing import Problem, Refused

router = APIRouter(tags=["sessions"], responses={404: {"model": Problem}, 503: {"model": Problem}})


class MessageBody(BaseModel):
    """Something more to say. With the same `id` a request that is sent again is one message."""

    text: str = Field(min_length=1, examples=["Look at staging as well."])
    id: str = Field("", pattern=f"^({FIT_FOR_ID.pattern})?$")


class StopBody(BaseModel):
    """Why, for the record."""

    reason: str = Field("", max_length=1000, examples=["Not needed any more."])


class Stopping(BaseModel):
    """The wish was passed on."""

    message: str


@router.post("/sessions/{session}/messages", status_code=201)
async def send_message(session: str, body: MessageBody, who: Asker, backend: Served) -> Accepted:
    """Say something in a session of yours: it reaches the run that is open, or starts one."""
    await _may_steer(backend, who.principal, session)
    pilot = await backend.pilot(who.principal)
    asked = await pilot.ask(
        body.text, session, limits=backend.limits, message_id=body.id or None, deadline_seconds=ASK_SECONDS
    )
    return Accepted(session=asked.session, id=asked.message_id, after=asked.after)


@router.post("/sessions/{session}/stop", status_code=202)
async def stop(session: str, body: StopBody, who: Asker, backend: Served) -> Stopping:
    """Stop the run of a session of yours. What it found is kept."""
    await _may_steer(backend, who.principal, session)
    await (await backend.pilot(who.principal)).stop(session, body.reason)
    return Stopping(message=text("cancel.asked"))


async def _may_steer(backend: Backend, who: Principal, session: str) -> None:
    row = await session_of(backend, session)
    if not may_steer(who, row.owner):
        raise Refused(403, "not_yours", text("refused.not_owner", session=session, owner=row.owner))
