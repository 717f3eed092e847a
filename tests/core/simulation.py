"""A world around the core: performs each decision as `workflows/agent.py` does, without Temporal, in microseconds.

What happens is read off a tape of bytes: replies, outcomes, and what people do at every moment at which the workflow
would wait. Zero is the quiet choice everywhere, and a tape that has ended gives zeros: the world stops talking, so the
run must end. What the journal would hold is kept as a list of lines, which the properties are about.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from opspilot.core import decisions, events, loop
from opspilot.core.calls import Gate
from opspilot.core.contract import AnswerJudged, Asked, Opened, RunRequest, ToolOutcome
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import Limits, StopReason, extended, sentence
from opspilot.core.observations import ErrorCode
from opspilot.core.state import CallState, Phase, QueuedMessage, RunState
from opspilot.core.terms import RungKind
from tests.core.record import Line, Tape, What
from tests.core.world import World

ANN = Principal("ann")


class Refused(Exception):
    """An activity that the journal refused for good."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass
class Question:
    """What the journal knows of an interrupt."""

    shown: str
    needs_values: bool
    quorum: int = 1
    approvals: int = 0
    settled_by: str = ""
    judged: AnswerJudged | None = None


class Simulation:
    """One run in one world. `checkpoint` is called with every state that is reached, and may hand back a copy."""

    def __init__(
        self, tape: bytes, limits: Limits, checkpoint: Callable[[RunState], RunState] = lambda state: state
    ) -> None:
        self.limits = limits
        self.lines: list[Line] = []
        self.carried = 0
        self.decisions = 0
        self._tape = Tape(tape)
        self._world = World(self._tape)
        self._now = 1000.0
        self._most_decisions = 60 + 4 * len(tape)
        self._checkpoint = checkpoint
        self.state = RunState()
        self._questions: dict[str, Question] = {}
        self._results: dict[str, ToolOutcome] = {}
        self._ids = 0
        self._batches = 0
        self._used_answers: list[Answer] = []
        self._stale = False
        self._behind = False
        self._somebody_elses = self._tape.once_in(40)
        self._spent_seconds = 0.0
        self._spent_tokens = 0

    # ------------------------------------------------------------ the workflow

    def run(self) -> "Simulation":
        """As `AgentWorkflow.run`. Raises when the run doesn't end although the world has stopped talking."""
        if not self._tape.once_in(8):
            self._say()
        while True:
            decision = self._decide()
            if isinstance(decision, decisions.End):
                self._meanwhile()
                if not self.state.inbox:
                    return self
                self._note(What.WENT_ON)
                self._spent_seconds, self._spent_tokens = 0.0, 0
                self._apply(events.CameLate())
                continue
            if self._history_is_long(decision):
                self._meanwhile()
                self._carry()
                continue
            try:
                self._perform(decision)
            except Refused as refused:
                self._note(What.BROKE, reason=refused.reason)
                self._apply(events.Failed(refused.reason, "The journal refused."))

    @property
    def reason(self) -> StopReason:
        """Why the run ended."""
        assert self.state.phase is Phase.ENDED
        assert self.state.stop is not None
        return self.state.stop

    @property
    def message(self) -> str:
        """What a person reads of the end."""
        return sentence(self.reason, extended(self.limits, self.state.grants), self.state.detail)

    def _decide(self) -> decisions.Decision:
        self.decisions += 1
        if self.decisions > self._most_decisions:
            raise AssertionError(f"no end in sight after {self.decisions} decisions: {self.state}")
        decision = loop.decide(self.state, self.limits)
        assert decision == loop.decide(self.state, self.limits)
        return decision

    def _apply(self, event: events.Event) -> None:
        self.state = self._checkpoint(loop.apply(self.state, event, self.limits))
        loop.decide(self.state, self.limits)  # as the query `status` does, at any moment

    def _carry(self) -> None:
        self.carried += 1
        request = RunRequest(ANN, self.limits, carried=replace(self.state, steps_here=0))
        assert request.carried is not None
        self.state = self._checkpoint(request.carried)

    def _history_is_long(self, decision: decisions.Decision) -> bool:
        match decision:
            case decisions.Think(final=None):
                return self.state.steps_here >= self.limits.continue_as_new_steps or self._tape.once_in(20)
            case decisions.AskHuman() | decisions.JudgeAnswer():
                return self._tape.once_in(10)
        return False

    @property
    def _stopping(self) -> bool:
        return self.state.stop is StopReason.CANCELLED

    def _perform(self, decision: decisions.Decision) -> None:
        match decision:
            case decisions.AwaitMessage():
                self._meanwhile()
                if not self.state.inbox and not self._stopping:
                    self._apply(events.NothingCame())
            case decisions.OpenRun(messages):
                self._open(messages)
            case decisions.Think():
                self._think(decision)
            case decisions.RunBatch(calls):
                self._run_batch(calls)
            case decisions.RecordUnrun(observations):
                self._record(observations)
            case decisions.JudgeAnswer(answer, after_seconds):
                self._now += after_seconds
                self._activity()
                self._apply(events.AnswerChecked(answer, self._judge(answer), self._now))
            case decisions.AskHuman(until=until):
                self._await_people(until)
            case decisions.AskToGoOn():
                self._ask_to_go_on(decision)
            case decisions.Climb():
                self._climb(decision)
            case decisions.Close(reason, messages):
                self._close(reason, messages)

    def _record(self, observations: tuple[tuple[CallState, ErrorCode], ...]) -> None:
        self._activity()
        for call, code in observations:
            self._result(self.state.name(call), call, ToolOutcome(ok=False, active_seconds=0, code=code))
        self._apply(events.Unrun(tuple((call.index, code) for call, code in observations)))

    def _ask_to_go_on(self, asking: decisions.AskToGoOn) -> None:
        self._activity()
        name = f"limit#{asking.nth}"
        self._note(What.ASKED, name=name, reason=asking.reason)
        self._questions[name] = Question(f"shown-{name}", needs_values=False)
        self._apply(events.AskedToGoOn(Asked(f"shown-{name}", self._world.ladder()), self._now))

    def _await_people(self, until: float | None) -> None:
        self._meanwhile()
        while not self.state.answers and not self._stopping:
            if until is not None and (self._now >= until or self._tape.once_in(3)):
                self._now = max(self._now, until)
                if self._tape.once_in(4):
                    self._be_away()
                self._apply(events.TimePassed(self._now))
                return
            self._meanwhile() if self._tape.once_in(2) else self._answer_well()

    def _be_away(self) -> None:
        """No worker is up for a while: what people say meanwhile arrives at once, in any order, when one is back."""
        self._now += 400.0
        for _ in range(self._tape.pick(1, 2, 3)):
            said_at = self._now - self._tape.pick(0.0, 150.0, 450.0)
            self._answer_well(said_at) if self._tape.once_in(2) else self._answer_somehow(said_at)

    def _climb(self, climb: decisions.Climb) -> None:
        self._activity()
        self._note(What.CLIMBED, name=climb.interrupt, rung=climb.rung)
        if climb.rung.kind is RungKind.EXPIRE:
            question = self._questions[climb.interrupt]
            question.settled_by, question.judged = "time", AnswerJudged(accepted=False, action=AnswerAction.REJECT)
            if climb.call is not None:
                expired = ToolOutcome(ok=False, active_seconds=0, code=ErrorCode.APPROVAL_EXPIRED)
                self._result(self.state.name(climb.call), climb.call, expired)
        self._apply(events.Climbed(climb.interrupt, climb.rung))

    def _open(self, messages: tuple[QueuedMessage, ...]) -> None:
        self._activity()
        if self._somebody_elses:
            self._note(What.TURNED_AWAY)
            self._apply(events.RunOpened(Opened("journal", 0, "This session belongs to bob."), len(messages)))
            return
        known = {line.name for line in self.lines if line.what is What.READ}
        self._read(messages)
        fresh = 0 if self._tape.once_in(20) else len({message.id for message in messages} - known)
        self._apply(events.RunOpened(Opened("journal", fresh), len(messages)))

    def _close(self, reason: StopReason, messages: tuple[QueuedMessage, ...]) -> None:
        self._activity()
        for line in self._owed():
            assert line.call is not None
            self._result(line.name, line.call, ToolOutcome(ok=False, active_seconds=0, code=ErrorCode.CANCELLED))
        self._read(messages)
        self._note(What.STOPPED, reason=reason)
        self._apply(events.RunClosed(len(messages)))

    def _owed(self) -> list[Line]:
        return [line for line in self.lines if line.what is What.PROPOSED and line.name not in self._results]

    def _think(self, decision: decisions.Think) -> None:
        final = decision.final is not None
        if self._owed():
            raise Refused(StopReason.JOURNAL_BEHIND)
        self._note(What.THOUGHT, reason=decision.final)
        self._meanwhile()
        arrived = not self._tape.once_in(15)
        if self._stopping and not self._tape.once_in(3):
            if arrived:
                self._read(decision.messages)
            self._apply(events.ThinkingStopped(final))
            return
        if self._stale or self._behind or self._tape.once_in(60):
            self._behind = True
            raise Refused(StopReason.JOURNAL_BEHIND)
        self._read(decision.messages)
        outcome = self._world.reply(decision.seconds, final=final)
        if outcome.refused:
            self._note(What.REFUSED)
        self._spent_seconds += outcome.active_seconds
        self._spent_tokens += outcome.usage.total_tokens
        for index, call in enumerate(outcome.calls, start=1):
            name = f"{decision.step}.{index}"
            proposed = CallState(index, call.name, "", call.digest, call.effect, call.concurrent, call.seconds)
            self._note(What.PROPOSED, name=name, index=index, call=proposed, code=call.code)
            if call.code is not None:
                self._results[name] = ToolOutcome(ok=False, active_seconds=0, code=call.code)
                self._note(What.RESULT, name=name, index=index, call=proposed, code=call.code)
            elif call.gate is Gate.CONFIRM:
                self._ask(f"{name}#0", call.shown, needs_values=False)
        self._apply(events.ModelAnswered(outcome, len(decision.messages), final, self._now))

    def _run_batch(self, calls: tuple[decisions.ToRun, ...]) -> None:
        self._batches += 1
        for each in calls:
            self._note(
                What.STARTED,
                name=self.state.name(each.call),
                index=each.call.index,
                round=each.call.round,
                batch=self._batches,
                call=each.call,
                before_approval=each.before_approval,
            )
        self._meanwhile()
        counted_seconds = 0.0
        outcomes = [None if self._stopping and self._tape.once_in(2) else self._world.tool(each) for each in calls]
        for each, outcome in zip(calls, outcomes, strict=True):
            if outcome is None:
                self._activity()
                outcome = self._world.settled(each.call)  # noqa: PLW2901 the loss becomes an outcome, as in the workflow
            self._spent_seconds += max(0.0, outcome.active_seconds - counted_seconds)
            if outcome.interrupted:
                self._ask(self.state.interrupt(each.call), outcome.digest, needs_values=self._tape.once_in(3))
            else:
                self._result(self.state.name(each.call), each.call, outcome)
            self._apply(events.CallEnded(each.call.index, outcome, counted_seconds, self._now))
            counted_seconds = max(counted_seconds, outcome.active_seconds)

    # ------------------------------------------------------------ activities

    def _activity(self) -> None:
        self._meanwhile()
        self._stale = self._stale or self._tape.once_in(100)
        if self._stale or self._tape.once_in(60):
            raise Refused(StopReason.INTERNAL_ERROR)

    def _judge(self, answer: Answer) -> AnswerJudged:
        ignored = AnswerJudged(accepted=False, action=answer.action)
        question = self._questions.get(answer.interrupt)
        if question is None or answer.comment == "forged" or (answer.digest and answer.digest != question.shown):
            return ignored
        if question.judged is not None:
            return question.judged if question.settled_by == answer.id else ignored
        call = self.state.asking(answer.interrupt)
        if answer.action is AnswerAction.APPROVE and question.needs_values:
            return ignored
        if answer.action is AnswerAction.PROVIDE and call is None:
            return ignored
        if answer.action is AnswerAction.APPROVE:
            question.approvals += 1
            if question.approvals < question.quorum:
                return replace(ignored, counted=True)
        judged = self._settling(answer, call)
        question.settled_by, question.judged = answer.id, judged
        self._note(
            What.ANSWERED,
            name=answer.interrupt,
            code=judged.code,
            action=answer.action,
            index=call.index if call else 0,
        )
        if judged.code is not None and call is not None:
            self._result(self.state.name(call), call, ToolOutcome(ok=False, active_seconds=0, code=judged.code))
        if judged.asked is not None and call is not None:
            self._ask(f"{self.state.name(call)}#{call.round + 1}", judged.asked.shown, needs_values=False)
        return judged

    def _settling(self, answer: Answer, call: CallState | None) -> AnswerJudged:
        rejected = answer.action is AnswerAction.REJECT
        edited = answer.action is AnswerAction.PROVIDE
        again = edited and call is not None and call.round + 1 < self.limits.rounds and self._tape.once_in(3)
        return AnswerJudged(
            accepted=True,
            action=answer.action,
            digest=f"edited-{answer.id}" if edited else "",
            code=ErrorCode.REJECTED_BY_HUMAN if rejected and call is not None else None,
            asked=Asked(f"shown-{answer.id}", self._world.ladder()) if again else None,
        )

    def _result(self, name: str, call: CallState, outcome: ToolOutcome) -> None:
        self._results[name] = outcome
        self._note(What.RESULT, name=name, index=call.index, call=call, code=outcome.code)

    def _ask(self, interrupt: str, shown: str, *, needs_values: bool) -> None:
        self._questions[interrupt] = Question(shown, needs_values, quorum=self._tape.pick(1, 1, 1, 2))
        self._note(What.ASKED, name=interrupt)

    def _read(self, messages: tuple[QueuedMessage, ...]) -> None:
        known = {line.name for line in self.lines if line.what is What.READ}
        for message in messages:
            if message.id not in known:
                known.add(message.id)
                self._note(What.READ, name=message.id)

    # ------------------------------------------------------------ people

    def _meanwhile(self) -> None:
        """What people do while the workflow waits, and how long it takes."""
        self._now += self._tape.pick(0.0, 0.0, 0.0, 1.0, 150.0)
        for _ in range(self._tape.pick(0, 0, 0, 0, 0, 0, 1, 2)):
            match self._tape.pick("say", "say", "again", "answer", "answer", "answer", "answer", "stop", "cancel"):
                case "say":
                    self._say()
                case "again":
                    self._say(again=True)
                case "answer":
                    self._answer_somehow()
                case "stop":
                    self._note(What.STOP)
                    self._apply(events.StopRequested())
                case "cancel" if not self.state.cancelled_by_temporal:
                    self._note(What.STOP)
                    self._apply(events.StopRequested(by_temporal=True))

    def _say(self, *, again: bool = False) -> None:
        said = [line.name for line in self.lines if line.what is What.SAID]
        if again and said:
            name = self._tape.pick(*reversed(said))
            self._note(What.AGAIN, name=name)
        else:
            self._ids += 1
            name = f"m{self._ids}"
            self._note(What.SAID, name=name)
        self._apply(events.MessageArrived(QueuedMessage(name, "text")))

    def _answer_well(self, at: float | None = None) -> None:
        """The first open question, answered properly."""
        name, *_ = self.state.waits
        action = self._tape.pick(AnswerAction.REJECT, AnswerAction.APPROVE, AnswerAction.PROVIDE)
        self._send(Answer(self._new_id(), name, action, ANN, digest=self.state.shown(name) or ""), at)

    def _answer_somehow(self, at: float | None = None) -> None:
        """Maybe forged, for another question, for something else, or sent twice."""
        if self._used_answers and self._tape.once_in(5):
            self._send(self._tape.pick(*reversed(self._used_answers)), at)
            return
        asked = [*self.state.waits, *reversed(self._questions), "9.9#1"]
        self._send(
            Answer(
                id=self._new_id(),
                interrupt=self._tape.pick(*asked),
                action=self._tape.pick(*AnswerAction),
                principal=ANN,
                digest=self._tape.pick("", "", "", "for something else"),
                comment=self._tape.pick("", "", "", "forged"),
            ),
            at,
        )

    def _send(self, answer: Answer, at: float | None) -> None:
        self._used_answers.append(answer)
        self._apply(events.AnswerArrived(replace(answer, at=self._now if at is None else at)))

    def _new_id(self) -> str:
        self._ids += 1
        return f"a{self._ids}"

    def _note(self, what: What, **more: object) -> None:
        line = Line(what, self.state, now=self._now, spent_seconds=self._spent_seconds, spent_tokens=self._spent_tokens)
        self.lines.append(replace(line, **more))  # type: ignore[arg-type]
