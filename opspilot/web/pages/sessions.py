"""`/sessions`: what was asked, latest change first; searched, narrowed, page by page."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from opspilot.core.contract import Status
from opspilot.core.interrupts import Principal
from opspilot.core.limits import StopReason
from opspilot.journal.inbox import InboxFilter
from opspilot.journal.queries import InterruptRow, SessionFilter, SessionRow
from opspilot.journal.store import SqlJournal
from opspilot.redaction import redact
from opspilot.web.asked import is_for
from opspilot.web.backend import Served
from opspilot.web.paging import cursor, cursor_after
from opspilot.web.people.guard import Looker
from opspilot.web.people.rights import APPROVER
from opspilot.web.ranges import Day, Range
from opspilot.web.rendering import page

router = APIRouter()

PAGE = 50
MOST_COUNTED = 1000


@dataclass(frozen=True)
class Line:
    """A session as one person sees it in the list: whether it waits for them, or else for which roles."""

    row: SessionRow
    for_you: bool
    roles: tuple[str, ...]

    @property
    def state(self) -> str:
        """`answered` says more than `done`."""
        return self.row.stop_reason if self.row.status == Status.DONE and self.row.stop_reason else self.row.status

    @property
    def address(self) -> str:
        """The page of the session."""
        return f"/sessions/{quote(self.row.id, safe='')}"


@dataclass(frozen=True)
class Found:
    """A page of them, how many there are (`MOST_COUNTED`: that many or more), and where the next page begins."""

    lines: tuple[Line, ...]
    count: int
    next: str


@router.get("/sessions")
async def show_sessions(  # noqa: PLR0913 each a field of the form
    request: Request,
    who: Looker,
    backend: Served,
    *,
    text: Annotated[str, Query(max_length=200)] = "",
    status: Status | Literal[""] = "",
    stop_reason: StopReason | Literal[""] = "",
    owner: Annotated[str, Query(max_length=200)] = "",
    failed_tool: Annotated[str, Query(max_length=200)] = "",
    first: Annotated[Day, Query(alias="from")] = None,
    last: Annotated[Day, Query(alias="to")] = None,
    before: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """The list, narrowed by what is given."""
    days = Range(first, last)
    filters = {
        "text": text,
        "status": str(status),
        "stop_reason": str(stop_reason),
        "owner": owner,
        "failed_tool": failed_tool,
        **days.query,
    }
    chosen = {name: value for name, value in filters.items() if value}
    wanted = SessionFilter(
        status=status or None,
        stop_reason=stop_reason or None,
        owner=owner or None,
        text=text,
        failed_tool=failed_tool or None,
        created_since=days.since,
        created_until=days.until,
    )
    found = await backend.read(_find, backend.journal, who.principal, wanted, before)
    return page(
        request,
        "sessions.html",
        found=found,
        filters=filters,
        is_narrowed=bool(chosen),
        statuses=list(Status),
        stop_reasons=list(StopReason),
        most_counted=MOST_COUNTED,
        is_first=not before,
        first_page=_address(chosen),
        without_tool=_address({name: value for name, value in chosen.items() if name != "failed_tool"}),
        next_page=_address(chosen | {"before": found.next}) if found.next else "",
    )


def _find(journal: SqlJournal, who: Principal, wanted: SessionFilter, before: str) -> Found:
    rows = journal.find_sessions(wanted, PAGE, cursor(before))
    there_is_more = len(rows) == PAGE
    count = len(rows) if not (there_is_more or before) else journal.count_sessions(wanted, MOST_COUNTED)
    waiting = [row.id for row in rows if row.status == Status.WAITING]
    asked = journal.open_interrupts(wanted=InboxFilter(sessions=waiting)) if waiting else ()
    lines = tuple(_line(row, [question for question in asked if question.session == row.id], who) for row in rows)
    return Found(lines, count, cursor_after(rows[-1]) if there_is_more else "")


def _line(row: SessionRow, asked: list[InterruptRow], who: Principal) -> Line:
    roles = {role for question in asked for role in question.roles or (APPROVER,)}
    for_you = any(is_for(who, question) for question in asked)
    return Line(replace(row, title=redact(row.title)), for_you, tuple(sorted(roles)))


def _address(fields: Mapping[str, str]) -> str:
    return f"/sessions?{urlencode(fields)}" if fields else "/sessions"
