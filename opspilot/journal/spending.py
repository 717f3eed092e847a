"""What model calls took and cost: a row for each reply, and the sums of them in `runs`.

Prices are not known here; an entry says what it cost, or doesn't. A run's tokens are exact from its first reply on,
whether it has ended or not; so is its cost when each reply says what it cost.
"""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, func, insert, select, update

from opspilot.core.budget import Spent
from opspilot.core.entries import Entry
from opspilot.core.messages import Json
from opspilot.journal import totals
from opspilot.journal.schema import runs, sessions, spending

DIGITS = 6
"""What costs are rounded to where they are made; a smaller difference is none."""


def three_digits(milliseconds: float) -> int:
    """A time as the figures count it: 1234.5 is 1230, which is off by half a percent at most."""
    return round(float(f"{milliseconds:.3g}"))


def of_reply(connection: Connection, entry: Entry) -> None:
    """Add an `assistant.message`: its `usage`, `latency_ms`, `model` and, where it is known, `cost`."""
    usage = entry.data.get("usage") or {}
    latency_ms = entry.data.get("latency_ms")
    _add(connection, entry, usage, entry.data.get("cost"), None if latency_ms is None else int(latency_ms))
    if model := entry.data.get("model"):
        connection.execute(update(runs).where(_this_run(entry)).values(model=str(model)))


def of_run(connection: Connection, entry: Entry) -> None:
    """Add what a `run.stopped` knows beyond the replies: its `usage` and `cost` are those of the whole run."""
    run = connection.execute(
        select(runs.c.input_tokens, runs.c.output_tokens, runs.c.cached_tokens, runs.c.cost).where(_this_run(entry))
    ).first()
    if run is None:
        return
    usage = entry.data.get("usage") or {}
    counted = {name: getattr(run, name) for name in ("input_tokens", "output_tokens", "cached_tokens")}
    more = {name: max(0, int(usage.get(name) or 0) - value) for name, value in counted.items()}
    cost = entry.data.get("cost")
    _add(connection, entry, more, None if cost is None else max(0.0, round(cost - (run.cost or 0.0), DIGITS)))


def of_session(connection: Connection, session: str) -> Spent:
    """What all runs of a session have spent, the open one included."""
    row = connection.execute(select(sessions.c.tokens, sessions.c.cost).where(sessions.c.id == session)).first()
    return Spent() if row is None else Spent(row.tokens, row.cost or 0.0)


def by_requester(connection: Connection, requester: str, since: datetime) -> Spent:
    """What replies to runs that this person asked for have spent from a moment on, those of open runs included."""
    tokens, cost = connection.execute(
        select(
            func.coalesce(func.sum(spending.c.input_tokens + spending.c.output_tokens), 0),
            func.coalesce(func.sum(spending.c.cost), 0.0),
        ).where(spending.c.requester == requester, spending.c.at >= since)
    ).one()
    return Spent(int(tokens), round(float(cost), DIGITS))


def _add(
    connection: Connection, entry: Entry, usage: Mapping[str, Json], cost: float | None, latency_ms: int | None = None
) -> None:
    tokens = {name: int(usage.get(name) or 0) for name in ("input_tokens", "output_tokens", "cached_tokens")}
    if not any(tokens.values()) and cost is None and latency_ms is None:
        return
    run = connection.execute(select(runs.c.requester, runs.c.started_at, runs.c.cost).where(_this_run(entry))).first()
    if run is None:
        return
    values: dict[str, Json] = {name: runs.c[name] + value for name, value in tokens.items()}
    if cost is not None:
        values["cost"] = round((run.cost or 0.0) + cost, DIGITS)
    if latency_ms is not None:
        values |= {"model_calls": runs.c.model_calls + 1, "model_ms": runs.c.model_ms + latency_ms}
    connection.execute(update(runs).where(_this_run(entry)).values(values))
    if tokens["input_tokens"] or tokens["output_tokens"] or cost or latency_ms is not None:
        connection.execute(
            insert(spending).values(
                session_id=entry.session,
                seq=entry.seq,
                requester=run.requester,
                run_started_at=run.started_at,
                at=entry.at,
                took_ms=None if latency_ms is None else three_digits(latency_ms),
                input_tokens=tokens["input_tokens"],
                output_tokens=tokens["output_tokens"],
                cost=cost,
            )
        )
    if latency_ms is not None:
        totals.took(connection, totals.MODEL, "", totals.WELL, three_digits(latency_ms))


def _this_run(entry: Entry) -> ColumnElement[bool]:
    return and_(runs.c.session_id == entry.session, runs.c.run_id == entry.run)
