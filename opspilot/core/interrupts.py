"""Questions to people: what a tool may ask, what a person may answer, and who acts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from opspilot.core.calls import digest
from opspilot.core.messages import Json


@dataclass(frozen=True)
class Principal:
    """Who acts. `method` says how the server that vouches for this person knew them (`local`: the operating system)."""

    id: str
    name: str = ""
    roles: tuple[str, ...] = ()
    method: str = "local"


ADMIN = "admin"
"""The role that holds every other one."""


def holds(principal: Principal, role: str) -> bool:
    """Whether this person has a role; everybody has the empty one."""
    return not role or role in principal.roles or ADMIN in principal.roles


class InterruptType(StrEnum):
    """The three questions that a run can wait on."""

    PARAMS_REQUIRED = "params_required"
    CONFIRM_RISKY = "confirm_risky"
    QUESTION = "question"


@dataclass(frozen=True)
class Interrupt:
    """What a tool returns instead of a result when it needs a person first. `reason` is written for people.

    `payload` is the question's own data, such as `{"fields": ["environment"], "options": {...}}`.
    """

    type: InterruptType
    reason: str
    payload: Mapping[str, Json] = field(default_factory=dict)

    def as_json(self) -> dict[str, Json]:
        """The shape that the idea fixes: `{"interrupt": true, "interruptType", "reason", "payload"}`."""
        return {
            "interrupt": True,
            "interruptType": self.type.value,
            "reason": self.reason,
            "payload": dict(self.payload),
        }


class AnswerAction(StrEnum):
    """What a person may say to an interrupt."""

    APPROVE = "approve"
    REJECT = "reject"
    PROVIDE = "provide"


@dataclass(frozen=True)
class Answer:
    """A person's reply to one interrupt, named `<call>#<round>`. `id` makes a retried delivery the same answer.

    `digest` binds the answer to what was shown; empty: whatever is open under that name, as local callers may say.
    `values` are laid over the arguments that were shown, and those named in `without` are left out.
    `signature` is that of the server which authenticated the principal (`core/signatures.py`). Moments are seconds
    since the epoch: `said_at` is when it was given, by the clock of whoever sends it (0: nobody says), and `at` what
    counts, set by the run whatever the sender says.
    """

    id: str
    interrupt: str
    action: AnswerAction
    principal: Principal
    values: Mapping[str, Json] = field(default_factory=dict)
    comment: str = ""
    digest: str = ""
    signature: str = ""
    said_at: float = 0.0
    at: float = 0.0
    without: tuple[str, ...] = ()


def shown_digest(run: str, interrupt: str, tool: str, arguments: Json) -> str:
    """What an approval is for: this run, call and round, this tool, and the arguments as they were shown."""
    return digest([run, interrupt, tool, arguments])
