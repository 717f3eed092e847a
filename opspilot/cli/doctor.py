"""Looks at everything that a run needs and says what is there, what is missing, and what to do about it.

With `repair` it does what it can itself: folders and who can read them, the index of documents, search attributes.
Starts no process.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from opspilot import stack, stack_web
from opspilot.access.key_file import WEB_KEY
from opspilot.access.privacy import is_open, make_private
from opspilot.approval_key import FILE_NAME as APPROVAL_KEY
from opspilot.channels import build_webhook
from opspilot.cli.jsonlines import json_line
from opspilot.client import OpsPilot
from opspilot.core.errors import OpsPilotError
from opspilot.core.interrupts import Principal
from opspilot.journal.store import SqlJournal
from opspilot.model_settings import ModelSettings
from opspilot.notifying.webhook import public_address
from opspilot.place import Place
from opspilot.settings import FILE_NAME, Settings
from opspilot.temporal import connect, register_search_attributes, require_search_attributes
from opspilot.texts.folding import printable
from opspilot.texts.language import text
from opspilot.tools.builtin.docs.index import DocsIndex, IndexBusy
from opspilot.tools.registry import build_registry
from opspilot.tools.spec import ToolPlace

REGISTER_SECONDS = 30.0
WEB_SECONDS = 20.0
"""A web server that has just been started needs a moment."""
DOCUMENTS = "search_docs"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `fix` is empty when nothing has to be done."""

    name: str
    ok: bool
    text: str
    fix: str = ""


async def examine(
    settings: Settings, principal: Principal, address: str | None, local: Place | None = None, *, repair: bool = False
) -> AsyncIterator[Finding]:
    """Each finding as it is made.

    `address` is that of the stack `local`; None means what `temporalio.envconfig` names.
    """
    yield Finding("settings", ok=True, text=_where(settings))
    for name, model in {"": settings.model, **settings.models}.items():
        yield _model(f"model {name}".strip(), model)
    yield _state_folder(settings, repair=repair)
    for finding in _privacy(settings, repair=repair):
        yield finding
    journal = _journal(settings)
    yield journal if isinstance(journal, Finding) else Finding("journal", True, text("doctor.journal", id=journal.id))
    for finding in await asyncio.to_thread(lambda: list(_tools(settings, repair=repair))):
        yield finding
    for finding in _channels(settings):
        yield finding
    if local is not None:
        yield await asyncio.to_thread(_web, local)
    try:
        client = await connect(address)
    except OpsPilotError as error:
        yield Finding("temporal", ok=False, text=str(error), fix=text("doctor.temporal.fix"))
    else:
        where = client.service_client.config.target_host
        yield Finding("temporal", ok=True, text=text("doctor.temporal", where=where, namespace=client.namespace))
        yield await _search_attributes(client, repair=repair)
        if isinstance(journal, SqlJournal):
            yield await _worker(settings, OpsPilot(client, journal, principal, settings.temporal.task_queue))
    finally:
        if isinstance(journal, SqlJournal):
            journal.close()


async def report(findings: AsyncIterator[Finding], print_line: Callable[[str], None], *, as_json: bool) -> int:
    """Print each finding as it comes. The exit status: 0 when all is well, else 1."""
    well = True
    async for finding in findings:
        well = well and finding.ok
        if as_json:
            print_line(json_line(finding))
            continue
        mark = text("doctor.ok") if finding.ok else text("doctor.missing")
        print_line(printable(f"{mark:<7} {finding.name}: {finding.text}"))
        if finding.fix:
            print_line(printable(f"        → {finding.fix}"))
    return 0 if well else 1


def _where(settings: Settings) -> str:
    if settings.file:
        return str(settings.file)
    return text("doctor.settings.none", file=FILE_NAME, folder=settings.base)


def _model(name: str, model: ModelSettings) -> Finding:
    if model.adapter == "demo":
        return Finding(name, ok=True, text=text("doctor.model.demo"), fix=text("doctor.model.fix"))
    what = f"{model.adapter} {model.name}".strip()
    where = text("doctor.model.at", where=model.base_url) if model.base_url else ""
    return Finding(name, ok=True, text=what + where)


def _state_folder(settings: Settings, *, repair: bool) -> Finding:
    folder = settings.state_dir
    if repair:
        try:
            settings.make_state_dir()
        except OpsPilotError as error:
            return Finding("state", ok=False, text=str(error), fix=text("doctor.state.elsewhere"))
    if folder.is_dir():
        return Finding("state", ok=True, text=str(folder))
    return Finding("state", ok=False, text=text("doctor.state.none", folder=folder), fix=text("doctor.fix"))


def _privacy(settings: Settings, *, repair: bool) -> Iterator[Finding]:
    """Whether anybody else on this machine can read what was said and seen, or a key; nothing of what isn't there."""
    journal, key_file = _journal_file(settings), settings.approvals.key_file
    inside = [settings.state_dir / name for name in (APPROVAL_KEY, WEB_KEY, "temporal.db", "stack.json")]
    elsewhere = [settings.web.tokens_file, key_file, journal]
    beside = [journal.with_name(f"{journal.name}-{end}") for end in ("wal", "shm")] if journal else []
    files = [settings.state_dir, *inside, *filter(None, elsewhere), *beside]
    if not any(path.exists() for path in files):
        return
    open_ = list(dict.fromkeys(filter(is_open, files)))
    listed = ", ".join(map(str, open_))
    if not open_:
        yield Finding("private", ok=True, text=text("access.private"))
    elif not repair:
        yield Finding("private", ok=False, text=text("access.open", paths=listed), fix=text("doctor.fix"))
    else:
        try:
            for path in open_:
                make_private(path)
        except OSError as error:
            why = text("access.not_closed", path=error.filename, why=error.strerror)
            yield Finding("private", ok=False, text=why, fix=text("access.chmod", path=error.filename))
        else:
            yield Finding("private", ok=True, text=text("access.closed", paths=listed))


