"""A chain of cinemas: auditoriums with projectors, screenings, faults by technicians, a technical handbook."""

import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_CINEMAS = ("Odeon West", "Harbour Lights", "Grand Palace")
_FILMS = ("Silver Tide", "The Last Orchard", "Night Ferry", "流浪的云")
_DAY = datetime(2026, 8, 14, 10, 0)  # noqa: DTZ001 - cinemas write their local time without a zone


def _screens() -> list[dict[str, Any]]:
    dice = random.Random(21)
    return [
        {
            "screenId": f"{cinema.split()[0][:2].upper()}-{number}",
            "cinema": cinema,
            "seats": dice.randint(60, 400) + number,
            "projector": {
                "model": dice.choice(("Lumo 4K", "Lumo 4K", "Brillant S2")),
                "lampHours": dice.randint(100, 3800),
                "status": dice.choices(("ok", "degraded", "down"), (6, 2, 1))[0],
            },
        }
        for cinema in _CINEMAS
        for number in range(1, 9)
    ]


_SCREENS = _screens()


def _screenings() -> list[dict[str, Any]]:
    dice = random.Random(20)
    found = []
    for number in range(60):
        screen = dice.choice(_SCREENS)
        found.append(
            {
                "id": f"SCR{9000 + number}",
                "film": dice.choices(_FILMS, (5, 3, 2, 2))[0],
                "screenId": screen["screenId"],
                "cinema": screen["cinema"],
                "startsAt": (_DAY + timedelta(minutes=25 * number)).isoformat(timespec="minutes"),
                "ticketsSold": dice.randint(3, 59) * 5 + number % 5,
                "state": dice.choices(("scheduled", "cancelled", "finished"), (5, 2, 4))[0],
            }
        )
    return found


_SCREENINGS = _screenings()
_FAULTS = [
    {
        "ticket": f"F-{310 + number}",
        "screenId": screen,
        "summary": summary,
        "status": status,
        "technician": who,
        "openedAt": f"2026-08-{5 + number:02}T09:{10 + number}",
    }
    for number, (screen, summary, status, who) in enumerate(
        (
            ("OD-3", "Lamp does not ignite", "open", "Ravi Menon"),
            ("HA-1", "Left surround speaker silent", "resolved", "Clara Stein"),
            ("GR-6", "Image flickers after 40 minutes", "in_progress", "Ravi Menon"),
            ("OD-7", "Curtain motor stuck", "open", None),
            ("HA-5", "Server rejects the decryption key", "open", "Clara Stein"),
            ("GR-2", "Seat 12F broken", "resolved", "Ravi Menon"),
            ("HA-8", "Air conditioning too loud", "in_progress", "Ravi Menon"),
        )
    )
]
_HANDBOOK = [
    (
        "TH-4",
        "Lamp problems",
        "If the lamp doesn't ignite, let it cool for ten minutes, then check the door switch before you replace it.",
    ),
    ("TH-7", "KDM and keys", "When a key is rejected, compare the server's clock with the key's validity window."),
    (
        "TH-9",
        "疏散流程",
        "Evacuation: stop the film, raise the house lights and open all doors; count the guests outside.",
    ),
    (
        "TH-12",
        "Sound dropouts",
        "Swap the amplifier channel to find out whether the speaker or the amplifier is at fault.",
    ),
]


@tool(effect="read")
def get_screens(
    cinema: Annotated[str | None, Field(description="Name of the cinema; all cinemas if omitted.")] = None,
    projector_status: Annotated[
        Literal["ok", "degraded", "down"] | None, Field(description="Only screens whose projector has this status.")
    ] = None,
) -> Json:
    """Get the screens (auditoriums) with their number of seats and the state of the projector."""
    rows = [
        row
        for row in _SCREENS
        if cinema in (None, row["cinema"]) and projector_status in (None, row["projector"]["status"])
    ]
    return {"screens": [{**row} for row in rows], "count": len(rows)}


@tool(effect="read")
def list_screenings(
    film: Annotated[str | None, Field(description="Title of the film.")] = None,
    cinema: Annotated[str | None, Field(description="Name of the cinema.")] = None,
    state: Literal["scheduled", "cancelled", "finished"] | None = None,
) -> Json:
    """List screenings of films with start time, sold tickets and state."""
    rows = [
        row
        for row in _SCREENINGS
        if film in (None, row["film"]) and cinema in (None, row["cinema"]) and state in (None, row["state"])
    ]
    return {"total": len(rows), "screenings": rows}


@tool(effect="read")
def list_faults(
    status: Annotated[
        Literal["open", "in_progress", "resolved"] | None, Field(description="Status of the fault.")
    ] = None,
) -> Json:
    """List reported technical faults and the technician who works on them."""
    return {"faults": [{**row} for row in _FAULTS if status in (None, row["status"])]}


