"""A logistics company: shipments with delays, tracking, warehouses, carriers' performance, SOPs with Chinese titles."""

import random
import re
from collections import Counter
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_WAREHOUSES = [
    {
        "code": "RTM1",
        "city": "Rotterdam",
        "manager": "Anouk de Wit",
        "capacity_pallets": 9000,
        "stored_pallets": 8120,
        "docks": 24,
        "dock_outages": 1,
    },
    {
        "code": "LEJ2",
        "city": "Leipzig",
        "manager": "Stefan Kolb",
        "capacity_pallets": 12000,
        "stored_pallets": 7344,
        "docks": 40,
        "dock_outages": 0,
    },
    {
        "code": "KTW1",
        "city": "Katowice",
        "manager": "Ola Wrona",
        "capacity_pallets": 5000,
        "stored_pallets": 4890,
        "docks": 12,
        "dock_outages": 3,
    },
]
_CODES = ("RTM1", "LEJ2", "KTW1")
_CARRIERS = {
    "Swift Freight": (94.2, 31, 2.1, "ops@swiftfreight.example"),
    "Baltic Lines": (81.7, 88, 3.6, "desk@balticlines.example"),
    "Alpenroad": (89.5, 12, 2.9, "dispo@alpenroad.example"),
}


def _shipments() -> list[dict[str, Any]]:
    dice, found = random.Random(5150), []
    for number in range(72):
        status = dice.choices(("in_transit", "delayed", "delivered", "customs_hold"), (5, 4, 6, 1))[0]
        found.append(
            {
                "tracking_number": f"SHP{30400 + 3 * number}",
                "origin_warehouse": dice.choices(_CODES, (4, 3, 5))[0],
                "destination": dice.choice(("Vienna", "Lyon", "Turin", "Malmö", "Gdynia")),
                "carrier": dice.choices(list(_CARRIERS), (4, 5, 3))[0],
                "status": status,
                "weight_kg": dice.randint(40, 12000) + number,
                "eta": (date(2026, 10, 1) + timedelta(days=dice.randint(0, 20))).isoformat(),
                "delay": {
                    "hours": dice.randint(2, 70),
                    "cause": dice.choice(("weather", "missed_slot", "driver_shortage")),
                }
                if status == "delayed"
                else None,
            }
        )
    return found


_SHIPMENTS = _shipments()
_SOPS = [
    {
        "id": "SOP-07",
        "title": "延误货物处理流程",
        "body": "Delayed shipments: call the carrier's dispatcher first, then offer the customer a new delivery slot. "
        "Delays over 48 hours go to the duty manager.",
        "tags": ["delay", "延误"],
        "revised": "2026-04-11",
    },
    {
        "id": "SOP-12",
        "title": "冷链温度超标",
        "body": "Cold chain: when the temperature of a shipment exceeds 8 degrees for 30 minutes, quarantine the "
        "pallets and inform quality assurance.",
        "tags": ["cold chain", "temperature", "冷链"],
        "revised": "2026-02-03",
    },
    {
        "id": "SOP-15",
        "title": "Customs hold",
        "body": "Send the commercial invoice and the HS codes to the broker within two hours. Do not reroute.",
        "tags": ["customs", "海关"],
        "revised": "2025-12-19",
    },
    {
        "id": "SOP-21",
        "title": "Dock door out of service",
        "body": "Lock the door out, move the slots to the neighbouring docks and call maintenance.",
        "tags": ["dock", "maintenance"],
        "revised": "2026-07-30",
    },
]


def _checkpoints(row: dict[str, Any]) -> list[dict[str, Any]]:
    dice = random.Random(row["tracking_number"])
    stops = dice.sample(("Hannover hub", "Brno hub", "Linz depot", "Metz depot", "Poznan hub"), 3)
    return [
        {"at": f"2026-09-{20 + 2 * number}T{dice.randint(10, 19)}:05:00Z", "location": stop, "event": "departed"}
        for number, stop in enumerate(stops)
    ]


@tool(effect="read")
def list_shipments(
    warehouse: Annotated[str, Field(description="Code of the origin warehouse, e.g. RTM1. Empty for all.")] = "",
    carrier: Annotated[str, Field(description="Carrier name. Empty for all.")] = "",
    status: Annotated[
        Literal["in_transit", "delayed", "delivered", "customs_hold", "any"], Field(description="Shipment status.")
    ] = "any",
) -> Json:
    """List shipments with origin, destination, carrier, status, ETA and, when delayed, the delay and its cause."""
    rows = [
        row
        for row in _SHIPMENTS
        if warehouse in ("", row["origin_warehouse"])
        and carrier in ("", row["carrier"])
        and status in ("any", row["status"])
    ]
    return {"summary": {"matched": len(rows)}, "shipments": [{**row} for row in rows]}


@tool(effect="read")
def track_shipment(tracking_number: Annotated[str, Field(description="Tracking number, e.g. SHP12345.")]) -> Json:
    """Track a shipment: its current location and all checkpoints so far."""
    row = next((row for row in _SHIPMENTS if row["tracking_number"] == tracking_number), None)
    if row is None:
        raise ToolError(f"No shipment {tracking_number}.")
    stops = _checkpoints(row)
    return {
        "tracking_number": tracking_number,
        "current_location": stops[-1]["location"],
        "last_update": stops[-1]["at"],
        "checkpoints": list(stops),
    }


