"""What is left of a run's time, what a step counts for once it is settled, and which limit that meets.

Knows nothing of decisions and events: `loop.py` asks here whenever a call got its observation.
"""

from dataclasses import replace

from opspilot.core.limits import Limits, StopReason, extended
from opspilot.core.observations import COUNTED_AS_FAILURE
from opspilot.core.repeats import count_repeats, is_loop
from opspilot.core.state import Phase, RunState


def seconds_left(state: RunState, limits: Limits) -> float:
    """What the next model call or tool may take: all that remains, but never so little that it could not begin."""
    return max(1.0, extended(limits, state.grants).active_seconds - state.active_now)


def stop_when_out_of_time(state: RunState, limits: Limits) -> RunState:
    """With the time used up in the middle of a step, its open calls are not started."""
    most_seconds = extended(limits, state.grants).active_seconds
    if state.stop is None and state.active_now >= most_seconds and any(call.is_open for call in state.calls):
        return replace(state, stop=StopReason.TIMEOUT)
    return state


def end_step_when_settled(state: RunState, limits: Limits) -> RunState:
    """Count what the step did, once every call of it has its observation, and see whether a limit is met."""
    if any(call.is_open for call in state.calls):
        return state
    failures = state.failures_now
    most_failures = failures
    for call in state.calls:
        if call.code is None:
            failures = 0
        elif call.code in COUNTED_AS_FAILURE:
            failures += 1
        most_failures = max(most_failures, failures)
    repeats = count_repeats(state.repeats, state.calls)
    # Somebody else was faster; the others are told so (`loop.decide`).
    shown = {call.shown for call in state.calls}
    too_late = tuple(answer for answer in state.answers if answer.digest and answer.digest in shown)
    settled = replace(
        state, calls=(), answers=too_late, ignored_now=0, failures_now=failures, repeats=repeats, phase=Phase.THINKING
    )
    return replace(settled, stop=state.stop or limit_met(settled, most_failures, limits))


def limit_met(state: RunState, failures: int, limits: Limits) -> StopReason | None:
    """The limit that keeps the run from its next step, with so many failures in a row; those granted don't."""
    limits = extended(limits, state.grants)
    if is_loop(state.repeats, limits):
        return StopReason.LOOP_DETECTED
    if failures >= limits.failures_in_a_row:
        return StopReason.TOO_MANY_FAILS
    if state.steps_now >= limits.steps:
        return StopReason.MAX_STEPS
    if state.active_now >= limits.active_seconds:
        return StopReason.TIMEOUT
    if state.tokens_now >= limits.tokens:
        return StopReason.BUDGET
    return None
