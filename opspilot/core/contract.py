"""The names and shapes that client, workflow and activities meet at. Everything here ends up in Temporal's history.

Payloads are lean because they are history: short digests, no text that the journal has, no key that can be derived.
"""

import json
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum

from opspilot.core.budget import Grant
from opspilot.core.calls import Effect, Gate
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import Limits, StopReason
from opspilot.core.messages import Usage
from opspilot.core.observations import ErrorCode
from opspilot.core.state import QueuedMessage, RunState
from opspilot.core.terms import Ladder, RungKind

TASK_QUEUE = "opspilot"
AGENT_WORKFLOW = "AgentWorkflow"
SEND_MESSAGE = "send_message"
ANSWER = "answer"
ANSWER_SIGNAL = "answer_signal"
STOP = "stop"
STATUS = "status"

NOT_OWNER = "NotOwner"
"""The type of refusal that a message gets whose sender may not speak in this session; its detail is the owner's id."""

WORKFLOW_TASK_TIMEOUT = timedelta(seconds=5)
"""Set by whoever starts a run: a worker killed inside a workflow task is noticed after this (default 10 s)."""

MAX_MESSAGE_BYTES = 256 * 1024
"""A longer question is refused at the entrance."""


MAX_UNREAD_BYTES = 1024 * 1024
"""What all unread messages of a run may take as JSON: they go through one payload, which Temporal limits to 2 MiB."""

MAX_ANSWER_BYTES = 16 * 1024
"""What an answer may take as JSON, its comment and values included; up to 50 of them wait in a run."""


class SearchAttribute(StrEnum):
    """Registered before a worker starts; the worker refuses to start when one is missing."""

    STATUS = "OpsPilotStatus"
    STOP_REASON = "OpsPilotStopReason"
    USER = "OpsPilotUser"
    DUE_AT = "OpsPilotDueAt"
    WAITING_FOR = "OpsPilotWaitingFor"


SEARCH_ATTRIBUTE_TYPES: dict[str, str] = {
    SearchAttribute.STATUS: "Keyword",
    SearchAttribute.STOP_REASON: "Keyword",
    SearchAttribute.USER: "Keyword",
    SearchAttribute.DUE_AT: "Datetime",
    SearchAttribute.WAITING_FOR: "KeywordList",
}


class Status(StrEnum):
    """Values of `OpsPilotStatus`."""

    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"


@dataclass(frozen=True)
class Mode:
    """Serial mode: `only` names the one tool that may be called, once a step; `force` makes the model call it first.

    `model` names the model that thinks; empty is the default.
    """

    only: str | None = None
    force: bool = False
    model: str = ""


@dataclass(frozen=True)
class RunRequest:
    """Starts a run. `carried` and `untold` (notifications that were on their way) are set by continue-as-new alone.

    `owner` is the id of whoever the session belongs to, when that isn't `user`.
    """

    user: Principal
    limits: Limits = Limits()
    mode: Mode = Mode()
    carried: RunState | None = None
    untold: tuple["Notify", ...] = ()
    owner: str = ""


@dataclass(frozen=True)
class RunResult:
    """How a run ended. `message` is the sentence for a person; `answer` is the model's, empty when there is none."""

    stop_reason: StopReason
    answer: str
    message: str
    steps: int
    usage: Usage


UserMessage = QueuedMessage
"""What `send_message` takes: `{"id", "text", "sender"}`."""


