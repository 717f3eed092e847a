"""Loop detection: the same call again and again without anything new."""

from collections.abc import Sequence

from opspilot.core.calls import Effect
from opspilot.core.limits import Limits
from opspilot.core.state import CallState, Repeats

REMEMBERED = 64
"""Different calls remembered; a run that makes more different ones than this between repeats is not looping."""


def count_repeats(before: tuple[Repeats, ...], calls: Sequence[CallState]) -> tuple[Repeats, ...]:
    """The counts after one settled step.

    Identical calls of one step count once: asking twice at the same moment is waste, not a loop. A write that went well
    changes the world, so reading the same thing again afterwards starts a new count.
    """
    counts = {repeat.signature: repeat for repeat in before}
    if any(call.effect is Effect.WRITE and call.code is None for call in calls):
        counts = {signature: repeat for signature, repeat in counts.items() if signature.startswith("write ")}
    seen: set[str] = set()
    for call in calls:
        signature = f"{call.effect.value} {call.tool} {call.digest}"
        if call.polling or signature in seen:
            continue
        seen.add(signature)
        result = call.result or (call.code.value if call.code else "")
        last = counts.pop(signature, None)
        same = last.same + 1 if last is not None and last.result == result else 1
        counts[signature] = Repeats(signature, result, (last.times if last else 0) + 1, same)
    return tuple(counts.values())[-REMEMBERED:]


def is_loop(repeats: Sequence[Repeats], limits: Limits) -> bool:
    """Whether any call was repeated too often."""
    return any(
        repeat.same >= limits.same_result_in_a_row or repeat.times >= limits.same_call_in_a_row for repeat in repeats
    )
