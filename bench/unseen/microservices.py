"""A web shop's service catalogue, its incidents, the on-call plan and the runbooks."""

import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_SERVICES: list[dict[str, Any]] = [
    {"name": name, "team": team, "tier": tier, "language": language, "replicas": replicas, "depends_on": needs.split()}
    for name, team, tier, language, replicas, needs in (
        ("auth-service", "identity", 1, "Go", 8, "user-profile"),
        ("user-profile", "identity", 2, "Java", 6, ""),
        ("checkout-api", "orders", 1, "Kotlin", 12, "auth-service payments-api cart-service inventory-service"),
        ("cart-service", "orders", 2, "Kotlin", 9, "auth-service inventory-service"),
        ("order-history", "orders", 3, "Python", 3, "auth-service"),
        ("payments-api", "payments", 1, "Java", 10, "auth-service fraud-scoring"),
        ("fraud-scoring", "payments", 2, "Python", 5, ""),
        ("invoice-worker", "payments", 3, "Python", 2, "payments-api email-sender"),
        ("search-api", "discovery", 2, "Go", 14, "catalog-api"),
        ("catalog-api", "discovery", 1, "Go", 11, ""),
        ("recommendations", "discovery", 3, "Python", 4, "catalog-api user-profile"),
        ("inventory-service", "logistics", 1, "Java", 7, ""),
        ("shipping-tracker", "logistics", 2, "TypeScript", 4, "inventory-service email-sender"),
        ("email-sender", "platform", 3, "TypeScript", 3, ""),
    )
]
_LIVE = {
    "auth-service": ("5.12.1", "2026-06-24T09:10:00Z", "Mei Tanaka", 61, 0.04),
    "user-profile": ("2.7.0", "2026-05-30T13:45:00Z", "Mei Tanaka", 88, 0.09),
    "checkout-api": ("8.3.4", "2026-06-29T10:22:00Z", "Jonas Falk", 240, 0.31),
    "cart-service": ("4.0.9", "2026-06-18T08:05:00Z", "Jonas Falk", 97, 0.12),
    "order-history": ("1.15.2", "2026-04-21T15:30:00Z", "Ines Prado", 310, 0.22),
    "payments-api": ("6.1.0", "2026-06-26T12:00:00Z", "Samir Haddad", 355, 0.18),
    "fraud-scoring": ("3.9.5", "2026-06-11T16:40:00Z", "Lucy Osei", 520, 0.05),
    "invoice-worker": ("0.21.3", "2026-03-17T11:11:00Z", "Samir Haddad", 1480, 0.4),
    "search-api": ("9.0.2", "2026-06-28T07:50:00Z", "Anton Weiss", 412, 0.27),
    "catalog-api": ("7.4.6", "2026-06-15T14:25:00Z", "Chen Yu", 186, 0.07),
    "recommendations": ("2.2.8", "2026-06-02T09:35:00Z", "Chen Yu", 690, 0.61),
    "inventory-service": ("5.5.5", "2026-06-22T10:15:00Z", "Olga Brandt", 133, 0.1),
    "shipping-tracker": ("1.8.1", "2026-05-19T12:55:00Z", "Olga Brandt", 204, 0.15),
    "email-sender": ("3.3.0", "2026-04-08T08:20:00Z", "Pavel Novak", 830, 0.33),
}
_ON_CALL: list[dict[str, Any]] = [
    {"team": "identity", "primary": "Mei Tanaka", "secondary": "Tom Ekberg", "phone": "+44 20 5550 1101"},
    {"team": "orders", "primary": "Ines Prado", "secondary": "Jonas Falk", "phone": "+44 20 5550 1102"},
    {"team": "payments", "primary": "Lucy Osei", "secondary": "Samir Haddad", "phone": "+44 20 5550 1103"},
    {"team": "discovery", "primary": "Anton Weiss", "secondary": "Chen Yu", "phone": "+44 20 5550 1104"},
    {"team": "logistics", "primary": "Grace Mwangi", "secondary": "Olga Brandt", "phone": "+44 20 5550 1105"},
    {"team": "platform", "primary": "Pavel Novak", "secondary": "Rita Gomes", "phone": "+44 20 5550 1106"},
]
_RUNBOOKS: list[dict[str, Any]] = [
    {
        "id": "RB-01",
        "title": "Consumer lag on Kafka topics",
        "alert": "KafkaConsumerLagHigh",
        "content": "1. Run kafka-consumer-groups --describe and note the partition with the largest lag.\n"
        "2. Scale the consumer to twice its replicas.\n"
        "3. If the lag still grows after 15 minutes, page the platform team.",
    },
    {
        "id": "RB-02",
        "title": "Database connections exhausted",
        "alert": "DbPoolExhausted",
        "content": "1. Look for long transactions in pg_stat_activity and terminate those older than 10 minutes.\n"
        "2. Restart one replica at a time; never all at once.\n"
        "3. Raise pool_size only with the approval of the database owner.",
    },
    {
        "id": "RB-03",
        "title": "Certificate about to expire",
        "alert": "TlsCertExpiringSoon",
        "content": "1. Renew the certificate with certbot renew --cert-name <host>.\n"
        "2. Reload the ingress and check the new end date in the browser.",
    },
    {
        "id": "RB-04",
        "title": "Error rate of the checkout too high",
        "alert": "CheckoutErrorRateHigh",
        "content": "1. Compare the start of the errors with the latest deployment.\n"
        "2. If they coincide, roll back with shopctl rollback checkout-api.\n"
        "3. Otherwise check payments-api and inventory-service, and tell #inc-checkout.",
    },
    {
        "id": "RB-05",
        "title": "Search index stale",
        "alert": "SearchIndexStale",
        "content": "1. Check whether the nightly job reindex-catalog has finished.\n"
        "2. Start it by hand with shopctl job run reindex-catalog; it takes about 40 minutes.",
    },
    {
        "id": "RB-06",
        "title": "Pods killed for memory",
        "alert": "PodOOMKilled",
        "content": "1. Save the heap dump from /var/dumps before the pod is gone.\n"
        "2. Raise the memory limit by 25 percent and open a ticket for the owners.",
    },
]
_CAUSES = {
    "deploy": ("A bad release of {s}", "The release of {s} lacked a database migration; rolled back."),
    "capacity": ("{s} overloaded", "Traffic rose above what the autoscaler of {s} was allowed to add."),
    "config": ("Wrong setting in {s}", "A timeout of {s} had been set in seconds instead of milliseconds."),
    "dependency": ("{s} waiting for an upstream", "A third party answered slowly and {s} had no circuit breaker."),
    "certificate": ("TLS errors in {s}", "The client certificate of {s} had expired unnoticed."),
}
_COMMANDERS = ("Ines Prado", "Tom Ekberg", "Samir Haddad", "Rita Gomes", "Anton Weiss")
_OPEN = ("INC-2051", "INC-2054", "INC-2056")


