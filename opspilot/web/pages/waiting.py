"""The number beside "Inbox" on every page: how many questions wait for whoever looks."""

from starlette.requests import Request

from opspilot.journal.inbox import InboxFilter
from opspilot.web.backend import Served
from opspilot.web.people.guard import Anybody
from opspilot.web.people.rights import asked_of
from opspilot.web.rendering import is_partial

MOST_COUNTED = 100


async def count_waiting(request: Request, who: Anybody, backend: Served) -> None:
    """Leaves the number in the request, for the layout; a part of a page needs none."""
    if request.method == "GET" and not is_partial(request):
        wanted = InboxFilter(asked_of(who.principal))
        request.state.waiting = await backend.read(backend.journal.count_open_interrupts, wanted, MOST_COUNTED)
