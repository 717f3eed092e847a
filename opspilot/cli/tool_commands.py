"""The commands `tools list`, `tools show` and `tools call`: which tools there are, and one of them tried.

Needs neither Temporal nor a journal. Knows settings and the tool runtime; knows nothing of runs. How a function becomes
a command, and who is asking, is handed in by the program that these commands are part of. Help is in the language that
is spoken when this is imported.
"""

import asyncio
import json as jsonlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opspilot.cli.jsonlines import json_line
from opspilot.cli.misuse import Program
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.sensitive import pointers
from opspilot.texts.folding import printable
from opspilot.texts.guessing import guess
from opspilot.texts.language import text

if TYPE_CHECKING:
    from opspilot.core.policy import Policy
    from opspilot.tools.registry import Registry
    from opspilot.tools.runtime import ToolRuntime
    from opspilot.tools.spec import Tool

MakeCommand = Callable[[Callable[..., int], typer.Typer, str], object]
"""Adds a function to an app under a name. What the function returns is the exit status."""

AsJson = Annotated[bool, typer.Option("--json", help=text("help.json"))]


def tool_commands(
    command: MakeCommand, principal: Callable[[], Principal], known_tools: Callable[[str], list[str]]
) -> typer.Typer:
    """The commands, to be mounted as `tools`. `known_tools` is what the shell offers while a name is typed."""
    tool_name = typer.Argument(metavar="NAME", help=text("help.tool_name"), autocompletion=known_tools)
    app = typer.Typer(cls=Program, no_args_is_help=True, rich_markup_mode=None, help=text("help.tools"))

    def tools_show(name: Annotated[str, tool_name], *, json: AsJson = False) -> int:
        return show_tool(name, principal(), json=json)

    def tools_call(
        name: Annotated[str, tool_name],
        *,
        args: Annotated[str, typer.Option(metavar="JSON", help=text("help.args"))] = "{}",
        answers: Annotated[str, typer.Option(metavar="JSON", help=text("help.answers"))] = "{}",
        yes: Annotated[bool, typer.Option("--yes", help=text("help.yes"))] = False,
        role: Annotated[list[str], typer.Option(metavar="ROLE", help=text("help.role"))] = [],  # noqa: B006 typer's way
        trace: Annotated[bool, typer.Option("--trace", help=text("help.trace"))] = False,
    ) -> int:
        who = principal()
        who = replace(who, roles=(*who.roles, *role))
        return call_tool(
            name, json_object("--args", args), who, yes=yes, answers=json_object("--answers", answers), trace=trace
        )

    command(tools_list, app, "list")
    command(tools_show, app, "show")
    command(tools_call, app, "call")
    return app


def tools_list(*, json: AsJson = False) -> int:
    """Print the configured tools, one a line: name, effect, what for."""
    tools = configured()[0].values()
    width = max(len(tool.name) for tool in tools)
    for tool in tools:
        summary = tool.description.partition("\n")[0].partition(". ")[0].rstrip(".")
        if json:
            typer.echo(json_line({"name": tool.name, "effect": tool.effect.value, "summary": summary}))
        else:
            typer.echo(_one_line(f"{tool.name:<{width}}  {tool.effect.value:<5}  {summary}"))
    return 0


def show_tool(name: str, principal: Principal, *, json: bool) -> int:
    """Print everything that is declared of one tool."""
    registry, runtime, _ = configured()
    tool = named(name, registry)
    seconds = runtime.judge(name, {}, principal).timeout_seconds
    if json:
        declared: dict[str, Json] = {
            "name": name,
            "effect": tool.effect.value,
            "description": tool.description,
            "input_schema": dict(tool.input_schema),
            "timeout_seconds": seconds,
            "concurrent": tool.concurrent,
            "polling": tool.polling,
            "idempotent": tool.idempotent,
            "reconcile": tool.reconcile is not None,
            "roles": list(tool.roles),
        }
        typer.echo(json_line(declared))
    else:
        typer.echo(
            printable(f"{name}: {_nature(tool, seconds)}\n\n{tool.description}\n\n{_parameters(tool.input_schema)}")
        )
    return 0


def call_tool(
    name: str,
    arguments: dict[str, Json],
    principal: Principal,
    *,
    yes: bool = False,
    answers: dict[str, Json] | None = None,
    trace: bool = False,
) -> int:
    """Run one tool as a run would, outside any run, and print what the model would be shown, or what it asks a person.

    Exit status: 0 it went well, 1 it failed, 4 it asks a person first.
    """
    from opspilot.cli.attendant import ExitStatus
    from opspilot.tools.trying import try_tool

    registry, runtime, _ = configured()
    named(name, registry)
    _show_failures(traces=trace)
    began = time.monotonic()
    shown = asyncio.run(try_tool(runtime, name, arguments, principal, approved=yes, answers=answers))
    seconds = f"{time.monotonic() - began:.2f}"
    if sys.stdout.isatty():
        typer.echo(printable(jsonlib.dumps(shown, ensure_ascii=False, indent=2)))
    else:
        typer.echo(json_line(shown))
    if "interrupt" in shown:
        _say(text(f"tools.asks.{shown['interruptType']}", tool=name))
        return ExitStatus.WAITS_FOR_PERSON
    _say(text("tools.well" if shown["ok"] else "tools.failed", tool=name, seconds=seconds))
    return ExitStatus.ANSWERED if shown["ok"] else ExitStatus.FAILED


