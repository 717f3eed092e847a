"""The command line, and the second composition root: settings -> client, local stack, view. Nobody imports it."""

import asyncio
import getpass
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opspilot.core.errors import OpsPilotError, Unreachable, UsageError

if TYPE_CHECKING:
    from opspilot.attendant import Attendant, View
    from opspilot.client import OpsPilot
    from opspilot.core.interrupts import Principal
    from opspilot.embedded import Endpoint, Place
    from opspilot.settings import Settings

CLOSED_PIPE = 141
"""What a shell reports of a command that writes to a pipe which nobody reads any more."""

PATIENCE_SECONDS = 2.0
"""How long a question may wait for a worker before the person is told what it waits for."""

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Ask about your systems; watch it think and act.",
)

Local = Annotated[bool, typer.Option("--local", help="Use the stack on this machine; it is started when needed.")]
Probe = Annotated[bool, typer.Option("--model", help="Ask the model at most three tiny questions; see what it can do.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one event object a line, and nothing else.")]
SessionName = Annotated[str, typer.Argument(help="The session's name, as `ask` prints it.")]


def command(work: Callable[..., int]) -> Callable[..., None]:
    """Make a function a command: what it returns is the exit status; a failure is a sentence and another status."""

    @wraps(work)
    def run(*arguments: Any, **named: Any) -> None:
        raise typer.Exit(int(_guarded(lambda: work(*arguments, **named))))

    return app.command()(run)


def _guarded(work: Callable[[], int]) -> int:
    from opspilot.attendant import ExitStatus

    try:
        status = work()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return ExitStatus.CANCELLED
    except BrokenPipeError:
        # Python would complain about what it can't flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except UsageError as error:
        _say(str(error))
        return ExitStatus.USAGE
    except Unreachable as error:
        _say(str(error))
        return ExitStatus.UNREACHABLE
    except OpsPilotError as error:
        _say(str(error))
        return ExitStatus.FAILED
    return status


@command
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know; `-` reads it from standard input.")],
    *,
    local: Local = False,
    json: AsJson = False,
    session: Annotated[str, typer.Option(help="Go on in this session, or begin one of this name.")] = "",
    only: Annotated[str, typer.Option(metavar="TOOL", help="Allow this one tool, once a step.")] = "",
    force: Annotated[bool, typer.Option("--force", help="With --only: the tool must be called first.")] = False,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many steps. Default: limits.steps.")
    ] = None,
) -> int:
    """Ask, and watch until there is an answer."""
    from opspilot import refusals
    from opspilot.client import new_session
    from opspilot.core.contract import Mode

    text = sys.stdin.read() if question == "-" else question
    refusals.check_text(text)
    if session:
        refusals.check_session(session)
    if force and not only:
        raise UsageError("--force needs --only TOOL: it says which tool must be called.")
    settings = _settings()
    endpoint = _endpoint(settings, local=local, asking=True)
    if only and endpoint and only not in settings.tools:
        raise UsageError(f"There is no tool {only}. Configured are: {', '.join(settings.tools) or 'none'}.")
    limits = settings.limits.as_limits()
    if max_steps is not None:
        limits = replace(limits, steps=max_steps)
    name = session or new_session()

    async def run() -> int:
        async with _pilot(settings, endpoint) as (pilot, attendant):
            hint = asyncio.create_task(_say_when_nobody_works(pilot))
            try:
                asked = await pilot.ask(text, name, limits=limits, mode=Mode(only or None, force))
            except asyncio.CancelledError:
                with suppress(OpsPilotError):
                    await pilot.stop(name, "Ctrl-C")
                _say(f"Stopped before the question was accepted. Was it all the same? starter.py watch {name}")
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
    approve: Annotated[bool, typer.Option("--approve", help="Let the call run as shown.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Don't let it run.")] = False,
    values: Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="Give or change a value.")] = [],  # noqa: B006 typer's way
    call: Annotated[str, typer.Option(help="Which call, such as 3.1, when several wait.")] = "",
    comment: Annotated[str, typer.Option(help="Why; the model reads it after a rejection.")] = "",
    local: Local = False,
) -> int:
    """Answer what a run waits for; without an action, list it."""
    from opspilot.answering import Reply, answer_question, chosen_action

    reply = Reply(chosen_action(approve=approve, reject=reject, values=values), call, comment, tuple(values))
    settings = _settings()
    endpoint = _endpoint(settings, local=local)

    async def run() -> int:
        async with _pilot(settings, endpoint) as (pilot, _):
            await answer_question(pilot, _principal(), session, reply, typer.echo)
            return 0

    return _run(run())


@command
def cancel(session: SessionName, *, local: Local = False) -> int:
    """Stop a session's run. What it found is kept."""
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
                            typer.echo(str(entry.data["message"]))
                            return 0
            typer.echo("Asked the run to stop; it does as soon as a worker takes notice.")
            return 0

    return _run(run())


