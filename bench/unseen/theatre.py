"""A city theatre: the season's productions, performances with tickets sold, duty rosters, props and house rules."""

import random
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_PRODUCTIONS: list[dict[str, Any]] = [
    {"title": title, "genre": genre, "director": director, "running_time": minutes, "intervals": breaks, "cast": cast}
    for title, genre, director, minutes, breaks, cast in (
        ("Hamlet", "tragedy", "Ruth Calloway", 205, 1, 16),
        ("The Seagull", "drama", "Piotr Zielinski", 150, 1, 13),
        ("Twelfth Night", "comedy", "Dana Okafor", 140, 1, 14),
        ("Waiting for Godot", "drama", "Ruth Calloway", 125, 1, 5),
        ("The Snow Queen", "family", "Emil Sander", 75, 0, 9),
        ("Cabaret", "musical", "Valentina Rossi", 165, 1, 21),
        ("Antigone", "tragedy", "Hugh Lindqvist", 95, 0, 8),
    )
]
_SEATS = {"Main Stage": 620, "Studio": 110, "Courtyard": 240}
_CREW = {
    "stage_manager": ("Nora Whitfield", "Caleb Stone", "Imani Reyes", "Otto Lang"),
    "lighting": ("Yusuf Demir", "Petra Holm", "Sean Doyle"),
    "sound": ("Kim Sooyoung", "Bea Martin"),
    "front_of_house": ("Agnes Tully", "Victor Hale", "Leila Karimi"),
    "first_aider": ("Dr. Paul Emmert", "Dr. Sofia Lindt"),
}
_CANCELLED = {
    "PF-308": "The actress who plays Sally Bowles has lost her voice; tickets are refunded.",
    "PF-321": "A burst water pipe flooded the trap room; money back at the box office.",
    "PF-334": "Strike of the stagehands; vouchers were sent out.",
}