def json_bytes(value: UserMessage | Answer) -> int:
    """What this takes in Temporal's history, where a payload of 2 MiB is too much."""
    return len(json.dumps(asdict(value), ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class MessageReceipt:
    """The message is in the run's queue, at this position (from 1)."""

    position: int


@dataclass(frozen=True)
class AnswerReceipt:
    """The answer is accepted and being checked; whether it settles the question is in the journal."""

    message: str


@dataclass(frozen=True)
class Stop:
    """Ends the run as `cancelled`."""

    principal: Principal
    reason: str = ""


@dataclass(frozen=True)
class OpenQuestion:
    """An interrupt that waits for a person; `tool` is empty when it is about a limit. `expires_at`: None is never."""

    interrupt: str
    tool: str
    digest: str
    expires_at: float | None = None


@dataclass(frozen=True)
class RunStatus:
    """What a run is doing now. `doing` is for people; `journal` names the journal that holds the content."""

    status: Status
    run: str
    journal: str
    step: int
    doing: str
    questions: tuple[OpenQuestion, ...]
    usage: Usage
    active_seconds: float
    history_events: int
    history_bytes: int


# ---------------------------------------------------------------- activities: one frozen type in, one out


@dataclass(frozen=True)
class OpenRun:
    """`open_run`: make the run current, repair what the previous one left, write what it begins with."""

    run: str
    started_at: float
    user: Principal
    mode: Mode
    limits: Limits
    messages: tuple[UserMessage, ...]


@dataclass(frozen=True)
class Opened:
    """`new_messages` of those given were not in the journal before. `refused`: why this run may not go on.

    `notifies`: there is somebody to be told when the run waits for people.
    """

    journal: str
    new_messages: int
    refused: str = ""
    notifies: bool = False


@dataclass(frozen=True)
class CallModel:
    """`call_model`. `final` names the limit that was met: a last turn without tools.

    `grants` are those of people who have agreed to go on although a budget was used up.
    """

    run: str
    step: int
    mode: Mode
    messages: tuple[UserMessage, ...] = ()
    final: StopReason | None = None
    grants: tuple[Grant, ...] = ()


@dataclass(frozen=True)
class JudgedCall:
    """A proposed call with its verdict. `code` is set when it has its observation already.

    `digest` is of the arguments; `shown` is what an approval must carry when the verdict holds the call for one, and
    `ladder` what happens while nobody gives it.
    """

    name: str
    digest: str
    summary: str
    gate: Gate
    effect: Effect
    concurrent: bool
    seconds: float
    polling: bool = False
    idempotent: bool = False
    code: ErrorCode | None = None
    shown: str = ""
    ladder: Ladder = ()


@dataclass(frozen=True)
class ModelOutcome:
    """What the workflow needs of a reply. `answer` (cut to size) is there only without calls. `stop` ends the run.

    `refused`: the model was not called, since budgets are used up; `detail` says which, and a person is asked for these
    grants. `notice` is what people should be told of a budget that soon will be.
    """

    usage: Usage
    active_seconds: float
    calls: tuple[JudgedCall, ...] = ()
    answer: str = ""
    stop: StopReason | None = None
    detail: str = ""
    refused: tuple[Grant, ...] = ()
    notice: str = ""


@dataclass(frozen=True)
class RunTool:
    """`run_tool`: one round of one call. `digest` must be that of the recorded arguments."""

    run: str
    call: str
    round: int
    digest: str
    before_approval: bool = False
    last_round: bool = False


@dataclass(frozen=True)
class ToolOutcome:
    """How one round ended: `digest` of the result, or an error `code`, or `interrupted` with what it shows' digest."""

    ok: bool
    active_seconds: float
    digest: str = ""
    code: ErrorCode | None = None
    interrupted: bool = False
    ladder: Ladder = ()


@dataclass(frozen=True)
class Settle:
    """`settle`: find out what became of a round whose activity gave no result."""

    run: str
    call: str
    round: int
    code: ErrorCode


@dataclass(frozen=True)
class JudgeAnswer:
    """`judge`: is this answer good, and what does it make of the call?"""

    run: str
    answer: Answer


@dataclass(frozen=True)
class AnswerJudged:
    """`accepted` False: the question stays open. With new arguments `digest` and `summary` change.

    It was no good, and is recorded as ignored; unless it is `counted`: an approval, of which more are needed. `code` is
    the observation that the answer already gave the call (rejected). `asked`: what was agreed on is another call now,
    which a person has to agree to in its turn.
    """

    accepted: bool
    action: AnswerAction
    digest: str = ""
    summary: str = ""
    code: ErrorCode | None = None
    detail: str = ""
    counted: bool = False
    asked: "Asked | None" = None


@dataclass(frozen=True)
class Asked:
    """A question that is open now: the digest of what it shows, and what happens while nobody answers."""

    shown: str
    ladder: Ladder = ()


@dataclass(frozen=True)
class AskToGoOn:
    """`ask_to_go_on`: ask whether the run may go on beyond a limit; the `nth` such question. `at` as in `CloseRun`.

    `more` is what is asked for: so many steps, seconds, failures or tokens more; None where nothing is counted. For
    budgets it is `grants`.
    """

    run: str
    nth: int
    reason: StopReason
    question: str
    at: float
    more: float | None = None
    grants: tuple[Grant, ...] = ()


@dataclass(frozen=True)
class Climb:
    """`climb`: a question has waited so long that somebody is reminded, others are asked, or it is given up."""

    run: str
    interrupt: str
    kind: RungKind
    role: str
    stops: bool
    at: float


class Notice(StrEnum):
    """What people are told of, wherever they are; with `test` of nothing, by who wonders whether they would be."""

    ASKED = "asked"
    REMINDED = "reminded"
    ESCALATED = "escalated"
    EXPIRED = "expired"
    BUDGET = "budget"
    TEST = "test"


@dataclass(frozen=True)
class Notify:
    """`notify`: tell people. `interrupt` names the question; for `budget` it is empty, and `text` says what is up."""

    run: str
    notice: Notice
    interrupt: str = ""
    text: str = ""


@dataclass(frozen=True)
class Record:
    """`record`: give calls that will not run their observation. `(call, code)` pairs."""

    run: str
    observations: tuple[tuple[str, ErrorCode], ...]


@dataclass(frozen=True)
class CloseRun:
    """`close_run`: write `run.stopped` number `nth`, after everything that the run still owes.

    `step` is the last step used: if it has no reply it never gets one. Calls without an observation get `cancelled`.
    `messages` are recorded unanswered. `at` is the workflow's clock, in seconds since the epoch. `grants` names each
    limit as often as a person has lifted it.
    """

    run: str
    nth: int
    at: float
    reason: StopReason
    message: str
    steps: int
    step: int
    usage: Usage
    messages: tuple[QueuedMessage, ...] = ()
    grants: tuple[StopReason, ...] = ()


@dataclass(frozen=True)
class Done:
    """An activity that has nothing to tell."""
