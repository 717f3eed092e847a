"""`[budget]` and `limits.on_limit`: what they mean, and what can't be."""

from pathlib import Path

import pytest

from opspilot.core.budget import Budget
from opspilot.core.errors import UsageError
from opspilot.core.limits import OnLimit
from opspilot.settings import Settings, load_settings

PRICES = "[prices.gpt-5]\ninput = 1\noutput = 1\n"


def read(folder: Path, text: str) -> Settings:
    file = folder / "opspilot.toml"
    file.write_text(text, encoding="utf-8")
    return load_settings(file)


def test_without_a_budget_nothing_is_bounded_and_limits_stop(tmp_path: Path) -> None:
    settings = read(tmp_path, "")
    assert settings.budget.as_budget() == Budget()
    assert settings.budget.as_budget().quotas == {}
    assert settings.limits.as_limits().on_limit is OnLimit.STOP


def test_a_budget_is_what_is_written(tmp_path: Path) -> None:
    text = (
        "[budget]\nsession_tokens = 2_000_000\nsession_cost = 1.5\nuser_tokens = 10_000_000\nuser_cost = 5\n"
        f'user_window = "30d"\nwarn_at = 0.5\n{PRICES}[limits]\non_limit = "ask"\n'
    )
    settings = read(tmp_path, text)
    assert settings.budget.as_budget() == Budget(2_000_000, 1.5, 10_000_000, 5.0, 30 * 86_400.0, 0.5)
    assert settings.limits.as_limits().on_limit is OnLimit.ASK


@pytest.mark.parametrize(("written", "seconds"), [('"90m"', 5400.0), ("3600", 3600.0), ('"366d"', 366 * 86_400.0)])
def test_a_window_may_be_longer_than_a_run(tmp_path: Path, written: str, seconds: float) -> None:
    settings = read(tmp_path, f"[budget]\nuser_tokens = 1\nuser_window = {written}\n")
    assert settings.budget.as_budget().user_window_seconds == seconds


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[budget]\nsession_tokens = 0", "budget.session_tokens must be greater than 0."),
        ("[budget]\nuser_cost = -1", "budget.user_cost must be greater than 0."),
        ("[budget]\nuser_cost = inf", "budget.user_cost must be a finite number."),
        ("[budget]\nwarn_at = 1.2", "budget.warn_at must be at most 1."),
        ("[budget]\nwarn_at = 0", "budget.warn_at must be greater than 0."),
        ('[budget]\nuser_window = "367d"', "above 0 and at most 366 days."),
        ('[budget]\nuser_window = "soon"', "above 0 and at most 366 days."),
        ("[budget]\ntokens = 5", "budget.tokens is not a setting."),
        ('[limits]\non_limit = "perhaps"', "limits.on_limit must be one of stop, ask."),
        ("[budget]\nsession_cost = 5", "budget.session_cost needs prices: say what a million tokens"),
        ("[budget]\nuser_cost = 5", "budget.user_cost needs prices: say what a million tokens"),
    ],
)
def test_what_can_not_be_is_refused_by_name(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, text)
    assert sentence in str(refused.value)


def test_each_may_be_set_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSPILOT_BUDGET__USER_TOKENS", "500")
    monkeypatch.setenv("OPSPILOT_BUDGET__USER_WINDOW", "12h")
    monkeypatch.setenv("OPSPILOT_LIMITS__ON_LIMIT", "ask")
    settings = read(tmp_path, "")
    assert settings.budget.as_budget() == Budget(user_tokens=500, user_window_seconds=12 * 3600.0)
    assert settings.limits.as_limits().on_limit is OnLimit.ASK
