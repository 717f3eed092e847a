"""Short ways to write calls, states, events and decisions down, for tables."""

from dataclasses import replace
from typing import Any

from opspilot.core.calls import Effect, Gate
from opspilot.core.contract import AnswerJudged, JudgedCall, ModelOutcome, ToolOutcome
from opspilot.core.decisions import (
    AskHuman,
    AskToGoOn,
    AwaitMessage,
    Climb,
    Close,
    Decision,
    JudgeAnswer,
    OpenRun,
    RecordUnrun,
    RunBatch,
    Think,
)
from opspilot.core.events import AnswerChecked, CallEnded, ModelAnswered
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import Limits, StopReason
from opspilot.core.messages import Usage
from opspilot.core.observations import ErrorCode
from opspilot.core.state import CallState, Phase, QueuedMessage, RunState, Stage

KINDS = {"R": (Effect.READ, True), "r": (Effect.READ, False), "W": (Effect.WRITE, False), "w": (Effect.WRITE, True)}
STAGES = {
    "": (Stage.READY, None),
    "?": (Stage.ASKED, None),
    "+": (Stage.AGREED, None),
    ".": (Stage.DONE, None),
    "!": (Stage.DONE, ErrorCode.TOOL_FAILED),
    "x": (Stage.DONE, ErrorCode.REJECTED_BY_HUMAN),
}


def call(kind: str, index: int = 1, *, tool: str = "look", digest: str = "args", result: str = "") -> CallState:
    """`R` a read, `r` a read that runs alone, `W` a write, `w` a write declared concurrent.

    Behind it where the call is: nothing ready, `?` waits for a person, `+` agreed, `.` went well, `!` failed,
    `x` rejected.
    """
    effect, concurrent = KINDS[kind[0]]
    stage, code = STAGES[kind[1:]]
    return CallState(index, tool, tool, digest, effect, concurrent, seconds=20.0, stage=stage, code=code, result=result)


def calls(kinds: str) -> tuple[CallState, ...]:
    """`"R W? R"`: a step's calls, in proposal order."""
    return tuple(call(kind, index) for index, kind in enumerate(kinds.split(), start=1))


def polling(state: CallState) -> CallState:
    """The same call of a tool that is asked again and again on purpose."""
    return replace(state, polling=True)


LIMITS = Limits(steps=3, active_seconds=100.0, failures_in_a_row=2, tokens=1000, rounds=3)
ANN = Principal("ann")
M1, M2, M3 = (QueuedMessage(name, "text") for name in ("m1", "m2", "m3"))

EMPTY = RunState()
OPENING = RunState(inbox=(M1,))
THINKING = RunState(phase=Phase.THINKING, opened=True, journal="j")
SECOND = replace(THINKING, step=1, steps_now=1, steps_here=1)
CLOSING = replace(SECOND, phase=Phase.CLOSING, stop=StopReason.ANSWERED, answer="So.")
ENDED = replace(CLOSING, phase=Phase.ENDED, closes=1)


def settling(kinds: str, **more: Any) -> RunState:
    """In step 1, with these calls (see `builders.calls`)."""
    return replace(SECOND, phase=Phase.SETTLING, calls=calls(kinds), **more)


def words(decision: Decision) -> str:
    """A decision in a few words."""
    match decision:
        case AwaitMessage(seconds):
            return f"wait {seconds:g} s for a message"
        case OpenRun(messages):
            return " ".join(["open with", *(message.id for message in messages)])
        case Think(step, messages, None, _):
            return " ".join([f"think {step}", *(message.id for message in messages)])
        case Think(step, _, reason, seconds):
            return f"last words at {reason} after step {step} in {seconds:g} s"
        case RunBatch(batch):
            return " ".join(["run", *(str(each.call.index) for each in batch)])
        case RecordUnrun(observations):
            return " ".join(["record", *(f"{call.index}:{code}" for call, code in observations)])
        case JudgeAnswer(answer):
            return f"judge {answer.id}"
        case AskHuman(questions, limit):
            return " ".join(["ask", *(str(call.index) for call in questions), *([limit.interrupt] if limit else [])])
        case Close(reason, messages):
            return " ".join([f"close {reason}", *(message.id for message in messages)])
    return _rare_words(decision)


def _rare_words(decision: Decision) -> str:
    match decision:
        case AskToGoOn(reason, nth):
            return f"ask to go on at {reason}, question {nth}"
        case Climb(interrupt, rung=rung):
            return f"{rung.kind} {interrupt}"
    return "end"


def answer(name: str, interrupt: str = "1.1#1", action: AnswerAction = AnswerAction.APPROVE) -> Answer:
    return Answer(name, interrupt, action, ANN)


def judged(
    action: AnswerAction = AnswerAction.APPROVE, code: ErrorCode | None = None, of: Answer | None = None, **more: Any
) -> AnswerChecked:
    return AnswerChecked(of or answer("a1"), AnswerJudged(accepted=True, action=action, code=code, **more))


def proposal(effect: Effect = Effect.READ, gate: Gate = Gate.RUN, code: ErrorCode | None = None) -> JudgedCall:
    return JudgedCall("look", "args", "look", gate, effect, effect is Effect.READ, 20.0, code=code, shown="shown")


def reply(*proposals: JudgedCall, taken: int = 0, seconds: float = 1.0, tokens: int = 1, **more: Any) -> ModelAnswered:
    return ModelAnswered(ModelOutcome(Usage(tokens), seconds, proposals, **more), taken)


def ended(index: int = 1, *, code: ErrorCode | None = None, seconds: float = 1.0, digest: str = "r") -> CallEnded:
    return CallEnded(index, ToolOutcome(code is None, seconds, digest, code))


def asked(index: int = 1, seconds: float = 1.0) -> CallEnded:
    return CallEnded(index, ToolOutcome(ok=False, active_seconds=seconds, digest="shown", interrupted=True))
