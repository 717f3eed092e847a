"""Rows of `entries` as entries: by key, by session, and all of them."""

from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, RowMapping, select

from opspilot.core.entries import Entry, Kind
from opspilot.journal.schema import entries

AT_ONCE = 1000
"""Rows fetched together when all are read."""


def find(connection: Connection, session: str, keys: Iterable[str]) -> dict[str, Entry]:
    """The entries among these keys that exist."""
    query = select(entries).where(entries.c.session_id == session, entries.c.key.in_(keys))
    return {row["key"]: _entry(row) for row in connection.execute(query).mappings()}


def after(connection: Connection, session: str, seq: int, limit: int | None) -> tuple[Entry, ...]:
    """Entries of a session with a greater number, in order."""
    query = (
        select(entries).where(entries.c.session_id == session, entries.c.seq > seq).order_by(entries.c.seq).limit(limit)
    )
    return tuple(_entry(row) for row in connection.execute(query).mappings())


def everything(connection: Connection) -> Iterator[Entry]:
    """All entries of all sessions, those of a session in order. They are not held in memory together."""
    query = select(entries).order_by(entries.c.session_id, entries.c.seq).execution_options(yield_per=AT_ONCE)
    return (_entry(row) for row in connection.execute(query).mappings())


def _entry(row: RowMapping) -> Entry:
    return Entry(
        session=row["session_id"],
        seq=row["seq"],
        run=row["run_id"],
        key=row["key"],
        kind=Kind(row["kind"]),
        at=row["at"],
        data=row["data"],
        step=row["step"],
        call=row["call"],
    )
