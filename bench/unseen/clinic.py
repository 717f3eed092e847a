"""A hospital's device desk: devices by pages with an offset, loans with Chinese keys, contracts by name, a guide."""

import random
from collections import Counter
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_WARDS = {"ICU": "重症监护室", "ER": "急诊", "PED": "儿科", "SURG": "外科"}
_KINDS = ("infusion pump", "ventilator", "patient monitor", "defibrillator")


def _devices() -> list[dict[str, Any]]:
    dice = random.Random(12)
    return [
        {
            "asset_tag": f"MD{number:04}",
            "kind": dice.choice(_KINDS),
            "ward": dice.choices(list(_WARDS), (5, 3, 2, 4))[0],
            "condition": dice.choices(("in use", "in repair", "spare"), (6, 1, 2))[0],
            "battery": {"health_percent": dice.randint(35, 100), "cycles": dice.randint(10, 900)},
            "next_inspection": (date(2026, 7, 1) + timedelta(days=3 * number + dice.randint(0, 2))).isoformat(),
        }
        for number in range(1, 49)
    ]


_DEVICES = _devices()
_LOANS: list[dict[str, Any]] = [
    {"借用单": "JY-101", "设备": "MD0007", "借用人": "王敏", "借出日期": "2026-06-20", "归还日期": "2026-06-24"},
    {"借用单": "JY-102", "设备": "MD0019", "借用人": "李强", "借出日期": "2026-06-25", "归还日期": None},
    {"借用单": "JY-103", "设备": "MD0030", "借用人": "赵丽", "借出日期": "2026-06-28", "归还日期": None},
    {"借用单": "JY-104", "设备": "MD0007", "借用人": "李强", "借出日期": "2026-06-29", "归还日期": "2026-06-30"},
]
_CONTRACTS = {
    "Helix Medical": {"hotline": "0800-4411", "covers": "infusion pump", "yearly_fee_eur": 18400, "ends": "2027-03-31"},
    "Norvent": {"hotline": "0800-7702", "covers": "ventilator", "yearly_fee_eur": 52900, "ends": "2026-12-31"},
    "Optivue": {"hotline": "0800-3155", "covers": "patient monitor", "yearly_fee_eur": 9750, "ends": "2028-06-30"},
}
_GUIDE = [
    ("Occlusion alarm", "Check the line for kinks, then flush; replace the set if the alarm returns."),
    ("Low battery", "Plug the device in and tag it for the workshop when health is under 50 percent."),
    ("Leak alarm", "Reseat the mask and the exhalation valve before calling the hotline."),
]


def _firmware(tag: str) -> str:
    dice = random.Random(tag)
    return f"{dice.randint(1, 4)}.{dice.randint(0, 9)}"


@tool(effect="read")
def device_inventory(
    ward: Annotated[Literal["ICU", "ER", "PED", "SURG"] | None, Field(description="Code of the ward.")] = None,
    kind: Annotated[str, Field(description="infusion pump, ventilator, patient monitor or defibrillator.")] = "",
    condition: Literal["in use", "in repair", "spare"] | None = None,
    start_at: Annotated[int, Field(ge=0, description="Skip so many.")] = 0,
) -> Json:
    """Medical devices with ward, condition, battery and the date of the next inspection; 25 at a time."""
    rows = [
        row
        for row in _DEVICES
        if ward in (None, row["ward"]) and kind in ("", row["kind"]) and condition in (None, row["condition"])
    ]
    page = rows[start_at : start_at + 25]
    return {"meta": {"total": len(rows), "start_at": start_at}, "devices": page}


@tool(effect="read")
def device_card(asset_tag: Annotated[str, Field(pattern=r"^MD\d{4}$", description="Tag on the device.")]) -> Json:
    """Everything about one device, with its last readings."""
    row = next((row for row in _DEVICES if row["asset_tag"] == asset_tag), None)
    if row is None:
        raise ToolError(f"{asset_tag} is not in the inventory.")
    return {**row, "serial": f"SN-{asset_tag[2:]}-77", "firmware": _firmware(asset_tag)}


