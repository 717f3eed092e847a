"""City administration: IT help desk tickets, changes, the service catalogue, staff and the knowledge base."""

import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_DEPARTMENTS = ("Civil Registry", "Tax Office", "Building Permits", "Social Services", "Parks and Waste")
_TEAMS = {
    "Workplace": ("Ines Albrecht", "Tom Rieger"),
    "Network": ("Paula Sommer", "Jan Dvorak"),
    "Applications": ("Miriam Vogt", "Samir Haddad", "Lena Kruse"),
}
_SUBJECTS = (
    ("Printer on the second floor prints blank pages", "Workplace", "Managed Printing"),
    ("Laptop does not start after the update", "Workplace", "Digital Workplace"),
    ("Smart card not recognised at login", "Workplace", "Digital Workplace"),
    ("No Wi-Fi in the meeting room", "Network", "City Network"),
    ("VPN disconnects every few minutes", "Network", "City Network"),
    ("Permit application stuck in status submitted", "Applications", "ePermit"),
    ("Tax notice cannot be exported as PDF", "Applications", "TaxPro"),
    ("Appointment calendar shows wrong opening hours", "Applications", "Citizen Appointments"),
    ("Shared mailbox is full", "Workplace", "E-mail"),
    ("New employee needs access to case files", "Applications", "CaseFile"),
)
_CALLERS = ("R. Baumann", "C. Ortega", "H. Lindqvist", "F. Moreau", "K. Yilmaz", "D. Novak", "A. Petersen", "S. Greco")


def _tickets() -> list[dict[str, Any]]:
    dice = random.Random(410)
    rows = []
    opened = datetime(2026, 5, 18, 7, 30)  # noqa: DTZ001
    for number in range(20401, 20473):
        opened += timedelta(minutes=dice.randint(200, 1500))
        subject, team, service = dice.choice(_SUBJECTS)
        status = dice.choices(("new", "in progress", "waiting for caller", "resolved"), (2, 4, 3, 7))[0]
        done = opened + timedelta(hours=dice.randint(2, 90)) if status == "resolved" else None
        rows.append(
            {
                "id": f"INC-{number}",
                "subject": subject,
                "department": dice.choices(_DEPARTMENTS, (4, 3, 5, 2, 2))[0],
                "caller": dice.choice(_CALLERS),
                "service": service,
                "team": team,
                "assignee": None if status == "new" else dice.choice(_TEAMS[team]),
                "priority": dice.choices(("P1", "P2", "P3", "P4"), (1, 3, 6, 4))[0],
                "status": status,
                "opened_at": opened.isoformat(timespec="minutes"),
                "resolved_at": done.isoformat(timespec="minutes") if done else None,
                "reopened": dice.choices((0, 1, 2), (9, 3, 1))[0],
            }
        )
    rows[37]["reopened"] = 5
    return rows


_TICKETS = _tickets()

