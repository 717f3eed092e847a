"""`/ask`: a new question, with the tools and limits that it will run under."""

from collections.abc import Collection, Mapping
from urllib.parse import quote

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from opspilot.bounds import MOST_SECONDS, MOST_STEPS, MOST_TOKENS
from opspilot.core.errors import OpsPilotError
from opspilot.core.limits import OnLimit
from opspilot.texts.language import text
from opspilot.web import asking
from opspilot.web.asking import AskBody
from opspilot.web.backend import Backend, Served
from opspilot.web.people.guard import Asker
from opspilot.web.refusing import Refused, refused_of
from opspilot.web.rendering import fresh_id, page, plain_page

router = APIRouter()

BOUNDS = {
    "steps": MOST_STEPS,
    "active_seconds": int(MOST_SECONDS),
    "tokens": MOST_TOKENS,
    "failures_in_a_row": MOST_STEPS,
}
"""The limits that can be chosen for one question, each with the most that it may be."""
FIELDS = ("id", "text", "model", "only", "force", "on_limit", *BOUNDS)


@router.get("/ask")
async def show_form(request: Request, _: Asker, backend: Served) -> Response:
    """An empty form. Its id makes whatever is sent with it one question, however often it is sent."""
    return _form(request, backend, {"id": fresh_id()})


@router.post("/ask")
async def ask(request: Request, who: Asker, backend: Served) -> Response:
    """Ask, and go to the session. What can't be asked is said beside the form, which keeps all that was typed."""
    given = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    try:
        asked = await asking.ask(backend, who.principal, _body(given))
    except ValidationError as error:
        faults = {str(fault["loc"][-1]) for fault in error.errors()}
        return _form(request, backend, given, 422, faults=faults)
    except (Refused, OpsPilotError) as error:
        refused = refused_of(error)
        return _form(request, backend, given, refused.status, refusal=refused.message)
    place = f"/sessions/{quote(asked.session, safe='')}"
    if not await asking.has_begun(backend, asked.session, 0):
        return plain_page(request, text("ui.ask.accepted"), status=202, link=(place, text("ui.ask.look")))
    return RedirectResponse(place, 303)


def _body(given: Mapping[str, str]) -> AskBody:
    limits = {name: given[name] for name in (*BOUNDS, "on_limit") if given.get(name)}
    fields = {name: given.get(name, "").strip() for name in ("id", "model", "only")}
    # A browser ends the lines of a text with two characters.
    said = given.get("text", "").replace("\r\n", "\n").strip()
    return AskBody.model_validate({**fields, "text": said, "force": "force" in given, "limits": limits})


def _form(
    request: Request,
    backend: Backend,
    given: Mapping[str, str],
    status: int = 200,
    *,
    faults: Collection[str] = (),
    refusal: str = "",
) -> Response:
    return page(
        request,
        "ask.html",
        status=status,
        given={name: given.get(name, "") for name in FIELDS},
        faults=faults,
        refusal=refusal,
        limits=backend.limits,
        bounds=BOUNDS,
        on_limits=list(OnLimit),
        tools=backend.tools,
        models=backend.models,
    )
