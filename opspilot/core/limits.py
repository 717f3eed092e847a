"""What bounds a run, and the sentence that a person reads when a bound is met."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
        StopReason.EXPIRED,
    }
)
"""Reasons after which the model gets one last turn without tools, to say what it found."""


class OnLimit(StrEnum):
    """What a run does at a limit: end with last words, or ask a person whether it may go on."""

    STOP = "stop"
    ASK = "ask"


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
    on_limit: OnLimit = OnLimit.STOP


def extended(limits: Limits, grants: Sequence[StopReason]) -> Limits:
    """The limits after a person has agreed to go on: each time as much again of what had been used up.

    Tokens are counted anew instead, since a single call may take many times what is allowed.
    """
    return replace(
        limits,
        steps=limits.steps * (1 + grants.count(StopReason.MAX_STEPS)),
        active_seconds=limits.active_seconds * (1 + grants.count(StopReason.TIMEOUT)),
    )


def more(reason: StopReason, limits: Limits) -> float | None:
    """What a person is asked for at a limit: so many steps, seconds, failures in a row or tokens more."""
    return {
        StopReason.MAX_STEPS: limits.steps,
        StopReason.TIMEOUT: limits.active_seconds,
        StopReason.TOO_MANY_FAILS: limits.failures_in_a_row,
        StopReason.BUDGET: limits.tokens,
    }.get(reason)


AS_MUCH_AGAIN = "Go on for as much again?"
"""What a person is asked about budgets, behind the sentences that say how they stand."""


def go_on(reason: StopReason, limits: Limits, budgets: str = "") -> str:
    """The question to a person at a limit of the run, or when `budgets` are used up, which this says.

    `limits` are those of the run, not extended.
    """
    if budgets:
        return f"{budgets} {AS_MUCH_AGAIN}"
    steps = "1 more step" if limits.steps == 1 else f"{limits.steps:,} more steps"
    texts = {
        StopReason.MAX_STEPS: f"The limit of this run is reached. Go on for {steps}?",
        StopReason.TIMEOUT: f"The time of this run is used up. Go on for {limits.active_seconds:g} more seconds?",
        StopReason.TOO_MANY_FAILS: f"{limits.failures_in_a_row} tool calls in a row failed. Go on all the same?",
        StopReason.LOOP_DETECTED: "The same call was made again and again without anything new. Go on all the same?",
        StopReason.BUDGET: f"The budget of this run is used up. Go on for {limits.tokens:,} more tokens?",
    }
    return texts[reason]


BUDGETS_USED_UP = "Stopped because a budget is used up."
"""Why the run ended when it was no limit of its own."""


def sentence(reason: StopReason, limits: Limits, detail: str = "") -> str:
    """Why the run ended, in one sentence for a person. `detail` is a public message of what failed.

    At `budget` it says which budgets are used up; without it, the run's own is.
    """
    if reason is StopReason.BUDGET and detail:
        return f"{BUDGETS_USED_UP} {detail}"
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
