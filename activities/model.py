"""The activity that thinks: conversation in, one reply out, its calls judged, all of it recorded at once."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType

from temporalio import activity

from activities.budgets import Account, Budgets
from activities.drafts import DraftWriter
from activities.failures import journal_failures, model_failure
from activities.heartbeat import heartbeating, own_limit_seconds
from activities.prompt import began
from activities.records import message_entries
from opspilot.core.budget import Budget
from opspilot.core.calls import call_name
from opspilot.core.contract import CallModel, ModelOutcome
from opspilot.core.conversation import conversation
from opspilot.core.cost import Price
from opspilot.core.entries import (
    Entry,
    Kind,
    NewEntry,
    assistant_key,
    call_key,
    interrupt_key,
    result_key,
    started_key,
)
from opspilot.core.errors import JournalBehind, ModelError, ModelFault
from opspilot.core.interrupts import Principal
from opspilot.core.limits import StopReason
from opspilot.core.messages import Finish, Json, ModelReply, ModelRequest, SystemMessage
from opspilot.core.outcomes import model_outcome
from opspilot.core.ports import Journal, Model, Models, Tools
from opspilot.core.room import make_room
from opspilot.core.verdicts import reply_entries

ATTEMPTS_FOR_A_BAD_REPLY = 3
"""A model that answers with nothing, again and again, is not going to do better in an hour."""

CACHED_SESSIONS = 32

MOST_CALLS = 128
"""A reply with more calls than this is no plan but a fault; their verdicts would not fit through Temporal either."""


class ModelActivities:
    """Holds the models, the tools that judge their calls, the journal that remembers both, and what may be spent."""

    def __init__(
        self,
        journal: Journal,
        tools: Tools,
        models: Models,
        budget: Budget = Budget(),
        prices: Mapping[str, Price] = MappingProxyType({}),
    ) -> None:
        self._journal = journal
        self._tools = tools
        self._models = models
        self._budgets = Budgets(journal, budget, prices)
        self._entries: OrderedDict[str, tuple[Entry, ...]] = OrderedDict()

    @activity.defn
    async def call_model(self, order: CallModel) -> ModelOutcome:
        """Load the conversation, stream the reply, judge each call, and record all of it in one transaction.

        A reply that is recorded already is returned as it stands. A failure that another attempt may mend is raised
        for Temporal to retry; any other ends the run, and is recorded as this step's reply. With a budget used up the
        model isn't called and nothing is recorded but the messages; last words are always allowed.
        """
        session = activity.info().workflow_id
        assert session is not None
        key = assistant_key(order.run, order.step, final=order.final is not None)
        async with heartbeating():
            with journal_failures():
                entries = await asyncio.to_thread(self._receive, session, order)
                # Looked for behind what was read: an attempt that was taken for dead may write its reply at any moment.
                if recorded := await asyncio.to_thread(self._recorded, session, order, key):
                    return recorded
                principal, request = self._request(order, entries)
                account = await asyncio.to_thread(
                    self._budgets.account, session, principal.id, order.grants, datetime.now(UTC)
                )
            if order.final is None and (refusal := self._budgets.refusal(account)):
                return refusal
            reply, more = await self._reply(session, order, request)
            overflow = None
            if more.get("stop") == StopReason.CONTEXT_TOO_LONG and (room := make_room(entries, order.run)):
                shorter = replace(request, messages=(request.messages[0], *conversation(entries, room.up_to)))
                reply, more = await self._reply(session, order, shorter)
                more["shortened_to"] = room.up_to
                overflow = room.overflow
            with journal_failures():
                # Judging many calls takes its time, and the event loop serves other runs.
                lines = await asyncio.to_thread(self._lines, order, key, reply, principal, account, more)
                await asyncio.to_thread(self._journal.append, session, order.run, lines, overflow, whole=True)
                outcome = await asyncio.to_thread(self._recorded, session, order, key)
        assert outcome is not None
        return outcome

    def _lines(
        self,
        order: CallModel,
        key: str,
        reply: ModelReply,
        principal: Principal,
        account: Account,
        more: dict[str, Json],
    ) -> list[NewEntry]:
        """All that a reply leaves in the journal."""
        now = datetime.now(UTC)
        cost = self._budgets.cost(str(more.get("model", "")), reply.usage)
        warnings, notice = self._budgets.warnings(account, reply.usage, cost, now, order.step)
        more |= {} if cost is None else {"cost": cost}
        more |= {"notice": notice} if notice else {}
        return [*reply_entries(order, key, reply, principal, self._tools, now, more), *warnings]

    async def _reply(self, session: str, order: CallModel, request: ModelRequest) -> tuple[ModelReply, dict[str, Json]]:
        """What the model says, also if it fails for good, and what is to be recorded of the call itself."""
        began = time.monotonic()
        draft = DraftWriter(self._journal, session, order.run, order.step, activity.info().attempt)
        more: dict[str, Json] = {}
        try:
            model = self._models(order.mode.model)
            more["model"] = model.name
            async with draft, asyncio.timeout(own_limit_seconds()):
                reply = await self._asked(model, request, draft)
        except TimeoutError:
            reply = ModelReply(draft.text)
            more |= {"stop": StopReason.TIMEOUT.value, "detail": "The model did not finish in the time that was left."}
        except ModelError as error:
            if _worth_another_attempt(error, activity.info().attempt):
                raise model_failure(error) from None
            reason = StopReason.MODEL_FAILED
            if error.fault is ModelFault.CONTEXT_LENGTH:
                reason = StopReason.CONTEXT_TOO_LONG
            reply = ModelReply(error.text)
            more |= {"stop": reason.value, "detail": error.message}
        else:
            more |= _ending(reply)
        more["latency_ms"] = round((time.monotonic() - began) * 1000)
        return reply, more

    async def _asked(self, model: Model, request: ModelRequest, draft: DraftWriter) -> ModelReply:
        try:
            reply = await model.reply(request, draft.write)
            if len(reply.calls) > MOST_CALLS:
                raise ModelError(ModelFault.BAD_REPLY, f"It proposed {len(reply.calls)} calls at once.", retryable=True)
            return reply
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 whatever an adapter does, a run ends with a sentence
            activity.logger.exception("the model adapter failed")
            sentence = f"The adapter of {model.name} failed ({type(error).__name__}); the worker's log says more."
            raise ModelError(ModelFault.BAD_REPLY, sentence, retryable=True, text=draft.text) from None

    def _recorded(self, session: str, order: CallModel, key: str) -> ModelOutcome | None:
        """What the journal holds under this step's keys: our own reply, or that of an attempt that was faster."""
        assistant = self._journal.find(session, [key]).get(key)
        if assistant is None:
            return None
        calls = [call_name(order.step, index) for index, _ in enumerate(assistant.data["tool_calls"], start=1)]
        keys = [make(order.run, call) for call in calls for make in (call_key, result_key, _first_question_key)]
        found = self._journal.find(session, keys)
        return model_outcome([assistant, *(found[key] for key in keys if key in found)])

    def _receive(self, session: str, order: CallModel) -> tuple[Entry, ...]:
        if order.messages:
            entries = message_entries(self._journal, session, order.messages, datetime.now(UTC))
            self._journal.append(session, order.run, entries)
        known = self._entries.pop(session, ())
        after = known[-1].seq if known else 0
        all_entries = (*known, *self._journal.read(session, after=after))
        self._entries[session] = all_entries
        while len(self._entries) > CACHED_SESSIONS:
            self._entries.popitem(last=False)
        return all_entries

    def _request(self, order: CallModel, entries: tuple[Entry, ...]) -> tuple[Principal, ModelRequest]:
        keys = {entry.key: entry for entry in entries}
        started = keys.get(started_key(order.run))
        before = order.step if order.final else order.step - 1
        if started is None or (before and assistant_key(order.run, before) not in keys):
            raise JournalBehind("The journal lacks earlier entries of this run.")
        user = started.data["user"]
        principal = Principal(user["id"], user["name"], tuple(user["roles"]))
        system = f"{started.data['system']}\n{began(started.at)}"
        if order.final:
            system = f"{system}\n\n{_last_words(order.final)}"
        specs = () if order.final else self._tools.specs(principal, order.mode.only)
        first_step = not any(
            entry.run == order.run and entry.kind is Kind.ASSISTANT_MESSAGE and entry.data["tool_calls"]
            for entry in entries
        )
        return principal, ModelRequest(
            messages=(SystemMessage(system), *conversation(entries)),
            tools=specs,
            force=order.mode.only if order.mode.force and specs and first_step else None,
            parallel=order.mode.only is None,
        )


def _first_question_key(run: str, call: str) -> str:
    return interrupt_key(run, call, 0)


def _last_words(reason: StopReason) -> str:
    why = reason.value.replace("_", " ")
    return (
        f"This run is at a limit ({why}) and no tool can be called any more. Say now, in the language of the question, "
        "what was found, what remains unknown, and what a person could do next. Do not invent anything."
    )


def _worth_another_attempt(error: ModelError, attempt: int) -> bool:
    return error.retryable and not (error.fault is ModelFault.BAD_REPLY and attempt >= ATTEMPTS_FOR_A_BAD_REPLY)


def _ending(reply: ModelReply) -> dict[str, Json]:
    if reply.calls:
        return {}
    if reply.finish in (Finish.REFUSAL, Finish.CONTENT_FILTER):
        return {"stop": StopReason.MODEL_REFUSED.value, "detail": ""}
    if reply.finish is Finish.LENGTH:
        return {"detail": "The answer was cut off at the model's output limit."}
    return {}