# ---------------------------------------------------------------- what there is


def configured() -> "tuple[Registry, ToolRuntime, Policy]":
    """Tools, their runtime and the policy, as a worker of these settings has them; but what is cut can't be read on."""
    from opspilot.settings import load_settings
    from opspilot.standing_tools import READ_MORE
    from opspilot.tools.registry import build_registry
    from opspilot.tools.runtime import ToolRuntime
    from opspilot.tools.spec import ToolPlace

    settings = load_settings()
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    tables = {**settings.tools, READ_MORE: settings.tools.get(READ_MORE, {})}
    registry = build_registry(tables, ToolPlace(settings.base, settings.state_dir))
    policy = settings.policy.as_policy()
    return registry, ToolRuntime(registry, policy), policy


def named(name: str, known: "Registry") -> "Tool":
    """The tool of that name. Raises `UsageError` with those that there are."""
    if name in known:
        return known[name]
    raise UsageError(text("refused.no_tool", tool=name, tools=", ".join(known)) + guess(name, list(known)))


def json_object(option: str, value: str) -> dict[str, Json]:
    """What an option holds. Raises `UsageError` when it is no JSON object."""
    try:
        parsed = jsonlib.loads(value)
    except (ValueError, RecursionError) as error:
        raise UsageError(text("tools.not_json", option=option, why=str(error))) from None
    if not isinstance(parsed, dict):
        raise UsageError(text("tools.not_json", option=option, why=type(parsed).__name__))
    return parsed


def _show_failures(*, traces: bool) -> None:
    """The runtime logs each failure. Its message is printed anyway, so only its trace, already redacted, is shown."""
    import structlog

    def only_the_trace(_logger: Any, _method: str, event: Any) -> str:
        if not (traces and event.get("trace")):
            raise structlog.DropEvent
        return printable(event["trace"].rstrip())

    structlog.configure(processors=[only_the_trace], logger_factory=structlog.PrintLoggerFactory(sys.stderr))


# ---------------------------------------------------------------- how it looks


def _nature(tool: "Tool", seconds: float) -> str:
    """`read; may run beside other calls; at most 20 s`."""
    facts = {
        f"tools.{tool.effect.value}": True,
        "tools.concurrent": tool.concurrent,
        "tools.alone": not tool.concurrent,
        "tools.seconds": True,
        "tools.polling": tool.polling,
        "tools.idempotent": tool.idempotent,
        "tools.reconcile": tool.reconcile is not None,
        "tools.roles": bool(tool.roles),
    }
    values = {"seconds": f"{seconds:g}", "roles": ", ".join(tool.roles)}
    return "; ".join(text(key, **values) for key, holds in facts.items() if holds)


def _parameters(schema: Mapping[str, Json]) -> str:
    properties: Mapping[str, Mapping[str, Json]] = schema["properties"]
    if not properties:
        return text("tools.no_parameters")
    required: Sequence[str] = schema.get("required", ())
    lines = [text("tools.parameters")]
    for name, rule in properties.items():
        about = [_kind(rule)]
        if name in required:
            about.append(text("tools.required"))
        elif rule.get("default") not in (None, ""):
            about.append(text("tools.default", value=_value(rule["default"])))
        if pointers(rule, "any text"):
            about.append(text("tools.sensitive"))
        lines.append(f"  {name} ({', '.join(about)}): {rule.get('description', '')}".rstrip(": "))
    return "\n".join(lines)


def _kind(rule: Mapping[str, Json]) -> str:
    """`integer`, `string | null`, `"a" | "b"`, `array of string`: what a value may be, in a few words."""
    if "enum" in rule:
        return " | ".join(_value(value) for value in rule["enum"])
    if "anyOf" in rule:
        return " | ".join(_kind(option) for option in rule["anyOf"])
    kind = str(rule.get("type", "any"))
    return f"array of {_kind(rule['items'])}" if kind == "array" and rule.get("items") else kind


def _value(value: Json) -> str:
    return jsonlib.dumps(value, ensure_ascii=False)


def _one_line(line: str) -> str:
    """On a terminal cut to its width, so that each tool has one line."""
    from rich.console import Console
    from rich.text import Text

    console, cut = Console(), Text(printable(line))
    if console.is_terminal:
        cut.truncate(console.width, overflow="ellipsis")
    return cut.plain


def _say(sentence: str) -> None:
    typer.echo(printable(sentence), err=True)
