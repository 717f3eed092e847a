"""`/api/numbers`: how well it goes."""

from fastapi import APIRouter

from opspilot.journal.figures import Numbers
from opspilot.web.backend import Served
from opspilot.web.people.guard import Looker
from opspilot.web.ranges import Moment

router = APIRouter(tags=["numbers"])


@router.get("/numbers")
async def numbers(_: Looker, backend: Served, *, since: Moment | None = None, until: Moment | None = None) -> Numbers:
    """The figures over runs that began at `since` or later and before `until` (each with its zone), or over all."""
    return await backend.read(backend.journal.numbers, since, until)
