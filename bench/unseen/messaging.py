"""An internal platform: topics by name, consumer groups, certificates, tickets by page token, backups as a table."""

import random
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 4, 1, tzinfo=UTC)
_TOPICS = {
    "orders.created": {"partitions": 12, "retention": "72h", "rate_per_minute": 812.4},
    "orders.cancelled": {"partitions": 3, "retention": "168h", "rate_per_minute": 9.1},
    "invoices.issued": {"partitions": 6, "retention": "720h", "rate_per_minute": 140.0},
    "audit.trail": {"partitions": 24, "retention": "8760h", "rate_per_minute": 2210.7},
}
_LAG = {
    "orders.created": [("fulfilment", 12, 4), ("invoicing", 48_211, 2), ("analytics", 903, 6)],
    "invoices.issued": [("ledger-writer", 0, 3), ("mailer", 17, 1)],
}
_CERTIFICATES = [
    {"host": "shop.example.org", "issuer": "R11", "not_after": "2026-05-30T10:00:00Z", "days_left": 51},
    {"host": "api.example.org", "issuer": "R10", "not_after": "2026-04-17T08:30:00Z", "days_left": 8},
    {"host": "mail.example.org", "issuer": "Internal CA 2", "not_after": "2027-01-02T00:00:00Z", "days_left": 268},
    {"host": "git.example.org", "issuer": "R11", "not_after": "2026-06-21T12:00:00Z", "days_left": 73},
]
_CATALOG: dict[str, dict[str, Any]] = {
    "invoicing": {"zh": "开票服务", "owner": "Team Pelican", "depends_on": ["ledger", "template-engine"]},
    "ledger": {"zh": "账本服务", "owner": "Team Bison", "depends_on": []},
    "template-engine": {"zh": "模板引擎", "owner": "Team Otter", "depends_on": []},
    "fulfilment": {"zh": "履约服务", "owner": "Team Stork", "depends_on": ["ledger"]},
}
_RUNBOOKS = [
    ("rb/broker-lag.md", 3, "Consumer lag", "If a consumer group lags, add members up to the number of partitions."),
    ("rb/rendering.md", 5, "PDF rendering fails", "When PDF rendering times out, restart the headless browser pool."),
    ("rb/backups.md", 2, "Backup fails", "A failed backup is retried by hand with the flag --resume."),
]
_PEOPLE = ("hana", "ivo", "lucia", "omar")


def _tickets() -> list[dict[str, Any]]:
    dice, found, at = random.Random(31), [], _START
    for number in range(300, 371):
        at += timedelta(hours=dice.randint(1, 20))
        found.append(
            {
                "key": f"OPS-{number}",
                "fields": {
                    "summary": dice.choice(("VPN drops", "Disk is filling up", "Cannot log in", "Slow report")),
                    "priority": {"name": dice.choices(("P1", "P2", "P3"), (1, 3, 5))[0]},
                    "state": dice.choices(("open", "waiting", "closed"), (2, 1, 6))[0],
                    "assignee": dice.choice(_PEOPLE),
                    "created": at.strftime("%Y-%m-%dT%H:%M:%S+0000"),
                },
            }
        )
    return found


_TICKETS = _tickets()


def _backups() -> list[tuple[str, str, str, int, float, str]]:
    dice, found = random.Random(8), []
    for day in range(1, 10):
        for job in ("ledger-db", "git-repos", "mail-spool"):
            bad = (job, day) == ("git-repos", 7)
            begun = f"2026-04-{day:02}T0{dice.randint(1, 3)}:{dice.randint(10, 59)}:00Z"
            result = "FAILED" if bad else "OK"
            found.append(
                (f"bk-{day:02}-{job}", job, begun, dice.randint(300, 5000), dice.randint(10, 900) / 10, result)
            )
    return found


