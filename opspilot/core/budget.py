"""How much a session, and a person in all their sessions, may use: how that stands, and the sentence about it.

Tokens are input and output of model calls together, as their provider counts them. Input from a provider's cache counts
in full: it is cheaper, which is what costs are for. Costs are in the currency of the prices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class BudgetName(StrEnum):
    """Every budget there is."""

    SESSION_TOKENS = "session_tokens"
    SESSION_COST = "session_cost"
    USER_TOKENS = "user_tokens"
    USER_COST = "user_cost"

    @property
    def is_of_user(self) -> bool:
        """Whether it is a person's, over a window of time; else it is a session's, for good."""
        return self in (BudgetName.USER_TOKENS, BudgetName.USER_COST)

    @property
    def is_cost(self) -> bool:
        """Whether it is money."""
        return self in (BudgetName.SESSION_COST, BudgetName.USER_COST)


@dataclass(frozen=True)
class Budget:
    """What may be used; None: as much as you like. A person's budgets are for the last `user_window_seconds`.

    From the share `warn_at` of a budget on people are warned.
    """

    session_tokens: int | None = None
    session_cost: float | None = None
    user_tokens: int | None = None
    user_cost: float | None = None
    user_window_seconds: float = 86_400.0
    warn_at: float = 0.8

    @property
    def quotas(self) -> dict[BudgetName, float]:
        """The budgets that are set."""
        quotas = {name: getattr(self, name.value) for name in BudgetName}
        return {name: quota for name, quota in quotas.items() if quota is not None}


@dataclass(frozen=True)
class Spent:
    """What was used. `cost` is 0 also where nobody has said what tokens cost."""

    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.tokens + other.tokens, self.cost + other.cost)


@dataclass(frozen=True)
class Grant:
    """A person's word that a run may use a budget up to so much, in all."""

    budget: BudgetName
    up_to: float


class Level(StrEnum):
    """How a budget stands."""

    OK = "ok"
    WARN = "warn"
    USED_UP = "used_up"


@dataclass(frozen=True)
class Use:
    """How much of a budget is used. `allowed` is its quota, or more where a person has agreed to more."""

    budget: BudgetName
    used: float
    quota: float
    allowed: float
    warn_from: float

    @property
    def level(self) -> Level:
        """Whether people have to be warned, or asked."""
        if self.used >= self.allowed:
            return Level.USED_UP
        return Level.WARN if self.used >= self.warn_from else Level.OK

    @property
    def as_much_again(self) -> Grant:
        """What somebody agrees to who lets a run go on, from what is used now."""
        return Grant(self.budget, self.used + self.quota)


def standing(budget: Budget, session: Spent, user: Spent, grants: Sequence[Grant] = ()) -> tuple[Use, ...]:
    """How each budget that is set stands, after what the session and its user have spent.

    Of what a person has granted beyond a quota they are warned anew: before the last of it is used.
    """
    return tuple(
        _use(budget, name, quota, user if name.is_of_user else session, grants) for name, quota in budget.quotas.items()
    )


def _use(budget: Budget, name: BudgetName, quota: float, spent: Spent, grants: Sequence[Grant]) -> Use:
    allowed = max([quota, *(grant.up_to for grant in grants if grant.budget is name)])
    return Use(
        budget=name,
        used=round(spent.cost, 6) if name.is_cost else spent.tokens,
        quota=quota,
        allowed=allowed,
        warn_from=allowed - quota + budget.warn_at * quota,
    )


def sentence(use: Use, session: str, user: str, window_seconds: float) -> str:
    """How a budget stands, for people, such as `Session ops-1 has used 1,612,345 of its 2,000,000 tokens.`."""
    used, allowed = amount(use.budget, use.used), amount(use.budget, use.allowed)
    hours = f"{window_seconds / 3600:g} h"
    return {
        BudgetName.SESSION_TOKENS: f"Session {session} has used {used} of its {allowed} tokens.",
        BudgetName.SESSION_COST: f"Session {session} has cost {used}; it may cost {allowed}.",
        BudgetName.USER_TOKENS: f"{user} has used {used} of {allowed} tokens within {hours}.",
        BudgetName.USER_COST: f"{user} has spent {used} within {hours}; {allowed} may be spent.",
    }[use.budget]


def amount(budget: BudgetName, value: float) -> str:
    """Such as `1,612,345` tokens, or `12.5` of a currency."""
    if not budget.is_cost:
        return f"{value:,.0f}"
    return f"{value:,.4f}".rstrip("0").rstrip(".")