@command
def sessions(*, json: AsJson = False) -> int:
    """List the sessions in the journal, latest first."""
    from opspilot import listing

    with _journal(_settings()) as journal:
        for row in journal.sessions():
            typer.echo(listing.session_json(row) if json else listing.session_line(row))
    return 0


@command
def show(session: SessionName, *, json: AsJson = False) -> int:
    """Print everything that was said and seen in a session."""
    settings = _settings()
    view = _view(json=json)
    with _journal(settings) as journal:
        if journal.session(session) is None:
            raise UsageError(f"There is no session {session} in this journal. `starter.py sessions` lists them.")
        for entry in journal.read(session):
            view.show(entry)
    return 0


@command
def up() -> int:
    """Start the stack on this machine, or repair it."""
    endpoint = _endpoint(_settings(), local=True, asking=True)
    assert endpoint is not None
    typer.echo(f"Temporal answers at {endpoint.address}; its console is at {endpoint.console}")
    return 0


@command
def down() -> int:
    """End the stack on this machine. Runs stay, and go on when it is started again."""
    from opspilot import embedded

    embedded.shut_down(_place(_settings()), typer.echo)
    return 0


@command
def doctor(*, local: Local = False, model: Probe = False) -> int:
    """Say what is configured, reachable and missing, and what to do about it."""
    from opspilot.doctor import examine

    settings = _settings()
    if model:
        from opspilot.probing import examine_model

        findings = examine_model(settings.model)
    else:
        endpoint = _endpoint(settings, local=local)
        findings = examine(settings, _principal(), endpoint.address if endpoint else None)

    async def run() -> int:
        well = True
        async for finding in findings:
            typer.echo(f"{'ok     ' if finding.ok else 'MISSING'} {finding.name}: {finding.text}")
            if finding.fix:
                typer.echo(f"        {finding.fix}")
            well = well and finding.ok
        return 0 if well else 1

    return _run(run())


# ---------------------------------------------------------------- wiring


def _settings() -> "Settings":
    from opspilot.settings import load_settings

    return load_settings()


def _place(settings: "Settings") -> "Place":
    from opspilot.embedded import Deadlines, Place, code_digest
    from opspilot.settings import CONFIG_VARIABLE

    root = Path(__file__).resolve().parent
    return Place(
        state=settings.state_dir.resolve(),
        worker=root / "worker.py",
        digest=code_digest(root, settings.digest()),
        # Handed on whole, unread: what of it is a setting is the worker's business.
        environment={**os.environ, **({CONFIG_VARIABLE: str(settings.file)} if settings.file else {})},
        folder=settings.base,
        task_queue=settings.temporal.task_queue,
        deadlines=Deadlines(drain=settings.worker.graceful_shutdown_seconds + 10),
    )


def _endpoint(settings: "Settings", *, local: bool, asking: bool = False) -> "Endpoint | None":
    """The local stack, brought up, when it is wanted; None means the Temporal that `temporalio.envconfig` names."""
    from temporalio.envconfig import ClientConfig

    from opspilot import embedded

    if not local and (ClientConfig.load_client_connect_config() or not embedded.wanted(settings.state_dir)):
        return None
    prepare = settings.local.prepare if asking else ()
    return embedded.ensure(_place(settings), _say, prepare=prepare, any_worker=not asking)


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

    settings.state_dir.mkdir(parents=True, exist_ok=True)
    return closing(SqlJournal(settings.journal))


@asynccontextmanager
async def _pilot(
    settings: "Settings", endpoint: "Endpoint | None"
) -> AsyncIterator[tuple["OpsPilot", "Callable[[bool], Attendant]"]]:
    """The client, and a function that makes an attendant for it."""
    from opspilot.attendant import Attendant
    from opspilot.client import OpsPilot
    from opspilot.prompting import Prompt
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
        _say("No worker is running; waiting for one. Start it with: python worker.py")


def _default_console(target: str) -> str:
    """A development server's console stands 1000 ports above; elsewhere nobody can know."""
    host, _, port = target.rpartition(":")
    return f"http://{host}:8233" if host in {"localhost", "127.0.0.1"} and port == "7233" else ""


def _view(*, json: bool, address: str = "", namespace: str = "default") -> "View":
    from opspilot.terminal import JsonView, TerminalView

    return JsonView(sys.stdout) if json else TerminalView(sys.stdout, namespace, address)


def _say(sentence: str) -> None:
    from opspilot.terminal import printable

    print(printable(sentence), file=sys.stderr, flush=True)  # noqa: T201 a command line talks


def _run(work: Coroutine[Any, Any, int]) -> int:
    return int(asyncio.run(work))


def main() -> None:
    """Run a command."""
    app(prog_name="starter.py")


if __name__ == "__main__":
    main()
