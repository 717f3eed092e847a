"""A water utility: pumping stations with readings, leaks and the crews at work, work orders, procedures."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_ZONES = ("North", "Hillside", "Docklands", "Old Town")
_START = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)


def _stations() -> list[dict[str, Any]]:
    dice = random.Random(31)
    return [
        {
            "station": f"PS-{number:02}",
            "zone": dice.choice(_ZONES),
            "pumps": {"installed": dice.randint(3, 6), "running": dice.randint(1, 3)},
            "pressure_bar": round(dice.uniform(2.1, 6.9), 2),
            "flow_m3h": dice.randint(80, 900) + number,
            "alarm": dice.choices(("none", "low pressure", "power failure"), (6, 2, 1))[0],
        }
        for number in range(1, 19)
    ]


_STATIONS = _stations()


def _leaks() -> list[dict[str, Any]]:
    dice = random.Random(32)
    return [
        {
            "leak_id": f"L{2201 + number}",
            "street": f"{dice.choice(('Mill', 'Quay', 'Abbey', 'Station', 'Orchard'))} {dice.choice(('Lane', 'Road'))}",
            "zone": dice.choices(_ZONES, (2, 3, 5, 3))[0],
            "severity": dice.choices(("minor", "major", "burst"), (6, 3, 1))[0],
            "state": dice.choices(("reported", "located", "repaired"), (3, 2, 4))[0],
            "crew": dice.choices(("Crew A", "Crew B", "Crew C", None), (3, 5, 2, 2))[0],
            "reported_at": (_START + timedelta(hours=7 * number)).isoformat().replace("+00:00", "Z"),
            "loss_litres_per_minute": dice.randint(1, 90) + number,
        }
        for number in range(40)
    ]


_LEAKS = _leaks()
_CREWS = {
    "Crew A": {"foreman": "Nils Aker", "vehicle": "WV-11", "on_shift": True},
    "Crew B": {"foreman": "Dana Petrov", "vehicle": "WV-14", "on_shift": True},
    "Crew C": {"foreman": "Hugo Marsh", "vehicle": "WV-09", "on_shift": False},
}
_PROCEDURES = [
    (
        "SP-3",
        "Burst main",
        "Close the two nearest valves, inform the fire service, and set up a standpipe within two hours.",
    ),
    (
        "SP-5",
        "低压报警",
        "Low pressure: start the standby pump; if pressure stays under 2 bar for ten minutes, open the zone valve.",
    ),
    (
        "SP-8",
        "Power failure at a station",
        "Switch to the diesel generator and check its fuel; call the grid operator.",
    ),
    ("SP-11", "Discoloured water", "Flush the hydrant for fifteen minutes and take two samples for the laboratory."),
]


@tool(effect="read")
def list_stations(
    zone: Annotated[
        Literal["North", "Hillside", "Docklands", "Old Town"] | None, Field(description="Supply zone.")
    ] = None,
) -> Json:
    """List pumping stations with current pressure, flow, running pumps and active alarm."""
    return {"stations": [{**row} for row in _STATIONS if zone in (None, row["zone"])]}


@tool(effect="read")
def station_readings(station: Annotated[str, Field(description="Station code such as PS-01.")]) -> Json:
    """Hourly pressure readings of one station today, and the lowest and highest value."""
    if all(row["station"] != station for row in _STATIONS):
        raise ToolError(f"Station {station} is unknown.")
    dice = random.Random(station)
    values = [round(dice.uniform(1.8, 6.5), 2) for _ in range(8)]
    readings = [{"time": f"{hour:02}:00", "bar": value} for hour, value in enumerate(values)]
    return {"station": station, "min_bar": min(values), "max_bar": max(values), "readings": list(readings)}


@tool(effect="read")
def search_leaks(
    zone: Annotated[str | None, Field(description="Supply zone, e.g. North.")] = None,
    severity: Annotated[Literal["minor", "major", "burst"] | None, Field(description="How bad it is.")] = None,
    state: Annotated[
        Literal["reported", "located", "repaired"] | None, Field(description="State of the repair.")
    ] = None,
) -> Json:
    """Search leaks in the network: where, how severe, state of repair, crew and water loss."""
    rows = [
        row
        for row in _LEAKS
        if zone in (None, row["zone"]) and severity in (None, row["severity"]) and state in (None, row["state"])
    ]
    return {"result_count": len(rows), "leaks": [{**row} for row in rows]}


@tool(effect="read")
def crew_status() -> Json:
    """Repair crews with their foreman, vehicle and whether they are on shift."""
    return {"crews": [{"crew": name, **row} for name, row in _CREWS.items()]}


@tool(effect="read")
def find_procedure(keywords: Annotated[str, Field(description="Keywords, e.g. 'discoloured water'.")]) -> Json:
    """Find the standard procedure for a situation."""
    words = {word[:5] for word in keywords.lower().split() if len(word) > 1}
    hits = [(sum(word in f"{t} {x}".lower() for word in words), key, t, x) for key, t, x in _PROCEDURES]
    return {"procedures": [{"code": k, "title": t, "steps": x} for score, k, t, x in sorted(hits)[::-1] if score]}


@tool(effect="write")
def dispatch_crew(leak_id: str, crew: Annotated[str, Field(description="Name of the crew.")]) -> Json:
    """Send a repair crew to a leak."""
    return {"leak_id": leak_id, "crew": crew, "dispatched": True}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    undone = [row for row in _LEAKS if row["state"] != "repaired"]
    major = [row for row in _LEAKS if row["severity"] == "major"]
    zone = Counter(row["zone"] for row in _LEAKS).most_common(1)[0]
    crew = Counter(row["crew"] for row in _LEAKS if row["crew"] and row["state"] == "repaired").most_common(1)[0]
    worst = max(_LEAKS, key=lambda row: row["loss_litres_per_minute"])
    low = min(_STATIONS, key=lambda row: row["pressure_bar"])
    power = [row for row in _STATIONS if row["alarm"] == "power failure"]
    newest = max(_LEAKS, key=lambda row: row["reported_at"])
    dice = random.Random("PS-07")
    lowest = min(round(dice.uniform(1.8, 6.5), 2) for _ in range(8))
    places = {row["station"]: str(row) for row in _STATIONS} | {row["leak_id"]: str(row) for row in _LEAKS}
    places |= {name: f"{name} {row}" for name, row in _CREWS.items()}
    places |= {key: f"{title} {text}" for key, title, text in _PROCEDURES} | {row[1]: row[2] for row in _PROCEDURES}
    return Toolset(
        "waterworks",
        (list_stations, station_readings, search_leaks, crew_status, find_procedure, dispatch_crew),
        (
            Asked(
                "How many major leaks are there?",
                "严重（major）漏水有多少处？",
                (str(len(major)),),
                evidence=(frozenset(row["leak_id"] for row in major),),
            ),
            Asked(
                "How many leaks have not been repaired yet?",
                "还有多少处漏水没有修好？",
                (str(len(undone)),),
                evidence=(frozenset(row["leak_id"] for row in undone),),
            ),
            Asked(
                "Which zone has the most leaks?",
                "哪个区域的漏水最多？",
                (zone[0], str(zone[1])),
                evidence=(frozenset(row["leak_id"] for row in _LEAKS if row["zone"] == zone[0]),),
            ),
            Asked(
                "Which crew has repaired the most leaks?",
                "哪个班组修好的漏水最多？",
                (crew[0], str(crew[1])),
                evidence=(frozenset(r["leak_id"] for r in _LEAKS if (r["crew"], r["state"]) == (crew[0], "repaired")),),
            ),
            Asked(
                "Which leak loses the most water?",
                "哪处漏水每分钟流失的水最多？",
                (worst["leak_id"], str(worst["loss_litres_per_minute"])),
                evidence=(frozenset({worst["leak_id"]}),),
            ),
            Asked(
                "Which pumping station has the lowest pressure?",
                "压力最低的泵站是哪个？",
                (low["station"], str(low["pressure_bar"])),
                evidence=(frozenset({low["station"]}),),
            ),
            Asked(
                "What was the minimum pressure of PS-07 today?",
                "PS-07 今天的最低压力是多少？",
                (str(lowest),),
                evidence=(frozenset({"PS-07"}),),
            ),
            Asked(
                "Who is the foreman of Crew B?",
                "Crew B 的工长是谁？",
                ("Dana Petrov",),
                evidence=(frozenset({"Crew B"}),),
            ),
            Asked(
                "Which stations have a power failure, and what is the procedure?",
                "哪些泵站停电（power failure）了？处理流程是什么？",
                (power[0]["station"],),
                ("Switch to the diesel generator",),
                (frozenset(row["station"] for row in power), frozenset({"SP-8", "Power failure at a station"})),
            ),
            Asked(
                "When was the latest leak reported?",
                "最近一次漏水是什么时候上报的？",
                (newest["reported_at"],),
                evidence=(frozenset({newest["leak_id"]}),),
            ),
        ),
        places,
    )
