"""What a simulated world reads its choices from, and the lines that it writes."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from opspilot.core.interrupts import AnswerAction
from opspilot.core.limits import StopReason
from opspilot.core.observations import ErrorCode
from opspilot.core.state import CallState, RunState
from opspilot.core.terms import Rung

Option = TypeVar("Option")


class Tape:
    """A source of choices."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._position = 0

    def pick(self, *options: Option) -> Option:
        """One of the options; the first when the tape has ended."""
        if self._position >= len(self._raw):
            return options[0]
        self._position += 1
        return options[self._raw[self._position - 1] % len(options)]

    def once_in(self, chances: int) -> bool:
        """True rarely."""
        return self.pick(*([False] * (chances - 1)), True)


class What(StrEnum):
    """Kinds of line."""

    SAID = "said"  # a message was accepted
    AGAIN = "said again"  # the same message once more, as a client that lost the receipt sends it
    READ = "read"  # a message is in the journal
    THOUGHT = "thought"  # a model call began
    PROPOSED = "proposed"
    STARTED = "started"
    RESULT = "result"
    ASKED = "asked"
    ANSWERED = "answered"
    CLIMBED = "climbed"  # reminded, escalated, expired
    REFUSED = "refused"  # a budget is used up, so the model was not called
    STOP = "stop"  # a person, or Temporal, wants the run to end
    STOPPED = "stopped"  # run.stopped
    WENT_ON = "went on"  # a late message
    BROKE = "broke"  # an activity was refused
    TURNED_AWAY = "turned away"  # the session is somebody else's


@dataclass(frozen=True)
class Line:
    """What happened. `state` is the core's state before it; `batch` tells calls that run side by side.

    `now` is the world's clock; `spent_seconds` and `spent_tokens` are what this answer had cost until then, by the
    world's own count.
    """

    what: What
    state: RunState
    name: str = ""
    index: int = 0
    round: int = 0
    batch: int = 0
    call: CallState | None = None
    code: ErrorCode | None = None
    reason: StopReason | None = None
    before_approval: bool = False
    action: AnswerAction | None = None
    rung: Rung | None = None
    now: float = 0.0
    spent_seconds: float = 0.0
    spent_tokens: int = 0
