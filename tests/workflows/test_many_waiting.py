"""A hundred waiting runs answered in one go, some by two people and by a retry: none is lost, and none runs twice."""

import asyncio
from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.client import Client

from opspilot.core.entries import Kind
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import StopReason
from opspilot.core.policy import Policy
from opspilot.core.ports import CallContext
from opspilot.journal.queries import InterruptRow
from opspilot.temporal import connect
from opspilot.testing import Desk
from opspilot.tools.spec import tool
from tests.workflows.test_agent import DONE, call, calls

pytestmark = pytest.mark.asyncio(loop_scope="session")

RUNS = 100
AT_ONCE = 10
"""Runs are begun few at a time: what is tested is that they are answered all at once."""


@pytest.mark.timeout(180)
@pytest.mark.filterwarnings("default:Cannot find activity to cancel")
async def test_a_hundred_waiting_runs_answered_in_one_go(client: Client, tmp_path: Path) -> None:
    done: list[str] = []

    @tool()
    def change(context: CallContext, name: str) -> str:
        """Change something."""
        assert context.approved
        done.append(context.idempotency_key)
        return f"changed {name}"

    # No rule speaks of it, so that a person is asked.
    policy, queue = Policy(), f"q-{uuid4().hex[:8]}"
    # As in production, where the sandbox takes the core from outside: making a workflow costs a tenth.
    ours = await connect(client.service_client.config.target_host)
    desk = Desk(ours, queue, tmp_path, [change], policy=policy)
    async with desk.worker([calls(call("change", name="x")), DONE]):
        asked = []
        for _ in range(RUNS // AT_ONCE):
            asked += await asyncio.gather(*(desk.ask() for _ in range(AT_ONCE)))
        while len(waiting := desk.journal.open_interrupts()) < RUNS:
            await asyncio.sleep(0.05)
        answers = [(asked_of, answer) for nth, asked_of in enumerate(waiting) for answer in answers_to(asked_of, nth)]
        receipts = await asyncio.gather(*(give(desk, *each) for each in answers))
        results = await asyncio.gather(*(desk.result(each) for each in asked))

    assert {result.stop_reason for result in results} == {StopReason.ANSWERED}
    assert len(done) == RUNS
    assert set(Counter(done).values()) == {1}
    assert sum(receipts) >= RUNS
    for each in asked:
        assert desk.codes(each.session) == {"1.1": "ok"}
        assert len(desk.entries(each.session, Kind.INTERRUPT_ANSWERED)) == 1
        assert len(desk.entries(each.session, Kind.TOOL_STARTED)) == 1
    assert desk.journal.open_interrupts() == ()
    desk.journal.close()


def answers_to(question: InterruptRow, nth: int) -> list[Answer]:
    """Ann's approval; to every fifth the same once more, as a client that heard nothing sends it, and Bob's."""
    ann, bob = (
        Answer(uuid4().hex, question.interrupt, AnswerAction.APPROVE, Principal(who), digest=question.digest)
        for who in ("ann", "bob")
    )
    return [ann] if nth % 5 else [ann, ann, bob]


async def give(desk: Desk, question: InterruptRow, answer: Answer) -> bool:
    """Whether the run took it, to be checked. One that comes when the question is settled is refused at the door."""
    try:
        await desk.opspilot.answer(question.session, answer)
    except UsageError:
        return False
    return True
