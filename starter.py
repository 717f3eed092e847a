"""The command line, and the second composition root: settings -> client, local stack, view. Nobody imports it."""

import asyncio
import os
import sys
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opspilot.bounds import MOST_SECONDS, MOST_STEPS, MOST_TOKENS
from opspilot.cli import wiring
from opspilot.cli.commands import Commands
from opspilot.cli.misuse import Program
from opspilot.cli.streams import be_complete, leave, say
from opspilot.core.errors import OpsPilotError, UsageError
from opspilot.core.limits import OnLimit
from opspilot.texts.folding import printable
from opspilot.texts.guessing import guess
from opspilot.texts.language import call_program, language_of, speak, text

if TYPE_CHECKING:
    from opspilot.place import Endpoint, Place
    from opspilot.settings import Settings

# Help is made while this is imported, so it is in the locale's language.
speak(language_of(os.environ))
app = typer.Typer(
    cls=Program, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False, help=text("help")
)
command = Commands(app, lambda: language_of(os.environ))

Local = Annotated[bool, typer.Option("--local", help=text("help.local"))]
AsJson = Annotated[bool, typer.Option("--json", help=text("help.json"))]
SessionName = Annotated[str, typer.Argument(help=text("help.name"), autocompletion=wiring.known_sessions)]


@command
def ask(  # noqa: PLR0913 options are parameters
    question: Annotated[str, typer.Argument(help=text("help.question"))],
    *,
    local: Local = False,
    json: AsJson = False,
    session: Annotated[str, typer.Option(help=text("help.session"), autocompletion=wiring.known_sessions)] = "",
    only: Annotated[str, typer.Option(metavar="TOOL", help=text("help.only"), autocompletion=wiring.known_tools)] = "",
    force: Annotated[bool, typer.Option("--force", help=text("help.force"))] = False,
    instead: Annotated[bool, typer.Option("--instead", help=text("help.instead"))] = False,
    model: Annotated[
        str, typer.Option(metavar="NAME", help=text("help.ask_model"), autocompletion=wiring.known_models)
    ] = "",
    max_steps: Annotated[int | None, typer.Option(min=1, max=MOST_STEPS, help=text("help.max_steps"))] = None,
    max_seconds: Annotated[float | None, typer.Option(min=1, max=MOST_SECONDS, help=text("help.max_seconds"))] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, max=MOST_TOKENS, help=text("help.max_tokens"))] = None,
    max_failures: Annotated[int | None, typer.Option(min=1, max=MOST_STEPS, help=text("help.max_failures"))] = None,
    on_limit: Annotated[OnLimit | None, typer.Option(help=text("help.on_limit"))] = None,
) -> int:
    """Ask, and watch until there is an answer."""
    from opspilot import refusals
    from opspilot.client import new_session
    from opspilot.core.contract import Mode

    asked_text = sys.stdin.read() if question == "-" else question
    refusals.check_text(asked_text)
    if session:
        refusals.check_session(session)
    if force and not only:
        raise UsageError(text("refused.force"))
    if instead and not session:
        raise UsageError(text("refused.instead"))
    settings = wiring.load()
    endpoint = _endpoint(settings, local=local, asking=True)
    if only and endpoint and only not in settings.tools:
        names = ", ".join(settings.tools) or text("refused.none")
        raise UsageError(text("refused.no_tool", tool=only, tools=names) + guess(only, list(settings.tools)))
    if endpoint:
        # Another worker than this machine's may know models that these settings don't.
        settings.model_named(model)
    given: dict[str, Any] = {
        "steps": max_steps,
        "active_seconds": max_seconds,
        "tokens": max_tokens,
        "failures_in_a_row": max_failures,
        "on_limit": on_limit,
    }
    given = {name: most for name, most in given.items() if most is not None}
    limits = replace(settings.limits.as_limits(), **given)
    mode = Mode(only or None, force, model)
    name = session or new_session()

    async def run() -> int:
        async with wiring.pilot(settings, endpoint) as (pilot, attendant):
            particular = bool(session and (given or mode != Mode()))
            too_late = particular and await wiring.goes_on(pilot, session)
            hint = asyncio.create_task(wiring.say_when_nobody_works(pilot))
            try:
                if instead:
                    asked = await pilot.ask_instead(asked_text, session)
                else:
                    asked = await pilot.ask(asked_text, name, limits=limits, mode=mode)
            except asyncio.CancelledError:
                with suppress(OpsPilotError):
                    await pilot.stop(name, "Ctrl-C")
                say(text("attend.stopped_early", session=name))
                raise
            finally:
                hint.cancel()
            if too_late:
                say(text("attend.goes_on", session=session))
            return await attendant(json).attend(asked.session, asked.message_id, asked.after, stoppable=True)

    return _run(run())


