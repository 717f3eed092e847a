"""A question from the door to the run that accepts it. For the page and the API alike."""

import asyncio
import hashlib
import time
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field

from opspilot.bounds import MOST_SECONDS, MOST_STEPS, MOST_TOKENS
from opspilot.client import Asked, new_session
from opspilot.core.contract import Mode
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Principal
from opspilot.core.limits import Limits, OnLimit
from opspilot.refusals import check_session
from opspilot.texts.language import text
from opspilot.web.answering import FIT_FOR_ID
from opspilot.web.backend import Backend
from opspilot.web.people.rights import may_steer
from opspilot.web.refusing import Refused

ASK_SECONDS = 20.0
"""How long a question is offered to the workers before whoever asks is told that none took it."""
BEGIN_SECONDS = 5.0
POLL_SECONDS = 0.03


class LimitsBody(BaseModel):
    """What bounds the run; what isn't given is as the server's settings say."""

    steps: Annotated[int, Field(gt=0, le=MOST_STEPS)] | None = None
    active_seconds: Annotated[float, Field(gt=0, le=MOST_SECONDS)] | None = None
    tokens: Annotated[int, Field(gt=0, le=MOST_TOKENS)] | None = None
    failures_in_a_row: Annotated[int, Field(gt=0, le=MOST_STEPS)] | None = None
    on_limit: OnLimit | None = None


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


async def ask(backend: Backend, who: Principal, body: AskBody) -> Asked:
    """Ask, in a new session or in one of theirs. Returns when a run has accepted it, and most often has begun.

    Raises `Refused` (403) for another's session, `UsageError` for what can't be asked, `Unreachable`.
    """
    if body.session:
        check_session(body.session)
    session = body.session or (_session_of(who, body.id) if body.id else new_session())
    there = await backend.read(backend.journal.session, session)
    if there is not None and not may_steer(who, there.owner):
        raise Refused(403, "not_yours", text("refused.not_owner", session=session, owner=there.owner))
    if body.force and not body.only:
        raise UsageError(text("web.force"))
    pilot = await backend.pilot(who)
    asked = await pilot.ask(
        body.text,
        session,
        limits=body.limits_over(backend.limits),
        mode=Mode(body.only or None, body.force, body.model),
        message_id=body.id or None,
        deadline_seconds=ASK_SECONDS,
    )
    await has_begun(backend, asked.session)
    return asked


async def has_begun(backend: Backend, session: str, seconds: float = BEGIN_SECONDS) -> bool:
    """Whether the journal knows the session, or does within this time: a run writes a moment after it has accepted."""
    deadline = time.monotonic() + seconds
    while await backend.read(backend.journal.session, session) is None:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True


def _session_of(who: Principal, id_: str) -> str:
    """The session that this question begins, whenever and however often it is sent."""
    whole = f"{who.id}\n{id_}".encode("utf-8", "surrogatepass")
    return f"ops-{hashlib.blake2b(whole, digest_size=5).hexdigest()}"
