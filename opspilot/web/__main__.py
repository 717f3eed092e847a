"""The web server: settings -> Temporal (when it is needed), journal, key, people -> the application, on a port.

A process; nobody imports it. It serves from the journal while Temporal and the workers are away, drains on SIGTERM, and
refuses to start, in a sentence, with settings that can't be.
"""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import structlog
import uvicorn
from starlette.types import ASGIApp
from temporalio.client import Client

from opspilot.access.links import forget_address, new_link_token, sign_in_url, write_address
from opspilot.approval_key import approval_key
from opspilot.core.errors import OpsPilotError, UsageError
from opspilot.ghosts import Ghosts
from opspilot.journal.store import SqlJournal
from opspilot.logging import configure_logging
from opspilot.model_settings import DEMO
from opspilot.redaction import redact
from opspilot.sections.web import LOOPBACK
from opspilot.settings import Settings, load_settings
from opspilot.standing_tools import with_standing
from opspilot.temporal import connect
from opspilot.texts.language import text
from opspilot.web.app import create_app
from opspilot.web.backend import Backend
from opspilot.web.live import Live
from opspilot.web.people.ways import people

READING_THREADS = 16
DRAIN_SECONDS = 10
"""How long requests may take to end when the server is asked to."""

log = structlog.stdlib.get_logger("web")


class Server(uvicorn.Server):
    """Leaves signals to us: uvicorn's own way of taking them ends the process by the signal, not with a status."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing."""
        yield


async def serve(settings: Settings, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. In local mode `say` is given the address, at a terminal one that signs in."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(READING_THREADS, "reading"))
    web, local = settings.web, settings.web.mode == "local"
    key = approval_key(settings, local=local)
    settings.make_state_dir()
    with _listening(web.host, web.port) as listener:
        port = listener.getsockname()[1]
        own_address = f"http://{f'[{web.host}]' if ':' in web.host else web.host}:{port}"
        journal = SqlJournal(settings.journal)
        try:
            known = people(web, settings.state_dir, settings.local.roles, journal, approval_key=key, port=port)
            temporal = await connect(lazy=True)
            ghosts = Ghosts(temporal, journal)
            backend = _backend(settings, temporal, journal, ghosts, key)
            names = LOOPBACK | {urlsplit(web.url).hostname or web.host}
            app = create_app(backend, known, hosts=names if local else ())
            server = Server(_configured(app))
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, server.handle_exit, number, None)
            address = web.url or own_address
            if local:
                _announce(settings.state_dir, address, say)
            log.info("web server is up", address=address, auth=web.mode, journal=journal.id, signed=key is not None)
            sweeping = asyncio.create_task(ghosts.keep_sweeping())
            await server.serve(sockets=[listener])
            sweeping.cancel()
            log.info("web server is down")
        finally:
            journal.close()
            if local:
                forget_address(settings.state_dir, web.url or own_address)


def _configured(app: ASGIApp) -> uvicorn.Config:
    """The options are chosen, not inherited; each says why."""
    return uvicorn.Config(
        app,
        # Its own lines would not be JSON; and those about requests hold whole addresses, which may sign somebody in.
        log_config=None,
        access_log=False,
        # Who speaks for somebody else is decided by `web.proxy.addresses`, not by a header.
        proxy_headers=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )


def _backend(settings: Settings, temporal: Client, journal: SqlJournal, ghosts: Ghosts, key: bytes | None) -> Backend:
    names = [*settings.models, DEMO, *([settings.model.name] if settings.model.has_server else [])]
    return Backend(
        temporal=temporal,
        journal=journal,
        live=Live(journal, ghosts.look),
        task_queue=settings.temporal.task_queue,
        key=key,
        limits=settings.limits.as_limits(),
        tools=with_standing(settings.tools),
        models=tuple(dict.fromkeys(names)),
        console=settings.web.console,
    )


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise UsageError(text("web.port", host=host, port=port, why=error.strerror)) from None
    with listener:
        yield listener


def _announce(state: Path, address: str, say: Callable[[str], None]) -> None:
    try:
        write_address(state, address)
    except OSError as error:
        raise UsageError(text("access.link.unmade", folder=state, why=error.strerror)) from None
    # What is not read by a person may be a log, where no address that signs in belongs.
    link = sign_in_url(address, new_link_token(state)) if sys.stdout.isatty() else address
    say(text("web.open", url=link))


def main() -> None:
    """Exit status 2 for settings that can't be, 5 when the journal can't be used."""
    try:
        settings = load_settings()
        configure_logging(settings.log_level, redact)
        asyncio.run(serve(settings, lambda sentence: print(sentence, flush=True)))  # noqa: T201 for whoever started it
    except OpsPilotError as error:
        print(error, file=sys.stderr)  # noqa: T201 a process tells whoever started it
        sys.exit(2 if isinstance(error, UsageError) else 5)


if __name__ == "__main__":
    main()
