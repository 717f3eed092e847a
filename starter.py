"""The command line, and the second composition root: settings -> client, local stack, view. Nobody imports it."""

import asyncio
import getpass
import inspect
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opspilot.bounds import MOST_SECONDS, MOST_STEPS, MOST_TOKENS
from opspilot.core.errors import OpsPilotError, UsageError
from opspilot.texts.language import Language, call_program, language_of, speak, text

if TYPE_CHECKING:
    from opspilot.cli.attendant import Attendant, View
    from opspilot.client import OpsPilot
    from opspilot.core.interrupts import Principal
    from opspilot.embedded import Endpoint, Place
    from opspilot.settings import Settings

CLOSED_PIPE = 141
"""What a shell reports of a command that writes to a pipe which nobody reads any more."""

PATIENCE_SECONDS = 2.0
"""How long a question may wait for a worker before the person is told what it waits for."""

# Help is made while this is imported, so it is in the locale's language.
speak(language_of(os.environ))
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False, help=text("help"))


def _known_sessions(incomplete: str) -> list[str]:
    """For the shell, when a session's name is being typed."""
    with suppress(OpsPilotError, OSError), _journal(_settings()) as journal:
        return [row.id for row in journal.sessions(limit=200) if row.id.startswith(incomplete)]
    return []


def _known_tools(incomplete: str) -> list[str]:
    """For the shell, when a tool's name is being typed."""
    with suppress(OpsPilotError, OSError):
        return [name for name in _settings().tools if name.startswith(incomplete)]
    return []


Local = Annotated[bool, typer.Option("--local", help=text("help.local"))]
AsJson = Annotated[bool, typer.Option("--json", help=text("help.json"))]
Lang = Annotated[Language, typer.Option("--lang", help=text("help.lang"))]
SessionName = Annotated[str, typer.Argument(help=text("help.name"), autocompletion=_known_sessions)]


def command(work: Callable[..., int], to: typer.Typer = app, name: str | None = None) -> Callable[..., None]:
    """Make a function a command: what it returns is the exit status; a failure is a sentence and another status.

    Each command has `--lang`, and finds its own help in the catalogue.
    """

    @wraps(work)
    def run(*arguments: Any, lang: Language, **named: Any) -> None:
        speak(language_of(os.environ) if lang is Language.AUTO else lang)
        raise typer.Exit(int(_guarded(lambda: work(*arguments, **named))))

    # What typer reads: the parameters of the work, and one more.
    signature = inspect.signature(work)
    lang = inspect.Parameter("lang", inspect.Parameter.KEYWORD_ONLY, default=Language.AUTO, annotation=Lang)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), lang])  # type: ignore[attr-defined]
    run.__annotations__ = {**work.__annotations__, "lang": Lang}
    return to.command(name, help=text(f"help.{work.__name__}"))(run)


def _guarded(work: Callable[[], int]) -> int:
    from opspilot.cli.attendant import ExitStatus
    from opspilot.cli.failing import sentence_of, status_of

    try:
        status = work()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return ExitStatus.CANCELLED
    except BrokenPipeError:
        # Python would complain about what it can't flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except (OpsPilotError, OSError, UnicodeError) as error:
        _say(sentence_of(error))
        return status_of(error)
    return status


@command
def ask(  # noqa: PLR0913 options are parameters
    question: Annotated[str, typer.Argument(help=text("help.question"))],
    *,
    local: Local = False,
    json: AsJson = False,
    session: Annotated[str, typer.Option(help=text("help.session"), autocompletion=_known_sessions)] = "",
    only: Annotated[str, typer.Option(metavar="TOOL", help=text("help.only"), autocompletion=_known_tools)] = "",
    force: Annotated[bool, typer.Option("--force", help=text("help.force"))] = False,
    max_steps: Annotated[int | None, typer.Option(min=1, max=MOST_STEPS, help=text("help.max_steps"))] = None,
    max_seconds: Annotated[float | None, typer.Option(min=1, max=MOST_SECONDS, help=text("help.max_seconds"))] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, max=MOST_TOKENS, help=text("help.max_tokens"))] = None,
    max_failures: Annotated[int | None, typer.Option(min=1, max=MOST_STEPS, help=text("help.max_failures"))] = None,
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
    settings = _settings()
    endpoint = _endpoint(settings, local=local, asking=True)
    if only and endpoint and only not in settings.tools:
        names = ", ".join(settings.tools) or text("refused.none")
        raise UsageError(text("refused.no_tool", tool=only, tools=names))
    given: dict[str, Any] = {
        "steps": max_steps,
        "active_seconds": max_seconds,
        "tokens": max_tokens,
        "failures_in_a_row": max_failures,
    }
    limits = replace(settings.limits.as_limits(), **{name: most for name, most in given.items() if most is not None})
    name = session or new_session()

    async def run() -> int:
        async with _pilot(settings, endpoint) as (pilot, attendant):
            hint = asyncio.create_task(_say_when_nobody_works(pilot))
            try:
                asked = await pilot.ask(asked_text, name, limits=limits, mode=Mode(only or None, force))
            except asyncio.CancelledError:
                with suppress(OpsPilotError):
                    await pilot.stop(name, "Ctrl-C")
                _say(text("attend.stopped_early", session=name))
                raise
            finally:
                hint.cancel()
            return await attendant(json).attend(asked.session, asked.message_id, asked.after, stoppable=True)

    return _run(run())