@tool(effect="read")
def loan_register() -> Json:
    """设备借用登记：谁借了哪台设备、何时借出、何时归还。"""  # noqa: D415 - it ends with a full stop
    return {"借用记录": [{**row} for row in _LOANS]}


@tool(effect="read")
def service_contracts() -> Json:
    """Service contracts with manufacturers: hotline, which kind of device is covered, yearly fee, end."""
    return {name: {**row} for name, row in _CONTRACTS.items()}


@tool(effect="read")
def user_guide(problem: Annotated[str, Field(description="The alarm or problem, in English.")]) -> Json:
    """What nurses should do about alarms of devices."""
    words = {word[:5] for word in problem.lower().split() if len(word) > 3}
    hits = [(sum(w in f"{t} {x}".lower() for w in words), t, x) for t, x in _GUIDE]
    return {"articles": [{"title": t, "content": x} for score, t, x in sorted(hits)[::-1] if score]}


def toolset() -> Toolset:
    """Five tools, ten questions. Facts are counted here from the rows themselves."""
    icu = [row for row in _DEVICES if row["ward"] == "ICU"]
    repair = [row for row in _DEVICES if row["condition"] == "in repair"]
    weakest = min(_DEVICES, key=lambda row: row["battery"]["health_percent"])
    soonest = min(_DEVICES, key=lambda row: row["next_inspection"])
    ward = Counter(row["ward"] for row in _DEVICES).most_common(1)[0]
    firmware = _firmware("MD0011")
    places = {row["asset_tag"]: str(row) for row in _DEVICES} | {row["借用单"]: str(row) for row in _LOANS}
    places |= {name: str(row) for name, row in _CONTRACTS.items()} | dict(_GUIDE)
    return Toolset(
        "hospital devices",
        (device_inventory, device_card, loan_register, service_contracts, user_guide),
        (
            Asked(
                "How many devices are on the ICU ward?",
                "ICU 一共有多少台设备？",
                (str(len(icu)),),
                evidence=(frozenset(row["asset_tag"] for row in icu),),
            ),
            Asked(
                "Which device has the lowest battery health?",
                "电池健康度最低的是哪台设备？",
                (weakest["asset_tag"], str(weakest["battery"]["health_percent"])),
                evidence=(frozenset({weakest["asset_tag"]}),),
            ),
            Asked(
                "What firmware does MD0011 run?",
                "MD0011 的固件版本是多少？",
                (firmware,),
                evidence=(frozenset({"MD0011"}),),
            ),
            Asked(
                "Which ward has the most devices?",
                "哪个 ward 的设备最多？",
                (ward[0], str(ward[1])),
                evidence=(frozenset(row["asset_tag"] for row in _DEVICES if row["ward"] == ward[0]),),
            ),
            Asked(
                "Who borrowed MD0030?",
                "MD0030 是谁借的？",
                ("赵丽",),
                evidence=(frozenset({"JY-103"}),),
            ),
            Asked(
                "How many devices are in repair?",
                "有多少台设备正在维修？",
                (str(len(repair)),),
                evidence=(frozenset(row["asset_tag"] for row in repair),),
            ),
            Asked(
                "What is the hotline of Norvent?",
                "Norvent 的热线电话是多少？",
                ("0800-7702",),
                evidence=(frozenset({"Norvent"}),),
            ),
            Asked(
                "Which service contract has the highest yearly fee?",
                "哪份服务合同的年费最高？",
                ("Norvent", "52900"),
                evidence=(frozenset({"Norvent"}),),
            ),
            Asked(
                "Which device must be inspected next?",
                "最早需要检查的是哪台设备？",
                (soonest["asset_tag"], soonest["next_inspection"]),
                evidence=(frozenset({soonest["asset_tag"]}),),
            ),
            Asked(
                "There is an occlusion alarm on a pump, what should I do?",
                "泵出现 occlusion alarm，应该怎么办？",
                told=("Check the line for kinks",),
                evidence=(frozenset({"Occlusion alarm"}),),
            ),
        ),
        places,
    )
