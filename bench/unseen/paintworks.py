"""A paint factory: machines, stoppages, production orders, laboratory checks, spare parts and work instructions."""

import random
from collections import Counter
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_MACHINES: list[dict[str, Any]] = [
    {
        "machine_id": machine,
        "name": name,
        "hall": hall,
        "manufacturer": maker,
        "year_built": year,
        "state": state,
        "responsible": person,
        "last_maintenance": maintained,
    }
    for machine, name, hall, maker, year, state, person, maintained in (
        ("DS-01", "Disperser 1", "Hall A", "Rotomix", 2011, "running", "Karin Olsen", "2026-04-22"),
        ("DS-02", "Disperser 2", "Hall A", "Rotomix", 2018, "running", "Karin Olsen", "2026-05-11"),
        ("BM-01", "Bead mill 1", "Hall A", "Perlwerk", 2009, "stopped", "Yusuf Kaya", "2026-03-03"),
        ("BM-02", "Bead mill 2", "Hall A", "Perlwerk", 2020, "running", "Yusuf Kaya", "2026-06-02"),
        ("TK-01", "Let-down tank 1", "Hall B", "Stahlbau Ruf", 2004, "running", "Bruno Silva", "2026-02-16"),
        ("TK-02", "Let-down tank 2", "Hall B", "Stahlbau Ruf", 2004, "cleaning", "Bruno Silva", "2026-02-17"),
        ("TT-01", "Tinting station", "Hall B", "Colortec", 2022, "running", "Emma Rossi", "2026-05-28"),
        ("FL-01", "Filling line 1", "Hall C", "Fillmatic", 2015, "running", "Ahmed Nasser", "2026-06-09"),
        ("FL-02", "Filling line 2", "Hall C", "Fillmatic", 2019, "in maintenance", "Ivana Petkova", "2026-01-20"),
        ("PL-01", "Palletiser", "Hall C", "Liftrobot", 2021, "running", "Greta Lund", "2026-05-05"),
    )
]

_CAUSES = ("mechanical", "electrical", "missing material", "cleaning", "operator")
_REMARKS = {
    "mechanical": "Bearing noisy, greased and checked",
    "electrical": "Frequency converter tripped, reset",
    "missing material": "Waited for titanium dioxide from the warehouse",
    "cleaning": "Unplanned cleaning after colour change",
    "operator": "No operator available",
}


def _stoppages() -> list[dict[str, Any]]:
    dice = random.Random(2024)
    start = datetime(2026, 5, 1, 6, 0)  # noqa: DTZ001
    rows = []
    for number in range(1, 65):
        start += timedelta(minutes=dice.randint(300, 2000))
        cause = dice.choices(_CAUSES, (5, 3, 3, 2, 1))[0]
        rows.append(
            {
                "stop_no": f"ST-{number:03}",
                "machine_id": dice.choice(_MACHINES)["machine_id"],
                "start": start.strftime("%Y-%m-%d %H:%M"),
                "minutes": dice.randint(5, 95),
                "cause": cause,
                "shift": "early" if 6 <= start.hour < 14 else "late" if 14 <= start.hour < 22 else "night",
                "remark": _REMARKS[cause],
            }
        )
    rows[29].update(machine_id="BM-01", minutes=412, cause="mechanical", remark="Shaft seal leaking, seal replaced")
    return rows


_STOPS = _stoppages()
_PRODUCTS = ("Wall White 10 l", "Facade Grey 5 l", "Wood Stain Oak 1 l", "Metal Primer Red 2 l", "Floor Coating 5 l")
_CUSTOMERS = ("Baumarkt Süd", "Nordcolor", "Farben Ott", "Hagedorn & Co", "Maler Union")


def _orders() -> list[dict[str, Any]]:
    dice = random.Random(31)
    rows = []
    for number in range(7701, 7741):
        due = date(2026, 6, 1) + timedelta(days=number - 7701 + dice.randint(0, 3))
        rows.append(
            {
                "order_no": f"PO-{number}",
                "product": dice.choice(_PRODUCTS),
                "customer": dice.choice(_CUSTOMERS),
                "litres": dice.randint(8, 60) * 100,
                "status": "finished" if number < 7724 else dice.choice(("planned", "in production", "on hold")),
                "filled_on": dice.choice(("FL-01", "FL-02")),
                "due_date": due.isoformat(),
            }
        )
    return rows


