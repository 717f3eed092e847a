"""What makes a function a command: its `--lang`, its help, its exit status, and a sentence when something can't be.

Knows neither what any command does nor the environment: how the locale is asked is handed in.
"""

import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

import typer

from opspilot.cli.misuse import command_class
from opspilot.cli.streams import say
from opspilot.core.errors import OpsPilotError
from opspilot.texts.language import Language, speak, text

CLOSED_PIPE = 141
"""What a shell reports of a command that writes to a pipe which nobody reads any more."""


@dataclass(frozen=True)
class Commands:
    """Called with a function, it adds that to `app`, or to another one. `locale` is what `--lang auto` means."""

    app: typer.Typer
    locale: Callable[[], Language]

    def __call__(
        self, work: Callable[..., int], to: typer.Typer | None = None, name: str | None = None
    ) -> Callable[..., None]:
        """Make a function a command: what it returns is the exit status; a failure is a sentence and another status.

        Each command has `--lang`, and finds its own help in the catalogue.
        """

        @wraps(work)
        def run(*arguments: Any, lang: Language, **named: Any) -> None:
            speak(self.locale() if lang is Language.AUTO else lang)
            raise typer.Exit(int(_guarded(lambda: work(*arguments, **named))))

        # What typer reads: the parameters of the work, and one more.
        option = Annotated[Language, typer.Option("--lang", help=text("help.lang"))]
        signature = inspect.signature(work)
        lang = inspect.Parameter("lang", inspect.Parameter.KEYWORD_ONLY, default=Language.AUTO, annotation=option)
        run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), lang])  # type: ignore[attr-defined]
        run.__annotations__ = {**work.__annotations__, "lang": option}
        kind = command_class(self.locale)
        return (to or self.app).command(name, cls=kind, help=text(f"help.{work.__name__}"))(run)


def _guarded(work: Callable[[], int]) -> int:
    from opspilot.cli.failing import sentence_of, status_of

    try:
        status = work()
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain about what it can't flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except (OpsPilotError, OSError, UnicodeError) as error:
        say(sentence_of(error))
        return status_of(error)
    return status
