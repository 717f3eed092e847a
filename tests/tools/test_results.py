"""What Python values become as JSON, and which ones are refused with what reason."""

import dataclasses
import enum
import json
import math
import uuid
from collections import OrderedDict, namedtuple
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.messages import Json
from opspilot.tools.results import MAX_CHARS, Unusable, as_interrupt, as_json


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    BIG = 3


@dataclasses.dataclass
class Host:
    name: str
    seen: datetime


class Report(BaseModel):
    hosts: list[Host] = []
    cost: Decimal = Decimal("1.10")
    key: SecretStr = SecretStr("hunter2")


Pair = namedtuple("Pair", "a b")  # noqa: PYI024 - an untyped one is a tuple too

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)

USABLE: tuple[tuple[Any, Json], ...] = (
    (None, None),
    (True, True),
    (1, 1),
    (2.5, 2.5),
    ("报错", "报错"),
    (Colour.RED, "red"),
    (Size.BIG, 3),
    ([1, (2, Pair(3, 4))], [1, [2, [3, 4]]]),
    ({"b", "a", "c"}, ["a", "b", "c"]),
    (frozenset({3, 1}), [1, 3]),
    (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    ({1: "x", Colour.RED: "y", date(2026, 1, 2): "z"}, {"1": "x", "red": "y", "2026-01-02": "z"}),
    (Host("h", NOON), {"name": "h", "seen": "2026-11-30T12:00:00Z"}),
    (
        Report(hosts=[Host("h", NOON)]),
        {"hosts": [{"name": "h", "seen": "2026-11-30T12:00:00Z"}], "cost": "1.10", "key": "**********"},
    ),
    (Path("/a/b"), "/a/b"),
    (Decimal("1.10"), "1.10"),
    (timedelta(minutes=5), "PT5M"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ([ip_address("10.0.0.1"), ip_network("10.0.0.0/8")], ["10.0.0.1", "10.0.0.0/8"]),
)


class Broken(dict[str, int]):
    def items(self) -> Any:
        raise OSError("the disk is away")


def cycle() -> list[Any]:
    inner: list[Any] = []
    inner.append({"again": inner})
    return inner


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


class Cyclic(BaseModel):
    other: "Cyclic | None" = None


def cyclic_model() -> Cyclic:
    model = Cyclic()
    model.other = model
    return model


async def later() -> int:
    return 1


UNUSABLE: tuple[tuple[Any, str], ...] = (
    (b"\x00" * 1234, "returned 1234 bytes of binary data"),
    ({"body": bytearray(3)}, "returned 3 bytes of binary data at 'body'"),
    (memoryview(b"abc"), "returned 3 bytes of binary data"),
    ({"a": [1, math.nan]}, "returned nan at 'a.1', which is not a number that JSON has"),
    (math.inf, "returned inf, which is not a number that JSON has"),
    (Decimal("NaN"), "returned NaN, which"),
    (Decimal("sNaN"), "returned sNaN, which"),
    ("half \ud83d", "returned text that is not valid Unicode (a lone surrogate)"),
    ({"\udc80": 1}, "returned text that is not valid Unicode"),
    (object(), "returned a value of type object, which JSON can't carry"),
    ({"x": [len]}, "returned a value of type builtin_function_or_method at 'x.0', which JSON can't carry"),
    ((n for n in range(3)), "returned a value of type generator"),
    (3j, "returned a value of type complex"),
    (Host, "returned a value of type type"),
    (cycle(), "returned a result that contains itself at '0.again'"),
    (deep(5000), "returned a result nested deeper than 100 levels"),
    (cyclic_model(), "returned a result that could not be read (ValueError)"),
    (Broken(), "returned a result that could not be read (OSError)"),
    ({(1, 2): 3}, "returned an object with a key that is no text"),
    ({None: 3}, "returned an object with a key that is no text"),
    ({1: "a", "1": "b"}, "returned an object with two keys '1'"),
    (1 << 5000, "returned a number of more than 4096 bits"),
    ("x" * (MAX_CHARS + 1), "returned more than 10000000 characters"),
    ([0] * 1_000_001, "returned more than 1000000 values"),
)


@pytest.mark.parametrize(("value", "expected"), USABLE)
def test_values_with_one_clear_meaning_become_json(value: Any, expected: Json) -> None:
    converted = as_json(value)
    assert converted == expected
    assert json.loads(json.dumps(converted)) == expected


@pytest.mark.parametrize(("value", "says"), UNUSABLE, ids=[says for _, says in UNUSABLE])
def test_values_that_would_mislead_are_refused_with_the_reason(value: Any, says: str) -> None:
    with pytest.raises(Unusable) as caught:
        as_json(value)
    assert str(caught.value).startswith(says)


def test_a_coroutine_is_refused_and_closed() -> None:
    with pytest.raises(Unusable, match="type coroutine"):
        as_json(later())


def test_a_value_that_appears_twice_is_no_cycle() -> None:
    shared = {"a": 1}
    assert as_json([shared, shared]) == [{"a": 1}, {"a": 1}]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@settings(deadline=None)
@given(value=json_values)
def test_json_is_left_as_it_is(value: Json) -> None:
    assert as_json(value) == value


def test_an_interrupt_is_known_as_an_object_and_in_its_json_shape() -> None:
    asked = Interrupt(InterruptType.CONFIRM_RISKY, "Restart it?", {"service": "api", "at": "2026-11-30T12:00:00Z"})
    assert as_interrupt(Interrupt(InterruptType.CONFIRM_RISKY, "Restart it?", {"service": "api", "at": NOON})) == asked
    assert as_interrupt(asked.as_json()) == asked
    assert as_interrupt({"interrupt": True, "interruptType": "question", "reason": "Which?"}) == Interrupt(
        InterruptType.QUESTION, "Which?"
    )


@pytest.mark.parametrize("value", [None, 1, {}, {"interrupt": True}, {"interrupt": False, "interruptType": "question"}])
def test_an_ordinary_result_is_no_interrupt(value: Any) -> None:
    assert as_interrupt(value) is None


@pytest.mark.parametrize(
    "value",
    [
        {"interrupt": True, "interruptType": "nonsense"},
        {"interrupt": True, "interruptType": ["question"]},
        {"interrupt": True, "interruptType": "question", "reason": 5},
        {"interrupt": True, "interruptType": "question", "payload": [1]},
        Interrupt(InterruptType.QUESTION, "?", {"x": math.nan}),
        Interrupt(InterruptType.QUESTION, "\ud83d"),
    ],
)
def test_a_question_that_can_not_be_asked_is_unusable(value: Any) -> None:
    with pytest.raises(Unusable):
        as_interrupt(value)
