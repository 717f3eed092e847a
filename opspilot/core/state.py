"""What a run knows of itself: ids, counters, digests, verdicts, open questions. Never what was said or seen.

The state travels through continue-as-new, so it is versioned: a field is added with a default, never renamed or given
another meaning, and `tests/core/samples` keeps one of each version loadable.
"""

from dataclasses import dataclass
from enum import StrEnum

from opspilot.core.calls import Effect, call_name, round_name
from opspilot.core.interrupts import Answer
from opspilot.core.limits import StopReason
from opspilot.core.messages import Usage
from opspilot.core.observations import ErrorCode

STATE_VERSION = 1


@dataclass(frozen=True)
class QueuedMessage:
    """A person's message that no step has read yet. `id` is the client's: the same id twice is the same message."""

    id: str
    text: str


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
    that an approval must carry.
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

    def open_under(self, interrupt: str) -> CallState | None:
        """The call without an observation whose question has this id, or would have if it asked now."""
        return next((call for call in self.calls if call.is_open and self.interrupt(call) == interrupt), None)