@command
def watch(session: SessionName, *, local: Local = False, json: AsJson = False) -> int:
    """Show a session from its beginning, and follow its run until it stops."""
    settings = _settings()
    endpoint = _endpoint(settings, local=local)

    async def run() -> int:
        async with _pilot(settings, endpoint) as (pilot, attendant):
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
    from opspilot.cli.answering import Reply, answer_question, chosen_action
    from opspilot.cli.jsonlines import json_line
    from opspilot.cli.listing import question_line

    reply = Reply(chosen_action(approve=approve, reject=reject, values=values), call, comment, tuple(values))
    settings = _settings()
    endpoint = _endpoint(settings, local=local)

    async def run() -> int:
        async with _pilot(settings, endpoint) as (pilot, _):
            await answer_question(pilot, _principal(), session, reply, typer.echo, json_line if json else question_line)
            return 0

    return _run(run())


@command
def cancel(session: SessionName, *, local: Local = False) -> int:
    """Stop a session's run. What it found is kept."""
    from opspilot.cli.endings import ending
    from opspilot.core.entries import Kind

    settings = _settings()
    endpoint = _endpoint(settings, local=local)

    async def run() -> int:
        async with _pilot(settings, endpoint) as (pilot, _):
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
    from opspilot.cli import listing
    from opspilot.cli.moments import moment

    now = datetime.now().astimezone()
    wanted = listing.Wanted(
        state=status,
        waiting=waiting,
        owner=user,
        text=contains,
        since=moment(since, now) if since else None,
        until=moment(until, now) if until else None,
        limit=limit,
    )
    with _journal(_settings()) as journal:
        listing.print_sessions(journal, wanted, sys.stdout, now, as_json=json)
    return 0


@command
def show(session: SessionName, *, json: AsJson = False) -> int:
    """Print everything that was said and seen in a session."""
    from opspilot import refusals
    from opspilot.cli.transcript import transcript
    from opspilot.tools.redaction import redact

    with _journal(_settings()) as journal:
        row = journal.session(session)
        if row is None:
            raise refusals.no_session(session)
        entries = journal.read(session)
    if json:
        view = _view(json=True)
        for entry in entries:
            view.show(entry)
    else:
        shown = [replace(entry, data=redact(dict(entry.data))) for entry in entries]
        typer.echo(transcript(replace(row, title=redact(row.title)), shown), nl=False)
    return 0


@command
def up(*, json: AsJson = False) -> int:
    """Start the stack on this machine, or repair it."""
    from opspilot.cli.jsonlines import json_line

    endpoint = _endpoint(_settings(), local=True, asking=True)
    assert endpoint is not None
    typer.echo(json_line(endpoint) if json else text("up.ready", address=endpoint.address, console=endpoint.console))
    return 0


@command
def down() -> int:
    """End the stack on this machine. Runs stay, and go on when it is started again."""
    from opspilot import embedded

    embedded.shut_down(_place(_settings()), typer.echo)
    return 0


