"""`/api/numbers`: how well it goes."""

from datetime import datetime

from fastapi import APIRouter

from opspilot.journal.figures import Numbers
from opspilot.texts.language import text
from opspilot.web.backend import Served
from opspilot.web.people.guard import Looker
from opspilot.web.refusing import Refused

router = APIRouter(tags=["numbers"])


@router.get("/numbers")
async def numbers(_: Looker, backend: Served, *, since: datetime | None = None) -> Numbers:
    """The figures over runs that started at `since` (with its zone) or later, or over all."""
    if since is not None and since.tzinfo is None:
        raise Refused(422, "not_understood", text("web.zone"))
    return await backend.read(backend.journal.numbers, since)
