"""The worker: settings -> adapters -> activities -> a Temporal worker. A process; nobody imports it.

It drains on SIGTERM, and refuses to start, in a sentence, without a server, search attributes, or valid settings.
"""

import asyncio
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import structlog
from temporalio.client import Client
from temporalio.worker import Worker

from activities.answers import AnswerActivities
from activities.asking import AskingActivities
from activities.journal import JournalActivities
from activities.model import ModelActivities
from activities.notifying import NotifyingActivities
from activities.prompt import system_prompt
from activities.tools import ToolActivities
from opspilot.approval_key import approval_key
from opspilot.channels import build_channels
from opspilot.choosing import ChosenModels
from opspilot.core.errors import OpsPilotError, UsageError
from opspilot.core.ports import Journal, Models
from opspilot.journal.store import SqlJournal
from opspilot.logging import configure_logging
from opspilot.redaction import redact
from opspilot.settings import Settings, load_settings
from opspilot.temporal import connect, require_search_attributes
from opspilot.tools.registry import build_registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import ToolPlace
from workflows.agent import AgentWorkflow

JOURNAL_THREADS = 16
"""The default executor serves the journal alone; tools have threads of their own, so that none of them can stall it."""

log = structlog.stdlib.get_logger("worker")


def build_worker(client: Client, settings: Settings, journal: Journal, models: Models, key: bytes | None) -> Worker:
    """Everything wired. The options are chosen, not inherited; each says why."""
    place = ToolPlace(base=settings.base, state=settings.state_dir, journal=journal)
    policy = settings.policy.as_policy()
    tools = ToolRuntime(build_registry(settings.tools, place), policy)
    prices = {name: price.as_price() for name, price in settings.prices.items()}
    channels = build_channels(settings, os.environ)
    keeping = JournalActivities(journal, tools, models, system_prompt(), notifies=bool(channels))
    thinking = ModelActivities(journal, tools, models, settings.budget.as_budget(), prices)
    acting = ToolActivities(journal, tools)
    answering = AnswerActivities(journal, tools, key)
    asking = AskingActivities(journal, policy.terms)
    notifying = NotifyingActivities(journal, channels, redact)
    return Worker(
        client,
        task_queue=settings.temporal.task_queue,
        workflows=[AgentWorkflow],
        activities=[
            keeping.open_run,
            keeping.record,
            keeping.settle,
            keeping.close_run,
            thinking.call_model,
            acting.run_tool,
            answering.judge,
            asking.ask_to_go_on,
            asking.climb,
            notifying.notify,
        ],
        max_cached_workflows=settings.worker.max_cached_workflows,
        max_concurrent_activities=settings.worker.max_concurrent_activities,
        # After a kill the next worker waits this long for the dead one (default 10 s). Below 2 s a busy machine pays.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
        # A cancel travels by heartbeat: with the default throttle of up to 60 s it would take a tool's time limit.
        max_heartbeat_throttle_interval=timedelta(seconds=1),
        default_heartbeat_throttle_interval=timedelta(seconds=1),
        # Longer than the longest write: with too short a grace a finished write looks like a failed one.
        graceful_shutdown_timeout=timedelta(seconds=settings.worker.graceful_shutdown_seconds),
        # A step's parallel reads start in the workflow task that proposed them; the default of 3 would split them.
        max_eager_activity_reservations_per_workflow_task=settings.limits.parallel_calls,
    )


async def run() -> None:
    """Serve until SIGTERM or SIGINT, then finish what is running and leave."""
    settings = load_settings()
    configure_logging(settings.log_level, redact)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(JOURNAL_THREADS, "journal"))
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    key = approval_key(settings, local=settings.web.mode == "local")
    client = await connect()
    await require_search_attributes(client)
    models = ChosenModels(settings)
    journal = SqlJournal(settings.journal)
    try:
        async with build_worker(client, settings, journal, models, key):
            log.info("worker is up", model=models("").name, task_queue=settings.temporal.task_queue, journal=journal.id)
            await stop.wait()
            log.info("worker drains")
    finally:
        journal.close()


async def check() -> None:
    """Build what needs no server, and let go of it: whatever would keep a worker of these settings from starting."""
    settings = load_settings()
    approval_key(settings, local=settings.web.mode == "local")
    ChosenModels(settings)
    build_channels(settings, os.environ)
    journal = SqlJournal(settings.journal)
    try:
        build_registry(settings.tools, ToolPlace(base=settings.base, state=settings.state_dir, journal=journal))
    finally:
        journal.close()


def main() -> None:
    """Exit status 2 for settings that can't be, 5 for a server that does not answer. `--check` only looks."""
    try:
        asyncio.run(check() if sys.argv[1:] == ["--check"] else run())
    except OpsPilotError as error:
        print(error, file=sys.stderr)  # noqa: T201 a process tells whoever started it
        sys.exit(2 if isinstance(error, UsageError) else 5)


if __name__ == "__main__":
    main()
