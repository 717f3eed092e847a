"""The sentences of `client.py` for what can't be asked, and for what Temporal's errors mean to a person."""

from temporalio.client import RPCError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCStatusCode

from opspilot.core.contract import MAX_MESSAGE_BYTES
from opspilot.core.entries import SESSION_ID
from opspilot.core.errors import OpsPilotError, Unreachable, UsageError

PASSING = frozenset(
    {
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.ABORTED,
        RPCStatusCode.CANCELLED,
        RPCStatusCode.INTERNAL,
        RPCStatusCode.UNKNOWN,
        RPCStatusCode.ALREADY_EXISTS,
        RPCStatusCode.FAILED_PRECONDITION,
    }
)
"""With these a message may or may not have arrived; the same id again makes sure, and never makes it two."""

CLOSED_MEANWHILE = "AcceptedUpdateCompletedWorkflow"
"""Temporal's name for a run that ended between accepting an update and finishing its handler."""


def check_text(text: str) -> None:
    """Raises `UsageError` for a question that is empty, too long, or no text."""
    if not text.strip():
        raise UsageError("The question is empty.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise UsageError("The question is not valid UTF-8 text.") from None
    if size > MAX_MESSAGE_BYTES:
        raise UsageError(
            f"The question has {size:,} bytes; at most {MAX_MESSAGE_BYTES:,} are taken. "
            "Put long material where a tool can read it, and ask about it."
        )


def check_session(session: str) -> None:
    """Raises `UsageError` for a name that a session can't have."""
    if SESSION_ID.fullmatch(session) is None:
        raise UsageError(
            f"{session[:100]!r} can't be a session's name: letters, digits, '.', '_' and '-', at most 100, "
            "the first a letter or digit."
        )


def may_pass(error: Exception) -> bool:
    """Is this an error after which the same message may be sent again?"""
    if isinstance(error, WorkflowUpdateFailedError):
        return isinstance(error.cause, ApplicationError) and error.cause.type == CLOSED_MEANWHILE
    return isinstance(error, RPCError) and (error.status in PASSING or _no_run(error))


def refused(error: RPCError | WorkflowUpdateFailedError, session: str, where: str) -> OpsPilotError:
    """What an error means for someone who wants something of this session at this address."""
    if isinstance(error, WorkflowUpdateFailedError):
        return UsageError(error.cause.message if isinstance(error.cause, ApplicationError) else str(error.cause))
    text = _first_line(error.message)
    if _no_run(error):
        return UsageError(f"Session {session} has no open run.")
    if "search attribute" in text.lower():
        return UsageError(
            f"Temporal at {where} lacks a search attribute that OpsPilot needs ({text}). See `starter.py doctor`."
        )
    if error.status in PASSING:
        return Unreachable(f"Temporal at {where} does not answer: {text}")
    return Unreachable(f"Temporal at {where} refused: {text}")


def no_worker(session: str, where: str, seconds: float) -> OpsPilotError:
    """Nobody took a question, because nobody was there."""
    return Unreachable(
        f"No worker is running ({where}), so nobody took the question within {seconds:g} s. Start one with "
        f"`python worker.py`; the question waits in session {session} and is answered when a worker comes."
    )


def not_accepted(session: str, where: str, seconds: float) -> OpsPilotError:
    """There are workers, and none said that it has the question."""
    return Unreachable(
        f"The question was not accepted within {seconds:g} s ({where}). It may still be answered: "
        f"`starter.py watch {session}` shows it."
    )


def tried_again(activity: str, failure: str) -> str:
    """An activity failed and waits for its next attempt."""
    what = {"call_model": "The model call", "run_tool": "A tool call"}.get(activity, "Writing the journal")
    return f"{what} failed and is tried again: {_first_line(failure)}"


def gone(session: str, message: str) -> OpsPilotError:
    """A run closed and the journal does not say how; `message` is what the run itself said of it, if anything."""
    return OpsPilotError(
        message
        or f"The run of session {session} ended without closing (terminated, or its server lost it). "
        "What it did until then is kept; asking again in the session goes on from there."
    )


def other_journal(session: str) -> OpsPilotError:
    """The worker's journal is not the one that is read here."""
    return UsageError(
        f"The worker of session {session} writes to another journal than this command reads, so nothing of it "
        "can be shown here. Give both the same OPSPILOT_JOURNAL, or run this command where the worker runs."
    )


def _no_run(error: RPCError) -> bool:
    return error.status is RPCStatusCode.NOT_FOUND and "amespace" not in error.message


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:300]
