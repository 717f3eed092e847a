"""What is said of a command line that can't be meant: one sentence in the reader's language, and where to look.

Knows what typer raises; the sentences about values are those of settings, which are checked by the same rules.
"""

import re
from collections.abc import Callable, Sequence
from enum import Enum
from itertools import pairwise
from typing import IO, Any

import typer
from pydantic import ValidationError
from typer.core import TyperCommand, TyperGroup

from opspilot.cli.streams import say
from opspilot.settings_errors import what_is_allowed
from opspilot.texts.guessing import guess
from opspilot.texts.language import Language, speak, text

_EXTRA = re.compile(r"\(s\) \((.*)\)$", re.DOTALL)


class Misuse(typer.BadParameter):
    """Ends the program with status 2."""

    def format_message(self) -> str:
        """The sentence alone."""
        return self.message

    def show(self, file: IO[Any] | None = None) -> None:
        """Say it, and which help there is."""
        del file
        command = self.ctx.command_path if self.ctx else ""
        say(self.message + text("misuse.help", command=command))


class Program(TyperGroup):
    """A group of commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named."""
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            name = args[0] if args else ""
            if name.startswith("-"):
                raise Misuse(_sentence(error, args), ctx=ctx) from None
            said = text("misuse.no_command", name=repr(name), guess=guess(name, list(self.commands)))
            raise Misuse(said, ctx=ctx) from None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What stands before the command."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if not args:
                # It is no error but the help.
                raise
            raise Misuse(_sentence(error, args), ctx=ctx) from None


def command_class(locale: Callable[[], Language]) -> type[TyperCommand]:
    """Commands that speak the language which their own `--lang` names, else that of the locale."""

    class Command(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            speak(_wished(args) or locale())
            try:
                return super().parse_args(ctx, [*args])
            except typer.TyperException as error:
                raise Misuse(_sentence(error, args), ctx=ctx) from None

    return Command


def _wished(args: Sequence[str]) -> Language | None:
    """What `--lang` says, wherever it stands: a mistake elsewhere is told in that language, too."""
    named = [after for before, after in pairwise(args) if before == "--lang"]
    named += [argument.removeprefix("--lang=") for argument in args if argument.startswith("--lang=")]
    wished = [language for language in Language if language.value in named and language is not Language.AUTO]
    return wished[0] if wished else None


def _sentence(error: typer.TyperException, args: Sequence[str]) -> str:
    parameter = getattr(error, "param", None)
    if parameter is not None:
        name = parameter.opts[0]
        if not isinstance(error.__cause__, ValidationError):
            return text("misuse.missing", name=name)
        what = _choices(parameter) or what_is_allowed(error.__cause__.errors(include_url=False)[0])[0]
        return text("settings.must", where=name, what=what)
    if option := getattr(error, "option_name", None):
        near = getattr(error, "possibilities", None)
        if near is None and any(argument.partition("=")[0] == option for argument in args):
            return text("misuse.no_value", option=option)
        return text("misuse.no_option", option=option, guess=text("tools.guess", names=", ".join(near)) if near else "")
    if extra := _EXTRA.search(error.message):
        return text("misuse.extra", extra=extra[1])
    return error.format_message()


def _choices(parameter: Any) -> str:
    kind = parameter.type_descriptor.annotation
    if not (isinstance(kind, type) and issubclass(kind, Enum)):
        return ""
    return text("settings.must.choice", choices=", ".join(str(member.value) for member in kind))