def _journal_file(settings: Settings) -> Path | None:
    """None: it is in a database server."""
    path = settings.journal.removeprefix("sqlite:///")
    return Path(path) if path != settings.journal else None


def _journal(settings: Settings) -> SqlJournal | Finding:
    path = _journal_file(settings)
    if path is not None and not path.parent.is_dir():
        return Finding("journal", ok=False, text=text("doctor.journal.none", path=path), fix=text("doctor.fix"))
    try:
        return SqlJournal(settings.journal)
    except (OpsPilotError, OSError) as error:
        return Finding("journal", ok=False, text=str(error), fix=text("doctor.journal.fix"))


def _tools(settings: Settings, *, repair: bool) -> Iterator[Finding]:
    """One finding for each table, so that one wrong tool doesn't hide the others."""
    if not settings.tools:
        yield Finding("tools", ok=False, text=text("doctor.tools.none"), fix=text("doctor.tools.fix", file=FILE_NAME))
    place = ToolPlace(base=settings.base, state=settings.state_dir, journal=None)
    always_there = set(build_registry({}, place)) - set(settings.tools)
    for name, table in settings.tools.items():
        try:
            built = build_registry({name: table}, place)
        except OpsPilotError as error:
            yield Finding(f"tool {name}", ok=False, text=str(error), fix=text("doctor.tool.fix", name=name))
            continue
        use = str(table.get("use", name))
        path = table.get("path")
        folder = None if ":" in use or not isinstance(path, str) else settings.base / Path(path).expanduser()
        if folder is not None and not folder.exists():
            missing = text("doctor.tool.nothing", path=folder)
            yield Finding(f"tool {name}", ok=False, text=missing, fix=text("doctor.tool.path", name=name))
        elif folder is not None and use == DOCUMENTS:
            yield _documents(name, folder, settings.state_dir, repair=repair)
        else:
            effects = ", ".join(
                f"{tool.name} ({tool.effect})" for tool in built.values() if tool.name not in always_there
            )
            source = folder or (use if use != name else None)
            where = text("doctor.tool.from", path=source) if source else ""
            yield Finding(f"tool {name}", ok=True, text=effects + where)


def _documents(name: str, folder: Path, state: Path, *, repair: bool) -> Finding:
    index = DocsIndex(folder, state)
    if not repair:
        count = len(index.paths())
        fix = "" if count else text("doctor.documents.fix", name=name)
        return Finding(f"tool {name}", bool(count), text("doctor.documents", count=count, folder=folder), fix)
    try:
        found = index.search(name, "", 1, 1)
    except (IndexBusy, OSError) as error:
        return Finding(f"tool {name}", ok=False, text=str(error), fix=text("doctor.documents.busy"))
    problems = "".join(f"\n{problem}" for problem in found.problems)
    indexed = text("doctor.documents.indexed", count=found.documents, folder=folder)
    return Finding(f"tool {name}", ok=bool(found.documents), text=indexed + problems)


def _channels(settings: Settings) -> Iterator[Finding]:
    """Who is told that a run waits. Of an address only what is no secret is shown."""
    notify = settings.notify
    if not notify.webhooks and not notify.commands:
        yield Finding("notify", ok=True, text=text("doctor.notify.none"))
    for webhook in notify.webhooks:
        try:
            channel = build_webhook(webhook, settings)
        except OpsPilotError as error:
            yield Finding(f"notify {webhook.name}", ok=False, text=str(error), fix=text("doctor.notify.fix"))
            continue
        where = text("doctor.notify.webhook", where=public_address(channel.url))
        signed = text("doctor.notify.signed") if channel.key else ""
        yield Finding(f"notify {webhook.name}", ok=True, text=where + signed)
    for command in notify.commands:
        said = text("doctor.notify.command", command=command.command[0])
        yield Finding(f"notify {command.name}", ok=True, text=said)


def _web(local: Place) -> Finding:
    url = stack_web.address_of(stack.load(local.file))
    if stack_web.answers(local, WEB_SECONDS):
        return Finding("web", ok=True, text=text("doctor.web", url=url))
    said = text("doctor.web.silent", url=url, log=local.web_log, line=stack.last_line(local.web_log))
    return Finding("web", ok=False, text=said.rstrip(" :："), fix=text("doctor.temporal.fix"))


async def _search_attributes(client: Client, *, repair: bool) -> Finding:
    name = "search attributes"
    try:
        if repair:
            async with asyncio.timeout(REGISTER_SECONDS):
                added = await register_search_attributes(client)
            if added:
                return Finding(name, ok=True, text=text("doctor.attributes.added", names=", ".join(added)))
        await require_search_attributes(client)
    except OpsPilotError as error:
        missing, _, command = str(error).partition(" Register them: ")
        return Finding(name, ok=False, text=missing, fix=text("doctor.attributes.fix", command=command))
    except TimeoutError:
        return Finding(name, ok=False, text=text("doctor.attributes.slow", seconds=f"{REGISTER_SECONDS:g}"))
    except RPCError as error:
        return Finding(name, ok=False, text=error.message, fix=text("doctor.attributes.refused"))
    return Finding(name, ok=True, text=text("doctor.attributes"))


async def _worker(settings: Settings, pilot: OpsPilot) -> Finding:
    queue = settings.temporal.task_queue
    if await pilot.has_worker():
        return Finding("worker", ok=True, text=text("doctor.worker", queue=queue))
    return Finding("worker", ok=False, text=text("doctor.worker.none", queue=queue), fix=text("doctor.worker.fix"))
