"""Activities without a server: real journal, real tool runtime, each attempt in an environment of its own."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from temporalio.testing import ActivityEnvironment

from activities.answers import AnswerActivities
from activities.journal import JournalActivities
from activities.model import ModelActivities
from activities.tools import ToolActivities
from opspilot.core.budget import Budget
from opspilot.core.calls import Gate, Verdict, digest
from opspilot.core.contract import (
    AnswerJudged,
    CallModel,
    CloseRun,
    JudgeAnswer,
    Mode,
    ModelOutcome,
    Opened,
    OpenRun,
    RunTool,
    Settle,
    ToolOutcome,
    UserMessage,
)
from opspilot.core.cost import Price
from opspilot.core.entries import Entry, Kind, call_key
from opspilot.core.interrupts import Answer, AnswerAction, Interrupt, InterruptType, Principal
from opspilot.core.limits import Limits, StopReason
from opspilot.core.messages import Json, ModelReply, ModelRequest, ProtocolCall, Usage
from opspilot.core.observations import ErrorCode
from opspilot.core.policy import RUN_ANYTHING, Policy
from opspilot.core.ports import CallContext, Model, Models
from opspilot.journal.store import SqlJournal
from opspilot.models.scripted import ScriptedModel
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Tool, tool
from tests.workflows.toolbox import toolbox

SESSION = "ops-test"
ME = Principal("tester", "Tess", ("engineer",))
NOON = 1_800_000_000.0
Order = TypeVar("Order")
Outcome = TypeVar("Outcome")


class CarefulRuntime(ToolRuntime):
    """Holds every write for a person, as a policy will."""

    def judge(self, name: str, arguments: Any, principal: Principal) -> Verdict:
        verdict = super().judge(name, arguments, principal)
        if verdict.gate is Gate.RUN and name in {"change", "risky", "needs_place"}:
            return replace(verdict, gate=Gate.CONFIRM, rule="careful")
        return verdict


@dataclass
class Desk:
    """What one session's activities need, and the orders that a workflow would give them.

    `done` gets a line for each effect that happened; `truth` is what the tool `ship` says of a key; `go` lets
    `held_write` and `held_read` go on.
    """

    folder: Path
    session: str = SESSION
    done: list[str] = field(default_factory=list)
    truth: Callable[[str], Any] = lambda key: None
    go: asyncio.Event = field(default_factory=asyncio.Event)
    careful: bool = False
    policy: Policy = RUN_ANYTHING
    key: bytes | None = None
    budget: Budget = field(default_factory=Budget)
    prices: Mapping[str, Price] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.journal = SqlJournal(f"sqlite:///{self.folder / 'journal.sqlite'}")
        kind = CarefulRuntime if self.careful else ToolRuntime
        self.tools = kind(Registry([*toolbox(self.done), *_more_tools(self)]), self.policy)

    @property
    def keeping(self) -> JournalActivities:
        return JournalActivities(self.journal, self.tools, always(ScriptedModel([])), "You are a test.")

    @property
    def judging(self) -> AnswerActivities:
        return AnswerActivities(self.journal, self.tools, self.key)

    def environment(self, attempt: int = 1, seconds: float = 60.0) -> ActivityEnvironment:
        """One attempt at an activity with this start-to-close."""
        environment = ActivityEnvironment()
        environment.info = replace(
            environment.info,
            workflow_id=self.session,
            attempt=attempt,
            start_to_close_timeout=timedelta(seconds=seconds),
        )
        return environment

    async def do(
        self,
        activity: Callable[[Order], Awaitable[Outcome]],
        order: Order,
        *,
        attempt: int = 1,
        seconds: float = 60.0,
    ) -> Outcome:
        """Run one attempt."""
        return await self.environment(attempt, seconds).run(activity, order)

    # ------------------------------------------------------------ orders

    async def open(self, *texts: str, run: str = "run-1", at: float = NOON, user: Principal = ME) -> Opened:
        """`open_run` with messages whose ids are their texts."""
        return await self.do(self.keeping.open_run, open_order(*texts, run=run, at=at, user=user))

    async def think(
        self, model: Model | Sequence[dict[str, Any]], step: int = 1, *, run: str = "run-1", **more: Any
    ) -> ModelOutcome:
        """`call_model` with this model, or one that plays this script."""
        if isinstance(model, Sequence):
            model = ScriptedModel(model)
        named = {name: more.pop(name) for name in ("messages", "final", "grants") if name in more}
        order = CallModel(run, step, more.pop("mode", Mode()), **named)
        thinking = ModelActivities(self.journal, self.tools, always(model), self.budget, self.prices)
        return await self.do(thinking.call_model, order, **more)

    async def propose(self, *calls: dict[str, Any], run: str = "run-1", at: float = NOON) -> ModelOutcome:
        """Open a run and have its first step propose these calls."""
        await self.open("What is going on?", run=run, at=at)
        return await self.think(Says(calls=calls), run=run)

    async def act(self, call: str = "1.1", round_: int = 1, **more: Any) -> ToolOutcome:
        """`run_tool` with the digest of the recorded arguments, unless another is given."""
        order = self.round(call, round_, **{k: more.pop(k) for k in tuple(more) if k not in ("attempt", "seconds")})
        return await self.do(ToolActivities(self.journal, self.tools).run_tool, order, **more)

    def round(self, call: str = "1.1", round_: int = 1, run: str = "run-1", **more: Any) -> RunTool:
        """The order to run a round of a call."""
        proposed = self.journal.find(self.session, [call_key(run, call)])[call_key(run, call)]
        more.setdefault("digest", digest(proposed.data["arguments"]))
        return RunTool(run, call, round_, **more)

    async def settle(self, call: str = "1.1", round_: int = 1, code: ErrorCode = ErrorCode.TOOL_FAILED) -> ToolOutcome:
        return await self.do(self.keeping.settle, Settle("run-1", call, round_, code))

    async def judge(self, action: AnswerAction, interrupt: str = "1.1#1", id: str = "a-1", **more: Any) -> AnswerJudged:
        answer = Answer(id, interrupt, action, more.pop("principal", ME), **more)
        return await self.do(self.judging.judge, JudgeAnswer("run-1", answer))

    @property
    def question(self) -> str:
        """The id of the one question that was asked."""
        return str(self.only(Kind.INTERRUPT_OPENED).data["interrupt"])

    async def close(self, reason: StopReason, step: int = 1, nth: int = 1, **more: Any) -> None:
        order = CloseRun(
            run=more.pop("run", "run-1"),
            nth=nth,
            at=NOON + 60 * nth,
            reason=reason,
            message="It ended.",
            steps=more.pop("steps", step),
            step=step,
            usage=Usage(7, 3),
            **more,
        )
        await self.do(self.keeping.close_run, order)

    # ------------------------------------------------------------ looking

    def entries(self, *kinds: Kind) -> list[Entry]:
        """The session's entries, of these kinds or all."""
        return [entry for entry in self.journal.read(self.session) if not kinds or entry.kind in kinds]

    def only(self, kind: Kind) -> Entry:
        """The one entry of this kind."""
        (entry,) = self.entries(kind)
        return entry

    def codes(self, run: str = "run-1") -> dict[str, str]:
        """Call -> `ok` or the error code of its one result. Fails when a call has two."""
        results = [entry for entry in self.entries(Kind.TOOL_RESULT) if entry.run == run]
        codes = {str(entry.call): "ok" if entry.data["ok"] else entry.data["errorCode"] for entry in results}
        assert len(codes) == len(results)
        return codes


