"""A parcel carrier. Its log tool returns plain text, its claims a bare list, its depots one card at a time."""

import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_DEPOTS: dict[str, dict[str, Any]] = {
    "DN": {"name": "Northgate", "local_name": "北门仓", "shift_lead": "Agnes Thorn", "fed_by": ["DQ", "DE"]},
    "DQ": {"name": "Quayside", "local_name": "码头仓", "shift_lead": "Bela Novak", "fed_by": ["DE"]},
    "DE": {"name": "Eastfield", "local_name": "东场仓", "shift_lead": "Chidi Okoro", "fed_by": []},
}
_FAULTS = {
    "DN": ("conveyor {} jammed, belt stopped", "label printer {} out of ribbon"),
    "DQ": ("gate {} does not close", "label printer {} out of ribbon"),
    "DE": ("scanner {} lost its link", "label printer {} out of ribbon"),
}
_HANDBOOK = {
    "handbook/conveyors.txt": [
        "Jammed conveyor",
        "Press the red stop, lift the parcel out with the hook, and run the belt empty for a minute.",
        "Never reach under a belt.",
    ],
    "handbook/printers.txt": ["Label printer out of ribbon", "Take ribbon R40 from the locker and reset the printer."],
    "handbook/scanners.txt": ["Scanner lost its link", "Dock the scanner for ten seconds, then pair it again."],
    "handbook/gates.txt": ["Gate does not close", "Sweep the rail and call the yard office."],
}


def _trail() -> list[tuple[str, int, str, str, str]]:
    """Rows of depot, line, time, gravity, text."""
    dice, found = random.Random(72), []
    for code, share in (("DN", 5), ("DQ", 2), ("DE", 3)):
        at = datetime(2026, 3, 2, 4, 0, tzinfo=UTC) + timedelta(seconds=dice.randint(0, 900))
        for line in range(1, 241):
            at += timedelta(seconds=dice.randint(60, 1200))
            gravity, text = "info", f"parcel {dice.randint(10**6, 10**7)} sorted to chute {dice.randint(1, 40)}"
            if line > 20 and dice.random() < 0.03 * share:
                kind = dice.choices((0, 1), (3, 1))[0]
                gravity, text = "fault", _FAULTS[code][kind].format(dice.randint(1, 4))
            elif dice.random() < 0.1:
                gravity, text = "warn", f"chute {dice.randint(1, 40)} nearly full"
            found.append((code, line, at.strftime("%Y-%m-%dT%H:%M:%SZ"), gravity, text))
    return found


_ROWS = _trail()
_LINES = {f"{code}.trail:{line}": f"{at} {gravity} {text}" for code, line, at, gravity, text in _ROWS}


def _claims() -> list[dict[str, Any]]:
    dice = random.Random(9)
    return [
        {
            "claim": f"CL-{number}",
            "depot": dice.choice(list(_DEPOTS)),
            "amount_eur": dice.randint(500, 90_000) / 100,
            "opened": (datetime(2026, 2, 1, tzinfo=UTC) + timedelta(days=number - 700, hours=5)).strftime("%Y-%m-%d"),
            "state": dice.choice(("open", "closed")),
            "reason": dice.choice(("crushed", "wet", "lost", "late")),
        }
        for number in range(701, 761)
    ]


_CLAIMS = _claims()
_BACKLOG: dict[str, list[dict[str, Any]]] = {
    code: [
        {"hour": f"{hour:02}:00", "waiting": random.Random(f"{code}{hour}").randint(20, 900)} for hour in range(4, 20)
    ]
    for code in _DEPOTS
}


@tool(effect="read")
def scan_trail(
    depot: Annotated[Literal["DN", "DQ", "DE", ""], Field(description="Code of the depot; empty for all.")] = "",
    words: Annotated[str, Field(description="Text that a line must contain.")] = "",
    gravity: Literal["info", "warn", "fault"] | None = None,
    begin: Annotated[str, Field(description="From this time, ISO 8601.")] = "",
    end: Annotated[str, Field(description="Up to this time, ISO 8601.")] = "",
    order: Annotated[Literal["oldest", "newest"], Field(description="Which lines come first.")] = "newest",
    lines: Annotated[int, Field(ge=1, le=60)] = 12,
) -> str:
    """Lines of the depots' sorting trail (what machines and scanners logged), as text with file and line."""
    rows = [row for row in _ROWS if depot in ("", row[0]) and words.lower() in row[4].lower()]
    rows = [row for row in rows if gravity is None or row[3] == gravity]
    rows = [row for row in rows if (not begin or row[2] >= begin) and (not end or row[2] <= end)]
    rows.sort(key=lambda row: row[2], reverse=order == "newest")
    shown = [f"{code}.trail:{line}: {at} {grade} {text}" for code, line, at, grade, text in rows[:lines]]
    each = Counter(row[0] for row in rows).most_common()
    return "\n".join((f"{len(rows)} lines match ({', '.join(f'{code}: {n}' for code, n in each)})", *shown))


@tool(effect="read")
def depot_card(depot: Annotated[str, Field(description="Name or code of a depot, in any language.")]) -> Json:
    """The card of a depot: its code, who leads the shift, and which depots feed it."""
    for code, card in _DEPOTS.items():
        if depot.lower() in {code.lower(), card["name"].lower()} or card["local_name"] in depot:
            return {"code": code, **card}
    raise ToolError(f"There is no depot '{depot}'; there are Northgate, Quayside and Eastfield.")


