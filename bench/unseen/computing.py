"""A university's computing centre. Jobs are a table with a header, messages are JSON, people stand in a directory."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 4, 14, 8, 0, tzinfo=UTC)
_SERVICES: dict[str, dict[str, Any]] = {
    "scratch-fs": {
        "called": ["scratch filesystem", "scratch", "临时文件系统"],
        "maintained_by": "Storage Group",
        "relies_on": ["metadata-pair", "ib-fabric"],
    },
    "metadata-pair": {
        "called": ["metadata servers", "元数据服务器"],
        "maintained_by": "Storage Group",
        "relies_on": [],
    },
    "ib-fabric": {"called": ["fabric", "InfiniBand", "高速网络"], "maintained_by": "Network Group", "relies_on": []},
    "licence-hub": {"called": ["licence server", "许可证服务器"], "maintained_by": "Software Desk", "relies_on": []},
}
_MESSAGES = ("EDAC corrected memory error on DIMM {}", "link flap on port {}", "GPU {} fell off the bus")
_ARTICLES = [
    ("KB0041", "Corrected memory errors", "Swap the DIMM that EDAC names once it reports more than ten errors a day."),
    ("KB0042", "Link flaps", "Reseat the cable, then clear the port's counters."),
    ("KB0043", "GPU fell off the bus", "Drain the node and power it off for five minutes."),
    ("KB0044", "Jobs out of memory", "Ask the owner to request more memory per core; do not raise the node's limit."),
]
_QUOTAS = {"hydro": (812, 1000), "optics": (1490, 1500), "genomes": (77, 2000)}


def _jobs() -> list[dict[str, Any]]:
    dice, found, at = random.Random(3), [], _START - timedelta(days=3)
    for number in range(88_001, 88_321):
        at += timedelta(seconds=dice.randint(60, 1500))
        state = dice.choices(("COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY"), (14, 3, 2, 1))[0]
        found.append(
            {
                "jobid": number,
                "account": dice.choices(("ayo", "birgit", "chen", "dario"), (2, 5, 3, 1))[0],
                "partition": dice.choice(("cpu", "gpu", "fat")),
                "state": state,
                "elapsed_s": dice.randint(20, 86_000),
                "max_rss_mb": dice.randint(100, 190_000),
                "submitted": at.strftime("%Y-%m-%dT%H:%M:%S"),
            }
        )
    return found


def _kernel() -> list[dict[str, Any]]:
    dice, at, found = random.Random(14), _START, []
    lines: Counter[str] = Counter()
    for _ in range(420):
        at += timedelta(seconds=dice.randint(5, 90))
        node = dice.choices(("n011", "n017", "n023", "n030"), (1, 5, 2, 3))[0]
        lines[node] += dice.randint(1, 5)
        bad = dice.random() < 0.35
        kind = dice.choices((0, 1, 2), {"n017": (8, 1, 1), "n023": (1, 1, 6)}.get(node, (1, 5, 1)))[0]
        found.append(
            {
                "origin": f"{node}.klog",
                "pos": lines[node],
                "ts": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "node": node,
                "sev": "err" if bad else "info",
                "body": _MESSAGES[kind].format(dice.randint(0, 7)) if bad else "thermal poll ok",
            }
        )
    return found


_JOBS, _KERNEL = _jobs(), _kernel()
_JOB_FIELDS = tuple(_JOBS[0])


@tool(effect="read")
def job_accounting(
    account: Annotated[str, Field(description="Login of the user who submitted the job.")] = "",
    state: Literal["COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY"] | None = None,
    order: Annotated[
        Literal["submitted", "elapsed_s", "max_rss_mb"], Field(description="Descending by this.")
    ] = "submitted",
    rows: Annotated[int, Field(ge=1, le=100)] = 10,
) -> Json:
    """Batch jobs with their user, state, run time in seconds, peak memory in MB; also totals by state and account."""
    chosen = [job for job in _JOBS if account in ("", job["account"]) and state in (None, job["state"])]
    chosen.sort(key=lambda job: job[order], reverse=True)
    return {
        "n_total": len(chosen),
        "by_state": dict(Counter(job["state"] for job in chosen).most_common()),
        "by_account": dict(Counter(job["account"] for job in chosen).most_common()),
        "header": list(_JOB_FIELDS),
        "jobs": [[job[name] for name in _JOB_FIELDS] for job in chosen[:rows]],
    }


@tool(effect="read")
def node_messages(
    node: Annotated[str, Field(description="Node name such as n001.")] = "",
    sev: Annotated[Literal["info", "err"] | None, Field(description="Severity.")] = None,
    grep: Annotated[str, Field(description="Text in the message.")] = "",
    window_start: Annotated[str, Field(description="ISO 8601 start of the window.")] = "",
    window_end: Annotated[str, Field(description="ISO 8601 end of the window.")] = "",
    tally: Annotated[Literal["node", "sev", "body"] | None, Field(description="Tally the messages by this.")] = None,
    oldest_first: bool = False,
    keep: Annotated[int, Field(ge=1, le=40)] = 8,
) -> dict[str, Json]:
    """Kernel messages of the compute nodes."""
    found = [
        m for m in _KERNEL if node in ("", m["node"]) and sev in (None, m["sev"]) and grep.lower() in m["body"].lower()
    ]
    found = [
        m for m in found if (not window_start or m["ts"] >= window_start) and (not window_end or m["ts"] <= window_end)
    ]
    shown = found[:keep] if oldest_first else found[::-1][:keep]
    result: dict[str, Json] = {"matched": len(found), "messages": [{**m} for m in shown]}
    if tally is not None:
        result["tally"] = dict(Counter(m[tally] for m in found).most_common())
    return result


@tool(effect="read")
def who_runs(thing: Annotated[str, Field(description="Service of the centre, as people call it.")]) -> Json:
    """Directory of the centre's services: which group maintains one and what it relies on."""
    for name, entry in _SERVICES.items():
        if any(
            called.lower() in thing.lower() or thing.lower() in called.lower() for called in (name, *entry["called"])
        ):
            return {"entry": {"service": name, **entry}}
    raise ToolError(f"Nothing is known as '{thing}'. Did you mean one of: {', '.join(_SERVICES)}?")


