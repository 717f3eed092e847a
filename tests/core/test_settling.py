"""Events inside a step: results, questions, answers, stops. Rows are those of `test_events.py`."""

from dataclasses import replace

import pytest

from opspilot.core.calls import Effect, Gate
from opspilot.core.contract import AnswerJudged
from opspilot.core.events import AnswerArrived, AnswerChecked, Event, Failed, MessageArrived, StopRequested, Unrun
from opspilot.core.interrupts import AnswerAction
from opspilot.core.limits import StopReason
from opspilot.core.loop import apply, decide
from opspilot.core.observations import ErrorCode
from opspilot.core.state import Repeats, RunState
from opspilot.core.waiting import MANY_IGNORED
from tests.core.builders import (
    LIMITS,
    M1,
    THINKING,
    answer,
    asked,
    ended,
    judged,
    proposal,
    reply,
    settling,
    words,
)

EARLY = AnswerArrived(replace(answer("a1"), digest="of something shown"))

ROWS = [
    # settling
    pytest.param(
        settling("R R"),
        [ended(1), ended(2)],
        "think 2",
        {"active_now": 2.0, "calls": ()},
        id="when every call has its result the next step begins",
    ),
    pytest.param(settling("R R"), [ended(2)], "run 1", {}, id="results may land in any order"),
    pytest.param(settling("R"), [asked()], "ask 1", {"active_now": 1.0}, id="a tool that asks"),
    pytest.param(settling("R R"), [asked(1), ended(2)], "ask 1", {}, id="its sibling's result is kept"),
    pytest.param(settling("R"), [ended(code=ErrorCode.TOOL_FAILED)], "think 2", {"failures_now": 1}, id="a failure"),
    pytest.param(
        settling("R", failures_now=1),
        [ended(code=ErrorCode.TOOL_FAILED)],
        "last words at too_many_fails after step 1 in 60 s",
        {},
        id="too many failures in a row",
    ),
    pytest.param(
        settling("R! R! R"),
        [ended(3)],
        "last words at too_many_fails after step 1 in 60 s",
        {"failures_now": 0},
        id="also when a success follows in the same step",
    ),
    pytest.param(settling("R", failures_now=1), [ended()], "think 2", {"failures_now": 0}, id="a success between them"),
    pytest.param(
        settling("Wx R", failures_now=1),
        [ended(2, code=ErrorCode.CANCELLED)],
        "think 2",
        {"failures_now": 1},
        id="what people stopped neither counts nor resets",
    ),
    pytest.param(
        settling("R", steps_now=3), [ended()], "last words at max_steps after step 1 in 60 s", {}, id="the last step"
    ),
    pytest.param(
        settling("R", tokens_now=1000), [ended()], "last words at budget after step 1 in 60 s", {}, id="no tokens left"
    ),
    pytest.param(
        settling("R", repeats=(Repeats("read look args", "r", 2, 2),)),
        [ended()],
        "last words at loop_detected after step 1 in 60 s",
        {},
        id="the same call with the same result for the third time",
    ),
    pytest.param(
        settling("R. R", active_now=99.5),
        [ended(2)],
        "last words at timeout after step 1 in 60 s",
        {},
        id="the time is up with the step",
    ),
    pytest.param(
        settling("R W", active_now=99.5),
        [ended()],
        "record 2:not_started",
        {"stop": StopReason.TIMEOUT},
        id="the time is up in the middle of a step",
    ),
    pytest.param(
        settling("W", stop=StopReason.TIMEOUT),
        [Unrun(((1, ErrorCode.NOT_STARTED),))],
        "last words at timeout after step 1 in 60 s",
        {},
        id="then come the last words",
    ),
    pytest.param(settling("W? R."), [StopRequested()], "record 1:cancelled", {}, id="a stop while people are asked"),
    pytest.param(
        settling("W?"),
        [StopRequested(), Unrun(((1, ErrorCode.CANCELLED),))],
        "close cancelled",
        {},
        id="after which the run closes without last words",
    ),
    pytest.param(settling("W R"), [StopRequested(), ended()], "record 2:cancelled", {}, id="what ran keeps its result"),
    pytest.param(
        settling("W W"),
        [ended(1, code=ErrorCode.OUTCOME_UNKNOWN)],
        "record 2:skipped_after_unsuccessful_write",
        {},
        id="a write whose outcome is unknown stops the later ones",
    ),
    pytest.param(settling("W?"), [MessageArrived(M1)], "ask 1", {"inbox": (M1,)}, id="a message answers no question"),
    pytest.param(
        settling("R"), [Failed(StopReason.INTERNAL_ERROR, "x")], "close internal_error", {"calls": ()}, id="a fault"
    ),
    # answers
    pytest.param(settling("W?"), [AnswerArrived(answer("a1"))], "judge a1", {}, id="an answer is judged first"),
    pytest.param(
        settling("W?"),
        [AnswerArrived(answer("a1")), AnswerArrived(answer("a1"))],
        "judge a1",
        {"answers": (answer("a1"),)},
        id="the same answer twice is one answer",
    ),
    pytest.param(settling("W?", answers=(answer("a1"),)), [judged()], "run 1", {"answers": ()}, id="an approved call"),
    pytest.param(
        settling("W? W?", answers=(answer("a1"),)), [judged()], "ask 2", {}, id="when all questions are settled"
    ),
    pytest.param(
        settling("W?", answers=(answer("a1"),)),
        [AnswerChecked(answer("a1"), AnswerJudged(accepted=False, action=AnswerAction.APPROVE))],
        "ask 1",
        {"answers": ()},
        id="an answer that is not good leaves the question open",
    ),
    pytest.param(
        settling("W?", answers=(answer("a1", "1.9#1"),)),
        [judged(of=answer("a1", "1.9#1"))],
        "ask 1",
        {},
        id="an answer to something else settles nothing",
    ),
    pytest.param(
        settling("W?", answers=(answer("a1"),)),
        [judged(AnswerAction.REJECT, ErrorCode.REJECTED_BY_HUMAN)],
        "think 2",
        {"failures_now": 0},
        id="a rejected call has its observation",
    ),
    pytest.param(
        settling("W? W", answers=(answer("a1"),)),
        [judged(AnswerAction.REJECT, ErrorCode.REJECTED_BY_HUMAN)],
        "record 2:skipped_after_unsuccessful_write",
        {},
        id="and stops the writes behind it",
    ),
    pytest.param(
        settling("W? R?", answers=(answer("a1"),)),
        [judged(AnswerAction.REJECT, ErrorCode.REJECTED_BY_HUMAN)],
        "ask 2",
        {},
        id="but not its siblings' questions",
    ),
    pytest.param(
        settling("W?", answers=(answer("a1"),)),
        [StopRequested(), judged()],
        "record 1:cancelled",
        {},
        id="an approval that comes with a stop runs nothing",
    ),
    pytest.param(
        settling("W", answers=(answer("a1"),)), [ended()], "think 2", {"answers": ()}, id="answers end with their step"
    ),
    pytest.param(
        replace(THINKING, ignored_now=MANY_IGNORED - 1), [EARLY], "judge a1", {}, id="one that may have been overtaken"
    ),
    pytest.param(
        replace(THINKING, ignored_now=MANY_IGNORED),
        [EARLY],
        "think 1",
        {},
        id="a flood of them keeps nobody from thinking",
    ),
]


