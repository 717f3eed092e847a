"""A desk to ask from: the real client, activities, tool runtime and journal, with any tools and any model.

Owns how these are wired for tests, and how a test looks at what happened. Starts nothing by itself: the server is
given, a worker is a context that the test enters.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from activities.answers import AnswerActivities
from activities.asking import AskingActivities
from activities.journal import JournalActivities
from activities.model import ModelActivities
from activities.notifying import NotifyingActivities
from activities.tools import ToolActivities
from opspilot.client import Asked, OpsPilot
from opspilot.core.budget import Budget
from opspilot.core.contract import Mode, RunResult, RunStatus, Status
from opspilot.core.cost import Price
from opspilot.core.entries import Entry, Kind
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import Limits
from opspilot.core.messages import Json
from opspilot.core.policy import RUN_ANYTHING, Policy
from opspilot.core.ports import Channel, Model
from opspilot.journal.store import SqlJournal
from opspilot.models.scripted import ScriptedModel, Step
from opspilot.testing.trial import TESTER
from opspilot.tools.registry import Registry, build_registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Tool, ToolPlace
from workflows.agent import AgentWorkflow


class Desk:
    """Everything that a test needs to ask, answer, stop and look. `folder` gets the journal.

    `policy` says what needs a person's agreement; with a `key` answers have to be signed with it; `channels` are told.
    `budget` and `prices` say what may be spent, and what a model of that name costs.

    `cached_workflows` 0 replays each run from its history at every step, as after a restart of the worker.
    """

    def __init__(  # noqa: PLR0913 what a test may want to be otherwise
        self,
        client: Client,
        queue: str,
        folder: Path,
        tools: Iterable[Tool],
        *,
        cached_workflows: int = 100,
        principal: Principal = TESTER,
        policy: Policy = RUN_ANYTHING,
        key: bytes | None = None,
        channels: Sequence[Channel] = (),
        budget: Budget = Budget(),
        prices: Mapping[str, Price] = MappingProxyType({}),
    ) -> None:
        self.client = client
        self.queue = queue
        self.folder = folder
        self.cached_workflows = cached_workflows
        self.principal = principal
        self.journal = SqlJournal(f"sqlite:///{folder / 'journal.sqlite'}")
        always_there = build_registry({}, ToolPlace(folder, folder, self.journal)).values()
        self.policy = policy
        self.key = key
        self.channels = channels
        self.budget = budget
        self.prices = prices
        self.tools = ToolRuntime(Registry([*tools, *always_there]), policy)
        self.opspilot = OpsPilot(client, self.journal, principal, queue)

    def worker(self, model: Model | Sequence[Step | Mapping[str, Json]], **options: Any) -> Worker:
        """A worker that thinks with this model, whatever name is asked for, or plays this script."""
        model = ScriptedModel(model) if isinstance(model, Sequence) else model

        def models(_name: str) -> Model:
            return model

        keeping = JournalActivities(self.journal, self.tools, models, "You are a test.", notifies=bool(self.channels))
        asking = AskingActivities(self.journal, self.policy.terms)
        return Worker(
            self.client,
            task_queue=self.queue,
            workflows=[AgentWorkflow],
            activities=[
                keeping.open_run,
                keeping.record,
                keeping.settle,
                keeping.close_run,
                ModelActivities(self.journal, self.tools, models, self.budget, self.prices).call_model,
                ToolActivities(self.journal, self.tools).run_tool,
                AnswerActivities(self.journal, self.tools, self.key).judge,
                asking.ask_to_go_on,
                asking.climb,
                NotifyingActivities(self.journal, self.channels, self.tools.redact).notify,
            ],
            max_cached_workflows=self.cached_workflows,
            max_heartbeat_throttle_interval=timedelta(seconds=1),
            default_heartbeat_throttle_interval=timedelta(seconds=1),
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
            **options,
        )

    async def ask(
        self,
        text: str = "What is going on?",
        session: str | None = None,
        limits: Limits = Limits(),
        mode: Mode = Mode(),
    ) -> Asked:
        """Ask, and return on the receipt."""
        return await self.opspilot.ask(text, session, limits=limits, mode=mode)

    async def result(self, asked: Asked) -> RunResult:
        """How the run of this message ended, seen from Temporal."""
        return await self.handle(asked.session).result()

    def handle(self, session: str) -> WorkflowHandle[Any, RunResult]:
        """The session's latest run in Temporal."""
        return self.client.get_workflow_handle(session, result_type=RunResult)

    def entries(self, session: str, *kinds: Kind) -> list[Entry]:
        """The session's entries, of these kinds or all."""
        return [entry for entry in self.journal.read(session) if not kinds or entry.kind in kinds]

    def results(self, session: str) -> dict[str, dict[str, Json]]:
        """Call -> data of its `tool.result`, of the session's latest run with calls. Fails when one has two."""
        entries = self.entries(session, Kind.TOOL_RESULT)
        calls = [(entry.run, entry.call) for entry in entries]
        assert len(calls) == len(set(calls)), calls
        return {str(entry.call): dict(entry.data) for entry in entries}

    def codes(self, session: str) -> dict[str, str]:
        """Call -> error code of its observation, `ok` when it went well."""
        return {call: "ok" if data["ok"] else data["errorCode"] for call, data in self.results(session).items()}

    async def until(self, session: str, *kinds: Kind, count: int = 1) -> Entry:
        """Wait until the journal holds so many entries of these kinds; the last of them."""
        async for entry in self.opspilot.watch(session):
            if entry.kind in kinds:
                count -= 1
                if not count:
                    return entry
        raise AssertionError

    async def waiting(self, session: str, questions: int = 1) -> RunStatus:
        """Wait until the run asks so many questions."""
        while True:
            status = await self.opspilot.status(session)
            if status and status.status is Status.WAITING and len(status.questions) == questions:
                return status
            await asyncio.sleep(0.02)

    async def asks(self, session: str, interrupt: str) -> None:
        """Wait until the run itself asks what the journal shows a moment before, or has ended."""
        while True:
            status = await self.opspilot.status(session)
            if status and (
                status.status is Status.DONE or interrupt in {asked.interrupt for asked in status.questions}
            ):
                return
            await asyncio.sleep(0.02)

    async def answer(
        self, session: str, interrupt: str, action: AnswerAction, by: Principal | None = None, **more: Any
    ) -> None:
        """Answer one question, as the principal who asked or as somebody else."""
        await self.opspilot.answer(session, Answer(uuid4().hex, interrupt, action, by or self.principal, **more))
