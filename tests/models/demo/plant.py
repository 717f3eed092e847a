"""A fifth toolset, of a plant, whose keys and names are none of the usual: `said`, `where`, `how_many`, `crew`."""

from typing import Any, Literal

from pydantic import Field

from opspilot.core.messages import Json
from tests.models.demo.harness import Toy, declared

_CARDS: list[dict[str, Json]] = [
    {"ref": "MX-12", "label": "North press", "crew": "Blue shift", "feeds": ["MX-30"]},
    {"ref": "MX-30", "label": "Lacquer line", "crew": "Red shift", "feeds": []},
]
_TRAIL = [
    ("MX-12", "severe", "hydraulic pressure lost on ram 2", 45),
    ("MX-12", "severe", "hydraulic pressure lost on ram 4", 48),
    ("MX-12", "low", "oil level checked", 50),
    ("MX-30", "medium", "oven door open for 90 s", 7),
]
_PAGES: list[dict[str, Json]] = [
    {"page": "hydraulics.md", "para": 3, "says": "When hydraulic pressure is lost, stop and inspect the seals."},
    {"page": "oven.md", "para": 1, "says": "Close the oven door within a minute."},
]


def _who_is(asked: Any) -> Json:
    found = [card for card in _CARDS if asked.label.lower() in f"{card['label']} {card['ref']}".lower()]
    return {"cards": found} if found else {"cards": [], "similar": [card["label"] for card in _CARDS]}


def _trail(asked: Any) -> Json:
    rows = [
        {"at": "2026-02-01", "ref": ref, "said": said, "where": f"trail/{ref}.txt#{number}"}
        for ref, grade, said, number in _TRAIL
        if asked.machine_ref in ("", ref) and asked.words.lower() in said and asked.seriousness in (None, grade)
    ]
    return {"rows": rows, "how_many": len(rows)}


def _handbook(asked: Any) -> Json:
    words = [word for word in asked.about.lower().split() if len(word) > 3]
    scored = [(sum(word in str(page["says"]).lower() for word in words), page) for page in _PAGES]
    return {"pages": [page for score, page in sorted(scored, key=lambda entry: -entry[0]) if score]}


def plant() -> list[Toy]:
    return [
        Toy(
            "who_is",
            "Resolve a machine's name to its asset card: reference, crew, what it feeds.",
            declared("WhoIs", label=(str, ...)),
            _who_is,
        ),
        Toy(
            "trail",
            "Chronological log of what machines reported; filter by words and seriousness.",
            declared(
                "Trail",
                machine_ref=(str, Field(default="", description="Reference of the machine, from who_is.")),
                words=(str, ""),
                seriousness=(Literal["low", "medium", "severe"] | None, None),
                max_rows=(int, 20),
            ),
            _trail,
        ),
        Toy(
            "handbook", "Pages of the maintenance handbook on a topic.", declared("Pages", about=(str, ...)), _handbook
        ),
        Toy(
            "halt_machine",
            "Halt a machine at once.",
            declared("Halt", machine_ref=(str, ...)),
            lambda asked: {"halted": asked.machine_ref},
        ),
    ]
