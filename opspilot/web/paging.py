"""Where a page of sessions, or a story that was cut off, goes on: as a word in an address or a header."""

from datetime import datetime
from typing import Annotated, TypeAlias

from fastapi import Query

from opspilot.journal.queries import SessionRow
from opspilot.texts.language import text
from opspilot.web.ranges import by_utc
from opspilot.web.refusing import Refused

MOST_DIGITS = 18
"""Of a sequence number: any number of so many digits is one that a database can hold."""

After: TypeAlias = Annotated[int, Query(ge=0, lt=10**MOST_DIGITS)]


def last_seen(last_event_id: str, after: int) -> int:
    """The number after which a stream goes on: that of `Last-Event-ID` if it is one of ours, else `after`."""
    ours = last_event_id.isascii() and last_event_id.isdecimal() and len(last_event_id) <= MOST_DIGITS
    return int(last_event_id) if ours else after


def cursor_after(row: SessionRow) -> str:
    """Where a page begins that goes on behind this session."""
    return f"{row.updated_at.isoformat()}~{row.id}"


def cursor(before: str) -> tuple[datetime, str] | None:
    """What the journal is asked with; None for the first page. Raises `Refused` for what `cursor_after` never made."""
    if not before:
        return None
    moment, _, id_ = before.partition("~")
    try:
        return by_utc(datetime.fromisoformat(moment)), id_
    except ValueError:
        raise Refused(422, "not_understood", text("web.cursor")) from None
