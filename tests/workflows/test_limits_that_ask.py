"""At a limit, or with a budget used up, a run asks a person whether it may go on; real server, skipped time."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.client import Asked
from opspilot.core.budget import Budget
from opspilot.core.contract import Notice
from opspilot.core.cost import Price
from opspilot.core.entries import Entry, Kind
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import Limits, OnLimit, StopReason
from opspilot.core.policy import Policy
from opspilot.core.ports import Channel, Notification
from opspilot.core.terms import Rung, RungKind, Terms
from opspilot.testing import skipping_server
from tests.workflows.desk import ME, Desk, paired
from tests.workflows.test_agent import DONE, call, calls

pytestmark = pytest.mark.asyncio(loop_scope="session")

APPROVE, REJECT = AnswerAction.APPROVE, AnswerAction.REJECT
ONE_STEP, TWO_STEPS = (Limits(steps=steps, on_limit=OnLimit.ASK) for steps in (1, 2))
CACHED = pytest.mark.parametrize("desk", [100], indirect=True, ids=["cached"])
"""For what the workflow does no differently when it is replayed at every task."""
LAST_WORDS = "That is all I found."


def looks(count: int, tokens: int = 0) -> list[dict[str, Any]]:
    """Steps that find something new each time."""
    return [{**calls(call("look", topic=f"t{n}")), "usage": {"input_tokens": tokens}} for n in range(count)]


async def asks(desk: Desk, asked: Asked, nth: int = 1) -> Entry:
    """The nth question about a limit, at the moment in which the journal shows it."""
    return await desk.until(asked.session, Kind.INTERRUPT_OPENED, count=nth)


async def say(desk: Desk, question: Entry, action: AnswerAction = APPROVE, who: Principal = ME) -> None:
    answer = Answer(uuid.uuid4().hex, question.data["interrupt"], action, who, digest=question.data["digest"])
    await desk.opspilot.answer(question.session, answer)


def settled(desk: Desk, session: str) -> list[tuple[str, str, str | None]]:
    """Every question: its name, what became of it, and what was said."""
    return [(row.interrupt, row.state, row.action) for row in desk.journal.interrupts(session)]


# ---------------------------------------------------------------- limits of the run


async def test_with_each_yes_a_run_goes_on_for_as_many_steps_again(desk: Desk) -> None:
    async with desk.worker([*looks(5), DONE]):
        asked = await desk.ask(limits=TWO_STEPS)
        for nth in (1, 2):
            question = await asks(desk, asked, nth)
            assert question.data["reason"] == "The limit of this run is reached. Go on for 2 more steps?"
            assert question.data["arguments"] == {"limit": "max_steps", "more": 2}
            await say(desk, question)
        result = await desk.result(asked)
    assert (result.stop_reason, result.answer, result.steps) == (StopReason.ANSWERED, "Here is the answer.", 6)
    assert settled(desk, asked.session) == [("limit#1", "answered", "approve"), ("limit#2", "answered", "approve")]
    assert desk.entries(asked.session, Kind.RUN_STOPPED)[0].data["grants"] == ["max_steps", "max_steps"]
    paired(desk, asked.session)


@CACHED
async def test_a_run_that_waits_at_its_limit_says_so_everywhere(desk: Desk) -> None:
    async with desk.worker(looks(2)):
        asked = await desk.ask(limits=ONE_STEP)
        status = await desk.waiting(asked.session)
        assert [(question.interrupt, question.tool) for question in status.questions] == [("limit#1", "")]
        assert (await desk.opspilot.session(asked.session)).status == "waiting"
        assert [(row.call, row.tool) for row in await desk.opspilot.questions()] == [("limit", "")]
        await desk.opspilot.stop(asked.session)
        await desk.result(asked)


async def test_with_a_no_it_says_what_it_has_found(desk: Desk) -> None:
    async with desk.worker(looks(2)):
        asked = await desk.ask(limits=ONE_STEP)
        await say(desk, await asks(desk, asked), REJECT)
        result = await desk.result(asked)
    assert (result.stop_reason, result.answer, result.steps) == (StopReason.MAX_STEPS, LAST_WORDS, 1)
    assert result.message == "Stopped after 1 steps, the limit of this run, without a complete answer."
    assert settled(desk, asked.session) == [("limit#1", "answered", "reject")]
    paired(desk, asked.session)


async def test_a_question_that_nobody_answers_expires_and_there_are_last_words(desk: Desk) -> None:
    ladder = (Rung(RungKind.REMIND, 3600.0), Rung(RungKind.EXPIRE, 24 * 3600.0))
    desk.policy = Policy(terms=Terms(ladder=ladder))
    async with desk.worker(looks(2)):
        asked = await desk.ask(limits=ONE_STEP)
        result = await desk.result(asked)
    assert (result.stop_reason, result.answer) == (StopReason.MAX_STEPS, LAST_WORDS)
    assert settled(desk, asked.session) == [("limit#1", "expired", None)]
    assert len(desk.entries(asked.session, Kind.INTERRUPT_REMINDED)) == 1


async def test_a_stop_while_asking_ends_the_run_without_words(desk: Desk) -> None:
    async with desk.worker(looks(2)):
        asked = await desk.ask(limits=ONE_STEP)
        await desk.waiting(asked.session)
        await desk.opspilot.stop(asked.session)
        result = await desk.result(asked)
    assert (result.stop_reason, result.answer) == (StopReason.CANCELLED, "")
    assert settled(desk, asked.session) == [("limit#1", "closed", None)]
    paired(desk, asked.session)


async def test_a_message_while_asking_is_read_in_the_step_that_is_allowed(desk: Desk) -> None:
    script = [*looks(1), {"text": "Both.", "expect": {"contains": "And yesterday?"}}]
    async with desk.worker(script):
        asked = await desk.ask(limits=ONE_STEP)
        question = await asks(desk, asked)
        await desk.ask("And yesterday?", session=asked.session)
        assert (await desk.waiting(asked.session)).questions
        await say(desk, question)
        result = await desk.result(asked)
    assert (result.stop_reason, result.answer) == (StopReason.ANSWERED, "Both.")


async def test_a_message_while_asking_is_answered_after_the_last_words_when_nothing_more_is_allowed(desk: Desk) -> None:
    script = [*looks(2), {"text": "Yesterday, too.", "expect": {"contains": "And yesterday?"}}]
    async with desk.worker(script):
        asked = await desk.ask(limits=ONE_STEP)
        question = await asks(desk, asked)
        await desk.ask("And yesterday?", session=asked.session)
        await say(desk, question, REJECT)
        result = await desk.result(asked)
    assert (result.stop_reason, result.answer) == (StopReason.ANSWERED, "Yesterday, too.")
    ends = [
        (entry.data["stop_reason"], entry.data["answer"]) for entry in desk.entries(asked.session, Kind.RUN_STOPPED)
    ]
    assert ends == [("max_steps", LAST_WORDS), ("answered", "Yesterday, too.")]


@CACHED
@pytest.mark.parametrize(
    ("script", "limits", "reason", "question"),
    [
        pytest.param(
            [calls(call("boom", topic=f"t{n}")) for n in range(2)],
            Limits(failures_in_a_row=2),
            StopReason.TOO_MANY_FAILS,
            "2 tool calls in a row failed. Go on all the same?",
            id="failures",
        ),
        pytest.param(
            [calls(call("look", topic="t"))] * 3,
            Limits(),
            StopReason.LOOP_DETECTED,
            "The same call was made again and again without anything new. Go on all the same?",
            id="a loop",
        ),
        pytest.param(
            [calls(call("nap", seconds=30))],
            Limits(active_seconds=1),
            StopReason.TIMEOUT,
            "The time of this run is used up. Go on for 1 more seconds?",
            id="time",
        ),
        pytest.param(
            looks(1, tokens=90_000),
            Limits(tokens=1000),
            StopReason.BUDGET,
            "The budget of this run is used up. Go on for 1,000 more tokens?",
            id="tokens",
        ),
    ],
)
async def test_each_limit_asks_and_goes_on(
    desk: Desk, script: list[dict[str, Any]], limits: Limits, reason: StopReason, question: str
) -> None:
    async with desk.worker([*script, DONE]):
        asked = await desk.ask(limits=replace(limits, on_limit=OnLimit.ASK))
        opened = await asks(desk, asked)
        assert (opened.data["arguments"]["limit"], opened.data["reason"]) == (reason, question)
        await say(desk, opened)
        result = await desk.result(asked)
    assert (result.stop_reason, result.steps) == (StopReason.ANSWERED, len(script) + 1)
    assert settled(desk, asked.session) == [("limit#1", "answered", "approve")]


@CACHED
async def test_two_people_at_once_settle_it_once_and_the_second_is_told(desk: Desk) -> None:
    async with desk.worker(looks(2)):
        asked = await desk.ask(limits=ONE_STEP)
        question = await asks(desk, asked)
        await say(desk, question, REJECT)
        with_luck = Answer("second", "limit#1", APPROVE, Principal("ann"), digest=question.data["digest"])
        await desk.handle(asked.session).signal("answer_signal", with_luck)
        result = await desk.result(asked)
    assert (result.stop_reason, result.answer) == (StopReason.MAX_STEPS, LAST_WORDS)
    assert settled(desk, asked.session) == [("limit#1", "answered", "reject")]
    assert [entry.data["by"] for entry in desk.entries(asked.session, Kind.ANSWER_IGNORED)] in ([], ["ann"])


@CACHED
async def test_only_who_may_decides_about_a_limit(desk: Desk) -> None:
    desk.policy = Policy(terms=Terms(role="lead", not_requester=True))
    async with desk.worker([*looks(1), DONE]):
        asked = await desk.ask(limits=ONE_STEP)
        question = await asks(desk, asked)
        await say(desk, question)
        ignored = await desk.until(asked.session, Kind.ANSWER_IGNORED)
        assert ignored.data["message"] == "Only people with the role lead may decide this."
        await say(desk, question, who=Principal("lea", roles=("lead",)))
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.ANSWERED


# ---------------------------------------------------------------- a fresh history while people are asked


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hurried() -> AsyncIterator[Client]:
    """A server that finds histories of a few events long enough: runs go on as new wherever they may."""
    async with skipping_server((), {"limit.historyCount.suggestContinueAsNew": "12"}) as client:
        yield client


@pytest.mark.parametrize("cached_workflows", [100, 0])
async def test_a_run_that_asks_goes_on_as_new_and_asks_no_second_time(
    hurried: Client, tmp_path: Path, cached_workflows: int
) -> None:
    desk = Desk(hurried, f"q-{uuid.uuid4().hex[:8]}", tmp_path, cached_workflows)
    async with desk.worker([*looks(1), DONE]):
        asked = await desk.ask(limits=ONE_STEP)
        first = (await desk.handle(asked.session).describe()).run_id
        await asks(desk, asked)
        status = await desk.waiting(asked.session)
        assert (await desk.handle(asked.session).describe()).run_id != first
        assert [question.interrupt for question in status.questions] == ["limit#1"]
        await desk.answer(asked.session, "limit#1", APPROVE, digest=status.questions[0].digest)
        result = await desk.result(asked)
    assert (result.stop_reason, result.steps) == (StopReason.ANSWERED, 2)
    assert settled(desk, asked.session) == [("limit#1", "answered", "approve")]
    assert desk.entries(asked.session, Kind.RUN_STOPPED)[0].data["grants"] == ["max_steps"]
    paired(desk, asked.session)


async def test_what_was_granted_of_a_budget_holds_in_a_fresh_history(hurried: Client, tmp_path: Path) -> None:
    desk = Desk(hurried, f"q-{uuid.uuid4().hex[:8]}", tmp_path, 100, budget=Budget(session_tokens=100))
    async with desk.worker([*looks(2, tokens=60), DONE]):
        asked = await desk.ask()
        await say(desk, await asks(desk, asked))
        result = await desk.result(asked)
    assert (result.stop_reason, result.steps) == (StopReason.ANSWERED, 3)
    assert settled(desk, asked.session) == [("limit#1", "answered", "approve")]


# ---------------------------------------------------------------- budgets


class Heard(Channel):
    """Somebody who is told."""

    def __init__(self) -> None:
        self.told: list[Notification] = []

    @property
    def name(self) -> str:
        return "heard"

    async def send(self, notification: Notification) -> None:
        self.told.append(notification)

    def of(self, notice: Notice) -> list[tuple[str, str]]:
        return [(each.session, each.reason) for each in self.told if each.notice is notice]


async def test_two_sessions_of_one_person_share_a_budget_are_warned_once_and_ask(desk: Desk) -> None:
    desk.budget = Budget(user_tokens=1000)
    heard = Heard()
    desk.channels = [heard]
    async with desk.worker([*looks(2, tokens=900), {**DONE, "final": LAST_WORDS, "usage": {"input_tokens": 100}}]):
        first = await desk.ask(session="ops-first")
        question = await asks(desk, first)
        reason = "tester has used 1,800 of 1,000 tokens within 24 h. Go on for as much again?"
        assert (question.data["reason"], question.data["arguments"]) == (
            reason, {"limit": "budget", "user_tokens": 2800},
        )  # fmt: skip
        await say(desk, question)
        assert (await desk.result(first)).stop_reason is StopReason.ANSWERED

        second = await desk.ask(session="ops-second")
        await say(desk, await asks(desk, second))
        question = await asks(desk, second, 2)
        assert question.data["arguments"] == {"limit": "budget", "user_tokens": 4700}
        await say(desk, question, REJECT)
        result = await desk.result(second)
    stands = "tester has used 3,700 of 2,900 tokens within 24 h."
    assert (result.stop_reason, result.answer, result.steps) == (StopReason.BUDGET, LAST_WORDS, 2)
    assert result.message == f"Stopped because a budget is used up. {stands}"
    assert [row.action for row in desk.journal.interrupts("ops-second")] == ["approve", "reject"]
    assert heard.of(Notice.BUDGET) == [
        ("ops-first", "tester has used 900 of 1,000 tokens within 24 h."),
        ("ops-second", "tester has used 2,800 of 2,900 tokens within 24 h."),
    ]
    for session, used in (("ops-first", 900), ("ops-second", 2800)):
        assert [entry.data["used"] for entry in desk.entries(session, Kind.BUDGET_WARNED)] == [used]
    paired(desk, second.session)


@CACHED
async def test_a_used_up_budget_is_asked_about_before_anything_else_and_a_no_costs_nothing(desk: Desk) -> None:
    desk.budget = Budget(session_cost=1.0)
    desk.prices = {"scripted": Price(1.0, 1.0)}
    async with desk.worker([{**DONE, "usage": {"input_tokens": 2_000_000}}, DONE]):
        asked = await desk.ask()
        assert (await desk.result(asked)).stop_reason is StopReason.ANSWERED
        later = await desk.ask("And now?", session=asked.session)
        question = (await desk.waiting(asked.session)).questions[0]
        await desk.answer(asked.session, question.interrupt, REJECT, digest=question.digest)
        result = await desk.result(later)
    assert (result.stop_reason, result.answer, result.steps) == (StopReason.BUDGET, "", 0)
    stands = f"Session {asked.session} has cost 2; it may cost 1."
    assert result.message == f"Stopped because a budget is used up. {stands}"
    assert len(desk.entries(asked.session, Kind.ASSISTANT_MESSAGE)) == 1
    assert [entry.data["text"] for entry in desk.entries(asked.session, Kind.USER_MESSAGE)][1] == "And now?"
    assert desk.entries(asked.session, Kind.RUN_STOPPED)[0].data["cost"] == 2.0
