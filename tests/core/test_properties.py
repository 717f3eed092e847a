"""What holds in every world: properties of whole runs in `simulation.py`, where anything may happen at any moment."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from opspilot.core.calls import Effect
from opspilot.core.contract import RunRequest
from opspilot.core.interrupts import AnswerAction
from opspilot.core.limits import AT_A_LIMIT, Limits, OnLimit, StopReason, extended
from opspilot.core.observations import COUNTED_AS_FAILURE, ErrorCode
from opspilot.core.state import Phase, RunState
from opspilot.core.terms import RungKind
from opspilot.core.waiting import first_given
from tests.core.record import Line, What
from tests.core.simulation import ANN, Simulation

tapes = st.binary(min_size=20, max_size=40) | st.binary(min_size=100, max_size=300)
bounds = st.builds(
    Limits,
    steps=st.sampled_from([4, 1, 10]),
    active_seconds=st.sampled_from([600.0, 60.0]),
    failures_in_a_row=st.sampled_from([5, 2, 50]),
    tokens=st.sampled_from([100_000, 1_000]),
    parallel_calls=st.sampled_from([8, 1, 2]),
    rounds=st.sampled_from([2, 5]),
    continue_as_new_steps=st.sampled_from([50, 1, 2]),
    on_limit=st.sampled_from(OnLimit),
)

in_any_world = given(tape=tapes, limits=bounds)
enough = settings(max_examples=150)


@dataclass
class Moment:
    """A line, and what could be known of the run just before it."""

    line: Line
    proposed: dict[str, Line] = field(default_factory=dict)
    results: dict[str, ErrorCode | None] = field(default_factory=dict)
    open_questions: dict[str, str] = field(default_factory=dict)
    agreed: dict[str, str] = field(default_factory=dict)

    def earlier(self) -> Iterator[Line]:
        """Calls of the same step that were proposed before the call of this line."""
        step = self.line.name.partition(".")[0]
        for name, line in self.proposed.items():
            if name.partition(".")[0] == step and line.index < self.line.index:
                yield line


def moments(simulation: Simulation) -> Iterator[Moment]:
    """Every line with what stood before it."""
    now = Moment(simulation.lines[0]) if simulation.lines else None
    for line in simulation.lines:
        assert now is not None
        now.line = line
        yield now
        call = line.name.partition("#")[0]
        match line.what:
            case What.PROPOSED:
                now.proposed[line.name] = line
            case What.RESULT:
                now.results[line.name] = line.code
                now.open_questions.pop(line.name, None)
            case What.ASKED:
                now.open_questions[call] = line.name
                now.agreed.pop(call, None)
            case What.ANSWERED:
                now.open_questions.pop(call, None)
                now.agreed[call] = line.name
            case What.STOPPED:
                now.open_questions.clear()
            case What.CLIMBED if line.rung is not None and line.rung.kind is RungKind.EXPIRE:
                now.open_questions.pop(call, None)


def answers(simulation: Simulation) -> Iterator[list[Line]]:
    """The lines of each answer: a run that goes on after a late message gives more than one."""
    part: list[Line] = []
    for line in simulation.lines:
        if line.what is What.WENT_ON:
            yield part
            part = []
        part.append(line)
    yield part


def granted(part: list[Line], until: Line, *, inclusive: bool = False) -> tuple[StopReason, ...]:
    """The limits beyond which a person has let this answer go, before this line."""
    grants: list[StopReason] = []
    asked = StopReason.MAX_STEPS
    for line in part:
        if line is until and not inclusive:
            break
        if line.what is What.ASKED and line.reason is not None:
            asked = line.reason
        if line.what is What.ANSWERED and line.name.startswith("limit") and line.action is AnswerAction.APPROVE:
            grants.append(asked)
        if line is until:
            break
    return tuple(grants)


def fate(simulation: Simulation) -> str:
    """Whether all could be recorded (`whole`), or not even opening or closing the run succeeded (`refused`)."""
    for line in simulation.lines:
        broke_for_good = line.what is What.BROKE and (line.state.phase is Phase.CLOSING or not line.state.opened)
        if line.what is What.TURNED_AWAY or broke_for_good:
            return "refused"
    return "whole"


# ---------------------------------------------------------------- pairing


@enough
@in_any_world
def test_each_issued_call_gets_exactly_one_observation(tape: bytes, limits: Limits) -> None:
    simulation = Simulation(tape, limits).run()
    for moment in moments(simulation):
        if moment.line.what is What.RESULT:
            assert moment.line.name in moment.proposed
            assert moment.line.name not in moment.results
    proposed = {line.name for line in simulation.lines if line.what is What.PROPOSED}
    answered = {line.name for line in simulation.lines if line.what is What.RESULT}
    assert answered == proposed or (answered < proposed and fate(simulation) == "refused")


@enough
@in_any_world
def test_nothing_is_thought_or_said_before_every_call_has_its_observation(tape: bytes, limits: Limits) -> None:
    for moment in moments(Simulation(tape, limits).run()):
        if moment.line.what in (What.THOUGHT, What.READ, What.STOPPED):
            assert moment.proposed.keys() == moment.results.keys()
            assert moment.line.what is not What.THOUGHT or not moment.open_questions


@enough
@in_any_world
def test_only_a_run_that_broke_leaves_calls_for_its_closing(tape: bytes, limits: Limits) -> None:
    broke = False
    for line in Simulation(tape, limits).run().lines:
        broke = broke or line.what is What.BROKE
        if line.what is What.RESULT and not broke:
            assert line.state.phase is Phase.SETTLING or line.code is not None
            assert line.state.phase is not Phase.CLOSING


# ---------------------------------------------------------------- order


@enough
@in_any_world
def test_a_write_runs_alone_after_all_that_was_proposed_before_it(tape: bytes, limits: Limits) -> None:
    simulation = Simulation(tape, limits).run()
    sizes: dict[int, int] = {}
    for line in simulation.lines:
        if line.what is What.STARTED:
            sizes[line.batch] = sizes.get(line.batch, 0) + 1
    for moment in moments(simulation):
        call = moment.line.call
        if moment.line.what is What.STARTED and call is not None and call.effect is Effect.WRITE:
            assert sizes[moment.line.batch] == 1
            assert all(before.name in moment.results for before in moment.earlier())


@enough
@in_any_world
def test_what_may_not_run_beside_others_runs_alone_and_batches_are_small(tape: bytes, limits: Limits) -> None:
    batches: dict[int, list[Line]] = {}
    for line in Simulation(tape, limits).run().lines:
        if line.what is What.STARTED:
            batches.setdefault(line.batch, []).append(line)
    for batch in batches.values():
        assert len(batch) <= limits.parallel_calls
        assert [line.index for line in batch] == sorted({line.index for line in batch})
        if len(batch) > 1:
            assert all(line.call is not None and line.call.concurrent for line in batch)


@enough
@in_any_world
def test_a_call_runs_before_an_earlier_one_only_if_that_waits_for_a_person_and_is_marked(
    tape: bytes, limits: Limits
) -> None:
    simulation = Simulation(tape, limits).run()
    started = {(line.batch, line.name) for line in simulation.lines if line.what is What.STARTED}
    for moment in moments(simulation):
        if moment.line.what is not What.STARTED:
            continue
        unfinished = [
            before
            for before in moment.earlier()
            if before.name not in moment.results and (moment.line.batch, before.name) not in started
        ]
        assert moment.line.before_approval == bool(unfinished)
        if unfinished:
            assert moment.line.call is not None
            assert moment.line.call.effect is Effect.READ
            held = [before.index for before in unfinished if before.name in moment.open_questions]
            reads_and_held_writes = [
                before
                for before in unfinished
                if before.name in moment.open_questions
                or before.name in moment.agreed
                or (held and before.index > held[0])
            ]
            assert reads_and_held_writes == unfinished


@enough
@in_any_world
def test_a_write_after_an_unsuccessful_write_of_its_step_never_runs(tape: bytes, limits: Limits) -> None:
    for moment in moments(Simulation(tape, limits).run()):
        call = moment.line.call
        if moment.line.what is What.STARTED and call is not None and call.effect is Effect.WRITE:
            for before in moment.earlier():
                assert before.call is not None
                assert before.call.effect is Effect.READ or moment.results[before.name] is None


# ---------------------------------------------------------------- people


@enough
@in_any_world
def test_agreed_calls_wait_until_every_question_of_the_step_is_settled(tape: bytes, limits: Limits) -> None:
    for moment in moments(Simulation(tape, limits).run()):
        if moment.line.what is What.STARTED and moment.line.name in moment.agreed:
            assert not moment.open_questions


@enough
@in_any_world
def test_a_call_that_waits_for_a_person_or_was_rejected_does_not_run(tape: bytes, limits: Limits) -> None:
    for moment in moments(Simulation(tape, limits).run()):
        if moment.line.what is What.STARTED:
            assert moment.line.name not in moment.open_questions
            assert moment.line.name not in moment.results


@enough
@in_any_world
def test_every_question_has_a_name_of_its_own_and_rounds_are_capped(tape: bytes, limits: Limits) -> None:
    lines = Simulation(tape, limits).run().lines
    asked = [line.name for line in lines if line.what is What.ASKED]
    started = [(line.name, line.round) for line in lines if line.what is What.STARTED]
    assert len(asked) == len(set(asked))
    assert len(started) == len(set(started))
    assert all(1 <= line.round <= limits.rounds for line in lines if line.what is What.STARTED)


@enough
@in_any_world
def test_a_question_has_one_end_and_an_expired_call_never_runs(tape: bytes, limits: Limits) -> None:
    ended: set[str] = set()
    given_up: set[str] = set()
    for line in Simulation(tape, limits).run().lines:
        expired = line.what is What.CLIMBED and line.rung is not None and line.rung.kind is RungKind.EXPIRE
        if line.what is What.ANSWERED or expired:
            assert line.name not in ended
            ended.add(line.name)
        if expired:
            given_up.add(line.name.partition("#")[0])
        if line.what is What.STARTED:
            assert line.name not in given_up


@enough
@in_any_world
def test_ladders_are_climbed_rung_by_rung_when_it_is_time_and_after_the_answers_that_came_before(
    tape: bytes, limits: Limits
) -> None:
    climbed: dict[str, list[RungKind]] = {}
    for line in Simulation(tape, limits).run().lines:
        if line.what is not What.CLIMBED or line.rung is None:
            continue
        wait = line.state.waits[line.name]
        assert wait.next_rung == line.rung
        assert wait.next_at is not None
        assert line.now >= wait.next_at
        assert all(answer.at >= wait.next_at for answer in line.state.answers)
        rungs = climbed.setdefault(line.name, [])
        rungs.append(line.rung.kind)
        assert rungs == [rung.kind for rung in wait.ladder[: len(rungs)]]


@enough
@in_any_world
def test_an_answer_after_the_time_was_up_settles_nothing(tape: bytes, limits: Limits) -> None:
    simulation = Simulation(tape, limits).run()
    for line in simulation.lines:
        if line.what is What.ANSWERED:
            expires_at = line.state.waits[line.name].expires_at if line.name in line.state.waits else None
            assert expires_at is None or (given := first_given(line.state)) is None or given.at < expires_at


# ---------------------------------------------------------------- limits


@enough
@in_any_world
def test_a_run_that_may_ask_has_last_words_only_when_nobody_lets_it_go_on(tape: bytes, limits: Limits) -> None:
    for part in answers(Simulation(tape, limits).run()):
        asked = ""
        declined = False
        for line in part:
            expired = line.what is What.CLIMBED and line.rung is not None and line.rung.kind is RungKind.EXPIRE
            if line.what is What.ASKED and line.reason is not None:
                assert limits.on_limit is OnLimit.ASK or line.reason is StopReason.BUDGET
                asked, declined = line.name, False
            elif line.name and line.name == asked and (expired or line.what is What.ANSWERED):
                declined = expired or line.action is not AnswerAction.APPROVE
            elif line.what is What.THOUGHT and line.reason is not None and limits.on_limit is OnLimit.ASK:
                assert declined or line.reason is StopReason.EXPIRED


@enough
@in_any_world
def test_no_step_begins_and_no_tool_starts_beyond_a_limit(tape: bytes, limits: Limits) -> None:
    for part in answers(Simulation(tape, limits).run()):
        steps = tokens_before = 0
        refused = False
        for line in part:
            most = extended(limits, granted(part, line))
            if line.what is What.STARTED or (line.what is What.THOUGHT and line.reason is None):
                assert line.spent_seconds < most.active_seconds
            if line.what is What.THOUGHT and line.reason is None:
                steps += 1
                assert steps <= most.steps
                assert line.spent_tokens - tokens_before < limits.tokens
            if line.what is What.REFUSED:
                steps -= 1
                refused = True
            if line.what is What.ANSWERED and line.name.startswith("limit"):
                if not refused and granted(part, line, inclusive=True)[-1:] == (StopReason.BUDGET,):
                    tokens_before = line.spent_tokens
                refused = False


@enough
@in_any_world
def test_with_a_budget_used_up_the_model_is_called_again_only_when_a_person_grants_more(
    tape: bytes, limits: Limits
) -> None:
    simulation = Simulation(tape, limits).run()
    grants = 0
    for part in answers(simulation):
        used_up = False
        for line in part:
            used_up = used_up or line.what is What.REFUSED
            if line.what is What.ANSWERED and line.name.startswith("limit") and line.action is AnswerAction.APPROVE:
                if used_up and line.state.stop is StopReason.BUDGET:
                    grants += 1
                used_up = False
            assert not (used_up and line.what is What.THOUGHT and line.reason is None)
    assert len(simulation.state.granted) == grants


@enough
@in_any_world
def test_no_step_begins_after_too_many_failures_in_a_row(tape: bytes, limits: Limits) -> None:
    for part in answers(Simulation(tape, limits).run()):
        codes: dict[tuple[int, ...], ErrorCode | None] = {}
        for line in part:
            if line.what is What.ANSWERED and granted(part, line, inclusive=True)[-1:] == (StopReason.TOO_MANY_FAILS,):
                codes.clear()
            if line.what is What.RESULT:
                codes[tuple(map(int, line.name.split(".")))] = line.code
            elif line.what is What.THOUGHT and line.reason is None:
                in_a_row = 0
                for _, code in sorted(codes.items()):
                    in_a_row = 0 if code is None else in_a_row + (code in COUNTED_AS_FAILURE)
                    assert in_a_row < limits.failures_in_a_row


@enough
@in_any_world
def test_at_a_limit_and_only_there_the_model_has_one_last_turn(tape: bytes, limits: Limits) -> None:
    for part in answers(Simulation(tape, limits).run()):
        thoughts = [line for line in part if line.what is What.THOUGHT]
        last_turns = [line for line in thoughts if line.reason is not None]
        assert len(last_turns) <= 1
        assert last_turns == thoughts[len(thoughts) - len(last_turns) :]
        stopped = next((line for line in part if line.what is What.STOPPED), None)
        if stopped is not None and stopped.reason in AT_A_LIMIT:
            steps = len(thoughts) - sum(line.what is What.REFUSED for line in part)
            assert [line.reason for line in last_turns] == ([stopped.reason] if steps else [])
        elif last_turns:
            since = part[part.index(last_turns[0]) :]
            assert any(line.what in (What.STOP, What.BROKE) for line in since)


# ---------------------------------------------------------------- messages and stops


@enough
@in_any_world
def test_each_message_is_read_once_and_in_order(tape: bytes, limits: Limits) -> None:
    simulation = Simulation(tape, limits).run()
    said = [line.name for line in simulation.lines if line.what is What.SAID]
    read = [line.name for line in simulation.lines if line.what is What.READ]
    in_order = iter(said)
    assert all(name in in_order for name in read)
    assert read == said or fate(simulation) == "refused"
    assert not simulation.state.inbox


@enough
@in_any_world
def test_after_a_stop_nothing_is_begun_until_somebody_says_more(tape: bytes, limits: Limits) -> None:
    simulation = Simulation(tape, limits).run()
    stopped_now = quiet_since_stop = False
    for line in simulation.lines:
        match line.what:
            case What.STOP:
                quiet_since_stop = True
                stopped_now = stopped_now or line.state.phase not in (Phase.CLOSING, Phase.ENDED)
            case What.SAID | What.AGAIN:
                quiet_since_stop = False
            case What.WENT_ON:
                stopped_now = False
            case What.THOUGHT | What.STARTED:
                assert not stopped_now
                assert not quiet_since_stop
                assert not line.state.cancelled_by_temporal


NOBODY_DECIDES_THEN_A_STOP = bytes(14) + b"|\0\0\0\0W\0\0\0>" + bytes(6) + b"\x06\x19"
"""A budget is used up before the first step, nobody says whether to go on, and while that is closed a stop comes."""


@enough
@example(tape=NOBODY_DECIDES_THEN_A_STOP, limits=Limits(steps=4, rounds=2, tokens=100_000))
@in_any_world
def test_a_stop_is_the_reason_of_a_run_that_was_not_ending_already(tape: bytes, limits: Limits) -> None:
    for part in answers(Simulation(tape, limits).run()):
        stops = [line for line in part if line.what is What.STOP]
        ends = [line.reason for line in part if line.what is What.STOPPED]
        if any(line.state.phase not in (Phase.CLOSING, Phase.ENDED) for line in stops) and ends:
            assert ends == [StopReason.CANCELLED] or any(line.what is What.BROKE for line in part)


# ---------------------------------------------------------------- the end, and the state


@enough
@in_any_world
def test_when_the_world_stops_talking_the_run_ends_with_a_reason_and_a_sentence(tape: bytes, limits: Limits) -> None:
    simulation = Simulation(tape, limits).run()
    assert simulation.reason in StopReason
    assert simulation.message.endswith((".", "?"))
    for part in answers(simulation):
        assert sum(line.what is What.STOPPED for line in part) <= 1
    closed = [line for line in simulation.lines if line.what is What.STOPPED]
    assert len(closed) == simulation.state.closes


@settings(max_examples=60)
@in_any_world
def test_a_state_that_was_written_and_loaded_is_the_same_at_every_point(tape: bytes, limits: Limits) -> None:
    adapter = TypeAdapter(RunRequest)

    def carried(state: RunState) -> RunState:
        request = RunRequest(ANN, limits, carried=state)
        loaded = adapter.validate_json(adapter.dump_json(request))
        assert loaded == request
        assert loaded.carried is not None
        return loaded.carried

    with_copies = Simulation(tape, limits, checkpoint=carried).run()
    assert with_copies.lines == Simulation(tape, limits).run().lines


# ---------------------------------------------------------------- is all of this about anything?


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(
            lambda simulation: {line.reason for line in simulation.lines if line.what is What.STOPPED},
            set(StopReason),
            id="all stop reasons that have a cause",
        ),
        pytest.param(
            lambda simulation: {line.what for line in simulation.lines},
            set(What),
            id="everything that can be written",
        ),
        pytest.param(
            lambda simulation: {
                *(["before approval"] if any(line.before_approval for line in simulation.lines) else []),
                *(["second round"] if any(line.round > 1 for line in simulation.lines) else []),
                *(["continued as new"] if simulation.carried else []),
                *(["writes in a step after a failed one"] if skipped(simulation) else []),
            },
            {"before approval", "second round", "continued as new", "writes in a step after a failed one"},
            id="what the rules are about",
        ),
    ],
)
def test_the_worlds_reach(seen: Callable[[Simulation], set[str]], expected: set[str]) -> None:
    missing = set(expected)
    for seed in range(4000):
        chance = random.Random(seed)
        limits = Limits(
            steps=chance.choice([3, 8]),
            active_seconds=chance.choice([60, 600]),
            failures_in_a_row=chance.choice([2, 50]),
            same_result_in_a_row=chance.choice([2, 3]),
            tokens=chance.choice([1000, 100_000]),
            continue_as_new_steps=chance.choice([1, 50]),
            on_limit=chance.choice(list(OnLimit)),
        )
        missing -= seen(Simulation(chance.randbytes(chance.randrange(300)), limits).run())
        if not missing:
            return
    raise AssertionError(f"never reached: {missing}")


def skipped(simulation: Simulation) -> bool:
    return any(line.code is ErrorCode.SKIPPED_AFTER_UNSUCCESSFUL_WRITE for line in simulation.lines)
