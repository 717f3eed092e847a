"""How budgets stand, who is warned and asked, and what people read of it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.budget import Budget, BudgetName, Grant, Level, Spent, Use, amount, sentence, standing
from opspilot.core.limits import Limits, StopReason, go_on
from opspilot.core.limits import sentence as why

SESSION_TOKENS, SESSION_COST, USER_TOKENS, USER_COST = BudgetName
OK, WARN, USED_UP = Level
NOTHING = Spent()


def only(name: BudgetName, quota: Any) -> Budget:
    return replace(Budget(), **{name.value: quota})


def levels(budget: Budget, session: Spent = NOTHING, user: Spent = NOTHING, *grants: Grant) -> dict[BudgetName, Level]:
    return {use.budget: use.level for use in standing(budget, session, user, grants)}


@pytest.mark.parametrize(
    ("tokens", "level"),
    [(0, OK), (1_599_999, OK), (1_600_000, WARN), (1_999_999, WARN), (2_000_000, USED_UP), (3_000_000, USED_UP)],
)
@pytest.mark.parametrize("name", [SESSION_TOKENS, USER_TOKENS])
def test_of_tokens_people_are_warned_at_the_share_and_asked_at_the_whole(
    name: BudgetName, tokens: int, level: Level
) -> None:
    budget = only(name, 2_000_000)
    spent = Spent(tokens, 99.0)
    assert levels(budget, spent, spent) == {name: level}


@pytest.mark.parametrize(
    ("cost", "level"), [(0.0, OK), (0.2399, OK), (0.24, WARN), (0.1 + 0.2, USED_UP), (9.0, USED_UP)]
)
@pytest.mark.parametrize("name", [SESSION_COST, USER_COST])
def test_of_money_people_are_warned_at_the_share_and_asked_at_the_whole(
    name: BudgetName, cost: float, level: Level
) -> None:
    spent = Spent(999, cost)
    assert levels(only(name, 0.3), spent, spent) == {name: level}


def test_a_sum_of_rounded_costs_that_is_a_hair_short_is_the_whole() -> None:
    assert sum([0.1] * 8) < 0.8
    assert levels(Budget(session_cost=0.8), Spent(0, sum([0.1] * 8))) == {SESSION_COST: USED_UP}


def test_what_is_not_set_is_not_bounded() -> None:
    much = Spent(10**12, 1e9)
    assert standing(Budget(), much, much) == ()
    assert levels(Budget(user_cost=5.0), much, NOTHING) == {USER_COST: OK}


def test_each_budget_stands_by_what_it_is_of() -> None:
    budget = Budget(session_tokens=100, session_cost=1.0, user_tokens=100, user_cost=1.0)
    assert levels(budget, Spent(100, 0.8), Spent(80, 0.1)) == {
        SESSION_TOKENS: USED_UP, SESSION_COST: WARN, USER_TOKENS: WARN, USER_COST: OK,
    }  # fmt: skip


def test_people_are_warned_at_the_share_that_is_set_and_with_one_only_when_all_is_used() -> None:
    assert levels(Budget(session_tokens=100, warn_at=0.5), Spent(50)) == {SESSION_TOKENS: WARN}
    assert levels(Budget(session_tokens=100, warn_at=1.0), Spent(99)) == {SESSION_TOKENS: OK}


# ---------------------------------------------------------------- grants


@pytest.mark.parametrize(("tokens", "level"), [(130, OK), (229, OK), (210, OK), (230, USED_UP), (231, USED_UP)])
def test_a_grant_is_for_as_much_again_from_what_was_used_then(tokens: int, level: Level) -> None:
    budget = Budget(session_tokens=100, warn_at=1.0)
    (use,) = standing(budget, Spent(130), NOTHING)
    assert use.as_much_again == Grant(SESSION_TOKENS, 230)
    assert levels(budget, Spent(tokens), NOTHING, use.as_much_again) == {SESSION_TOKENS: level}


@pytest.mark.parametrize(("tokens", "level"), [(209, OK), (210, WARN), (229, WARN)])
def test_of_what_was_granted_people_are_warned_anew(tokens: int, level: Level) -> None:
    budget = Budget(session_tokens=100)
    assert levels(budget, Spent(tokens), NOTHING, Grant(SESSION_TOKENS, 230)) == {SESSION_TOKENS: level}


def test_a_grant_is_for_its_own_budget_and_the_largest_counts() -> None:
    budget = Budget(session_tokens=100, user_tokens=100)
    grants = (Grant(SESSION_TOKENS, 400), Grant(SESSION_TOKENS, 230), Grant(SESSION_COST, 900))
    assert levels(budget, Spent(250), Spent(250), *grants) == {SESSION_TOKENS: OK, USER_TOKENS: USED_UP}


@given(
    quota=st.integers(1, 10**9),
    used=st.lists(st.integers(0, 10**9), min_size=1, max_size=5),
    warn_at=st.floats(0.01, 1.0),
)
def test_whoever_grants_lets_a_run_go_on_whatever_it_had_used(quota: int, used: list[int], warn_at: float) -> None:
    budget = Budget(user_tokens=quota, warn_at=warn_at)
    grants: list[Grant] = []
    tokens = 0
    for more in used:
        tokens += more
        (use,) = standing(budget, NOTHING, Spent(tokens), grants)
        if use.level is USED_UP:
            grants.append(use.as_much_again)
            assert levels(budget, NOTHING, Spent(tokens), *grants)[USER_TOKENS] is not USED_UP
        assert use.allowed >= quota
        assert (use.level is OK) == (use.used < use.warn_from)


# ---------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("name", "figures", "window_seconds", "said"),
    [
        (SESSION_TOKENS, (2_000_000, 2_000_000), 86_400, "Session ops-1 has used 2,000,000 of its 2,000,000 tokens."),
        (SESSION_COST, (1.5, 1.0), 86_400, "Session ops-1 has cost 1.5; it may cost 1."),
        (USER_TOKENS, (81, 100), 86_400, "alice has used 81 of 100 tokens within 24 h."),
        (USER_TOKENS, (81, 100), 5400, "alice has used 81 of 100 tokens within 1.5 h."),
        (USER_COST, (1234.56789, 2000.0), 7 * 86_400, "alice has spent 1,234.5679 within 168 h; 2,000 may be spent."),
    ],
)
def test_how_a_budget_stands_is_said_in_a_sentence(
    name: BudgetName, figures: tuple[float, float], window_seconds: float, said: str
) -> None:
    used, allowed = figures
    assert sentence(Use(name, used, allowed, allowed, 0.0), "ops-1", "alice", window_seconds) == said


def test_a_sentence_speaks_of_what_is_allowed_now() -> None:
    (use,) = standing(Budget(session_tokens=100), Spent(230), NOTHING, [Grant(SESSION_TOKENS, 230)])
    assert sentence(use, "s", "u", 1.0) == "Session s has used 230 of its 230 tokens."


@pytest.mark.parametrize(("value", "said"), [(0.0, "0"), (0.00012, "0.0001"), (10.0, "10"), (12.5, "12.5")])
def test_money_has_no_more_digits_than_it_needs(value: float, said: str) -> None:
    assert amount(SESSION_COST, value) == said


def test_the_question_is_the_sentence_and_whether_to_go_on() -> None:
    stands = "Session ops-1 has used 2,000,000 of its 2,000,000 tokens."
    assert go_on(StopReason.BUDGET, Limits(), stands) == f"{stands} Go on for as much again?"
    assert why(StopReason.BUDGET, Limits(), stands) == f"Stopped because a budget is used up. {stands}"


@pytest.mark.parametrize(
    ("reason", "limits", "question"),
    [
        (StopReason.MAX_STEPS, {"steps": 10}, "The limit of this run is reached. Go on for 10 more steps?"),
        (StopReason.MAX_STEPS, {"steps": 1}, "The limit of this run is reached. Go on for 1 more step?"),
        (StopReason.TIMEOUT, {"active_seconds": 90.0}, "The time of this run is used up. Go on for 90 more seconds?"),
        (StopReason.TOO_MANY_FAILS, {}, "5 tool calls in a row failed. Go on all the same?"),
        (StopReason.BUDGET, {"tokens": 5000}, "The budget of this run is used up. Go on for 5,000 more tokens?"),
    ],
)
def test_at_a_limit_of_the_run_the_question_says_how_much_more(
    reason: StopReason, limits: dict[str, Any], question: str
) -> None:
    assert go_on(reason, Limits(**limits)) == question
