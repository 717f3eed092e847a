"""What a run does while people are asked: have answers judged in the order in which they came, and climb ladders.

An answer that came before a question's time was up is judged before the question is given up, however late that is; one
that came after is too late. Both moments are by the run's own clock.
"""

from dataclasses import replace

from opspilot.core.contract import AnswerJudged
from opspilot.core.decisions import AskHuman, Climb, JudgeAnswer
from opspilot.core.events import AnswerArrived, AnswerChecked, AskedToGoOn, Climbed, TimePassed
from opspilot.core.interrupts import Answer, AnswerAction
from opspilot.core.limits import AT_A_LIMIT, Limits, OnLimit, StopReason
from opspilot.core.observations import ErrorCode
from opspilot.core.state import CallState, LimitQuestion, RunState, Stage, with_call
from opspilot.core.steps import end_step_when_settled, limit_met
from opspilot.core.terms import RungKind, Wait

MANY_IGNORED = 100
PAUSE_SECONDS = 10.0
"""After so many answers that were no good, the next ones of a step are judged this far apart: a flood of forgeries
costs a run six judgements a minute, and who may really answer gets through."""


def asks_at_limit(state: RunState, limits: Limits) -> bool:
    """Whether a person decides about going on beyond the limit that is met. Who has not decided in time has."""
    return (
        state.limit_question is None
        and state.stop is not StopReason.EXPIRED
        and (bool(state.sought) or limits.on_limit is OnLimit.ASK)
    )


def wait_for_people(state: RunState) -> Climb | JudgeAnswer | AskHuman:
    """What to do when only people can move the run on."""
    waits = [(wait.next_at, name, wait) for name, wait in state.waits.items() if wait.next_at is not None]
    until, interrupt, wait = min(waits, default=(None, "", None), key=lambda entry: entry[0])
    first = first_given(state)
    horizon = state.clock if first is None else first.at
    if wait is not None and until is not None and until <= horizon:
        assert wait.next_rung is not None
        return Climb(interrupt, state.asking(interrupt), wait.next_rung)
    if first is not None:
        return JudgeAnswer(first, PAUSE_SECONDS if state.ignored_now >= MANY_IGNORED else 0.0)
    return AskHuman(state.questions, state.open_limit_question, until)


def first_given(state: RunState) -> Answer | None:
    """The waiting answer that was given before the others: some wait for a worker before they arrive."""
    return min(state.answers, key=lambda answer: answer.at, default=None)


def answer_arrived(state: RunState, event: AnswerArrived, _: Limits) -> RunState:
    """Queue an answer, once."""
    same = (event.answer.id, event.answer.interrupt)
    if any((waiting.id, waiting.interrupt) == same for waiting in state.answers):
        return state
    # Nobody can have been shown a question that isn't open here yet, unless the answer proves it by its digest.
    if not event.answer.digest and state.shown(event.answer.interrupt) is None:
        return state
    return replace(state, answers=(*state.answers, event.answer))


def answer_checked(state: RunState, event: AnswerChecked, limits: Limits) -> RunState:
    """A waiting answer settles its question, or not."""
    answer, judged = event.answer, event.judged
    state = replace(state, answers=tuple(waiting for waiting in state.answers if waiting != answer))
    if not judged.accepted:
        return state if judged.counted else replace(state, ignored_now=state.ignored_now + 1)
    question = state.open_limit_question
    if question is not None and question.interrupt == answer.interrupt:
        return _limit_answered(state, question, judged.action, limits)
    call = state.asking(answer.interrupt)
    if call is None:
        return state
    if judged.code is not None:
        return end_step_when_settled(with_call(state, replace(call, stage=Stage.DONE, code=judged.code)), limits)
    agreed = _next_round(call, judged, event.at)
    return end_step_when_settled(with_call(state, agreed), limits)


def _next_round(call: CallState, judged: AnswerJudged, at: float) -> CallState:
    call = replace(
        call,
        round=call.round + 1,
        digest=judged.digest or call.digest,
        summary=judged.summary or call.summary,
    )
    if judged.asked is None:
        return replace(call, stage=Stage.AGREED)
    return replace(call, shown=judged.asked.shown, wait=Wait(at, judged.asked.ladder))


def _limit_answered(state: RunState, question: LimitQuestion, action: AnswerAction, limits: Limits) -> RunState:
    # A stop that came while the answer was being checked holds.
    if action is not AnswerAction.APPROVE or state.stop not in AT_A_LIMIT:
        return replace(state, limit_question=replace(question, declined=True))
    going_on = replace(
        state,
        detail="",
        limit_question=None,
        sought=(),
        granted=(*state.granted, *state.sought),
        ignored_now=0,
        grants=state.grants if state.sought else (*state.grants, state.stop),
        tokens_now=0 if state.stop is StopReason.BUDGET and not state.sought else state.tokens_now,
        failures_now=0 if state.stop is StopReason.TOO_MANY_FAILS else state.failures_now,
        repeats=() if state.stop is StopReason.LOOP_DETECTED else state.repeats,
    )
    # Two limits may be met at once; each is asked about.
    return replace(going_on, stop=limit_met(going_on, going_on.failures_now, limits))


def asked_to_go_on(state: RunState, event: AskedToGoOn, _: Limits) -> RunState:
    """The question about a limit is open."""
    nth = state.limits_asked + 1
    question = LimitQuestion(nth, event.asked.shown, Wait(event.at, event.asked.ladder))
    return replace(state, limit_question=question, limits_asked=nth)


def time_passed(state: RunState, event: TimePassed, _: Limits) -> RunState:
    """It is later than it was."""
    return replace(state, clock=max(state.clock, event.at))


def climbed(state: RunState, event: Climbed, limits: Limits) -> RunState:
    """A question was reminded of, or others were asked, or it was given up."""
    expired = event.rung.kind is RungKind.EXPIRE
    question = state.open_limit_question
    if question is not None and question.interrupt == event.interrupt:
        wait = replace(question.wait, climbed=question.wait.climbed + 1)
        return replace(state, limit_question=replace(question, wait=wait, declined=expired))
    call = state.asking(event.interrupt)
    if call is None:
        return state
    call = replace(call, wait=replace(call.wait, climbed=call.wait.climbed + 1))
    if not expired:
        return with_call(state, call)
    stop = state.stop or (StopReason.EXPIRED if event.rung.stops else None)
    given_up = replace(call, stage=Stage.DONE, code=ErrorCode.APPROVAL_EXPIRED)
    return end_step_when_settled(with_call(replace(state, stop=stop), given_up), limits)
