"""Events between the steps. Read each row as: in this state, after these events, the run does that."""

from dataclasses import replace

import pytest

from opspilot.core.calls import Effect, Gate
from opspilot.core.contract import ModelOutcome, Opened
from opspilot.core.events import (
    CameLate,
    Event,
    Failed,
    MessageArrived,
    ModelAnswered,
    NothingCame,
    RunClosed,
    RunOpened,
    StopRequested,
    ThinkingStopped,
)
from opspilot.core.limits import AT_A_LIMIT, StopReason
from opspilot.core.loop import apply, decide
from opspilot.core.messages import Usage
from opspilot.core.observations import ErrorCode
from opspilot.core.state import RunState
from tests.core.builders import (
    CLOSING,
    EMPTY,
    ENDED,
    LIMITS,
    M1,
    M2,
    OPENING,
    SECOND,
    THINKING,
    ended,
    proposal,
    reply,
    words,
)

ROWS = [
    # opening
    pytest.param(EMPTY, [NothingCame()], "end", {"stop": StopReason.NOTHING_TO_DO}, id="no message came"),
    pytest.param(EMPTY, [MessageArrived(M1)], "open with m1", {}, id="a first message"),
    pytest.param(EMPTY, [StopRequested()], "end", {"stop": StopReason.CANCELLED}, id="a stop before any message"),
    pytest.param(
        EMPTY,
        [StopRequested(), MessageArrived(M1), CameLate()],
        "open with m1",
        {"stop": StopReason.CANCELLED},
        id="a stop that overtook the first message is for it",
    ),
    pytest.param(
        EMPTY,
        [StopRequested(), NothingCame()],
        "end",
        {"stop": StopReason.CANCELLED},
        id="a stop in the moment in which the wait ran out",
    ),
    pytest.param(
        EMPTY,
        [MessageArrived(M1), NothingCame(), CameLate()],
        "open with m1",
        {},
        id="a message in the moment in which the wait ran out",
    ),
    pytest.param(
        OPENING,
        [MessageArrived(M2), RunOpened(Opened("j", 1), 1)],
        "think 1 m2",
        {"journal": "j", "opened": True},
        id="a message while opening waits for the first step",
    ),
    pytest.param(
        OPENING, [StopRequested(), RunOpened(Opened("j", 1), 1)], "close cancelled", {}, id="a stop while opening"
    ),
    pytest.param(
        OPENING,
        [RunOpened(Opened("j", 0), 1)],
        "close nothing_to_do",
        {},
        id="a message that an earlier run has read already",
    ),
    pytest.param(
        OPENING,
        [MessageArrived(M2), RunOpened(Opened("j", 0), 1)],
        "think 1 m2",
        {},
        id="unless another one came behind it",
    ),
    pytest.param(
        OPENING,
        [RunOpened(Opened("j", 0, "This session belongs to bob."), 1)],
        "end",
        {"detail": "This session belongs to bob.", "opened": False},
        id="somebody else's session",
    ),
    pytest.param(
        OPENING, [Failed(StopReason.INTERNAL_ERROR, "x")], "end", {"inbox": ()}, id="an opening that fails ends the run"
    ),
    # thinking
    pytest.param(
        THINKING,
        [reply(answer="So.")],
        "close answered",
        {"answer": "So.", "step": 1, "steps_now": 1, "steps_here": 1},
        id="an answer ends the run",
    ),
    pytest.param(
        replace(THINKING, inbox=(M1,)),
        [MessageArrived(M2), reply(answer="So.", taken=1)],
        "close answered",
        {"inbox": (M2,)},
        id="a message that came meanwhile is left for the next turn",
    ),
    pytest.param(THINKING, [reply(proposal(), proposal())], "run 1 2", {"step": 1}, id="proposed calls run"),
    pytest.param(
        THINKING,
        [reply(proposal(Effect.WRITE, Gate.CONFIRM), proposal())],
        "run 2",
        {},
        id="a call held by its verdict waits, the read behind it doesn't",
    ),
    pytest.param(
        THINKING,
        [reply(proposal(code=ErrorCode.UNKNOWN_TOOL))],
        "think 2",
        {"failures_now": 1, "calls": ()},
        id="calls that are all settled by the reply end the step",
    ),
    pytest.param(
        THINKING,
        [reply(stop=StopReason.MODEL_FAILED, detail="No key.")],
        "close model_failed",
        {"detail": "No key."},
        id="a model that can't be used",
    ),
    pytest.param(
        THINKING, [reply(stop=StopReason.MODEL_REFUSED)], "close model_refused", {}, id="a model that refuses"
    ),
    pytest.param(
        THINKING,
        [reply(stop=StopReason.CONTEXT_TOO_LONG)],
        "close context_too_long",
        {},
        id="a conversation that no longer fits",
    ),
    pytest.param(
        THINKING,
        [reply(stop=StopReason.TIMEOUT)],
        "last words at timeout after step 1 in 60 s",
        {},
        id="a model call that used up the time",
    ),
    pytest.param(
        THINKING,
        [reply(proposal(), seconds=100.0)],
        "record 1:not_started",
        {"stop": StopReason.TIMEOUT},
        id="calls of a reply that used up the time are not started",
    ),
    pytest.param(
        THINKING,
        [StopRequested(), ThinkingStopped()],
        "close cancelled",
        {"step": 1},
        id="a stop while the model thinks uses its step up",
    ),
    pytest.param(
        THINKING,
        [StopRequested(), reply(proposal())],
        "record 1:cancelled",
        {},
        id="calls of a reply that came in spite of a stop do not run",
    ),
    pytest.param(
        THINKING,
        [StopRequested(), reply(answer="So.")],
        "close cancelled",
        {"answer": "So."},
        id="an answer that came in spite of a stop is kept",
    ),
    pytest.param(
        replace(THINKING, inbox=(M1,)),
        [StopRequested(), ThinkingStopped()],
        "close cancelled m1",
        {},
        id="what the given up call was to read is recorded",
    ),
    pytest.param(
        replace(THINKING, inbox=(M1,)),
        [Failed(StopReason.JOURNAL_BEHIND, "x"), RunClosed(1)],
        "end",
        {"inbox": ()},
        id="a journal that is behind ends the run, with its messages",
    ),
    # closing and after
    pytest.param(
        replace(SECOND, stop=StopReason.CANCELLED),
        [RunClosed(0)],
        "end",
        {"stop": StopReason.CANCELLED},
        id="a run that was stopped between two steps closes",
    ),
    pytest.param(CLOSING, [RunClosed(0)], "end", {"closes": 1}, id="closed is ended"),
    pytest.param(CLOSING, [StopRequested(), RunClosed(0)], "end", {"stop": StopReason.ANSWERED}, id="a stop too late"),
    pytest.param(
        CLOSING,
        [MessageArrived(M1), RunClosed(0), CameLate()],
        "think 2 m1",
        {"steps_now": 0, "step": 1, "stop": None, "answer": ""},
        id="a late message goes on with counters anew",
    ),
    pytest.param(
        CLOSING,
        [MessageArrived(M1), StopRequested(), RunClosed(0), CameLate()],
        "close cancelled m1",
        {},
        id="a late message that was stopped at once is recorded, not answered",
    ),
    pytest.param(
        CLOSING,
        [StopRequested(), MessageArrived(M1), RunClosed(0), CameLate()],
        "think 2 m1",
        {},
        id="a message after the stop is answered",
    ),
    pytest.param(
        replace(CLOSING, stop=StopReason.CANCELLED, inbox=(M1,), stopped_messages=1),
        [MessageArrived(M2), RunClosed(1), CameLate()],
        "think 2 m2",
        {},
        id="also when the stop's own messages are being recorded",
    ),
    pytest.param(
        CLOSING,
        [StopRequested(by_temporal=True), MessageArrived(M1), RunClosed(0), CameLate()],
        "close cancelled m1",
        {"cancelled_by_temporal": True},
        id="after Temporal's own cancellation nothing is answered any more",
    ),
    pytest.param(
        replace(CLOSING, inbox=(M1,)),
        [Failed(StopReason.INTERNAL_ERROR, "x")],
        "end",
        {"inbox": (), "stop": StopReason.INTERNAL_ERROR},
        id="a closing that fails ends the run",
    ),
    pytest.param(
        replace(ENDED, opened=False, inbox=(M1,)), [CameLate()], "open with m1", {}, id="a run that never opened opens"
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


@pytest.mark.parametrize("reason", sorted(AT_A_LIMIT))
def test_after_its_last_words_a_run_closes_with_the_limit_whatever_became_of_them(reason: StopReason) -> None:
    at_limit = replace(SECOND, stop=reason)
    for outcome in (
        ModelOutcome(Usage(1), 1.0, answer="Found this."),
        ModelOutcome(Usage(1), 1.0, stop=StopReason.MODEL_FAILED),
    ):
        state = apply(at_limit, ModelAnswered(outcome, 0, final=True), LIMITS)
        assert words(decide(state, LIMITS)) == f"close {reason}"
        assert (state.answer, state.step, state.steps_now) == (outcome.answer, 1, 1)
    stopped = apply(apply(at_limit, StopRequested(), LIMITS), ThinkingStopped(final=True), LIMITS)
    assert words(decide(stopped, LIMITS)) == "close cancelled"
    assert stopped.step == 1


def test_a_continued_run_counts_its_steps_for_the_limit_but_not_for_its_history() -> None:
    state = replace(SECOND, steps_now=2, steps_here=0)
    state = apply(state, reply(proposal()), LIMITS)
    state = apply(state, ended(), LIMITS)
    assert words(decide(state, LIMITS)) == "last words at max_steps after step 2 in 60 s"
    assert state.steps_here == 1


def test_usage_adds_up_over_the_whole_run_and_the_budget_counts_anew() -> None:
    state = apply(THINKING, reply(answer="So.", tokens=30), LIMITS)
    state = apply(apply(apply(state, MessageArrived(M1), LIMITS), RunClosed(0), LIMITS), CameLate(), LIMITS)
    assert (state.usage, state.tokens_now) == (Usage(30), 0)
    state = apply(state, reply(answer="So.", tokens=12, taken=1), LIMITS)
    assert (state.usage, state.tokens_now) == (Usage(42), 12)