def _incidents() -> list[dict[str, Any]]:
    dice = random.Random(8)
    names = [row["name"] for row in _SERVICES]
    weights = [3, 2, 8, 4, 1, 6, 2, 2, 5, 3, 2, 4, 2, 2]
    moment = datetime(2026, 4, 2, 6, 0)  # noqa: DTZ001
    rows = []
    for number in range(2001, 2057):
        moment += timedelta(minutes=dice.randint(600, 4000))
        key, service = f"INC-{number}", dice.choices(names, weights)[0]
        kind, minutes = dice.choice(list(_CAUSES)), dice.randint(12, 290)
        done = None if key in _OPEN else moment + timedelta(minutes=minutes)
        rows.append(
            {
                "id": key,
                "title": _CAUSES[kind][0].format(s=service),
                "service": service,
                "severity": dice.choices(("SEV1", "SEV2", "SEV3"), (3, 4, 5))[0],
                "status": "resolved" if done else "open",
                "opened_at": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "resolved_at": done.strftime("%Y-%m-%dT%H:%M:%SZ") if done else None,
                "duration_minutes": minutes if done else None,
                "commander": dice.choice(_COMMANDERS),
                "category": kind,
            }
        )
    return rows


_INCIDENTS = _incidents()
_INCIDENTS[22] |= {"title": "Orders rejected in checkout-api", "service": "checkout-api", "category": "config"}
_SPECIAL = {
    "INC-2023": "The feature flag new_tax_engine was switched on for all regions at once and every request failed "
    "validation.",
}


