"""The figures of a range of days as the page shows them: in words, as pictures, and with what they lead to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from opspilot.journal.figures import DayFigures, Numbers, Times, ToolFigures
from opspilot.texts.folding import seconds
from opspilot.texts.language import text
from opspilot.web.charts import Columns, Period, Stretch, columns, periods, share_of
from opspilot.web.ranges import Range

MOST_DAYS = 366
"""A longer range is only drawn as far as there is anything to draw."""
NOTHING = "–"


@dataclass(frozen=True)
class Series:
    """Something that changes from one stretch of days to the next: `name` as a key of texts, its picture, its rows.

    A row is a stretch of days in words, what it came to, and the sessions that began in it. Where there is nothing to
    see, nothing is drawn.
    """

    name: str
    picture: Columns
    rows: tuple[tuple[str, str, str], ...]
    is_drawn: bool


@dataclass(frozen=True)
class ToolLine:
    """One tool, with the length of its bars in hundredths of the longest; `failed_at` are the sessions it failed in."""

    figures: ToolFigures
    rate: str
    rate_length: float
    median: str
    median_length: float
    p95: str
    p95_length: float
    failed_at: str


@dataclass(frozen=True)
class ReasonLine:
    """Why so many runs ended, with the length of its bar; `sessions` are those."""

    reason: str
    runs: int
    share: str
    length: float
    sessions: str


@dataclass(frozen=True)
class Shown:
    """All that the page needs. `stretch` is what a column stands for."""

    numbers: Numbers
    stretch: Stretch
    series: tuple[Series, ...]
    tools: tuple[ToolLine, ...]
    reasons: tuple[ReasonLine, ...]
    sessions: str

    def named(self, name: str) -> Series:
        """A series by its name."""
        return next(each for each in self.series if each.name == name)


def shown(numbers: Numbers, days: Range, today: date) -> Shown:
    """The figures of these days. A range without an end ends today, one without a beginning at the first run."""
    stretch, stretches = periods(*_drawn(numbers.days, days, today))
    sums = [(period, [day for day in numbers.days if period.holds(day.day)]) for period in stretches]
    return Shown(
        numbers=numbers,
        stretch=stretch,
        series=(
            _series("runs", sums, lambda found: sum(day.runs for day in found), _whole),
            _series("steps", sums, _mean_steps, _decimal),
            _series("tokens", sums, lambda found: sum(day.input_tokens + day.output_tokens for day in found), _whole),
            _series("cost", sums, _cost, money),
        ),
        tools=_tool_lines(numbers.tools, days),
        reasons=_reason_lines(numbers, days),
        sessions=_sessions(days),
    )


def percent(share: float | None) -> str:
    """`12.5 %`; of nothing there is no share."""
    return NOTHING if share is None else f"{100 * share:.1f} %"


def money(amount: float | None) -> str:
    """In whatever currency the prices are."""
    return NOTHING if amount is None else f"{amount:,.2f}" if amount >= 1 else f"{amount:.4f}"


def took(milliseconds: int | None) -> str:
    """How long, if it is known."""
    return NOTHING if milliseconds is None else seconds(milliseconds)


def within(part: Times) -> float:
    """How far the median reaches on the way to the 95th percentile, in hundredths."""
    return share_of(part.median_ms, part.p95_ms)


def _drawn(there: Sequence[DayFigures], days: Range, today: date) -> tuple[date, date]:
    begun, ended = (there[0].day, there[-1].day) if there else (today, today)
    first, last = days.first or begun, days.last or today
    if (last - first).days > MOST_DAYS:
        first, last = max(first, begun), min(last, ended)
    return min(first, last), last


def _series(
    name: str,
    sums: Sequence[tuple[Period, Sequence[DayFigures]]],
    value_of: Callable[[Sequence[DayFigures]], float | None],
    in_words: Callable[[float | None], str],
) -> Series:
    values = [(period, value_of(found)) for period, found in sums]
    picture = columns(values, lambda period, value: f"{_days(period)}: {in_words(value)}", in_words)
    rows = tuple(
        (_days(period), in_words(value), _sessions(Range(period.first, period.last)))
        for (period, value), (_, found) in zip(reversed(values), reversed(sums), strict=True)
        if found
    )
    return Series(name, picture, rows, any(value for _, value in values))


def _mean_steps(found: Sequence[DayFigures]) -> float | None:
    stopped = sum(day.runs_stopped for day in found)
    return sum((day.mean_steps or 0) * day.runs_stopped for day in found) / stopped if stopped else None


def _cost(found: Sequence[DayFigures]) -> float | None:
    costs = [day.cost for day in found if day.cost is not None]
    return sum(costs) if costs else None


def _tool_lines(tools: Sequence[ToolFigures], days: Range) -> tuple[ToolLine, ...]:
    worst = max((tool.failure_rate or 0 for tool in tools), default=0)
    slowest = max((tool.times.p95_ms or 0 for tool in tools), default=0)
    return tuple(
        ToolLine(
            figures=tool,
            rate=percent(tool.failure_rate),
            rate_length=share_of(tool.failure_rate, worst),
            median=took(tool.times.median_ms),
            median_length=share_of(tool.times.median_ms, slowest),
            p95=took(tool.times.p95_ms),
            p95_length=share_of(tool.times.p95_ms, slowest),
            failed_at=_sessions(days, failed_tool=tool.tool) if tool.calls_failed else "",
        )
        for tool in tools
    )


def _reason_lines(numbers: Numbers, days: Range) -> tuple[ReasonLine, ...]:
    most = max((runs for _, runs in numbers.stop_reasons), default=0)
    return tuple(
        ReasonLine(
            reason=reason,
            runs=runs,
            share=percent(runs / numbers.runs_stopped if numbers.runs_stopped else None),
            length=share_of(runs, most),
            sessions=_sessions(days, stop_reason=reason),
        )
        for reason, runs in numbers.stop_reasons
    )


def _sessions(days: Range, **more: str) -> str:
    chosen = {name: value for name, value in {**days.query, **more}.items() if value}
    return f"/sessions?{urlencode(chosen)}" if chosen else "/sessions"


def _days(period: Period) -> str:
    if period.first == period.last:
        return period.first.isoformat()
    return text("ui.numbers.days", first=period.first.isoformat(), last=period.last.isoformat())


def _whole(value: float | None) -> str:
    return f"{int(value or 0):,}"


def _decimal(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1f}"
