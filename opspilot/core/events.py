"""What may happen to a run: everything that `loop.apply` takes, from people, from activities, from time."""

from dataclasses import dataclass
from typing import TypeAlias

from opspilot.core.contract import AnswerJudged, Asked, ModelOutcome, Opened, ToolOutcome
from opspilot.core.interrupts import Answer
from opspilot.core.limits import StopReason
from opspilot.core.observations import ErrorCode
from opspilot.core.state import QueuedMessage
from opspilot.core.terms import Rung


@dataclass(frozen=True)
class MessageArrived:
    """A person said something."""

    message: QueuedMessage


@dataclass(frozen=True)
class AnswerArrived:
    """A person answered a question; not checked yet."""

    answer: Answer


@dataclass(frozen=True)
class StopRequested:
    """A person wants the run to end; `by_temporal` when it was Temporal's own cancellation."""

    by_temporal: bool = False


@dataclass(frozen=True)
class NothingCame:
    """No first message in time."""


@dataclass(frozen=True)
class RunOpened:
    """The run is open; `taken` messages of the inbox are in the journal."""

    opened: Opened
    taken: int


@dataclass(frozen=True)
class ModelAnswered:
    """The model call of `Think` ended; `taken` messages of the inbox are in the journal."""

    outcome: ModelOutcome
    taken: int
    final: bool = False
    at: float = 0.0


@dataclass(frozen=True)
class ThinkingStopped:
    """The model call was given up on request. Its step is used up: nobody may write under its keys again."""

    final: bool = False


@dataclass(frozen=True)
class CallEnded:
    """One round of a call ended, at this moment.

    `counted_seconds` of its time are counted already: the longest of the calls that ran beside it and ended before.
    """

    index: int
    outcome: ToolOutcome
    counted_seconds: float = 0.0
    at: float = 0.0


@dataclass(frozen=True)
class Unrun:
    """Observations of `RecordUnrun` are in the journal."""

    observations: tuple[tuple[int, ErrorCode], ...]


@dataclass(frozen=True)
class AnswerChecked:
    """A waiting answer was judged."""

    answer: Answer
    judged: AnswerJudged
    at: float = 0.0


@dataclass(frozen=True)
class AskedToGoOn:
    """The question of `AskToGoOn` is in the journal."""

    asked: Asked
    at: float


@dataclass(frozen=True)
class TimePassed:
    """It is this late, in seconds since the epoch by the workflow's clock."""

    at: float


@dataclass(frozen=True)
class Climbed:
    """What `Climb` ordered is in the journal."""

    interrupt: str
    rung: Rung


@dataclass(frozen=True)
class RunClosed:
    """`Close` is in the journal; `taken` messages of the inbox with it."""

    taken: int


@dataclass(frozen=True)
class CameLate:
    """The run had ended, and there is a message after all: it goes on, with counters started anew.

    A stop too late for the last answer is for the messages that were unread then; one before any message is for the
    first, since Temporal delivers it behind the stop even if it was sent before.
    """


@dataclass(frozen=True)
class Failed:
    """Something of our own broke; the run ends with this reason."""

    reason: StopReason
    detail: str


Event: TypeAlias = (
    MessageArrived
    | AnswerArrived
    | StopRequested
    | NothingCame
    | RunOpened
    | ModelAnswered
    | CallEnded
    | Unrun
    | AnswerChecked
    | AskedToGoOn
    | TimePassed
    | Climbed
    | RunClosed
    | CameLate
    | ThinkingStopped
    | Failed
)
