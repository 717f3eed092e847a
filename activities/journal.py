"""The activities that only keep the record: open a run, give calls that never ran their observation, close a run."""

import asyncio
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime

from temporalio import activity

from activities.failures import journal_failures
from activities.reconciling import what_happened
from activities.records import message_entries, open_calls, recorded_call
from opspilot.core.calls import Effect, idempotency_key
from opspilot.core.contract import CloseRun, Done, Opened, OpenRun, Record, Settle, ToolOutcome
from opspilot.core.entries import (
    VOID,
    Entry,
    Kind,
    NewEntry,
    assistant_key,
    message_key,
    started_key,
    stopped_key,
    tool_started_key,
)
from opspilot.core.errors import JournalConflict, JournalError, ModelError
from opspilot.core.ghosts import ended_behind_our_back
from opspilot.core.limits import AT_A_LIMIT, StopReason
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.outcomes import result_entry, tool_outcome
from opspilot.core.ports import Journal, Models, OpenCall, Tools

GIVEN_UP = AT_A_LIMIT | {StopReason.CANCELLED}
"""Reasons for which a model call for last words may still be on its way when the run closes."""

ENDS_WITH_WORDS = AT_A_LIMIT | {StopReason.ANSWERED, StopReason.MODEL_REFUSED}
"""Reasons for which the last reply is what the run has to say."""


