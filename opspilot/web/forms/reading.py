"""From what was typed into a form to JSON, by the kinds of its fields.

What wasn't touched keeps its exact value, whatever an input makes of it. Whether the values are allowed is judged by
whoever runs the tool; here it is only found out what was meant.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from opspilot.core.messages import Json
from opspilot.web.forms.fields import Fault, Field, Kind

INTEGER = re.compile(r"[+-]?[0-9]{1,300}", re.ASCII)
NUMBER = re.compile(r"[+-]?([0-9]{1,300}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
DATE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", re.ASCII)
OTHER = "+"
"""Added to the name of a choice: the input for text of one's own; with a number: the box of that option."""
GONE = "-"
"""Added to a name: the box that takes the value away."""


class _Missing:
    """No value at all: the parameter is left out."""


MISSING: Final = _Missing()


@dataclass(frozen=True)
class Filled:
    """A form as somebody filled it in: its fields with what was typed and what is wrong with it, and the values."""

    fields: tuple[Field, ...]
    values: dict[str, Json]

    @property
    def is_good(self) -> bool:
        """Whether everything can be meant."""
        return not any(map(_is_faulty, self.fields))


def read(fields: Sequence[Field], posted: Mapping[str, str]) -> Filled:
    """What was meant. `posted` is what each input held, by its name; one that isn't there was empty."""
    filled = [_read(field, posted) for field in fields]
    values = {field.label: value for field, value in filled if not isinstance(value, _Missing)}
    return Filled(tuple(field for field, _ in filled), values)


def _is_faulty(field: Field) -> bool:
    return field.fault is not None or any(map(_is_faulty, field.fields))


def _read(field: Field, posted: Mapping[str, str]) -> tuple[Field, Json | _Missing]:
    if field.may_go and posted.get(field.name + GONE):
        return replace(field, gone=True), None if field.nullable else MISSING
    if field.kind is Kind.GROUP:
        return _read_group(field, posted)
    raw = _typed(field, posted)
    own = posted.get(field.name + OTHER, "").replace("\r\n", "\n").strip() if field.free else ""
    if own:
        return replace(field, raw=own), own
    shown = replace(field, raw=raw)
    if raw == _as_sent(field.raw):
        if field.known:
            return shown, field.value
        return (replace(shown, fault=Fault.NEEDED), MISSING) if field.required else (shown, MISSING)
    if raw.strip() == "" and field.kind not in {Kind.LINES, Kind.CHOICES}:
        return _emptied(shown)
    value = _meant(field, raw)
    return (replace(shown, fault=value), MISSING) if isinstance(value, Fault) else (shown, value)


def _emptied(field: Field) -> tuple[Field, Json | _Missing]:
    """What there was has been taken away: nothing is left, if that can be."""
    if field.nullable:
        return field, None
    if field.required:
        return replace(field, fault=Fault.NEEDED), MISSING
    if field.may_be_empty:
        return field, ""
    return field, field.default if field.has_default else MISSING


def _read_group(field: Field, posted: Mapping[str, str]) -> tuple[Field, Json | _Missing]:
    if not _is_touched(field, posted) and (field.known or not field.required):
        return field, field.value if field.known else MISSING
    inner = read(field.fields, posted)
    return replace(field, fields=inner.fields), inner.values


def _is_touched(field: Field, posted: Mapping[str, str]) -> bool:
    if field.may_go and posted.get(field.name + GONE):
        return True
    if field.kind is Kind.GROUP:
        return any(_is_touched(inner, posted) for inner in field.fields)
    return _typed(field, posted) != _as_sent(field.raw)


def _typed(field: Field, posted: Mapping[str, str]) -> str:
    if field.kind is Kind.CHOICES:
        return ",".join(str(at) for at in range(len(field.options)) if posted.get(f"{field.name}{OTHER}{at}"))
    return _as_sent(posted.get(field.name, ""))


def _as_sent(text: str) -> str:
    """A browser makes one kind of line end of all."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _meant(field: Field, raw: str) -> Any:
    match field.kind:
        case Kind.TEXT | Kind.LONG | Kind.HIDDEN:
            return raw
        case Kind.DATE:
            return raw.strip() if DATE.fullmatch(raw.strip()) else Fault.NO_DATE
        case Kind.CHOICES:
            return [field.options[int(number)] for number in raw.split(",") if number]
        case Kind.INTEGER | Kind.NUMBER:
            return _number(field.kind, raw)
        case Kind.YES_NO:
            return {"true": True, "false": False}.get(raw, Fault.NO_CHOICE)
        case Kind.CHOICE:
            number = int(raw) if raw.isascii() and raw.isdecimal() and len(raw) < 5 else len(field.options)
            return field.options[number] if number < len(field.options) else Fault.NO_CHOICE
        case Kind.LINES:
            lines = [line.strip() for line in raw.split("\n") if line.strip()]
            items = lines if field.item is Kind.TEXT else [_number(field.item, line) for line in lines]
            return next((item for item in items if isinstance(item, Fault)), items)
    return _json(raw)


def _number(kind: Kind, raw: str) -> int | float | Fault:
    typed = raw.strip()
    if INTEGER.fullmatch(typed):
        return int(typed)
    value = float(typed) if NUMBER.fullmatch(typed) else None
    if value is None or value in {float("inf"), float("-inf")}:
        return Fault.NO_INTEGER if kind is Kind.INTEGER else Fault.NO_NUMBER
    if kind is Kind.INTEGER:
        return int(value) if value.is_integer() else Fault.NO_INTEGER
    return value


def _json(raw: str) -> Any:
    try:
        return json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return Fault.NO_JSON


def _refuse(constant: str) -> None:
    raise ValueError(constant)
