"""A web shop's operations: deployments, feature toggles, error groups, on-call and the engineering wiki."""

import random
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_OWNERS = {
    "web-frontend": "storefront",
    "checkout-api": "payments",
    "search-service": "discovery",
    "order-worker": "fulfilment",
    "user-profile": "identity",
}
_PEOPLE = ("mkowalski", "tnguyen", "rsantos", "hbecker", "afofana")


def _history() -> list[dict[str, Any]]:
    dice = random.Random(77)
    rows, built = [], dict.fromkeys(_OWNERS, 100)
    moment = datetime(2026, 5, 25, 9, 0)  # noqa: DTZ001
    for number in range(3301, 3381):
        moment += timedelta(minutes=dice.randint(60, 1080))
        service = dice.choices(list(_OWNERS), (6, 4, 4, 2, 2))[0]
        environment = dice.choices(("production", "staging"), (3, 2))[0]
        built[service] += 1
        rows.append(
            {
                "deployId": f"dep-{number}",
                "service": service,
                "environment": environment,
                "version": f"2.{built[service]}.0",
                "outcome": dice.choices(("succeeded", "failed", "rolled_back"), (8, 2, 1))[0],
                "startedAt": moment.isoformat() + "Z",
                "durationSeconds": dice.randint(95, 870),
                "triggeredBy": dice.choice(_PEOPLE),
                "commit": f"{dice.getrandbits(28):07x}",
            }
        )
    return rows


_DEPLOYMENTS = _history()

_TOGGLES: dict[str, dict[str, Any]] = {
    "new-basket": {
        "description": "Redesigned basket page",
        "team": "storefront",
        "enabled": True,
        "rolloutPercent": 35,
        "createdBy": "rsantos",
        "removeBy": "2026-09-30",
    },
    "apple-pay": {
        "description": "Apple Pay as a payment method",
        "team": "payments",
        "enabled": True,
        "rolloutPercent": 100,
        "createdBy": "tnguyen",
        "removeBy": "2026-05-31",
    },
    "split-shipments": {
        "description": "Ship parts of an order separately",
        "team": "fulfilment",
        "enabled": False,
        "rolloutPercent": 0,
        "createdBy": "hbecker",
        "removeBy": "2026-08-15",
    },
    "vector-search": {
        "description": "Semantic ranking of search results",
        "team": "discovery",
        "enabled": True,
        "rolloutPercent": 10,
        "createdBy": "afofana",
        "removeBy": "2026-10-31",
    },
    "passkeys": {
        "description": "Sign in with passkeys",
        "team": "identity",
        "enabled": True,
        "rolloutPercent": 60,
        "createdBy": "mkowalski",
        "removeBy": "2026-12-01",
    },
    "legacy-coupons": {
        "description": "Accept coupons of the old shop",
        "team": "payments",
        "enabled": True,
        "rolloutPercent": 100,
        "createdBy": "tnguyen",
        "removeBy": "2026-03-31",
    },
    "summer-banner": {
        "description": "Banner for the summer sale",
        "team": "storefront",
        "enabled": False,
        "rolloutPercent": 0,
        "createdBy": "rsantos",
        "removeBy": "2026-09-01",
    },
    "guest-checkout": {
        "description": "Order without an account",
        "team": "payments",
        "enabled": False,
        "rolloutPercent": 0,
        "createdBy": "afofana",
        "removeBy": "2026-11-15",
    },
}