def _performances() -> list[dict[str, Any]]:
    dice = random.Random(29)
    homes = {
        "Hamlet": "Main Stage",
        "The Seagull": "Main Stage",
        "Twelfth Night": "Courtyard",
        "Waiting for Godot": "Studio",
        "The Snow Queen": "Main Stage",
        "Cabaret": "Main Stage",
        "Antigone": "Studio",
    }
    rows = []
    day = date(2026, 9, 11)
    for number in range(301, 351):
        title = "Cabaret" if number == 308 else dice.choice(list(homes))
        stage = homes[title]
        sold = dice.randint(_SEATS[stage] * 4 // 10, _SEATS[stage])
        key = f"PF-{number}"
        rows.append(
            {
                "performance_id": key,
                "production": title,
                "date": day.isoformat(),
                "curtain": "15:00" if title == "The Snow Queen" else "19:30",
                "stage": stage,
                "seats": _SEATS[stage],
                "tickets_sold": sold,
                "status": "cancelled" if key in _CANCELLED else "scheduled",
                "remark": _CANCELLED.get(key, ""),
            }
        )
        day += timedelta(days=dice.choice((1, 1, 2, 2, 3)))
    return rows


_PERFORMANCES = _performances()


def _rosters() -> dict[str, dict[str, str]]:
    dice = random.Random(64)
    return {
        row["performance_id"]: {duty: dice.choice(people) for duty, people in _CREW.items()} for row in _PERFORMANCES
    }


_ROSTERS = _rosters()
_PROPS: list[dict[str, Any]] = [
    {"id": f"PR-{n:02}", "item": item, "production": title, "shelf": shelf, "condition": state, "value_eur": value}
    for n, (item, title, shelf, state, value) in enumerate(
        (
            ("Yorick's skull", "Hamlet", "A3", "good", 85),
            ("rapier, blunt", "Hamlet", "A1", "damaged", 240),
            ("rapier, blunt", "Hamlet", "A1", "good", 240),
            ("poison cup, pewter", "Hamlet", "A3", "good", 60),
            ("portable throne", "Hamlet", "F1", "damaged", 1350),
            ("stuffed gull", "The Seagull", "B2", "good", 410),
            ("fishing rod", "The Seagull", "B4", "damaged", 45),
            ("samovar", "The Seagull", "B1", "good", 520),
            ("yellow stockings", "Twelfth Night", "C2", "good", 30),
            ("lute", "Twelfth Night", "C5", "in repair", 780),
            ("ship's lantern", "Twelfth Night", "C1", "good", 95),
            ("bare tree", "Waiting for Godot", "F3", "good", 900),
            ("bowler hat", "Waiting for Godot", "D2", "good", 70),
            ("rope, ten metres", "Waiting for Godot", "D1", "damaged", 25),
            ("magic mirror", "The Snow Queen", "E1", "in repair", 1120),
            ("sledge", "The Snow Queen", "F2", "good", 650),
            ("suitcase of Cliff", "Cabaret", "G1", "good", 55),
            ("gramophone", "Cabaret", "G2", "good", 330),
            ("neon sign KIT KAT", "Cabaret", "F4", "damaged", 1980),
            ("funeral urn", "Antigone", "H1", "good", 140),
        ),
        1,
    )
]
_RULES: list[dict[str, str]] = [
    {
        "section": "Fire alarm",
        "text": "The stage manager stops the show, brings in the safety curtain and announces the evacuation. "
        "Everybody meets at the assembly point in Linden Square; front of house counts the audience out.",
    },
    {
        "section": "Latecomers",
        "text": "Latecomers are let in only at the scene change agreed with the director, through door 4 at the back.",
    },
    {
        "section": "Lost property",
        "text": "Things found are labelled with the performance and kept at the cloakroom for 60 days.",
    },
    {
        "section": "Illness in the cast",
        "text": "Call the production office on extension 218 before noon; "
        "the company manager decides on an understudy.",
    },
    {
        "section": "Haze and pyrotechnics",
        "text": "Haze needs the smoke detectors of the stage switched to manual by the house technician; "
        "a fire watch of two people must stand by.",
    },
]


@tool(effect="read")
def get_programme() -> Json:
    """This season's productions: director, genre, running time in minutes, intervals and size of the cast."""
    return {"season": "2026/27", "productions": _PRODUCTIONS}


@tool(effect="read")
def find_performances(
    production: Annotated[str | None, Field(description="Title of the production.")] = None,
    stage: Literal["Main Stage", "Studio", "Courtyard"] | None = None,
    from_date: Annotated[date | None, Field(description="Earliest day.")] = None,
    to_date: Annotated[date | None, Field(description="Latest day.")] = None,
    status: Literal["scheduled", "cancelled"] | None = None,
) -> Json:
    """Performances in order of their dates, with stage, seats, tickets sold and remarks."""
    rows = [
        row
        for row in _PERFORMANCES
        if production in (None, row["production"])
        and stage in (None, row["stage"])
        and status in (None, row["status"])
        and (from_date is None or row["date"] >= from_date.isoformat())
        and (to_date is None or row["date"] <= to_date.isoformat())
    ]
    return {"performances": rows, "found": len(rows)}


@tool(effect="read")
def duty_roster(
    performance_id: Annotated[str, Field(description="Number of the performance, like PF-301.")],
) -> Json:
    """Who works at a performance: stage manager, lighting, sound, front of house and first aider."""
    if performance_id not in _ROSTERS:
        raise ToolError(f"There is no performance {performance_id}.")
    return {"performance_id": performance_id, **_ROSTERS[performance_id]}


@tool(effect="read")
def props_store(
    production: Annotated[str | None, Field(description="Title of the production the prop belongs to.")] = None,
    condition: Literal["good", "damaged", "in repair"] | None = None,
) -> Json:
    """Props with the shelf they are kept on, their condition and their value."""
    return [row for row in _PROPS if production in (None, row["production"]) and condition in (None, row["condition"])]


@tool(effect="read")
def house_rules() -> Json:
    """The rules of the house: what to do in emergencies and everyday situations."""
    return {"rules": _RULES}


_NOT_PLAYED = (
    "not found",
    "no performance",
    "no performances",
    "no production",
    "no such",
    "there is no",
    "there's no",
    "there are no",
    "no record",
    "no entry",
    "no results",
    "does not exist",
    "doesn't exist",
    "couldn't find",
    "could not find",
    "cannot find",
    "can't find",
    "not in",
    "not on",
    "not part of",
    "not listed",
    "not scheduled",
    "not playing",
    "isn't",
    "is not",
    "aren't",
    "are not",
    "没有",
    "不存在",
    "找不到",
    "未找到",
    "没找到",
    "查不到",
    "未查到",
    "没查到",
    "查无",
    "不在",
    "不演",
    "未安排",
    "没安排",
    "并无",
    "无此",
    "无相关",
    "未查询到",
    "未收录",
    "nothing",
    "no match",
    "not exist",
)


def toolset() -> Toolset:
    """Five tools, ten questions."""
    plays = {row["title"]: row for row in _PRODUCTIONS}
    october = [row for row in _PERFORMANCES if row["stage"] == "Studio" and row["date"].startswith("2026-10")]
    best = max(_PERFORMANCES, key=lambda row: row["tickets_sold"])
    called_off = [row for row in _PERFORMANCES if row["status"] == "cancelled"]
    broken = [row for row in _PROPS if row["condition"] == "damaged"]
    opening = next(row for row in _PERFORMANCES if row["production"] == "Hamlet")
    manager = _ROSTERS[opening["performance_id"]]["stage_manager"]
    evenings = [row for row in _PERFORMANCES if row["production"] == "Antigone"]
    sold = sum(row["tickets_sold"] for row in evenings)
    longer = max(("Cabaret", "The Seagull"), key=lambda title: plays[title]["running_time"])
    places = {title: str(row) for title, row in plays.items()}
    places |= {row["performance_id"]: str({**row, "duty": _ROSTERS[row["performance_id"]]}) for row in _PERFORMANCES}
    places |= {row["id"]: str(row) for row in _PROPS} | {row["section"]: row["text"] for row in _RULES}
    return Toolset(
        "city theatre",
        (get_programme, find_performances, duty_roster, props_store, house_rules),
        (
            Asked(
                "Who directs Twelfth Night?",
                "《Twelfth Night》的导演是谁？",
                (plays["Twelfth Night"]["director"],),
                evidence=(frozenset({"Twelfth Night"}),),
            ),
            Asked(
                "How many performances do we have in the Studio in October 2026?",
                "2026 年 10 月 Studio 一共安排了几场演出？",
                (str(len(october)),),
                evidence=(frozenset(row["performance_id"] for row in october),),
            ),
            Asked(
                "Which performance has sold the most tickets so far, and how many?",
                "目前哪一场卖出的票最多？卖了多少张？",
                (best["performance_id"], str(best["tickets_sold"])),
                evidence=(frozenset({best["performance_id"]}),),
            ),
            Asked(
                "Can you list the props that are damaged?",
                "帮我列一下哪些道具是坏的（damaged）。",
                tuple((row["id"], row["item"]) for row in broken if row["item"] != "rapier, blunt"),
                told=tuple(row["id"] for row in broken if row["item"] == "rapier, blunt"),
                evidence=(frozenset(row["id"] for row in broken),),
            ),
            Asked(
                f"Why was {called_off[1]['performance_id']} cancelled?",
                f"{called_off[1]['performance_id']} 这场为什么取消了？",
                told=(("burst water pipe", "trap room", "水管"),),
                evidence=(frozenset({called_off[1]["performance_id"]}),),
            ),
            Asked(
                "Who is the stage manager at the first performance of Hamlet this season?",
                "本季《Hamlet》首场演出的 stage manager 是谁？",
                (manager,),
                evidence=(frozenset({opening["performance_id"]}),),
            ),
            Asked(
                "How many tickets have been sold for Antigone altogether?",
                "《Antigone》所有场次总共卖了多少张票？",
                ((str(sold), f"{sold:,}"),),
                evidence=(frozenset(row["performance_id"] for row in evenings) | {"Antigone"},),
            ),
            Asked(
                "Which is longer, Cabaret or The Seagull?",
                "《Cabaret》和《The Seagull》哪部演出时间更长？",
                (longer, str(plays[longer]["running_time"])),
                evidence=(frozenset({longer}),),
            ),
            Asked(
                "New colleague at the door asks: what happens if the fire alarm goes off in the middle of a show?",
                "新来的检票同事问：演出中途火警响了（fire alarm）该怎么办？",
                told=("Linden Square",),
                evidence=(frozenset({"Fire alarm"}),),
            ),
            Asked(
                "When are we playing Macbeth?",
                "《Macbeth》什么时候演？",
                (_NOT_PLAYED,),
            ),
        ),
        places,
    )
