"""How long each activity may take, how often it is tried, and what a lost one means."""

from datetime import timedelta
from typing import TypedDict

from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, TimeoutType
from temporalio.exceptions import TimeoutError as TemporalTimeout
from temporalio.workflow import ActivityCancellationType

from activities.notifying import ATTEMPTS
from opspilot.core.calls import Effect
from opspilot.core.errors import JournalBehind, JournalConflict, StaleRun
from opspilot.core.observations import ErrorCode
from opspilot.core.state import CallState

GRACE = timedelta(seconds=10)
"""Activities stop by their own clock first, with a sentence; see `activities/heartbeat.py`."""

OURS = frozenset({StaleRun.__name__, JournalConflict.__name__, JournalBehind.__name__})
"""Failures by which the journal refuses the run itself; settling a call can't mend them."""


class Bounds(TypedDict, total=False):
    """Options of one activity."""

    start_to_close_timeout: timedelta
    schedule_to_close_timeout: timedelta
    heartbeat_timeout: timedelta
    retry_policy: RetryPolicy
    cancellation_type: ActivityCancellationType
    summary: str


def journal(summary: str) -> Bounds:
    """Short writes that must land: tried for a day, so that a database that is away for the night costs nothing."""
    return Bounds(
        start_to_close_timeout=timedelta(seconds=60),
        schedule_to_close_timeout=timedelta(days=1),
        retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_interval=timedelta(seconds=10)),
        summary=summary[:200],
    )


def settle(call: CallState, *, at_once: bool) -> Bounds:
    """Finding out what became of a call. Of a run that is stopped a tool is asked for a moment only."""
    options = journal(f"what became of {call.summary}")
    if at_once:
        options["start_to_close_timeout"] = GRACE + timedelta(seconds=1)
    return options


def model(step: int, seconds: float, *, final: bool) -> Bounds:
    """A model call, given up on at once when the run is stopped: close_run sees to it that it can't land later."""
    return Bounds(
        start_to_close_timeout=timedelta(seconds=seconds) + GRACE,
        schedule_to_close_timeout=timedelta(hours=2),
        heartbeat_timeout=timedelta(seconds=5),
        retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30)),
        cancellation_type=ActivityCancellationType.TRY_CANCEL,
        summary="last words" if final else f"step {step}",
    )


def tool(call: CallState, seconds: float) -> Bounds:
    """One round of a call.

    A read may be tried again when its worker is lost. A write is tried once, unless it is idempotent, and its end is
    waited for also when the run is stopped, because whether it happened matters. Writes have the longer heartbeat
    timeout, so that a busy machine doesn't fake a loss.
    """
    write = call.effect is Effect.WRITE
    return Bounds(
        start_to_close_timeout=timedelta(seconds=seconds) + GRACE,
        schedule_to_close_timeout=timedelta(days=1),
        heartbeat_timeout=timedelta(seconds=10 if write else 5),
        retry_policy=RetryPolicy(
            initial_interval=timedelta(milliseconds=500),
            maximum_attempts=1 if write and not call.idempotent else 3,
        ),
        cancellation_type=(
            ActivityCancellationType.WAIT_CANCELLATION_COMPLETED if write else ActivityCancellationType.TRY_CANCEL
        ),
        summary=call.summary[:200],
    )


def notification(summary: str) -> Bounds:
    """Telling people: a few attempts within minutes, and then the journal says that it did not work.

    It may wait for a worker as long as the rest of the run.
    """
    return Bounds(
        start_to_close_timeout=timedelta(seconds=60),
        schedule_to_close_timeout=timedelta(days=1),
        retry_policy=RetryPolicy(
            initial_interval=timedelta(seconds=2), backoff_coefficient=4.0, maximum_attempts=ATTEMPTS
        ),
        summary=f"notify: {summary}"[:200],
    )


def is_ours(error: ActivityError) -> bool:
    """Whether the journal refused the run itself."""
    return isinstance(error.cause, ApplicationError) and error.cause.type in OURS


def code_of_loss(error: BaseException) -> ErrorCode:
    """What a call whose activity gave no result is told, if nothing better is known."""
    cause = error.cause if isinstance(error, ActivityError) else error
    if isinstance(cause, TemporalTimeout) and cause.type is TimeoutType.START_TO_CLOSE:
        return ErrorCode.TIMED_OUT
    if isinstance(cause, CancelledError) or not isinstance(error, ActivityError):
        return ErrorCode.CANCELLED
    return ErrorCode.TOOL_FAILED
