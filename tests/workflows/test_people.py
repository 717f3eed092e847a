"""A run that needs people waits for as long as they take, on time that is moved on by hand, and goes on from there."""

import asyncio
import itertools
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.testing import TimeSkipper

from opspilot.client import OpsPilot
from opspilot.core.calls import Gate
from opspilot.core.contract import ANSWER_SIGNAL
from opspilot.core.entries import Kind
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import StopReason
from opspilot.core.policy import Policy, Rule
from opspilot.core.terms import Rung, RungKind, Terms
from tests.workflows.desk import ME, Desk, paired
from tests.workflows.test_agent import DONE, call, calls

pytestmark = pytest.mark.asyncio(loop_scope="session")

APPROVE, REJECT, PROVIDE = AnswerAction.APPROVE, AnswerAction.REJECT, AnswerAction.PROVIDE
HOUR = 3600.0
REMIND = Rung(RungKind.REMIND, HOUR)
ESCALATE = Rung(RungKind.ESCALATE, 4 * HOUR, role="lead")
EXPIRE = Rung(RungKind.EXPIRE, 24 * HOUR)
LADDER = (REMIND, ESCALATE, EXPIRE)
ANN, BOB, EVE = Principal("ann", roles=("sre",)), Principal("bob", roles=("sre",)), Principal("eve")
CHANGE = [calls(call("change", name="db")), DONE]

MakeDesk = Callable[..., Desk]


def confirm(*ladder: Rung, **terms: Any) -> Policy:
    """Every write needs agreement, on these terms."""
    return Policy((Rule("writes", Gate.CONFIRM, tools=("change", "slow_change"), terms=Terms(ladder=ladder, **terms)),
                   Rule("others", Gate.RUN)))  # fmt: skip


@pytest.fixture(params=[pytest.param(100, id="cached"), pytest.param(0, id="uncached")])
def make_desk(request: pytest.FixtureRequest, clock: TimeSkipper, tmp_path: Path) -> MakeDesk:
    """Desks whose runs wait in earnest."""

    def make(policy: Policy, **more: Any) -> Desk:
        queue = f"q-{uuid.uuid4().hex[:8]}"
        return Desk(clock.client, queue, tmp_path, request.param, policy=policy, **more)

    return make


def acting_as(desk: Desk, principal: Principal, key: bytes | None = None) -> OpsPilot:
    return OpsPilot(desk.client, desk.journal, principal, desk.queue, key=key)


async def say(
    desk: Desk, session: str, who: Principal, action: AnswerAction = APPROVE, interrupt: str = "1.1#0", **more: Any
) -> None:
    """Answer as this person, bound to what is shown."""
    question = next(row for row in desk.journal.open_interrupts(session) if row.interrupt == interrupt)
    answer = Answer(uuid.uuid4().hex, interrupt, action, who, digest=question.digest, **more)
    await acting_as(desk, who).answer(session, answer)


async def test_an_answer_after_six_hours_goes_on_from_that_very_point(make_desk: MakeDesk, clock: TimeSkipper) -> None:
    desk = make_desk(confirm())
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await clock.fast_forward(desk.handle(asked.session), 6 * HOUR)
        assert desk.done == []
        await say(desk, asked.session, ANN)
        result = await desk.result(asked)
    assert (result.stop_reason, desk.done) == (StopReason.ANSWERED, ["change db"])
    (answered,) = desk.entries(asked.session, Kind.INTERRUPT_ANSWERED)
    assert (answered.data["by"], answered.data["approved"]) == ("ann", True)
    assert [entry.data["rule"] for entry in desk.entries(asked.session, Kind.TOOL_CALL)] == ["writes"]
    paired(desk, asked.session)