_ORDERS = _orders()


def _checks() -> list[dict[str, Any]]:
    dice = random.Random(5)
    rows = []
    made = [order for order in _ORDERS[:28] if order["status"] != "planned"]
    for number, order in enumerate(made, 1):
        passed = dice.random() < 0.75
        rows.append(
            {
                "check_id": f"QC-{number:04}",
                "order_no": order["order_no"],
                "inspector": dice.choice(("Dr. Weiss", "L. Tanaka", "P. Marin")),
                "viscosity_ku": dice.randint(92, 108) if passed else dice.randint(112, 121),
                "gloss": dice.randint(6, 88),
                "result": "pass" if passed else "fail",
                "comment": "" if passed else dice.choice(("Too thick, dilute and repeat", "Pigment not dispersed")),
            }
        )
    return rows


_CHECKS = _checks()

_PARTS: list[dict[str, Any]] = [
    {
        "part_no": part,
        "description": text,
        "fits": fits,
        "stock": stock,
        "minimum": minimum,
        "shelf": shelf,
        "supplier": supplier,
        "price_eur": price,
    }
    for part, text, fits, stock, minimum, shelf, supplier, price in (
        ("SP-1001", "Shaft seal", ["BM-01", "BM-02"], 1, 2, "R3-04", "Perlwerk", 385),
        ("SP-1002", "Grinding beads 25 kg", ["BM-01", "BM-02"], 14, 6, "R1-01", "Perlwerk", 410),
        ("SP-1003", "Disperser disc 300 mm", ["DS-01", "DS-02"], 3, 2, "R2-11", "Rotomix", 268),
        ("SP-1004", "Filling nozzle", ["FL-01", "FL-02"], 2, 6, "R4-02", "Fillmatic", 74),
        ("SP-1005", "Lid press spring", ["FL-01", "FL-02"], 22, 10, "R4-03", "Fillmatic", 9),
        ("SP-1006", "Tint pump", ["TT-01"], 1, 1, "R2-06", "Colortec", 990),
        ("SP-1007", "Gripper pad", ["PL-01"], 0, 4, "R5-07", "Liftrobot", 31),
        ("SP-1008", "Level sensor", ["TK-01", "TK-02"], 5, 2, "R2-08", "Messtechnik Arndt", 152),
        ("SP-1009", "V-belt set", ["DS-01"], 4, 2, "R2-12", "Rotomix", 57),
    )
]

_INSTRUCTIONS: list[tuple[str, int, str, str]] = [
    ("WI-05_filling.md", 4, "Clogged nozzle", ("Stop the line, relieve the pressure and soak the nozzle in warm "
     "solvent for ten minutes. Never clear it with a wire.")),
    ("WI-05_filling.md", 11, "Wrong fill weight", ("Check the tare of the scale, then adjust the dosing time in steps "
     "of 20 ms.")),
    ("WI-02_milling.md", 6, "Temperature above 55 degrees", ("Reduce the mill speed by a third and open the cooling "
     "water fully. Stop the mill at 65 degrees.")),
    ("WI-02_milling.md", 15, "Leaking shaft seal", ("Stop the mill, close the product valve and call the mechanic on "
     "duty. Don't top up the barrier fluid.")),
    ("WI-09_laboratory.md", 3, "Batch fails viscosity", ("Put the batch on hold, add at most 2 percent of water, stir "
     "for 30 minutes and measure again.")),
    ("WI-11_safety.md", 8, "Solvent spill", ("Keep ignition sources away, cover the spill with binder and report it to "
     "the safety officer.")),
]  # fmt: skip


@tool(effect="read")
def get_machines(
    hall: Annotated[Literal["Hall A", "Hall B", "Hall C"] | None, Field(description="Production hall.")] = None,
    state: Annotated[
        Literal["running", "stopped", "cleaning", "in maintenance"] | None, Field(description="Current state.")
    ] = None,
) -> Json:
    """Machines of the plant with location, current state, responsible technician and date of last maintenance."""
    return {"machines": [{**row} for row in _MACHINES if hall in (None, row["hall"]) and state in (None, row["state"])]}


