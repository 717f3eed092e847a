"""The arguments as a tool understands them are arguments that it understands in the same way."""

import datetime as dt
import math
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, SecretBytes, SecretStr

from opspilot.core.calls import canonical_json
from opspilot.core.messages import Json
from opspilot.tools.spec import tool


class Level(StrEnum):
    LOW = "low"


class Inner(BaseModel):
    known: str
    hidden: str = Field("", exclude=True)
    renamed: int = Field(1, alias="as")


class Place:
    """A type of somebody's own, which can be read from a text and not be told from another one."""

    def __init__(self, name: str) -> None:
        self.name = name


Somewhere = Annotated[Any, AfterValidator(Place)]

NEVER = math.nan
SPARE = SecretStr("x")


@tool()
def login(secret: SecretStr, name: str = "root", spare: SecretStr = SPARE, raw: SecretBytes | None = None) -> str:
    """Log in."""
    return f"{name}{secret}{spare}{raw}"


@tool()
def put(inner: Inner, level: Level = Level.LOW, at: dt.datetime | None = None, sizes: set[int] = frozenset()) -> str:  # type: ignore[assignment]
    """Put."""
    return f"{inner}{level}{at}{sizes}"


@tool()
def go(
    to: Somewhere, count: int = 3, price: Decimal = Decimal("1.50"), file: Path = Path("a"), rate: float = NEVER
) -> str:
    """Go."""
    return f"{to}{count}{price}{file}{rate}"


@pytest.mark.parametrize(
    ("asked", "arguments", "understood"),
    [
        (login, {"secret": "hunter22"}, {"secret": "hunter22", "name": "root", "raw": None}),
        (login, {"secret": "a", "raw": "b"}, {"secret": "a", "raw": "b", "name": "root"}),
        (
            put,
            {"inner": {"known": "a", "hidden": "b", "as": "2"}, "at": "2026-01-01"},
            {
                "inner": {"known": "a", "hidden": "b", "as": "2"},
                "level": "low",
                "at": "2026-01-01T00:00:00",
                "sizes": [],
            },
        ),
        (put, {"inner": {"known": "a"}, "sizes": ["1"]}, {"inner": {"known": "a", "as": 1}, "sizes": [1]}),
        (go, {"to": "here", "count": "9"}, {"to": "here", "count": 9, "price": "1.50", "file": "a"}),
    ],
)
def test_defaults_and_types_are_there_and_what_can_not_be_written_is_as_it_was_given(
    asked: Any, arguments: dict[str, Json], understood: dict[str, Json]
) -> None:
    seen = asked.understood(arguments)
    assert {name: seen.get(name) for name in understood} == understood
    assert "rate" not in seen
    assert "spare" not in seen
    assert canonical_json(seen)
    given, again = asked.bind(arguments), asked.bind(seen)
    assert [_plain(value) for value in again.values()] == [_plain(value) for value in given.values()]


def _plain(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else getattr(value, "name", value)
