"""What a lost activity means for the run, when nothing else can be made of it."""

from temporalio.exceptions import ActivityError, ApplicationError

from opspilot.core import events
from opspilot.core.errors import JournalBehind
from opspilot.core.limits import StopReason
from workflows import bounds


def failure(error: ActivityError) -> events.Failed:
    """The end of the run, with a sentence that a person can read."""
    cause = error.cause
    if isinstance(cause, ApplicationError):
        if cause.type == JournalBehind.__name__:
            return events.Failed(StopReason.JOURNAL_BEHIND, cause.message)
        if bounds.is_ours(error):
            return events.Failed(StopReason.INTERNAL_ERROR, cause.message)
        if error.activity_type == "call_model":
            return events.Failed(StopReason.MODEL_FAILED, cause.message)
    if error.activity_type == "call_model":
        return events.Failed(StopReason.MODEL_FAILED, "No model call came to an end in the time allowed.")
    return events.Failed(StopReason.INTERNAL_ERROR, f"The activity {error.activity_type} did not succeed.")