async def test_reminded_after_an_hour_escalated_after_four_expired_after_a_day(
    make_desk: MakeDesk, clock: TimeSkipper
) -> None:
    desk = make_desk(confirm(*LADDER))
    async with desk.worker([calls(call("change", name="db"), call("change", name="web")), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session, questions=2)
        handle = desk.handle(asked.session)
        await clock.fast_forward(handle, HOUR + 60)
        await desk.until(asked.session, Kind.INTERRUPT_REMINDED, count=2)
        assert desk.entries(asked.session, Kind.INTERRUPT_ESCALATED) == []
        await clock.fast_forward(handle, 3 * HOUR)
        escalated = await desk.until(asked.session, Kind.INTERRUPT_ESCALATED, count=2)
        assert escalated.data["role"] == "lead"
        assert desk.entries(asked.session, Kind.INTERRUPT_EXPIRED) == []
        await clock.fast_forward(handle, 20 * HOUR)
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.ANSWERED
    assert desk.codes(asked.session) == {"1.1": "approval_expired", "1.2": "skipped_after_unsuccessful_write"}
    assert desk.done == []
    assert desk.journal.open_interrupts() == ()
    paired(desk, asked.session)


async def test_an_expiry_that_stops_ends_the_run_with_a_sentence_after_last_words(
    make_desk: MakeDesk, clock: TimeSkipper
) -> None:
    desk = make_desk(confirm(replace(EXPIRE, stops=True)))
    async with desk.worker([calls(call("change", name="db"))] * 2):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await clock.fast_forward(desk.handle(asked.session), 25 * HOUR)
        result = await desk.result(asked)
    assert (result.stop_reason, result.message) == (StopReason.EXPIRED, "Stopped because nobody decided in time.")
    assert result.answer == "That is all I found."
    assert desk.codes(asked.session) == {"1.1": "approval_expired"}
    paired(desk, asked.session)


async def test_an_answer_to_an_expired_question_is_told_so(make_desk: MakeDesk, clock: TimeSkipper) -> None:
    desk = make_desk(confirm(EXPIRE))
    async with desk.worker([calls(call("change", name="db"), call("needs_place", name="x")), DONE]):
        asked = await desk.ask()
        status = await desk.waiting(asked.session, questions=1)
        await clock.fast_forward(desk.handle(asked.session), 25 * HOUR)
        await desk.until(asked.session, Kind.INTERRUPT_EXPIRED)
        late = Answer("late", "1.1#0", APPROVE, ANN, digest=status.questions[0].digest)
        with pytest.raises(UsageError, match=r"is not open|no open run"):
            await acting_as(desk, ANN).answer(asked.session, late)
        await desk.result(asked)
    assert desk.codes(asked.session) == {"1.1": "approval_expired", "1.2": "skipped_after_unsuccessful_write"}
    assert desk.done == []


async def test_two_different_people_have_to_agree_and_the_requester_is_neither(make_desk: MakeDesk) -> None:
    requester = replace(ME, roles=("sre",))
    desk = make_desk(confirm(role="sre", quorum=2, not_requester=True), principal=requester)
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await say(desk, asked.session, requester)
        own = await desk.until(asked.session, Kind.ANSWER_IGNORED)
        assert "Who asked for this may not agree" in own.data["message"]
        await say(desk, asked.session, EVE)
        outsider = await desk.until(asked.session, Kind.ANSWER_IGNORED, count=2)
        assert "role sre" in outsider.data["message"]
        await say(desk, asked.session, ANN)
        first = await desk.until(asked.session, Kind.INTERRUPT_APPROVED)
        assert (first.data["by"], first.data["approvals"], first.data["quorum"]) == ("ann", 1, 2)
        await say(desk, asked.session, ANN)
        again = await desk.until(asked.session, Kind.ANSWER_IGNORED, count=3)
        assert "agreed already" in again.data["message"]
        assert desk.done == []
        await say(desk, asked.session, BOB)
        await desk.result(asked)
    assert desk.done == ["change db"]
    (answered,) = desk.entries(asked.session, Kind.INTERRUPT_ANSWERED)
    assert (answered.data["by"], answered.data["approvals"]) == ("bob", ["ann"])
    paired(desk, asked.session)


async def test_whoever_told_the_run_something_before_it_asked_is_no_second_pair_of_eyes(make_desk: MakeDesk) -> None:
    root = Principal("root", "Root", ("admin",))
    desk = make_desk(confirm(not_requester=True))
    async with desk.worker([calls(call("needs_place", name="x")), calls(call("change", name="db")), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await acting_as(desk, root).ask("Change the db instead.", asked.session)
        await say(desk, asked.session, ME, REJECT, interrupt="1.1#1")
        await desk.until(asked.session, Kind.INTERRUPT_OPENED, count=2)
        await desk.waiting(asked.session)
        await say(desk, asked.session, root, interrupt="2.1#0")
        own = await desk.until(asked.session, Kind.ANSWER_IGNORED)
        assert "Who asked for this may not agree" in own.data["message"]
        await say(desk, asked.session, ANN, interrupt="2.1#0")
        await desk.result(asked)
    assert desk.done == ["change db"]
    said = [entry.data.get("by") for entry in desk.entries(asked.session, Kind.USER_MESSAGE)]
    assert said == [ME.id, "root"]
    paired(desk, asked.session)


async def test_with_two_approvers_an_edit_is_shown_to_the_other_one(make_desk: MakeDesk) -> None:
    desk = make_desk(confirm(quorum=2))
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await say(desk, asked.session, ANN, PROVIDE, values={"name": "db-replica"})
        question = await desk.until(asked.session, Kind.INTERRUPT_OPENED, count=2)
        assert (question.data["interrupt"], question.data["arguments"]) == ("1.1#1", {"name": "db-replica"})
        await desk.waiting(asked.session)
        assert desk.done == []
        await say(desk, asked.session, BOB, interrupt="1.1#1")
        await desk.result(asked)
    assert desk.done == ["change db-replica"]
    paired(desk, asked.session)


async def test_whoever_an_escalation_reaches_may_decide_too(make_desk: MakeDesk, clock: TimeSkipper) -> None:
    lead = Principal("lena", roles=("lead",))
    desk = make_desk(confirm(ESCALATE, role="sre"))
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await say(desk, asked.session, lead)
        await desk.until(asked.session, Kind.ANSWER_IGNORED)
        await clock.fast_forward(desk.handle(asked.session), 5 * HOUR)
        await desk.until(asked.session, Kind.INTERRUPT_ESCALATED)
        await say(desk, asked.session, lead)
        await desk.result(asked)
    assert desk.done == ["change db"]


async def test_a_worker_that_is_away_all_night_finds_the_answer_when_it_is_back(make_desk: MakeDesk) -> None:
    desk = make_desk(confirm(EXPIRE))
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        await desk.waiting(asked.session)
    question = desk.journal.open_interrupts(asked.session)[0]
    answer = Answer("in-the-night", "1.1#0", APPROVE, ANN, digest=question.digest)
    receipt = await acting_as(desk, ANN).answer(asked.session, answer)
    assert "worker" in receipt.message
    assert desk.done == []
    async with desk.worker(CHANGE):
        result = await desk.result(asked)
    assert (result.stop_reason, desk.done) == (StopReason.ANSWERED, ["change db"])
    assert len(desk.entries(asked.session, Kind.INTERRUPT_ANSWERED)) == 1
    paired(desk, asked.session)


@pytest.mark.parametrize("hours", [23, 25])
async def test_what_was_said_in_time_while_no_worker_was_up_counts_and_what_was_said_too_late_does_not(
    make_desk: MakeDesk, clock: TimeSkipper, hours: int
) -> None:
    desk = make_desk(confirm(EXPIRE))
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        await desk.waiting(asked.session)
    question = desk.journal.open_interrupts(asked.session)[0]
    handle = desk.handle(asked.session)
    skipping = asyncio.create_task(clock.fast_forward(handle, 30 * HOUR))
    # The run's time is up, and nobody is there to notice.
    while (await handle.fetch_history()).events[-1].event_type != EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
        await asyncio.sleep(0.02)
    said_at = question.opened_at.timestamp() + hours * HOUR
    for id_, action, at in (("late", REJECT, said_at + 2 * HOUR), ("in-the-night", APPROVE, said_at)):
        answer = Answer(id_, "1.1#0", action, ANN, digest=question.digest, said_at=at)
        await handle.signal(ANSWER_SIGNAL, answer)
    async with desk.worker(CHANGE):
        await desk.result(asked)
    skipping.cancel()
    assert desk.done == (["change db"] if hours < 24 else [])
    assert len(desk.entries(asked.session, Kind.INTERRUPT_EXPIRED)) == (0 if hours < 24 else 1)
    paired(desk, asked.session)


@pytest.mark.parametrize("order", list(itertools.permutations(["1.1#0", "1.3#1", "1.4#0"])))
async def test_three_questions_of_one_step_are_answered_in_any_order(
    client: Client, tmp_path: Path, order: tuple[str, ...]
) -> None:
    script = [
        calls(
            call("change", name="a"), call("look", topic="x"), call("locate", name="b"), call("change", name="c"),
        ),
        DONE,
    ]  # fmt: skip
    desk = Desk(client, f"q-{uuid.uuid4().hex[:8]}", tmp_path, 0, policy=confirm())
    say_what: dict[str, Callable[[], Awaitable[None]]] = {
        "1.1#0": lambda: say(desk, asked.session, ANN),
        "1.3#1": lambda: say(desk, asked.session, BOB, PROVIDE, "1.3#1", values={"place": "here"}),
        "1.4#0": lambda: say(desk, asked.session, ANN, REJECT, "1.4#0", comment="not this one"),
    }
    async with desk.worker(script):
        asked = await desk.ask()
        await desk.waiting(asked.session, questions=3)
        for left, interrupt in zip((2, 1, 0), order, strict=True):
            await say_what[interrupt]()
            if left:
                await desk.waiting(asked.session, questions=left)
                assert desk.done == []
        await desk.result(asked)
    assert desk.codes(asked.session) == {"1.1": "ok", "1.2": "ok", "1.3": "ok", "1.4": "rejected_by_human"}
    assert desk.done == ["change a"]
    assert "not this one" in desk.results(asked.session)["1.4"]["message"]
    assert desk.results(asked.session)["1.1"]["round"] == 1
    paired(desk, asked.session)


async def test_a_rejected_call_stays_rejected_when_another_worker_replays_the_run(make_desk: MakeDesk) -> None:
    desk = make_desk(confirm())
    script = [calls(call("change", name="a"), call("locate", name="b")), DONE]
    async with desk.worker(script):
        asked = await desk.ask()
        await desk.waiting(asked.session, questions=2)
        await say(desk, asked.session, ANN, REJECT)
        await desk.waiting(asked.session, questions=1)
    async with desk.worker(script):
        await say(desk, asked.session, ANN, PROVIDE, "1.2#1", values={"place": "here"})
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.ANSWERED
    assert desk.done == []
    assert desk.codes(asked.session) == {"1.1": "rejected_by_human", "1.2": "ok"}


async def test_what_policy_denies_is_an_observation_with_the_rules_reason(make_desk: MakeDesk) -> None:
    desk = make_desk(Policy((Rule("frozen", Gate.DENY, tools=("chan*",), reason="There is a freeze until Monday."),)))
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        await desk.result(asked)
    result = desk.results(asked.session)["1.1"]
    assert (result["errorCode"], result["message"]) == ("denied_by_policy", "There is a freeze until Monday.")
    assert desk.done == []


async def test_an_unconfirmed_answer_that_is_sent_again_with_its_id_is_one_answer(make_desk: MakeDesk) -> None:
    desk = make_desk(confirm())
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        status = await desk.waiting(asked.session)
        answer = Answer("once", "1.1#0", APPROVE, ANN, digest=status.questions[0].digest)
        for _ in range(3):
            await desk.handle(asked.session).signal("answer_signal", answer)
        await acting_as(desk, ANN).answer(asked.session, answer)
        await desk.result(asked)
    assert desk.done == ["change db"]
    assert len(desk.entries(asked.session, Kind.INTERRUPT_ANSWERED)) == 1
    assert desk.entries(asked.session, Kind.ANSWER_IGNORED) == []


async def test_of_two_approvers_at_once_one_settles_it_and_the_other_is_told(make_desk: MakeDesk) -> None:
    desk = make_desk(confirm())
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        status = await desk.waiting(asked.session)
        shown = status.questions[0].digest
        for who in (ANN, BOB):
            await desk.handle(asked.session).signal(
                "answer_signal", Answer(who.id, "1.1#0", APPROVE, who, digest=shown)
            )
        await desk.result(asked)
    assert desk.done == ["change db"]
    (answered,) = desk.entries(asked.session, Kind.INTERRUPT_ANSWERED)
    (ignored,) = desk.entries(asked.session, Kind.ANSWER_IGNORED)
    assert (answered.data["by"], ignored.data["by"]) == ("ann", "bob")
    assert ignored.data["message"] == "This question is settled already."


async def test_a_message_while_a_person_is_asked_is_kept_and_answered_afterwards(make_desk: MakeDesk) -> None:
    desk = make_desk(confirm())
    async with desk.worker([*CHANGE[:1], DONE, {"text": "And the other."}]):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await desk.ask("And the web server?", asked.session)
        await say(desk, asked.session, ANN)
        await desk.result(asked)
    kinds = [entry.kind for entry in desk.entries(asked.session, Kind.USER_MESSAGE, Kind.INTERRUPT_ANSWERED)]
    assert kinds == [Kind.USER_MESSAGE, Kind.INTERRUPT_ANSWERED, Kind.USER_MESSAGE]
    paired(desk, asked.session)
