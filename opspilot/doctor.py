"""Looks at everything that a run needs and says what is there, what is missing, and what to do about it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from temporalio.service import RPCError

from opspilot.client import OpsPilot
from opspilot.core.errors import OpsPilotError
from opspilot.core.interrupts import Principal
from opspilot.journal.store import SqlJournal
from opspilot.settings import FILE_NAME, Settings
from opspilot.temporal import connect, require_search_attributes


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `fix` is empty when nothing has to be done."""

    name: str
    ok: bool
    text: str
    fix: str = ""


async def examine(settings: Settings, principal: Principal, address: str | None) -> AsyncIterator[Finding]:
    """Each finding as it is made. `address` is the local stack's; None means what `temporalio.envconfig` names."""
    where = str(settings.file) if settings.file else f"no {FILE_NAME} in {settings.base}, so the defaults"
    yield Finding("settings", ok=True, text=where)
    tools = ", ".join(settings.tools)
    yield Finding(
        "tools", bool(tools), tools or "none", "" if tools else f"Name some in {FILE_NAME}: [tools.search_docs]"
    )
    offline = settings.model.adapter == "demo"
    yield Finding(
        "model",
        ok=True,
        text="demo (offline), which plans by rules"
        if offline
        else f"{settings.model.adapter} {settings.model.name}".strip(),
        fix="For a real model set OPENAI_API_KEY, or model.base_url for a server of your own." if offline else "",
    )
    journal: SqlJournal | None = None
    try:
        settings.state_dir.mkdir(parents=True, exist_ok=True)
        journal = SqlJournal(settings.journal)
        yield Finding("journal", ok=True, text=f"readable, id {journal.id}")
    except (OpsPilotError, OSError) as error:
        yield Finding("journal", ok=False, text=str(error), fix="See OPSPILOT_JOURNAL and OPSPILOT_STATE_DIR.")
    async for finding in _temporal(settings, principal, address, journal):
        yield finding
    if journal is not None:
        journal.close()


async def _temporal(
    settings: Settings, principal: Principal, address: str | None, journal: SqlJournal | None
) -> AsyncIterator[Finding]:
    try:
        client = await connect(address)
    except OpsPilotError as error:
        yield Finding("temporal", ok=False, text=str(error), fix="starter.py up")
        return
    where = f"{client.service_client.config.target_host}, namespace {client.namespace}"
    yield Finding("temporal", ok=True, text=f"answers at {where}")
    try:
        await require_search_attributes(client)
        yield Finding("search attributes", ok=True, text="all there")
    except OpsPilotError as error:
        text, _, fix = str(error).partition(" Register them: ")
        yield Finding("search attributes", ok=False, text=text, fix=fix)
    except RPCError as error:
        yield Finding("search attributes", ok=False, text=error.message, fix="May this user call the operator service?")
    if journal is None:
        return
    pilot = OpsPilot(client, journal, principal, settings.temporal.task_queue)
    queue = f"task queue {settings.temporal.task_queue}"
    if await pilot.has_worker():
        yield Finding("worker", ok=True, text=f"asks for work on {queue}")
    else:
        yield Finding("worker", ok=False, text=f"none asks for work on {queue}", fix="python worker.py")