_CHANGES: list[dict[str, Any]] = [
    {
        "number": number,
        "title": title,
        "service": service,
        "type": kind,
        "risk": risk,
        "state": state,
        "planned_start": start,
        "planned_end": end,
        "implementer": implementer,
    }
    for number, title, service, kind, risk, state, start, end, implementer in (
        ("CHG-0301", "Replace core switch in the town hall", "City Network", "normal", "high", "closed",
         "2026-06-06T08:00", "2026-06-06T14:00", "Jan Dvorak"),
        ("CHG-0302", "Monthly Windows patches", "Digital Workplace", "standard", "low", "closed",
         "2026-06-10T20:00", "2026-06-10T23:00", "Tom Rieger"),
        ("CHG-0303", "Upgrade TaxPro to 8.4", "TaxPro", "normal", "medium", "rolled back",
         "2026-06-13T07:00", "2026-06-13T12:00", "Samir Haddad"),
        ("CHG-0304", "New certificate for the appointment portal", "Citizen Appointments", "standard", "low", "closed",
         "2026-06-16T18:00", "2026-06-16T18:30", "Lena Kruse"),
        ("CHG-0305", "Move mailboxes to the new mail cluster", "E-mail", "normal", "high", "closed",
         "2026-06-20T06:00", "2026-06-20T18:00", "Ines Albrecht"),
        ("CHG-0306", "Renew firewall rules for the library branches", "City Network", "normal", "medium", "closed",
         "2026-06-24T19:00", "2026-06-24T21:00", "Paula Sommer"),
        ("CHG-0307", "Database index for permit search", "ePermit", "standard", "low", "closed",
         "2026-06-29T21:00", "2026-06-29T22:00", "Miriam Vogt"),
        ("CHG-0308", "Monthly Windows patches", "Digital Workplace", "standard", "low", "approved",
         "2026-07-08T20:00", "2026-07-08T23:00", "Tom Rieger"),
        ("CHG-0309", "Upgrade TaxPro to 8.4.2", "TaxPro", "normal", "medium", "approved",
         "2026-07-11T07:00", "2026-07-11T12:00", "Samir Haddad"),
        ("CHG-0310", "Replace print server", "Managed Printing", "normal", "medium", "approved",
         "2026-07-12T09:00", "2026-07-12T13:00", "Tom Rieger"),
        ("CHG-0311", "Enlarge CaseFile storage", "CaseFile", "normal", "high", "awaiting approval",
         "2026-07-18T06:00", "2026-07-18T16:00", "Lena Kruse"),
        ("CHG-0312", "Online payment in the permit portal", "ePermit", "normal", "high", "awaiting approval",
         "2026-07-22T20:00", "2026-07-23T01:00", "Miriam Vogt"),
    )
]  # fmt: skip
_CHANGE_NOTES = {
    "CHG-0303": {
        "backout_plan": "Restore the snapshot of the TaxPro database and reinstall 8.3.",
        "closure_notes": "Rolled back because the interface to the cash register rejected all bookings after the "
        "upgrade. Vendor will deliver 8.4.2.",
    },
    "CHG-0305": {
        "backout_plan": "Point the mail gateway to the old cluster.",
        "closure_notes": "Completed two hours late, the address book had to be rebuilt.",
    },
}

_SERVICES: list[dict[str, Any]] = [
    {"name": name, "owner": owner, "support_team": team, "hours": hours, "response_minutes": minutes, "users": users}
    for name, owner, team, hours, minutes, users in (
        ("City Network", "Viktor Hahn", "Network", "24x7", 15, 2150),
        ("Digital Workplace", "Sabine Lorenz", "Workplace", "Mon-Fri 07:00-18:00", 60, 1980),
        ("Managed Printing", "Sabine Lorenz", "Workplace", "Mon-Fri 08:00-16:00", 240, 1640),
        ("E-mail", "Oliver Brandt", "Workplace", "24x7", 30, 2090),
        ("ePermit", "Dr. Eva Kessler", "Applications", "Mon-Fri 07:00-18:00", 45, 310),
        ("TaxPro", "Murat Demir", "Applications", "Mon-Fri 07:00-18:00", 45, 185),
        ("Citizen Appointments", "Nora Fiedler", "Applications", "Mon-Sat 07:00-20:00", 30, 420),
        ("CaseFile", "Nora Fiedler", "Applications", "Mon-Fri 07:00-18:00", 90, 760),
    )
]

_ARTICLES: list[dict[str, str]] = [
    {
        "article": "KB-011",
        "title": "Smart card is not recognised",
        "text": "Remove the card, restart the smart card service and insert the card again. If the reader's LED stays "
        "dark, swap the reader; if the certificate has expired, send the user to the ID office in room 014.",
    },
    {
        "article": "KB-014",
        "title": "VPN connection drops",
        "text": "Ask the user to switch from TCP to UDP in the client. If it still drops, collect the client log and "
        "assign the ticket to Network.",
    },
    {
        "article": "KB-019",
        "title": "Printer prints blank pages",
        "text": "Run the cleaning cycle twice and check that the transport tape of the toner was pulled off.",
    },
    {
        "article": "KB-023",
        "title": "Mailbox is full",
        "text": "Turn on the online archive for mails older than 12 months. Raising the quota needs the approval of "
        "the head of department.",
    },
    {
        "article": "KB-027",
        "title": "Emergency changes",
        "text": "An emergency change needs the verbal approval of the duty manager and has to be documented within "
        "24 hours.",
    },
    {
        "article": "KB-030",
        "title": "Permit application stuck",
        "text": "Open the job monitor of ePermit and restart the queue worker. Never delete the application.",
    },
]


