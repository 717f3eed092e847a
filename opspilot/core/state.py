"""What a run knows of itself: ids, counters, digests, verdicts, open questions. Never what was said or seen.

The state travels through continue-as-new, so it is versioned: a field is added with a default, never renamed or given
another meaning, and `tests/core/samples` keeps one of each version loadable.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from opspilot.core.budget import Grant
from opspilot.core.calls import Effect, call_name, limit_interrupt, round_name
from opspilot.core.interrupts import Answer, Principal
from opspilot.core.limits import StopReason
from opspilot.core.messages import Usage
from opspilot.core.observations import ErrorCode
from opspilot.core.terms import Wait

STATE_VERSION = 2


@dataclass(frozen=True)
class QueuedMessage:
    """A person's message that no step has read yet. `id` is the client's: the same id twice is the same message.

    `sender` is who said it; None when it came from Temporal's console, by hand.
    """

    id: str
    text: str
    sender: Principal | None = None


class Stage(StrEnum):
    """Where one call of the current step is."""

    READY = "ready"
    ASKED = "asked"
    AGREED = "agreed"
    DONE = "done"


@dataclass(frozen=True)
class CallState:
    """One call of the current step. `code` None in stage DONE means that it went well.

    A call that the verdict holds is in round 0 until a person agrees: no round of it has run. `shown` is the digest
    that an approval must carry, `wait` since when it is asked for.
    """

    index: int
    tool: str
    summary: str
    digest: str
    effect: Effect
    concurrent: bool
    seconds: float
    polling: bool = False
    idempotent: bool = False
    stage: Stage = Stage.READY
    round: int = 1
    shown: str = ""
    code: ErrorCode | None = None
    result: str = ""
    wait: Wait = Wait(0.0)

    @property
    def is_open(self) -> bool:
        """Whether the call still owes its observation."""
        return self.stage is not Stage.DONE

    @property
    def failed_write(self) -> bool:
        """A write that has its observation, and that observation isn't ok."""
        return self.effect is Effect.WRITE and self.stage is Stage.DONE and self.code is not None


@dataclass(frozen=True)
class Repeats:
    """How often one call was made: with whatever result (`times`), and with the same result in a row (`same`)."""

    signature: str
    result: str
    times: int
    same: int


@dataclass(frozen=True)
class LimitQuestion:
    """The question whether a run may go on beyond a limit. `declined`: somebody said no, or nobody said anything."""

    nth: int
    shown: str
    wait: Wait
    declined: bool = False

    @property
    def interrupt(self) -> str:
        """`"limit#1"`."""
        return limit_interrupt(self.nth)


class Phase(StrEnum):
    """Where the run is between two decisions."""

    OPENING = "opening"
    THINKING = "thinking"
    SETTLING = "settling"
    CLOSING = "closing"
    ENDED = "ended"


@dataclass(frozen=True)
class RunState:
    """A whole run. Counters named `…_now` start anew with each answered message; the others never go back.

    `stopped_messages` counts the unread messages that were there at the last stop: it is for them, too. `seen` are the
    ids of the last messages: one that is sent again is not another one.

    `clock` is the last moment at which the run looked whether a question has waited too long. `ignored_now` counts
    answers that were no good, `grants` the limits that a person has lifted once, `limits_asked` all that were asked
    about. `sought`: budgets are used up, and a person is asked, in any case, to grant so much; `granted` is what people
    have, for this run.
    """

    version: int = STATE_VERSION
    phase: Phase = Phase.OPENING
    opened: bool = False
    journal: str = ""
    step: int = 0
    steps_now: int = 0
    steps_here: int = 0
    active_now: float = 0.0
    tokens_now: int = 0
    failures_now: int = 0
    repeats: tuple[Repeats, ...] = ()
    usage: Usage = Usage()
    calls: tuple[CallState, ...] = ()
    inbox: tuple[QueuedMessage, ...] = ()
    answers: tuple[Answer, ...] = ()
    stop: StopReason | None = None
    detail: str = ""
    answer: str = ""
    closes: int = 0
    cancelled_by_temporal: bool = False
    stopped_messages: int = 0
    seen: tuple[str, ...] = ()
    clock: float = 0.0
    ignored_now: int = 0
    limit_question: LimitQuestion | None = None
    limits_asked: int = 0
    grants: tuple[StopReason, ...] = ()
    sought: tuple[Grant, ...] = ()
    granted: tuple[Grant, ...] = ()
    notifies: bool = False

    def name(self, call: CallState) -> str:
        """`"3.1"`."""
        return call_name(self.step, call.index)

    def interrupt(self, call: CallState) -> str:
        """`"3.1#2"`: the question that this call asks, if it does."""
        return round_name(self.name(call), call.round)

    @property
    def questions(self) -> tuple[CallState, ...]:
        """Calls that wait for a person, in proposal order."""
        return tuple(call for call in self.calls if call.stage is Stage.ASKED)

    def asking(self, interrupt: str) -> CallState | None:
        """The call whose open question has this id."""
        return next((call for call in self.questions if self.interrupt(call) == interrupt), None)

    @property
    def open_limit_question(self) -> LimitQuestion | None:
        """The question whether to go on beyond a limit, while it waits."""
        question = self.limit_question
        return None if question is None or question.declined else question

    @property
    def waits(self) -> dict[str, Wait]:
        """Every open question, and how long it has waited."""
        waits = {self.interrupt(call): call.wait for call in self.questions}
        if question := self.open_limit_question:
            waits[question.interrupt] = question.wait
        return waits

    def shown(self, interrupt: str) -> str | None:
        """The digest that an approval of this open question must carry; None when it isn't open."""
        if call := self.asking(interrupt):
            return call.shown
        question = self.open_limit_question
        return question.shown if question and question.interrupt == interrupt else None

    def open_under(self, interrupt: str) -> CallState | None:
        """The call without an observation whose question has this id, or would have if it asked now."""
        return next((call for call in self.calls if call.is_open and self.interrupt(call) == interrupt), None)


def with_call(state: RunState, call: CallState) -> RunState:
    """The state with another version of one call of its step."""
    return replace(state, calls=tuple(call if call.index == other.index else other for other in state.calls))
