"""What a tool returned, as JSON, or the reason why it can't be.

Owns the conversion of Python values. Refuses where a reader could be misled: binary data, NaN, cycles, half characters,
objects without a meaning outside their process. Knows nothing of secrets, sizes that models can read, or observations.
"""

import dataclasses
import datetime as dt
import enum
import inspect
import ipaddress
import json
import math
import pathlib
import uuid
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from pydantic import AnyUrl, BaseModel, SecretStr
from pydantic_core import to_jsonable_python

from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.messages import Json

__all__ = ["MAX_CHARS", "Unusable", "as_interrupt", "as_json"]

MAX_CHARS = 10_000_000
"""Characters of text in one result; a tool that returns more must be asked for less."""
_MAX_VALUES = 1_000_000
_MAX_DEPTH = 100
_MAX_INTEGER_BITS = 4096

_WRITTEN_AS_TEXT = (
    *(dt.date, dt.time, dt.timedelta, pathlib.PurePath, uuid.UUID, AnyUrl, SecretStr),
    *(ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network),
)
"""Types whose text form pydantic defines (dates and durations in ISO 8601)."""


class Unusable(Exception):
    """A result that JSON can't carry. The text continues the sentence "`name` …"."""


def as_interrupt(value: Any) -> Interrupt | None:
    """The interrupt that a tool returned, as an `Interrupt` or in its JSON shape; None when it is an ordinary result.

    Raises `Unusable` for a question that can't be asked.
    """
    if isinstance(value, Mapping) and value.get("interrupt") is True and "interruptType" in value:
        value = Interrupt(value["interruptType"], value.get("reason", ""), value.get("payload") or {})
    if not isinstance(value, Interrupt):
        return None
    try:
        kind = InterruptType(value.type)
    except ValueError:
        raise Unusable(f"returned an interrupt of an unknown type; known are {', '.join(InterruptType)}") from None
    payload = as_json(value.payload)
    reason = as_json(value.reason)
    if not isinstance(payload, dict) or not isinstance(reason, str):
        raise Unusable("returned an interrupt whose reason is no text or whose payload is no object")
    return Interrupt(kind, reason, payload)


def as_json(value: Any) -> Json:
    """A JSON value that means the same. Raises `Unusable`, also when reading the value raises.

    Models, dataclasses, mappings, lists, tuples and sets (sorted) are taken apart; dates, durations, paths, UUIDs,
    network addresses and decimals become text.
    """
    try:
        return _Conversion().convert(value, "", 0)
    except Unusable:
        raise
    except RecursionError:
        raise Unusable(f"returned a result nested deeper than {_MAX_DEPTH} levels") from None
    except Exception as error:
        raise Unusable(f"returned a result that could not be read ({type(error).__name__})") from error


class _Conversion:
    """One walk over a result, with what it has counted so far."""

    def __init__(self) -> None:
        self._chars = 0
        self._values = 0
        self._open: set[int] = set()

    def convert(self, value: Any, where: str, depth: int) -> Json:
        self._values += 1
        if self._values > _MAX_VALUES:
            raise Unusable(f"returned more than {_MAX_VALUES} values; ask for less")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, enum.Enum):
            return self.convert(value.value, where, depth)
        if isinstance(value, str):
            return self._text(str(value), where)
        if isinstance(value, int):
            if value.bit_length() > _MAX_INTEGER_BITS:
                raise Unusable(f"returned a number of more than {_MAX_INTEGER_BITS} bits{_at(where)}")
            return int(value)
        if isinstance(value, float | Decimal):
            if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
                raise Unusable(f"returned {value}{_at(where)}, which is not a number that JSON has")
            return str(value) if isinstance(value, Decimal) else float(value)
        if isinstance(value, bytes | bytearray | memoryview):
            size = value.nbytes if isinstance(value, memoryview) else len(value)
            raise Unusable(f"returned {size} bytes of binary data{_at(where)}")
        return self._compound(value, where, depth)

    def _compound(self, value: Any, where: str, depth: int) -> Json:
        if id(value) in self._open:
            raise Unusable(f"returned a result that contains itself{_at(where)}")
        if depth >= _MAX_DEPTH:
            raise Unusable(f"returned a result nested deeper than {_MAX_DEPTH} levels")
        self._open.add(id(value))
        try:
            return self._parts(value, where, depth + 1)
        finally:
            self._open.discard(id(value))

    def _parts(self, value: Any, where: str, depth: int) -> Json:
        if isinstance(value, BaseModel):
            return self.convert(value.model_dump(mode="json", warnings="none"), where, depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
            return self._object(fields, where, depth)
        if isinstance(value, Mapping):
            return self._object(value.items(), where, depth)
        if isinstance(value, list | tuple):
            return [self.convert(item, f"{where}.{index}", depth) for index, item in enumerate(value)]
        if isinstance(value, set | frozenset):
            items = [self.convert(item, where, depth) for item in value]
            return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
        return self._leaf(value, where)

    def _object(self, items: Iterable[tuple[Any, Any]], where: str, depth: int) -> dict[str, Json]:
        converted: dict[str, Json] = {}
        for key, item in items:
            name = self.convert(key, where, depth)
            if isinstance(name, int) and not isinstance(name, bool):
                name = str(name)
            if not isinstance(name, str):
                raise Unusable(f"returned an object with a key that is no text{_at(where)}")
            if name in converted:
                raise Unusable(f"returned an object with two keys {name[:40]!r}{_at(where)}")
            converted[name] = self.convert(item, f"{where}.{name}", depth)
        return converted

    def _leaf(self, value: Any, where: str) -> Json:
        if isinstance(value, _WRITTEN_AS_TEXT):
            return self._text(str(to_jsonable_python(value)), where)
        if inspect.iscoroutine(value):
            value.close()
        raise Unusable(f"returned a value of type {type(value).__name__}{_at(where)}, which JSON can't carry")

    def _text(self, text: str, where: str) -> str:
        self._chars += len(text)
        if self._chars > MAX_CHARS:
            raise Unusable(f"returned more than {MAX_CHARS} characters; ask for less")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Unusable(f"returned text that is not valid Unicode{_at(where)} (a lone surrogate)") from None
        return text


def _at(where: str) -> str:
    return f" at {where.removeprefix('.')[:80]!r}" if where else ""