@tool(effect="read")
def search_tickets(
    status: Annotated[
        Literal["new", "in progress", "waiting for caller", "resolved"] | None, Field(description="Ticket status.")
    ] = None,
    priority: Annotated[Literal["P1", "P2", "P3", "P4"] | None, Field(description="P1 is the most urgent.")] = None,
    department: Annotated[str | None, Field(description="Department of the caller, e.g. 'Tax Office'.")] = None,
    team: Annotated[Literal["Workplace", "Network", "Applications"] | None, Field(description="Support team.")] = None,
    opened_from: Annotated[str | None, Field(description="Opened on or after this day, YYYY-MM-DD.")] = None,
    opened_to: Annotated[str | None, Field(description="Opened on or before this day, YYYY-MM-DD.")] = None,
    limit: Annotated[int, Field(ge=1, le=100, description="Maximum number of tickets to return.")] = 50,
    offset: Annotated[int, Field(ge=0, description="Number of tickets to skip.")] = 0,
) -> Json:
    """Search help desk tickets (incidents and requests) of the city administration. All filters are optional."""
    rows = [
        row
        for row in _TICKETS
        if status in (None, row["status"])
        and priority in (None, row["priority"])
        and (not department or department.lower() == row["department"].lower())
        and team in (None, row["team"])
        and (not opened_from or row["opened_at"][:10] >= opened_from)
        and (not opened_to or row["opened_at"][:10] <= opened_to)
    ]
    return {"total": len(rows), "tickets": [{**row} for row in rows[offset : offset + limit]]}


@tool(effect="read")
def get_ticket(ticket_id: Annotated[str, Field(description="Ticket number, e.g. INC-20415.")]) -> Json:
    """Get a single ticket by its number."""
    row = next((row for row in _TICKETS if row["id"] == ticket_id.upper()), None)
    if row is None:
        raise ToolError(f"Ticket {ticket_id} not found.")
    return {**row}


@tool(effect="read")
def list_changes(
    state: Annotated[
        Literal["awaiting approval", "approved", "closed", "rolled back"] | None, Field(description="State.")
    ] = None,
    risk: Annotated[Literal["low", "medium", "high"] | None, Field(description="Assessed risk.")] = None,
    service: Annotated[str | None, Field(description="Name of the service that is changed.")] = None,
    start_from: Annotated[str | None, Field(description="Planned start on or after this day, YYYY-MM-DD.")] = None,
    start_to: Annotated[str | None, Field(description="Planned start on or before this day, YYYY-MM-DD.")] = None,
) -> Json:
    """List change requests with their planned window, risk and implementer."""
    return {
        "changes": [
            {**row}
            for row in _CHANGES
            if state in (None, row["state"])
            and risk in (None, row["risk"])
            and (not service or service.lower() == row["service"].lower())
            and (not start_from or row["planned_start"][:10] >= start_from)
            and (not start_to or row["planned_start"][:10] <= start_to)
        ]
    }


@tool(effect="read")
def get_change(number: Annotated[str, Field(description="Change number, e.g. CHG-0301.")]) -> Json:
    """Get one change request with its backout plan and closure notes."""
    row = next((row for row in _CHANGES if row["number"] == number.upper()), None)
    if row is None:
        raise ToolError(f"Change {number} not found.")
    return {**row, **_CHANGE_NOTES.get(row["number"], {"backout_plan": None, "closure_notes": None})}


@tool(effect="read")
def service_catalogue(
    name: Annotated[str | None, Field(description="Name of a service; leave empty for all services.")] = None,
) -> Json:
    """IT services with their owner, support team, service hours, agreed response time and number of users."""
    return {"services": [{**row} for row in _SERVICES if not name or name.lower() in row["name"].lower()]}


@tool(effect="read")
def search_knowledge_base(query: Annotated[str, Field(description="Words to search for, in English.")]) -> Json:
    """Search the knowledge base articles of the service desk: how to solve common problems, and rules for changes."""
    words = {word.strip("?.,!'\"")[:6] for word in query.lower().split()}
    words = {word for word in words if len(word) > 2}
    scored = [(sum(w in f"{a['title']} {a['text']}".lower() for w in words), a) for a in _ARTICLES]
    scored.sort(key=lambda pair: -pair[0])
    return {"results": [{**article} for score, article in scored if score][:3]}


