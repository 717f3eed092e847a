"""Which calls of a step run next, and which will never run.

The rules (docs/design.md, "One step"): a held call is one that waits for a human, and every write proposed after it.
Reads behind held calls run at once; every other pair of calls keeps proposal order, so no read crosses a write that was
free to run. Writes run alone. A write that isn't ok stops the later ones.
"""

from collections.abc import Sequence

from opspilot.core.calls import Effect
from opspilot.core.state import CallState, Stage


def next_batch(calls: Sequence[CallState], parallel_calls: int) -> tuple[CallState, ...]:
    """The calls to run together now, in proposal order; empty when only people can move the step on.

    Args:
        calls: every call of the step, in proposal order.
        parallel_calls: the most that run side by side.
    """
    people_first = any(call.stage is Stage.ASKED for call in calls)
    batch: list[CallState] = []
    held = False
    for call in calls:
        if call.stage is Stage.DONE:
            continue
        waits = call.stage is Stage.ASKED or (call.stage is Stage.AGREED and people_first)
        if waits or (held and call.effect is Effect.WRITE):
            held = True
            continue
        if not call.concurrent or call.effect is Effect.WRITE:
            return tuple(batch) if batch else (call,)
        batch.append(call)
        if len(batch) == parallel_calls:
            break
    return tuple(batch)


def runs_before_approval(call: CallState, calls: Sequence[CallState]) -> bool:
    """Whether `call`, which `next_batch` gave, runs although a call proposed before it is held."""
    people_first = any(other.stage is Stage.ASKED for other in calls)
    return people_first and any(
        earlier.index < call.index
        and (earlier.stage in (Stage.ASKED, Stage.AGREED) or (earlier.is_open and earlier.effect is Effect.WRITE))
        for earlier in calls
    )


def never_to_run(calls: Sequence[CallState]) -> tuple[CallState, ...]:
    """Open writes proposed after a write that did not succeed."""
    stopped = False
    skipped: list[CallState] = []
    for call in calls:
        if call.is_open and call.effect is Effect.WRITE and stopped:
            skipped.append(call)
        stopped = stopped or call.failed_write
    return tuple(skipped)
