"""Data pipelines: runs of named workflows, tasks of a run with tries, a task's log, schedules, tables and freshness."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 2, 16, 1, 0, tzinfo=UTC)
_FLOWS = {
    "daily_sales": ("0 2 * * *", "ana", False),
    "churn_features": ("30 3 * * *", "viktor", False),
    "invoice_export": ("0 6 * * 1", "ana", True),
    "geo_refresh": ("15 */4 * * *", "joon", False),
}
_TASKS = ("extract", "clean", "join", "load")
_FAULTS = {
    "extract": "ConnectionError: source replied 503 five times",
    "clean": "ValueError: column price holds text in row 88121",
    "join": "MemoryError: killed at 12 GiB",
    "load": "PermissionError: role loader may not write to mart",
}


def _runs() -> list[dict[str, Any]]:
    dice, found, at = random.Random(3141), [], _START
    for number in range(5001, 5075):
        at += timedelta(minutes=dice.randint(15, 200))
        state = dice.choices(("success", "failed", "running"), (10, 3, 1))[0]
        took = dice.randint(40, 7000)
        found.append(
            {
                "run_id": f"run_{number}",
                "flow": dice.choices(list(_FLOWS), (4, 5, 1, 3))[0],
                "state": state,
                "started": at.isoformat().replace("+00:00", "Z"),
                "duration": f"{took}s",
                "trigger": dice.choices(("schedule", "manual"), (6, 1))[0],
            }
        )
    return found


_RUNS = _runs()
_BAD = next(row for row in _RUNS if row["state"] == "failed")


def _tasks(run: dict[str, Any]) -> list[dict[str, Any]]:
    dice = random.Random(run["run_id"])
    bad = dice.randrange(4) if run["state"] == "failed" else 4
    return [
        {
            "task": name,
            "state": "success" if at < bad else "failed" if at == bad else "upstream_failed",
            "tries": 3 if at == bad else 1,
            "rows_written": dice.randint(100, 10**6) if at < bad else 0,
        }
        for at, name in enumerate(_TASKS)
    ]


_TABLES = [
    {
        "table": "mart.sales",
        "rows": 12_400_221,
        "size": "3.1 GB",
        "last_loaded": "2026-02-24T02:41:00Z",
        "owner": "ana",
    },
    {
        "table": "mart.churn",
        "rows": 880_100,
        "size": "740 MB",
        "last_loaded": "2026-02-24T03:55:00Z",
        "owner": "viktor",
    },
    {"table": "mart.geo", "rows": 41_020, "size": "12 MB", "last_loaded": "2026-02-22T20:15:00Z", "owner": "joon"},
]


@tool(effect="read")
def list_runs(
    flow: Annotated[str, Field(description="Name of the workflow.")] = "",
    state: Literal["success", "failed", "running"] | None = None,
    trigger: Literal["schedule", "manual"] | None = None,
    page_number: Annotated[int, Field(ge=1)] = 1,
    page_size: Annotated[int, Field(ge=1, le=40)] = 20,
) -> Json:
    """Runs of the workflows, newest first: state, start, duration, what triggered them."""
    rows = [
        row
        for row in _RUNS[::-1]
        if flow in ("", row["flow"]) and state in (None, row["state"]) and trigger in (None, row["trigger"])
    ]
    begin = (page_number - 1) * page_size
    return {"runs": rows[begin : begin + page_size], "total_entries": len(rows)}


@tool(effect="read")
def run_tasks(run_id: Annotated[str, Field(description="Id of the run, such as run_4711.")]) -> Json:
    """Tasks of one run with their state, number of tries and rows written."""
    row = next((row for row in _RUNS if row["run_id"] == run_id), None)
    if row is None:
        raise ToolError(f"unknown run {run_id}")
    return {"run_id": run_id, "tasks": list(_tasks(row))}


@tool(effect="read")
def task_log(
    run_id: str, task: Annotated[Literal["extract", "clean", "join", "load"], Field(description="Task.")]
) -> Json:
    """Log of one task of a run."""
    row = next((row for row in _RUNS if row["run_id"] == run_id), None)
    if row is None:
        raise ToolError(f"unknown run {run_id}")
    state = next(one["state"] for one in _tasks(row) if one["task"] == task)
    return "\n".join(["INFO starting", "INFO reading input", _FAULTS[task] if state == "failed" else "INFO finished"])


@tool(effect="read")
def list_workflows() -> Json:
    """Workflows with schedule, owner and whether they are paused."""
    return {"workflows": [{"name": n, "schedule": s, "owner": o, "paused": p} for n, (s, o, p) in _FLOWS.items()]}


@tool(effect="read")
def table_freshness() -> Json:
    """Tables of the warehouse: rows, size, when each was loaded last, owner."""
    return [{**row} for row in _TABLES]


def toolset() -> Toolset:
    """Five tools, ten questions. Facts are counted here from the rows themselves."""
    failed = [row for row in _RUNS if row["state"] == "failed"]
    flow = Counter(row["flow"] for row in failed).most_common(1)[0]
    longest = max(_RUNS, key=lambda row: int(row["duration"][:-1]))
    manual = [row for row in _RUNS if row["trigger"] == "manual"]
    bad = next(one["task"] for one in _tasks(_BAD) if one["state"] == "failed")
    newest = next(row for row in _RUNS[::-1] if row["flow"] == "geo_refresh")
    places = {row["run_id"]: str(row) for row in _RUNS} | {name: str(row) for name, row in _FLOWS.items()}
    places |= {str(row["table"]): str(row) for row in _TABLES} | {name: name for name in _TASKS}
    return Toolset(
        "data pipelines",
        (list_runs, run_tasks, task_log, list_workflows, table_freshness),
        (
            Asked(
                "How many runs failed?",
                "失败的运行有多少次？",
                (str(len(failed)),),
                evidence=(frozenset(row["run_id"] for row in failed),),
            ),
            Asked(
                "Which workflow fails most often?",
                "哪个 workflow 失败次数最多？",
                (flow[0], str(flow[1])),
                evidence=(frozenset(row["run_id"] for row in failed if row["flow"] == flow[0]),),
            ),
            Asked(
                "Which run took the longest?",
                "运行时间最长的是哪一次 run？",
                (longest["run_id"], longest["duration"]),
                evidence=(frozenset({longest["run_id"]}),),
            ),
            Asked(
                f"Which task of {_BAD['run_id']} failed?",
                f"{_BAD['run_id']} 里哪个任务失败了？",
                (bad,),
                evidence=(frozenset({bad}),),
            ),
            Asked(
                f"Why did the {bad} task of {_BAD['run_id']} fail?",
                f"{_BAD['run_id']} 的 {bad} 任务为什么失败？",
                (_FAULTS[bad],),
                evidence=(frozenset({_BAD["run_id"], bad}),),
            ),
            Asked(
                "Which workflow is paused?",
                "哪个 workflow 被暂停了？",
                ("invoice_export",),
                evidence=(frozenset({"invoice_export"}),),
            ),
            Asked(
                "Who owns churn_features?",
                "churn_features 的负责人是谁？",
                ("viktor",),
                evidence=(frozenset({"churn_features"}),),
            ),
            Asked(
                "Which table was loaded least recently?",
                "最久没有加载的是哪张表？",
                ("mart.geo", "2026-02-22T20:15:00Z"),
                evidence=(frozenset({"mart.geo"}),),
            ),
            Asked(
                "When did geo_refresh last run?",
                "geo_refresh 最近一次运行是什么时候？",
                (newest["started"],),
                evidence=(frozenset({newest["run_id"]}),),
            ),
            Asked(
                "How many runs were triggered manually?",
                "手动触发的 run 有多少次？",
                (str(len(manual)),),
                evidence=(frozenset(row["run_id"] for row in manual),),
            ),
        ),
        places,
    )
