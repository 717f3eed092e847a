"""Every exception that crosses one of our own seams, with the sentence a person reads.

`OpsPilotError`
├── `UsageError`        the caller asked for something that can't be (bad setting, empty question)
├── `Unreachable`       a server that we need does not answer
├── `JournalError`
│   ├── `StaleRun`      an entry of a run that is no longer its session's current one
│   ├── `JournalConflict`  a key is there with other content (a Temporal reset, a crossed answer)
│   └── `JournalBehind` the workflow knows of entries that this journal does not have
├── `NotificationError` somebody could not be told
└── `ModelError`        a model call that failed, with what to do about it
"""

from dataclasses import dataclass
from enum import StrEnum


class OpsPilotError(Exception):
    """A failure whose text is fit for a person: what happened, where, what to do."""


class UsageError(OpsPilotError):
    """The caller asked for something that can't be."""


class Unreachable(OpsPilotError):
    """A server that is needed does not answer."""


class JournalError(OpsPilotError):
    """The journal refused."""


class StaleRun(JournalError):
    """An entry of a run that is no longer the session's current one."""


class JournalConflict(JournalError):
    """A key is in the journal already, with other content."""


class JournalBehind(JournalError):
    """The workflow has seen entries that this journal does not hold."""


class NotificationError(OpsPilotError):
    """A channel did not take a notification."""


class ModelFault(StrEnum):
    """Why a model call failed. `retryable` of the error says whether another attempt may help."""

    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    BAD_REQUEST = "bad_request"
    CONTEXT_LENGTH = "context_length"
    SERVER = "server"
    NETWORK = "network"
    BAD_REPLY = "bad_reply"


@dataclass
class ModelError(OpsPilotError):
    """A failed model call.

    `message` is public: no key, no header, no request body. `retry_after_seconds` is what the provider asked for,
    None when it did not say. `text` is what had been delivered before the error.
    """

    fault: ModelFault
    message: str
    retryable: bool
    retry_after_seconds: float | None = None
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message
