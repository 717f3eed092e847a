"""`/api/sessions/{session}/events`: a session as server-sent events.

The id of an event is its sequence number in the journal: whoever comes back with `Last-Event-ID`, as browsers do by
themselves, gets the next one. Text that is being written comes as `draft` events without an id.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Header
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from opspilot.core.entries import Entry
from opspilot.web.api.sessions import session_of
from opspilot.web.backend import Backend, Served
from opspilot.web.lasting import server_sent
from opspilot.web.paging import After, last_seen
from opspilot.web.people.guard import Looker
from opspilot.web.refusing import Problem

router = APIRouter(tags=["sessions"])

STREAM = {
    "content": {
        "text/event-stream": {
            "example": 'id: 7\ndata: {"seq": 7, "kind": "tool.result", "data": {}}\n\n'
            'event: draft\ndata: {"run": "…", "step": 3, "attempt": 1, "text": "The payment serv"}\n\n'
        }
    }
}


@router.get(
    "/sessions/{session}/events",
    response_class=EventSourceResponse,
    responses={200: STREAM, 404: {"model": Problem}},
)
async def events(
    request: Request,
    session: str,
    who: Looker,
    backend: Served,
    *,
    after: After = 0,
    last_event_id: Annotated[str, Header()] = "",
) -> EventSourceResponse:
    """Events after `after`, or after the one of `Last-Event-ID`, and those to come; a comment every 15 s meanwhile.

    A `draft` holds all of the text so far: it replaces what the same run, step and a lower or the same attempt had
    shown, and is void once the step's `assistant.message` is there.

    Within 15 s after your token was removed or your session has ended, the stream ends, and asking again is refused.
    Behind a proxy that signs people in it ends every 10 minutes.
    """
    await session_of(backend, session)
    seen = last_seen(last_event_id, after)
    return server_sent(request, who, _events(backend, session, seen))


async def _events(backend: Backend, session: str, after: int) -> AsyncGenerator[ServerSentEvent, None]:
    async with aclosing(backend.live.happenings(session, after)) as happenings:
        async for happening in happenings:
            if isinstance(happening, Entry):
                yield ServerSentEvent(id=str(happening.seq), data=_line(happening.as_event()))
            else:
                yield ServerSentEvent(event="draft", data=_line(asdict(happening)))


def _line(value: object) -> str:
    """On one line whatever is in it; a lone surrogate, which UTF-8 can't carry, stays escaped."""
    return json.dumps(value, ensure_ascii=True)
