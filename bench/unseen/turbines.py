"""A wind farm: alarms with a total, power as pairs of time and value, spare parts, work orders, a manual."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 1, 5, tzinfo=UTC)
_TURBINES: dict[str, dict[str, str]] = {
    f"WT-{number:02}": {
        "code": f"WT-{number:02}",
        "nickname": nickname,
        "local_name": local,
        "site": site,
        "model": model,
        "commissioned": since,
        "serviced_by": team,
    }
    for number, nickname, local, site, model, since, team in (
        (1, "Astrid", "阿斯特丽德", "Nordholm", "V112-3.3", "2017-04-02", "Crew Gull"),
        (2, "Birger", "比尔格", "Nordholm", "V112-3.3", "2017-04-19", "Crew Gull"),
        (3, "Dagny", "达格妮", "Sandvik Bank", "SG-8.0", "2021-09-30", "Crew Tern"),
        (4, "Einar", "埃纳尔", "Sandvik Bank", "SG-8.0", "2021-10-12", "Crew Tern"),
        (5, "Frida", "弗里达", "Sandvik Bank", "SG-8.0", "2022-06-01", "Crew Puffin"),
    )
}
_FAULTS = (
    ("PB-21", "minor", "Pitch battery voltage low on blade {}"),
    ("GB-07", "major", "Gearbox oil temperature above 80 degrees"),
    ("YW-03", "minor", "Yaw drive slipped {} degrees"),
    ("CV-11", "major", "Converter tripped on undervoltage"),
)


def _alarms() -> list[dict[str, Any]]:
    dice, found, at = random.Random(60), [], _START
    for number in range(1, 131):
        at += timedelta(minutes=dice.randint(20, 400))
        turbine = dice.choices(list(_TURBINES), (2, 6, 3, 4, 1))[0]
        kind = dice.choices(_FAULTS, {"WT-02": (1, 6, 1, 1), "WT-04": (7, 1, 1, 1)}.get(turbine, (2, 1, 3, 1)))[0]
        found.append(
            {
                "alarm_id": f"AL{number:04}",
                "turbine": turbine,
                "raised_at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "severity": kind[1],
                "fault_code": kind[0],
                "text": kind[2].format(dice.randint(1, 3)),
                "acknowledged": dice.random() < 0.7,
            }
        )
    return found


_ALARMS = _alarms()
_ORDERS = [
    ("WO-501", "WT-02", "in progress", "Replace gearbox oil cooler", "2026-02-02", "Signe Holt"),
    ("WO-502", "WT-04", "planned", "Change pitch batteries", "2026-02-19", "Ola Brekke"),
    ("WO-503", "WT-01", "done", "Yearly inspection", "2026-01-12", "Signe Holt"),
    ("WO-504", "WT-03", "planned", "Repaint tower ladder", "2026-05-04", "Nils Aune"),
    ("WO-505", "WT-02", "done", "Tighten yaw bolts", "2026-01-20", "Ola Brekke"),
]
_PARTS = [
    ("PN-8801", "Pitch battery pack", 14, "Nordholm harbour store", 412.0),
    ("PN-1204", "Gearbox oil cooler", 1, "Sandvik quay", 8900.0),
    ("PN-3310", "Yaw brake pad", 46, "Nordholm harbour store", 77.5),
    ("PN-5512", "Converter module", 0, "Sandvik quay", 31250.0),
]
_MANUAL = [
    ("4.2", "Pitch system", "If a pitch battery reads low, swap the whole pack; single cells must not be mixed."),
    ("5.1", "Gearbox", "When gearbox oil runs hot, clean the cooler fins before anything is replaced."),
    ("6.7", "Converter", "After an undervoltage trip wait ten minutes, then reset the converter locally."),
]


@tool(effect="read")
def turbine_registry(turbine: Annotated[str, Field(description="Code or nickname, in any language.")]) -> Json:
    """Master data of a turbine: site, model, when it was commissioned and which crew services it."""
    for code, row in _TURBINES.items():
        if turbine.lower() in {code.lower(), row["nickname"].lower()} or row["local_name"] in turbine:
            return {"turbine": {**row}}
    raise ToolError(f"No turbine '{turbine}'. Turbines: {', '.join(_TURBINES)}.")


@tool(effect="read")
def alarm_history(
    turbine_code: Annotated[str, Field(description="Such as WT-11; empty for the whole farm.")] = "",
    severity: Literal["minor", "major"] | None = None,
    fault_code: str = "",
    raised_after: Annotated[str, Field(description="ISO 8601.")] = "",
    raised_before: Annotated[str, Field(description="ISO 8601.")] = "",
    oldest_first: bool = False,
    max_alarms: Annotated[int, Field(ge=1, le=60)] = 20,
) -> Json:
    """Alarms that turbines raised, the latest first unless told otherwise."""
    rows = [
        row
        for row in _ALARMS
        if turbine_code in ("", row["turbine"])
        and severity in (None, row["severity"])
        and fault_code in ("", row["fault_code"])
        and (not raised_after or row["raised_at"] >= raised_after)
        and (not raised_before or row["raised_at"] <= raised_before)
    ]
    shown = (rows if oldest_first else rows[::-1])[:max_alarms]
    return {"total_count": len(rows), "alarms": [{**row} for row in shown]}


def _power(code: str) -> list[list[Any]]:
    dice = random.Random(code)
    return [[f"2026-02-01T{hour:02}:00:00Z", dice.randint(0, 3300)] for hour in range(24)]


@tool(effect="read")
def power_output(turbine_code: Annotated[str, Field(description="Such as WT-11.")]) -> Json:
    """Power that a turbine fed in yesterday, hour by hour, in kW."""
    if turbine_code not in _TURBINES:
        raise ToolError(f"unknown turbine_code {turbine_code}")
    return {"turbine": turbine_code, "unit": "kW", "samples": _power(turbine_code)}


@tool(effect="read")
def work_orders(status: Annotated[str, Field(description="planned, in progress or done.")] = "") -> Json:
    """Work orders of the crews with the turbine, what is to be done, the date and the technician."""
    names = ("order", "turbine", "status", "task", "date", "technician")
    return {"rows": [dict(zip(names, row, strict=True)) for row in _ORDERS if status in ("", row[2])]}


@tool(effect="read")
def spare_parts(description: Annotated[str, Field(description="Words of the part's description.")] = "") -> Json:
    """Spare parts: how many are in stock, where they lie and what one costs in euros."""
    names = ("part_no", "description", "in_stock", "location", "unit_price_eur")
    words = [word.rstrip("s") for word in description.lower().split()]
    rows = [row for row in _PARTS if all(word in row[1].lower() for word in words)]
    return [dict(zip(names, row, strict=True)) for row in rows]


@tool(effect="read")
def maintenance_manual(topic: Annotated[str, Field(description="What is wrong, in English.")]) -> Json:
    """Passages of the maintenance manual: what technicians must do about a fault."""
    words = {word[:5] for word in topic.lower().split() if len(word) > 3}
    scored = [
        (sum(word in f"{title} {text}".lower() for word in words), row) for row in _MANUAL for _, title, text in [row]
    ]
    scored.sort(key=lambda entry: -entry[0])
    return {"passages": [{"section": s, "title": t, "text": x} for score, (s, t, x) in scored if score][:2]}


@tool(effect="write")
def stop_turbine(turbine_code: str) -> Json:
    """Stop a turbine and turn it out of the wind."""
    return {"stopped": turbine_code}


def toolset() -> Toolset:
    """Seven tools, ten questions. Facts are counted here from the rows themselves."""
    majors = [row for row in _ALARMS if (row["turbine"], row["severity"]) == ("WT-02", "major")]
    noisy = Counter(row["turbine"] for row in _ALARMS).most_common(1)[0]
    first = next(row for row in _ALARMS if row["turbine"] == "WT-04" and row["fault_code"] == "CV-11")
    best = max(_power("WT-03"), key=lambda pair: pair[1])
    four = [row for row in _ALARMS if row["turbine"] == "WT-04"]
    one = [row for row in _ALARMS if row["turbine"] == "WT-01"]
    places = {row["alarm_id"]: str(row) for row in _ALARMS} | {code: str(row) for code, row in _TURBINES.items()}
    places |= {row[0]: str(row) for row in (*_ORDERS, *_PARTS, *_MANUAL)} | {str(best[0]): str(best)}
    places |= {row[1]: str(row) for row in _MANUAL}
    return Toolset(
        "wind farm",
        (turbine_registry, alarm_history, power_output, work_orders, spare_parts, maintenance_manual, stop_turbine),
        (
            Asked(
                "How many major alarms did WT-02 raise?",
                "WT-02 一共发出了多少个 major 告警？",
                (str(len(majors)),),
                evidence=(frozenset(row["alarm_id"] for row in majors),),
            ),
            Asked(
                "Which turbine raised the most alarms?",
                "哪台风机的告警最多？",
                (noisy[0], str(noisy[1])),
                evidence=(frozenset(row["alarm_id"] for row in _ALARMS if row["turbine"] == noisy[0]),),
            ),
            Asked(
                "When did WT-04 first report a tripped converter?",
                "WT-04 第一次出现 converter tripped 是什么时候？",
                (first["raised_at"],),
                evidence=(frozenset({first["alarm_id"]}),),
            ),
            Asked(
                "Which crew services Dagny?",
                "达格妮由哪个班组维护？",
                ("Crew Tern",),
                evidence=(frozenset({"WT-03"}),),
            ),
            Asked(
                "At which hour did WT-03 produce the most power yesterday?",
                "WT-03 昨天哪个小时的发电功率最高？",
                (str(best[0]), str(best[1])),
                evidence=(frozenset({str(best[0]), "WT-03"}),),
            ),
            Asked(
                "How many pitch battery packs are in stock, and where?",
                "Pitch battery pack 还有多少库存，放在哪里？",
                ("14", "Nordholm harbour store"),
                evidence=(frozenset({"PN-8801"}),),
            ),
            Asked(
                "Which work order is in progress, and who does it?",
                "哪个工单正在进行中，由谁负责？",
                ("WO-501", "Signe Holt"),
                evidence=(frozenset({"WO-501"}),),
            ),
            Asked(
                "What should we do when the gearbox oil is too hot?",
                "gearbox oil 温度过高该怎么处理？",
                told=("clean the cooler fins",),
                evidence=(frozenset({"5.1", "Gearbox"}),),
            ),
            Asked(
                "Which spare part is the most expensive?",
                "最贵的备件是哪个？",
                ("PN-5512", ("31250.0", "31250")),
                evidence=(frozenset({"PN-5512"}),),
            ),
            Asked(
                "Did WT-04 or WT-01 raise more alarms?",
                "WT-04 和 WT-01 哪个告警更多？",
                (str(len(four)), str(len(one))),
                evidence=(frozenset(row["alarm_id"] for row in (*four, *one)),),
            ),
        ),
        places,
    )