@tool(effect="read")
def get_stoppages(
    machine_id: Annotated[str | None, Field(description="Machine, e.g. DS-01.")] = None,
    cause: Annotated[
        Literal["mechanical", "electrical", "missing material", "cleaning", "operator"] | None,
        Field(description="Cause of the stoppage."),
    ] = None,
    date_from: Annotated[date | None, Field(description="First day.")] = None,
    date_to: Annotated[date | None, Field(description="Last day, inclusive.")] = None,
) -> Json:
    """Log of machine stoppages: start, minutes lost, cause, shift and remark."""
    rows = [
        row
        for row in _STOPS
        if machine_id in (None, row["machine_id"])
        and cause in (None, row["cause"])
        and (date_from is None or row["start"][:10] >= date_from.isoformat())
        and (date_to is None or row["start"][:10] <= date_to.isoformat())
    ]
    return {"count": len(rows), "stoppages": [{**row} for row in rows]}


@tool(effect="read")
def get_production_orders(
    order_no: Annotated[str | None, Field(description="Order number, e.g. PO-7701.")] = None,
    status: Annotated[
        Literal["planned", "in production", "on hold", "finished"] | None, Field(description="Status of the order.")
    ] = None,
    customer: Annotated[str | None, Field(description="Name of the customer.")] = None,
) -> Json:
    """Production orders: product, customer, litres, status, filling line and due date."""
    rows = [
        row
        for row in _ORDERS
        if order_no in (None, row["order_no"])
        and status in (None, row["status"])
        and customer in (None, row["customer"])
    ]
    if order_no and not rows:
        raise ToolError(f"Production order {order_no} does not exist.")
    return {"count": len(rows), "orders": [{**row} for row in rows]}


@tool(effect="read")
def get_quality_checks(
    order_no: Annotated[str | None, Field(description="Only checks of this production order.")] = None,
    result: Annotated[Literal["pass", "fail"] | None, Field(description="Only checks with this result.")] = None,
) -> Json:
    """Laboratory checks of finished and running batches: viscosity in Krebs units, gloss, result, inspector."""
    return {
        "checks": [
            {**row} for row in _CHECKS if order_no in (None, row["order_no"]) and result in (None, row["result"])
        ]
    }


@tool(effect="read")
def get_spare_parts(
    text: Annotated[str, Field(description="Part number or part of the description; empty for all.")] = "",
    machine_id: Annotated[str | None, Field(description="Only parts that fit this machine.")] = None,
) -> Json:
    """Spare parts in the store: stock, minimum stock, shelf, supplier and price."""
    return {
        "parts": [
            {**row}
            for row in _PARTS
            if text.lower() in f"{row['part_no']} {row['description']}".lower() and machine_id in (None, *row["fits"])
        ]
    }


@tool(effect="read")
def find_work_instruction(
    keywords: Annotated[str, Field(description="Keywords in English, e.g. 'wrong fill weight'.")],
) -> Json:
    """Search the work instructions of the plant. Returns matching sections with file and line."""
    words = {word.strip("?.,!'\"")[:5] for word in keywords.lower().split()}
    words = {word for word in words if len(word) > 3}
    scored = [(sum(w in f"{title} {text}".lower() for w in words), file, line, title, text)
              for file, line, title, text in _INSTRUCTIONS]  # fmt: skip
    scored.sort(key=lambda row: -row[0])
    return {
        "sections": [
            {"file": file, "line": line, "heading": title, "text": text}
            for score, file, line, title, text in scored
            if score
        ][:3]
    }


