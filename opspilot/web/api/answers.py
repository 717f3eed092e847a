"""`POST /api/interrupts/{session}/{interrupt}/answer`: a person decides."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from opspilot.core.interrupts import AnswerAction
from opspilot.fate import Outcome
from opspilot.web import answering
from opspilot.web.answering import FIT_FOR_ID, Given
from opspilot.web.backend import Served
from opspilot.web.people.guard import Answerer
from opspilot.web.refusing import Problem

router = APIRouter(tags=["interrupts"])

MOST_COMMENT_CHARACTERS = 4000


class AnswerBody(BaseModel):
    """An answer. Who gives it is whoever made the request. With the same `id` a request sent again is one answer.

    `values` are for `provide`: what was asked for, or the arguments to be changed; `without` names arguments to
    be left out.
    """

    action: AnswerAction = Field(examples=["approve"])
    digest: str = Field(min_length=1, max_length=200, description="of the question, as it was shown")
    values: dict[str, Any] = Field(default_factory=dict)
    without: list[str] = Field(default_factory=list, max_length=1000)
    comment: str = Field("", max_length=MOST_COMMENT_CHARACTERS, examples=["Go ahead, traffic is low."])
    id: str = Field("", pattern=f"^({FIT_FOR_ID.pattern})?$")


class WhatCameOfIt(BaseModel):
    """What became of an answer.

    `settled`; `counted` (more people have to agree); `asked_again` (with these values it is another call, which has to
    be agreed to); `ignored` (it was no good, and why); `kept` (no worker is up); `given` (still being judged).
    """

    outcome: Outcome
    message: str = Field(examples=["Approved; the run goes on."])
    id: str
    approvals: int
    quorum: int


@router.post(
    "/interrupts/{session}/{interrupt}/answer",
    responses={404: {"model": Problem}, 409: {"model": Problem}, 503: {"model": Problem}},
)
async def answer_interrupt(
    session: str, interrupt: str, body: AnswerBody, who: Answerer, backend: Served
) -> WhatCameOfIt:
    """Answer a question, and hear what came of it. 409: somebody else was faster, or it is not what you were shown."""
    given = Given(body.action, body.digest, body.values, body.comment, body.id, tuple(body.without))
    told = await answering.give(backend, who.principal, session, interrupt, given)
    return WhatCameOfIt(
        outcome=told.outcome, message=told.message, id=told.id, approvals=told.approvals, quorum=told.quorum
    )
