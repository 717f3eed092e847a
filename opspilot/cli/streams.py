"""The standard streams of a command, from its first word to its last. Knows nothing of what is written."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn


def be_lenient() -> None:
    """What the locale can't write becomes `?`; what isn't text comes in as it is, to be refused with a sentence."""
    for stream, errors in ((sys.stdin, "surrogateescape"), (sys.stdout, "replace"), (sys.stderr, "replace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=errors)


def leave(status: int) -> NoReturn:
    """End at once. Python's own end waits for Temporal's threads, and they for Python, if a request is under way."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(status)
