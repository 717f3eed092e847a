"""Forged answers through a running workflow: none counts, the true approver gets through, and the run pays little."""

import random
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from temporalio.client import Client

from opspilot.client import OpsPilot
from opspilot.core.contract import ANSWER_SIGNAL
from opspilot.core.entries import Kind
from opspilot.core.errors import OpsPilotError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import StopReason
from opspilot.core.policy import Policy
from opspilot.core.signatures import KEY_BYTES, signed
from opspilot.core.waiting import MANY_IGNORED
from opspilot.testing import skipping_server
from tests.activities.test_forgeries import FORGERIES, good
from tests.workflows.desk import Desk, paired
from tests.workflows.test_people import ANN, CHANGE, confirm

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = bytes(range(KEY_BYTES))
MALLORY = Principal("mallory", roles=("approver",))
EVENTS_OF_AN_ANSWER = 12
"""A signal, up to two workflow tasks and an activity; a flood may not cost more than that for each answer."""


@pytest.fixture
def desk(client: Client, tmp_path: Path) -> Desk:
    return Desk(client, f"q-{uuid.uuid4().hex[:8]}", tmp_path, 100, policy=confirm(role="approver"), key=KEY)


async def approve(desk: Desk, session: str) -> None:
    """As the server does for somebody who signed in."""
    question = desk.journal.open_interrupts(session)[0]
    answer = Answer(uuid.uuid4().hex, question.interrupt, AnswerAction.APPROVE, ANN, digest=question.digest)
    approver = OpsPilot(desk.client, desk.journal, replace(ANN, roles=("approver",)), desk.queue, key=KEY)
    await approver.answer(session, answer)


async def test_fifty_forged_answers_by_both_doors_change_nothing(desk: Desk) -> None:
    chance = random.Random(50)
    kinds = list(FORGERIES.values())
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        status = await desk.waiting(asked.session)
        refused = 0
        for nth in range(50):
            forged = kinds[nth % len(kinds)](chance, good(status.questions[0].digest, f"forged-{nth}"))
            forged = replace(forged, signature=forged.signature.encode(errors="replace").decode())
            if nth % 2:
                await desk.handle(asked.session).signal(ANSWER_SIGNAL, forged)
                continue
            try:
                await desk.opspilot.answer(asked.session, forged)
            except OpsPilotError:
                refused += 1
        assert refused
        assert desk.done == []
        assert (await desk.waiting(asked.session)).questions == status.questions
        assert desk.entries(asked.session, Kind.INTERRUPT_ANSWERED, Kind.INTERRUPT_APPROVED) == []
        await approve(desk, asked.session)
        result = await desk.result(asked)
    assert (result.stop_reason, desk.done) == (StopReason.ANSWERED, ["change db"])
    (answered,) = desk.entries(asked.session, Kind.INTERRUPT_ANSWERED)
    assert answered.data["by"] == "ann"
    paired(desk, asked.session)


@pytest.mark.slow
async def test_a_flood_costs_a_run_no_more_than_its_own_events_and_is_slowed_down(desk: Desk) -> None:
    many = MANY_IGNORED + 20
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        status = await desk.waiting(asked.session)
        before = status.history_events
        shown = status.questions[0].digest
        for nth in range(many):
            forged = replace(good(shown, f"flood-{nth}"), principal=MALLORY, signature=f"{nth:064d}")
            await desk.handle(asked.session).signal(ANSWER_SIGNAL, forged)
            if nth % 25 == 24 and nth < MANY_IGNORED:
                # More than a run holds at once would be dropped at its door, and cost less still.
                await desk.until(asked.session, Kind.ANSWER_IGNORED, count=nth + 1)
        ignored = await desk.until(asked.session, Kind.ANSWER_IGNORED, count=MANY_IGNORED)
        assert "signature" in ignored.data["message"]
        await approve(desk, asked.session)
        await desk.result(asked)
        history = await desk.handle(asked.session).fetch_history()
    assert desk.done == ["change db"]
    assert len(history.events) - before < EVENTS_OF_AN_ANSWER * many
    waits = [event for event in history.events if event.HasField("timer_started_event_attributes")]
    assert waits, "beyond so many, answers are judged some seconds apart"
    paired(desk, asked.session)


@pytest.mark.slow
async def test_a_flood_that_never_ends_does_not_keep_a_run_from_a_fresh_history(tmp_path: Path) -> None:
    """Else it would grow to the size at which Temporal ends a run."""
    async with skipping_server((), {"limit.historyCount.suggestContinueAsNew": "12"}) as hurried:
        desk = Desk(hurried, f"q-{uuid.uuid4().hex[:8]}", tmp_path, 100, policy=confirm(role="approver"), key=KEY)
        async with desk.worker(CHANGE):
            asked = await desk.ask()
            status = await desk.waiting(asked.session)
        for nth in range(15):
            forged = replace(good(status.questions[0].digest, f"flood-{nth}"), signature="0" * 64)
            await desk.handle(asked.session).signal(ANSWER_SIGNAL, forged)
        async with desk.worker(CHANGE):
            await desk.until(asked.session, Kind.ANSWER_IGNORED, count=15)
            await desk.waiting(asked.session)
            await approve(desk, asked.session)
            await desk.result(asked)
        assert desk.done == ["change db"]
        run: str | None = status.run
        while run is not None:
            history = await hurried.get_workflow_handle(asked.session, run_id=run).fetch_history()
            # All the signals, and what it takes to judge a few of them.
            assert len(history.events) < 15 + 3 * EVENTS_OF_AN_ANSWER
            run = history.events[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id or None
        paired(desk, asked.session)


async def test_with_no_policy_at_all_a_write_needs_a_signed_approval(client: Client, tmp_path: Path) -> None:
    desk = Desk(client, f"q-{uuid.uuid4().hex[:8]}", tmp_path, 100, policy=Policy(), key=KEY)
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        status = await desk.waiting(asked.session)
        unsigned = Answer("u", "1.1#0", AnswerAction.APPROVE, ANN, digest=status.questions[0].digest)
        await desk.opspilot.answer(asked.session, unsigned)
        ignored = await desk.until(asked.session, Kind.ANSWER_IGNORED)
        assert "not signed" in ignored.data["message"]
        await desk.opspilot.answer(asked.session, signed(replace(unsigned, id="s"), KEY, asked.session, status.run))
        await desk.result(asked)
    assert desk.done == ["change db"]
