"""Where a session's page sends messages, and the wish to stop."""

from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from opspilot.core.errors import OpsPilotError
from opspilot.core.interrupts import Principal
from opspilot.texts.language import text
from opspilot.web.answering import FIT_FOR_ID
from opspilot.web.api.sessions import session_of
from opspilot.web.asking import AskBody, ask
from opspilot.web.backend import Backend, Served
from opspilot.web.people.guard import Asker
from opspilot.web.people.rights import may_steer
from opspilot.web.refusing import Refused, refused_of
from opspilot.web.rendering import is_partial, page

router = APIRouter()

MOST_REASON_CHARACTERS = 1000


@router.post("/sessions/{session}/messages")
async def send_message(request: Request, session: str, who: Asker, backend: Served) -> Response:
    """Say something in a session of one's own: it reaches the run that is open, or starts one."""
    posted = await _posted(request)
    said, id_ = posted.get("text", ""), posted.get("id", "")
    try:
        await _may_steer(backend, who.principal, session)
        await ask(backend, who.principal, _body(session, said, id_))
    except (Refused, OpsPilotError) as error:
        return _told(request, session, refused_of(error), said, id_)
    return _sent(request, session, text("ui.message.sent"))


@router.post("/sessions/{session}/stop")
async def stop(request: Request, session: str, who: Asker, backend: Served) -> Response:
    """Ask the run to stop."""
    reason = (await _posted(request)).get("reason", "")[:MOST_REASON_CHARACTERS]
    try:
        await _may_steer(backend, who.principal, session)
        await (await backend.pilot(who.principal)).stop(session, reason)
    except (Refused, OpsPilotError) as error:
        return _told(request, session, refused_of(error))
    return _sent(request, session, text("cancel.asked"))


def _body(session: str, said: str, id_: str) -> AskBody:
    known = id_ if FIT_FOR_ID.fullmatch(id_) else ""
    # Line ends are a form's own; those that were typed are line feeds.
    return AskBody.model_construct(text=said.replace("\r\n", "\n"), session=session, id=known)


def _sent(request: Request, session: str, message: str) -> Response:
    if not is_partial(request):
        return RedirectResponse(f"{_address(session)}#composer", 303)
    return page(request, "_composer.html", address=_address(session), notice=("good", message), said="", id=None)


def _told(request: Request, session: str, refused: Refused, said: str = "", id_: str = "") -> Response:
    """Why it was not done, with what had been typed. The same id: sent once more it is the same message."""
    if not is_partial(request):
        raise refused
    return page(
        request,
        "_composer.html",
        status=refused.status,
        address=_address(session),
        notice=("warn", refused.message),
        said=said,
        id=id_,
    )


async def _may_steer(backend: Backend, who: Principal, session: str) -> None:
    row = await session_of(backend, session)
    if not may_steer(who, row.owner):
        raise Refused(403, "not_yours", text("refused.not_owner", session=session, owner=row.owner))


async def _posted(request: Request) -> dict[str, str]:
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


def _address(session: str) -> str:
    return f"/sessions/{quote(session, safe='')}"