def _cause(row: dict[str, Any]) -> str | None:
    if row["status"] == "open":
        return None
    return _SPECIAL.get(row["id"]) or _CAUSES[row["category"]][1].format(s=row["service"])


@tool(effect="read")
def list_services(
    team: Annotated[str | None, Field(description="Only services owned by this team, e.g. payments.")] = None,
    tier: Annotated[int | None, Field(ge=1, le=3, description="1 is business critical, 3 is best effort.")] = None,
) -> Json:
    """List the services in the catalogue with owning team, tier, language, replicas and dependencies."""
    rows = [row for row in _SERVICES if team in (None, row["team"]) and tier in (None, row["tier"])]
    return {"services": rows, "total": len(rows)}


@tool(effect="read")
def get_service(name: Annotated[str, Field(description="Name of the service, e.g. checkout-api.")]) -> Json:
    """Get one service: owner, live version, last deployment, p95 latency and error rate."""
    row = next((row for row in _SERVICES if row["name"] == name), None)
    if row is None:
        raise ToolError(f"Service {name!r} not found.")
    version, deployed, by, latency, errors = _LIVE[name]
    return {
        **row,
        "version": version,
        "last_deployed_at": deployed,
        "last_deployed_by": by,
        "p95_latency_ms": latency,
        "error_rate_percent": errors,
    }


@tool(effect="read")
def list_incidents(
    service: Annotated[str | None, Field(description="Name of the affected service.")] = None,
    severity: Literal["SEV1", "SEV2", "SEV3"] | None = None,
    status: Literal["open", "resolved"] | None = None,
    opened_from: Annotated[str | None, Field(description="First day, YYYY-MM-DD.")] = None,
    opened_to: Annotated[str | None, Field(description="Last day, inclusive, YYYY-MM-DD.")] = None,
    page: Annotated[int, Field(ge=1)] = 1,
    page_size: Annotated[int, Field(ge=1, le=100)] = 30,
) -> Json:
    """Search incidents by service, severity, status and date; newest first."""
    rows = [
        row
        for row in reversed(_INCIDENTS)
        if service in (None, row["service"])
        and severity in (None, row["severity"])
        and status in (None, row["status"])
        and (opened_from is None or row["opened_at"][:10] >= opened_from)
        and (opened_to is None or row["opened_at"][:10] <= opened_to)
    ]
    start = (page - 1) * page_size
    return {"incidents": rows[start : start + page_size], "page": page, "page_size": page_size, "total": len(rows)}


@tool(effect="read")
def get_incident(incident_id: Annotated[str, Field(description="Incident number, e.g. INC-2001.")]) -> Json:
    """Get the details of an incident, including its root cause once it has been resolved."""
    row = next((row for row in _INCIDENTS if row["id"] == incident_id), None)
    if row is None:
        raise ToolError(f"Incident {incident_id} not found.")
    return {**row, "root_cause": _cause(row)}


@tool(effect="read")
def get_oncall(team: Annotated[str | None, Field(description="Team name; all teams if left out.")] = None) -> Json:
    """Who is on call this week: primary, secondary and the phone number of each team."""
    rows = [row for row in _ON_CALL if team in (None, row["team"])]
    if not rows:
        raise ToolError(f"There is no team {team!r}.")
    return {"on_call": rows}


@tool(effect="read")
def search_runbooks(query: Annotated[str, Field(description="Alert name or keywords.")]) -> Json:
    """Search the runbooks, which say step by step what to do about an alert."""
    words = [word.lower() for word in query.split() if len(word) > 2]
    texts = [(row, f"{row['id']} {row['title']} {row['alert']} {row['content']}".lower()) for row in _RUNBOOKS]
    hits = [(sum(word in text for word in words), row) for row, text in texts]
    return {"results": [row for score, row in sorted(hits, key=lambda hit: -hit[0]) if score][:3]}


_ABSENT = (
    "not found",
    "no service",
    "no such",
    "there is no",
    "there's no",
    "does not exist",
    "doesn't exist",
    "no record",
    "no entry",
    "couldn't find",
    "could not find",
    "cannot find",
    "can't find",
    "not in",
    "not listed",
    "isn't",
    "is not",
    "unknown",
    "没有",
    "不存在",
    "找不到",
    "未找到",
    "没找到",
    "查不到",
    "未查到",
    "没查到",
    "查无",
    "不在",
    "并无",
    "无此",
    "无相关",
    "未查询到",
    "未收录",
    "nothing",
    "no match",
    "no results",
    "not exist",
    "not registered",
)


