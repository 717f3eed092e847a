"""What lists, the inbox and the page of figures read: rows as frozen dataclasses, from the read models alone.

Every query is answered from an index, in milliseconds at 100,000 sessions; only a text that few sessions hold has to be
looked for in all of them, which takes some ten milliseconds. Nothing here writes.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, RowMapping, and_, func, select, tuple_

from opspilot.core.limits import StopReason
from opspilot.core.messages import Json
from opspilot.journal.schema import calls, interrupts, runs, sessions


@dataclass(frozen=True)
class SessionRow:
    """A session in a list. `status` is that of its current run: running, waiting (for a person) or done.

    `title` is the beginning of the first question, `owner` the id of who asked it, `steps` and `tokens` are those of
    all its runs.
    """

    id: str
    owner: str
    title: str
    status: str
    stop_reason: str | None
    current_run: str
    created_at: datetime
    updated_at: datetime
    last_seq: int
    steps: int
    tokens: int


@dataclass(frozen=True)
class RunRow:
    """A run. `calls_failed` counts what failed, not what a human or a rule stopped; `stopped_at` None: it goes on."""

    session: str
    run: str
    started_at: datetime
    stopped_at: datetime | None
    stop_reason: str | None
    steps: int
    tokens: int
    calls: int
    calls_ok: int
    calls_failed: int
    interrupts: int


@dataclass(frozen=True)
class CallRow:
    """A proposed call. `state`: proposed, started, interrupted or done; `rounds` is the last round it came to."""

    session: str
    run: str
    call: str
    step: int | None
    tool: str
    effect: str
    gate: str
    rule: str
    state: str
    ok: bool | None
    error_code: str | None
    duration_ms: float | None
    rounds: int
    proposed_at: datetime
    settled_at: datetime | None


@dataclass(frozen=True)
class InterruptRow:
    """A question to a person. `state`: open, answered, expired, or closed (its call or run ended without a reply)."""

    session: str
    run: str
    interrupt: str
    call: str
    kind: str
    reason: str
    payload: Json
    role: str
    due: datetime | None
    tool: str
    arguments: Json
    digest: str
    state: str
    opened_at: datetime
    settled_at: datetime | None
    action: str | None
    by: str | None
    comment: str | None


@dataclass(frozen=True)
class Numbers:
    """The figures over runs that started since a moment, with what they were computed from. A rate of nothing is None.

    `mean_steps` is over stopped runs. `failure_rate` is of calls that ran: failed ones over those and the ok ones.
    `finished_rate` is of runs that asked a person at least once: those that were answered in the end over all.
    """

    runs_stopped: int
    mean_steps: float | None
    calls_ok: int
    calls_failed: int
    failure_rate: float | None
    runs_interrupted: int
    interrupted_finished: int
    finished_rate: float | None


def list_sessions(
    connection: Connection,
    status: str | None,
    owner: str | None,
    text: str | None,
    limit: int,
    before: tuple[datetime, str] | None,
) -> tuple[SessionRow, ...]:
    """Latest change first. `before` is `(updated_at, id)` of the last row of the page before."""
    query = (
        select(*(column for column in sessions.c if column.name != "searchable"))
        .order_by(sessions.c.updated_at.desc(), sessions.c.id.desc())
        .limit(limit)
    )
    if status is not None:
        query = query.where(sessions.c.status == status)
    if owner is not None:
        query = query.where(sessions.c.owner == owner)
    if text:
        query = query.where(sessions.c.searchable.contains(text.casefold(), autoescape=True))
    if before is not None:
        query = query.where(tuple_(sessions.c.updated_at, sessions.c.id) < before)
    return tuple(SessionRow(**row) for row in connection.execute(query).mappings())


def one_session(connection: Connection, session: str) -> SessionRow | None:
    """The session of that id."""
    query = select(*(column for column in sessions.c if column.name != "searchable")).where(sessions.c.id == session)
    row = connection.execute(query).mappings().first()
    return None if row is None else SessionRow(**row)


def list_runs(connection: Connection, session: str) -> tuple[RunRow, ...]:
    """Oldest first."""
    query = select(runs).where(runs.c.session_id == session).order_by(runs.c.started_at, runs.c.run_id)
    return tuple(RunRow(**_named(row)) for row in connection.execute(query).mappings())


def list_calls(connection: Connection, session: str, run: str | None) -> tuple[CallRow, ...]:
    """In the order in which they were proposed."""
    query = select(calls).where(calls.c.session_id == session).order_by(calls.c.seq)
    if run is not None:
        query = query.where(calls.c.run_id == run)
    return tuple(CallRow(**_named(row)) for row in connection.execute(query).mappings())


def list_open_interrupts(connection: Connection, session: str | None) -> tuple[InterruptRow, ...]:
    """Longest open first. Those of a run that another has replaced are left out: nobody can settle them."""
    query = (
        select(interrupts)
        .join(
            sessions,
            and_(sessions.c.id == interrupts.c.session_id, sessions.c.current_run == interrupts.c.run_id),
        )
        .where(interrupts.c.state == "open")
        .order_by(interrupts.c.opened_at, interrupts.c.session_id, interrupts.c.seq)
    )
    if session is not None:
        query = query.where(interrupts.c.session_id == session)
    return tuple(InterruptRow(**_named(row)) for row in connection.execute(query).mappings())


def figures(connection: Connection, since: datetime | None) -> Numbers:
    """Mean steps per run, failure rate of calls, and how many interrupted runs finished."""
    query = select(
        func.count(runs.c.stop_reason),
        func.coalesce(func.sum(runs.c.steps).filter(runs.c.stop_reason.is_not(None)), 0),
        func.coalesce(func.sum(runs.c.calls_ok), 0),
        func.coalesce(func.sum(runs.c.calls_failed), 0),
        func.count().filter(runs.c.interrupts > 0),
        func.count().filter(runs.c.interrupts > 0, runs.c.stop_reason == StopReason.ANSWERED.value),
    )
    if since is not None:
        query = query.where(runs.c.started_at >= since)
    stopped, steps, calls_ok, calls_failed, interrupted, finished = map(int, connection.execute(query).one())
    return Numbers(
        runs_stopped=stopped,
        mean_steps=_share(steps, stopped),
        calls_ok=calls_ok,
        calls_failed=calls_failed,
        failure_rate=_share(calls_failed, calls_ok + calls_failed),
        runs_interrupted=interrupted,
        interrupted_finished=finished,
        finished_rate=_share(finished, interrupted),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _named(row: RowMapping) -> dict[str, Json]:
    renamed = {"session_id": "session", "run_id": "run"}
    return {renamed.get(name, name): value for name, value in row.items() if name != "seq"}
