"""Builds and deployments of a software house: lists without totals, ids that lead from one tool to the next."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 6, 8, 6, 0, tzinfo=UTC)
_PROJECTS = ("storefront", "pricing", "mobile-app", "warehouse-sync")
_STAGES = (("compile", "build"), ("unit-tests", "test"), ("integration", "test"), ("package", "publish"))
_FAULTS = {
    "compile": "error: cannot find symbol CurrencyCode in Money.java",
    "unit-tests": "AssertionError: expected 3 retries but got 4",
    "integration": "ERROR: service postgres did not become healthy within 60 seconds",
    "package": "denied: quota of the artifact store is exhausted",
}


def _pipelines() -> list[dict[str, Any]]:
    dice, found, at = random.Random(5), [], _START
    for number in range(7301, 7364):
        at += timedelta(minutes=dice.randint(3, 90))
        status = dice.choices(("success", "failed", "canceled"), (7, 3, 1))[0]
        found.append(
            {
                "id": number,
                "project": dice.choices(_PROJECTS, (4, 3, 2, 2))[0],
                "ref": dice.choices(("main", f"feature/{number}"), (3, 2))[0],
                "status": status,
                "duration": dice.randint(61, 1999),
                "started_at": at.strftime("%Y-%m-%d %H:%M:%S"),
                "user": {"username": dice.choice(("lena", "oskar", "mei", "raj"))},
                "web_url": f"https://ci.example.org/p/{number}",
            }
        )
    return found


def _jobs(pipeline: dict[str, Any]) -> list[dict[str, Any]]:
    dice, broken = random.Random(pipeline["id"]), pipeline["status"] == "failed"
    bad = dice.randrange(len(_STAGES)) if broken else len(_STAGES)
    return [
        {
            "id": pipeline["id"] * 10 + number,
            "name": name,
            "stage": stage,
            "status": "success" if number < bad else "failed" if number == bad else "skipped",
            "duration_s": dice.randint(5, 500),
            "runner": {"description": f"runner-{dice.randint(1, 4)}"},
        }
        for number, (name, stage) in enumerate(_STAGES)
    ]


_PIPELINES = _pipelines()
_BROKEN = next(row for row in _PIPELINES if row["status"] == "failed")
_BAD_JOB = next(job for job in _jobs(_BROKEN) if job["status"] == "failed")
_DEPLOYMENTS = [
    ("dep-201", "storefront", "production", "v41.2", "2026-06-08T09:10:00Z", "oskar"),
    ("dep-202", "pricing", "production", "v12.0", "2026-06-08T10:00:00Z", "mei"),
    ("dep-203", "storefront", "staging", "v41.3-rc1", "2026-06-08T15:30:00Z", "lena"),
    ("dep-204", "storefront", "production", "v41.3", "2026-06-09T08:05:00Z", "lena"),
    ("dep-205", "mobile-app", "staging", "v7.7", "2026-06-09T11:45:00Z", "raj"),
]
_FLAKY = [
    ("CheckoutTest.retriesPayment", "storefront", 17, 240),
    ("PriceFeedTest.reconnects", "pricing", 9, 31),
    ("SyncTest.resumesAfterCrash", "warehouse-sync", 21, 400),
]
_RUNNERS = [
    ("runner-1", "online", 3, "linux"),
    ("runner-2", "offline", 0, "linux"),
    ("runner-3", "online", 1, "macos"),
    ("runner-4", "online", 2, "linux"),
]


@tool(effect="read")
def list_pipelines(
    project: Annotated[str, Field(description="Name of the project.")] = "",
    ref: Annotated[str, Field(description="Branch or tag.")] = "",
    status: Literal["success", "failed", "running", "canceled"] | None = None,
    page: Annotated[int, Field(ge=1, description="Page number, from 1.")] = 1,
    per_page: Annotated[int, Field(ge=1, le=30)] = 30,
) -> Json:
    """Pipelines of all projects, the newest first: status, duration in seconds, branch, who started it."""
    rows = [
        row
        for row in _PIPELINES[::-1]
        if project in ("", row["project"]) and ref in ("", row["ref"]) and status in (None, row["status"])
    ]
    begin = (page - 1) * per_page
    return {
        "pipelines": rows[begin : begin + per_page],
        "next_page": page + 1 if begin + per_page < len(rows) else None,
    }


@tool(effect="read")
def list_jobs(pipeline_id: Annotated[int, Field(description="Numeric id of the pipeline.")]) -> Json:
    """The jobs of one pipeline with stage, status, duration and runner."""
    pipeline = next((row for row in _PIPELINES if row["id"] == pipeline_id), None)
    if pipeline is None:
        raise ToolError(f"404 pipeline {pipeline_id} not found")
    return list(_jobs(pipeline))


@tool(effect="read")
def get_job_log(job_id: Annotated[int, Field(description="Numeric id of the job.")]) -> Json:
    """The trace that a job printed. Only the end of a long one."""
    job = next((job for row in _PIPELINES for job in _jobs(row) if job["id"] == job_id), None)
    if job is None:
        raise ToolError(f"404 job {job_id} not found")
    lines = ["$ make ci", f"running {job['name']} ..."]
    lines.append(_FAULTS[job["name"]] if job["status"] == "failed" else "ok")
    return {"job_id": job_id, "trace": lines, "truncated": True, "note": "the first 1200 lines are left out"}


@tool(effect="read")
def list_deployments(
    environment: Annotated[str, Field(description="production or staging.")] = "",
    project: str = "",
) -> Json:
    """What was deployed where, when and by whom, oldest first."""
    names = ("id", "project", "environment", "version", "deployed_at", "deployed_by")
    rows = [dict(zip(names, row, strict=True)) for row in _DEPLOYMENTS]
    return [row for row in rows if environment in ("", row["environment"]) and project in ("", row["project"])]


@tool(effect="read")
def flaky_tests(project: str = "") -> Json:
    """Tests that fail now and then, with how often they failed in how many runs."""
    return {
        "tests": [
            {"test": name, "project": of, "failures": failures, "runs": runs}
            for name, of, failures, runs in _FLAKY
            if project in ("", of)
        ]
    }


@tool(effect="read")
def list_runners() -> Json:
    """Build machines: whether each is online, how many jobs it runs at the moment, its operating system."""
    names = ("name", "status", "running_jobs", "os")
    return {"runners": [dict(zip(names, row, strict=True)) for row in _RUNNERS]}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    longest = max(_PIPELINES, key=lambda row: row["duration"])
    failed = [row for row in _PIPELINES if row["status"] == "failed"]
    on_main = [row for row in failed if row["ref"] == "main"]
    worst = Counter(row["project"] for row in failed).most_common(1)[0]
    asked = _PIPELINES[20]
    places = {str(row["id"]): str(row) for row in _PIPELINES}
    places |= {str(job["id"]): str(job) for row in _PIPELINES for job in _jobs(row)}
    places |= {str(row[0]): str(row) for row in (*_DEPLOYMENTS, *_FLAKY, *_RUNNERS)}
    return Toolset(
        "build and delivery",
        (list_pipelines, list_jobs, get_job_log, list_deployments, flaky_tests, list_runners),
        (
            Asked(
                "Which version of storefront is in production now?",
                "storefront 在 production 上现在是哪个版本？",
                ("v41.3",),
                evidence=(frozenset({"dep-204"}),),
            ),
            Asked(
                "Which pipeline ran the longest?",
                "运行时间最长的是哪条流水线？",
                (str(longest["id"]), str(longest["duration"])),
                evidence=(frozenset({str(longest["id"])}),),
            ),
            Asked(
                "How many pipelines failed on main?",
                "main 分支上失败的流水线有多少条？",
                (str(len(on_main)),),
                evidence=(frozenset(str(row["id"]) for row in on_main),),
            ),
            Asked(
                f"Why did job {_BAD_JOB['id']} fail?",
                f"作业 {_BAD_JOB['id']} 为什么失败？",
                (_FAULTS[_BAD_JOB["name"]],),
                evidence=(frozenset({str(_BAD_JOB["id"])}),),
            ),
            Asked(
                f"Which job of pipeline {_BROKEN['id']} failed?",
                f"流水线 {_BROKEN['id']} 里失败的是哪个作业？",
                (_BAD_JOB["name"],),
                evidence=(frozenset({str(_BAD_JOB["id"])}),),
            ),
            Asked(
                f"Who started pipeline {asked['id']}?",
                f"流水线 {asked['id']} 是谁启动的？",
                (asked["user"]["username"],),
                evidence=(frozenset({str(asked["id"])}),),
            ),
            Asked(
                "Which test has failed most often?",
                "失败次数最多的是哪个测试？",
                ("SyncTest.resumesAfterCrash", "21"),
                evidence=(frozenset({"SyncTest.resumesAfterCrash"}),),
            ),
            Asked(
                "Which runner is offline?",
                "哪台 runner 离线了？",
                ("runner-2",),
                evidence=(frozenset({"runner-2"}),),
            ),
            Asked(
                "What was deployed to staging last, and by whom?",
                "最近一次部署到 staging 的是什么，谁部署的？",
                ("mobile-app", "raj"),
                evidence=(frozenset({"dep-205"}),),
            ),
            Asked(
                "Which project has the most failed pipelines?",
                "哪个项目失败的流水线最多？",
                (worst[0], str(worst[1])),
                evidence=(frozenset(str(row["id"]) for row in failed if row["project"] == worst[0]),),
            ),
        ),
        places,
    )
