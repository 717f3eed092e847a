"""What a call's result looks like to the model, and the only words that say why one failed."""

from dataclasses import dataclass
from enum import StrEnum

from opspilot.core.messages import Json


class ErrorCode(StrEnum):
    """The whole vocabulary of failed observations."""

    INVALID_JSON = "invalid_json"
    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN_TOOL = "unknown_tool"
    DENIED_BY_POLICY = "denied_by_policy"
    REJECTED_BY_HUMAN = "rejected_by_human"
    APPROVAL_EXPIRED = "approval_expired"
    SKIPPED_IN_SERIAL_STEP = "skipped_in_serial_step"
    SKIPPED_AFTER_UNSUCCESSFUL_WRITE = "skipped_after_unsuccessful_write"
    TOO_MANY_ROUNDS = "too_many_rounds"
    NOT_STARTED = "not_started"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    TOOL_FAILED = "tool_failed"
    RESULT_UNUSABLE = "result_unusable"
    OUTCOME_UNKNOWN = "outcome_unknown"


COUNTED_AS_FAILURE = frozenset(
    {
        ErrorCode.INVALID_JSON,
        ErrorCode.INVALID_ARGUMENTS,
        ErrorCode.UNKNOWN_TOOL,
        ErrorCode.TIMED_OUT,
        ErrorCode.TOOL_FAILED,
        ErrorCode.RESULT_UNUSABLE,
        ErrorCode.OUTCOME_UNKNOWN,
        ErrorCode.TOO_MANY_ROUNDS,
    }
)
"""Codes that count towards `Limits.failures_in_a_row`: what a human or a rule stopped is no failure of a tool."""

SENTENCES: dict[ErrorCode, str] = {
    ErrorCode.REJECTED_BY_HUMAN: "A person rejected this call; it did not run.",
    ErrorCode.APPROVAL_EXPIRED: "Nobody decided in time, so this call did not run.",
    ErrorCode.SKIPPED_IN_SERIAL_STEP: "Not run: this run may call one given tool, once a step, and nothing else.",
    ErrorCode.SKIPPED_AFTER_UNSUCCESSFUL_WRITE: "Not run: an earlier write of this step did not succeed.",
    ErrorCode.TOO_MANY_ROUNDS: "Stopped: this call asked for a person's input too many times.",
    ErrorCode.NOT_STARTED: "This call never started; nothing happened.",
    ErrorCode.CANCELLED: "The run was stopped before this call finished.",
    ErrorCode.OUTCOME_UNKNOWN: "This call may or may not have happened. Check its effect before trying again.",
    ErrorCode.TOOL_FAILED: "The tool failed.",
    ErrorCode.TIMED_OUT: "The tool did not finish in time.",
}
"""What a code says when nothing more exact is known."""


THEY_SAID = " They said: "
"""Stands before what a person wrote who rejected a call."""


@dataclass(frozen=True)
class Observation:
    """The one result of a call: `data` when `ok`, else `error_code` and a public `message`."""

    ok: bool
    data: Json = None
    error_code: ErrorCode | None = None
    message: str = ""

    @classmethod
    def failure(cls, code: ErrorCode, message: str = "") -> "Observation":
        """A failed observation; without a message it carries the code's own sentence."""
        return cls(ok=False, error_code=code, message=message or SENTENCES.get(code, code.value))

    def as_json(self) -> dict[str, Json]:
        """The shape that models are shown: `{"ok": true, "data"}` or `{"ok": false, "errorCode", "message"}`."""
        if self.ok:
            return {"ok": True, "data": self.data}
        assert self.error_code is not None
        return {"ok": False, "errorCode": self.error_code.value, "message": self.message}
