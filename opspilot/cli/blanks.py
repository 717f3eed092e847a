"""What a question to people leaves blank: the values that it asks for, and what is offered for each.

Knows the data of journal entries and rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opspilot.core.interrupts import InterruptType
from opspilot.core.messages import Json
from opspilot.texts.language import text

FREE_TEXT = "answer"
"""The name of what a question without named fields asks for."""


@dataclass(frozen=True)
class Blank:
    """One value. `choices` are offers: another value may be given."""

    name: str
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        """`environment (staging, production)`."""
        return f"{self.name} ({', '.join(self.choices)})" if self.choices else self.name


def blanks(question: Mapping[str, Json]) -> list[Blank]:
    """The data of an `interrupt.opened` entry, or a row of the journal. One of free text when it names none."""
    if question.get("kind") == InterruptType.CONFIRM_RISKY:
        return []
    payload = dict(question.get("payload") or {})
    named, options = payload.get("fields"), payload.get("options")
    names = [_name(field) for field in named] if isinstance(named, list) and named else [FREE_TEXT]
    return [Blank(name, _choices(name, options)) for name in names]


def needs(question: Mapping[str, Json]) -> str:
    """`needs environment (staging, production), count`; empty where a yes or no is all that is asked for."""
    asked = blanks(question)
    return text("asking.needs", names=", ".join(map(str, asked))) if asked else ""


def _name(field: Json) -> str:
    return str(field.get("name", FREE_TEXT)) if isinstance(field, Mapping) else str(field)


def _choices(name: str, options: Json) -> tuple[str, ...]:
    offered = options.get(name) if isinstance(options, Mapping) else options
    return tuple(map(str, offered)) if isinstance(offered, Sequence) and not isinstance(offered, str) else ()
