"""An airport's ground operations: flights, delays by reason, baggage belts, gates by name, staff shifts, procedures."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 8, 14, 4, 0, tzinfo=UTC)
_REASONS = ("crew", "weather", "baggage")
_CITIES = ("Lisbon", "Oslo", "Naples", "Krakow", "Bilbao")


def _flights() -> list[dict[str, Any]]:
    dice, found, at = random.Random(747), [], _START
    for number in range(301, 356):
        at += timedelta(minutes=dice.randint(5, 30))
        late = dice.choice((0, 0, 0, 5, 12, 40, 95)) + number % 11
        found.append(
            {
                "flight": f"QX{number}",
                "destination": dice.choices(_CITIES, (6, 3, 2, 4, 1))[0],
                "gate": dice.choice(("A1", "A2", "B7", "C3")),
                "scheduled": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "status": dice.choices(("departed", "boarding", "cancelled"), (9, 1, 1))[0],
                "delay": {
                    "minutes": late,
                    "reason": dice.choice(("crew", "weather", "baggage")) if late > 10 else None,
                },
                "aircraft": {"registration": f"EC-{dice.choice('ABCD')}{dice.choice('XYZ')}Q", "type": "A320"},
                "passengers": dice.randint(40, 178),
            }
        )
    return found


_FLIGHTS = _flights()
_GATES: dict[str, dict[str, Any]] = {
    "A1": {"stand": 12, "walkway": True, "closed_until": None},
    "A2": {"stand": 14, "walkway": True, "closed_until": "2026-08-15T05:00:00Z"},
    "B7": {"stand": 33, "walkway": False, "closed_until": None},
    "C3": {"stand": 41, "walkway": False, "closed_until": None},
}
_BELTS = [
    {"belt": "belt 1", "state": "running", "bags_per_hour": 640, "jams_today": 2},
    {"belt": "belt 2", "state": "stopped", "bags_per_hour": 0, "jams_today": 9},
    {"belt": "belt 3", "state": "running", "bags_per_hour": 815, "jams_today": 4},
]
_SHIFTS = [
    ("ramp", "Marta Sousa", "05:00", "13:00", "+351 900 111"),
    ("baggage", "Per Nilsen", "05:00", "13:00", "+351 900 222"),
    ("gates", "Ewa Zielinska", "06:00", "14:00", "+351 900 333"),
]
_RULES = [
    ("GOM 3.1", "De-icing", "Start de-icing no earlier than twenty minutes before departure."),
    ("GOM 5.4", "Baggage belt jam", "Stop the belt, clear the bag by hand and restart it from the local panel."),
    ("GOM 7.2", "Fuel spill", "Evacuate the stand and call the fire service before anything else."),
]


@tool(effect="read")
def list_departures(
    destination: Annotated[str, Field(description="City.")] = "",
    gate: Annotated[str, Field(description="Such as D9.")] = "",
    status: Literal["departed", "boarding", "cancelled"] | None = None,
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=20)] = 20,
) -> Json:
    """Today's departures in order of their scheduled time, with gate, status, delay and aircraft."""
    rows = [
        row
        for row in _FLIGHTS
        if destination in ("", row["destination"]) and gate in ("", row["gate"]) and status in (None, row["status"])
    ]
    return {"pagination": {"total": len(rows), "offset": offset}, "departures": rows[offset : offset + limit]}


@tool(effect="read")
def gate_status() -> Json:
    """Gates of the terminal: stand, walkway, and until when one is closed."""
    return {"gates": {name: {**row} for name, row in _GATES.items()}}


@tool(effect="read")
def baggage_belts() -> Json:
    """Baggage belts: running or stopped, throughput in bags per hour, jams so far."""
    return [{**row} for row in _BELTS]


@tool(effect="read")
def duty_roster(area: Annotated[str, Field(description="ramp, baggage or gates.")]) -> Json:
    """Who leads the shift in an area today, from when to when, with telephone."""
    row = next((row for row in _SHIFTS if row[0] == area), None)
    if row is None:
        raise ToolError(f"Unknown area '{area}'. Areas: {', '.join(entry[0] for entry in _SHIFTS)}.")
    return dict(zip(("area", "shift_lead", "from", "to", "phone"), row, strict=True))