def open_order(*texts: str, run: str = "run-1", at: float = NOON, user: Principal = ME) -> OpenRun:
    messages = tuple(UserMessage(text, text) for text in texts)
    return OpenRun(run, at, user, Mode(), Limits(), messages)


def call(name: str, /, **arguments: Json) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def always(model: Model) -> Models:
    """This model, whatever name is asked for."""
    return lambda _name: model


class Says(Model):
    """A model with one reply, whatever it is asked; `until` is waited for after its text."""

    def __init__(
        self, text: str = "", calls: Sequence[dict[str, Any]] = (), *, until: asyncio.Event | None = None, **more: Any
    ) -> None:
        protocol = tuple(
            ProtocolCall(f"c{number}", call["name"], json.dumps(call["arguments"]))
            for number, call in enumerate(calls, start=1)
        )
        self._reply = ModelReply(text, protocol, **more)
        self._until = until
        self.asked: list[ModelRequest] = []
        self.said = asyncio.Event()

    @property
    def name(self) -> str:
        return "says"

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        self.asked.append(request)
        on_text(self._reply.text)
        self.said.set()
        if self._until is not None:
            await self._until.wait()
        return self._reply


class Fails(Model):
    """A model that says something and then raises."""

    def __init__(self, error: Exception, text: str = "") -> None:
        self._error = error
        self._text = text

    @property
    def name(self) -> str:
        return "fails"

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        on_text(self._text)
        raise self._error


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a state."""
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def _more_tools(desk: Desk) -> tuple[Tool, ...]:
    def truth(key: str) -> Any:
        return desk.truth(key)

    @tool(reconcile=truth)
    def ship(name: str) -> str:
        """Change something that can be asked about later."""
        desk.done.append(f"shipped {name}")
        return f"shipped {name}"

    @tool(idempotent=True)
    def tidy(context: CallContext, name: str) -> str:
        """Change something that may be done twice."""
        desk.done.append(f"tidied {name} {context.idempotency_key}")
        return "tidy"

    @tool(effect="read")
    def count(topic: str) -> int:
        """Count how often this was called."""
        desk.done.append(f"counted {topic}")
        return len(desk.done)

    @tool(effect="read")
    async def held_read(topic: str) -> str:
        """Wait until let go."""
        desk.done.append("reading")
        await desk.go.wait()
        return topic

    @tool()
    async def held_write(name: str) -> str:
        """Begin, wait until let go, end."""
        desk.done.append(f"began {name}")
        await desk.go.wait()
        desk.done.append(f"ended {name}")
        return name

    @tool()
    def ask_colour(context: CallContext, name: str) -> dict[str, Json] | Interrupt:
        """Ask for a colour, then say what it was told and whether it was approved."""
        if "colour" not in context.answers:
            return Interrupt(InterruptType.QUESTION, "Which colour?", {"fields": ["colour"]})
        return {"name": name, "colour": context.answers["colour"], "approved": context.approved}

    @tool(roles=("engineer",))
    def ranked(context: CallContext, name: str, level: int = 1) -> str | Interrupt:
        """Ask whether this may be done."""
        if not context.approved:
            return Interrupt(InterruptType.CONFIRM_RISKY, f"{name} at level {level}")
        desk.done.append(f"ranked {name} {level}")
        return f"{name} {level} {context.principal.id}"

    return (ship, tidy, count, held_read, held_write, ask_colour, ranked)