def toolset() -> Toolset:
    """Six tools, ten questions; facts are computed from the rows."""
    machines = {row["machine_id"]: row for row in _MACHINES}
    longest = max(_STOPS, key=lambda row: row["minutes"])
    palletiser = [row for row in _STOPS if row["machine_id"] == "PL-01"]
    lost = sum(row["minutes"] for row in palletiser)
    failed = [row for row in _CHECKS if row["result"] == "fail"]
    low = [row for row in _PARTS if row["stock"] < row["minimum"]]
    order = next(row for row in _ORDERS if row["order_no"] == "PO-7712")
    line = machines[order["filled_on"]]
    oldest = min(_MACHINES, key=lambda row: row["last_maintenance"])
    june = [row for row in _STOPS if row["start"].startswith("2026-06")]
    causes = Counter(row["cause"] for row in june)
    assert causes["mechanical"] != causes["electrical"]
    winner = max(("mechanical", "electrical"), key=lambda cause: causes[cause])
    held = [row["order_no"] for row in _ORDERS if row["status"] == "on hold"]
    seal = _PARTS[0]
    places = {key: str(row) for key, row in machines.items()} | {row["stop_no"]: str(row) for row in _STOPS}
    places |= {row["name"]: str(row) for row in _MACHINES}
    places |= {row["order_no"]: str(row) for row in _ORDERS} | {row["check_id"]: str(row) for row in _CHECKS}
    places |= {row["part_no"]: str(row) for row in _PARTS}
    places |= {f"{file}:{at}": f"{title}: {text}" for file, at, title, text in _INSTRUCTIONS}
    places |= {file: " ".join(t for f, _, _, t in _INSTRUCTIONS if f == file) for file, *_ in _INSTRUCTIONS}
    places |= {title: text for _, _, title, text in _INSTRUCTIONS}
    return Toolset(
        "paint factory",
        (
            get_machines,
            get_stoppages,
            get_production_orders,
            get_quality_checks,
            get_spare_parts,
            find_work_instruction,
        ),
        (
            Asked(
                "How long was our longest stoppage, and which machine was it?",
                "停机时间最长的一次停了多少分钟？是哪台设备？",
                (str(longest["minutes"]), (longest["machine_id"], machines[longest["machine_id"]]["name"])),
                evidence=(frozenset({longest["stop_no"]}),),
            ),
            Asked(
                "How many minutes has PL-01 lost to stoppages in total?",
                "PL-01 停机一共损失了多少分钟？",
                (str(lost),),
                evidence=(frozenset({"PL-01", *(row["stop_no"] for row in palletiser)}),),
            ),
            Asked(
                "How many lab checks failed?",
                "化验不合格的有几次？",
                (str(len(failed)),),
                evidence=(frozenset(row["check_id"] for row in failed),),
            ),
            Asked(
                "Which spare parts are below their minimum stock?",
                "哪些备件的库存低于最低库存了？",
                tuple((row["part_no"], row["description"]) for row in low),
                evidence=(frozenset(row["part_no"] for row in low),),
            ),
            Asked(
                "Which line was PO-7712 filled on, and who is responsible for that line?",
                "PO-7712 是在哪条灌装线上灌装的？那条线归谁负责？",
                (line["responsible"], (line["machine_id"], line["name"])),
                evidence=(frozenset({"PO-7712", line["machine_id"]}),),
            ),
            Asked(
                "Which machine has gone the longest without maintenance, and when was it last done?",
                "哪台设备最久没保养了？上次保养是什么时候？",
                ((oldest["machine_id"], oldest["name"]), oldest["last_maintenance"]),
                evidence=(frozenset({oldest["machine_id"], oldest["name"]}),),
            ),
            Asked(
                "Were there more mechanical or more electrical stoppages in June 2026? Give me both numbers.",
                "2026年6月的停机，机械原因（mechanical）多还是电气原因（electrical）多？分别是几次？",
                (
                    (winner, {"mechanical": "机械", "electrical": "电气"}[winner]),
                    str(causes["mechanical"]),
                    str(causes["electrical"]),
                ),
                evidence=(frozenset(row["stop_no"] for row in june if row["cause"] in ("mechanical", "electrical")),),
            ),
            Asked(
                "Which orders are on hold at the moment?",
                "目前有哪些订单被暂停（on hold）了？",
                tuple(held),
                evidence=(frozenset(held),),
            ),
            Asked(
                "A nozzle on the filler is clogged again, what are the operators supposed to do?",
                "灌装机的喷嘴（nozzle）又堵了（clogged），作业指导书要求怎么处理？",
                told=(("soak the nozzle in warm solvent", "温溶剂", "温热溶剂", "温热的溶剂"),),
                evidence=(frozenset({"WI-05_filling.md:4", "Clogged nozzle", "WI-05_filling.md"}),),
            ),
            Asked(
                "Where do I find a shaft seal in the store and how many are left?",
                "轴封（shaft seal）放在仓库哪个货架？还剩几个？",
                (seal["shelf"], (str(seal["stock"]), "one")),
                evidence=(frozenset({seal["part_no"]}),),
            ),
        ),
        places,
    )
