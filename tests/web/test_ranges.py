"""Ranges of days and what is shown of them, without a server."""

from datetime import UTC, date, datetime

import pytest

from opspilot.journal.figures import Numbers, Times
from opspilot.web.pages import showing_numbers
from opspilot.web.ranges import Range, Span, last_days

NOTHING = Numbers(
    runs=0, runs_stopped=0, mean_steps=None, input_tokens=0, output_tokens=0, cost=None, calls_ok=0, calls_failed=0,
    failure_rate=None, runs_interrupted=0, interrupted_finished=0, finished_rate=None, model_calls=0,
    mean_model_ms=None, model_time=Times(), tool_time=Times(), tools=(),
    stop_reasons=(), days=(),
)  # fmt: skip


@pytest.mark.parametrize(
    "days",
    [Range(), Range(date.min, date.max), Range(date(2026, 2, 2), date(2026, 1, 1)), Range(None, date(2001, 1, 1))],
)
def test_a_range_of_any_length_without_runs_is_drawn_as_nothing(days: Range) -> None:
    found = showing_numbers.shown(NOTHING, days, date(2026, 3, 1))
    assert [series.rows for series in found.series] == [(), (), (), ()]
    assert all(len(series.picture.columns) <= 400 for series in found.series)


def test_a_span_ends_today_and_stays_open() -> None:
    today = date(2026, 3, 31)
    assert last_days(Span.WEEK, today) == Range(date(2026, 3, 25))
    assert last_days(Span.DAY, today).since == datetime(2026, 3, 31, tzinfo=UTC)
    assert last_days(Span.ALL, today) == Range()
    assert Range(last=date.max).until is None


@pytest.mark.parametrize(
    ("amount", "said"), [(None, "–"), (0.0, "0.0000"), (0.00012, "0.0001"), (1.5, "1.50"), (12345.678, "12,345.68")]
)
def test_money_is_said_as_exactly_as_it_needs(amount: float | None, said: str) -> None:
    assert showing_numbers.money(amount) == said