def toolset() -> Toolset:
    """Six tools, ten questions."""
    by_id = {row["id"]: row for row in _INCIDENTS}
    owner = {row["name"]: row["team"] for row in _SERVICES}
    june = [row for row in _INCIDENTS if row["severity"] == "SEV1" and row["opened_at"].startswith("2026-06")]
    worst, times = Counter(row["service"] for row in _INCIDENTS).most_common(1)[0]
    still_open = [row["id"] for row in _INCIDENTS if row["status"] == "open"]
    need_auth = [row["name"] for row in _SERVICES if "auth-service" in row["depends_on"]]
    paged = by_id["INC-2047"]
    team = owner[paged["service"]]
    primary = next(row["primary"] for row in _ON_CALL if row["team"] == team)
    slower = max(("search-api", "catalog-api"), key=lambda name: _LIVE[name][3])
    places = {row["name"]: str({**row, "live": _LIVE[row["name"]]}) for row in _SERVICES}
    places |= {row["id"]: str({**row, "root_cause": _cause(row)}) for row in _INCIDENTS}
    places |= {row["team"]: str(row) for row in _ON_CALL}
    places |= {row["id"]: f"{row['title']} {row['alert']} {row['content']}" for row in _RUNBOOKS}
    # a runbook may as well be cited by its alert
    places |= {row["alert"]: f"{row['title']} {row['alert']} {row['content']}" for row in _RUNBOOKS}
    return Toolset(
        "microservices",
        (list_services, get_service, list_incidents, get_incident, get_oncall, search_runbooks),
        (
            Asked(
                "Which version of checkout-api is live, and who deployed it?",
                "checkout-api 线上跑的是哪个版本，谁发布的？",
                (_LIVE["checkout-api"][0], _LIVE["checkout-api"][2]),
                evidence=(frozenset({"checkout-api"}),),
            ),
            Asked(
                "How many SEV1 incidents did we have in June 2026?",
                "2026 年 6 月一共出了多少起 SEV1 故障？",
                (str(len(june)),),
                evidence=(frozenset(row["id"] for row in june),),
            ),
            Asked(
                "Preparing the quarterly review: which service caused us the most incidents?",
                "在准备季度复盘，想知道哪个服务的故障次数最多？",
                (worst,),
                told=(str(times),),
                evidence=(frozenset(row["id"] for row in _INCIDENTS if row["service"] == worst) | {worst},),
            ),
            Asked(
                "What incidents are still open right now?",
                "现在还有哪些故障没关闭？",
                tuple(still_open),
                evidence=(frozenset(still_open),),
            ),
            Asked(
                "We want to take auth-service down for maintenance tonight. Which services depend on it?",
                "今晚想停 auth-service 做维护，有哪些服务依赖它？",
                tuple(need_auth),
                evidence=(frozenset({*need_auth, "auth-service"}),),
            ),
            Asked(
                "Who is on call for the service affected by INC-2047?",
                "INC-2047 影响的那个服务，现在是谁在值班？",
                (primary,),
                evidence=(frozenset({"INC-2047", paged["service"], team}),),
            ),
            Asked(
                "KafkaConsumerLagHigh just went off. What does the runbook say I should do?",
                "刚收到 KafkaConsumerLagHigh 告警，runbook 里说该怎么处理？",
                told=("kafka-consumer-groups --describe",),
                evidence=(frozenset({"RB-01", "KafkaConsumerLagHigh"}),),
            ),
            Asked(
                "Which one has the higher p95 latency, search-api or catalog-api?",
                "search-api 和 catalog-api 哪个 p95 延迟更高？",
                (slower, str(_LIVE[slower][3])),
                evidence=(frozenset({slower}),),
            ),
            Asked(
                "Why did INC-2023 happen?",
                "INC-2023 是什么原因导致的？",
                ("new_tax_engine",),
                evidence=(frozenset({"INC-2023"}),),
            ),
            Asked(
                "Who owns the coupon-service?",
                "coupon-service 是哪个团队负责的？",
                (_ABSENT,),
            ),
        ),
        places,
    )
