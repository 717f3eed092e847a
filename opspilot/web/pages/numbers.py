"""`/numbers`: how well it goes, over the last days or over those that somebody chooses."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from opspilot.web.backend import Served
from opspilot.web.pages import showing_numbers
from opspilot.web.people.guard import Looker
from opspilot.web.ranges import Day, Range, Span, last_days
from opspilot.web.rendering import page

router = APIRouter()


@router.get("/numbers")
async def show_numbers(
    request: Request,
    _: Looker,
    backend: Served,
    *,
    span: Span | Literal[""] = "",
    first: Annotated[Day, Query(alias="from")] = None,
    last: Annotated[Day, Query(alias="to")] = None,
) -> Response:
    """The figures over runs that began in these days; days that are given go before a span, a week before nothing."""
    today = datetime.now(UTC).date()
    chosen = None if first or last else span or Span.WEEK
    days = last_days(chosen, today) if chosen else Range(first, last)
    numbers = await backend.read(backend.journal.numbers, days.since, days.until)
    return page(
        request,
        "numbers.html",
        shown=showing_numbers.shown(numbers, days, today),
        spans=list(Span),
        chosen=chosen,
        days=days.query,
        percent=showing_numbers.percent,
        money=showing_numbers.money,
        lasted=showing_numbers.took,
        within=showing_numbers.within,
    )