@command
def watch(session: SessionName, *, local: Local = False, json: AsJson = False) -> int:
    """Show a session from its beginning, and follow its run until it stops."""
    settings = wiring.load()
    endpoint = _endpoint(settings, local=local)

    async def run() -> int:
        async with wiring.pilot(settings, endpoint) as (pilot, attendant):
            await pilot.session(session)
            return await attendant(json).attend(session, None, 0, stoppable=False)

    return _run(run())


@command
def answer(
    session: SessionName,
    *,
    approve: Annotated[bool, typer.Option("--approve", help=text("help.approve"))] = False,
    reject: Annotated[bool, typer.Option("--reject", help=text("help.reject"))] = False,
    values: Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help=text("help.set"))] = [],  # noqa: B006 typer's way
    call: Annotated[str, typer.Option(help=text("help.call"))] = "",
    comment: Annotated[str, typer.Option(help=text("help.comment"))] = "",
    local: Local = False,
    json: AsJson = False,
) -> int:
    """Answer what a run waits for; without an action, list it."""
    from opspilot.cli.answering import Reply, answer_question, chosen_action, open_questions

    reply = Reply(chosen_action(approve=approve, reject=reject, values=values), call, comment, tuple(values))
    settings = wiring.load()
    endpoint = _endpoint(settings, local=local)

    async def run() -> int:
        async with wiring.pilot(settings, endpoint) as (pilot, attendant):
            if reply.action is None and not call and not json and wiring.at_a_terminal():
                after = (await pilot.session(session)).last_seq
                await open_questions(pilot, session)
                return await attendant(json).attend(session, None, after, stoppable=False)
            await answer_question(pilot, wiring.principal(settings), session, reply, _print, as_json=json)
            return 0

    return _run(run())


@command
def cancel(session: SessionName, *, local: Local = False) -> int:
    """Stop a session's run. What it found is kept."""
    from opspilot.core.entries import Kind
    from opspilot.texts.endings import ending

    settings = wiring.load()
    endpoint = _endpoint(settings, local=local)

    async def run() -> int:
        async with wiring.pilot(settings, endpoint) as (pilot, _):
            after = (await pilot.session(session)).last_seq
            await pilot.stop(session, "cancel")
            with suppress(TimeoutError):
                async with asyncio.timeout(15):
                    async for entry in pilot.watch(session, after):
                        if entry.kind is Kind.RUN_STOPPED:
                            typer.echo(ending(entry.data))
                            return 0
            typer.echo(text("cancel.asked"))
            return 0

    return _run(run())


@command
def sessions(
    *,
    json: AsJson = False,
    status: Annotated[str, typer.Option(help=text("help.status"))] = "",
    waiting: Annotated[bool, typer.Option("--waiting", help=text("help.waiting"))] = False,
    user: Annotated[str, typer.Option(help=text("help.user"))] = "",
    since: Annotated[str, typer.Option(help=text("help.since"))] = "",
    until: Annotated[str, typer.Option(help=text("help.until"))] = "",
    contains: Annotated[str, typer.Option("--text", help=text("help.text"))] = "",
    limit: Annotated[int, typer.Option(min=1, help=text("help.limit"))] = 50,
) -> int:
    """List sessions: a table at a terminal, else a line for each."""
    from opspilot.cli import inbox, listing
    from opspilot.cli.moments import moment

    now = datetime.now().astimezone()
    wanted = listing.Wanted(
        state=status,
        owner=user,
        text=contains,
        since=moment(since, now) if since else None,
        until=moment(until, now) if until else None,
        limit=limit,
    )
    with wiring.journal(wiring.load()) as journal:
        if waiting:
            inbox.print_inbox(journal, wanted, sys.stdout, now, as_json=json)
        else:
            listing.print_sessions(journal, wanted, sys.stdout, now, as_json=json)
    return 0