@command
def doctor(
    *,
    local: Local = False,
    json: AsJson = False,
    fix: Annotated[bool, typer.Option("--fix", help=text("help.fix"))] = False,
    model: Annotated[bool, typer.Option("--model", help=text("help.model"))] = False,
) -> int:
    """Say what is configured, reachable and missing, and what to do about it."""
    from opspilot.cli.doctor import examine, report
    from opspilot.cli.local import remembered

    settings = _settings()
    if model:
        from opspilot.probing import examine_model

        findings = examine_model(settings.model)
    else:
        # Who only looks starts nothing.
        endpoint = _endpoint(settings, local=local, asking=fix) if local or fix else remembered(settings)
        findings = examine(settings, _principal(), endpoint.address if endpoint else None, repair=fix)

    return _run(report(findings, typer.echo, as_json=json))


# ---------------------------------------------------------------- wiring


def _settings() -> "Settings":
    from opspilot.settings import load_settings

    return load_settings()


def _place(settings: "Settings") -> "Place":
    from opspilot.cli.local import place

    return place(settings, Path(__file__).resolve().parent, os.environ)


def _endpoint(settings: "Settings", *, local: bool, asking: bool = False) -> "Endpoint | None":
    from opspilot.cli.local import endpoint

    return endpoint(settings, lambda: _place(settings), _say, wished=local, asking=asking)


def _principal() -> "Principal":
    from opspilot.core.interrupts import Principal

    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = str(os.getuid())
    return Principal(user, user, method="local")


def _journal(settings: "Settings") -> Any:
    from contextlib import closing

    from opspilot.journal.store import SqlJournal

    settings.make_state_dir()
    return closing(SqlJournal(settings.journal))


@asynccontextmanager
async def _pilot(
    settings: "Settings", endpoint: "Endpoint | None"
) -> AsyncIterator[tuple["OpsPilot", "Callable[[bool], Attendant]"]]:
    """The client, and a function that makes an attendant for it."""
    from opspilot.cli.attendant import Attendant
    from opspilot.cli.prompting import Prompt
    from opspilot.client import OpsPilot
    from opspilot.temporal import connect
    from opspilot.tools.redaction import redact

    client = await connect(endpoint.address if endpoint else None)
    with _journal(settings) as journal:
        pilot = OpsPilot(client, journal, _principal(), settings.temporal.task_queue, redact)
        console = endpoint.console if endpoint else _default_console(client.service_client.config.target_host)

        def attendant(json: bool) -> Attendant:
            at_a_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not json
            prompt = Prompt(sys.stdin.fileno(), _say) if at_a_terminal else None
            return Attendant(
                pilot, _principal(), _view(json=json, address=console, namespace=client.namespace), _say, prompt
            )

        yield pilot, attendant


async def _say_when_nobody_works(pilot: "OpsPilot") -> None:
    await asyncio.sleep(PATIENCE_SECONDS)
    if await pilot.has_worker() is False:
        _say(text("attend.no_worker_yet"))


def _default_console(target: str) -> str:
    """A development server's console stands 1000 ports above; elsewhere nobody can know."""
    host, _, port = target.rpartition(":")
    return f"http://{host}:8233" if host in {"localhost", "127.0.0.1"} and port == "7233" else ""


def _view(*, json: bool, address: str = "", namespace: str = "default") -> "View":
    from opspilot.cli.jsonlines import JsonView
    from opspilot.cli.terminal import TerminalView
    from opspilot.tools.redaction import redact

    return JsonView(sys.stdout, redact) if json else TerminalView(sys.stdout, namespace, address)


def _say(sentence: str) -> None:
    from opspilot.cli.folding import printable

    # Where nobody can be told, the exit status has to do.
    with suppress(OSError):
        print(printable(sentence), file=sys.stderr, flush=True)  # noqa: T201 a command line talks


def _run(work: Coroutine[Any, Any, int]) -> int:
    return int(asyncio.run(work))


def _tools() -> typer.Typer:
    from opspilot.cli.tool_commands import tool_commands

    return tool_commands(command, _principal)


app.add_typer(_tools(), name="tools")


def main() -> None:
    """Run a command."""
    from opspilot.cli.failing import sentence_of, status_of
    from opspilot.cli.streams import be_complete, leave

    program = Path(sys.argv[0]).name
    call_program(program)
    try:
        be_complete()
        app(prog_name=program)
    except SystemExit as end:
        leave(end.code if isinstance(end.code, int) else 0)
    except (UsageError, OSError) as error:
        # Help, too, may be meant for a disk that is full.
        _say(sentence_of(error))
        leave(status_of(error))


if __name__ == "__main__":
    main()
