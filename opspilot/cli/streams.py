"""The standard streams of a command, from its first word to its last. Knows nothing of what is written."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

from opspilot.core.errors import UsageError
from opspilot.texts.folding import printable
from opspilot.texts.language import text


def be_complete() -> None:
    """Three streams that take any text, the null device for each that we were started without.

    What the locale can't write becomes `?`; what isn't text comes in as it is, to be refused with a sentence. Raises
    `UsageError` when there is no standard output: what was asked for would be lost unsaid.
    """
    had_output = sys.stdout is not None
    for name, mode, errors in (
        ("stdin", "r", "surrogateescape"),
        ("stdout", "w", "replace"),
        ("stderr", "w", "replace"),
    ):
        if getattr(sys, name) is None:
            # It takes the lowest free number, which is the missing one, and so no database can get it.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 open to the end
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=errors)
    if not had_output:
        raise UsageError(text("refused.no_output"))


def say(sentence: str) -> None:
    """A sentence for the person, apart from what was asked for: on standard error."""
    # Where nobody can be told, the exit status has to do.
    with suppress(OSError):
        print(printable(sentence), file=sys.stderr, flush=True)  # noqa: T201 a command line talks


def leave(status: int) -> NoReturn:
    """End at once. Python's own end waits for Temporal's threads, and they for Python, if a request is under way."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(status)
