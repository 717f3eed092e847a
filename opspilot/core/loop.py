"""The run as a pure state machine: `decide(state)` says what comes next, `apply(state, event)` what that made of it.

Nothing here performs anything. The workflow performs one decision at a time and hands back what came of it; messages,
answers and stops arrive whenever they like and only change the state.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from opspilot.core.batches import never_to_run, next_batch, runs_before_approval
from opspilot.core.calls import Gate
from opspilot.core.contract import JudgedCall
from opspilot.core.decisions import (
    AskToGoOn,
    AwaitMessage,
    Close,
    Decision,
    End,
    JudgeAnswer,
    OpenRun,
    RecordUnrun,
    RunBatch,
    Think,
    ToRun,
)
from opspilot.core.events import (
    AnswerArrived,
    AnswerChecked,
    AskedToGoOn,
    CallEnded,
    CameLate,
    Climbed,
    Event,
    Failed,
    MessageArrived,
    ModelAnswered,
    NothingCame,
    RunClosed,
    RunOpened,
    StopRequested,
    ThinkingStopped,
    TimePassed,
    Unrun,
)
from opspilot.core.limits import AT_A_LIMIT, Limits, StopReason
from opspilot.core.observations import ErrorCode
from opspilot.core.state import CallState, Phase, RunState, Stage, with_call
from opspilot.core.steps import end_step_when_settled, seconds_left, stop_when_out_of_time
from opspilot.core.terms import Wait
from opspilot.core.waiting import (
    MANY_IGNORED,
    answer_arrived,
    answer_checked,
    asked_to_go_on,
    asks_at_limit,
    climbed,
    first_given,
    time_passed,
    wait_for_people,
)

GOES_NO_FURTHER = frozenset(
    {StopReason.CANCELLED, StopReason.MODEL_FAILED, StopReason.JOURNAL_BEHIND, StopReason.INTERNAL_ERROR}
)
"""Reasons to close with unread messages: nobody wants them answered, or trying again would break again."""


REMEMBERED_MESSAGES = 100
"""Ids of messages by which one that is sent again is known; older ones are known to the journal."""


def decide(state: RunState, limits: Limits) -> Decision:
    """What to do now. The same state always gives the same decision."""
    match state.phase:
        case Phase.OPENING:
            if state.stop is None and not state.inbox:
                return AwaitMessage(limits.first_message_seconds)
            return OpenRun(state.inbox)
        case Phase.THINKING:
            return _decide_thinking(state, limits)
        case Phase.SETTLING:
            return _decide_in_step(state, limits)
        case Phase.CLOSING:
            return _close(state)
        case Phase.ENDED:
            return End()


def _decide_thinking(state: RunState, limits: Limits) -> Decision:
    if state.stop is not None and state.stop not in AT_A_LIMIT:
        return _close(state)
    if state.stop is not None and asks_at_limit(state, limits):
        return AskToGoOn(state.stop, state.limits_asked + 1)
    if state.open_limit_question is not None:
        return wait_for_people(state)
    if (first := first_given(state)) is not None and state.ignored_now < MANY_IGNORED:
        # For questions that another answer has settled: who sent them is told. A flood keeps no run from thinking.
        return JudgeAnswer(first, 0.0)
    if state.stop is not None:
        if not state.steps_now:
            # A budget was used up before anything could be found out, and a flood of answers is left alone.
            return _close(state)
        # What is unread is left for after the close: it deserves counters of its own, and tools.
        return Think(state.step, (), state.stop, limits.final_turn_seconds)
    return Think(state.step + 1, state.inbox, None, seconds_left(state, limits))


def _close(state: RunState) -> Close:
    assert state.stop is not None
    return Close(state.stop, state.inbox if state.stop in GOES_NO_FURTHER else ())


def _decide_in_step(state: RunState, limits: Limits) -> Decision:
    if state.stop is not None:
        code = ErrorCode.CANCELLED if state.stop is StopReason.CANCELLED else ErrorCode.NOT_STARTED
        return RecordUnrun(tuple((call, code) for call in state.calls if call.is_open))
    if skipped := never_to_run(state.calls):
        return RecordUnrun(tuple((call, ErrorCode.SKIPPED_AFTER_UNSUCCESSFUL_WRITE) for call in skipped))
    if batch := next_batch(state.calls, limits.parallel_calls):
        left = seconds_left(state, limits)
        return RunBatch(
            tuple(
                ToRun(
                    call,
                    seconds=min(call.seconds, left),
                    before_approval=runs_before_approval(call, state.calls),
                    last_round=call.round >= limits.rounds,
                )
                for call in batch
            )
        )
    return wait_for_people(state)


def apply(state: RunState, event: Event, limits: Limits) -> RunState:
    """The state after an event."""
    return _closing(_APPLY[type(event)](state, event, limits), limits)


def _closing(state: RunState, limits: Limits) -> RunState:
    """A run at a limit that nobody lets go on, and that has found out nothing to tell, is closing from then on.

    A stop that comes while the close is being written is too late: what is written stands.
    """
    told = state.phase is not Phase.THINKING or state.stop not in AT_A_LIMIT or state.steps_now
    if told or asks_at_limit(state, limits) or state.open_limit_question is not None or first_given(state) is not None:
        return state
    return replace(state, phase=Phase.CLOSING)


def _message(state: RunState, event: MessageArrived, _: Limits) -> RunState:
    if event.message.id in state.seen:
        return state
    seen = (*state.seen, event.message.id)[-REMEMBERED_MESSAGES:]
    return replace(state, inbox=(*state.inbox, event.message), seen=seen)


def _stop(state: RunState, event: StopRequested, _: Limits) -> RunState:
    by_temporal = state.cancelled_by_temporal or event.by_temporal
    state = replace(state, cancelled_by_temporal=by_temporal, stopped_messages=len(state.inbox))
    if state.phase in (Phase.CLOSING, Phase.ENDED):
        return state
    phase = Phase.ENDED if state.phase is Phase.OPENING and not state.inbox else state.phase
    return replace(state, phase=phase, stop=StopReason.CANCELLED)


def _nothing_came(state: RunState, _: NothingCame, __: Limits) -> RunState:
    return replace(state, phase=Phase.ENDED, stop=state.stop or StopReason.NOTHING_TO_DO)


def _opened(state: RunState, event: RunOpened, _: Limits) -> RunState:
    state = _read(state, event.taken)
    if event.opened.refused:
        return replace(state, phase=Phase.ENDED, stop=StopReason.CANCELLED, detail=event.opened.refused)
    state = replace(state, opened=True, journal=event.opened.journal, notifies=event.opened.notifies)
    if state.stop is not None:
        return replace(state, phase=Phase.CLOSING)
    if not event.opened.new_messages and not state.inbox:
        return replace(state, phase=Phase.CLOSING, stop=StopReason.NOTHING_TO_DO)
    return replace(state, phase=Phase.THINKING)


def _thought(state: RunState, event: ModelAnswered, limits: Limits) -> RunState:
    outcome = event.outcome
    state = replace(
        _read(state, event.taken),
        usage=state.usage + outcome.usage,
        tokens_now=state.tokens_now + outcome.usage.total_tokens,
        active_now=state.active_now + outcome.active_seconds,
    )
    if event.final:
        return replace(state, phase=Phase.CLOSING, answer=outcome.answer)
    if outcome.refused:
        if state.stop is not None:
            return state
        return replace(state, stop=StopReason.BUDGET, detail=outcome.detail, sought=outcome.refused)
    state = _step_used(state)
    if outcome.calls:
        calls = tuple(_proposed(index, call, event.at) for index, call in enumerate(outcome.calls, start=1))
        state = replace(state, phase=Phase.SETTLING, calls=calls)
        return end_step_when_settled(stop_when_out_of_time(state, limits), limits)
    if state.stop is None and outcome.stop in AT_A_LIMIT:
        return replace(state, stop=outcome.stop, detail=outcome.detail)
    stop = state.stop or outcome.stop or StopReason.ANSWERED
    return replace(state, phase=Phase.CLOSING, stop=stop, detail=outcome.detail, answer=outcome.answer)


def _read(state: RunState, taken: int) -> RunState:
    return replace(state, inbox=state.inbox[taken:], stopped_messages=max(0, state.stopped_messages - taken))


def _thinking_stopped(state: RunState, event: ThinkingStopped, _: Limits) -> RunState:
    return replace(state if event.final else _step_used(state), phase=Phase.CLOSING)


def _step_used(state: RunState) -> RunState:
    return replace(state, step=state.step + 1, steps_now=state.steps_now + 1, steps_here=state.steps_here + 1)


def _proposed(index: int, call: JudgedCall, at: float) -> CallState:
    settled = call.code is not None
    held = call.gate is Gate.CONFIRM
    return CallState(
        index=index,
        tool=call.name,
        summary=call.summary,
        digest=call.digest,
        effect=call.effect,
        concurrent=call.concurrent,
        seconds=call.seconds,
        polling=call.polling,
        idempotent=call.idempotent,
        stage=Stage.DONE if settled else Stage.ASKED if held else Stage.READY,
        round=0 if held else 1,
        shown=call.shown,
        code=call.code,
        wait=Wait(at if held else 0.0, call.ladder),
    )


def _call_ended(state: RunState, event: CallEnded, limits: Limits) -> RunState:
    outcome = event.outcome
    call = state.calls[event.index - 1]
    if outcome.interrupted:
        call = replace(call, stage=Stage.ASKED, shown=outcome.digest, wait=Wait(event.at, outcome.ladder))
    else:
        call = replace(call, stage=Stage.DONE, code=outcome.code, result=outcome.digest)
    more_seconds = max(0.0, outcome.active_seconds - event.counted_seconds)
    state = with_call(replace(state, active_now=state.active_now + more_seconds), call)
    return end_step_when_settled(stop_when_out_of_time(state, limits), limits)


def _unrun(state: RunState, event: Unrun, limits: Limits) -> RunState:
    for index, code in event.observations:
        state = with_call(state, replace(state.calls[index - 1], stage=Stage.DONE, code=code))
    return end_step_when_settled(state, limits)


def _closed(state: RunState, event: RunClosed, _: Limits) -> RunState:
    return replace(_read(state, event.taken), closes=state.closes + 1, phase=Phase.ENDED)


def _came_late(state: RunState, _: CameLate, __: Limits) -> RunState:
    overtaken = not state.opened and state.stop is StopReason.CANCELLED
    stopped = overtaken or state.stopped_messages or state.cancelled_by_temporal
    return replace(
        state,
        phase=Phase.THINKING if state.opened else Phase.OPENING,
        steps_now=0,
        active_now=0.0,
        tokens_now=0,
        failures_now=0,
        repeats=(),
        calls=(),
        answers=(),
        ignored_now=0,
        limit_question=None,
        grants=(),
        sought=(),
        stop=StopReason.CANCELLED if stopped else None,
        detail="",
        answer="",
    )


def _failed(state: RunState, event: Failed, _: Limits) -> RunState:
    state = replace(state, stop=event.reason, detail=event.detail, calls=(), answers=(), limit_question=None)
    if state.opened and state.phase is not Phase.CLOSING:
        return replace(state, phase=Phase.CLOSING)
    # Not even closing succeeds: going on with what is unread would fail in the same way, for ever.
    return replace(state, phase=Phase.ENDED, inbox=(), stopped_messages=0)


_APPLY: Mapping[type, Callable[[RunState, Any, Limits], RunState]] = {
    MessageArrived: _message,
    AnswerArrived: answer_arrived,
    StopRequested: _stop,
    NothingCame: _nothing_came,
    RunOpened: _opened,
    ModelAnswered: _thought,
    CallEnded: _call_ended,
    Unrun: _unrun,
    AnswerChecked: answer_checked,
    AskedToGoOn: asked_to_go_on,
    TimePassed: time_passed,
    Climbed: climbed,
    RunClosed: _closed,
    CameLate: _came_late,
    ThinkingStopped: _thinking_stopped,
    Failed: _failed,
}