@command
def show(session: SessionName, *, json: AsJson = False) -> int:
    """Print everything that was said and seen in a session."""
    from opspilot import refusals
    from opspilot.cli.transcript import transcript
    from opspilot.outward import outward
    from opspilot.redaction import redact

    with wiring.journal(wiring.load()) as journal:
        row = journal.session(session)
        if row is None:
            raise refusals.no_session(session, wiring.known_sessions(""))
        entries = journal.read(session)
    if json:
        view = wiring.view(json=True)
        for entry in entries:
            view.show(entry)
    else:
        typer.echo(transcript(replace(row, title=redact(row.title)), list(map(outward, entries))), nl=False)
    return 0


@command
def up(*, json: AsJson = False) -> int:
    """Start the stack on this machine, or repair it."""
    from opspilot.cli.jsonlines import json_line
    from opspilot.cli.token_commands import local_web_address
    from opspilot.stack_web import await_web

    settings = wiring.load()
    endpoint = _endpoint(settings, local=True, asking=True)
    assert endpoint is not None
    await_web(_place(settings))
    endpoint = replace(endpoint, web=local_web_address(settings, endpoint.web))
    if json:
        typer.echo(json_line(endpoint))
    else:
        typer.echo(text("up.ready", address=endpoint.address, console=endpoint.console))
        typer.echo(text("up.web", url=endpoint.web))
    return 0


@command
def url() -> int:
    """Print an address that signs in to the web UI, once."""
    from opspilot.cli.token_commands import sign_in_address
    from opspilot.stack_web import await_web

    settings = wiring.load()
    if _endpoint(settings, local=False):
        await_web(_place(settings))
    typer.echo(sign_in_address(settings))
    return 0


@command
def down() -> int:
    """End the stack on this machine. Runs stay, and go on when it is started again."""
    from opspilot import embedded

    embedded.shut_down(_place(wiring.load()), typer.echo)
    return 0


@command
def doctor(
    *,
    local: Local = False,
    json: AsJson = False,
    fix: Annotated[bool, typer.Option("--fix", help=text("help.fix"))] = False,
    model: Annotated[bool, typer.Option("--model", help=text("help.model"))] = False,
    notify: Annotated[bool, typer.Option("--notify", help=text("help.notify"))] = False,
) -> int:
    """Say what is configured, reachable and missing, and what to do about it."""
    from opspilot.cli.doctor import examine, report
    from opspilot.cli.local import remembered

    settings = wiring.load()
    if model:
        from opspilot.probing import examine_models

        findings = examine_models(settings)
    elif notify:
        from opspilot.cli.channel_trial import try_channels

        findings = try_channels(settings, os.environ)
    else:
        # Who only looks starts nothing.
        endpoint = _endpoint(settings, local=local, asking=fix) if local or fix else remembered(settings)
        who, there = wiring.principal(settings), (endpoint.address, _place(settings)) if endpoint else (None, None)
        findings = examine(settings, who, *there, repair=fix)

    return _run(report(findings, typer.echo, as_json=json))


# ---------------------------------------------------------------- the local stack


def _place(settings: "Settings") -> "Place":
    from opspilot.cli.local import place

    return place(settings, Path(__file__).resolve().parent, os.environ)


def _endpoint(settings: "Settings", *, local: bool, asking: bool = False) -> "Endpoint | None":
    from opspilot.cli.local import endpoint

    return endpoint(settings, lambda: _place(settings), say, wished=local, asking=asking)


# ---------------------------------------------------------------- the program


def _print(line: str) -> None:
    typer.echo(printable(line))


def _run(work: Coroutine[Any, Any, int]) -> int:
    return int(asyncio.run(work))


def _tools() -> typer.Typer:
    from opspilot.cli.tool_commands import tool_commands

    return tool_commands(command, lambda: wiring.principal(wiring.load()), wiring.known_tools)


def _policy() -> typer.Typer:
    from opspilot.cli.policy_commands import policy_commands

    return policy_commands(command, lambda: wiring.principal(wiring.load()), wiring.known_tools)


def _tokens() -> typer.Typer:
    from opspilot.cli.token_commands import token_commands

    return token_commands(command, wiring.load)


app.add_typer(_tools(), name="tools")
app.add_typer(_tokens(), name="token")
app.add_typer(_policy(), name="policy")


def main() -> None:
    """Run a command."""
    program = Path(sys.argv[0]).name
    call_program(program)
    try:
        be_complete()
        app(prog_name=program)
    except SystemExit as end:
        leave(end.code if isinstance(end.code, int) else 0)
    except (UsageError, OSError) as error:
        from opspilot.cli.failing import sentence_of, status_of

        # Help, too, may be meant for a disk that is full.
        say(sentence_of(error))
        leave(status_of(error))


if __name__ == "__main__":
    main()
