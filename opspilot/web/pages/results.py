"""The rest of a long result, stretch by stretch."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from opspilot.core.entries import result_key
from opspilot.outward import outward
from opspilot.redaction import redact
from opspilot.texts.language import text
from opspilot.web.backend import Backend, Served
from opspilot.web.people.guard import Looker
from opspilot.web.refusing import Refused
from opspilot.web.rendering import is_partial, page
from opspilot.web.showing import legible
from opspilot.web.story.results import STRETCH_CHARACTERS, trimmed_of

router = APIRouter()


@router.get("/sessions/{session}/results/{run}/{call}")
async def show_rest(
    request: Request,
    session: str,
    run: str,
    call: str,
    _: Looker,
    backend: Served,
    *,
    offset: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
) -> Response:
    """A stretch of a result from this character on, and where the next one begins."""
    stretch, total = await backend.read(_stretch, backend, session, run, call, offset)
    rest = offset + len(stretch)
    address = f"/sessions/{quote(session, safe='')}/results/{quote(run, safe='')}/{quote(call, safe='')}"
    template = "_rest.html" if is_partial(request) else "rest.html"
    return page(
        request,
        template,
        stretch=stretch,
        offset=offset,
        rest=rest if stretch and rest < total else 0,
        total=total,
        address=address,
        session=session,
        call=call,
    )


def _stretch(backend: Backend, session: str, run: str, call: str, offset: int) -> tuple[str, int]:
    key = result_key(run, call)
    entry = backend.journal.find(session, [key]).get(key)
    if entry is None:
        raise Refused(404, "no_result", text("ui.result.none", call=call))
    data = outward(entry).data.get("data")
    trimmed = trimmed_of(data)
    if trimmed is None:
        whole = legible(data)
        return whole[offset : offset + STRETCH_CHARACTERS], len(whole)
    kept = backend.journal.overflow(session, trimmed.ref, offset, STRETCH_CHARACTERS) if trimmed.ref else None
    if kept is None:
        raise Refused(404, "no_result", text("ui.result.not_kept"))
    stretch, total = kept
    return str(redact(stretch)), total
