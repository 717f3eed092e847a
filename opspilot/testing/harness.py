"""Whole runs for the tests of a tool: the product as it is, a model that plays a script, on a server that skips time.

Owns the life of all that, and the answers that a test gives to what a run asks. What a run does is looked up in the
journal, as everywhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Literal, Never, Self, TypeAlias
from uuid import uuid4

from temporalio.client import Client

from opspilot.client import Asked
from opspilot.core.contract import RunResult
from opspilot.core.conversation import observation_of
from opspilot.core.entries import Entry, Kind
from opspilot.core.interrupts import AnswerAction, Principal
from opspilot.core.limits import Limits
from opspilot.core.messages import Json
from opspilot.core.policy import RUN_ANYTHING, Policy
from opspilot.models.scripted import ScriptedModel, Step
from opspilot.testing.desk import Desk
from opspilot.testing.server import skipping_server
from opspilot.testing.trial import TESTER
from opspilot.tools.spec import Tool

Said: TypeAlias = Literal["approve", "reject"] | Mapping[str, Json]
"""What a person says to a question: that, or values for what is missing."""


@dataclass(frozen=True)
class By:
    """Who says it, where that isn't whoever asked."""

    who: Principal
    said: Said


Reply: TypeAlias = Said | By | Sequence[Said | By]
"""What is said to a question; several where the policy wants several people to agree."""


class Harness:
    """`async with Harness(tools=[…], script=[…]) as harness: result = await harness.ask("…")`.

    `script` is what the model says, step by step; it has to be played to its end, else leaving the context fails. Each
    question that is asked plays it from its beginning; with `session` it goes on where that session is. `policy` says
    what needs a person's agreement, beside what the tools ask by themselves. Without a `client` of `skipping_server()`
    the harness starts a server of its own.
    """

    desk: Desk

    def __init__(
        self,
        tools: Iterable[Tool],
        script: Sequence[Step | Mapping[str, Json]],
        *,
        limits: Limits = Limits(),
        principal: Principal = TESTER,
        policy: Policy = RUN_ANYTHING,
        client: Client | None = None,
    ) -> None:
        self.entries: tuple[Entry, ...] = ()
        """What the journal holds of the last run that was asked for, in order."""
        self._tools = tuple(tools)
        self._model = ScriptedModel(script)
        self._limits = limits
        self._principal = principal
        self._policy = policy
        self._client = client
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Start what is needed."""
        async with AsyncExitStack() as opening:
            folder = Path(opening.enter_context(TemporaryDirectory(prefix="opspilot-harness-")))
            client = self._client
            if client is None:
                client = await opening.enter_async_context(skipping_server())
            queue = f"harness-{uuid4().hex[:8]}"
            self.desk = Desk(client, queue, folder, self._tools, principal=self._principal, policy=self._policy)
            opening.callback(self.desk.journal.close)
            await opening.enter_async_context(self.desk.worker(self._model))
            self._open = opening.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it. Fails when steps of the script were never played, unless the test fails anyway."""
        await self._open.aclose()
        if kind is None:
            self._model.assert_done()

    async def ask(
        self, text: str = "What is going on?", *, session: str | None = None, replies: Mapping[str, Reply] | None = None
    ) -> RunResult:
        """Ask, answer what the run asks, and wait for its end.

        `replies` says what a person answers, by the name of the call (`"1.1"`: first step, first call), or of one round
        of it (`"1.1#2"`). Raises `AssertionError` when the run asks something that has no reply, or refuses the reply.
        """
        asked = await self.desk.opspilot.ask(text, session, limits=self._limits)
        try:
            await self._attend(asked, replies or {})
        finally:
            mine = [entry for entry in self.desk.entries(asked.session) if entry.seq > asked.after]
            self.entries = tuple(mine)
        return await self.desk.result(asked)

    @property
    def observations(self) -> dict[str, dict[str, Json]]:
        """What the model was shown of each call of the last run: `{"1.1": {"ok": true, "data": …}}`."""
        return {
            str(entry.call): observation_of(entry).as_json() for entry in self.entries if entry.kind is Kind.TOOL_RESULT
        }

    @property
    def questions(self) -> dict[str, dict[str, Json]]:
        """What people were asked in the last run, by the names that answers use: `{"1.1#1": {"reason": …}}`."""
        opened = [entry for entry in self.entries if entry.kind is Kind.INTERRUPT_OPENED]
        return {str(entry.data["interrupt"]): dict(entry.data) for entry in opened}

    async def _attend(self, asked: Asked, replies: Mapping[str, Reply]) -> None:
        async for entry in self.desk.opspilot.follow(asked.session, asked.message_id, asked.after):
            if entry.kind is Kind.INTERRUPT_OPENED:
                await self._answer(asked.session, entry, replies)
            elif entry.kind is Kind.ANSWER_IGNORED:
                await self._give_up(asked.session, f"The run refused the reply: {entry.data['message']}")

    async def _answer(self, session: str, question: Entry, replies: Mapping[str, Reply]) -> None:
        name = str(question.data["interrupt"])
        reply = replies.get(name, replies.get(str(question.call)))
        if reply is None:
            await self._give_up(session, f"{name} asks a person, and has no reply: {question.data['reason']}")
        await self.desk.asks(session, name)
        for each in [reply] if isinstance(reply, str | Mapping | By) else reply:
            by, said = (each.who, each.said) if isinstance(each, By) else (None, each)
            shown = question.data["digest"]
            if isinstance(said, str):
                await self.desk.answer(session, name, AnswerAction(said), by, digest=shown)
            else:
                await self.desk.answer(session, name, AnswerAction.PROVIDE, by, values=said, digest=shown)

    async def _give_up(self, session: str, why: str) -> Never:
        await self.desk.opspilot.stop(session, why)
        await self.desk.handle(session).result()
        raise AssertionError(why)
