"""What bounds a run, and the sentence that a person reads when a bound is met."""

from dataclasses import dataclass
from enum import StrEnum


class StopReason(StrEnum):
    """Every reason for which a run ends."""

    ANSWERED = "answered"
    NOTHING_TO_DO = "nothing_to_do"
    CANCELLED = "cancelled"
    MAX_STEPS = "max_steps"
    TIMEOUT = "timeout"
    TOO_MANY_FAILS = "too_many_fails"
    LOOP_DETECTED = "loop_detected"
    BUDGET = "budget"
    EXPIRED = "expired"
    CONTEXT_TOO_LONG = "context_too_long"
    MODEL_REFUSED = "model_refused"
    MODEL_FAILED = "model_failed"
    JOURNAL_BEHIND = "journal_behind"
    INTERNAL_ERROR = "internal_error"


AT_A_LIMIT = frozenset(
    {
        StopReason.MAX_STEPS,
        StopReason.TIMEOUT,
        StopReason.TOO_MANY_FAILS,
        StopReason.LOOP_DETECTED,
        StopReason.BUDGET,
    }
)
"""Reasons after which the model gets one last turn without tools, to say what it found."""


@dataclass(frozen=True)
class Limits:
    """The bounds of one answered message; counters start anew with the next.

    `active_seconds` counts only time in which a model call or a tool was executing: waiting for people, for a worker or
    between retries is free. `tokens` is input and output of all model calls together.
    """

    steps: int = 10
    active_seconds: float = 600.0
    failures_in_a_row: int = 5
    same_result_in_a_row: int = 3
    same_call_in_a_row: int = 6
    tokens: int = 500_000
    rounds: int = 5
    parallel_calls: int = 8
    final_turn_seconds: float = 60.0
    first_message_seconds: float = 30.0
    continue_as_new_steps: int = 50


def sentence(reason: StopReason, limits: Limits, detail: str = "") -> str:
    """Why the run ended, in one sentence for a person. `detail` is a public message of what failed."""
    tail = f" {detail}" if detail else ""
    texts = {
        StopReason.ANSWERED: "Answered.",
        StopReason.NOTHING_TO_DO: "There was nothing to do: no new message came.",
        StopReason.CANCELLED: "Stopped on request; what was found until then is kept.",
        StopReason.MAX_STEPS: f"Stopped after {limits.steps} steps, the limit of this run, without a complete answer.",
        StopReason.TIMEOUT: f"Stopped after {limits.active_seconds:g} seconds of work, the limit of this run.",
        StopReason.TOO_MANY_FAILS: f"Stopped because {limits.failures_in_a_row} tool calls in a row failed.",
        StopReason.LOOP_DETECTED: "Stopped because the same call was made again and again without anything new.",
        StopReason.BUDGET: f"Stopped because the budget of {limits.tokens} tokens is used up.",
        StopReason.EXPIRED: "Stopped because nobody decided in time.",
        StopReason.CONTEXT_TOO_LONG: "Stopped because the conversation no longer fits into the model's context.",
        StopReason.MODEL_REFUSED: "The model declined to answer.",
        StopReason.MODEL_FAILED: "The model could not be used.",
        StopReason.JOURNAL_BEHIND: (
            "Stopped because the journal lacks entries that this run has written: is it the right database?"
        ),
        StopReason.INTERNAL_ERROR: "Stopped by a fault in OpsPilot itself; the worker's log says more.",
    }
    return texts[reason] + tail