_ERRORS: list[dict[str, Any]] = [
    {
        "id": number,
        "title": title,
        "service": service,
        "status": status,
        "events": events,
        "affectedUsers": users,
        "firstSeen": first,
        "lastSeen": last,
        "firstVersion": version,
    }
    for number, title, service, status, events, users, first, last, version in (
        ("ERR-5101", "TypeError: cannot read properties of undefined (reading 'price')", "web-frontend", "unresolved",
         1840, 912, "2026-06-18T08:12:00Z", "2026-07-01T06:55:00Z", "2.109.0"),
        ("ERR-5102", "PaymentGatewayTimeout after 10 s", "checkout-api", "unresolved",
         655, 498, "2026-06-27T17:40:00Z", "2026-07-01T07:02:00Z", "2.111.0"),
        ("ERR-5103", "IndexNotReadyException", "search-service", "resolved",
         2310, 1305, "2026-05-30T10:00:00Z", "2026-06-02T11:30:00Z", "2.101.0"),
        ("ERR-5104", "Duplicate order number", "order-worker", "unresolved",
         37, 35, "2026-06-11T03:21:00Z", "2026-06-30T22:47:00Z", "2.104.0"),
        ("ERR-5105", "InvalidCouponError", "checkout-api", "ignored",
         4120, 2875, "2026-03-02T12:00:00Z", "2026-07-01T07:10:00Z", "2.92.0"),
        ("ERR-5106", "Session token expired during login redirect", "user-profile", "unresolved",
         289, 251, "2026-06-22T14:05:00Z", "2026-06-30T19:33:00Z", "2.105.0"),
        ("ERR-5107", "CurrencyMismatch in refund", "checkout-api", "unresolved",
         18, 16, "2026-06-29T09:50:00Z", "2026-06-30T16:20:00Z", "2.113.0"),
        ("ERR-5108", "Query parser rejected emoji", "search-service", "unresolved",
         74, 66, "2026-06-15T21:14:00Z", "2026-06-29T20:01:00Z", "2.106.0"),
        ("ERR-5109", "ChunkLoadError: loading chunk 14 failed", "web-frontend", "resolved",
         902, 640, "2026-06-05T16:00:00Z", "2026-06-06T09:15:00Z", "2.104.0"),
        ("ERR-5110", "Card token missing", "checkout-api", "unresolved",
         143, 120, "2026-06-20T05:30:00Z", "2026-07-01T04:44:00Z", "2.108.0"),
        ("ERR-5111", "Label printer queue not reachable", "order-worker", "resolved",
         61, 4, "2026-06-08T06:00:00Z", "2026-06-08T08:40:00Z", "2.103.0"),
    )
]  # fmt: skip

_ROTA = {
    "storefront": ("Rafaela Santos", "Marek Kowalski", "+49 30 5550 101"),
    "payments": ("Thu Nguyen", "Hanna Becker", "+49 30 5550 102"),
    "discovery": ("Aminata Fofana", "Lars Holm", "+49 30 5550 103"),
    "fulfilment": ("Hanna Becker", "Olga Petrova", "+49 30 5550 104"),
    "identity": ("Marek Kowalski", "Ravi Menon", "+49 30 5550 105"),
}

_WIKI: list[dict[str, Any]] = [
    {
        "page": "Payment gateway timeouts",
        "space": "Runbooks",
        "lastEditedBy": "tnguyen",
        "lastEdited": "2026-04-14",
        "body": "1. Look at the status page of the payment provider. 2. If the provider is down, turn on the toggle "
        "pay-by-invoice and tell customer care. 3. Never restart checkout-api while payments are pending.",
    },
    {
        "page": "Search results are stale",
        "space": "Runbooks",
        "lastEditedBy": "afofana",
        "lastEdited": "2026-02-03",
        "body": "Compare the index age with the catalogue. If the index is older than two hours, trigger a full "
        "reindex with make reindex and watch the memory of the data nodes.",
    },
    {
        "page": "Rolling back a deployment",
        "space": "Runbooks",
        "lastEditedBy": "hbecker",
        "lastEdited": "2026-05-20",
        "body": "Open the pipeline, choose the last green version and press Redeploy. Database migrations are not "
        "reverted: ask the owning team first.",
    },
    {
        "page": "Freeze periods",
        "space": "Policies",
        "lastEditedBy": "mkowalski",
        "lastEdited": "2026-01-12",
        "body": "No production deployments from 20 November to 2 December and on Fridays after 14:00. Exceptions are "
        "granted by the head of engineering.",
    },
    {
        "page": "Life of a feature toggle",
        "space": "Policies",
        "lastEditedBy": "rsantos",
        "lastEdited": "2025-11-30",
        "body": "A toggle gets a removal date when it is created. Overdue toggles are removed by the team that owns "
        "them within one sprint.",
    },
    {
        "page": "Order worker backlog",
        "space": "Runbooks",
        "lastEditedBy": "hbecker",
        "lastEdited": "2026-06-09",
        "body": "Scale the workers to six replicas first. If the backlog still grows after fifteen minutes, pause the "
        "nightly export.",
    },
]


