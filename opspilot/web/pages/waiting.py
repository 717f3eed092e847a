"""The number beside "Inbox" on every page: how many questions wait for whoever looks. Pages ask for it now and then."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from opspilot.core.interrupts import Principal
from opspilot.journal.inbox import InboxFilter
from opspilot.web.backend import Backend, Served
from opspilot.web.people.guard import Anybody
from opspilot.web.people.rights import asked_of
from opspilot.web.rendering import is_partial, page

router = APIRouter()

MOST_COUNTED = 100


async def count_waiting(request: Request, who: Anybody, backend: Served) -> None:
    """Leaves the number in the request, for the layout; a part of a page needs none."""
    if request.method == "GET" and not is_partial(request):
        request.state.waiting = await _count(who.principal, backend)


@router.get("/waiting")
async def show_waiting(request: Request, who: Anybody, backend: Served) -> Response:
    """The number as it is now."""
    return page(request, "_waiting.html", waiting=await _count(who.principal, backend))


async def _count(who: Principal, backend: Backend) -> int:
    return await backend.read(backend.journal.count_open_interrupts, InboxFilter(asked_of(who)), MOST_COUNTED)