@tool(effect="read")
def kb_search(q: Annotated[str, Field(description="Words.")]) -> Json:
    """Articles of the knowledge base of the operators."""
    words = {word.rstrip("s") for word in q.lower().split() if len(word) > 2}
    scored = [
        (sum(word in f"{title} {text}".lower() for word in words), (ident, title, text))
        for ident, title, text in _ARTICLES
    ]
    scored.sort(key=lambda entry: -entry[0])
    return {
        "results": [
            {"article": ident, "title": title, "snippet": text} for score, (ident, title, text) in scored if score
        ][:3]
    }


@tool(effect="read")
def quota_report(group: Annotated[str, Field(description="Name of the research group.")]) -> Json:
    """Disk quota of a research group: used and limit in GB."""
    if group not in _QUOTAS:
        raise ToolError(f"No group '{group}'; groups: {', '.join(_QUOTAS)}.")
    used, limit = _QUOTAS[group]
    return {"group": group, "used_gb": used, "limit_gb": limit}


def _at(
    *, node: str = "", text: str = "", error: bool = True, since: str = "", until: str = "9"
) -> list[dict[str, Any]]:
    return [
        m
        for m in _KERNEL
        if node in ("", m["node"])
        and text in m["body"]
        and (not error or m["sev"] == "err")
        and since <= m["ts"] <= until
    ]


def _places(messages: list[dict[str, Any]]) -> frozenset[str]:
    return frozenset(f"{m['origin']}:{m['pos']}" for m in messages)


