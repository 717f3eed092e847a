"""A company that services lifts: units in buildings, breakdowns, visits of mechanics, a fault manual."""

import random
from collections import Counter
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_BUILDINGS = ("Maple Tower", "City Hospital", "Riverside Mall", "Metro Plaza")
_MECHANICS = ("Tina Vogt", "Arun Das", "Luis Pardo")


def _units() -> list[dict[str, Any]]:
    dice = random.Random(51)
    return [
        {
            "unit_id": f"EL-{100 + number}",
            "building": dice.choice(_BUILDINGS),
            "model": dice.choice(("Ascent 5", "Ascent 7", "Gravis")),
            "status": dice.choices(("in_service", "out_of_service", "maintenance"), (7, 2, 1))[0],
            "load_kg": dice.choice((630, 1000, 1600)),
            "last_inspection": (date(2025, 9, 1) + timedelta(days=6 * number + dice.randint(0, 5))).isoformat(),
        }
        for number in range(36)
    ]


_UNITS = _units()


def _breakdowns() -> list[dict[str, Any]]:
    dice = random.Random(52)
    return [
        {
            "case_no": f"BD-{7000 + number}",
            "unit_id": dice.choice(_UNITS)["unit_id"],
            "cause": dice.choices(("door", "brake", "controller", "vandalism"), (6, 2, 3, 1))[0],
            "trapped_passengers": dice.choices((0, 1, 3), (6, 2, 1))[0],
            "status": dice.choices(("open", "closed"), (2, 5))[0],
            "mechanic": dice.choices(_MECHANICS, (2, 5, 3))[0],
            "repair_minutes": dice.randint(15, 340) + number,
        }
        for number in range(38)
    ]


_BREAKDOWNS = _breakdowns()
_MANUAL = [
    ("M-2", "Door fault", "Clean the door track and check the light curtain before you replace the door motor."),
    (
        "M-5",
        "困人救援",
        "Passenger release: switch the power off, open the brake by hand, and level the car to the next floor.",
    ),
    ("M-9", "Controller error E41", "Reset the controller once; when E41 returns, replace the encoder cable."),
]


@tool(effect="read")
def list_units(
    building: Annotated[str | None, Field(description="Name of the building.")] = None,
    status: Annotated[
        Literal["in_service", "out_of_service", "maintenance"] | None, Field(description="Operating status.")
    ] = None,
) -> Json:
    """List elevators with building, model, operating status and the date of the last inspection."""
    rows = [row for row in _UNITS if building in (None, row["building"]) and status in (None, row["status"])]
    return {"count": len(rows), "units": rows}


@tool(effect="read")
def list_breakdowns(
    status: Annotated[Literal["open", "closed"] | None, Field(description="Case status.")] = None,
    unit_id: Annotated[str | None, Field(description="Only this elevator, e.g. EL-100.")] = None,
) -> Json:
    """List breakdown cases with cause, trapped passengers, mechanic and repair time."""
    rows = [row for row in _BREAKDOWNS if status in (None, row["status"]) and unit_id in (None, row["unit_id"])]
    return {"cases": rows, "total": len(rows)}


@tool(effect="read")
def get_unit(unit_id: Annotated[str, Field(description="Elevator ID, e.g. EL-100.")]) -> Json:
    """Get one elevator with its technical data and maintenance contract."""
    row = next((row for row in _UNITS if row["unit_id"] == unit_id), None)
    if row is None:
        raise ToolError(f"There is no elevator {unit_id}.")
    return {**row, "contract": {"level": random.Random(unit_id).choice(("full", "basic")), "response_hours": 4}}


@tool(effect="read")
def search_manual(query: Annotated[str, Field(description="Search terms.")]) -> Json:
    """Search the service manual for how to fix faults."""
    words = {word[:5] for word in query.lower().split() if len(word) > 1}
    hits = [(sum(word in f"{t} {x}".lower() for word in words), key, t, x) for key, t, x in _MANUAL]
    return {"chapters": [{"chapter": k, "title": t, "text": x} for score, k, t, x in sorted(hits)[::-1] if score]}


def toolset() -> Toolset:
    """Four tools, ten questions. Facts are counted here from the rows themselves."""
    out = [row for row in _UNITS if row["status"] == "out_of_service"]
    hospital = [row for row in _UNITS if row["building"] == "City Hospital"]
    where = Counter(row["building"] for row in out).most_common(1)[0]
    cause = Counter(row["cause"] for row in _BREAKDOWNS).most_common(1)[0]
    who = Counter(row["mechanic"] for row in _BREAKDOWNS).most_common(1)[0]
    longest = max(_BREAKDOWNS, key=lambda row: row["repair_minutes"])
    waiting = [row for row in _BREAKDOWNS if row["status"] == "open"]
    oldest = min(_UNITS, key=lambda row: row["last_inspection"])
    places = {row["unit_id"]: str(row) for row in _UNITS} | {row["case_no"]: str(row) for row in _BREAKDOWNS}
    places |= {key: f"{title} {text}" for key, title, text in _MANUAL} | {row[1]: row[2] for row in _MANUAL}
    return Toolset(
        "lifts",
        (list_units, list_breakdowns, get_unit, search_manual),
        (
            Asked(
                "How many elevators are out of service?",
                "有多少部电梯停运了（out of service）？",
                (str(len(out)),),
                evidence=(frozenset(row["unit_id"] for row in out),),
            ),
            Asked(
                "How many elevators are there in City Hospital?",
                "City Hospital 有多少部电梯？",
                (str(len(hospital)),),
                evidence=(frozenset(row["unit_id"] for row in hospital),),
            ),
            Asked(
                "Which building has the most elevators out of service?",
                "哪栋楼停运（out_of_service）的电梯最多？",
                (where[0], str(where[1])),
                evidence=(frozenset(row["unit_id"] for row in out if row["building"] == where[0]),),
            ),
            Asked(
                "What is the most common cause of breakdowns, and what does the manual say about it?",
                "故障最常见的原因是什么？手册里怎么说？",
                (cause[0], str(cause[1])),
                ("Clean the door track",),
                (
                    frozenset(row["case_no"] for row in _BREAKDOWNS if row["cause"] == cause[0]),
                    frozenset({"M-2", "Door fault"}),
                ),
            ),
            Asked(
                "Which mechanic handled the most breakdowns?",
                "哪位维修工处理的故障最多？",
                (who[0], str(who[1])),
                evidence=(frozenset(row["case_no"] for row in _BREAKDOWNS if row["mechanic"] == who[0]),),
            ),
            Asked(
                "Which breakdown took the longest to repair?",
                "哪次故障维修时间最长？",
                (longest["case_no"], str(longest["repair_minutes"])),
                evidence=(frozenset({longest["case_no"]}),),
            ),
            Asked(
                "How many breakdown cases are open?",
                "还有多少个故障没有关闭？",
                (str(len(waiting)),),
                evidence=(frozenset(row["case_no"] for row in waiting),),
            ),
            Asked(
                "What is the status of EL-117?",
                "EL-117 现在是什么状态？",
                (_UNITS[17]["status"],),
                evidence=(frozenset({"EL-117"}),),
            ),
            Asked(
                "Which elevator has gone longest without an inspection?",
                "哪部电梯最久没有检验了？",
                (oldest["unit_id"], oldest["last_inspection"]),
                evidence=(frozenset({oldest["unit_id"]}),),
            ),
            Asked(
                "How do we release trapped passengers?",
                "电梯困人了怎么救援？",
                told=("open the brake by hand",),
                evidence=(frozenset({"M-5", "困人救援"}),),
            ),
        ),
        places,
    )