@pytest.mark.parametrize(("state", "events", "decision", "fields"), ROWS)
def test_what_an_event_makes_of_a_run(
    state: RunState, events: list[Event], decision: str, fields: dict[str, object]
) -> None:
    for event in events:
        state = apply(state, event, LIMITS)
    assert words(decide(state, LIMITS)) == decision
    assert {name: getattr(state, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("asked_in", "action", "round_"),
    [
        pytest.param(0, AnswerAction.APPROVE, 1, id="a call held by its verdict runs for the first time"),
        pytest.param(0, AnswerAction.PROVIDE, 1, id="with other arguments, too"),
        pytest.param(1, AnswerAction.APPROVE, 2, id="a call whose tool asked runs in another round"),
        pytest.param(1, AnswerAction.PROVIDE, 2, id="with what it asked for, too"),
    ],
)
def test_which_round_an_agreed_call_runs_in(*, asked_in: int, action: AnswerAction, round_: int) -> None:
    said = answer("a1", f"1.1#{asked_in}")
    state = settling("W?", answers=(said,))
    state = replace(state, calls=(replace(state.calls[0], round=asked_in),))
    state = apply(state, judged(action, of=said, digest="edited", summary="look edited"), LIMITS)
    (call,) = state.calls
    assert (call.round, call.digest, call.summary) == (round_, "edited", "look edited")


def test_a_held_call_whose_tool_asks_too_has_two_questions() -> None:
    state = apply(THINKING, reply(proposal(Effect.WRITE, Gate.CONFIRM)), LIMITS)
    first = state.interrupt(state.calls[0])
    state = apply(apply(state, AnswerArrived(answer("a1", first)), LIMITS), judged(of=answer("a1", first)), LIMITS)
    state = apply(state, asked(1), LIMITS)
    assert state.interrupt(state.calls[0]) != first
