"""Monitoring: alerts with labels, objectives of services, a metric as samples, silences, who owns what, runbooks."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
_SERVICES = {
    "quote-engine": ("Team Amber", "tier-1", ["rates-db", "session-cache"]),
    "session-cache": ("Team Cobalt", "tier-1", []),
    "rates-db": ("Team Cobalt", "tier-0", []),
    "claims-portal": ("Team Ochre", "tier-2", ["quote-engine"]),
}
_KINDS = ("HighErrorRate", "SlowResponses", "DiskFillingUp", "PodFlapping")


def _alerts() -> list[dict[str, Any]]:
    dice, found = random.Random(88), []
    for number in range(1, 61):
        firing = dice.random() < 0.4
        begun = _START + timedelta(minutes=11 * number)
        labels = {
            "alertname": dice.choice(_KINDS),
            "service": dice.choices(list(_SERVICES), (5, 2, 1, 3))[0],
            "severity": dice.choices(("page", "ticket"), (1, 2))[0],
        }
        found.append(
            {
                "fingerprint": f"{dice.randrange(16**6):06x}",
                "labels": labels,
                "state": "firing" if firing else "resolved",
                "startsAt": begun.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "value": round(dice.uniform(1, 99), 1),
            }
        )
    return found


_ALERTS = _alerts()
_OBJECTIVES = [
    {"service": "quote-engine", "objective": "99.9%", "achieved": "99.71%", "budget_left": "-190%", "met": False},
    {"service": "session-cache", "objective": "99.95%", "achieved": "99.97%", "budget_left": "40%", "met": True},
    {"service": "claims-portal", "objective": "99.5%", "achieved": "99.83%", "budget_left": "66%", "met": True},
]
_SILENCES = [
    {"id": "sil-3", "matcher": "service=rates-db", "created_by": "ingrid", "ends_at": "2026-11-03T18:00:00Z"},
    {"id": "sil-5", "matcher": "alertname=PodFlapping", "created_by": "yusuf", "ends_at": "2026-11-09T06:00:00Z"},
]
_RUNBOOKS = {
    "HighErrorRate": "Roll back the newest deployment first, then look at the dependencies.",
    "SlowResponses": "Check the cache hit ratio; below 0.8 add a replica.",
    "DiskFillingUp": "Delete rotated logs older than a week, then grow the volume.",
    "PodFlapping": "Raise the memory limit by a quarter.",
}


def _samples(service: str, metric: str) -> list[list[Any]]:
    dice = random.Random(service + metric)
    at = int(_START.timestamp())
    return [[at + 60 * minute, str(round(dice.uniform(0, 500), 1))] for minute in range(30)]


@tool(effect="read")
def get_alerts(
    state: Literal["firing", "resolved"] | None = None,
    service: Annotated[str, Field(description="Exact name of the service.")] = "",
    severity: Literal["page", "ticket"] | None = None,
) -> Json:
    """Alerts of the monitoring, oldest first."""
    rows = [
        row
        for row in _ALERTS
        if state in (None, row["state"])
        and service in ("", row["labels"]["service"])
        and severity in (None, row["labels"]["severity"])
    ]
    return {"status": "success", "data": {"alerts": rows}}


@tool(effect="read")
def slo_report() -> Json:
    """Service level objectives of the last 30 days: target, what was achieved, how much error budget is left."""
    return [{**row} for row in _OBJECTIVES]


@tool(effect="read")
def query_range(
    metric: Annotated[Literal["requests_per_second", "latency_ms", "cpu_cores"], Field(description="Name.")],
    service: Annotated[str, Field(description="Name of the service.")],
) -> Json:
    """The last half hour of a metric of one service, a sample a minute."""
    if service not in _SERVICES:
        raise ToolError(f"no series for service {service!r}; services: {', '.join(_SERVICES)}")
    series = {"metric": {"__name__": metric, "service": service}, "values": _samples(service, metric)}
    return {"status": "success", "data": {"resultType": "matrix", "result": [series]}}


@tool(effect="read")
def list_silences() -> Json:
    """Silences that keep alerts quiet: what they match, who made them, when they end."""
    return {"silences": [{**row} for row in _SILENCES]}


@tool(effect="read")
def service_info(service: Annotated[str, Field(description="Name of the service.")]) -> Json:
    """Owner team, tier and dependencies of a service."""
    if service not in _SERVICES:
        raise ToolError(f"unknown service '{service}', known are: {', '.join(_SERVICES)}")
    team, tier, needs = _SERVICES[service]
    return {"service": service, "team": team, "tier": tier, "dependencies": needs}


@tool(effect="read")
def alert_runbook(alertname: Annotated[str, Field(description="Name of the alert.")]) -> Json:
    """What to do when an alert fires."""
    if alertname not in _RUNBOOKS:
        raise ToolError(f"no runbook for {alertname}; there are runbooks for {', '.join(_RUNBOOKS)}")
    return {"alertname": alertname, "steps": _RUNBOOKS[alertname]}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    firing = [row for row in _ALERTS if row["state"] == "firing"]
    noisy = Counter(row["labels"]["service"] for row in firing).most_common(1)[0]
    newest = max(firing, key=lambda row: row["startsAt"])
    pages = [row for row in firing if row["labels"]["severity"] == "page"]
    top = max(_samples("claims-portal", "latency_ms"), key=lambda pair: float(pair[1]))
    places = {row["fingerprint"]: str(row) for row in _ALERTS} | {name: str(row) for name, row in _SERVICES.items()}
    places |= {str(row["id"]): str(row) for row in _SILENCES} | {str(top[0]): str(top)} | dict(_RUNBOOKS)
    return Toolset(
        "monitoring",
        (get_alerts, slo_report, query_range, list_silences, service_info, alert_runbook),
        (
            Asked(
                "How many alerts are firing?",
                "现在有多少条告警正在触发？",
                (str(len(firing)),),
                evidence=(frozenset(row["fingerprint"] for row in firing),),
            ),
            Asked(
                "Which service has the most firing alerts?",
                "哪个服务 firing 的告警最多？",
                (noisy[0], str(noisy[1])),
                evidence=(frozenset(r["fingerprint"] for r in firing if r["labels"]["service"] == noisy[0]),),
            ),
            Asked(
                "When did the latest firing alert start?",
                "最新的一条 firing 告警是什么时候开始的？",
                (newest["startsAt"],),
                evidence=(frozenset({newest["fingerprint"]}),),
            ),
            Asked(
                "How many firing alerts have the severity page?",
                "firing 的告警里 severity 为 page 的有几条？",
                (str(len(pages)),),
                evidence=(frozenset(row["fingerprint"] for row in pages),),
            ),
            Asked(
                "Which service does not meet its objective?",
                "哪个服务没有达到目标？",
                ("quote-engine",),
                evidence=(frozenset({"quote-engine"}),),
            ),
            Asked(
                "How much error budget does claims-portal have left?",
                "claims-portal 的错误预算还剩多少？",
                ("66%",),
                evidence=(frozenset({"claims-portal"}),),
            ),
            Asked(
                "What was the highest latency of claims-portal?",
                "claims-portal 的延迟最高是多少？",
                (str(top[1]),),
                evidence=(frozenset({str(top[0]), "claims-portal"}),),
            ),
            Asked(
                "Who created the silence that ends last?",
                "最晚结束的静默是谁创建的？",
                ("yusuf",),
                evidence=(frozenset({"sil-5"}),),
            ),
            Asked(
                "Which team owns session-cache?",
                "session-cache 归哪个团队负责？",
                ("Team Cobalt",),
                evidence=(frozenset({"session-cache"}),),
            ),
            Asked(
                "What should I do when DiskFillingUp fires?",
                "DiskFillingUp 触发时该怎么处理？",
                told=("Delete rotated logs older than a week",),
                evidence=(frozenset({"DiskFillingUp"}),),
            ),
        ),
        places,
    )
