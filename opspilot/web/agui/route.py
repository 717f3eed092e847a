"""`POST /agui`: an AG-UI run. A thread is a session, what the last message says is asked, resume entries are answers.

Whoever leaves stops listening, no more: our run goes on. The same request again is the same question or answer.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from datetime import UTC, datetime

import structlog
from ag_ui.core import BaseEvent, RunAgentInput
from fastapi import APIRouter
from pydantic import ValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from opspilot import refusals
from opspilot.core.entries import Entry, message_key
from opspilot.core.errors import OpsPilotError
from opspilot.core.interrupts import Principal
from opspilot.outward import outward
from opspilot.web.agui.answers import asked_outside
from opspilot.web.agui.begin import Beginning, begin
from opspilot.web.agui.telling import Telling
from opspilot.web.asked import card
from opspilot.web.backend import Backend, Served
from opspilot.web.lasting import HEARTBEAT_SECONDS, while_known, with_pauses
from opspilot.web.people.guard import Looker
from opspilot.web.people.visitors import Visitor
from opspilot.web.refusing import Problem, Refused, not_understood, refused_of

router = APIRouter(tags=["AG-UI"])

SILENCE_SECONDS = 2.0
LOST_SECONDS = 10.0
"""When nothing has happened for this long, and our question isn't in the journal yet, we look for its run."""
LOOKING_SECONDS = 10.0

log = structlog.stdlib.get_logger("web")


@router.post(
    "/agui",
    response_class=EventSourceResponse,
    responses={200: {"content": {"text/event-stream": {}}}, 404: {"model": Problem}, 503: {"model": Problem}},
    openapi_extra={"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}, "required": True}},
)
async def run_agent(request: Request, who: Looker, backend: Served) -> EventSourceResponse:
    """An AG-UI run: `RunAgentInput` in, events out, from a question or answers to the end or to the next questions.

    `forwardedProps.opspilot` may hold `model`, `only`, `force` and `limits`, as in `POST /api/sessions`.
    """
    # Read here, and not before it is known who sends it: it may be large.
    wanted = _input(await request.body())
    beginning = await begin(backend, who, wanted)
    told = _told(request, backend, who, wanted, beginning)
    return EventSourceResponse(told, ping=HEARTBEAT_SECONDS, sep="\n")


def _input(body: bytes) -> RunAgentInput:
    try:
        wanted = RunAgentInput.model_validate_json(body)
    except ValidationError as error:
        raise not_understood(error) from None
    refusals.check_session(wanted.thread_id)
    return wanted


async def _told(
    request: Request, backend: Backend, who: Visitor, wanted: RunAgentInput, beginning: Beginning
) -> AsyncIterator[ServerSentEvent]:
    telling = Telling(wanted.thread_id, wanted.run_id, wanted.messages, beginning.asked, wanted.state)
    try:
        happens = _happens(backend, who.principal, telling, beginning)
        # Nobody could go on where this was: the protocol has no word for it. So it is told, and looked at anew.
        async with aclosing(while_known(request, who, happens)) as seen:
            async for events in seen:
                for event in events:
                    yield _frame(event)
    except Exception as error:
        # Whatever it is: the protocol has a word for it, and none for a stream that breaks off.
        if not isinstance(error, OpsPilotError | Refused):
            log.exception("an AG-UI run failed", session=telling.thread)
        for event in telling.fail(refused_of(error).message, refused_of(error).code):
            yield _frame(event)


async def _happens(
    backend: Backend, who: Principal, telling: Telling, beginning: Beginning
) -> AsyncGenerator[list[BaseEvent], None]:
    """Everything from what there is to the end of our run, or to where it waits for people."""
    session, journal = telling.thread, backend.journal
    for entry in await backend.read(journal.read, session, 0, beginning.after) if beginning.after else ():
        telling.remember(outward(entry))
    yield [*telling.begin(datetime.now(UTC)), *(note.as_event() for note in beginning.notes)]
    row = await backend.read(journal.session, session)
    # What has been written by now is told first: it may hold the answer to a question that it holds, too.
    seen, told_until = beginning.after, row.last_seq if row is not None else 0
    key = message_key(beginning.asked.id) if beginning.asked is not None else ""
    silences = 0
    async with (
        aclosing(backend.live.happenings(session, beginning.after)) as happenings,
        aclosing(with_pauses(happenings, lambda: SILENCE_SECONDS)) as heard,
    ):
        while True:
            # What was said to a run that waits is read when it goes on: then nothing is heard of it.
            is_told = seen >= told_until and (not key or (telling.waits and silences > 0))
            if is_told and (ended := await _ended(backend, who, telling)):
                yield ended
                return
            happening = await anext(heard)
            if happening is None:
                silences += 1
                if key and silences * SILENCE_SECONDS >= LOST_SECONDS:
                    await _look_for(backend, who, session, beginning)
                continue
            if isinstance(happening, Entry):
                seen, silences = happening.seq, 0
                key = "" if happening.key == key else key
            yield telling.tell(happening)


async def _ended(backend: Backend, who: Principal, telling: Telling) -> list[BaseEvent]:
    if telling.stopped is not None:
        return telling.finish()
    if not telling.waits:
        return []
    questions = await backend.read(backend.journal.open_interrupts, telling.thread)
    # None of them may be open any more: what settled them is on its way to us.
    return telling.interrupt([asked_outside(card(row, who)) for row in questions]) if questions else []


async def _look_for(backend: Backend, who: Principal, session: str, beginning: Beginning) -> None:
    """Raises `OpsPilotError` when the run that accepted the question is gone, or writes another journal."""
    assert beginning.asked is not None
    pilot = await backend.pilot(who)
    with suppress(TimeoutError):
        async with asyncio.timeout(LOOKING_SECONDS):
            async for _ in pilot.follow(session, beginning.asked.id, beginning.after):
                pass


def _frame(event: BaseEvent) -> ServerSentEvent:
    # The protocol wants lines that end in LF.
    return ServerSentEvent(json.dumps(event.model_dump(mode="json", by_alias=True), ensure_ascii=True), sep="\n")
