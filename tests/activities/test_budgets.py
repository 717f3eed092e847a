"""Budgets of a session and of a person: what is counted, who is warned, and when the model isn't called."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.asking import AskingActivities
from activities.budgets import Budgets
from opspilot.core.budget import Budget, BudgetName, Grant
from opspilot.core.contract import AskToGoOn, ModelOutcome, UserMessage
from opspilot.core.cost import Price
from opspilot.core.entries import Kind
from opspilot.core.errors import ModelError, ModelFault
from opspilot.core.interrupts import AnswerAction, Principal
from opspilot.core.limits import StopReason
from opspilot.core.messages import Usage
from opspilot.core.terms import Rung, RungKind, Terms
from tests.activities.desk import NOON, SESSION, Desk, Fails, Says, call

BOB = Principal("bob", "Bob")


@pytest.fixture
def other(desk: Desk, tmp_path: Path) -> Iterator[Desk]:
    """Another session of the same journal."""
    other = Desk(tmp_path, "ops-other")
    other.budget = desk.budget
    yield other
    other.journal.close()


def using(tokens: int, cached: int = 0, **more: Any) -> Says:
    """A model whose reply takes so many tokens, one of them output."""
    more.setdefault("calls", [call("look", topic="x")])
    return Says(usage=Usage(tokens - 1, 1, cached), **more)


async def step(desk: Desk, number: int, tokens: int, **more: Any) -> ModelOutcome:
    """One whole step of a run."""
    outcome = await desk.think(using(tokens), number, **more)
    if outcome.calls:
        await desk.act(f"{number}.1")
    return outcome


def refused(outcome: ModelOutcome) -> tuple[bool, StopReason | None, str]:
    return bool(outcome.refused), outcome.stop, outcome.detail


# ---------------------------------------------------------------- used up


async def test_a_session_that_has_used_its_tokens_asks_no_model_and_uses_no_step(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=100)
    await desk.open("a")
    assert refused(await step(desk, 1, 100)) == (False, None, "")
    model, before = Says("more"), desk.entries()
    outcome = await desk.think(model, 2)
    assert refused(outcome) == (True, StopReason.BUDGET, f"Session {SESSION} has used 100 of its 100 tokens.")
    assert outcome.refused == (Grant(BudgetName.SESSION_TOKENS, 200),)
    assert (outcome.usage, outcome.calls) == (Usage(), ())
    assert model.asked == []
    assert desk.entries() == before


async def test_messages_are_kept_all_the_same(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=100)
    await desk.open("a")
    await step(desk, 1, 200)
    for _ in range(2):
        assert (await desk.think(Says(), 2, messages=(UserMessage("m", "and now?"),))).refused
    assert [entry.data["text"] for entry in desk.entries(Kind.USER_MESSAGE)] == ["a", "and now?"]


async def test_a_grant_lets_the_run_go_on_until_that_is_used_too(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=100)
    await desk.open("a")
    await step(desk, 1, 130)
    (more,) = (await desk.think(Says(), 2)).refused
    assert more == Grant(BudgetName.SESSION_TOKENS, 230)
    assert not (await step(desk, 2, 99, grants=(more,))).refused
    assert not (await step(desk, 3, 1, grants=(more,))).refused
    outcome = await desk.think(Says(), 4, grants=(more,))
    assert outcome.detail == f"Session {SESSION} has used 230 of its 230 tokens."


async def test_last_words_are_always_allowed_and_count(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=100)
    await desk.open("a")
    await step(desk, 1, 100)
    outcome = await desk.think(using(50, text="So far."), 1, final=StopReason.BUDGET)
    assert (outcome.answer, outcome.refused) == ("So far.", ())
    assert desk.journal.spent(SESSION).tokens == 150


async def test_a_reply_that_is_recorded_is_returned_although_the_budget_is_used_up_by_now(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=100)
    await desk.open("a")
    first = await desk.think(using(100))
    assert await desk.think(Says(), attempt=2) == first


async def test_input_from_a_cache_counts_in_full_as_tokens_and_by_its_price_as_cost(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=1_000_000, session_cost=2.0)
    desk.prices = {"says": Price(input=2.0, output=2.0, cached=0.5)}
    await desk.open("a")
    await desk.think(using(1_000_000, cached=500_000))
    await desk.act()
    outcome = await desk.think(Says(), 2)
    assert outcome.detail == f"Session {SESSION} has used 1,000,000 of its 1,000,000 tokens."
    assert desk.only(Kind.ASSISTANT_MESSAGE).data["cost"] == 1.25
    assert desk.journal.spent(SESSION).cost == 1.25


async def test_money_is_counted_by_the_price_of_the_model_that_gave_the_reply(desk: Desk) -> None:
    desk.budget = Budget(session_cost=1.0)
    desk.prices = {"says": Price(1.0, 1.0)}
    await desk.open("a")
    await step(desk, 1, 1_500_000)
    outcome = await desk.think(Says(), 2)
    assert refused(outcome) == (True, StopReason.BUDGET, f"Session {SESSION} has cost 1.5; it may cost 1.")
    assert outcome.refused == (Grant(BudgetName.SESSION_COST, 2.5),)


async def test_what_a_model_without_a_price_costs_is_not_counted(desk: Desk) -> None:
    desk.budget = Budget(session_cost=1.0)
    desk.prices = {"another": Price(1.0, 1.0)}
    await desk.open("a")
    await step(desk, 1, 90_000_000)
    assert not (await desk.think(Says(), 2)).refused
    assert "cost" not in desk.entries(Kind.ASSISTANT_MESSAGE)[0].data


async def test_a_model_that_fails_for_good_costs_nothing_and_says_why(desk: Desk) -> None:
    desk.budget = Budget(session_cost=1.0)
    desk.prices = {"fails": Price(1.0, 1.0)}
    await desk.open("a")
    outcome = await desk.think(Fails(ModelError(ModelFault.AUTH, "no key", retryable=False)))
    assert (outcome.stop, outcome.notice) == (StopReason.MODEL_FAILED, "")
    assert desk.journal.spent(SESSION).cost == 0.0


# ---------------------------------------------------------------- a person's


async def test_two_sessions_of_one_person_share_what_they_may_use(desk: Desk, other: Desk) -> None:
    desk.budget = other.budget = Budget(user_tokens=100)
    await desk.open("a")
    await other.open("b")
    await step(desk, 1, 60)
    assert not (await step(other, 1, 40)).refused
    for each in (desk, other):
        outcome = await each.think(Says(), 2)
        assert outcome.detail == "tester has used 100 of 100 tokens within 24 h."
        assert outcome.refused == (Grant(BudgetName.USER_TOKENS, 200),)


async def test_a_grant_is_for_the_run_that_asked_for_it(desk: Desk, other: Desk) -> None:
    desk.budget = other.budget = Budget(user_tokens=100)
    await desk.open("a")
    await other.open("b")
    await step(desk, 1, 100)
    grants = (await desk.think(Says(), 2)).refused
    assert not (await step(desk, 2, 10, grants=grants)).refused
    assert (await other.think(Says())).refused == (Grant(BudgetName.USER_TOKENS, 210),)


async def test_somebody_elses_use_is_not_counted(desk: Desk, other: Desk) -> None:
    desk.budget = other.budget = Budget(user_tokens=100)
    await desk.open("a")
    await step(desk, 1, 100)
    await other.open("b", user=BOB)
    assert not (await other.think(using(99))).refused


async def test_a_persons_budget_is_for_the_last_window(desk: Desk) -> None:
    desk.budget = Budget(user_tokens=100, user_window_seconds=3600.0)
    await desk.open("a")
    await step(desk, 1, 100)
    budgets = Budgets(desk.journal, desk.budget, {})
    now = datetime.now(UTC)
    in_time = budgets.account(SESSION, "tester", (), now + timedelta(minutes=59))
    too_late = budgets.account(SESSION, "tester", (), now + timedelta(minutes=61))
    assert (in_time.of_user.tokens, too_late.of_user.tokens) == (100, 0)
    assert budgets.refusal(in_time)
    assert budgets.refusal(too_late) is None


async def test_everything_that_is_used_up_is_named_and_asked_for_at_once(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=100, user_tokens=90, user_cost=50.0)
    await desk.open("a")
    await step(desk, 1, 100)
    outcome = await desk.think(Says(), 2)
    assert outcome.detail == (
        f"Session {SESSION} has used 100 of its 100 tokens. tester has used 100 of 90 tokens within 24 h."
    )
    assert outcome.refused == (Grant(BudgetName.SESSION_TOKENS, 200), Grant(BudgetName.USER_TOKENS, 190))
    assert not (await desk.think(Says(), 2, grants=outcome.refused)).refused


# ---------------------------------------------------------------- warnings


async def test_people_are_warned_once_by_the_reply_that_uses_four_fifths(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=1000)
    await desk.open("a")
    assert (await step(desk, 1, 799)).notice == ""
    assert desk.entries(Kind.BUDGET_WARNED) == []
    second = await step(desk, 2, 11)
    assert second.notice == f"Session {SESSION} has used 810 of its 1,000 tokens."
    assert (await step(desk, 3, 10)).notice == ""
    warned = desk.only(Kind.BUDGET_WARNED)
    assert (warned.step, dict(warned.data)) == (
        2,
        {
            "budget": "session_tokens",
            "whose": SESSION,
            "used": 810,
            "allowed": 1000,
            "window_seconds": None,
            "message": second.notice,
        },
    )


async def test_another_attempt_at_the_warning_reply_tells_the_same(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=1000)
    await desk.open("a")
    first = await desk.think(using(900))
    assert first.notice
    assert await desk.think(Says(), attempt=2) == first
    desk.only(Kind.BUDGET_WARNED)


async def test_a_warning_of_money_names_it(desk: Desk) -> None:
    desk.budget = Budget(user_cost=10.0)
    desk.prices = {"says": Price(1.0, 1.0)}
    await desk.open("a")
    outcome = await step(desk, 1, 8_500_000)
    assert outcome.notice == "tester has spent 8.5 within 24 h; 10 may be spent."
    assert desk.only(Kind.BUDGET_WARNED).data["whose"] == "tester"


async def test_one_reply_that_uses_all_warns_too(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=100)
    await desk.open("a")
    assert (await step(desk, 1, 500)).notice == f"Session {SESSION} has used 500 of its 100 tokens."


async def test_of_a_persons_budget_each_session_says_once_that_it_is_low_and_people_are_told_once_in_all(
    desk: Desk, other: Desk
) -> None:
    desk.budget = other.budget = Budget(user_tokens=1000)
    await desk.open("a")
    await other.open("b")
    assert (await step(desk, 1, 850)).notice
    assert [(await step(other, number, 10)).notice for number in (1, 2)] == ["", ""]
    assert len(desk.entries(Kind.BUDGET_WARNED)) == len(other.entries(Kind.BUDGET_WARNED)) == 1


async def test_in_another_window_people_are_warned_again(desk: Desk) -> None:
    await desk.open("a")
    budgets = Budgets(desk.journal, Budget(user_tokens=1000, user_window_seconds=60.0), {})
    account = budgets.account(SESSION, "tester", (), datetime.now(UTC))
    keys = set()
    for seconds in (0, 1, 59, 60):
        (warning,), _ = budgets.warnings(account, Usage(900), None, datetime.fromtimestamp(NOON + seconds, UTC), 1)
        keys.add(warning.key)
    assert len(keys) == 2


async def test_of_what_was_granted_people_are_warned_anew(desk: Desk) -> None:
    desk.budget = Budget(session_tokens=1000)
    await desk.open("a")
    await step(desk, 1, 1000)
    grants = (await desk.think(Says(), 2)).refused
    assert (await step(desk, 2, 700, grants=grants)).notice == ""
    assert (await step(desk, 3, 100, grants=grants)).notice == f"Session {SESSION} has used 1,800 of its 2,000 tokens."
    assert [entry.data["allowed"] for entry in desk.entries(Kind.BUDGET_WARNED)] == [1000, 2000]


async def test_without_budgets_nothing_is_looked_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    await desk.open("a")
    monkeypatch.setattr(desk.journal, "spent", never)
    monkeypatch.setattr(desk.journal, "spent_by", never)
    assert (await step(desk, 1, 10**9)).notice == ""


# ---------------------------------------------------------------- the question


async def ask(desk: Desk, *, terms: Terms = Terms(), **more: Any) -> dict[str, Any]:
    order = AskToGoOn("run-1", 1, StopReason.BUDGET, "Go on?", NOON, **more)
    await desk.do(AskingActivities(desk.journal, terms).ask_to_go_on, order)
    return dict(desk.only(Kind.INTERRUPT_OPENED).data)


@pytest.mark.parametrize(
    ("more", "arguments"),
    [
        ({"more": 500.0}, {"limit": "budget", "more": 500}),
        ({"more": None}, {"limit": "budget"}),
        (
            {"grants": (Grant(BudgetName.SESSION_TOKENS, 230.0), Grant(BudgetName.USER_COST, 2.5))},
            {"limit": "budget", "session_tokens": 230, "user_cost": 2.5},
        ),
    ],
)
async def test_an_approval_is_for_what_is_asked_for(
    desk: Desk, more: dict[str, Any], arguments: dict[str, Any]
) -> None:
    await desk.open("a")
    question = await ask(desk, **more)
    assert (question["interrupt"], question["kind"], question["tool"]) == ("limit#1", "confirm_risky", "")
    assert repr(question["arguments"]) == repr(arguments)
    assert question["requester"] == "tester"


async def test_a_question_about_a_limit_has_the_general_terms_and_expires(desk: Desk) -> None:
    await desk.open("a")
    terms = Terms(role="lead", ladder=(Rung(RungKind.EXPIRE, 3600.0),))
    question = await ask(desk, terms=terms)
    assert (question["role"], question["rule"]) == ("lead", "limit")
    assert datetime.fromisoformat(question["due"]).timestamp() == NOON + 3600


@pytest.mark.parametrize(
    ("action", "more", "accepted", "why"),
    [
        (AnswerAction.APPROVE, {}, True, ""),
        (AnswerAction.REJECT, {}, True, ""),
        (AnswerAction.APPROVE, {"digest": "0" * 32}, False, "This answer is for something else than what is asked."),
        (
            AnswerAction.PROVIDE,
            {"values": {"more": 1}},
            False,
            "This question takes an approval or a rejection.",
        ),
    ],
)
async def test_a_question_about_a_limit_takes_a_yes_or_a_no(
    desk: Desk, action: AnswerAction, more: dict[str, Any], accepted: bool, why: str
) -> None:
    await desk.open("a")
    await ask(desk, more=5)
    judged = await desk.judge(action, "limit#1", **more)
    assert (judged.accepted, judged.detail) == (accepted, why)
    assert bool(desk.journal.open_interrupts(SESSION)) is not accepted


async def test_a_question_of_a_run_that_is_gone_waits_for_nobody(desk: Desk) -> None:
    await desk.open("a")
    await ask(desk)
    assert [row.call for row in desk.journal.open_interrupts()] == ["limit"]
    await desk.open("b", run="run-2", at=NOON + 60)
    assert desk.journal.open_interrupts() == ()


async def test_a_run_that_was_refused_before_its_first_step_closes_without_words(desk: Desk) -> None:
    desk.budget = Budget(user_tokens=1)
    await desk.open("a")
    await step(desk, 1, 5)
    await desk.close(StopReason.ANSWERED)
    await desk.open("b", run="run-2", at=NOON + 60)
    assert (await desk.think(Says(), run="run-2")).refused
    await desk.close(StopReason.BUDGET, step=0, run="run-2")
    assert [entry.data["answer"] for entry in desk.entries(Kind.RUN_STOPPED)] == ["", ""]
    assert len(desk.entries(Kind.ASSISTANT_MESSAGE)) == 1


async def test_what_an_earlier_answer_of_the_run_said_is_not_said_again(desk: Desk) -> None:
    """A late message that is refused for want of a budget: its run has an earlier step, with words."""
    await desk.open("a")
    await desk.think(Says("The first answer."))
    await desk.close(StopReason.ANSWERED)
    await desk.close(StopReason.BUDGET, step=1, nth=2, steps=0)
    assert [entry.data["answer"] for entry in desk.entries(Kind.RUN_STOPPED)] == ["The first answer.", ""]
    assert len(desk.entries(Kind.ASSISTANT_MESSAGE)) == 1
