"""What lists read: rows as frozen dataclasses, from the read models alone.

Every query is answered from an index, in milliseconds at 100,000 sessions; only a text that few sessions hold has to be
looked for in all of them, which takes some ten milliseconds. Nothing here writes.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, RowMapping, func, literal, select, tuple_
from sqlalchemy.sql.selectable import GenerativeSelect

from opspilot.core.messages import Json
from opspilot.journal.schema import calls, runs, sessions


@dataclass(frozen=True)
class SessionRow:
    """A session in a list. `status` is that of its current run: running, waiting (for a person) or done.

    `title` is the beginning of the first question, `owner` the id of who asked it, `owner_name` what they are called;
    `steps`, `tokens` and `cost` are those of all its runs. `cost` None: nobody has said what tokens cost. `model` is
    the current run's, `waiting` how many of its questions are open.
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
    owner_name: str = ""
    model: str = ""
    waiting: int = 0
    cost: float | None = None


@dataclass(frozen=True)
class SessionFilter:
    """Which sessions; None (and an empty text) lets all through. `…_since` is included, `…_until` is not.

    `text` is looked for in id and title, whatever its case. `failed_tool` is one of which a call failed.
    """

    status: str | None = None
    stop_reason: str | None = None
    owner: str | None = None
    text: str | None = None
    failed_tool: str | None = None
    created_since: datetime | None = None
    created_until: datetime | None = None
    updated_since: datetime | None = None
    updated_until: datetime | None = None


@dataclass(frozen=True)
class RunRow:
    """A run. `calls_failed` counts what failed, not what a human or a rule stopped; `stopped_at` None: it goes on.

    Tokens are those of all replies so far, `cached_tokens` a part of the input; `model_ms` is the time that
    `model_calls` took together. `cost` None: nobody has said yet what they cost. `requester` asked for the run.
    """

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
    requester: str = ""
    requester_name: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    model_calls: int = 0
    model_ms: int = 0


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
class Approval:
    """One person's approval of a question that needs several."""

    by: str
    name: str
    at: datetime
    comment: str


@dataclass(frozen=True)
class InterruptRow:
    """A question to a person. `state`: open, answered, expired, or closed (its call or run ended without a reply).

    `call` is `limit` and `tool` empty when it is about a limit. `roles`: whoever has one of these may decide now (who
    has the rule's, or the one that it was escalated to); empty: anybody. `approvals` are those given so far, of a
    `quorum`; whoever settled it (`by`, `name`, `method`) gave the last one. `asks_again`: the answer changed the call,
    and it asks under another name. `schema` is the JSON Schema of the tool's arguments. `requester` asked for the run.
    `seq` is the number of the entry that asked.
    """

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
    rule: str = ""
    risk: str = ""
    quorum: int = 1
    requester: str = ""
    requester_name: str = ""
    not_requester: bool = False
    roles: tuple[str, ...] = ()
    approvals: tuple[Approval, ...] = ()
    schema: Json = None
    reminded_at: datetime | None = None
    escalated_at: datetime | None = None
    name: str | None = None
    method: str | None = None
    asks_again: bool = False
    title: str = ""
    seq: int = 0


_SESSION = [column for column in sessions.c if column.name != "searchable"]
_RUN = [column for column in runs.c if column.name != "day"]
_CALL = [column for column in calls.c if column.name not in {"seq", "went_well", "took_ms", "run_started_at"}]


def list_sessions(
    connection: Connection, wanted: SessionFilter, limit: int, before: tuple[datetime, str] | None
) -> tuple[SessionRow, ...]:
    """Latest change first. `before` is `(updated_at, id)` of the last row of the page before."""
    query = select(*_SESSION).order_by(sessions.c.updated_at.desc(), sessions.c.id.desc()).limit(limit)
    query = query.where(*_matching(wanted))
    if before is not None:
        query = query.where(tuple_(sessions.c.updated_at, sessions.c.id) < before)
    return tuple(SessionRow(**row) for row in connection.execute(query).mappings())


def count_sessions(connection: Connection, wanted: SessionFilter, at_most: int) -> int:
    """How many there are, counted up to `at_most`."""
    return count(connection, select(literal(1)).select_from(sessions).where(*_matching(wanted)), at_most)


def one_session(connection: Connection, session: str) -> SessionRow | None:
    """The session of that id."""
    row = connection.execute(select(*_SESSION).where(sessions.c.id == session)).mappings().first()
    return None if row is None else SessionRow(**row)


def list_runs(connection: Connection, session: str) -> tuple[RunRow, ...]:
    """Oldest first."""
    tokens = (runs.c.input_tokens + runs.c.output_tokens).label("tokens")
    query = select(*_RUN, tokens).where(runs.c.session_id == session).order_by(runs.c.started_at, runs.c.run_id)
    return tuple(RunRow(**named(row)) for row in connection.execute(query).mappings())


def list_calls(connection: Connection, session: str, run: str | None) -> tuple[CallRow, ...]:
    """In the order in which they were proposed."""
    query = select(*_CALL).where(calls.c.session_id == session).order_by(calls.c.seq)
    if run is not None:
        query = query.where(calls.c.run_id == run)
    return tuple(CallRow(**named(row)) for row in connection.execute(query).mappings())


def count(connection: Connection, query: GenerativeSelect, at_most: int) -> int:
    """How many rows a query has, counted up to `at_most`."""
    return connection.execute(select(func.count()).select_from(query.limit(at_most).subquery("counted"))).scalar_one()


def named(row: RowMapping) -> dict[str, Json]:
    """A row by the names of its dataclass."""
    renamed = {"session_id": "session", "run_id": "run"}
    return {renamed.get(name, name): value for name, value in row.items()}


def _matching(wanted: SessionFilter) -> list[ColumnElement[bool]]:
    there = sessions.c
    conditions: list[ColumnElement[bool]] = []
    if wanted.status is not None:
        conditions.append(there.status == wanted.status)
    if wanted.stop_reason is not None:
        conditions.append(there.stop_reason == wanted.stop_reason)
    if wanted.owner is not None:
        conditions.append(there.owner == wanted.owner)
    if wanted.text:
        conditions.append(there.searchable.contains(wanted.text.casefold(), autoescape=True))
    if wanted.failed_tool is not None:
        failed = select(calls.c.session_id).where(calls.c.tool == wanted.failed_tool, calls.c.went_well.is_(False))
        conditions.append(there.id.in_(failed))
    if wanted.created_since is not None:
        # No session changes before it is made, and it is by changes that the indexes are ordered.
        conditions += [there.created_at >= wanted.created_since, there.updated_at >= wanted.created_since]
    if wanted.created_until is not None:
        conditions.append(there.created_at < wanted.created_until)
    if wanted.updated_since is not None:
        conditions.append(there.updated_at >= wanted.updated_since)
    if wanted.updated_until is not None:
        conditions.append(there.updated_at < wanted.updated_until)
    return conditions
