"""What the activities need of the world. Adapters implement these; shipped fakes subclass the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias

from opspilot.core.budget import Spent
from opspilot.core.calls import Verdict
from opspilot.core.contract import Notice
from opspilot.core.entries import Entry, NewEntry
from opspilot.core.interrupts import Interrupt, Principal
from opspilot.core.messages import Json, ModelReply, ModelRequest, ToolSpec
from opspilot.core.observations import Observation


class Model(Protocol):
    """A model behind one wire format."""

    @property
    def name(self) -> str:
        """What people are shown, such as `gpt-5` or `demo (offline)`."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Make one model call; `on_text` is given each piece of text as it arrives. Raises `ModelError`.

        Makes one attempt: retries belong to Temporal. Cancelling the task closes the connection.
        """


Models: TypeAlias = Callable[[str], Model]
"""The model of a name, the same each time; the empty name is the default's. Raises `ModelError`, not to be retried,
with a sentence that names what there is."""


@dataclass(frozen=True)
class CallContext:
    """What a tool may know about the call that it serves. `cancelled` is set when the run is stopped."""

    session: str
    run: str
    call: str
    round: int
    idempotency_key: str
    principal: Principal
    cancelled: Callable[[], bool] = lambda: False
    approved: bool = False
    answers: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolReturn:
    """What came of running a tool: an observation, ready for the journal (redacted, trimmed), or an interrupt.

    `overflow` is the whole redacted text of a result that was trimmed, under the reference that the observation names.
    """

    observation: Observation | None = None
    interrupt: Interrupt | None = None
    overflow_ref: str = ""
    overflow: str = ""


class Tools(Protocol):
    """The tool runtime: the one way by which a call is judged and run."""

    def specs(self, principal: Principal, only: str | None = None) -> tuple[ToolSpec, ...]:
        """The tools that this person may use, in a stable order; with `only` just that one."""

    def judge(self, name: str, arguments: Mapping[str, Json], principal: Principal) -> Verdict:
        """Does the tool exist, do the arguments validate, may this person call it, must a human confirm it?

        Asked once about the same arguments: what it says is recorded, and holds from then on.
        """

    def schema(self, name: str) -> Mapping[str, Json]:
        """The JSON Schema of a tool's arguments; empty when there is no such tool."""

    def summary(self, name: str, arguments: Mapping[str, Json]) -> str:
        """One redacted line of at most 120 characters: `search_logs service=payment level=error`."""

    async def run(self, name: str, arguments: Mapping[str, Json], context: CallContext) -> ToolReturn:
        """Run a tool under its time limit. Never raises for what a tool does; only for cancellation."""

    async def reconcile(self, name: str, idempotency_key: str) -> Observation | None:
        """Ask a write whether it happened. None when the tool can't say."""

    def redact(self, value: Json) -> Json:
        """A copy without secrets."""


@dataclass(frozen=True)
class OpenCall:
    """A call without an observation, left by a run that ended without closing."""

    run: str
    call: str
    tool: str
    effect: str
    started_rounds: tuple[int, ...]
    interrupted_rounds: tuple[int, ...]


@dataclass(frozen=True)
class Leftovers:
    """What a session's earlier runs left open: to be repaired before the next run thinks."""

    calls: tuple[OpenCall, ...] = ()
    interrupts: tuple[tuple[str, str], ...] = ()
    """(run, interrupt id) of questions that nobody will settle any more."""
    runs: tuple[str, ...] = ()
    """Runs without a `run.stopped`."""


@dataclass(frozen=True)
class Notification:
    """What people are told: that a question waits, and where. Never arguments, which may be nobody else's business.

    `reason` is the question's sentence, redacted; `due` an ISO time, empty when it never expires. By `id`, which is the
    same for each attempt, a receiver knows what it was told already.
    """

    id: str
    notice: Notice
    session: str
    interrupt: str
    reason: str
    tool: str = ""
    risk: str = ""
    role: str = ""
    requester: str = ""
    due: str = ""


class Channel(Protocol):
    """One way of telling people."""

    @property
    def name(self) -> str:
        """What the journal calls it, such as `webhook`."""

    async def send(self, notification: Notification) -> None:
        """Tell them, in one attempt. Raises `NotificationError`, with a sentence that holds no secret."""


@dataclass(frozen=True)
class Draft:
    """Text of a model call that is still being produced. `attempt` fences a retry from its predecessor."""

    run: str
    step: int
    attempt: int
    text: str


class Journal(Protocol):
    """The append-only record. All methods are synchronous and are called in threads; all raise `JournalError`."""

    @property
    def id(self) -> str:
        """An identity made when the database was created, to tell two journals apart."""

    def owner(self, session: str) -> str | None:
        """The id of whoever started this session; None when there is no such session yet."""

    def begin_run(self, session: str, run: str, started_at: datetime, owner: Principal) -> Leftovers:
        """Make `run` the session's current run, unless a later one is (`StaleRun`). Idempotent."""

    def append(
        self,
        session: str,
        run: str,
        entries: Sequence[NewEntry],
        overflow: Mapping[str, str] | None = None,
        *,
        whole: bool = False,
    ) -> tuple[Entry, ...]:
        """Write entries in one transaction and update the read models. A key that is there keeps its first content.

        Returns the entries as they stand, one for each given: the caller sees by the data whether it won. With `whole`
        the entries belong together: when the first one's key is there already, nothing is written, and what is returned
        is that first entry alone. Raises `StaleRun` when `run` isn't the session's current one.
        """

    def find(self, session: str, keys: Sequence[str]) -> dict[str, Entry]:
        """The entries among these keys that exist."""

    def read(self, session: str, after: int = 0, limit: int | None = None) -> tuple[Entry, ...]:
        """Entries with `seq > after`, in order. A reader that goes on from the last seq misses nothing."""

    def overflow(self, session: str, ref: str, offset: int, limit: int) -> tuple[str, int] | None:
        """`limit` characters of a trimmed result from `offset`, and its whole length in characters."""

    def put_draft(self, session: str, draft: Draft) -> None:
        """Overwrite the draft of an open model call; dropped when its message lands."""

    def drafts(self, session: str) -> tuple[Draft, ...]:
        """Text that is being produced right now."""

    def spent(self, session: str) -> Spent:
        """What the replies of all runs of a session have taken, those of the open run included."""

    def spent_by(self, requester: str, since: datetime) -> Spent:
        """What replies to runs that this person asked for have taken since then, those of open runs included."""
