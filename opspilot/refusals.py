"""The sentences of `client.py` for what can't be asked, and for what Temporal's errors mean to a person."""

import asyncio
from collections.abc import Sequence

from temporalio.client import RPCError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCStatusCode

from opspilot.core.contract import MAX_MESSAGE_BYTES, NOT_OWNER
from opspilot.core.entries import SESSION_ID
from opspilot.core.errors import OpsPilotError, Unreachable, UsageError
from opspilot.texts.guessing import guess
from opspilot.texts.language import text as say
from opspilot.texts.objections import objection

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
        raise UsageError(say("refused.empty"))
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise UsageError(say("refused.no_text")) from None
    if size > MAX_MESSAGE_BYTES:
        raise UsageError(say("refused.too_long", size=f"{size:,}", most=f"{MAX_MESSAGE_BYTES:,}"))


def check_session(session: str) -> None:
    """Raises `UsageError` for a name that a session can't have."""
    if SESSION_ID.fullmatch(session) is None:
        raise UsageError(say("refused.session_name", session=repr(session[:100])))


def no_session(session: str, known: Sequence[str]) -> OpsPilotError:
    """The journal has none of that name; it has those."""
    # Names that we make differ in eight digits: only one that is almost the same is worth a guess.
    return UsageError(say("refused.no_session", session=session, guess=guess(session, known, likeness=0.8)))


def waits_for_nobody(session: str) -> OpsPilotError:
    """Nothing is asked in it."""
    return UsageError(say("refused.waits_for_nobody", session=session))


def not_owner(session: str, owner: str) -> OpsPilotError:
    """Somebody else's session."""
    return UsageError(say("refused.not_owner", session=session, owner=owner))


def message_id_taken(session: str, message_id: str) -> OpsPilotError:
    """The same id means the same message; this one says something else."""
    return UsageError(say("refused.message_id", session=session, id=message_id))


def may_pass(error: Exception) -> bool:
    """Is this an error after which the same message may be sent again?"""
    if isinstance(error, WorkflowUpdateFailedError):
        return isinstance(error.cause, ApplicationError) and error.cause.type == CLOSED_MEANWHILE
    return isinstance(error, RPCError) and (error.status in PASSING or _no_run(error))


def let_cancel_through() -> None:
    """Raises `CancelledError` where a time-out was none: cancelling who waits for an update looks like one."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def refused(error: RPCError | WorkflowUpdateFailedError, session: str, where: str) -> OpsPilotError:
    """What an error means for someone who wants something of this session at this address."""
    if isinstance(error, WorkflowUpdateFailedError):
        if isinstance(error.cause, ApplicationError) and error.cause.type == NOT_OWNER:
            return not_owner(session, str(next(iter(error.cause.details), "")))
        said = error.cause.message if isinstance(error.cause, ApplicationError) else str(error.cause)
        return UsageError(objection(said))
    text = _first_line(error.message)
    if _no_run(error):
        return UsageError(say("refused.no_run", session=session))
    if "search attribute" in text.lower():
        return UsageError(say("refused.search_attribute", where=where, text=text))
    if error.status in PASSING:
        return Unreachable(say("unreachable.silent", where=where, text=text))
    return Unreachable(say("unreachable.refused", where=where, text=text))


def no_worker(session: str, where: str, seconds: float) -> OpsPilotError:
    """Nobody took a question, because nobody was there."""
    return Unreachable(say("unreachable.no_worker", session=session, where=where, seconds=f"{seconds:g}"))


def not_accepted(session: str, where: str, seconds: float) -> OpsPilotError:
    """There are workers, and none said that it has the question."""
    return Unreachable(say("unreachable.not_accepted", session=session, where=where, seconds=f"{seconds:g}"))


def tried_again(activity: str, failure: str) -> str:
    """An activity failed and waits for its next attempt."""
    key = {"call_model": "again.model", "run_tool": "again.tool"}.get(activity, "again.journal")
    return say(key, failure=_first_line(failure))


def gone(session: str, message: str) -> OpsPilotError:
    """A run closed and the journal does not say how; `message` is what the run itself said of it, if anything."""
    return OpsPilotError(message or say("refused.gone", session=session))


def other_journal(session: str) -> OpsPilotError:
    """The worker's journal is not the one that is read here."""
    return UsageError(say("refused.other_journal", session=session))


def _no_run(error: RPCError) -> bool:
    return error.status is RPCStatusCode.NOT_FOUND and "amespace" not in error.message


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:300]
