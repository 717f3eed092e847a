"""What a run does in each state. Read each row as: in this state, it does that."""

from dataclasses import replace

import pytest

from opspilot.core.decisions import RunBatch, Think
from opspilot.core.limits import AT_A_LIMIT, StopReason
from opspilot.core.loop import decide
from opspilot.core.state import RunState
from tests.core.builders import (
    CLOSING,
    EMPTY,
    ENDED,
    LIMITS,
    M1,
    M2,
    OPENING,
    SECOND,
    THINKING,
    answer,
    settling,
    words,
)


@pytest.mark.parametrize(
    ("state", "decision"),
    [
        pytest.param(EMPTY, "wait 30 s for a message", id="a run without a message waits for one"),
        pytest.param(OPENING, "open with m1", id="with a message it opens"),
        pytest.param(replace(OPENING, stop=StopReason.CANCELLED), "open with m1", id="also to record it when stopped"),
        pytest.param(THINKING, "think 1", id="an open run thinks"),
        pytest.param(replace(SECOND, inbox=(M1, M2)), "think 2 m1 m2", id="with all that was said since"),
        *(
            pytest.param(
                replace(SECOND, stop=reason), f"last words at {reason} after step 1 in 60 s", id=f"at {reason}"
            )
            for reason in sorted(AT_A_LIMIT)
        ),
        *(
            pytest.param(replace(SECOND, stop=reason), f"close {reason}", id=f"no last words at {reason}")
            for reason in sorted(set(StopReason) - AT_A_LIMIT)
        ),
        pytest.param(
            replace(SECOND, stop=StopReason.CANCELLED, inbox=(M1,)),
            "close cancelled m1",
            id="a stop records what nobody will answer",
        ),
        pytest.param(
            replace(CLOSING, stop=StopReason.JOURNAL_BEHIND, inbox=(M1,)), "close journal_behind m1", id="a fault, too"
        ),
        pytest.param(
            replace(CLOSING, inbox=(M1,)), "close answered", id="after an answer the next message has its own turn"
        ),
        pytest.param(settling("R R W"), "run 1 2", id="calls that may run do"),
        pytest.param(settling("W? R"), "run 2", id="reads before the question is even asked"),
        pytest.param(settling("W? R."), "ask 1", id="then people are asked"),
        pytest.param(settling("W? R? R."), "ask 1 2", id="everything at once"),
        pytest.param(settling("W?", answers=(answer("a1"), answer("a2"))), "judge a1", id="an answer is judged"),
        pytest.param(settling("W? R", answers=(answer("a1"),)), "run 2", id="after what could run without it"),
        pytest.param(
            settling("W! W W?"),
            "record 2:skipped_after_unsuccessful_write 3:skipped_after_unsuccessful_write",
            id="writes after a failed write are not run, and not asked about",
        ),
        pytest.param(
            settling("W? R W.", stop=StopReason.CANCELLED),
            "record 1:cancelled 2:cancelled",
            id="a stop answers all open calls",
        ),
        pytest.param(
            settling("W? R", stop=StopReason.TIMEOUT),
            "record 1:not_started 2:not_started",
            id="when time is up they are not started",
        ),
        pytest.param(ENDED, "end", id="an ended run has nothing to do"),
    ],
)
def test_what_a_run_does(state: RunState, decision: str) -> None:
    assert words(decide(state, LIMITS)) == decision


def test_a_call_may_take_what_its_tool_needs_but_no_more_than_what_is_left() -> None:
    def seconds(active: float) -> float:
        decision = decide(settling("R", active_now=active), LIMITS)
        assert isinstance(decision, RunBatch)
        return decision.calls[0].seconds

    assert (seconds(0), seconds(95), seconds(99.5)) == (20.0, 5.0, 1.0)


def test_a_model_call_may_take_what_is_left() -> None:
    decision = decide(replace(SECOND, active_now=30.0), LIMITS)
    assert isinstance(decision, Think)
    assert decision.seconds == 70.0


def test_the_last_round_is_told_that_it_is_the_last() -> None:
    state = settling("R+")
    for round_, last in ((1, False), (2, False), (3, True)):
        decision = decide(replace(state, calls=(replace(state.calls[0], round=round_),)), LIMITS)
        assert isinstance(decision, RunBatch)
        assert decision.calls[0].last_round is last
