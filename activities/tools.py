"""The activity that acts: one round of one call, started and ended in the journal."""

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.failures import journal_failures
from activities.heartbeat import heartbeating, own_limit_seconds
from activities.records import recorded_call
from opspilot.core.calls import Effect, Gate, digest, idempotency_key, round_name
from opspilot.core.contract import RunTool, ToolOutcome
from opspilot.core.entries import (
    VOID,
    Entry,
    Kind,
    NewEntry,
    answered_key,
    interrupt_key,
    result_key,
    started_key,
    tool_started_key,
)
from opspilot.core.errors import JournalBehind, JournalConflict
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.outcomes import result_entry, tool_outcome
from opspilot.core.ports import CallContext, Journal, ToolReturn, Tools
from opspilot.core.terms import terms_of
from opspilot.core.verdicts import Asking, interrupt_data


@dataclass(frozen=True)
class Round:
    """What the journal says of a round before it runs. `arguments` are those agreed on, also after an edit."""

    session: str
    proposed: Entry
    arguments: dict[str, Json]
    approved: bool
    answers: dict[str, Json]
    principal: Principal


class ToolActivities:
    """Holds the tools and the journal that has their arguments."""

    def __init__(self, journal: Journal, tools: Tools) -> None:
        self._journal = journal
        self._tools = tools

    @activity.defn
    async def run_tool(self, order: RunTool) -> ToolOutcome:
        """Run one round of a call. What a tool does wrong is its observation; only lost infrastructure raises."""
        session = activity.info().workflow_id
        assert session is not None
        with journal_failures():
            ready = await asyncio.to_thread(self._ready, session, order)
            if isinstance(ready, Entry):
                return tool_outcome(ready)
            await asyncio.to_thread(self._start, ready, order)
        began = time.monotonic()
        async with heartbeating():
            returned = await self._run(ready, order)
            seconds = time.monotonic() - began
            with journal_failures():
                written = await _to_its_end(asyncio.to_thread(self._finish, ready, order, returned, seconds))
        return tool_outcome(written)

    def _ready(self, session: str, order: RunTool) -> Round | Entry:
        """The round as agreed, or the entry that ended it already."""
        proposed, ended = recorded_call(self._journal, session, order.run, order.call, order.round)
        if ended is not None:
            return ended
        rounds = range(order.round)
        asked = [interrupt_key(order.run, order.call, nth) for nth in rounds]
        answered = [answered_key(order.run, round_name(order.call, nth)) for nth in rounds]
        found = self._journal.find(session, [started_key(order.run), *asked, *answered])
        started = found.get(started_key(order.run))
        if started is None:
            raise JournalBehind("The journal does not know that this run started.")
        answers = [found[key] for key in answered if key in found]
        arguments = answers[-1].data["arguments"] if answers else proposed.data["arguments"]
        waits = any(question in found and answer not in found for question, answer in zip(asked, answered, strict=True))
        if waits or (proposed.data["gate"] == Gate.CONFIRM and not answers):
            raise JournalConflict(f"Call {order.call} needs a person's agreement and has none; nothing was run.")
        if digest(arguments) != order.digest:
            raise JournalConflict(
                f"Call {order.call} was agreed on with other arguments than the journal holds; nothing was run."
            )
        user = started.data["user"]
        return Round(
            session=session,
            proposed=proposed,
            arguments=arguments,
            # An approval is for the arguments that were shown: with others it is none.
            approved=any(answer.data.get("approved") and answer.data["digest"] == order.digest for answer in answers),
            answers={name: value for answer in answers for name, value in answer.data.get("values", {}).items()},
            principal=Principal(user["id"], user["name"], tuple(user["roles"])),
        )

    def _start(self, ready: Round, order: RunTool) -> None:
        """Record the start. A write whose round was started before, or declared dead, is never started again."""
        nonce = uuid4().hex
        data: dict[str, Json] = {"round": order.round, "nonce": nonce}
        if order.before_approval:
            data["ran_before_approval"] = True
        key = tool_started_key(order.run, order.call, order.round)
        start = NewEntry(key, Kind.TOOL_STARTED, datetime.now(UTC), data, ready.proposed.step, order.call)
        (winner,) = self._journal.append(ready.session, order.run, [start])
        may_repeat = ready.proposed.data["effect"] == Effect.READ or ready.proposed.data["idempotent"]
        if winner.data.get("nonce") != nonce and (winner.data.get(VOID) or not may_repeat):
            raise ApplicationError(
                "This round was started before; it is settled instead of run again.",
                type="AlreadyStarted",
                non_retryable=True,
            )

    async def _run(self, ready: Round, order: RunTool) -> ToolReturn:
        limit = own_limit_seconds()
        context = CallContext(
            session=ready.session,
            run=order.run,
            call=order.call,
            round=order.round,
            idempotency_key=idempotency_key(order.run, order.call, order.round),
            principal=ready.principal,
            approved=ready.approved,
            answers=ready.answers,
        )
        try:
            async with asyncio.timeout(limit):
                returned = await self._tools.run(ready.proposed.data["name"], ready.arguments, context)
        except TimeoutError:
            message = f"{ready.proposed.data['name']} did not finish within {round(limit, 1):g} s."
            if ready.proposed.data["effect"] == Effect.WRITE:
                message += " It may still take effect: check before trying again."
            return ToolReturn(Observation.failure(ErrorCode.TIMED_OUT, message))
        if returned.interrupt is not None and order.last_round:
            return ToolReturn(Observation.failure(ErrorCode.TOO_MANY_ROUNDS))
        return returned

    def _finish(self, ready: Round, order: RunTool, returned: ToolReturn, seconds: float) -> Entry:
        now = datetime.now(UTC)
        name = ready.proposed.data["name"]
        if returned.interrupt is not None:
            settled = result_key(order.run, order.call)
            # It was given up meanwhile: nobody may be asked about it any more.
            if there := self._journal.find(ready.session, [settled]).get(settled):
                return there
            verdict = ready.proposed.data
            terms = terms_of(verdict.get("terms", {}))
            question = interrupt_data(
                order.run,
                round_name(order.call, order.round),
                name,
                self._tools.redact(ready.arguments),
                kind=returned.interrupt.type,
                reason=returned.interrupt.reason,
                asking=Asking(verdict["rule"], terms, ready.principal.id, now, self._tools.schema(name)),
                payload=returned.interrupt.payload,
            )
            question["duration_ms"] = round(seconds * 1000)
            key = interrupt_key(order.run, order.call, order.round)
            entry = NewEntry(key, Kind.INTERRUPT_OPENED, now, question, ready.proposed.step, order.call)
            (written,) = self._journal.append(ready.session, order.run, [entry])
            return written
        assert returned.observation is not None
        marks: dict[str, Json] = {"ran_before_approval": True} if order.before_approval else {}
        entry = result_entry(order.run, order.call, order.round, returned.observation, now, seconds, **marks)
        overflow = {returned.overflow_ref: returned.overflow} if returned.overflow_ref else None
        (written,) = self._journal.append(ready.session, order.run, [entry], overflow)
        return written


async def _to_its_end(writing: Coroutine[Any, Any, Entry]) -> Entry:
    """What was written, also when a cancel comes meanwhile: the call is over, and how it ended is known."""
    task = asyncio.create_task(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        return await task
