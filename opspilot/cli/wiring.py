"""From settings to what a command needs: who is asking, the journal, the client with its attendant, the view.

Knows no command. Whatever is slow to import waits here until a command needs it.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from opspilot.cli.streams import say
from opspilot.core.errors import OpsPilotError
from opspilot.texts.language import text

if TYPE_CHECKING:
    from opspilot.cli.attendant import Attendant, View
    from opspilot.cli.remote import Answers
    from opspilot.client import OpsPilot
    from opspilot.core.interrupts import Principal
    from opspilot.place import Endpoint
    from opspilot.settings import Settings

PATIENCE_SECONDS = 2.0
"""How long a question may wait for a worker before the person is told what it waits for."""

LISTED = 200
"""How many sessions the shell is offered."""


def load() -> "Settings":
    """The settings. Raises `UsageError` for wrong ones."""
    from opspilot.settings import load_settings

    return load_settings()


def principal(settings: "Settings") -> "Principal":
    """Who is at the command line: the user of this machine, taken at their word, with the roles that are set for it."""
    from opspilot.access.local_user import local_principal

    return local_principal(settings.local.roles)


def journal(settings: "Settings") -> Any:
    """The journal, as a context that closes it."""
    from contextlib import closing

    from opspilot.journal.store import SqlJournal

    settings.make_state_dir()
    return closing(SqlJournal(settings.journal))


@asynccontextmanager
async def pilot(
    settings: "Settings", endpoint: "Endpoint | None"
) -> AsyncIterator[tuple["OpsPilot", "Callable[[bool], Attendant]"]]:
    """The client, and a function that makes an attendant for it: with True one that prints JSON."""
    from opspilot.cli.attendant import Attendant
    from opspilot.cli.prompting import Prompt
    from opspilot.client import OpsPilot
    from opspilot.redaction import redact
    from opspilot.temporal import connect

    client = await connect(endpoint.address if endpoint else None)
    with journal(settings) as read:
        who = principal(settings)
        signing, remote = _answering(settings, endpoint)
        opspilot = OpsPilot(client, read, who, settings.temporal.task_queue, redact, signing, remote)
        console = endpoint.console if endpoint else _default_console(client.service_client.config.target_host)

        def attendant(json: bool) -> Attendant:
            prompt = Prompt(sys.stdin.fileno(), say) if at_a_terminal() and not json else None
            return Attendant(opspilot, who, view(json=json, address=console, namespace=client.namespace), say, prompt)

        yield opspilot, attendant


def at_a_terminal() -> bool:
    """Is somebody there who can be asked?"""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _answering(settings: "Settings", endpoint: "Endpoint | None") -> "tuple[bytes | None, Answers | None]":
    """How answers go: signed by this machine's user in local mode, elsewhere through the server; or as they are."""
    from opspilot.approval_key import approval_key
    from opspilot.cli.remote import answers

    if settings.web.auth == "local" or (settings.web.auth is None and endpoint is not None):
        return approval_key(settings, local=True), None
    return None, None if settings.approvals.signatures == "off" else answers(settings)


def view(*, json: bool, address: str = "", namespace: str = "default") -> "View":
    """Where entries are shown: on standard output, for a person or as JSON."""
    from opspilot.cli.jsonlines import JsonView
    from opspilot.cli.terminal import TerminalView
    from opspilot.outward import outward

    return JsonView(sys.stdout, outward) if json else TerminalView(sys.stdout, namespace, address)


async def say_when_nobody_works(opspilot: "OpsPilot") -> None:
    """After a while, say what a question that nobody took is waiting for."""
    await asyncio.sleep(PATIENCE_SECONDS)
    if await opspilot.has_worker() is False:
        say(text("attend.no_worker_yet"))


async def goes_on(opspilot: "OpsPilot", session: str) -> bool:
    """Is a run of this session open, so that a message reaches it? False also when nobody says."""
    from opspilot.core.contract import Status

    status = await opspilot.status(session)
    return status is not None and status.status is not Status.DONE


def _default_console(target: str) -> str:
    """A development server's console stands 1000 ports above; elsewhere nobody can know."""
    host, _, port = target.rpartition(":")
    return f"http://{host}:8233" if host in {"localhost", "127.0.0.1"} and port == "7233" else ""


# ---------------------------------------------------------------- what the shell offers while a name is typed


def known_sessions(incomplete: str) -> list[str]:
    """Sessions of the journal, latest first."""
    with suppress(OpsPilotError, OSError), journal(load()) as read:
        return [row.id for row in read.sessions(limit=LISTED) if row.id.startswith(incomplete)]
    return []


def known_tools(incomplete: str) -> list[str]:
    """Tools that have a table."""
    with suppress(OpsPilotError, OSError):
        return [name for name in load().tools if name.startswith(incomplete)]
    return []


def known_models(incomplete: str) -> list[str]:
    """Models that have a table, the offline one, and the default's own name."""
    from opspilot.model_settings import DEMO

    with suppress(OpsPilotError, OSError):
        settings = load()
        names = [*settings.models, DEMO, *([settings.model.name] if settings.model.has_server else [])]
        return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
    return []