@tool(effect="read")
def get_fault(ticket: Annotated[str, Field(description="Ticket number, for example F-123.")]) -> Json:
    """Get a single fault with its history."""
    row = next((row for row in _FAULTS if row["ticket"] == ticket), None)
    if row is None:
        raise ToolError(f"No fault {ticket}.")
    return {**row, "history": [{"at": row["openedAt"], "action": "reported"}]}


@tool(effect="read")
def search_handbook(query: Annotated[str, Field(description="Keywords.")]) -> Json:
    """Search the technical handbook for instructions."""
    words = {word[:5] for word in query.lower().split() if len(word) > 1}
    hits = [
        (sum(word in f"{title} {text}".lower() for word in words), key, title, text) for key, title, text in _HANDBOOK
    ]
    return {"sections": [{"section": k, "title": t, "text": x} for score, k, t, x in sorted(hits)[::-1] if score]}


@tool(effect="write")
def cancel_screening(screening_id: Annotated[str, Field(description="ID of the screening.")]) -> Json:
    """Cancel a screening and refund all tickets."""
    return {"id": screening_id, "state": "cancelled"}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    down = [row for row in _SCREENS if row["projector"]["status"] == "down"]
    lamp = max(_SCREENS, key=lambda row: row["projector"]["lampHours"])
    cancelled = [row for row in _SCREENINGS if row["state"] == "cancelled"]
    film = Counter(row["film"] for row in cancelled).most_common(1)[0]
    sold = max(_SCREENINGS, key=lambda row: row["ticketsSold"])
    palace = [row for row in _SCREENINGS if row["cinema"] == "Grand Palace"]
    busy = Counter(row["technician"] for row in _FAULTS if row["technician"]).most_common(1)[0]
    waiting = [row for row in _FAULTS if row["status"] == "open"]
    places = {row["screenId"]: str(row) for row in _SCREENS} | {row["id"]: str(row) for row in _SCREENINGS}
    places |= {str(row["ticket"]): str(row) for row in _FAULTS}
    places |= {key: f"{title} {text}" for key, title, text in _HANDBOOK} | {row[1]: row[2] for row in _HANDBOOK}
    return Toolset(
        "cinemas",
        (get_screens, list_screenings, list_faults, get_fault, search_handbook, cancel_screening),
        (
            Asked(
                "How many projectors are down?",
                "有几台放映机坏了（down）？",
                (str(len(down)),),
                evidence=(frozenset(row["screenId"] for row in down),),
            ),
            Asked(
                "Which screen's projector has the most lamp hours?",
                "哪个影厅的放映机灯泡使用小时数最多？",
                (lamp["screenId"], str(lamp["projector"]["lampHours"])),
                evidence=(frozenset({lamp["screenId"]}),),
            ),
            Asked(
                "Which film had the most cancelled screenings?",
                "哪部电影被取消的场次最多？",
                (film[0], str(film[1])),
                evidence=(frozenset(row["id"] for row in cancelled if row["film"] == film[0]),),
            ),
            Asked(
                "Which screening sold the most tickets?",
                "哪一场卖出的票最多？",
                (sold["id"], str(sold["ticketsSold"])),
                evidence=(frozenset({sold["id"]}),),
            ),
            Asked(
                "How many screenings does Grand Palace have?",
                "Grand Palace 一共有多少场放映？",
                (str(len(palace)),),
                evidence=(frozenset(row["id"] for row in palace),),
            ),
            Asked(
                "Who is working on fault F-314?",
                "故障 F-314 是谁在处理？",
                ("Clara Stein",),
                evidence=(frozenset({"F-314"}),),
            ),
            Asked(
                "Which technician has the most faults?",
                "哪个技术员负责的故障最多？",
                (str(busy[0]), str(busy[1])),
                evidence=(frozenset(str(row["ticket"]) for row in _FAULTS if row["technician"] == busy[0]),),
            ),
            Asked(
                "How many faults are still open?",
                "还有多少个故障没有解决（open）？",
                (str(len(waiting)),),
                evidence=(frozenset(str(row["ticket"]) for row in waiting),),
            ),
            Asked(
                "What is wrong on screen GR-6 and what is its status?",
                "GR-6 影厅出了什么故障，现在是什么状态？",
                ("Image flickers after 40 minutes", "in_progress"),
                evidence=(frozenset({"F-312"}),),
            ),
            Asked(
                "The lamp doesn't ignite. What does the handbook say?",
                "放映机灯泡（lamp）点不亮，手册里怎么说？",
                told=("check the door switch",),
                evidence=(frozenset({"TH-4", "Lamp problems"}),),
            ),
        ),
        places,
    )
