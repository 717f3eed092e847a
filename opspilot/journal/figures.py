"""The page of figures: what the runs that began in a range of time came to.

Of whole days sums are kept, and of all times that calls ever took; everything else is counted, from indexes alone.
A range is `since <= start of the run < until`. Days are those of UTC. Times have three digits; percentiles are
by nearest rank, the smallest time that this share of all doesn't exceed.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import accumulate, chain, groupby
from math import ceil, fsum
from typing import Any, TypeAlias

from sqlalchemy import Column, ColumnElement, Connection, Row, Select, case, func, select

from opspilot.core.limits import StopReason
from opspilot.core.messages import Json
from opspilot.journal import totals
from opspilot.journal.schema import calls, days, runs, spending, times
from opspilot.journal.spending import DIGITS

MEDIAN, P95 = 0.5, 0.95

COUNTED = (
    "runs", "input_tokens", "output_tokens", "calls_ok", "calls_failed", "interrupted", "model_calls", "model_ms",
)  # fmt: skip
"""What is added up over all runs, whether they have stopped or not."""


_Timed: TypeAlias = tuple[int, int]
"""Milliseconds, and how often something took so long."""
_Ended: TypeAlias = tuple[str, str, int | None, int]
"""A tool, how its calls ended, how many milliseconds they took if that is known, and how many they are."""
_Sums: TypeAlias = Row[Any]
"""What the runs of a day that stopped for one reason came to, or those that haven't stopped."""


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
    median_ms: int | None = None
    p95_ms: int | None = None


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
    by_days = _is_midnight(since) and _is_midnight(until)
    sums = (_sums_of_days if by_days else _sums_of_runs)(connection, since, until)
    reasons: Counter[str] = Counter()
    for row in sums:
        if row.stop_reason is not None:
            reasons[row.stop_reason] += row.runs
    of_models, of_tools = _ever(connection) if since is until is None else _within_range(connection, since, until)
    tools, tool_times = _tools(of_tools)
    return Numbers(
        **_figures(sums),
        model_time=_times(of_models),
        tool_time=_times(tool_times),
        tools=tools,
        stop_reasons=tuple(reasons.most_common()),
        days=tuple(DayFigures(**_figures(list(rows)), day=day) for day, rows in groupby(sums, lambda row: row.day)),
    )


def _is_midnight(moment: datetime | None) -> bool:
    return moment is None or moment.astimezone(UTC).time() == time.min


def _sums_of_days(connection: Connection, since: datetime | None, until: datetime | None) -> Sequence[_Sums]:
    there = days.c
    kept = [there[name] for name in (*COUNTED, "steps")]
    cost = case((there.priced > 0, there.millionths / float(totals.MILLION)))
    reason = func.nullif(there.stop_reason, "").label("stop_reason")
    query: Select[Any] = select(there.day, reason, *kept, cost.label("cost"))
    bounds = _within(there.day, since and since.astimezone(UTC).date(), until and until.astimezone(UTC).date())
    return connection.execute(query.where(there.runs > 0, *bounds).order_by(there.day, there.stop_reason)).all()


def _sums_of_runs(connection: Connection, since: datetime | None, until: datetime | None) -> Sequence[_Sums]:
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


def _figures(sums: Sequence[_Sums]) -> dict[str, Json]:
    every = _columns(sums)
    stopped = _columns([row for row in sums if row.stop_reason is not None])
    answered = _columns([row for row in sums if row.stop_reason == StopReason.ANSWERED])
    total = {name: int(sum(every[name])) for name in COUNTED}
    costs = [float(cost) for cost in every["cost"] if cost is not None]
    return {
        "runs": total["runs"],
        "runs_stopped": sum(stopped["runs"]),
        "mean_steps": _share(sum(stopped["steps"]), sum(stopped["runs"])),
        "input_tokens": total["input_tokens"],
        "output_tokens": total["output_tokens"],
        "cost": round(fsum(costs), DIGITS) if costs else None,
        "calls_ok": total["calls_ok"],
        "calls_failed": total["calls_failed"],
        "failure_rate": _share(total["calls_failed"], total["calls_ok"] + total["calls_failed"]),
        "runs_interrupted": total["interrupted"],
        "interrupted_finished": sum(answered["interrupted"]),
        "finished_rate": _share(sum(answered["interrupted"]), total["interrupted"]),
        "model_calls": total["model_calls"],
        "mean_model_ms": _share(total["model_ms"], total["model_calls"]),
    }


def _columns(rows: Sequence[_Sums]) -> Mapping[str, Sequence[Json]]:
    """The rows turned on their side, which adds them up much faster than row by row."""
    if not rows:
        return defaultdict(tuple)
    return dict(zip(rows[0]._fields, zip(*rows, strict=True), strict=True))


def _ever(connection: Connection) -> tuple[list[_Timed], list[_Ended]]:
    query = select(times.c.kind, times.c.tool, times.c.outcome, times.c.took_ms, times.c.count)
    of_models: list[_Timed] = []
    of_tools: list[_Ended] = []
    for kind, tool, outcome, took_ms, count in connection.execute(query).all():
        if kind == totals.MODEL:
            of_models.append((took_ms, count))
        else:
            of_tools.append((tool, outcome, None if took_ms == totals.UNTIMED else took_ms, count))
    return of_models, of_tools


def _within_range(
    connection: Connection, since: datetime | None, until: datetime | None
) -> tuple[list[_Timed], list[_Ended]]:
    columns = (calls.c.tool, calls.c.went_well, calls.c.took_ms)
    of_calls = select(*columns, func.count()).where(*_within(calls.c.run_started_at, since, until)).group_by(*columns)
    of_replies = (
        select(spending.c.took_ms, func.count())
        .where(spending.c.took_ms.is_not(None), *_within(spending.c.run_started_at, since, until))
        .group_by(spending.c.took_ms)
    )
    return (
        [(took_ms, count) for took_ms, count in connection.execute(of_replies)],
        [
            (tool, totals.outcome_of(went_well), took_ms, count)
            for tool, went_well, took_ms, count in connection.execute(of_calls)
        ],
    )


def _tools(ended: Sequence[_Ended]) -> tuple[tuple[ToolFigures, ...], list[_Timed]]:
    """Each tool that ran or failed, and how often any call took so long."""
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    timed: dict[str, list[_Timed]] = defaultdict(list)
    for tool, outcome, took_ms, count in ended:
        outcomes[tool][outcome] += count
        if took_ms is not None:
            timed[tool].append((took_ms, count))
    figures = [
        ToolFigures(
            tool=tool,
            calls_ok=counts[totals.WELL],
            calls_failed=counts[totals.FAILED],
            failure_rate=_share(counts[totals.FAILED], counts[totals.WELL] + counts[totals.FAILED]),
            times=_times(timed[tool]),
        )
        for tool, counts in sorted(outcomes.items())
        if counts[totals.WELL] or counts[totals.FAILED]
    ]
    figures.sort(key=lambda one: -one.calls_ok - one.calls_failed)
    return tuple(figures), list(chain.from_iterable(timed.values()))


def _times(timed: Iterable[_Timed]) -> Times:
    in_order = sorted(timed)
    reached = list(accumulate(count for _, count in in_order))
    if not reached:
        return Times()
    median_ms, p95_ms = (in_order[bisect_left(reached, ceil(share * reached[-1]))][0] for share in (MEDIAN, P95))
    return Times(reached[-1], median_ms, p95_ms)


def _within(column: Column[Json], since: date | None, until: date | None) -> list[ColumnElement[bool]]:
    bounds = [] if since is None else [column >= since]
    return bounds if until is None else [*bounds, column < until]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