@tool(effect="read")
def operations_manual(query: Annotated[str, Field(description="Subject, in English.")]) -> Json:
    """Search the ground operations manual for the procedure to follow."""
    words = {word[:5] for word in query.lower().split() if len(word) > 2}
    scored = [(sum(word in f"{title} {text}".lower() for word in words), (n, title, text)) for n, title, text in _RULES]
    scored.sort(key=lambda entry: -entry[0])
    return {"matches": [{"paragraph": n, "title": t, "text": x} for score, (n, t, x) in scored if score]}


def toolset() -> Toolset:
    """Five tools, ten questions. Facts are counted here from the rows themselves."""
    cancelled = [row for row in _FLIGHTS if row["status"] == "cancelled"]
    latest = max(_FLIGHTS, key=lambda row: row["delay"]["minutes"])
    city = Counter(row["destination"] for row in _FLIGHTS).most_common(1)[0]
    asked = _FLIGHTS[30]
    oslo = [row for row in _FLIGHTS if row["destination"] == "Oslo"]
    fullest = max(_FLIGHTS, key=lambda row: row["passengers"])
    places = {row["flight"]: str(row) for row in _FLIGHTS} | {name: str(row) for name, row in _GATES.items()}
    places |= {str(row["belt"]): str(row) for row in _BELTS} | {row[0]: str(row) for row in (*_SHIFTS, *_RULES)}
    places |= {row[1]: str(row) for row in (*_SHIFTS, *_RULES)}
    return Toolset(
        "airport",
        (list_departures, gate_status, baggage_belts, duty_roster, operations_manual),
        (
            Asked(
                "How many departures were cancelled today?",
                "今天有多少个航班被取消？",
                (str(len(cancelled)),),
                evidence=(frozenset(row["flight"] for row in cancelled),),
            ),
            Asked(
                "Which flight had the longest delay?",
                "延误时间最长的是哪个航班？",
                (latest["flight"], str(latest["delay"]["minutes"])),
                evidence=(frozenset({latest["flight"]}),),
            ),
            Asked(
                "Which destination has the most flights?",
                "哪个目的地的航班最多？",
                (city[0], str(city[1])),
                evidence=(frozenset(row["flight"] for row in _FLIGHTS if row["destination"] == city[0]),),
            ),
            Asked(
                f"From which gate does {asked['flight']} leave?",
                f"{asked['flight']} 从哪个登机口出发？",
                (asked["gate"],),
                evidence=(frozenset({asked["flight"]}),),
            ),
            Asked(
                "Which gate is closed, and until when?",
                "哪个登机口关闭了，到什么时候？",
                ("A2", "2026-08-15T05:00:00Z"),
                evidence=(frozenset({"A2"}),),
            ),
            Asked(
                "Who leads the baggage shift, and what is the phone number?",
                "baggage 这一班由谁带班，电话是多少？",
                ("Per Nilsen", "+351 900 222"),
                evidence=(frozenset({"baggage", "Per Nilsen"}),),
            ),
            Asked(
                "Which baggage belt has jammed most often today?",
                "今天卡住次数最多的是哪条行李带？",
                ("belt 2", "9"),
                evidence=(frozenset({"belt 2"}),),
            ),
            Asked(
                "How many flights go to Oslo?",
                "飞往 Oslo 的航班有多少个？",
                (str(len(oslo)),),
                evidence=(frozenset(row["flight"] for row in oslo),),
            ),
            Asked(
                "What do we have to do after a fuel spill?",
                "fuel spill 之后该怎么做？",
                told=("Evacuate the stand",),
                evidence=(frozenset({"GOM 7.2", "Fuel spill"}),),
            ),
            Asked(
                "Which flight carries the most passengers?",
                "乘客最多的是哪个航班？",
                (fullest["flight"], str(fullest["passengers"])),
                evidence=(frozenset({fullest["flight"]}),),
            ),
        ),
        places,
    )
