"""Questions to people: those that wait, for the inbox, and all of a session."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, and_, literal, or_, select

from opspilot.core.interrupts import ADMIN
from opspilot.core.messages import Json
from opspilot.journal.queries import Approval, InterruptRow, count, named
from opspilot.journal.schema import interrupts, runs, sessions

_CURRENT = and_(sessions.c.id == interrupts.c.session_id, sessions.c.current_run == interrupts.c.run_id)
_COLUMNS = [column for column in interrupts.c if column.name != "seq"]


def of_session(connection: Connection, session: str, run: str | None) -> tuple[InterruptRow, ...]:
    """All questions of a session, settled ones too, in the order in which they were asked."""
    query = _beside_its_run(current=False).where(interrupts.c.session_id == session).order_by(interrupts.c.seq)
    if run is not None:
        query = query.where(interrupts.c.run_id == run)
    return tuple(_interrupt(row) for row in connection.execute(query).mappings())


def waiting(
    connection: Connection,
    session: str | None,
    roles: Collection[str] | None,
    tool: str | None,
    risk: str | None,
    limit: int | None,
) -> tuple[InterruptRow, ...]:
    """Oldest deadline first, then longest open. Ghosts are left out: nobody can settle what a replaced run asked."""
    query = (
        _beside_its_run(current=True)
        .where(*_open(session, roles, tool, risk))
        .order_by(
            interrupts.c.due.is_(None),
            interrupts.c.due,
            interrupts.c.opened_at,
            interrupts.c.session_id,
            interrupts.c.seq,
        )
        .limit(limit)
    )
    return tuple(_interrupt(row) for row in connection.execute(query).mappings())


def count_waiting(
    connection: Connection, roles: Collection[str] | None, tool: str | None, risk: str | None, at_most: int
) -> int:
    """How many open questions there are, counted up to `at_most`."""
    query = select(literal(1)).select_from(interrupts).join(sessions, _CURRENT).where(*_open(None, roles, tool, risk))
    return count(connection, query, at_most)


def _beside_its_run(*, current: bool) -> Select[tuple[Json, ...]]:
    """Questions with what is known of their session and run; those of current runs, or all."""
    return (
        select(*_COLUMNS, sessions.c.title, runs.c.requester_name)
        .select_from(interrupts)
        .join(sessions, _CURRENT if current else sessions.c.id == interrupts.c.session_id)
        .join(runs, and_(runs.c.session_id == interrupts.c.session_id, runs.c.run_id == interrupts.c.run_id))
    )


def _open(
    session: str | None, roles: Collection[str] | None, tool: str | None, risk: str | None
) -> list[ColumnElement[bool]]:
    conditions = [interrupts.c.state == "open"]
    if session is not None:
        conditions.append(interrupts.c.session_id == session)
    if roles is not None and ADMIN not in roles:
        held = tuple(roles)
        conditions.append(
            or_(interrupts.c.role == "", interrupts.c.role.in_(held), interrupts.c.escalated_role.in_(held))
        )
    if tool is not None:
        conditions.append(interrupts.c.tool == tool)
    if risk is not None:
        conditions.append(interrupts.c.risk == risk)
    return conditions


def _interrupt(row: RowMapping) -> InterruptRow:
    fields = named(row)
    escalated_role = fields.pop("escalated_role")
    fields["roles"] = tuple(filter(None, (fields["role"], escalated_role))) if fields["role"] else ()
    fields["approvals"] = tuple(
        Approval(one["by"], one["name"], datetime.fromisoformat(one["at"]), one["comment"]) for one in row["approvals"]
    )
    return InterruptRow(**fields)
