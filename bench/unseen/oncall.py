"""A pager and its schedules: incidents in numbered pages with references inside, one incident's timeline, rotations."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 3, 1, tzinfo=UTC)
_SERVICES = {
    "SV01": ("billing-api", "Money", "#money-ops", "2"),
    "SV02": ("search-frontend", "Discovery", "#discovery", "3"),
    "SV03": ("mail-relay", "Messaging", "#messaging-oncall", "3"),
    "SV04": ("login-gateway", "Identity", "#identity-fires", "1"),
}
_PEOPLE = ("Priya Nair", "Tomasz Lis", "Ada Okafor", "Jun Mori")
_TITLES = (
    "Latency above objective",
    "Error budget burning fast",
    "Queue is not drained",
    "Certificate about to expire",
    "Disk almost full",
)
_SCHEDULES = {
    "databases": ("Jun Mori", "Ada Okafor"),
    "network": ("Tomasz Lis", "Priya Nair"),
    "identity": ("Ada Okafor", "Jun Mori"),
}
_POSTMORTEMS = [
    {
        "id": "PM-3",
        "title": "Logins failed for an hour",
        "incident": "IN-1017",
        "published": "2026-03-12",
        "lesson": "Never rotate the signing key and deploy the gateway on the same day.",
    },
    {
        "id": "PM-4",
        "title": "Mail was delayed",
        "incident": "IN-1025",
        "published": "2026-03-20",
        "lesson": "The relay needs a second queue for bulk mail, so that receipts are not stuck behind it.",
    },
]


def _incidents() -> list[dict[str, Any]]:
    dice, found, at = random.Random(914), [], _START
    for number in range(1001, 1048):
        at += timedelta(minutes=dice.randint(60, 1300))
        status = dice.choices(("resolved", "acknowledged", "triggered"), (12, 1, 1))[0]
        service = dice.choices(list(_SERVICES), (5, 3, 2, 2))[0]
        took = dice.randint(4, 600)
        found.append(
            {
                "id": f"IN-{number}",
                "title": dice.choice(_TITLES),
                "status": status,
                "urgency": dice.choices(("low", "high"), (3, 2))[0],
                "service": {"id": service, "summary": _SERVICES[service][0]},
                "assignee": {"name": dice.choice(_PEOPLE)},
                "created_at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "resolved_at": (at + timedelta(minutes=took)).strftime("%Y-%m-%dT%H:%M:%SZ")
                if status == "resolved"
                else None,
                "minutes_to_resolve": took if status == "resolved" else None,
            }
        )
    return found


_INCIDENTS = _incidents()
_CAUSES = {
    "IN-1017": "An expired signing key was still cached by the gateway.",
    "IN-1025": "A bulk mailing filled the only queue.",
}


@tool(effect="read")
def search_incidents(
    query: Annotated[str, Field(description="Words of the title.")] = "",
    status: Literal["triggered", "acknowledged", "resolved"] | None = None,
    urgency: Literal["high", "low"] | None = None,
    service_id: Annotated[str, Field(description="Id of the service, see get_service.")] = "",
    since: Annotated[str, Field(description="ISO 8601, created at or after.")] = "",
    until: Annotated[str, Field(description="ISO 8601, created at or before.")] = "",
    page: Annotated[int, Field(ge=1)] = 1,
    per_page: Annotated[int, Field(ge=1, le=25)] = 10,
) -> Json:
    """Search incidents, the newest first. Returns one page; `more` tells whether another follows."""
    if service_id and service_id not in _SERVICES:
        raise ToolError(f"Unknown service id '{service_id}'. Use get_service to find the id of a service by its name.")
    rows = [
        row
        for row in _INCIDENTS[::-1]
        if query.lower() in row["title"].lower()
        and status in (None, row["status"])
        and urgency in (None, row["urgency"])
        and service_id in ("", row["service"]["id"])
        and (not since or row["created_at"] >= since)
        and (not until or row["created_at"] <= until)
    ]
    end = page * per_page
    return {"incidents": rows[end - per_page : end], "page": page, "more": end < len(rows)}


@tool(effect="read")
def get_incident(incident_id: Annotated[str, Field(pattern=r"^IN-\d+$", description="Such as IN-1001.")]) -> Json:
    """One incident in full: timeline, who acknowledged it, root cause if known."""
    row = next((row for row in _INCIDENTS if row["id"] == incident_id), None)
    if row is None:
        raise ToolError(f"There is no incident {incident_id}.")
    who = _PEOPLE[int(incident_id[-1]) % 4]
    return {
        "incident": {
            **row,
            "root_cause": _CAUSES.get(incident_id),
            "timeline": [
                {"at": row["created_at"], "entry": "triggered by monitoring", "by": "monitoring"},
                {"at": row["created_at"], "entry": "acknowledged", "by": who},
            ],
            "acknowledged_by": who,
        }
    }


@tool(effect="read")
def get_service(name: Annotated[str, Field(description="Name of the service, or part of it.")]) -> Json:
    """Look up a service: id, owning team, chat channel, tier."""
    rows = [
        {"id": ident, "name": called, "team": team, "slack_channel": channel, "tier": tier}
        for ident, (called, team, channel, tier) in _SERVICES.items()
        if name.lower() in called
    ]
    if not rows:
        names = ", ".join(entry[0] for entry in _SERVICES.values())
        raise ToolError(f"No service matches '{name}'. Known services: {names}.")
    return {"services": rows}


@tool(effect="read")
def who_is_on_call(
    schedule: Annotated[str, Field(description="Name of the rotation.")],
) -> Json:
    """Who is on call now for a rotation, until when, and who comes next."""
    if schedule not in _SCHEDULES:
        raise ToolError(f"No rotation '{schedule}'. Rotations: {', '.join(_SCHEDULES)}.")
    now, then = _SCHEDULES[schedule]
    return {
        "schedule": schedule,
        "on_call": {"name": now, "until": "2026-04-06T08:00:00Z"},
        "next": {"name": then, "until": "2026-04-13T08:00:00Z"},
    }


@tool(effect="read")
def search_postmortems(text: Annotated[str, Field(description="Words to look for.")]) -> Json:
    """Published postmortems: what was learned from past incidents."""
    words = {word[:5] for word in text.lower().split() if len(word) > 3}
    hits = [row for row in _POSTMORTEMS if any(word in f"{row['title']} {row['lesson']}".lower() for word in words)]
    return [{**row} for row in hits]


def toolset() -> Toolset:
    """Five tools, ten questions. Facts are counted here from the rows themselves."""
    done = [row for row in _INCIDENTS if row["minutes_to_resolve"]]
    longest = max(done, key=lambda row: row["minutes_to_resolve"])
    unresolved = [row for row in _INCIDENTS if row["status"] == "triggered"]
    high = [row for row in _INCIDENTS if row["urgency"] == "high"]
    worst = Counter(row["service"]["summary"] for row in _INCIDENTS).most_common(1)[0]
    search = [row for row in _INCIDENTS if row["service"]["id"] == "SV02"][-1]
    priya = [row for row in _INCIDENTS if row["assignee"]["name"] == "Priya Nair"]
    places = {row["id"]: str(row) for row in (*_INCIDENTS, *_POSTMORTEMS)}
    places |= {ident: str(entry) for ident, entry in _SERVICES.items()}
    places |= {entry[0]: str(entry) for entry in _SERVICES.values()} | {n: str(e) for n, e in _SCHEDULES.items()}
    return Toolset(
        "pager",
        (search_incidents, get_incident, get_service, who_is_on_call, search_postmortems),
        (
            Asked(
                "Which incident took the longest to resolve?",
                "哪个事件的解决时间最长？",
                (longest["id"], str(longest["minutes_to_resolve"])),
                evidence=(frozenset({longest["id"]}),),
            ),
            Asked(
                "How many incidents are still triggered?",
                "现在还有多少个 triggered 状态的事件？",
                (str(len(unresolved)),),
                evidence=(frozenset(row["id"] for row in unresolved),),
            ),
            Asked(
                "How many high urgency incidents have there been?",
                "高紧急度的事件一共有多少个？",
                (str(len(high)),),
                evidence=(frozenset(row["id"] for row in high),),
            ),
            Asked(
                "Who is on call for the databases right now?",
                "databases 现在是谁值班？",
                ("Jun Mori",),
                evidence=(frozenset({"databases"}),),
            ),
            Asked(
                "Who acknowledged IN-1023?",
                "IN-1023 是谁确认的？",
                (_PEOPLE[3],),
                evidence=(frozenset({"IN-1023"}),),
            ),
            Asked(
                "What was the root cause of IN-1017?",
                "IN-1017 的根本原因是什么？",
                ("An expired signing key was still cached by the gateway",),
                evidence=(frozenset({"IN-1017"}),),
            ),
            Asked(
                "Which service had the most incidents?",
                "哪个服务的事件最多？",
                (worst[0], str(worst[1])),
                evidence=(frozenset(row["id"] for row in _INCIDENTS if row["service"]["summary"] == worst[0]),),
            ),
            Asked(
                "When was the latest incident of search-frontend created?",
                "search-frontend 最近一次事件是什么时候创建的？",
                (search["created_at"],),
                evidence=(frozenset({search["id"]}),),
            ),
            Asked(
                "What is the Slack channel of mail-relay?",
                "mail-relay 的 Slack 频道是什么？",
                ("#messaging-oncall",),
                evidence=(frozenset({"SV03", "mail-relay"}),),
            ),
            Asked(
                "How many incidents are assigned to Priya Nair?",
                "分配给 Priya Nair 的事件有几个？",
                (str(len(priya)),),
                evidence=(frozenset(row["id"] for row in priya),),
            ),
        ),
        places,
    )
