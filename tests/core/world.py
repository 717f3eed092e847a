"""What models and tools do in a simulated world, read off a tape. Nothing here knows the run."""

from opspilot.core import decisions
from opspilot.core.budget import BudgetName, Grant
from opspilot.core.calls import Effect, Gate
from opspilot.core.contract import JudgedCall, ModelOutcome, ToolOutcome
from opspilot.core.limits import StopReason
from opspilot.core.messages import Usage
from opspilot.core.observations import ErrorCode
from opspilot.core.state import CallState
from opspilot.core.terms import Ladder, Rung, RungKind
from tests.core.record import Tape

REMIND, ESCALATE = Rung(RungKind.REMIND, 100.0), Rung(RungKind.ESCALATE, 200.0, role="lead")
DENY, STOP = Rung(RungKind.EXPIRE, 300.0), Rung(RungKind.EXPIRE, 300.0, stops=True)


class World:
    """Replies and outcomes; ids never repeat."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._ids = 0

    def ladder(self) -> Ladder:
        """What happens while nobody answers."""
        return self._tape.pick((), (), (REMIND,), (DENY,), (REMIND, ESCALATE, DENY), (REMIND, STOP))

    def reply(self, most_seconds: float, *, final: bool) -> ModelOutcome:
        """What the model says; with a budget used up it isn't called."""
        usage = Usage(self._tape.pick(10, 400), 5)
        seconds = min(most_seconds, self._tape.pick(1.0, 25.0))
        if final:
            return ModelOutcome(usage, seconds, answer=self._tape.pick("What was found.", ""))
        if self._tape.once_in(25):
            more = Grant(BudgetName.SESSION_TOKENS, 2000.0)
            return ModelOutcome(Usage(), 0.0, stop=StopReason.BUDGET, detail="It is used up.", refused=(more,))
        calls = [self._proposal() for _ in range(self._tape.pick(0, 1, 1, 2, 2, 3, 4, 6))]
        if calls:
            return ModelOutcome(usage, seconds, tuple(calls))
        stop = self._tape.pick(
            None,
            None,
            StopReason.MODEL_FAILED,
            StopReason.MODEL_REFUSED,
            StopReason.CONTEXT_TOO_LONG,
            StopReason.TIMEOUT,
        )
        return ModelOutcome(usage, seconds, answer="" if stop else "The answer.", stop=stop)

    def _proposal(self) -> JudgedCall:
        effect = self._tape.pick(Effect.READ, Effect.READ, Effect.WRITE)
        gate, code = self._tape.pick(
            (Gate.RUN, None),
            (Gate.RUN, None),
            (Gate.RUN, None),
            (Gate.CONFIRM, None),
            (Gate.INVALID, ErrorCode.INVALID_JSON),
            (Gate.DENY, ErrorCode.DENIED_BY_POLICY),
        )
        self._ids += 1
        return JudgedCall(
            name=self._tape.pick("look", "look", "list"),
            digest=self._tape.pick("a", "a", "a", str(self._ids)),
            summary="look",
            gate=gate,
            effect=effect,
            concurrent=self._tape.pick(True, True, True, False),
            seconds=20.0,
            polling=self._tape.once_in(8),
            code=code,
            shown=f"shown-{self._ids}" if gate is Gate.CONFIRM else "",
            ladder=self.ladder() if gate is Gate.CONFIRM else (),
        )

    def tool(self, run: decisions.ToRun) -> ToolOutcome | None:
        """How one round of a call ends; None: it is lost."""
        self._ids += 1
        seconds = self._tape.pick(0.5, 0.5, run.seconds)
        kind = self._tape.pick("ok", "ok", "ok", "failed", "asks", "asks", "lost")
        if kind == "asks":
            if run.last_round:
                return ToolOutcome(ok=False, active_seconds=seconds, code=ErrorCode.TOO_MANY_ROUNDS)
            shown = f"shown-{self._ids}"
            return ToolOutcome(ok=False, active_seconds=seconds, digest=shown, interrupted=True, ladder=self.ladder())
        if kind == "failed":
            code = self._tape.pick(ErrorCode.TOOL_FAILED, ErrorCode.TIMED_OUT, ErrorCode.RESULT_UNUSABLE)
            return ToolOutcome(ok=False, active_seconds=seconds, digest=code.value, code=code)
        if kind == "lost":
            return None
        return ToolOutcome(ok=True, active_seconds=seconds, digest=self._tape.pick("r", "r", str(self._ids)))

    def settled(self, call: CallState) -> ToolOutcome:
        """What is found out about a round that was lost."""
        if self._tape.once_in(3):
            return ToolOutcome(ok=True, active_seconds=0.5, digest="r")
        code = ErrorCode.CANCELLED
        if call.effect is Effect.WRITE:
            code = self._tape.pick(ErrorCode.NOT_STARTED, ErrorCode.OUTCOME_UNKNOWN)
        return ToolOutcome(ok=False, active_seconds=0, digest=code.value, code=code)
