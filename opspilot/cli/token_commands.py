"""The commands `token add`, `token list` and `token remove`: who may use the web server without signing in there.

Run where the server's file of tokens is. Knows neither runs nor Temporal.
"""

import re
from collections.abc import Callable
from typing import Annotated

import typer

from opspilot.cli.jsonlines import json_line
from opspilot.cli.misuse import Program
from opspilot.cli.streams import say
from opspilot.core.errors import UsageError
from opspilot.settings import Settings
from opspilot.texts.language import text

MakeCommand = Callable[[Callable[..., int], typer.Typer, str], object]
"""Adds a function to an app under a name. What the function returns is the exit status."""

NAME = re.compile(r"[\w.@+-]{1,100}")
ROLE = re.compile(r"[\w.:-]{1,100}")

Name = Annotated[str, typer.Argument(metavar="NAME", help=text("help.token_name"))]
Roles = Annotated[list[str], typer.Option("--role", metavar="ROLE", help=text("help.token_role"))]
AsJson = Annotated[bool, typer.Option("--json", help=text("help.json"))]


def token_commands(command: MakeCommand, settings: Callable[[], Settings]) -> typer.Typer:
    """The commands, to be mounted as `token`."""
    from opspilot.access.tokens import Tokens

    app = typer.Typer(cls=Program, no_args_is_help=True, rich_markup_mode=None, help=text("help.token"))

    def tokens() -> Tokens:
        file = settings().web.tokens_file
        assert file is not None
        return Tokens(file)

    def token_add(name: Name, *, role: Roles = []) -> int:  # noqa: B006 typer's way
        if NAME.fullmatch(name) is None:
            raise UsageError(text("token.name", name=repr(name)))
        if not role:
            raise UsageError(text("token.no_role", name=name))
        for each in role:
            if ROLE.fullmatch(each) is None:
                raise UsageError(text("token.role", role=repr(each)))
        made = tokens().add(name, tuple(dict.fromkeys(role)))
        say(text("token.made", name=name))
        typer.echo(made)
        return 0

    def token_list(*, json: AsJson = False) -> int:
        known = tokens().all()
        for token in known:
            about = {"name": token.name, "roles": list(token.roles), "created_at": token.created_at.isoformat()}
            line = f"{token.name}\t{','.join(token.roles)}\t{token.created_at:%Y-%m-%d}"
            typer.echo(json_line(about) if json else line)
        if not known:
            say(text("token.none"))
        return 0

    def token_remove(name: Name) -> int:
        tokens().remove(name)
        say(text("token.removed", name=name))
        return 0

    command(token_add, app, "add")
    command(token_list, app, "list")
    command(token_remove, app, "remove")
    return app


def sign_in_address(settings: Settings) -> str:
    """An address that signs in the person at this machine, once. Raises `UsageError` where that isn't the way."""
    from opspilot.access.links import new_link_token, read_address, sign_in_url

    if not _is_local(settings):
        raise UsageError(text("url.not_local", url=settings.web.url or "web.url"))
    address = read_address(settings.state_dir)
    if not address:
        raise UsageError(text("url.none"))
    return sign_in_url(address, new_link_token(settings.state_dir))


def local_web_address(settings: Settings, own_address: str) -> str:
    """Where to find the local stack's web server: an address that signs in where that is the way."""
    return sign_in_address(settings) if _is_local(settings) else settings.web.url or own_address


def _is_local(settings: Settings) -> bool:
    return settings.web.auth in (None, "local")