@tool(effect="read")
def claims(
    state: Literal["open", "closed"] | None = None,
    depot: Annotated[Literal["DN", "DQ", "DE"] | None, Field(description="Code of the depot.")] = None,
    sort: Annotated[str, Field(description="Field to sort by: amount_eur or opened; '-' before it: descending.")] = "",
    top: Annotated[int, Field(ge=1, le=100, description="At most so many.")] = 10,
) -> Json:
    """Damage claims of customers, with amount in euros, state, depot and day of opening."""
    rows = [row for row in _CLAIMS if state in (None, row["state"]) and depot in (None, row["depot"])]
    key = sort.lstrip("-")
    if key and key not in {"amount_eur", "opened"}:
        raise ToolError(f"Can't sort by '{key}': use amount_eur or opened.")
    if key:
        rows.sort(key=lambda row: row[key], reverse=sort.startswith("-"))
    return {"claims": rows[:top], "of": len(rows)}


@tool(effect="read")
def handbook(topic: Annotated[str, Field(description="What the trouble is.")]) -> Json:
    """Depot handbook: how staff handle machine trouble."""
    words = {word[:5] for word in re.findall(r"[a-z]{4,}", topic.lower())}
    scored = []
    for file, lines in _HANDBOOK.items():
        for number, line in enumerate(lines[1:], 2):
            score = sum(word in f"{lines[0]} {line}".lower() for word in words)
            scored.append((score, {"at": f"{file}:{number}", "chapter": lines[0], "says": line}))
    scored.sort(key=lambda entry: -entry[0])
    return [passage for score, passage in scored if score][:3]


@tool(effect="read")
def backlog(depot: Annotated[Literal["DN", "DQ", "DE"], Field(description="Code of the depot.")]) -> Json:
    """Parcels waiting in a depot, by hour of today."""
    return {"depot": depot, "hours": list(_BACKLOG[depot])}


def _places_of(**wanted: str) -> frozenset[str]:
    return frozenset(
        f"{code}.trail:{line}"
        for code, line, at, gravity, text in _ROWS
        if wanted.get("depot") in (None, code)
        and wanted.get("gravity") in (None, gravity)
        and wanted.get("text", "") in text
        and at.startswith(wanted.get("day", ""))
    )


def toolset() -> Toolset:
    """Five tools, ten questions. Facts are counted here from the rows themselves."""
    biggest = max((row for row in _CLAIMS if row["state"] == "open"), key=lambda row: row["amount_eur"])
    open_north = [row for row in _CLAIMS if row["state"] == "open" and row["depot"] == "DN"]
    jams = [row for row in _ROWS if row[0] == "DN" and "jammed" in row[4]]
    peak = max(_BACKLOG["DE"], key=lambda row: row["waiting"])
    faults = Counter(row[0] for row in _ROWS if row[3] == "fault")
    worst = faults.most_common(1)[0]
    day = "2026-03-03"
    ribbons = _places_of(text="out of ribbon", day=day)
    newest = max(_CLAIMS, key=lambda row: row["opened"])
    places = dict(_LINES) | {row["claim"]: str(row) for row in _CLAIMS}
    places |= {code: f"{code} {card}" for code, card in _DEPOTS.items()}
    places |= {f"{file}:{n}": line for file, lines in _HANDBOOK.items() for n, line in enumerate(lines, 1)}
    return Toolset(
        "parcel carrier",
        (scan_trail, depot_card, claims, handbook, backlog),
        (
            Asked(
                "What's the biggest open claim?",
                "金额最大的未结索赔是哪一单？",
                (biggest["claim"], str(biggest["amount_eur"])),
                evidence=(frozenset({biggest["claim"]}),),
            ),
            Asked(
                "How many claims are open at Northgate?",
                "北门仓有多少未结的索赔？",
                (str(len(open_north)),),
                evidence=(frozenset(row["claim"] for row in open_north),),
            ),
            Asked(
                "When did conveyors at Northgate begin to jam?",
                "北门仓的 conveyor 从什么时候开始 jammed？",
                (jams[0][2],),
                evidence=(frozenset({f"DN.trail:{jams[0][1]}"}),),
            ),
            Asked(
                "Who is in charge at Quayside, and which depots feed it?",
                "码头仓由谁负责，由哪些仓供货？",
                ("Bela Novak", ("Eastfield", "DE")),
                evidence=(frozenset({"DQ"}),),
            ),
            Asked(
                "a conveyor is jammed - what do I do",
                "conveyor jammed 怎么处理？",
                told=("Press the red stop",),
                evidence=(frozenset({"handbook/conveyors.txt:2"}),),
            ),
            Asked(
                "At what hour was the backlog in Eastfield highest?",
                "东场仓几点的积压最多？",
                (peak["hour"], str(peak["waiting"])),
            ),
            Asked(
                "Which depot logged the most faults?",
                "哪个仓的故障最多？",
                ((worst[0], _DEPOTS[worst[0]]["name"]), str(worst[1])),
                evidence=(_places_of(depot=worst[0], gravity="fault"),),
            ),
            Asked(
                f"How many times did a label printer run out of ribbon on {day}?",
                f"{day} 有多少次 label printer out of ribbon？",
                (str(len(ribbons)),),
                evidence=(ribbons,),
            ),
            Asked(
                "Compare the faults of Northgate with the faults of Quayside",
                "对比一下北门仓和码头仓的故障",
                (str(faults["DN"]), str(faults["DQ"])),
                evidence=(_places_of(depot="DN", gravity="fault"), _places_of(depot="DQ", gravity="fault")),
            ),
            Asked(
                "Which claim was opened last?",
                "最新的一单索赔是哪个？",
                (newest["claim"], newest["opened"]),
                evidence=(frozenset({newest["claim"]}),),
            ),
        ),
        places,
    )
