"""What a run may do next: the answers that `loop.decide` gives, and that the workflow performs."""

from dataclasses import dataclass
from typing import TypeAlias

from opspilot.core.interrupts import Answer
from opspilot.core.limits import StopReason
from opspilot.core.observations import ErrorCode
from opspilot.core.state import CallState, LimitQuestion, QueuedMessage
from opspilot.core.terms import Rung


@dataclass(frozen=True)
class AwaitMessage:
    """Wait for a first message, this long."""

    seconds: float


@dataclass(frozen=True)
class OpenRun:
    """Make the run its session's current one, with these messages."""

    messages: tuple[QueuedMessage, ...]


@dataclass(frozen=True)
class Think:
    """Call the model. `final` is the limit that was met: one last turn without tools, which is no step."""

    step: int
    messages: tuple[QueuedMessage, ...]
    final: StopReason | None
    seconds: float


@dataclass(frozen=True)
class ToRun:
    """One call of a batch; `seconds` is what its tool may take of the time that is left."""

    call: CallState
    seconds: float
    before_approval: bool
    last_round: bool


@dataclass(frozen=True)
class RunBatch:
    """Run these calls side by side."""

    calls: tuple[ToRun, ...]


@dataclass(frozen=True)
class RecordUnrun:
    """Give calls that will not run their observation."""

    observations: tuple[tuple[CallState, ErrorCode], ...]


@dataclass(frozen=True)
class JudgeAnswer:
    """Have an answer checked, after a pause when many were no good."""

    answer: Answer
    after_seconds: float


@dataclass(frozen=True)
class AskHuman:
    """Wait until a person says something, or until a question has waited too long (None: for ever).

    `limit` is the question whether to go on beyond a limit; then no call asks anything.
    """

    questions: tuple[CallState, ...]
    limit: LimitQuestion | None
    until: float | None


@dataclass(frozen=True)
class AskToGoOn:
    """Ask whether the run may go on beyond this limit."""

    reason: StopReason
    nth: int


@dataclass(frozen=True)
class Climb:
    """Remind, escalate or give up: a question has waited for so long. `call` None: it is the one about a limit."""

    interrupt: str
    call: CallState | None
    rung: Rung


@dataclass(frozen=True)
class Close:
    """Write how it ended. `messages` are unread ones that stay unanswered: recorded, not lost."""

    reason: StopReason
    messages: tuple[QueuedMessage, ...]


@dataclass(frozen=True)
class End:
    """Nothing is left to do."""


Decision: TypeAlias = (
    AwaitMessage | OpenRun | Think | RunBatch | RecordUnrun | JudgeAnswer | AskHuman | AskToGoOn | Climb | Close | End
)
