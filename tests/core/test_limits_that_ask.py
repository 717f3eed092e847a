"""At a limit a person is asked. Read each row as: in this state, after these events, the run does that."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from opspilot.core.budget import BudgetName, Grant
from opspilot.core.contract import Asked, ModelOutcome
from opspilot.core.events import (
    AnswerArrived,
    AskedToGoOn,
    CameLate,
    Climbed,
    Event,
    MessageArrived,
    ModelAnswered,
    RunClosed,
    StopRequested,
    ThinkingStopped,
    TimePassed,
)
from opspilot.core.interrupts import AnswerAction
from opspilot.core.limits import OnLimit, StopReason
from opspilot.core.loop import apply, decide
from opspilot.core.messages import Usage
from opspilot.core.observations import ErrorCode
from opspilot.core.state import Repeats, RunState
from opspilot.core.terms import Rung, RungKind
from tests.core.builders import LIMITS, M1, M2, SECOND, THINKING, answer, ended, judged, proposal, reply, words

ASK = replace(LIMITS, on_limit=OnLimit.ASK)
MAX_STEPS, TIMEOUT, BUDGET = StopReason.MAX_STEPS, StopReason.TIMEOUT, StopReason.BUDGET
FAILS, LOOP = StopReason.TOO_MANY_FAILS, StopReason.LOOP_DETECTED
OPENED = AskedToGoOn(Asked("shown", (Rung(RungKind.EXPIRE, 100.0),)), 1000.0)
EXPIRED = Climbed("limit#1", Rung(RungKind.EXPIRE, 100.0))
MORE = Grant(BudgetName.SESSION_TOKENS, 250.0)
REFUSED = ModelAnswered(
    ModelOutcome(Usage(), 0.0, stop=BUDGET, detail="It is used up.", refused=(MORE,)), taken=1, at=900.0
)


def said(action: AnswerAction = AnswerAction.APPROVE, nth: int = 1, at: float = 1000.0) -> list[Event]:
    """A person's answer, and that it was good."""
    said = replace(answer(f"a{nth}", f"limit#{nth}", action), at=at)
    return [AnswerArrived(said), judged(action, of=said)]


LATE = AnswerArrived(replace(answer("late", "limit#1"), at=1300.0))


def at(reason: StopReason, steps: int = 3, **more: Any) -> RunState:
    """After so many steps, at this limit."""
    return replace(THINKING, step=steps, steps_now=steps, stop=reason, **more)


YES, NO = said(), said(AnswerAction.REJECT)

