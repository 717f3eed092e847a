"""Adding up a column over whole rows, exactly: sums and means. Knows nothing of order or of groups."""

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from opspilot.models.demo.inquiry.aims import Aim
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.columns import (
    measure_of,
)
from opspilot.models.demo.inquiry.outcomes import Outcome
from opspilot.models.demo.inquiry.rows import quantity
from opspilot.models.demo.inquiry.tables import Record, Table
from opspilot.models.demo.inquiry.words import Word
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.measures import Measure


def together(
    aim: Aim, table: Table, records: tuple[Record, ...], rest: tuple[Word, ...], question: Question
) -> Outcome | None:
    """A sum or a mean over the rows; of one row its own value."""
    pick = [w for w in rest if w.meets(table.nouns) < 1.0] or list(rest)
    measured = measure_of(table, records, pick, question.measure, question, own=True)
    if not measured.named:
        paid = measure_of(table, records, list(rest), Measure.AMOUNT, question, own=True)
        measured = paid if paid.named else measured
    column = measured.column
    if not column:
        return None
    if len(records) == 1:
        return Outcome(Aim.FIELD, records, (column,), fit=1.0)
    value = sum_of(records, column) if aim is Aim.SUM else mean_of(records, column)
    return Outcome(aim, records, (column,), value, fit=1.3 if measured.named else 0.2, of=column) if value else None


def _decimals(records: Iterable[Record], column: str) -> list[Decimal]:
    found = []
    for record in records:
        value = record.fields.get(column, "")
        number = quantity(value)
        if number is None:
            continue
        try:
            found.append(Decimal(value.replace(",", "")))
        except InvalidOperation:
            found.append(Decimal(str(number)))
    return found


def sum_of(records: Iterable[Record], column: str) -> str:
    """What a column adds up to, as it is to be shown."""
    return _shown(sum(_decimals(records, column), Decimal(0)))


def mean_of(records: Iterable[Record], column: str) -> str:
    """The mean of a column, as it is to be shown; empty when it holds no number."""
    values = _decimals(records, column)
    return _shown(sum(values, Decimal(0)) / len(values)) if values else ""


def _shown(value: Decimal) -> str:
    rounded = value.quantize(Decimal("0.01"))
    return format(rounded.normalize(), "f") if rounded != rounded.to_integral() else str(int(rounded))


NOT_ADDED = listed(
    "duration s ms seconds minutes min percent pct rate ratio latency median mean average avg p50 p95 p99 score "
    "age max "
    "utilization load temperature share level"
)
"""Words of columns that are never added up: shares, rates, durations."""
