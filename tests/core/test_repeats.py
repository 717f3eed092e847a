"""When a run is going in circles. A script is one letter a step: the call; a digit behind it: what it returned."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.limits import Limits
from opspilot.core.observations import ErrorCode
from opspilot.core.repeats import REMEMBERED, count_repeats, is_loop
from opspilot.core.state import CallState, Repeats
from tests.core.builders import call, polling

LIMITS = Limits()


def step(script: str) -> list[CallState]:
    """`"A1+B2"`: two calls of one step. `W` writes and goes well, `F` writes and fails, `P` is a polling tool."""
    made = []
    for index, part in enumerate(script.split("+"), start=1):
        kind = {"W": "W.", "F": "W!"}.get(part[0], "R.")
        one = call(kind, index, digest=part[0], result=part[1:])
        made.append(polling(one) if part[0] == "P" else one)
    return made


def loops_at(script: str, limits: Limits = LIMITS) -> int | None:
    """The step, from 1, after which the script is a loop; None when it never is."""
    repeats: tuple[Repeats, ...] = ()
    for nth, part in enumerate(script.split(), start=1):
        repeats = count_repeats(repeats, step(part))
        if is_loop(repeats, limits):
            return nth
    return None


@pytest.mark.parametrize(
    ("script", "loop_at"),
    [
        pytest.param("A1 A1 A1", 3, id="the same call with the same result three times"),
        pytest.param("A1 A1", None, id="twice is no loop"),
        pytest.param("A1 A1 A2 A2 A3", None, id="a result that changes starts the count anew"),
        pytest.param("A1 A2 A3 A4 A5 A6", 6, id="the same call six times, whatever the result"),
        pytest.param("A1 A2 A3 A4 A5", None, id="five times, each with something new"),
        pytest.param("A1 B1 C1 D1 E1 G1 H1", None, id="always another call"),
        pytest.param("A1 B1 A1 B1 A1 B1", 5, id="two calls in turn are a loop as well"),
        pytest.param("A1 B1 C1 A1 B1 C1 A1", 7, id="and so are three"),
        pytest.param("A1 A2 A1 A2 A1 A2", 6, id="one call whose results alternate"),
        pytest.param("A1+A1 A1+A1", None, id="asking twice in one step counts once"),
        pytest.param("A1+A1+A1+A1+A1+A1+A1", None, id="however often"),
        pytest.param("A1+B1 A1+B2 A1+B3", 3, id="one repeated call among others"),
        pytest.param("P1 P1 P1 P1 P1 P1 P1", None, id="polling tools are exempt"),
        pytest.param("P1+A1 P1+A1 P1+A1", 3, id="what else runs beside them isn't"),
        pytest.param("A1 A1 W1 A1 A1", None, id="after a write that went well the world is another"),
        pytest.param("A1 A1 W1 A1 A1 A1", 6, id="from which the count starts anew"),
        pytest.param("A1 A1 F1 A1", 4, id="a write that failed changed nothing"),
        pytest.param("W1 W1 W1", 3, id="the same write three times is a loop itself"),
        pytest.param("W1 A1 W1 A1 W1 A1", 5, id="also with reads between"),
        pytest.param("F1 F1 F1", 3, id="a failed write, too"),
    ],
)
def test_what_is_a_loop(script: str, loop_at: int | None) -> None:
    assert loops_at(script) == loop_at


def test_calls_that_never_ran_repeat_by_their_code() -> None:
    denied = replace(call("R!"), code=ErrorCode.DENIED_BY_POLICY, result="")
    repeats: tuple[Repeats, ...] = ()
    for _ in range(3):
        repeats = count_repeats(repeats, [denied])
    assert is_loop(repeats, LIMITS)


def test_the_numbers_are_settings() -> None:
    assert loops_at("A1 A1", Limits(same_result_in_a_row=2)) == 2
    assert loops_at("A1 A2 A3", Limits(same_call_in_a_row=3)) == 3


@given(st.lists(st.integers(0, 200), max_size=150))
def test_what_is_remembered_is_bounded_and_most_recent(digests: list[int]) -> None:
    repeats: tuple[Repeats, ...] = ()
    for digest in digests:
        repeats = count_repeats(repeats, [call("R.", digest=str(digest), result="r")])
    recent = list(dict.fromkeys(str(digest) for digest in reversed(digests)))[:REMEMBERED]
    assert [repeat.signature.split()[-1] for repeat in reversed(repeats)] == recent
