"""Pages of sessions: where the next one begins, as a word in an address."""

from datetime import datetime

from opspilot.journal.queries import SessionRow
from opspilot.texts.language import text
from opspilot.web.refusing import Refused


def cursor_after(row: SessionRow) -> str:
    """Where a page begins that goes on behind this session."""
    return f"{row.updated_at.isoformat()}~{row.id}"


def cursor(before: str) -> tuple[datetime, str] | None:
    """What the journal is asked with; None for the first page. Raises `Refused` for what `cursor_after` never made."""
    if not before:
        return None
    moment, _, id_ = before.partition("~")
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise Refused(422, "not_understood", text("web.cursor"))
    return at, id_
