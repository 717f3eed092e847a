"""`AgentWorkflow`: performs the core's decisions, one at a time, and tells the core what came of each.

What happens when is decided in `opspilot/core/loop.py`. Here is how: activities with their bounds, waits, search
attributes. No await in here lets Temporal's cancellation through: it becomes a stop like any other, so that every call
gets its observation, and is raised again at the very end.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributeUpdate
from temporalio.exceptions import ActivityError

from activities.answers import AnswerActivities
from activities.asking import AskingActivities
from activities.journal import JournalActivities
from activities.model import ModelActivities
from activities.tools import ToolActivities
from opspilot.core import contract, decisions, events, loop
from opspilot.core.interrupts import Answer
from opspilot.core.limits import StopReason, extended, go_on, more, sentence
from opspilot.core.messages import Usage
from opspilot.core.state import RunState
from opspilot.core.terms import RungKind
from workflows import bounds, door
from workflows.details import details, open_questions, run_status, waiting_for
from workflows.failing import failure
from workflows.telling import Telling

Outcome = TypeVar("Outcome")

STATUS = SearchAttributeKey.for_keyword(contract.SearchAttribute.STATUS.value)
STOP_REASON = SearchAttributeKey.for_keyword(contract.SearchAttribute.STOP_REASON.value)
DUE_AT = SearchAttributeKey.for_datetime(contract.SearchAttribute.DUE_AT.value)
WAITING_FOR = SearchAttributeKey.for_keyword_list(contract.SearchAttribute.WAITING_FOR.value)

NOTICES = {
    RungKind.REMIND: contract.Notice.REMINDED,
    RungKind.ESCALATE: contract.Notice.ESCALATED,
    RungKind.EXPIRE: contract.Notice.EXPIRED,
}


@workflow.defn(name=contract.AGENT_WORKFLOW)
class AgentWorkflow:
    """One run of a session."""

    @workflow.init
    def __init__(self, request: contract.RunRequest) -> None:
        self._request = request
        self._limits = request.limits
        self._state = request.carried or RunState()
        self._run = workflow.info().first_execution_run_id
        self._telling = Telling()

    @workflow.run
    async def run(self, request: contract.RunRequest) -> contract.RunResult:
        """Decide, perform, repeat. Ends with a reason that a person can read, whatever happens."""
        for order in request.untold:
            self._notify(order)
        while True:
            decision = loop.decide(self._state, self._limits)
            workflow.set_current_details(details(workflow.info().workflow_id, self._state, decision))
            if isinstance(decision, decisions.End):
                await self._wait(lambda: bool(self._state.inbox) or self._telling.lets_go(self._state))
                await self._wait(workflow.all_handlers_finished)
                if not self._state.inbox:
                    break
                self._apply(events.CameLate())
                workflow.upsert_search_attributes([STATUS.value_set(contract.Status.RUNNING.value)])
                continue
            if self._history_is_long(decision):
                await self._wait(workflow.all_handlers_finished)
                carried, untold = replace(self._state, steps_here=0), self._telling.pending
                workflow.continue_as_new(replace(self._request, carried=carried, untold=untold))
            try:
                await self._perform(decision)
            except ActivityError as error:
                self._apply(failure(error))
            except Exception:  # noqa: BLE001 a fault of ours ends the run with a sentence, it does not hang it
                workflow.logger.exception("fault in the workflow")
                self._apply(events.Failed(StopReason.INTERNAL_ERROR, ""))
        if self._state.cancelled_by_temporal:
            raise asyncio.CancelledError
        return self._result()

    # ------------------------------------------------------------ messages from outside: they only change the state

    @workflow.update(
        name=contract.SEND_MESSAGE,
        description='Say something to this session. Example: {"id": "any-new-id", "text": "And yesterday?"}',
    )
    def send_message(self, message: contract.UserMessage) -> contract.MessageReceipt:
        """Queue a message; the next step reads it."""
        self._apply(events.MessageArrived(message))
        return contract.MessageReceipt(position=len(self._state.inbox))

    @send_message.validator
    def check_message(self, message: contract.UserMessage) -> None:
        """Refuse what can't be read, and who may not speak here."""
        door.check_message(self._state, message, self._request)

    @workflow.update(
        name=contract.ANSWER,
        description=(
            "Answer an open question. Example: "
            '{"id": "any-new-id", "interrupt": "1.1#1", "action": "reject", "principal": {"id": "me"}, "comment": "no"}'
        ),
    )
    def answer(self, answer: Answer) -> contract.AnswerReceipt:
        """Take an answer; whether it is good is found out next."""
        self._take(answer, _now())
        return contract.AnswerReceipt("Accepted, being checked.")

    @answer.validator
    def check_answer(self, answer: Answer) -> None:
        """Refuse what is wrong on its face."""
        door.check_answer(self._state, answer, _now())

    @workflow.signal(name=contract.ANSWER_SIGNAL, description="As the update `answer`, for when no worker is up.")
    def answer_signal(self, answer: Answer) -> None:
        """The same door for callers that can't wait for a worker; what they say in its absence counts as said then."""
        if door.has_room(self._state, answer):
            self._take(answer, door.moment_of(answer, _now()))

    @workflow.signal(
        name=contract.STOP,
        description='End this run. Example: {"principal": {"id": "me"}, "reason": "wrong question"}',
    )
    def stop(self, stop: contract.Stop) -> None:
        """End the run as cancelled."""
        del stop
        self._apply(events.StopRequested())

    @workflow.query(name=contract.STATUS, description="What the run is doing and waiting for.")
    def status(self) -> contract.RunStatus:
        """What the run is doing now."""
        return run_status(self._run, self._state, loop.decide(self._state, self._limits))

    # ------------------------------------------------------------ performing

    async def _perform(self, decision: decisions.Decision) -> None:
        match decision:
            case decisions.AwaitMessage(seconds):
                if not await self._wait(lambda: bool(self._state.inbox) or self._stopping, seconds, "first message"):
                    self._apply(events.NothingCame())
            case decisions.OpenRun(messages):
                order = contract.OpenRun(
                    run=self._run,
                    started_at=workflow.info().start_time.timestamp(),
                    user=self._request.user,
                    mode=self._request.mode,
                    limits=self._limits,
                    messages=messages,
                )
                opened = await self._finish(
                    workflow.start_activity_method(JournalActivities.open_run, order, **bounds.journal("open"))
                )
                self._apply(events.RunOpened(opened, len(messages)))
            case decisions.Think():
                await self._think(decision)
            case decisions.RunBatch(calls):
                await self._run_batch(calls)
            case decisions.RecordUnrun(observations):
                record = contract.Record(
                    self._run, tuple((self._state.name(call), code) for call, code in observations)
                )
                await self._finish(
                    workflow.start_activity_method(JournalActivities.record, record, **bounds.journal("not run"))
                )
                self._apply(events.Unrun(tuple((call.index, code) for call, code in observations)))
            case decisions.JudgeAnswer(answer, after_seconds):
                await self._judge(answer, after_seconds)
            case decisions.AskHuman(until=until):
                await self._ask(until)
            case decisions.AskToGoOn(reason, nth):
                await self._ask_to_go_on(reason, nth)
            case decisions.Climb():
                await self._climb(decision)
            case decisions.Close(reason, messages):
                await self._close(reason, messages)

    async def _think(self, decision: decisions.Think) -> None:
        final = decision.final is not None
        order = contract.CallModel(
            run=self._run,
            step=decision.step,
            mode=self._request.mode,
            messages=decision.messages,
            final=decision.final,
            grants=self._state.granted,
        )
        handle = workflow.start_activity_method(
            ModelActivities.call_model, order, **bounds.model(decision.step, decision.seconds, final=final)
        )
        await self._wait(lambda: handle.done() or self._stopping)
        if not handle.done():
            handle.cancel()
            await self._wait(handle.done)
            if handle.cancelled() or handle.exception():
                self._apply(events.ThinkingStopped(final))
                return
        try:
            outcome = handle.result()
        except ActivityError as error:
            failed = failure(error)
            if failed.reason is not StopReason.MODEL_FAILED:
                raise
            outcome = contract.ModelOutcome(Usage(), 0.0, stop=StopReason.MODEL_FAILED, detail=failed.detail)
            # Nobody knows whether it got as far as recording them: they stay unread, and are recorded on closing.
            self._apply(events.ModelAnswered(outcome, 0, final, _now()))
            return
        if outcome.notice:
            self._notify(contract.Notify(self._run, contract.Notice.BUDGET, text=outcome.notice))
        self._apply(events.ModelAnswered(outcome, len(decision.messages), final, _now()))

    async def _run_batch(self, calls: tuple[decisions.ToRun, ...]) -> None:
        handles = [
            workflow.start_activity_method(
                ToolActivities.run_tool,
                contract.RunTool(
                    run=self._run,
                    call=self._state.name(each.call),
                    round=each.call.round,
                    digest=each.call.digest,
                    before_approval=each.before_approval,
                    last_round=each.last_round,
                ),
                **bounds.tool(each.call, each.seconds),
            )
            for each in calls
        ]
        running = dict(zip(handles, calls, strict=True))
        counted_seconds = 0.0
        while running:
            await self._any_ended(list(running))
            if self._stopping:
                for handle in running:
                    handle.cancel()
                await self._wait(partial(_all_ended, list(running)))
            for handle in [handle for handle in running if handle.done()]:
                each = running.pop(handle)
                try:
                    outcome = handle.result()
                except (ActivityError, asyncio.CancelledError) as error:
                    outcome = await self._settle(each, error)
                self._apply(events.CallEnded(each.call.index, outcome, counted_seconds, _now()))
                counted_seconds = max(counted_seconds, outcome.active_seconds)

    async def _any_ended(self, handles: list[workflow.ActivityHandle[contract.ToolOutcome]]) -> None:
        await self._wait(lambda: self._stopping or any(handle.done() for handle in handles))

    async def _settle(self, lost: decisions.ToRun, error: BaseException) -> contract.ToolOutcome:
        """One path for every way in which an activity gives no result; our own refusals are raised again."""
        if isinstance(error, ActivityError) and bounds.is_ours(error):
            raise error
        order = contract.Settle(self._run, self._state.name(lost.call), lost.call.round, bounds.code_of_loss(error))
        settling = self._settling(order, lost)
        if not self._stopping:
            await self._any_ended([settling])
            if not settling.done():
                settling.cancel()
                await self._wait(settling.done)
                settling = self._settling(order, lost)
        return await self._finish(settling)

    def _settling(self, order: contract.Settle, lost: decisions.ToRun) -> workflow.ActivityHandle[contract.ToolOutcome]:
        options = bounds.settle(lost.call, at_once=self._stopping)
        return workflow.start_activity_method(JournalActivities.settle, order, **options)

    async def _judge(self, answer: Answer, after_seconds: float) -> None:
        if after_seconds:
            await self._wait(lambda: self._stopping, after_seconds, "too many answers that were no good")
        judge = contract.JudgeAnswer(self._run, answer)
        judged = await self._finish(
            workflow.start_activity_method(
                AnswerActivities.judge, judge, **bounds.journal(f"answer to {answer.interrupt}")
            )
        )
        self._apply(events.AnswerChecked(answer, judged, _now()))

    async def _ask(self, until: float | None) -> None:
        questions = open_questions(self._state)
        attributes: list[SearchAttributeUpdate[Any]] = [
            STATUS.value_set(contract.Status.WAITING.value),
            WAITING_FOR.value_set(waiting_for(questions)),
        ]
        expiries = [question.expires_at for question in questions if question.expires_at is not None]
        due = [DUE_AT.value_set(datetime.fromtimestamp(min(expiries), UTC))] if expiries else []
        workflow.upsert_search_attributes([*attributes, *due])
        for question in questions:
            self._notify(contract.Notify(self._run, contract.Notice.ASKED, question.interrupt))
        heard = await self._wait(
            lambda: bool(self._state.answers) or self._stopping or workflow.info().is_continue_as_new_suggested(),
            None if until is None else max(0.0, until - _now()),
            "next reminder, escalation or expiry",
        )
        if not heard and until is not None:
            self._apply(events.TimePassed(max(until, _now())))
        over = [DUE_AT.value_unset()] if due else []
        workflow.upsert_search_attributes(
            [STATUS.value_set(contract.Status.RUNNING.value), WAITING_FOR.value_unset(), *over]
        )

    async def _ask_to_go_on(self, reason: StopReason, nth: int) -> None:
        sought = self._state.sought
        order = contract.AskToGoOn(
            run=self._run,
            nth=nth,
            reason=reason,
            question=go_on(reason, self._limits, self._state.detail if sought else ""),
            at=_now(),
            more=None if sought else more(reason, self._limits),
            grants=sought,
        )
        asked = await self._finish(
            workflow.start_activity_method(
                AskingActivities.ask_to_go_on, order, **bounds.journal("ask whether to go on")
            )
        )
        self._apply(events.AskedToGoOn(asked, _now()))

    async def _climb(self, climb: decisions.Climb) -> None:
        rung = climb.rung
        order = contract.Climb(self._run, climb.interrupt, rung.kind, rung.role, rung.stops, _now())
        await self._finish(
            workflow.start_activity_method(
                AskingActivities.climb, order, **bounds.journal(f"{rung.kind} {climb.interrupt}")
            )
        )
        self._notify(contract.Notify(self._run, NOTICES[rung.kind], climb.interrupt))
        self._apply(events.Climbed(climb.interrupt, rung))

    def _notify(self, order: contract.Notify) -> None:
        """Have people told. The run doesn't wait for it, and doesn't mind when it fails."""
        if self._state.notifies:
            self._telling.tell(order)

    async def _close(self, reason: StopReason, messages: tuple[contract.UserMessage, ...]) -> None:
        state = self._state
        order = contract.CloseRun(
            run=self._run,
            nth=state.closes + 1,
            at=workflow.now().timestamp(),
            reason=reason,
            message=self._sentence(reason),
            steps=state.steps_now,
            step=state.step,
            usage=state.usage,
            messages=messages,
            grants=state.grants,
        )
        await self._finish(
            workflow.start_activity_method(JournalActivities.close_run, order, **bounds.journal("close"))
        )
        workflow.upsert_search_attributes(
            [STATUS.value_set(contract.Status.DONE.value), STOP_REASON.value_set(reason.value)]
        )
        self._apply(events.RunClosed(len(messages)))

    # ------------------------------------------------------------ waiting

    async def _wait(self, condition: Callable[[], bool], seconds: float | None = None, summary: str = "") -> bool:
        """Wait for a condition, at most so long. A cancellation by Temporal becomes a stop, and the wait goes on."""
        while True:
            try:
                await workflow.wait_condition(
                    condition,
                    timeout=None if seconds is None else timedelta(seconds=seconds),
                    timeout_summary=summary or None,
                )
            except TimeoutError:
                return False
            except asyncio.CancelledError:
                self._apply(events.StopRequested(by_temporal=True))
            else:
                return True

    async def _finish(self, handle: workflow.ActivityHandle[Outcome]) -> Outcome:
        """The result of an activity that nothing interrupts."""
        await self._wait(handle.done)
        return handle.result()

    # ------------------------------------------------------------ state

    def _apply(self, event: events.Event) -> None:
        self._state = loop.apply(self._state, event, self._limits)

    @property
    def _stopping(self) -> bool:
        return self._state.stop is StopReason.CANCELLED

    def _take(self, answer: Answer, at: float) -> None:
        self._apply(events.AnswerArrived(replace(answer, at=at)))

    def _sentence(self, reason: StopReason) -> str:
        return sentence(reason, extended(self._limits, self._state.grants), self._state.detail)

    def _history_is_long(self, decision: decisions.Decision) -> bool:
        """Only between steps, or while people are asked: nothing is in flight then."""
        suggested = workflow.info().is_continue_as_new_suggested()
        match decision:
            case decisions.Think(final=None):
                return suggested or self._state.steps_here >= self._limits.continue_as_new_steps
            case decisions.AskHuman() | decisions.JudgeAnswer():
                return suggested
        return False

    def _result(self) -> contract.RunResult:
        state = self._state
        reason = state.stop or StopReason.INTERNAL_ERROR
        return contract.RunResult(
            stop_reason=reason,
            answer=state.answer,
            message=state.detail if not state.opened and state.detail else self._sentence(reason),
            steps=state.steps_now,
            usage=state.usage,
        )


def _now() -> float:
    return workflow.now().timestamp()


def _all_ended(handles: list[workflow.ActivityHandle[contract.ToolOutcome]]) -> bool:
    return all(handle.done() for handle in handles)
