"""Which calls run next. Read each row as: calls of a step, then the places of those that run together now."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.batches import never_to_run, next_batch, runs_before_approval
from opspilot.core.calls import Effect
from opspilot.core.state import CallState, Stage
from tests.core.builders import KINDS, STAGES, calls


@pytest.mark.parametrize(
    ("step", "together"),
    [
        pytest.param("R", [1], id="one read"),
        pytest.param("W", [1], id="one write"),
        pytest.param("R R R", [1, 2, 3], id="reads run side by side"),
        pytest.param("R R R R", [1, 2, 3], id="but no more than three, the limit of this table"),
        pytest.param("R. R. R R", [3, 4], id="then the rest"),
        pytest.param("R r R", [1], id="a read that runs alone waits for those before it"),
        pytest.param("R. r R", [2], id="then runs alone"),
        pytest.param("r r", [1], id="two of those run one after the other"),
        pytest.param("R W R", [1], id="a read before a write ends first"),
        pytest.param("R. W R", [2], id="then the write alone"),
        pytest.param("R. W. R", [3], id="then the read after it"),
        pytest.param("W W", [1], id="writes run one after the other"),
        pytest.param("w w", [1], id="also those that claim to be concurrent"),
        pytest.param("W? R R", [2, 3], id="reads behind a held write run at once"),
        pytest.param("W? W R", [3], id="also behind a write that is held behind a held one"),
        pytest.param("R? W R", [3], id="a held read holds the writes behind it, not the reads"),
        pytest.param("W? r R", [2], id="a read that runs alone does so behind a held call, too"),
        pytest.param("W? R r", [2], id="and waits for the reads before it"),
        pytest.param("W W? R", [1], id="a write before the held one is free, and the read waits for it"),
        pytest.param("W. W? R", [3], id="then the read runs"),
        pytest.param("W?", [], id="a held call runs when people have spoken"),
        pytest.param("W? W", [], id="and so does what is held behind it"),
        pytest.param("R. W? W R.", [], id="nothing is left but what is held"),
        pytest.param("W+ W?", [], id="an agreed call waits until every question is settled"),
        pytest.param("W? W+", [], id="whatever their order"),
        pytest.param("R+ W?", [], id="an agreed read, too"),
        pytest.param("W+ W+", [1], id="agreed calls run in proposal order"),
        pytest.param("W. W+", [2], id="one after the other"),
        pytest.param("W+ W R.", [1], id="an agreed write before the write that was held behind it"),
        pytest.param("R+ R+ W", [1, 2], id="agreed reads side by side"),
        pytest.param("R. W.", [], id="all is done"),
        pytest.param("", [], id="no calls"),
    ],
)
def test_what_runs_next(step: str, together: list[int]) -> None:
    assert [call.index for call in next_batch(calls(step), 3)] == together


@pytest.mark.parametrize(
    ("step", "index", "marked"),
    [
        pytest.param("W? R", 2, True, id="behind a held write"),
        pytest.param("R? R", 2, True, id="behind a held read"),
        pytest.param("W? W R", 3, True, id="behind a write that is held behind another"),
        pytest.param("W+ W? R", 3, True, id="behind an agreed call while others are open"),
        pytest.param("R W?", 1, False, id="before the held call"),
        pytest.param("W? R. R", 3, True, id="however many reads are between"),
        pytest.param("R R", 2, False, id="nothing is held"),
        pytest.param("W+ R", 1, False, id="the agreed call itself"),
        pytest.param("W. R W?", 2, False, id="behind a write that has ended"),
    ],
)
def test_which_reads_run_before_approval(step: str, index: int, *, marked: bool) -> None:
    step_calls = calls(step)
    assert runs_before_approval(step_calls[index - 1], step_calls) is marked


@pytest.mark.parametrize(
    ("step", "skipped"),
    [
        pytest.param("W. W", [], id="a write that went well stops nothing"),
        pytest.param("W! W R", [2], id="a failed one stops the later write, not the read"),
        pytest.param("W! R W W", [3, 4], id="all later writes"),
        pytest.param("W W!", [], id="not the earlier ones"),
        pytest.param("R! W", [], id="a failed read stops nothing"),
        pytest.param("Wx W", [2], id="a rejected write stops the later ones"),
        pytest.param("Wx W+", [2], id="also an approved one"),
        pytest.param("W! W?", [2], id="also one whose question is open"),
        pytest.param("W! W. W!", [], id="what has ended stays as it is"),
    ],
)
def test_which_writes_never_run(step: str, skipped: list[int]) -> None:
    assert [call.index for call in never_to_run(calls(step))] == skipped


kinds = st.builds(lambda kind, stage: kind + stage, st.sampled_from(list(KINDS)), st.sampled_from(list(STAGES)))
steps = st.lists(kinds, max_size=9).map(" ".join)


@given(steps, st.integers(1, 8))
def test_a_batch_is_in_proposal_order_of_limited_size_and_only_of_calls_that_may_run(step: str, most: int) -> None:
    batch = next_batch(calls(step), most)
    assert [call.index for call in batch] == sorted({call.index for call in batch})
    assert len(batch) <= most
    assert all(call.stage in (Stage.READY, Stage.AGREED) for call in batch)
    assert len(batch) == 1 or all(call.concurrent and call.effect is Effect.READ for call in batch)


@given(steps, st.integers(1, 8))
def test_as_long_as_calls_are_open_something_runs_or_somebody_is_asked(step: str, most: int) -> None:
    step_calls = calls(step)
    if any(call.is_open for call in step_calls) and not next_batch(step_calls, most):
        assert any(call.stage is Stage.ASKED for call in step_calls)


@given(steps)
def test_a_write_that_runs_has_nothing_open_before_it(step: str) -> None:
    step_calls: tuple[CallState, ...] = calls(step)
    for call in next_batch(step_calls, 8):
        if call.effect is Effect.WRITE:
            assert not any(other.is_open for other in step_calls if other.index < call.index)