def toolset() -> Toolset:
    """Five tools, ten questions. Facts are counted here from the rows themselves."""
    longest = max(_JOBS, key=lambda job: job["elapsed_s"])
    fattest = sorted(_JOBS, key=lambda job: -job["max_rss_mb"])[:3]
    starved = [job for job in _JOBS if job["state"] == "OUT_OF_MEMORY"]
    failed = Counter(job["account"] for job in _JOBS if job["state"] == "FAILED").most_common(1)[0]
    first = _at(node="n017", text="EDAC")[0]
    noisy = Counter(m["node"] for m in _at()).most_common(1)[0]
    window = ("2026-04-14T10:00:00Z", "2026-04-14T11:00:00Z")
    places = {str(job["jobid"]): str(job) for job in _JOBS} | {
        name: f"{name} {entry}" for name, entry in _SERVICES.items()
    }
    places |= {f"{m['origin']}:{m['pos']}": f"{m['ts']} {m['node']} {m['sev']} {m['body']}" for m in _KERNEL}
    places |= {ident: f"{ident} {title} {text}" for ident, title, text in _ARTICLES}
    places |= {group: f"{group} {used} {limit}" for group, (used, limit) in _QUOTAS.items()}
    return Toolset(
        "computing centre",
        (job_accounting, node_messages, who_runs, kb_search, quota_report),
        (
            Asked(
                "Which job ran the longest?",
                "运行时间最长的是哪个作业？",
                (str(longest["jobid"]), str(longest["elapsed_s"])),
                evidence=(frozenset({str(longest["jobid"])}),),
            ),
            Asked(
                "How many jobs ran out of memory?",
                "有多少作业是 out of memory 的？",
                (str(len(starved)),),
                evidence=(frozenset(str(job["jobid"]) for job in starved),),
            ),
            Asked(
                "Which user has the most failed jobs?",
                "哪个用户失败的作业最多？",
                (failed[0], str(failed[1])),
                evidence=(
                    frozenset(
                        str(job["jobid"]) for job in _JOBS if (job["account"], job["state"]) == (failed[0], "FAILED")
                    ),
                ),
            ),
            Asked(
                "When was the first memory error on n017?",
                "n017 第一次出现 memory error 是什么时候？",
                (first["ts"],),
                evidence=(frozenset({f"{first['origin']}:{first['pos']}"}),),
            ),
            Asked(
                "Which node logs the most errors?",
                "哪个节点的报错最多？",
                (noisy[0], str(noisy[1])),
                evidence=(_places(_at(node=noisy[0])),),
            ),
            Asked(
                "Who maintains what the scratch filesystem relies on?",
                "scratch-fs 依赖的东西由谁维护？",
                ("Storage Group", "Network Group"),
                evidence=(frozenset({"metadata-pair"}), frozenset({"ib-fabric"})),
            ),
            Asked(
                "How full is the disk quota of the hydro group?",
                "hydro 组的磁盘配额用了多少？",
                ("812", "1000"),
                evidence=(frozenset({"hydro"}),),
            ),
            Asked(
                "a GPU fell off the bus, how do we fix that?",
                "GPU fell off the bus 该怎么修？",
                told=("Drain the node and power it off",),
                evidence=(frozenset({"KB0043"}),),
            ),
            Asked(
                "List the three jobs that used the most memory",
                "列出占用内存最多的三个作业",
                tuple(str(job["jobid"]) for job in fattest),
                evidence=tuple(frozenset({str(job["jobid"])}) for job in fattest),
            ),
            Asked(
                f"What went wrong on n017 between {window[0]} and {window[1]}, and what does the knowledge base say?",
                f"n017 在 {window[0]} 和 {window[1]} 之间出了什么错误？知识库有什么建议？",
                told=("EDAC corrected memory error", "Swap the DIMM"),
                evidence=(_places(_at(node="n017", since=window[0], until=window[1])), frozenset({"KB0041"})),
            ),
        ),
        places,
    )