@tool(effect="read")
def list_warehouses() -> Json:
    """List the warehouses with manager, capacity and stored pallets, and loading docks."""
    return {"warehouses": [{**row} for row in _WAREHOUSES]}


@tool(effect="read")
def carrier_performance(
    carrier: Annotated[str | None, Field(description="Carrier name, or nothing for all carriers.")] = None,
) -> Json:
    """Performance of the carriers in the last 30 days: on-time rate, claims, average cost per km, contact."""
    return {
        "period_days": 30,
        "carriers": [
            {"name": n, "on_time_rate_percent": rate, "open_claims": claims, "cost_per_km_eur": cost, "contact": mail}
            for n, (rate, claims, cost, mail) in _CARRIERS.items()
            if carrier in (None, n)
        ],
    }


@tool(effect="read")
def search_sop(query: Annotated[str, Field(description="Search terms, English or Chinese.")]) -> Json:
    """Search the standard operating procedures (SOP)."""
    words = {word[:5] for word in re.findall(r"[a-z]{3,}|[\u4e00-\u9fff]{2}", query.lower())}
    words |= set(re.findall(r"[\u4e00-\u9fff]{2}", query[1:]))
    hits = [(sum(word in str(row).lower() for word in words), row["id"], row) for row in _SOPS]
    return {"hits": [{**row} for score, _, row in sorted(hits, key=lambda hit: (-hit[0], hit[1])) if score]}


def toolset() -> Toolset:
    """Five tools, ten questions. Facts are counted here from the rows themselves."""
    late = [row for row in _SHIPMENTS if row["status"] == "delayed"]
    worst = Counter(row["origin_warehouse"] for row in late).most_common(1)[0]
    held = [row for row in _SHIPMENTS if row["status"] == "customs_hold"]
    baltic = [row for row in late if row["carrier"] == "Baltic Lines"]
    slowest = max(late, key=lambda row: row["delay"]["hours"])
    cause = Counter(row["delay"]["cause"] for row in late).most_common(1)[0]
    heavy = max(_SHIPMENTS, key=lambda row: row["weight_kg"])
    some = _SHIPMENTS[17]
    places = {row["tracking_number"]: str(row) for row in _SHIPMENTS} | {str(w["code"]): str(w) for w in _WAREHOUSES}
    places |= {str(w["city"]): str(w) for w in _WAREHOUSES} | {name: f"{name} {row}" for name, row in _CARRIERS.items()}
    places |= {str(row["id"]): str(row) for row in _SOPS} | {str(row["title"]): str(row) for row in _SOPS}
    return Toolset(
        "logistics",
        (list_shipments, track_shipment, list_warehouses, carrier_performance, search_sop),
        (
            Asked(
                "Which warehouse has the most delayed shipments, and what does the SOP say to do?",
                "哪个仓库延误的货物最多？SOP 里说应该怎么处理？",
                (worst[0], str(worst[1])),
                ("call the carrier's dispatcher first",),
                (
                    frozenset(row["tracking_number"] for row in late if row["origin_warehouse"] == worst[0]),
                    frozenset({"SOP-07", "延误货物处理流程"}),
                ),
            ),
            Asked(
                "How many shipments are held at customs?",
                "有多少票货被海关扣留？",
                (str(len(held)),),
                evidence=(frozenset(row["tracking_number"] for row in held),),
            ),
            Asked(
                f"Where is shipment {some['tracking_number']} now?",
                f"{some['tracking_number']} 这票货现在在哪里？",
                (_checkpoints(some)[-1]["location"],),
                evidence=(frozenset({some["tracking_number"]}),),
            ),
            Asked(
                "Which carrier has the worst on-time rate?",
                "哪家承运商的准时率最差？",
                ("Baltic Lines", "81.7"),
                evidence=(frozenset({"Baltic Lines"}),),
            ),
            Asked(
                "Who is the manager of the Leipzig warehouse?",
                "Leipzig 仓库的经理是谁？",
                ("Stefan Kolb",),
                evidence=(frozenset({"LEJ2", "Leipzig"}),),
            ),
            Asked(
                "How many shipments of Baltic Lines are delayed?",
                "Baltic Lines 有多少票货延误了？",
                (str(len(baltic)),),
                evidence=(frozenset(row["tracking_number"] for row in baltic),),
            ),
            Asked(
                "Which shipment has the longest delay and why?",
                "延误时间最长的是哪票货？原因是什么？",
                (slowest["tracking_number"], str(slowest["delay"]["hours"]), slowest["delay"]["cause"]),
                evidence=(frozenset({slowest["tracking_number"]}),),
            ),
            Asked(
                "What is the main cause of delays?",
                "延误的主要原因是什么？",
                (cause[0], str(cause[1])),
                evidence=(frozenset(row["tracking_number"] for row in late if row["delay"]["cause"] == cause[0]),),
            ),
            Asked(
                "What do we do if a cold chain shipment gets too warm?",
                "冷链货物温度超标了怎么办？",
                told=("quarantine the pallets",),
                evidence=(frozenset({"SOP-12", "冷链温度超标"}),),
            ),
            Asked(
                "Which is the heaviest shipment?",
                "最重的一票货是哪个？",
                (heavy["tracking_number"], str(heavy["weight_kg"])),
                evidence=(frozenset({heavy["tracking_number"]}),),
            ),
        ),
        places,
    )
