"""The journal's words: kinds of entry, their keys, and the event that each becomes outside."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from opspilot.core.calls import digest, round_name
from opspilot.core.messages import Json


class Kind(StrEnum):
    """Every kind of entry. `interrupt.approved` is one approval of several; `interrupt.answered` settles a question.

    `answer.kept` holds the values of an answer whose sensitive ones don't go through Temporal.
    """

    RUN_STARTED = "run.started"
    USER_MESSAGE = "user.message"
    ASSISTANT_MESSAGE = "assistant.message"
    TOOL_CALL = "tool.call"
    TOOL_STARTED = "tool.started"
    TOOL_RESULT = "tool.result"
    INTERRUPT_OPENED = "interrupt.opened"
    INTERRUPT_REMINDED = "interrupt.reminded"
    INTERRUPT_ESCALATED = "interrupt.escalated"
    INTERRUPT_APPROVED = "interrupt.approved"
    INTERRUPT_ANSWERED = "interrupt.answered"
    INTERRUPT_EXPIRED = "interrupt.expired"
    ANSWER_KEPT = "answer.kept"
    ANSWER_IGNORED = "answer.ignored"
    BUDGET_WARNED = "budget.warned"
    NOTIFICATION_SENT = "notification.sent"
    NOTIFICATION_FAILED = "notification.failed"
    RUN_STOPPED = "run.stopped"


VOID = "void"
"""Marks a `tool.started` that was written to make sure that nobody starts that round any more."""


@dataclass(frozen=True)
class NewEntry:
    """An entry to be written. `at` is timezone-aware UTC. `step` and `call` say where in the run it belongs.

    `run` is given only by a repair, which writes into the record of a run that ended without closing.
    """

    key: str
    kind: Kind
    at: datetime
    data: Mapping[str, Json]
    step: int | None = None
    call: str | None = None
    run: str | None = None


@dataclass(frozen=True)
class Entry:
    """An entry as it stands in the journal. `seq` counts from 1 within the session, in commit order."""

    session: str
    seq: int
    run: str
    key: str
    kind: Kind
    at: datetime
    data: Mapping[str, Json]
    step: int | None = None
    call: str | None = None

    def as_event(self) -> dict[str, Json]:
        """The one shape of an event, wherever it is shown: `{seq, kind, at, session, run, step?, call?, data}`."""
        event: dict[str, Json] = {
            "seq": self.seq,
            "kind": self.kind.value,
            "at": self.at.isoformat(),
            "session": self.session,
            "run": self.run,
        }
        if self.step is not None:
            event["step"] = self.step
        if self.call is not None:
            event["call"] = self.call
        event["data"] = dict(self.data)
        return event


def started_key(run: str) -> str:
    """`<run>/started`."""
    return f"{run}/started"


def message_key(message_id: str) -> str:
    """`message/<its id>`: the same in every run of the session, so that a retried message is one message."""
    return f"message/{message_id}"


def assistant_key(run: str, step: int, *, final: bool = False) -> str:
    """`<run>/3/assistant`; the last, tool-free turn at a limit is `<run>/3/final`."""
    return f"{run}/{step}/{'final' if final else 'assistant'}"


def call_key(run: str, call: str) -> str:
    """`<run>/3.1/call`."""
    return f"{run}/{call}/call"


def tool_started_key(run: str, call: str, round_: int) -> str:
    """`<run>/3.1#1/started`."""
    return f"{run}/{round_name(call, round_)}/started"


def interrupt_key(run: str, call: str, round_: int) -> str:
    """`<run>/3.1#1/interrupt`."""
    return f"{run}/{round_name(call, round_)}/interrupt"


def result_key(run: str, call: str) -> str:
    """`<run>/3.1/result`: one key per call, not per round, so that the store itself refuses a second result."""
    return f"{run}/{call}/result"


def answered_key(run: str, interrupt: str) -> str:
    """`<run>/3.1#1/answered`: of an answer and of an expiry, so that the store itself refuses a second end."""
    return f"{run}/{interrupt}/answered"


def approved_key(run: str, interrupt: str, nth: int) -> str:
    """`<run>/3.1#1/approved/1`: the first of several approvals that a question needs."""
    return f"{run}/{interrupt}/approved/{nth}"


def climbed_key(run: str, interrupt: str, kind: Kind) -> str:
    """`<run>/3.1#1/interrupt.reminded`."""
    return f"{run}/{interrupt}/{kind.value}"


def notified_key(run: str, about: str, notice: str, channel: str) -> str:
    """`<run>/3.1#1/notified/asked/webhook`."""
    return f"{run}/{about}/notified/{notice}/{channel}"


def answer_kept_key(run: str, interrupt: str, answer_id: str) -> str:
    """`<run>/3.1#1/kept/<digest of the answer's id>`."""
    return f"{run}/{interrupt}/kept/{digest(answer_id)}"


def answer_ignored_key(run: str, interrupt: str, answer_id: str) -> str:
    """`<run>/3.1#1/ignored/<answer id>`."""
    return f"{run}/{interrupt}/ignored/{answer_id}"


def budget_warned_key(budget: str, allowed: float, period: int) -> str:
    """`budget/user_tokens/2000000/20423/warned`: once in a session, for each allowance of a budget and each window.

    `period` counts windows since the epoch; a session's own budgets have but one.
    """
    return f"budget/{budget}/{allowed:.15g}/{period}/warned"


def stopped_key(run: str, nth: int) -> str:
    """`<run>/stopped/<n>`: a run that goes on after a late message stops more than once; the last one counts."""
    return f"{run}/stopped/{nth}"


SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""What a person may name a session: it is a Temporal workflow id, a path segment and a shell word."""
