"""The commands `policy test` and `policy check`: what would happen to a call, and which rules are of no use.

Needs neither Temporal nor a journal, and runs nothing. How a function becomes a command, and who is asking, is handed
in, as for `tool_commands`. Help is in the language that is spoken when this is imported.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Annotated

import typer

from opspilot.cli.jsonlines import json_line
from opspilot.cli.misuse import Program
from opspilot.cli.tool_commands import AsJson, MakeCommand, configured, json_object, named
from opspilot.core.calls import Gate
from opspilot.core.interrupts import Principal
from opspilot.texts.folding import printable
from opspilot.texts.language import text


def policy_commands(
    command: MakeCommand, principal: Callable[[], Principal], known_tools: Callable[[str], list[str]]
) -> typer.Typer:
    """The commands, to be mounted as `policy`. `known_tools` is what the shell offers while a name is typed."""
    tool_name = typer.Argument(metavar="TOOL", help=text("help.tool_name"), autocompletion=known_tools)
    app = typer.Typer(cls=Program, no_args_is_help=True, rich_markup_mode=None, help=text("help.policy"))

    def policy_test(
        tool: Annotated[str, tool_name],
        *,
        args: Annotated[str | None, typer.Option(metavar="JSON", help=text("help.policy_args"))] = None,
        user_role: Annotated[list[str], typer.Option(metavar="ROLE", help=text("help.user_role"))] = [],  # noqa: B006 typer's way
        json: AsJson = False,
    ) -> int:
        from opspilot.cli.policy_words import explained, overview
        from opspilot.tools.policy_trial import courses, try_call

        who = principal()
        who = replace(who, roles=tuple(user_role)) if user_role else who
        arguments = json_object("--args", args or "{}")
        registry, runtime, policy = configured()
        declared = named(tool, registry)
        trial = try_call(declared, arguments, who, runtime, policy)
        # Whoever may not call it at all may not, whatever the arguments.
        if args is not None or (trial.verdict.gate is Gate.DENY and not trial.position):
            typer.echo(json_line(trial.as_json()) if json else printable("\n".join(explained(trial))))
            return 0
        ways = courses(declared, who, policy)
        if json:
            about = {"tool": tool, "effect": declared.effect.value, "requester": {"id": who.id, "roles": who.roles}}
            typer.echo(json_line(about | {"courses": [asdict(way) for way in ways]}))
        else:
            typer.echo(printable("\n".join(overview(declared, who, ways, len(policy.rules)))))
        return 0

    command(policy_test, app, "test")
    command(policy_check, app, "check")
    return app


def policy_check(*, json: AsJson = False) -> int:
    """Print what is wrong with the policy, a line for each fault. Exit status 1 when there is one."""
    from opspilot.cli.policy_words import fault
    from opspilot.core.policy_check import KnownTool, check_policy

    registry, _, policy = configured()
    tools = [KnownTool(tool.name, tool.effect, tool.input_schema) for tool in registry.values()]
    found = check_policy(policy, tools)
    for finding in found:
        sentence = fault(finding, list(registry))
        typer.echo(json_line({**asdict(finding), "message": sentence}) if json else printable(sentence))
    if not found and not json:
        typer.echo(text("policy.sound", rules=len(policy.rules), tools=len(tools)))
    return 1 if found else 0
