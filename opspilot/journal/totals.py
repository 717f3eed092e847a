"""Sums that are kept while entries are written, so that a page over years reads some thousand rows and not millions.

`days` has what the runs that began on a day came to, by why they stopped; `times` how often calls, and replies of a
model, took so long, ever. Both follow from the other tables, from which `compute` makes them anew. Each append changes
its rows last and in order, so that no two of them wait for each other.
"""

from collections.abc import Collection, Mapping
from datetime import date
from typing import Final

from sqlalchemy import (
    BigInteger,
    Connection,
    RowMapping,
    Table,
    Update,
    and_,
    bindparam,
    case,
    cast,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)

from opspilot.core.entries import Kind
from opspilot.core.messages import Json
from opspilot.journal.schema import calls, days, runs, spending, times

MODEL, TOOL = "model", "tool"
WELL, FAILED, STOPPED = "well", "failed", "stopped"
"""How a call ended; `STOPPED`: by a person or a rule. A model's reply ends well."""
UNTIMED: Final = -1

MILLION: Final = 1_000_000
"""Costs are added up as whole millionths, to which they are rounded where they are made: such sums are exact."""

_SUMMED: Final = (
    "steps", "input_tokens", "output_tokens", "calls_ok", "calls_failed", "model_calls", "model_ms",
)  # fmt: skip
"""Columns of `runs` that `days` has the sums of."""


CHANGING: Final = frozenset(
    {Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE, Kind.TOOL_RESULT, Kind.INTERRUPT_OPENED, Kind.RUN_STOPPED}
)
"""Entries of other kinds change nothing of what is summed up by days."""


def of_runs(connection: Connection, session: str, names: Collection[str]) -> dict[tuple[date, str], dict[str, int]]:
    """What these runs come to now, by their row of `days`."""
    sums: dict[tuple[date, str], dict[str, int]] = {}
    for run in sorted(names):
        row = connection.execute(_RUN, {"session": session, "run": run}).mappings().first()
        if row is None:
            continue
        added = sums.setdefault((row["day"], row["stop_reason"] or ""), {})
        for name, value in _of_run(row).items():
            added[name] = added.get(name, 0) + value
    return sums


def change(
    connection: Connection,
    before: Mapping[tuple[date, str], Mapping[str, int]],
    after: Mapping[tuple[date, str], Mapping[str, int]],
) -> None:
    """Bring `days` up to date with what some runs came to before and after a write."""
    for day, stop_reason in sorted({*before, *after}):
        old, new = before.get((day, stop_reason), {}), after.get((day, stop_reason), {})
        more = {name: new.get(name, 0) - old.get(name, 0) for name in {**old, **new}}
        if any(more.values()):
            _add(connection, days, _ADD_TO_DAY, {"day": day, "stop_reason": stop_reason}, more)


def took(connection: Connection, kind: str, tool: str, outcome: str, took_ms: int | None) -> None:
    """Count one call more; `took_ms` None: nobody took its time."""
    key = {"kind": kind, "tool": tool, "outcome": outcome, "took_ms": UNTIMED if took_ms is None else took_ms}
    _add(connection, times, _ADD_TO_TIMES, key, {"count": 1})


def outcome_of(went_well: bool | None) -> str:
    """As `calls.went_well` says it."""
    return STOPPED if went_well is None else WELL if went_well else FAILED


def compute(connection: Connection) -> None:
    """Both tables anew, from all that there is; takes some seconds for each million of calls."""
    connection.execute(delete(days))
    connection.execute(delete(times))
    stop_reason, millionths = func.coalesce(runs.c.stop_reason, ""), cast(func.round(runs.c.cost * MILLION), BigInteger)
    sums = [func.sum(runs.c[name]) for name in _SUMMED]
    counts = [func.count(), func.count().filter(runs.c.interrupts > 0), func.count(runs.c.cost)]
    by_day = select(runs.c.day, stop_reason, *sums, *counts, func.coalesce(func.sum(millionths), 0))
    names = ["day", "stop_reason", *_SUMMED, "runs", "interrupted", "priced", "millionths"]
    connection.execute(insert(days).from_select(names, by_day.group_by(runs.c.day, stop_reason)))
    outcome = case((calls.c.went_well, WELL), (calls.c.went_well.is_(None), STOPPED), else_=FAILED)
    took_ms = func.coalesce(calls.c.took_ms, UNTIMED)
    names = ["kind", "tool", "outcome", "took_ms", "count"]
    of_tools = (
        select(literal(TOOL), calls.c.tool, outcome, took_ms, func.count())
        .where(calls.c.state == "done")
        .group_by(calls.c.tool, outcome, took_ms)
    )
    connection.execute(insert(times).from_select(names, of_tools))
    of_models = (
        select(literal(MODEL), literal(""), literal(WELL), spending.c.took_ms, func.count())
        .where(spending.c.took_ms.is_not(None))
        .group_by(spending.c.took_ms)
    )
    connection.execute(insert(times).from_select(names, of_models))


def _of_run(row: RowMapping) -> dict[str, int]:
    cost = row["cost"]
    return {
        **{name: row[name] for name in _SUMMED},
        "runs": 1,
        "interrupted": int(row["interrupts"] > 0),
        "priced": int(cost is not None),
        "millionths": round((cost or 0.0) * MILLION),
    }


def _add(
    connection: Connection, table: Table, adding: Update, key: Mapping[str, Json], more: Mapping[str, int]
) -> None:
    given = {f"key_{name}": value for name, value in key.items()} | {
        f"more_{column.name}": more.get(column.name, 0) for column in table.c if not column.primary_key
    }
    if not connection.execute(adding, given).rowcount:
        connection.execute(insert(table), {**key, **more})


def _adding(table: Table) -> Update:
    """Made once: an append does little else than run statements."""
    there = and_(*(column == bindparam(f"key_{column.name}") for column in table.c if column.primary_key))
    sums = {column.name: column + bindparam(f"more_{column.name}") for column in table.c if not column.primary_key}
    return update(table).where(there).values(sums)


_ADD_TO_DAY: Final = _adding(days)
_ADD_TO_TIMES: Final = _adding(times)
_RUN: Final = select(*(runs.c[name] for name in (*_SUMMED, "day", "stop_reason", "cost", "interrupts"))).where(
    runs.c.session_id == bindparam("session"), runs.c.run_id == bindparam("run")
)