@tool(effect="read")
def list_deployments(
    service: Annotated[str | None, Field(description="Service name, for example checkout-api.")] = None,
    environment: Annotated[Literal["production", "staging"] | None, Field(description="Target environment.")] = None,
    outcome: Annotated[
        Literal["succeeded", "failed", "rolled_back"] | None, Field(description="How the deployment ended.")
    ] = None,
    since: Annotated[str | None, Field(description="Only deployments started at or after this ISO time.")] = None,
    until: Annotated[str | None, Field(description="Only deployments started before this ISO time.")] = None,
    page: Annotated[int, Field(ge=1, description="Page number, starting at 1.")] = 1,
    per_page: Annotated[int, Field(ge=1, le=50, description="Page size.")] = 20,
) -> Json:
    """List deployments of our services, newest first."""
    rows = [
        row
        for row in reversed(_DEPLOYMENTS)
        if service in (None, row["service"])
        and environment in (None, row["environment"])
        and outcome in (None, row["outcome"])
        and (not since or row["startedAt"] >= since)
        and (not until or row["startedAt"] < until)
    ]
    pages = max(1, -(-len(rows) // per_page))
    items = rows[(page - 1) * per_page : page * per_page]
    return {"items": [{**row} for row in items], "page": page, "pages": pages, "totalItems": len(rows)}


@tool(effect="read")
def feature_toggles(
    team: Annotated[str | None, Field(description="Only toggles of this team.")] = None,
    enabled: Annotated[bool | None, Field(description="Only toggles that are on (true) or off (false).")] = None,
) -> Json:
    """Feature toggles by key: owning team, whether it's on, rollout in percent and the date to remove it by."""
    return {
        key: {**row}
        for key, row in _TOGGLES.items()
        if team in (None, row["team"]) and enabled in (None, row["enabled"])
    }


@tool(effect="read")
def error_groups(
    service: Annotated[str | None, Field(description="Only errors of this service.")] = None,
    status: Annotated[Literal["unresolved", "resolved", "ignored"] | None, Field(description="Triage status.")] = None,
) -> Json:
    """Groups of equal errors seen in production, with number of events and affected users."""
    return [{**row} for row in _ERRORS if service in (None, row["service"]) and status in (None, row["status"])]


@tool(effect="read")
def get_service(name: Annotated[str, Field(description="Service name, for example search-service.")]) -> Json:
    """Look up a service: the team that owns it, its repository and its tier."""
    if name not in _OWNERS:
        raise ToolError(f"No service named {name}.")
    tier = 1 if name in ("web-frontend", "checkout-api") else 2
    return {"name": name, "team": _OWNERS[name], "repository": f"git.shop.example/{_OWNERS[name]}/{name}", "tier": tier}


@tool(effect="read")
def who_is_on_call(
    team: Annotated[
        Literal["storefront", "payments", "discovery", "fulfilment", "identity"], Field(description="Name of the team.")
    ],
) -> Json:
    """Who is on call for a team at the moment: primary, secondary and the phone number."""
    primary, secondary, phone = _ROTA[team]
    return {"team": team, "primary": primary, "secondary": secondary, "phone": phone}


@tool(effect="read")
def search_wiki(
    query: Annotated[str, Field(description="Keywords. The wiki is in English.")],
    space: Annotated[Literal["Runbooks", "Policies"] | None, Field(description="Restrict to one space.")] = None,
) -> Json:
    """Full-text search in the engineering wiki; returns the best pages with their text."""
    words = {word.strip("?.,!'\"")[:5] for word in query.lower().split()}
    words = {word for word in words if len(word) > 3}
    scored = [
        (sum(word in f"{row['page']} {row['body']}".lower() for word in words), row)
        for row in _WIKI
        if space in (None, row["space"])
    ]
    scored.sort(key=lambda pair: -pair[0])
    return {"hits": [{**row} for score, row in scored if score][:3]}


def toolset() -> Toolset:
    """Six tools, ten questions; facts are computed from the rows."""
    live = [row for row in _DEPLOYMENTS if row["service"] == "checkout-api" and row["environment"] == "production"]
    good = [row for row in live if row["outcome"] == "succeeded"][-1]
    june = [row for row in _DEPLOYMENTS if row["startedAt"].startswith("2026-06") and row["outcome"] == "failed"]
    failed = [row for row in june if row["environment"] == "production"]
    unresolved = [row for row in _ERRORS if row["status"] == "unresolved"]
    loudest = max(unresolved, key=lambda row: row["events"])
    overdue = [key for key, row in _TOGGLES.items() if row["enabled"] and row["removeBy"] < "2026-07-01"]
    checkout = [row for row in unresolved if row["service"] == "checkout-api"]
    users = sum(row["affectedUsers"] for row in checkout)
    duplicate = next(row for row in _ERRORS if row["id"] == "ERR-5104")
    pager = _ROTA[_OWNERS[duplicate["service"]]][0]
    one = next(row for row in _DEPLOYMENTS if row["deployId"] == "dep-3342")
    places = {row["deployId"]: str(row) for row in _DEPLOYMENTS} | {key: str(row) for key, row in _TOGGLES.items()}
    places |= {row["id"]: str(row) for row in _ERRORS} | {row["page"]: row["body"] for row in _WIKI}
    places |= {name: f"{name} is owned by {team}" for name, team in _OWNERS.items()}
    places |= {team: str(row) for team, row in _ROTA.items()}
    missing: tuple[str, ...] = (
        "no",
        "not found",
        "not exist",
        "doesn't exist",
        "isn't",
        "don't",
        "没有",
        "未找到",
        "找不到",
        "不存在",
    )
    missing += ("没找到", "未查到", "查不到", "没查到", "无")
    return Toolset(
        "web shop operations",
        (list_deployments, feature_toggles, error_groups, get_service, who_is_on_call, search_wiki),
        (
            Asked(
                "Which version of checkout-api was last deployed successfully to production?",
                "checkout-api 最近一次成功发到生产环境的是哪个版本？",
                (good["version"],),
                evidence=(frozenset({good["deployId"]}),),
            ),
            Asked(
                "How many production deployments failed in June 2026?",
                "2026年6月份生产环境有多少次发布失败（failed）？",
                (str(len(failed)),),
                evidence=(frozenset(row["deployId"] for row in failed),),
            ),
            Asked(
                "Morning! Which unresolved error is producing the most events?",
                "早上好，现在还没解决的错误里，哪个事件数最多？",
                (loudest["id"], (str(loudest["events"]), f"{loudest['events']:,}")),
                evidence=(frozenset({loudest["id"]}),),
            ),
            Asked(
                "Which feature toggles are still on although they should have been removed before July 2026?",
                "哪些功能开关按计划2026年7月之前就该下线，可现在还开着？",
                tuple(overdue),
                evidence=(frozenset(overdue),),
            ),
            Asked(
                "new-basket: how far is it rolled out?",
                "new-basket 这个开关现在灰度到百分之多少了？",
                (str(_TOGGLES["new-basket"]["rolloutPercent"]),),
                evidence=(frozenset({"new-basket"}),),
            ),
            Asked(
                "I need to wake someone up about ERR-5104. Who is the primary on call for the team that owns the "
                "service?",
                "ERR-5104 得找人处理，这个服务所属的团队现在主值班是谁？",
                (pager,),
                evidence=(frozenset({"ERR-5104", "order-worker", "fulfilment"}),),
            ),
            Asked(
                "How many users in total are affected by the unresolved errors of checkout-api?",
                "checkout-api 未解决的错误加起来一共影响了多少用户？",
                (str(users),),
                evidence=(frozenset(row["id"] for row in checkout),),
            ),
            Asked(
                "Who triggered dep-3342 and which service was it?",
                "dep-3342 是谁触发的？发的是哪个服务？",
                (one["triggeredBy"], one["service"]),
                evidence=(frozenset({"dep-3342"}),),
            ),
            Asked(
                "The payment gateway is timing out. What does the wiki tell us to do if the provider is down?",
                "支付网关（payment gateway）一直超时，如果是支付商那边挂了，wiki 上说该怎么办？",
                told=("pay-by-invoice",),
                evidence=(frozenset({"Payment gateway timeouts"}),),
            ),
            Asked(
                "Do we have a feature toggle called dark-mode?",
                "我们有没有一个叫 dark-mode 的功能开关？",
                ("dark-mode", missing),
            ),
        ),
        places,
    )
