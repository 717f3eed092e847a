"""The page of figures: what the runs that began in a range of time came to, computed from indexes alone.

A range is `since <= start of the run < until`. Days are those of UTC. Percentiles are exact, by nearest rank: the
smallest value that this share of all values does not exceed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby
from math import ceil, fsum

from sqlalchemy import Column, ColumnElement, Connection, Row, func, select

from opspilot.core.limits import StopReason
from opspilot.core.messages import Json
from opspilot.journal.schema import calls, runs, spending
from opspilot.journal.spending import DIGITS

MEDIAN, P95 = 0.5, 0.95


@dataclass(frozen=True)
class Figures:
    """What some runs came to, with what the rates were computed from. A rate or a mean of nothing is None.

    `mean_steps` is over stopped runs. `failure_rate` is of calls that ran: failed ones over those and the ok ones.
    `finished_rate` is of runs that asked a person at least once: those that were answered in the end over all.
    `cost` None: nobody has said what any of these tokens cost.
    """

    runs: int
    runs_stopped: int
    mean_steps: float | None
    input_tokens: int
    output_tokens: int
    cost: float | None
    calls_ok: int
    calls_failed: int
    failure_rate: float | None
    runs_interrupted: int
    interrupted_finished: int
    finished_rate: float | None
    model_calls: int
    mean_model_ms: float | None


@dataclass(frozen=True)
class DayFigures(Figures):
    """The runs that began on one day, whenever they went on."""

    day: date


@dataclass(frozen=True)
class Times:
    """How long so many model or tool calls took. Of none: None."""

    calls: int = 0
    median_ms: float | None = None
    p95_ms: float | None = None


@dataclass(frozen=True)
class ToolFigures:
    """One tool. `failure_rate` as in `Figures`; `times` are of calls that ran to their end, well or not."""

    tool: str
    calls_ok: int
    calls_failed: int
    failure_rate: float | None
    times: Times


@dataclass(frozen=True)
class Numbers(Figures):
    """The figures over all runs that began in a range.

    `tools` and `stop_reasons` come most frequent first, `days` in order, those without runs left out.
    """

    model_time: Times
    tool_time: Times
    tools: tuple[ToolFigures, ...]
    stop_reasons: tuple[tuple[str, int], ...]
    days: tuple[DayFigures, ...]


def numbers(connection: Connection, since: datetime | None, until: datetime | None) -> Numbers:
    """All figures of a range; None leaves it open."""
    sums = _sums_by_day_and_reason(connection, since, until)
    reasons: Counter[str] = Counter()
    for row in sums:
        if row.stop_reason is not None:
            reasons[row.stop_reason] += row.runs
    of_calls = _within(calls.c.run_started_at, since, until)
    of_spending = _within(spending.c.run_started_at, since, until)
    return Numbers(
        **_figures(sums),
        model_time=_times(connection, spending.c.latency_ms, of_spending),
        tool_time=_times(connection, calls.c.took_ms, of_calls),
        tools=_tools(connection, of_calls),
        stop_reasons=tuple(reasons.most_common()),
        days=tuple(DayFigures(**_figures(list(rows)), day=day) for day, rows in groupby(sums, lambda row: row.day)),
    )


def _sums_by_day_and_reason(
    connection: Connection, since: datetime | None, until: datetime | None
) -> Sequence[Row[tuple[Json, ...]]]:
    # By day first and in the order of the index, so that it is read once, in a row, and only as far as is needed.
    query = (
        select(
            runs.c.day,
            runs.c.stop_reason,
            func.count().label("runs"),
            func.sum(runs.c.steps).label("steps"),
            func.sum(runs.c.input_tokens).label("input_tokens"),
            func.sum(runs.c.output_tokens).label("output_tokens"),
            func.sum(runs.c.cost).label("cost"),
            func.sum(runs.c.calls_ok).label("calls_ok"),
            func.sum(runs.c.calls_failed).label("calls_failed"),
            func.count().filter(runs.c.interrupts > 0).label("interrupted"),
            func.sum(runs.c.model_calls).label("model_calls"),
            func.sum(runs.c.model_ms).label("model_ms"),
        )
        .where(*_within(runs.c.started_at, since, until))
        .group_by(runs.c.day, runs.c.stop_reason)
        .order_by(runs.c.day, runs.c.stop_reason)
    )
    if since is not None:
        query = query.where(runs.c.day >= since.astimezone(UTC).date())
    if until is not None:
        query = query.where(runs.c.day <= until.astimezone(UTC).date())
    return connection.execute(query).all()


def _figures(sums: Sequence[Row[tuple[Json, ...]]]) -> dict[str, Json]:
    def total(name: str, rows: Iterable[Row[tuple[Json, ...]]] = sums) -> int:
        return sum(int(getattr(row, name)) for row in rows)

    stopped = [row for row in sums if row.stop_reason is not None]
    answered = [row for row in stopped if row.stop_reason == StopReason.ANSWERED]
    costs = [float(row.cost) for row in sums if row.cost is not None]
    return {
        "runs": total("runs"),
        "runs_stopped": total("runs", stopped),
        "mean_steps": _share(total("steps", stopped), total("runs", stopped)),
        "input_tokens": total("input_tokens"),
        "output_tokens": total("output_tokens"),
        "cost": round(fsum(costs), DIGITS) if costs else None,
        "calls_ok": total("calls_ok"),
        "calls_failed": total("calls_failed"),
        "failure_rate": _share(total("calls_failed"), total("calls_ok") + total("calls_failed")),
        "runs_interrupted": total("interrupted"),
        "interrupted_finished": total("interrupted", answered),
        "finished_rate": _share(total("interrupted", answered), total("interrupted")),
        "model_calls": total("model_calls"),
        "mean_model_ms": _share(total("model_ms"), total("model_calls")),
    }


def _tools(connection: Connection, within: list[ColumnElement[bool]]) -> tuple[ToolFigures, ...]:
    rows = connection.execute(
        select(
            calls.c.tool,
            func.count().filter(calls.c.ok.is_(True)).label("ok"),
            func.count().filter(calls.c.failed.is_(True)).label("failed"),
            func.count(calls.c.took_ms).label("timed"),
        )
        .where(*within)
        .group_by(calls.c.tool)
        .order_by(calls.c.tool)
    ).all()
    figures = [
        ToolFigures(
            tool=row.tool,
            calls_ok=row.ok,
            calls_failed=row.failed,
            failure_rate=_share(row.failed, row.ok + row.failed),
            times=_at_ranks(connection, calls.c.took_ms, [calls.c.tool == row.tool, *within], row.timed),
        )
        for row in rows
        if row.ok or row.failed
    ]
    return tuple(sorted(figures, key=lambda one: -one.calls_ok - one.calls_failed))


def _times(connection: Connection, column: Column[Json], within: list[ColumnElement[bool]]) -> Times:
    count = connection.execute(select(func.count(column)).where(column.is_not(None), *within)).scalar_one()
    return _at_ranks(connection, column, within, count)


def _at_ranks(connection: Connection, column: Column[Json], where: list[ColumnElement[bool]], count: int) -> Times:
    if not count:
        return Times()

    def at(share: float) -> float:
        query = select(column).where(column.is_not(None), *where).order_by(column)
        return float(connection.execute(query.offset(ceil(share * count) - 1).limit(1)).scalar_one())

    return Times(count, at(MEDIAN), at(P95))


def _within(column: Column[Json], since: datetime | None, until: datetime | None) -> list[ColumnElement[bool]]:
    bounds = [] if since is None else [column >= since]
    return bounds if until is None else [*bounds, column < until]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