class JournalActivities:
    """Holds the journal, and the tools, which alone know whether a lost write happened.

    `notifies`: there is somebody to be told when a run waits for people.
    """

    def __init__(
        self,
        journal: Journal,
        tools: Tools,
        models: Models,
        system_prompt: str,
        *,
        notifies: bool = False,
    ) -> None:
        self._journal = journal
        self._tools = tools
        self._models = models
        self._system_prompt = system_prompt
        self._notifies = notifies

    @activity.defn
    async def open_run(self, order: OpenRun) -> Opened:
        """Make the run current, settle what earlier runs left behind, and write what this one begins with."""
        session = activity.info().workflow_id
        assert session is not None
        with journal_failures():
            owner = await asyncio.to_thread(self._journal.owner, session)
            if owner is not None and owner != order.user.id and "admin" not in order.user.roles:
                return Opened(self._journal.id, 0, f"This session belongs to {owner}; start one of your own.")
            leftovers = await asyncio.to_thread(
                self._journal.begin_run, session, order.run, datetime.fromtimestamp(order.started_at, UTC), order.user
            )
            now = datetime.now(UTC)
            repairs = [await self._owed(left, ErrorCode.NOT_STARTED, now) for left in leftovers.calls]
            repairs += [ended_behind_our_back(run, now) for run in leftovers.runs]
            known = await asyncio.to_thread(
                self._journal.find,
                session,
                [started_key(order.run), *(message_key(message.id) for message in order.messages)],
            )
            opening = [] if started_key(order.run) in known else [self._started(order)]
            said = await asyncio.to_thread(message_entries, self._journal, session, order.messages, now)
            entries = [*repairs, *opening, *said]
            try:
                await asyncio.to_thread(self._journal.append, session, order.run, entries)
            except JournalConflict:
                if not opening or not await asyncio.to_thread(self._journal.find, session, [opening[0].key]):
                    raise
                # A worker with another model or other tools was faster; what it wrote stands, and a retry finds it.
                raise JournalError(f"Run {order.run} is being opened by another attempt.") from None
            fresh = [message for message in order.messages if _is_fresh(known.get(message_key(message.id)), order.run)]
            return Opened(self._journal.id, len({message.id for message in fresh}), notifies=self._notifies)

    def _started(self, order: OpenRun) -> NewEntry:
        return NewEntry(
            key=started_key(order.run),
            kind=Kind.RUN_STARTED,
            at=datetime.fromtimestamp(order.started_at, UTC),
            data={
                "user": {"id": order.user.id, "name": order.user.name, "roles": list(order.user.roles)},
                "model": self._model_name(order.mode.model),
                "system": self._system_prompt,
                "tools": [spec.name for spec in self._tools.specs(order.user, order.mode.only)],
                "limits": asdict(order.limits),
                "mode": asdict(order.mode),
            },
        )

    def _model_name(self, wanted: str) -> str:
        """What thinks in this run. Of a model that isn't there the first call of it will say so."""
        try:
            return self._models(wanted).name
        except ModelError:
            return wanted

    async def _owed(self, left: OpenCall, never_started: ErrorCode, now: datetime) -> NewEntry:
        """The result of a call that nobody runs any more. Of a write that was running, its tool is asked."""
        running = [round_ for round_ in left.started_rounds if round_ not in left.interrupted_rounds]
        if not running:
            code = ErrorCode.CANCELLED if left.started_rounds else never_started
            observation = Observation.failure(code)
        elif left.effect == Effect.READ:
            observation = Observation.failure(ErrorCode.CANCELLED)
        else:
            key = idempotency_key(left.run, left.call, running[-1])
            observation = await what_happened(self._tools, left.tool, key)
        return result_entry(left.run, left.call, max(running or left.started_rounds or (0,)), observation, now)

    @activity.defn
    async def record(self, order: Record) -> Done:
        """Give calls that will not run their observation. One that has a result already keeps it."""
        session = activity.info().workflow_id
        assert session is not None
        now = datetime.now(UTC)
        entries = [
            result_entry(order.run, call, 0, Observation.failure(code), now) for call, code in order.observations
        ]
        with journal_failures():
            await asyncio.to_thread(self._journal.append, session, order.run, entries)
        return Done()

    @activity.defn
    async def settle(self, order: Settle) -> ToolOutcome:
        """What became of a round whose activity gave no result: the one path for every way of losing it.

        The journal has the result, or the question: that is it. A read gets `order.code`. A write that never started is
        `not_started`, and its start is claimed here so that nobody starts it later. Else its tool is asked, and if it
        can't say: `outcome_unknown`.
        """
        session = activity.info().workflow_id
        assert session is not None
        with journal_failures():
            return await self._settle(session, order)

    async def _settle(self, session: str, order: Settle) -> ToolOutcome:
        run, call, round_ = order.run, order.call, order.round
        now = datetime.now(UTC)
        call_entry, found = await asyncio.to_thread(recorded_call, self._journal, session, run, call, round_)
        if found is not None:
            return tool_outcome(found)
        observation = Observation.failure(order.code)
        if call_entry.data["effect"] == Effect.WRITE:
            started = tool_started_key(run, call, round_)
            claim = NewEntry(started, Kind.TOOL_STARTED, now, {"round": round_, VOID: True}, call_entry.step, call)
            (winner,) = await asyncio.to_thread(self._journal.append, session, run, [claim])
            if winner.data.get(VOID):
                observation = Observation.failure(ErrorCode.NOT_STARTED)
            else:
                key = idempotency_key(run, call, round_)
                observation = await what_happened(self._tools, call_entry.data["name"], key)
        entry = result_entry(run, call, round_, observation, now)
        (written,) = await asyncio.to_thread(self._journal.append, session, run, [entry])
        return tool_outcome(written)

    @activity.defn
    async def close_run(self, order: CloseRun) -> Done:
        """Write `run.stopped`, and before it everything that the run still owes."""
        session = activity.info().workflow_id
        assert session is not None
        now = datetime.fromtimestamp(order.at, UTC)
        with journal_failures():
            if await asyncio.to_thread(self._journal.find, session, [stopped_key(order.run, order.nth)]):
                # A belated attempt: the run may have gone on, and the calls that are open now are not to be cancelled.
                return Done()
            answer = await asyncio.to_thread(self._last_word, session, order, now)
            entries = await asyncio.to_thread(self._journal.read, session)
            owed = [await self._owed(call, ErrorCode.CANCELLED, now) for call in open_calls(entries, order.run)]
            said = await asyncio.to_thread(message_entries, self._journal, session, order.messages, now)
            await asyncio.to_thread(
                self._journal.append,
                session,
                order.run,
                [*owed, *said, _stopped(order, answer, now, _cost(entries, order.run))],
            )
        return Done()

    def _last_word(self, session: str, order: CloseRun, now: datetime) -> str:
        """What the run has to say to its last message: nothing when no step was taken for it."""
        if not order.steps:
            return ""
        reply = self._no_reply_any_more(session, order, now)
        return str(reply.data["text"]) if order.reason in ENDS_WITH_WORDS else ""

    def _no_reply_any_more(self, session: str, order: CloseRun, now: datetime) -> Entry:
        """The run's last reply, claimed if it isn't there, so that a call given up on can't land after the end.

        It is the last step's or, where that is there, the one of the last words. What had been written until then is
        kept: people saw it.
        """
        reply, last_words = (assistant_key(order.run, order.step, final=final) for final in (False, True))
        there = self._journal.find(session, [reply]).get(reply)
        may_be_at_last_words = there is not None and not there.data.get("cancelled") and order.reason in GIVEN_UP
        drafts = [draft.text for draft in self._journal.drafts(session) if draft.run == order.run]
        claim = NewEntry(
            key=last_words if may_be_at_last_words else reply,
            kind=Kind.ASSISTANT_MESSAGE,
            at=now,
            data={"text": drafts[-1] if drafts else "", "tool_calls": [], "cancelled": True},
            step=order.step,
        )
        (last,) = self._journal.append(session, order.run, [claim])
        return last


def _cost(entries: Iterable[Entry], run: str) -> float | None:
    """What the run's replies cost, as far as they say; None when none of them does."""
    costs = [
        entry.data["cost"]
        for entry in entries
        if entry.run == run and entry.kind is Kind.ASSISTANT_MESSAGE and "cost" in entry.data
    ]
    return round(sum(costs), 6) if costs else None


def _stopped(order: CloseRun, answer: str, now: datetime, cost: float | None) -> NewEntry:
    data: dict[str, Json] = {
        "stop_reason": order.reason.value,
        "answer": answer,
        "message": order.message,
        "steps": order.steps,
        "usage": asdict(order.usage),
    }
    if cost is not None:
        data["cost"] = cost
    if order.grants:
        data["grants"] = [reason.value for reason in order.grants]
    return NewEntry(stopped_key(order.run, order.nth), Kind.RUN_STOPPED, now, data)


def _is_fresh(known: Entry | None, run: str) -> bool:
    """A message of this very run counts as new again when `open_run` is retried after it had been written."""
    return known is None or known.run == run