_BACKUPS = _backups()
_LOG = [
    (at, level, text)
    for minute in range(40)
    for at in [(_START + timedelta(minutes=3 * minute)).strftime("%Y-%m-%dT%H:%M:%SZ")]
    for level, text in [
        ("ERROR", "PDF rendering timed out after 30 s")
        if minute % 4 == 1
        else ("INFO", f"invoice {9000 + minute} issued")
    ]
]


@tool(effect="read")
def topics() -> Json:
    """All topics of the broker with partitions, retention and messages per minute."""
    return {"topics": {name: {**row} for name, row in _TOPICS.items()}}


@tool(effect="read")
def consumer_lag(topic: Annotated[str, Field(description="Name of a topic, see topics.")]) -> Json:
    """How many messages each consumer group of a topic is behind, and its number of members."""
    if topic not in _TOPICS:
        raise ToolError(f"Topic '{topic}' does not exist. Existing: {', '.join(_TOPICS)}")
    rows = [{"group": group, "lag": lag, "members": members} for group, lag, members in _LAG.get(topic, [])]
    return {"topic": topic, "groups": rows}


@tool(effect="read")
def certificates(expiring_within_days: Annotated[int, Field(ge=1, le=1000)] = 1000) -> Json:
    """TLS certificates by host, with issuer and expiry."""
    return [{**row} for row in _CERTIFICATES if int(str(row["days_left"])) <= expiring_within_days]


@tool(effect="read")
def tickets(
    state: Literal["open", "waiting", "closed"] | None = None,
    priority: Literal["P1", "P2", "P3"] | None = None,
    assignee: Annotated[str, Field(description="Login.")] = "",
    page_token: str = "",
) -> Json:
    """Tickets of the help desk, 20 a page."""
    rows = [
        row
        for row in _TICKETS
        if state in (None, row["fields"]["state"])
        and priority in (None, row["fields"]["priority"]["name"])
        and assignee in ("", row["fields"]["assignee"])
    ]
    begin = int(page_token or 0)
    following = str(begin + 20) if begin + 20 < len(rows) else ""
    return {"issues": rows[begin : begin + 20], "next_page_token": following}


@tool(effect="read")
def backup_runs(job: str = "", result: Literal["OK", "FAILED"] | None = None) -> Json:
    """Backup runs: when each began, how many seconds it took, how many gigabytes it wrote."""
    rows = [list(row) for row in _BACKUPS if job in ("", row[1]) and result in (None, row[5])]
    return {"columns": ["run", "job", "begun", "took_s", "written_gb", "result"], "rows": rows}


@tool(effect="read")
def service_catalog(name: Annotated[str, Field(description="Service, English or Chinese.")]) -> Json:
    """Catalogue of services: owner and dependencies."""
    for known, row in _CATALOG.items():
        if known in name.lower() or name.lower() in known or row["zh"] in name:
            return {"service": known, **row}
    raise ToolError(f"No such service: {name}. Services: {', '.join(_CATALOG)}")


@tool(effect="read")
def runbook_search(query: Annotated[str, Field(description="Words.")]) -> Json:
    """Search the runbooks of the platform team for what to do."""
    words = {word[:6] for word in query.lower().split() if len(word) > 2}
    scored = [(sum(w in f"{row[2]} {row[3]}".lower() for w in words), row) for row in _RUNBOOKS]
    hits = [{"file": f, "line": n, "heading": h, "text": t} for score, (f, n, h, t) in sorted(scored)[::-1] if score]
    return {"hits": hits}


@tool(effect="read")
def app_logs(
    service: Annotated[str, Field(description="Name of the service.")],
    level: Literal["INFO", "ERROR"] | None = None,
    contains: str = "",
) -> Json:
    """Recent log lines of a service."""
    if service != "invoicing":
        return {"matched": 0, "lines": []}
    rows = [(n, row) for n, row in enumerate(_LOG, 1) if level in (None, row[1]) and contains.lower() in row[2].lower()]
    lines = [{"file": "invoicing.log", "line": n, "ts": at, "level": lv, "msg": text} for n, (at, lv, text) in rows]
    return {"matched": len(rows), "lines": lines[-15:]}


