"""The section `[budget]`: how much a session, and a person in all their sessions, may use."""

from collections.abc import Collection
from functools import partial
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from opspilot.bounds import MOST_WINDOW_SECONDS
from opspilot.core.budget import Budget
from opspilot.core.errors import UsageError
from opspilot.model_settings import Tokens
from opspilot.sections.durations import as_seconds
from opspilot.sections.section import Section
from opspilot.settings_errors import Origin
from opspilot.texts.language import text

Cost: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share: TypeAlias = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Window: TypeAlias = Annotated[float, BeforeValidator(partial(as_seconds, most_seconds=MOST_WINDOW_SECONDS))]

COSTS = ("session_cost", "user_cost")


class BudgetSettings(Section):
    """Tokens, and money in the currency of `[prices]`. What isn't set is not bounded.

    A person's budgets are for the last `user_window`. From the share `warn_at` of a budget on people are warned.
    """

    session_tokens: Tokens | None = None
    session_cost: Cost | None = None
    user_tokens: Tokens | None = None
    user_cost: Cost | None = None
    user_window: Window = Budget.user_window_seconds
    warn_at: Share = Budget.warn_at

    def as_budget(self) -> Budget:
        """The same as the core knows it."""
        known = self.model_dump(exclude={"user_window"})
        return Budget(user_window_seconds=self.user_window, **known)


def refuse_costs_without_prices(budget: BudgetSettings, prices: Collection[str], origin: Origin) -> None:
    """Raises `UsageError` for a budget of money where nothing says what a model costs: it would never be used up."""
    for key in COSTS if not prices else ():
        if getattr(budget, key) is not None:
            raise UsageError(text("settings.budget.prices", where=origin.where("budget", key)))