def toolset() -> Toolset:
    """Six tools, ten questions; facts are computed from the rows."""
    by_id = {row["id"]: row for row in _TICKETS}
    waiting = [r for r in _TICKETS if r["department"] == "Building Permits" and r["status"] == "waiting for caller"]
    june = [row for row in _TICKETS if row["opened_at"].startswith("2026-06")]
    departments = Counter(row["department"] for row in june).most_common(2)
    assert departments[0][1] > departments[1][1]
    busiest = departments[0][0]
    reopened = max(_TICKETS, key=lambda row: row["reopened"])
    work = [row for row in _TICKETS if row["status"] == "in progress"]
    teams = Counter(row["team"] for row in work)
    assert teams["Workplace"] != teams["Network"]
    winner = max(("Workplace", "Network"), key=lambda team: teams[team])
    weekend = [row["number"] for row in _CHANGES if "2026-07-11" <= row["planned_start"][:10] <= "2026-07-12"]
    permit = next(row for row in _CHANGES if row["number"] == "CHG-0312")
    owner = next(row["owner"] for row in _SERVICES if row["name"] == permit["service"])
    one = by_id["INC-20448"]
    mail = next(row for row in _SERVICES if row["name"] == "E-mail")
    places = {row["id"]: str(row) for row in _TICKETS}
    places |= {row["number"]: str({**row, **_CHANGE_NOTES.get(row["number"], {})}) for row in _CHANGES}
    places |= {row["name"]: str(row) for row in _SERVICES}
    places |= {row["article"]: f"{row['title']}: {row['text']}" for row in _ARTICLES}
    places |= {row["title"]: f"{row['article']}: {row['text']}" for row in _ARTICLES}
    return Toolset(
        "city help desk",
        (search_tickets, get_ticket, list_changes, get_change, service_catalogue, search_knowledge_base),
        (
            Asked(
                "Who is working on INC-20448, and which department is it from?",
                "INC-20448 现在谁在处理？是哪个部门报上来的？",
                (one["assignee"], one["department"]),
                evidence=(frozenset({"INC-20448"}),),
            ),
            Asked(
                "How many tickets from Building Permits are waiting for the caller?",
                "Building Permits 有多少张工单在等报障人回复（waiting for caller）？",
                (str(len(waiting)),),
                evidence=(frozenset(row["id"] for row in waiting),),
            ),
            Asked(
                "Which department opened the most tickets in June 2026?",
                "2026年6月哪个部门提的工单最多？",
                (busiest, str(departments[0][1])),
                evidence=(frozenset(row["id"] for row in june if row["department"] == busiest),),
            ),
            Asked(
                "One of our tickets keeps coming back. Which one has been reopened most often, and how many times?",
                "有张工单老是被重新打开，是哪张？一共重开了几次？",
                (reopened["id"], str(reopened["reopened"])),
                evidence=(frozenset({reopened["id"]}),),
            ),
            Asked(
                "Does Workplace or Network have more tickets in progress right now, and how many does each have?",
                "Workplace 和 Network 两个组，哪个组正在处理（in progress）的工单更多？各有多少？",
                (winner, str(teams["Workplace"]), str(teams["Network"])),
                evidence=(frozenset(row["id"] for row in work if row["team"] in ("Workplace", "Network")),),
            ),
            Asked(
                "Why was the TaxPro 8.4 upgrade rolled back?",
                "TaxPro 升级 8.4 那次变更为什么回退了？",
                told=(("cash register", "收银"),),
                evidence=(frozenset({"CHG-0303"}),),
            ),
            Asked(
                "What changes are planned for the weekend of 11 and 12 July 2026?",
                "2026年7月11、12号那个周末安排了哪些变更？",
                tuple(weekend),
                evidence=(frozenset(weekend),),
            ),
            Asked(
                "Who owns the service affected by CHG-0312?",
                "CHG-0312 改的那个服务，负责人是谁？",
                ((owner, owner.removeprefix("Dr. ")),),
                evidence=(frozenset({"CHG-0312", permit["service"]}),),
            ),
            Asked(
                "A clerk's smart card isn't recognised at her PC. What should the service desk do?",
                "有同事的智能卡（smart card）电脑识别不了，服务台该怎么处理？",
                told=(("restart the smart card service", "重启智能卡服务", "重启 smart card service"),),
                evidence=(frozenset({"KB-011", "Smart card is not recognised"}),),
            ),
            Asked(
                "what's the agreed response time for e-mail?",
                "E-mail 服务约定的响应时间是多少分钟？",
                (str(mail["response_minutes"]),),
                evidence=(frozenset({"E-mail"}),),
            ),
        ),
        places,
    )
