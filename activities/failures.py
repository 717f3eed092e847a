"""How our own errors become Temporal failures: which are worth another attempt, and after how long."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from temporalio.exceptions import ApplicationError

from opspilot.core.errors import JournalBehind, JournalConflict, JournalError, ModelError, StaleRun


@contextmanager
def journal_failures() -> Iterator[None]:
    """Refusals of the journal are final; that it can't be reached is not, and Temporal tries again."""
    try:
        yield
    except (StaleRun, JournalConflict, JournalBehind) as error:
        raise ApplicationError(str(error), type=type(error).__name__, non_retryable=True) from None
    except JournalError as error:
        # Without its cause: the chain of a database's own errors is long, and nothing that people should read.
        raise ApplicationError(str(error), type=JournalError.__name__) from None


LONGEST_WAIT_SECONDS = 86_400.0
"""More than any model call is tried for, so such a wait ends it; a server's number may be too big for a duration."""


def model_failure(error: ModelError) -> ApplicationError:
    """A retryable failure of a model call; the next attempt waits for as long as the provider asked."""
    wait = error.retry_after_seconds
    return ApplicationError(
        error.message,
        type=error.fault.value,
        next_retry_delay=None if wait is None else timedelta(seconds=min(wait, LONGEST_WAIT_SECONDS)),
    )
