"""Questions to people: those that wait, for the inbox, and all of a session."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, and_, literal, or_, select, tuple_

from opspilot.core.interrupts import InterruptType
from opspilot.core.messages import Json
from opspilot.journal.queries import Approval, InterruptRow, count, named
from opspilot.journal.schema import interrupts, runs, sessions


@dataclass(frozen=True)
class AskedOf:
    """Whose inbox: what one of these `roles` decides, and whatever the runs that `requester` asked for ask.

    `unruled`: also what no rule gives to a role, and what only has to be filled in.
    """

    roles: Collection[str] = ()
    unruled: bool = False
    requester: str | None = None


@dataclass(frozen=True)
class InboxFilter:
    """Which open questions; None lets all through. `tool` is empty for questions about limits.

    `role` is one that a question names: whoever has it decides. `sessions` are those that may ask.
    """

    asked_of: AskedOf | None = None
    role: str | None = None
    tool: str | None = None
    risk: str | None = None
    sessions: Collection[str] | None = None


WHATEVER_WAITS = InboxFilter()


@dataclass(frozen=True)
class InboxPlace:
    """Where a question stands in an inbox, for going on behind it, whether it still waits or not."""

    due: datetime | None
    opened_at: datetime
    session: str
    seq: int

    @classmethod
    def of(cls, row: InterruptRow) -> "InboxPlace":
        """The place of this question."""
        return cls(row.due, row.opened_at, row.session, row.seq)


@dataclass(frozen=True)
class InboxChoices:
    """What an inbox can be narrowed to, each in order."""

    roles: tuple[str, ...]
    tools: tuple[str, ...]
    risks: tuple[str, ...]


_CURRENT = and_(sessions.c.id == interrupts.c.session_id, sessions.c.current_run == interrupts.c.run_id)


def of_session(connection: Connection, session: str, run: str | None) -> tuple[InterruptRow, ...]:
    """All questions of a session, settled ones too, in the order in which they were asked."""
    query = _beside_its_run(current=False).where(interrupts.c.session_id == session).order_by(interrupts.c.seq)
    if run is not None:
        query = query.where(interrupts.c.run_id == run)
    return tuple(_interrupt(row) for row in connection.execute(query).mappings())


def waiting(
    connection: Connection, session: str | None, wanted: InboxFilter, limit: int | None, after: InboxPlace | None
) -> tuple[InterruptRow, ...]:
    """Oldest deadline first, then longest open. Ghosts are left out: nobody can settle what a replaced run asked."""
    behind = [] if after is None else [_behind(after)]
    query = (
        _beside_its_run(current=True)
        .where(*_open(session, wanted), *behind)
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


def count_waiting(connection: Connection, wanted: InboxFilter, at_most: int) -> int:
    """How many open questions there are, counted up to `at_most`."""
    query = select(literal(1)).select_from(interrupts).join(sessions, _CURRENT).where(*_open(None, wanted))
    return count(connection, query, at_most)


def choices(connection: Connection, asked_of: AskedOf | None) -> InboxChoices:
    """What the open questions of an inbox name."""
    columns = (interrupts.c.role, interrupts.c.escalated_role, interrupts.c.tool, interrupts.c.risk)
    query = select(*columns).distinct().select_from(interrupts).join(sessions, _CURRENT)
    rows = connection.execute(query.where(*_open(None, InboxFilter(asked_of)))).all()
    return InboxChoices(
        roles=tuple(sorted({role for row in rows if row.role for role in (row.role, row.escalated_role) if role})),
        tools=tuple(sorted({row.tool for row in rows})),
        risks=tuple(sorted({row.risk for row in rows})),
    )


def _beside_its_run(*, current: bool) -> Select[tuple[Json, ...]]:
    """Questions with what is known of their session and run; those of current runs, or all."""
    return (
        select(*interrupts.c, sessions.c.title, runs.c.requester_name)
        .select_from(interrupts)
        .join(sessions, _CURRENT if current else sessions.c.id == interrupts.c.session_id)
        .join(runs, and_(runs.c.session_id == interrupts.c.session_id, runs.c.run_id == interrupts.c.run_id))
    )


def _behind(place: InboxPlace) -> ColumnElement[bool]:
    there = interrupts.c
    later = tuple_(there.opened_at, there.session_id, there.seq) > tuple_(
        literal(place.opened_at, there.opened_at.type), literal(place.session), literal(place.seq)
    )
    if place.due is None:
        return and_(there.due.is_(None), later)
    return or_(there.due.is_(None), there.due > place.due, and_(there.due == place.due, later))


def _open(session: str | None, wanted: InboxFilter) -> list[ColumnElement[bool]]:
    there = interrupts.c
    conditions = [there.state == "open"]
    if session is not None:
        conditions.append(there.session_id == session)
    if wanted.asked_of is not None:
        conditions.append(_asked_of(wanted.asked_of))
    if wanted.role is not None:
        conditions.append(and_(there.role != "", or_(there.role == wanted.role, there.escalated_role == wanted.role)))
    if wanted.tool is not None:
        conditions.append(there.tool == wanted.tool)
    if wanted.risk is not None:
        conditions.append(there.risk == wanted.risk)
    if wanted.sessions is not None:
        conditions.append(there.session_id.in_(wanted.sessions))
    return conditions


def _asked_of(whom: AskedOf) -> ColumnElement[bool]:
    there, held = interrupts.c, tuple(whom.roles)
    conditions = [and_(there.role != "", or_(there.role.in_(held), there.escalated_role.in_(held)))]
    if whom.unruled:
        conditions += [there.role == "", there.kind != InterruptType.CONFIRM_RISKY.value]
    if whom.requester is not None:
        conditions.append(there.requester == whom.requester)
    return or_(*conditions)


def _interrupt(row: RowMapping) -> InterruptRow:
    fields = named(row)
    escalated_role = fields.pop("escalated_role")
    fields["roles"] = tuple(filter(None, (fields["role"], escalated_role))) if fields["role"] else ()
    fields["approvals"] = tuple(
        Approval(one["by"], one["name"], datetime.fromisoformat(one["at"]), one["comment"]) for one in row["approvals"]
    )
    return InterruptRow(**fields)
