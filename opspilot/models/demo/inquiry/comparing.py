"""Things side by side: two that the question names, or one at two points in time. Writes no text."""

from collections.abc import Sequence

from opspilot.models.demo.inquiry.adding import NOT_ADDED, sum_of
from opspilot.models.demo.inquiry.aims import Aim
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.columns import (
    dimension_of,
    last_label,
    measure_of,
    time_of,
)
from opspilot.models.demo.inquiry.evidence import Hit
from opspilot.models.demo.inquiry.ordering import extreme
from opspilot.models.demo.inquiry.outcomes import Outcome
from opspilot.models.demo.inquiry.rows import quantity
from opspilot.models.demo.inquiry.tables import Record, Table
from opspilot.models.demo.inquiry.words import Word
from opspilot.models.demo.measures import Measure
from opspilot.models.demo.words import parts


def side_by_side(
    table: Table, records: tuple[Record, ...], chosen: Sequence[Hit], rest: tuple[Word, ...], question: Question
) -> Outcome | None:
    """Two or more things, each with its rows and its value; None where the rows set nothing apart."""
    rivals = next((hit for hit in chosen if len(hit.values) > 1 and not hit.denied), None)
    if rivals is None and (trend := _trend(table, records, rest, question)):
        return trend
    if rivals is None:
        group = dimension_of(table, list(question.which))
        return extreme(table, records, rest, question) if group else None
    pick = [w for w in rest if w.meets(table.nouns) < 1.0] or list(rest)
    measured = measure_of(table, records, pick, question.measure, question)
    whole = measure_of(table, records, list(rest), question.measure, question)
    if whole.named and any(last_label(whole.column) <= w.forms for w in rest):
        measured = whole
    column = measured.column if measured.named and not (question.counts and measured.general) else ""
    if not column and question.measure is Measure.TIME:
        column = time_of(table, records, list(rest))
    several = any(sum(_is_of(r, rivals.column, v) for r in records) > 1 for v in rivals.values)
    if column and several and set(parts(column)) & NOT_ADDED:
        column = ""
    order = {value: question.text.lower().find(value.lower()) for value in rivals.values}
    sides = []
    for value in sorted(rivals.values, key=lambda v: order[v]):
        held = tuple(r for r in records if _is_of(r, rivals.column, value))
        same = {r.fields.get(column, "") for r in held} if ">" in column or len(held) == 1 else set()
        said = (
            next(iter(same))
            if len(same) == 1
            else ""
            if ">" in column
            else sum_of(held, column)
            if column
            else str(len(held))
        )
        sides.append((value, held, said))
    if any(not said for _, _, said in sides):
        return None
    ranked = sorted(sides, key=lambda side: quantity(side[2]) or 0.0, reverse=question.largest)
    return Outcome(
        Aim.COMPARE, records, (column,) if column else (), sides=tuple(ranked), fit=1.6 if column else 0.8, of=column
    )


def _trend(table: Table, records: tuple[Record, ...], rest: tuple[Word, ...], question: Question) -> Outcome | None:
    """One thing at two points in time: what it measured then and then, the earlier first."""
    times = [n for n in table.times if ">" not in n and len({r.fields.get(n) for r in records}) == len(records)]
    if len(records) != 2 or not times or question.span is None:
        return None
    measured = measure_of(table, records, list(rest), question.measure, question)
    if not measured.column:
        return None
    ordered = sorted(records, key=lambda r: r.fields[times[0]])
    sides = tuple((r.fields[times[0]], (r,), r.fields.get(measured.column, "")) for r in ordered)
    if not all(said for _, _, said in sides):
        return None
    first, last_ = (quantity(said) or 0.0 for _, _, said in sides)
    label = "rose" if last_ > first else "fell" if last_ < first else "same"
    return Outcome(
        Aim.COMPARE, tuple(ordered), (measured.column,), label=label, sides=sides, fit=1.5, of=measured.column
    )


def _is_of(record: Record, column: str, value: str) -> bool:
    held = record.fields.get(column, "")
    return value in (held, *held.split(", "))