def toolset() -> Toolset:
    """Eight tools, ten questions. Facts are counted here from the rows themselves."""
    urgent = [t for t in _TICKETS if (t["fields"]["priority"]["name"], t["fields"]["state"]) == ("P1", "open")]
    asked = _TICKETS[11]
    last = max((row for row in _BACKUPS if row[1] == "ledger-db"), key=lambda row: row[2])
    failed = next(row for row in _BACKUPS if row[5] == "FAILED")
    errors = frozenset(f"invoicing.log:{n}" for n, row in enumerate(_LOG, 1) if row[1] == "ERROR")
    places = {name: str(row) for rows in (_TOPICS, _CATALOG) for name, row in rows.items()}
    places |= {group: str(row) for rows in _LAG.values() for row in rows for group in [row[0]] if group not in places}
    places |= {str(row["host"]): str(row) for row in _CERTIFICATES} | {t["key"]: str(t) for t in _TICKETS}
    places |= {row[0]: str(row) for row in _BACKUPS} | {f"{row[0]}:{row[1]}": row[3] for row in _RUNBOOKS}
    places |= {f"invoicing.log:{n}": " ".join(row) for n, row in enumerate(_LOG, 1)}
    return Toolset(
        "message platform",
        (topics, consumer_lag, certificates, tickets, backup_runs, service_catalog, runbook_search, app_logs),
        (
            Asked(
                "Which topic has the most partitions?",
                "哪个 topic 的分区最多？",
                ("audit.trail", "24"),
                evidence=(frozenset({"audit.trail"}),),
            ),
            Asked(
                "Which consumer group of orders.created is furthest behind?",
                "orders.created 的哪个消费组落后最多？",
                ("invoicing", "48211"),
                evidence=(frozenset({"invoicing"}),),
            ),
            Asked(
                "When does the certificate of git.example.org expire?",
                "git.example.org 的证书什么时候过期？",
                ("2026-06-21T12:00:00Z",),
                evidence=(frozenset({"git.example.org"}),),
            ),
            Asked(
                "Which certificate expires first?",
                "最早过期的证书是哪个？",
                ("api.example.org", "2026-04-17T08:30:00Z"),
                evidence=(frozenset({"api.example.org"}),),
            ),
            Asked(
                "How many P1 tickets are open?",
                "还有多少个 P1 工单没关闭，处于 open 状态？",
                (str(len(urgent)),),
                evidence=(frozenset(t["key"] for t in urgent),),
            ),
            Asked(
                f"Who is {asked['key']} assigned to?",
                f"{asked['key']} 分配给了谁？",
                (asked["fields"]["assignee"],),
                evidence=(frozenset({asked["key"]}),),
            ),
            Asked(
                "How long did the latest backup of ledger-db take?",
                "ledger-db 最近一次备份用了多长时间？",
                (str(last[3]),),
                evidence=(frozenset({last[0]}),),
            ),
            Asked(
                "Which backup failed, and when did it begin?",
                "哪次备份失败了，什么时候开始的？",
                ("git-repos", failed[2]),
                evidence=(frozenset({failed[0]}),),
            ),
            Asked(
                "Who owns what invoicing depends on?",
                "开票服务依赖的服务分别由谁负责？",
                ("Team Bison", "Team Otter"),
                evidence=(frozenset({"ledger"}), frozenset({"template-engine"})),
            ),
            Asked(
                "Look at the recent errors of invoicing and compare them with the runbooks",
                "看一下 invoicing 最近的报错，并对照手册里的处理建议",
                told=("PDF rendering timed out", "restart the headless browser pool"),
                evidence=(errors, frozenset({"rb/rendering.md:5"})),
            ),
        ),
        places,
    )
