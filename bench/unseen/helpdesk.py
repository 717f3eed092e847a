"""A company's help desk: laptops, licences, requests with a queue, shared mailboxes, meeting rooms, access rights."""

import random
from collections import Counter
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_STAFF = ("Ines Roth", "Bo Larsen", "Mei Tanaka", "Omar Haddad", "Eva Novak", "Sam Osei")
_OFFICES = ("Zurich", "Lyon", "Gdansk")


def _laptops() -> list[dict[str, Any]]:
    dice = random.Random(64)
    return [
        {
            "serial": f"LT-{4400 + number}",
            "user": dice.choice(_STAFF),
            "office": dice.choices(_OFFICES, (5, 3, 2))[0],
            "model": dice.choice(("Slate 14", "Slate 16", "Terra 13")),
            "disk_free_gb": dice.randint(2, 400) + number,
            "encrypted": dice.random() < 0.85,
            "bought": (date(2022, 1, 3) + timedelta(days=31 * number)).isoformat(),
        }
        for number in range(40)
    ]


_LAPTOPS = _laptops()
_LICENCES = {
    "DrawSuite": {"seats": 40, "used": 37, "renewal": "2027-01-15", "cost_per_seat_chf": 310},
    "ChartPro": {"seats": 25, "used": 25, "renewal": "2026-12-01", "cost_per_seat_chf": 95},
    "MailGuard": {"seats": 200, "used": 164, "renewal": "2027-06-30", "cost_per_seat_chf": 12},
}
_REQUESTS = [
    {"ticket": "HD-901", "topic": "New headset", "requested_by": "Bo Larsen", "queue": "hardware", "status": "done"},
    {
        "ticket": "HD-902",
        "topic": "VPN keeps dropping",
        "requested_by": "Eva Novak",
        "queue": "network",
        "status": "new",
    },
    {"ticket": "HD-903", "topic": "Reset my password", "requested_by": "Sam Osei", "queue": "access", "status": "done"},
    {"ticket": "HD-904", "topic": "Broken screen", "requested_by": "Ines Roth", "queue": "hardware", "status": "new"},
    {
        "ticket": "HD-905",
        "topic": "Room panel is dark",
        "requested_by": "Mei Tanaka",
        "queue": "hardware",
        "status": "new",
    },
]
_ROOMS = [
    ["Matterhorn", "Zurich", 14, True],
    ["Saone", "Lyon", 8, False],
    ["Baltic", "Gdansk", 22, True],
    ["Limmat", "Zurich", 5, False],
]
_ACCESS = {
    "finance-share": {"owner": "Eva Novak", "members": ["Eva Novak", "Omar Haddad"], "last_review": "2026-03-02"},
    "design-share": {
        "owner": "Mei Tanaka",
        "members": ["Mei Tanaka", "Bo Larsen", "Sam Osei"],
        "last_review": "2025-11-20",
    },
}
_ANSWERS = [
    ("Q12", "VPN drops", "Switch the client to TCP and lower the MTU to 1300."),
    ("Q15", "Password reset", "Use the self-service page; the desk can't see passwords."),
    ("Q21", "Screen broken", "Bring the laptop to the desk, a loan device is ready within an hour."),
]


@tool(effect="read")
def laptop_inventory(
    office: Annotated[str, Field(description="Zurich, Lyon or Gdansk.")] = "",
    user: Annotated[str, Field(description="Full name.")] = "",
) -> Json:
    """Laptops of the staff: who has which model, free disk space, encryption, date of purchase."""
    rows = [row for row in _LAPTOPS if office in ("", row["office"]) and user in ("", row["user"])]
    return {"total": len(rows), "results": rows}


@tool(effect="read")
def software_licences() -> Json:
    """Licences by product: seats, how many are used, renewal date and yearly cost of a seat in francs."""
    return {"licences": {name: {**row} for name, row in _LICENCES.items()}}


@tool(effect="read")
def desk_requests(
    queue: Literal["hardware", "network", "access"] | None = None, status: Literal["new", "done"] | None = None
) -> Json:
    """Requests to the help desk."""
    return [{**row} for row in _REQUESTS if queue in (None, row["queue"]) and status in (None, row["status"])]


