"""What a command says, and ends with, when something can't be: our own failures, and those of the machine under us."""

from opspilot.cli.attendant import ExitStatus
from opspilot.core.errors import OpsPilotError, Unreachable, UsageError
from opspilot.texts.language import text


def sentence_of(error: Exception) -> str:
    """Our own failures have theirs; a full disk, a file in the way or text that can't be written gets one here."""
    if isinstance(error, OpsPilotError):
        return str(error)
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    file = getattr(error, "filename", None)
    return text("failed.machine", why=why) if file is None else text("failed.file", file=file, why=why)


def status_of(error: Exception) -> ExitStatus:
    """What the command ends with."""
    if isinstance(error, UsageError):
        return ExitStatus.USAGE
    return ExitStatus.UNREACHABLE if isinstance(error, Unreachable) else ExitStatus.FAILED