ROWS = [
    pytest.param(at(MAX_STEPS), [], "ask to go on at max_steps, question 1", {}, id="a person is asked"),
    pytest.param(at(MAX_STEPS), [OPENED], "ask limit#1", {"limits_asked": 1}, id="and the run waits"),
    pytest.param(
        at(MAX_STEPS),
        [OPENED, *YES],
        "think 4",
        {"stop": None, "grants": (MAX_STEPS,), "limit_question": None},
        id="with a yes it goes on",
    ),
    pytest.param(
        at(MAX_STEPS), [OPENED, *NO], "last words at max_steps after step 3 in 60 s", {"grants": ()}, id="with a no not"
    ),
    pytest.param(
        at(MAX_STEPS),
        [OPENED, TimePassed(1100.0), EXPIRED],
        "last words at max_steps after step 3 in 60 s",
        {"stop": MAX_STEPS},
        id="nor when nobody says anything",
    ),
    pytest.param(
        at(MAX_STEPS), [OPENED, TimePassed(1100.0)], "expire limit#1", {}, id="whose time is up is given up first"
    ),
    pytest.param(
        at(MAX_STEPS),
        [OPENED, *said(at=1099.0)[:1], TimePassed(1200.0)],
        "judge a1",
        {},
        id="but an answer that came in time is judged before that, however late it is",
    ),
    pytest.param(
        at(MAX_STEPS),
        [OPENED, LATE, *said(at=1099.0)[:1], TimePassed(1300.0)],
        "judge a1",
        {},
        id="also one that comes behind another that was too late",
    ),
    pytest.param(
        at(MAX_STEPS),
        [OPENED, LATE, *said(at=1099.0), TimePassed(1300.0)],
        "judge late",
        {"stop": None},
        id="of which each is taken off the queue when it has been judged",
    ),
    pytest.param(at(MAX_STEPS), [OPENED, StopRequested()], "close cancelled", {}, id="a stop ends it at once"),
    pytest.param(
        at(MAX_STEPS),
        [OPENED, YES[0], StopRequested(), YES[1]],
        "close cancelled",
        {"grants": ()},
        id="also one that comes while a yes is being checked",
    ),
    pytest.param(
        at(MAX_STEPS), [StopRequested(), OPENED], "close cancelled", {}, id="or while the question is written"
    ),
    pytest.param(
        at(MAX_STEPS), [OPENED, MessageArrived(M1), *YES], "think 4 m1", {}, id="a message is read in the next step"
    ),
    pytest.param(
        at(MAX_STEPS),
        [OPENED, MessageArrived(M1), *NO],
        "last words at max_steps after step 3 in 60 s",
        {"inbox": (M1,)},
        id="and without one stays unread",
    ),
    pytest.param(
        at(MAX_STEPS),
        [OPENED, MessageArrived(M1), *NO, ThinkingStopped(final=True), RunClosed(0), CameLate()],
        "think 4 m1",
        {"steps_now": 0, "grants": (), "limit_question": None},
        id="until the run has closed: then it is answered, with counters of its own",
    ),
    pytest.param(
        at(MAX_STEPS),
        [OPENED, NO[0], AnswerArrived(answer("b", "limit#1")), NO[1]],
        "judge b",
        {},
        id="and who sent the second is told before the last words",
    ),
    # what a yes means at each limit
    pytest.param(
        at(TIMEOUT, 2, active_now=100.0), [OPENED, *YES], "think 3", {"grants": (TIMEOUT,)}, id="as much time again"
    ),
    pytest.param(
        at(FAILS, 2, failures_now=2), [OPENED, *YES], "think 3", {"failures_now": 0}, id="failures are counted anew"
    ),
    pytest.param(
        at(LOOP, 2, repeats=(Repeats("look", "r", 6, 3),)), [OPENED, *YES], "think 3", {"repeats": ()}, id="and repeats"
    ),
    pytest.param(
        at(BUDGET, 2, tokens_now=90_000),
        [OPENED, *YES],
        "think 3",
        {"tokens_now": 0, "granted": ()},
        id="and tokens, of which one call may take many times what is allowed",
    ),
    pytest.param(
        at(MAX_STEPS, active_now=100.0),
        [OPENED, *YES],
        "ask to go on at timeout, question 2",
        {"grants": (MAX_STEPS,)},
        id="of two limits that are met each is asked about",
    ),
    pytest.param(
        at(MAX_STEPS, active_now=100.0),
        [OPENED, *YES, OPENED, *said(nth=2)],
        "think 4",
        {"grants": (MAX_STEPS, TIMEOUT)},
        id="and with two yeses it goes on",
    ),
    pytest.param(
        at(StopReason.EXPIRED), [], "last words at expired after step 3 in 60 s", {}, id="who didn't decide isn't asked"
    ),
    # budgets: also where limits don't ask
    pytest.param(
        replace(SECOND, inbox=(M1,)),
        [REFUSED],
        "ask to go on at budget, question 1",
        {"step": 1, "inbox": (), "sought": (MORE,)},
        id="a refused step is not used, and its message is read",
    ),
    pytest.param(
        SECOND,
        [REFUSED, OPENED, *YES],
        "think 2",
        {"granted": (MORE,), "sought": (), "grants": (), "detail": ""},
        id="what a yes grants is what was sought, and no limit of the run",
    ),
    pytest.param(
        SECOND,
        [REFUSED, OPENED, *NO],
        "last words at budget after step 1 in 60 s",
        {"granted": (), "detail": "It is used up."},
        id="with a no there are last words",
    ),
    pytest.param(
        THINKING, [REFUSED, OPENED, *NO], "close budget", {}, id="but none of a run that has found out nothing yet"
    ),
    pytest.param(
        THINKING,
        [REFUSED, OPENED, MessageArrived(M2), *NO, RunClosed(0), CameLate(), REFUSED],
        "ask to go on at budget, question 2",
        {},
        id="a later message asks again",
    ),
    pytest.param(
        SECOND,
        [REFUSED, OPENED, *YES, reply(), RunClosed(0), MessageArrived(M2), CameLate()],
        "think 3 m2",
        {"granted": (MORE,)},
        id="a grant is for the whole run",
    ),
    pytest.param(
        SECOND, [StopRequested(), REFUSED], "close cancelled", {"sought": ()}, id="a stopped run asks nothing"
    ),
]


@pytest.mark.parametrize(("state", "happened", "does", "holds"), ROWS)
def test_at_a_limit(state: RunState, happened: Sequence[Event], does: str, holds: dict[str, Any]) -> None:
    limits = LIMITS if REFUSED in happened else ASK
    for event in happened:
        state = apply(state, event, limits)
    assert words(decide(state, limits)) == does
    assert {name: getattr(state, name) for name in holds} == holds


@pytest.mark.parametrize(
    ("grants", "steps", "stops"),
    [((), 3, True), ((MAX_STEPS,), 3, False), ((MAX_STEPS,), 6, True), ((MAX_STEPS, MAX_STEPS), 8, False)],
)
def test_each_yes_is_for_as_many_steps_again(grants: tuple[StopReason, ...], steps: int, stops: bool) -> None:
    state = replace(SECOND, step=steps - 1, steps_now=steps - 1, grants=grants)
    state = apply(state, reply(proposal()), ASK)
    state = apply(state, ended(code=ErrorCode.DENIED_BY_POLICY), ASK)
    assert (state.stop is MAX_STEPS) == stops


def test_without_asking_a_limit_has_last_words_at_once() -> None:
    assert words(decide(at(MAX_STEPS), LIMITS)) == "last words at max_steps after step 3 in 60 s"