@tool(effect="read")
def meeting_rooms() -> Json:
    """Meeting rooms: office, number of seats, whether there is a video system."""
    return {"columns": ["room", "office", "seats", "video"], "rows": [list(row) for row in _ROOMS]}


@tool(effect="read")
def share_access(share: Annotated[str, Field(description="Name of the network share.")]) -> Json:
    """Owner and members of a network share, and when access was last reviewed."""
    if share not in _ACCESS:
        raise ToolError(f"No share '{share}'. Shares: {', '.join(_ACCESS)}.")
    return {"share": share, **_ACCESS[share]}


@tool(effect="read")
def knowledge_search(text: Annotated[str, Field(description="Problem in English words.")]) -> Json:
    """Answers that the desk has written down to common problems."""
    words = {word[:5] for word in text.lower().split() if len(word) > 2}
    hits = [(sum(word in f"{q} {a}".lower() for word in words), ident, q, a) for ident, q, a in _ANSWERS]
    return {"answers": [{"id": i, "question": q, "answer": a} for score, i, q, a in sorted(hits)[::-1] if score]}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    lyon = [row for row in _LAPTOPS if row["office"] == "Lyon"]
    full = min(_LAPTOPS, key=lambda row: row["disk_free_gb"])
    plain = [row for row in _LAPTOPS if not row["encrypted"]]
    model = Counter(row["model"] for row in _LAPTOPS).most_common(1)[0]
    old = min(_LAPTOPS, key=lambda row: row["bought"])
    waiting = [row for row in _REQUESTS if (row["queue"], row["status"]) == ("hardware", "new")]
    places = {row["serial"]: str(row) for row in _LAPTOPS} | {name: str(row) for name, row in _LICENCES.items()}
    places |= {row["ticket"]: str(row) for row in _REQUESTS} | {str(row[0]): str(row) for row in _ROOMS}
    places |= {name: str(row) for name, row in _ACCESS.items()} | {row[0]: str(row) for row in _ANSWERS}
    return Toolset(
        "help desk",
        (laptop_inventory, software_licences, desk_requests, meeting_rooms, share_access, knowledge_search),
        (
            Asked(
                "How many laptops are there in Lyon?",
                "Lyon 有多少台笔记本电脑？",
                (str(len(lyon)),),
                evidence=(frozenset(row["serial"] for row in lyon),),
            ),
            Asked(
                "Which laptop has the least free disk space?",
                "哪台笔记本的磁盘剩余空间最少？",
                (full["serial"], str(full["disk_free_gb"])),
                evidence=(frozenset({full["serial"]}),),
            ),
            Asked(
                "How many laptops are not encrypted?",
                "有多少台笔记本没有加密？",
                (str(len(plain)),),
                evidence=(frozenset(row["serial"] for row in plain),),
            ),
            Asked(
                "Which model do most laptops have?",
                "哪个型号的笔记本最多？",
                (model[0], str(model[1])),
                evidence=(frozenset(row["serial"] for row in _LAPTOPS if row["model"] == model[0]),),
            ),
            Asked(
                "Which is the oldest laptop?",
                "最旧的笔记本是哪台？",
                (old["serial"], old["bought"]),
                evidence=(frozenset({old["serial"]}),),
            ),
            Asked(
                "When must ChartPro be renewed?",
                "ChartPro 什么时候续期？",
                ("2026-12-01",),
                evidence=(frozenset({"ChartPro"}),),
            ),
            Asked(
                "How many seats of DrawSuite are used?",
                "DrawSuite 用了多少个席位？",
                ("37",),
                evidence=(frozenset({"DrawSuite"}),),
            ),
            Asked(
                "How many new requests are in the hardware queue?",
                "hardware 队列里有几个 new 的请求？",
                (str(len(waiting)),),
                evidence=(frozenset(row["ticket"] for row in waiting),),
            ),
            Asked(
                "Which meeting room has the most seats?",
                "座位最多的会议室是哪间？",
                ("Baltic", "22"),
                evidence=(frozenset({"Baltic"}),),
            ),
            Asked(
                "Who owns design-share?",
                "design-share 的负责人是谁？",
                ("Mei Tanaka",),
                evidence=(frozenset({"design-share"}),),
            ),
        ),
        places,
    )
