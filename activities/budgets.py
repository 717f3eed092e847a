"""What the activity that thinks knows of budgets: how they stand by the journal, what a reply costs, who is warned."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from opspilot.core.budget import Budget, Grant, Level, Spent, Use, sentence, standing
from opspilot.core.contract import ModelOutcome
from opspilot.core.cost import Price
from opspilot.core.entries import Kind, NewEntry, budget_warned_key
from opspilot.core.limits import StopReason
from opspilot.core.messages import Json, Usage
from opspilot.core.ports import Journal


@dataclass(frozen=True)
class Account:
    """Whose budgets, what was spent until now, and what people have granted."""

    session: str
    user: str
    of_session: Spent
    of_user: Spent
    grants: Sequence[Grant]


class Budgets:
    """Holds the journal, which knows what was spent, what may be spent, and the prices of models by their names."""

    def __init__(self, journal: Journal, budget: Budget, prices: Mapping[str, Price]) -> None:
        self._journal = journal
        self._budget = budget
        self._prices = prices

    def account(self, session: str, user: str, grants: Sequence[Grant], now: datetime) -> Account:
        """What was spent. Nothing is looked up for a budget that isn't set."""
        names = self._budget.quotas
        of_session = of_user = Spent()
        if any(not name.is_of_user for name in names):
            of_session = self._journal.spent(session)
        if any(name.is_of_user for name in names):
            since = now - timedelta(seconds=self._budget.user_window_seconds)
            of_user = self._journal.spent_by(user, since)
        return Account(session, user, of_session, of_user, grants)

    def refusal(self, account: Account) -> ModelOutcome | None:
        """What comes of a model call that nobody may pay for any more; None when it may be made."""
        used_up = [use for use in self._standing(account) if use.level is Level.USED_UP]
        if not used_up:
            return None
        return ModelOutcome(
            usage=Usage(),
            active_seconds=0.0,
            stop=StopReason.BUDGET,
            detail=self._sentences(used_up, account),
            refused=tuple(use.as_much_again for use in used_up),
        )

    def cost(self, model: str, usage: Usage) -> float | None:
        """What a reply costs; None when nobody has said what this model's tokens cost."""
        price = self._prices.get(model)
        return None if price is None else price.of(usage)

    def warnings(
        self, account: Account, usage: Usage, cost: float | None, at: datetime, step: int
    ) -> tuple[list[NewEntry], str]:
        """What is to be recorded after such a reply, and what people should be told: that a budget is nearly used up.

        Each session records it once, of its own budgets and of those of whoever asks in it; people elsewhere are told
        once in all, by the reply that brought it about.
        """
        spent = Spent(usage.total_tokens, cost or 0.0)
        later = Account(
            account.session, account.user, account.of_session + spent, account.of_user + spent, account.grants
        )
        before = {use.budget: use.level for use in self._standing(account)}
        low = [use for use in self._standing(later) if use.level is not Level.OK]
        crossed = [use for use in low if before[use.budget] is Level.OK]
        return [self._warning(use, later, at, step) for use in low], self._sentences(crossed, later)

    def _standing(self, account: Account) -> tuple[Use, ...]:
        return standing(self._budget, account.of_session, account.of_user, account.grants)

    def _sentences(self, uses: Iterable[Use], account: Account) -> str:
        return " ".join(self._sentence(use, account) for use in uses)

    def _sentence(self, use: Use, account: Account) -> str:
        return sentence(use, account.session, account.user, self._budget.user_window_seconds)

    def _warning(self, use: Use, account: Account, at: datetime, step: int) -> NewEntry:
        window_seconds = self._budget.user_window_seconds if use.budget.is_of_user else None
        period = int(at.timestamp() // window_seconds) if window_seconds else 0
        data: dict[str, Json] = {
            "budget": use.budget.value,
            "whose": account.user if use.budget.is_of_user else account.session,
            "used": use.used,
            "allowed": use.allowed,
            "window_seconds": window_seconds,
            "message": self._sentence(use, account),
        }
        return NewEntry(budget_warned_key(use.budget.value, use.allowed, period), Kind.BUDGET_WARNED, at, data, step)
