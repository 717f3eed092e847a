"""The one door for people and programs: ask, answer, stop, look on, list.

Messages go through Temporal, what was said and seen is read from the journal. Knows nothing of terminals, processes or
settings; starts workflows by the names of the contract, so it needs none of the worker's code.
"""

import asyncio
import secrets
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import ParamSpec, TypeVar

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import (
    Client,
    RPCError,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.service import RPCStatusCode

from opspilot import refusals
from opspilot.core.calls import digest
from opspilot.core.contract import (
    ANSWER,
    ANSWER_SIGNAL,
    STATUS,
    STOP,
    TASK_QUEUE,
    AnswerReceipt,
    Mode,
    RunRequest,
    RunResult,
    RunStatus,
    Status,
    Stop,
    UserMessage,
)
from opspilot.core.entries import Entry, Kind, message_key
from opspilot.core.errors import OpsPilotError, UsageError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import Limits
from opspilot.core.ports import Draft
from opspilot.core.sensitive import masked
from opspilot.core.signatures import signed
from opspilot.fate import Fate, fate_of
from opspilot.journal.queries import InterruptRow, SessionRow
from opspilot.journal.store import SqlJournal
from opspilot.keeping import keep
from opspilot.outward import shown
from opspilot.sending import NotAccepted, send, starting
from opspilot.texts.language import text as say

ASK_SECONDS = 60.0
"""How long a message is offered to a run before we say that nobody took it."""
ANSWER_SECONDS = 6.0
"""How long an answer waits for a worker before it is left for the next one."""
QUERY_SECONDS = 3.0
SILENCE_SECONDS = 2.0
"""A run that has written nothing for this long is looked up in Temporal: it may be gone."""
NEWS = frozenset({Kind.NOTIFICATION_SENT, Kind.NOTIFICATION_FAILED})
"""What may be written of a run that has stopped."""
LOST_SECONDS = 30.0
"""How long Temporal may be out of reach before whoever follows a run is told."""
WORKER_SECONDS = 90.0
"""A poll for work lasts 60 to 70 s, so a live worker has asked within this time."""
POLL_SECONDS = 0.06
IDLE_POLL_SECONDS = 0.25
GUESSED_AMONG = 200
"""How many sessions, the latest, are looked at for what may have been meant by a name."""
SUMMARY_CHARACTERS = 120
COMMENT_CHARACTERS = 2000

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """A message that a run has accepted. Its events have `seq > after` in the journal."""

    session: str
    message_id: str
    position: int
    after: int


def new_session() -> str:
    """A name for a session that nobody named."""
    return f"ops-{secrets.token_hex(4)}"


class OpsPilot:
    """What one person may do. Every method raises `OpsPilotError` with a sentence for that person, and nothing else.

    With a `key` answers are signed: only a server that has authenticated this person has one. `answers` is another way
    for them to go, such as through that server. Entries are given with a mask for each sensitive argument.
    """

    def __init__(
        self,
        temporal: Client,
        journal: SqlJournal,
        principal: Principal,
        task_queue: str = TASK_QUEUE,
        redact: Callable[[str], str] = str,
        key: bytes | None = None,
        answers: Callable[[str, Answer], Awaitable[AnswerReceipt]] | None = None,
    ) -> None:
        self._temporal = temporal
        self._journal = journal
        self._principal = principal
        self._task_queue = task_queue
        self._redact = redact
        self._key = key
        self._answers = answers

    # ---------------------------------------------------------------- saying something

    async def ask(
        self,
        text: str,
        session: str | None = None,
        *,
        limits: Limits = Limits(),
        mode: Mode = Mode(),
        message_id: str | None = None,
        deadline_seconds: float = ASK_SECONDS,
    ) -> Asked:
        """Say something in a session, which starts a run or reaches the one that is open. Returns on the receipt.

        The same `message_id` again is the same message, however often it arrives. Raises `UsageError` for what can't be
        asked, `Unreachable` when no run accepted it in time.
        """
        refusals.check_text(text)
        session = session or new_session()
        refusals.check_session(session)
        known = await self._reading(self._journal.session, session)
        if known is not None:
            self._check_owner(known)
        message = UserMessage(message_id or uuid.uuid4().hex, text, self._principal)
        after = known.last_seq if known else 0
        recorded = await self._reading(self._journal.find, session, [message_key(message.id)])
        if recorded:
            before = recorded[message_key(message.id)]
            if before.data["text"] != text:
                raise refusals.message_id_taken(session, message.id)
            after = min(after, before.seq - 1)
        owner = "" if known is None or known.owner == self._principal.id else known.owner
        request = RunRequest(user=self._principal, limits=limits, mode=mode, owner=owner)
        try:
            receipt = await send(
                self._temporal,
                message,
                lambda: starting(session, request, self._task_queue, self._summary(text)),
                deadline_seconds,
            )
        except NotAccepted as error:
            raise await self._not_taken(session, deadline_seconds, error.trouble) from None
        except (RPCError, WorkflowUpdateFailedError) as error:
            raise self._refused(error, session) from None
        return Asked(session, message.id, receipt.position, after)

    async def ask_instead(
        self, text: str, session: str, *, message_id: str | None = None, deadline_seconds: float = ASK_SECONDS
    ) -> Asked:
        """Say something in place of answering: it is sent, then all that is open is rejected with it as the comment.

        In this order the model reads both in one step. Raises as `ask` does, `UsageError` when nothing is open, and as
        `answer` does when what is open may not be rejected: the message is kept until that is settled.
        """
        waiting = await self.questions(session)
        if not waiting:
            raise refusals.waits_for_nobody(session)
        asked = await self.ask(text, session, message_id=message_id, deadline_seconds=deadline_seconds)
        comment = text if len(text) <= COMMENT_CHARACTERS else f"{text[: COMMENT_CHARACTERS - 1]}…"
        # A rejected write takes those behind it along: from the end, each is given the comment.
        for question in reversed(waiting):
            # Under the same id, a message that is sent again rejects nothing twice.
            id_ = digest([asked.message_id, question.run, question.interrupt])
            rejection = Answer(
                id_, question.interrupt, AnswerAction.REJECT, self._principal, {}, comment, question.digest
            )
            try:
                await self.answer(session, rejection)
            except UsageError:
                still = [(each.run, each.interrupt) for each in await self.questions(session)]
                # Unless somebody else was faster, the run goes on waiting, and the message with it.
                if (question.run, question.interrupt) in still:
                    raise
        return asked

    async def answer(self, session: str, answer: Answer) -> AnswerReceipt:
        """Answer one open question. Raises `UsageError` with the reason when the run refuses it.

        When no worker takes it, it is left as a signal, with the same id, for the one that comes back.
        """
        if self._answers is not None:
            return await self._answers(session, answer)
        known = await self._reading(self._journal.session, session)
        if known is not None:
            run = known.current_run
            answer = await self._reading(keep, self._journal, session, run, answer, datetime.now(UTC))
            if self._key is not None:
                answer = signed(replace(answer, principal=self._principal), self._key, session, run)
        handle = self._temporal.get_workflow_handle(session)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                receipt: AnswerReceipt = await handle.execute_update(
                    ANSWER, answer, id=answer.id, result_type=AnswerReceipt
                )
                return receipt
        except (WorkflowUpdateRPCTimeoutOrCancelledError, TimeoutError):
            refusals.let_cancel_through()
        except (RPCError, WorkflowUpdateFailedError) as error:
            if not (isinstance(error, RPCError) and error.status in refusals.PASSING):
                raise self._refused(error, session) from None
        try:
            await handle.signal(ANSWER_SIGNAL, answer, rpc_timeout=timedelta(seconds=ANSWER_SECONDS))
        except RPCError as error:
            raise self._refused(error, session) from None
        return AnswerReceipt(say("answer.kept"))

    async def fate(self, question: InterruptRow, answer: Answer) -> Fate | None:
        """What the journal says of an answer that was given to a question; None: nothing yet."""
        return await self._reading(fate_of, self._journal, question, answer)

    async def stop(self, session: str, reason: str = "") -> None:
        """Ask the session's run to end as `cancelled`. Raises `UsageError` when none is open."""
        handle = self._temporal.get_workflow_handle(session)
        try:
            await handle.signal(STOP, Stop(self._principal, reason), rpc_timeout=timedelta(seconds=ANSWER_SECONDS))
        except RPCError as error:
            raise self._refused(error, session) from None

    def _summary(self, text: str) -> str:
        line = self._redact(text).strip().split("\n", 1)[0].strip()
        return line if len(line) <= SUMMARY_CHARACTERS else f"{line[: SUMMARY_CHARACTERS - 1]}…"

    def _check_owner(self, session: SessionRow) -> None:
        if session.owner != self._principal.id and "admin" not in self._principal.roles:
            raise refusals.not_owner(session.id, session.owner)

    async def _not_taken(self, session: str, seconds: float, trouble: RPCError | None) -> OpsPilotError:
        if trouble is not None and trouble.status is RPCStatusCode.UNAVAILABLE:
            return self._refused(trouble, session)
        where = f"{self._where}, task queue {self._task_queue}"
        nobody = await self.has_worker() is False
        return (refusals.no_worker if nobody else refusals.not_accepted)(session, where, seconds)

    def _refused(self, error: RPCError | WorkflowUpdateFailedError, session: str) -> OpsPilotError:
        return refusals.refused(error, session, self._where)

    @property
    def _where(self) -> str:
        return str(self._temporal.service_client.config.target_host)

    # ---------------------------------------------------------------- looking on

    async def status(self, session: str) -> RunStatus | None:
        """What the session's latest run says of itself; None when there is none, or no worker answers for it."""
        handle = self._temporal.get_workflow_handle(session)
        try:
            async with asyncio.timeout(QUERY_SECONDS + 1):
                status: RunStatus = await handle.query(
                    STATUS, result_type=RunStatus, rpc_timeout=timedelta(seconds=QUERY_SECONDS)
                )
                return status
        except (RPCError, WorkflowQueryFailedError, WorkflowQueryRejectedError, TimeoutError):
            return None

    async def _last_words(self, session: str) -> str:
        """What a closed run that wrote nothing says of its end, such as that it was not allowed to begin."""
        handle = self._temporal.get_workflow_handle(session, result_type=RunResult)
        try:
            async with asyncio.timeout(QUERY_SECONDS):
                return str((await handle.result()).message)
        except (RPCError, WorkflowFailureError, TimeoutError):
            return ""

    async def _is_open(self, session: str) -> bool:
        """Is a run of this session open in Temporal? Needs no worker; raises `RPCError` when there is no Temporal."""
        handle = self._temporal.get_workflow_handle(session)
        try:
            description = await handle.describe(rpc_timeout=timedelta(seconds=QUERY_SECONDS))
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise
        except ValueError:
            # temporalio 1.35 has no word for a paused run, which is open.
            return True
        return description.status is WorkflowExecutionStatus.RUNNING

    async def hindrance(self, session: str) -> str:
        """Why the run may not be getting on: nobody works, or something is tried again. Empty when nothing is known."""
        if await self.has_worker() is False:
            return say("attend.no_worker")
        handle = self._temporal.get_workflow_handle(session)
        try:
            description = await handle.describe(rpc_timeout=timedelta(seconds=QUERY_SECONDS))
        except (RPCError, ValueError):
            return ""
        for pending in description.raw_description.pending_activities:
            if pending.attempt > 1 and pending.last_failure.message:
                return refusals.tried_again(pending.activity_type.name, pending.last_failure.message)
        return ""

    async def has_worker(self) -> bool | None:
        """Has a worker asked for work lately? One that died a moment ago still counts. None: Temporal does not say."""
        request = DescribeTaskQueueRequest(
            namespace=self._temporal.namespace,
            task_queue=TaskQueue(name=self._task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
        try:
            queue = await self._temporal.workflow_service.describe_task_queue(
                request, timeout=timedelta(seconds=QUERY_SECONDS)
            )
        except RPCError:
            return None
        since = datetime.now(UTC) - timedelta(seconds=WORKER_SECONDS)
        return any(poller.last_access_time.ToDatetime(UTC) >= since for poller in queue.pollers)

    async def watch(self, session: str, after: int = 0) -> AsyncIterator[Entry]:
        """Entries of a session with `seq > after`, those to come included. Never ends by itself."""
        async for entry in self._tail(session, after):
            if entry is not None:
                yield entry

    async def follow(self, session: str, message_id: str | None = None, after: int = 0) -> AsyncIterator[Entry]:
        """Entries with `seq > after` up to the `run.stopped` that answers this message; without one, of the last run.

        Raises `OpsPilotError` instead of waiting for ever: the run is gone, Temporal is, or another journal is written.
        """
        asked = stopped = checked = closed = False
        quiet_since = reached_at = time.monotonic()
        async for entry in self._tail(session, after):
            now = time.monotonic()
            if entry is not None:
                quiet_since = now
                yield entry
                asked = asked or (message_id is not None and entry.key == message_key(message_id))
                stopped = entry.kind is Kind.RUN_STOPPED or (stopped and entry.kind in NEWS)
                if asked and stopped:
                    return
            elif closed:
                if stopped and message_id is None:
                    return
                raise refusals.gone(session, await self._last_words(session))
            elif now - quiet_since > (0 if stopped and message_id is None else SILENCE_SECONDS):
                quiet_since = now
                try:
                    # A run writes its last entry before it closes, so the journal is read once more after this. One
                    # that is over may stay open until people were told so.
                    closed = not await self._is_open(session)
                    if stopped and message_id is None and not closed and (status := await self.status(session)):
                        closed = status.status is Status.DONE
                    reached_at = now
                    if not closed and not checked:
                        checked = await self._same_journal(session)
                except RPCError as error:
                    if now - reached_at > LOST_SECONDS:
                        raise self._refused(error, session) from None

    async def drafts(self, session: str) -> tuple[Draft, ...]:
        """Text that is being produced right now."""
        return await self._reading(self._journal.drafts, session)

    async def sessions(
        self, status: str | None = None, owner: str | None = None, text: str | None = None, limit: int = 50
    ) -> tuple[SessionRow, ...]:
        """Sessions, latest change first."""
        return await self._reading(self._journal.sessions, status, owner, text, limit)

    async def session(self, session: str) -> SessionRow:
        """One session. Raises `UsageError` when the journal has none of that name."""
        found = await self._reading(self._journal.session, session)
        if found is None:
            raise refusals.no_session(session, [row.id for row in await self.sessions(limit=GUESSED_AMONG)])
        return found

    async def show(self, session: str) -> tuple[Entry, ...]:
        """Everything that was said and seen in a session."""
        await self.session(session)
        return tuple(map(masked, await self._reading(self._journal.read, session)))

    async def questions(self, session: str | None = None) -> tuple[InterruptRow, ...]:
        """Open questions to people: of one session in the order of its calls, of all with the oldest deadline first."""
        waiting = map(shown, await self._reading(self._journal.open_interrupts, session))
        return tuple(waiting if session is None else sorted(waiting, key=_place))

    async def _tail(self, session: str, after: int) -> AsyncIterator[Entry | None]:
        """Entries as they are written, and None whenever there is nothing new."""
        pause = POLL_SECONDS
        while True:
            entries = await self._reading(self._journal.read, session, after, 500)
            for entry in entries:
                after = entry.seq
                yield masked(entry)
            if entries:
                pause = POLL_SECONDS
                continue
            yield None
            await asyncio.sleep(pause)
            pause = min(pause * 1.1, IDLE_POLL_SECONDS)

    async def _same_journal(self, session: str) -> bool:
        """True when the worker writes the journal that is read here; False when it can't be known yet."""
        status = await self.status(session)
        if status is None or not status.journal:
            return False
        if status.journal != self._journal.id:
            raise refusals.other_journal(session)
        return True

    @staticmethod
    async def _reading(read: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        return await asyncio.to_thread(read, *arguments, **named)


def _place(question: InterruptRow) -> tuple[int, ...]:
    """Where in its run a question's call stands: `3.10` behind `3.9`."""
    return tuple(int(number) for number in question.call.split(".") if number.isdecimal())
