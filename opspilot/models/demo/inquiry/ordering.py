"""One end of an order: the latest, the largest, the group with most. Only orders and groups; writes no text."""

import re
from collections.abc import Iterable, Sequence

from opspilot.models.demo.inquiry.adding import sum_of
from opspilot.models.demo.inquiry.aims import Aim
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.columns import (
    GOOD,
    Measured,
    dimension_of,
    measure_of,
    people_of,
    projection,
    time_of,
)
from opspilot.models.demo.inquiry.outcomes import Outcome
from opspilot.models.demo.inquiry.tables import Record, Table
from opspilot.models.demo.inquiry.words import Word, stems_of
from opspilot.models.demo.measures import Measure


def extreme(table: Table, records: tuple[Record, ...], rest: tuple[Word, ...], question: Question) -> Outcome | None:
    """The rows at one end of an order, or the group that has most; None when nothing can be ordered."""
    if not records:
        return None
    which = [w for w in question.which if w in rest or w in question.content]
    group = dimension_of(table, which) if which and max(w.meets(table.nouns) for w in which) < 1.0 else ""
    group = group or (dimension_of(table, which[-1:]) if which and which[-1].meets(table.nouns) < 1.0 else "")
    others = [
        w for w in rest if w not in which or not (w.meets(table.nouns) or (group and w.meets(table.labels[group])))
    ]
    if not which and question.aims[0] is Aim.MOST and _WHO.search(question.text):
        group = people_of(table, records)
    order = _ORDER.search(question.text)
    if group and order and question.text.isascii() and which and which[0].at > order.end():
        group = ""
    values = [r.fields[group] for r in records if r.fields.get(group)] if group else []
    repeated = bool(values) and len(set(values)) < len(values)
    if repeated and _OFTEN.search(question.text):
        return _grouped(table, records, group, question, others)
    if question.measure is Measure.TIME:
        return _first_in_time(table, records, rest, others, which, question)
    most = question.aims[0] is Aim.MOST and question.measure is Measure.ANY
    if most and group and repeated and any(w.meets(table.nouns) >= 0.6 for w in question.stressed):
        return _grouped(table, records, group, question, others)
    return _by_measure(table, records, group if repeated else "", rest, others, which, question)


def _first_in_time(
    table: Table,
    records: tuple[Record, ...],
    rest: Sequence[Word],
    others: Sequence[Word],
    which: Sequence[Word],
    question: Question,
) -> Outcome | None:
    """The latest or the earliest; of things that only have an age, the youngest or the oldest."""
    column = time_of(table, records, rest)
    if column:
        held = [(m, r) for r in records if (m := table.moment(r, column)) is not None]
        held.sort(key=lambda entry: entry[0], reverse=question.largest)
        first = tuple(r for _, r in held[: question.many])
        return Outcome(Aim.EXTREME, first, _with(column, table, first, [*others, *which], question), fit=1.3, of=column)
    age = measure_of(table, records, others, Measure.DURATION, question)
    old = "age" in age.column
    return _ranked(table, records, age, others, question, largest=not question.largest) if old else None


def _by_measure(
    table: Table,
    records: tuple[Record, ...],
    group: str,
    rest: Sequence[Word],
    others: list[Word],
    which: Sequence[Word],
    question: Question,
) -> Outcome | None:
    """One end of the order of a number. `group`: the column whose values are shared, to add up or count by."""
    pick = [w for w in others if w.meets(table.nouns) < 1.0] or others
    measured = measure_of(table, records, pick, question.measure, question)
    if not measured.named:
        measured = measure_of(table, records, others, question.measure, question)
    if (
        group
        and measured.named
        and ">" not in measured.column
        and (question.aims[0] is Aim.MOST or question.measure is Measure.AMOUNT)
    ):
        return _grouped_sum(records, group, measured.column, question)
    if group and question.aims[0] is Aim.MOST and not measured.named:
        return _grouped(table, records, group, question, others)
    if (
        not measured.named
        and question.measure is Measure.DURATION
        and (waits := _longest_open(table, records, rest, question))
    ):
        return waits
    if measured.column and (measured.named or question.aims[0] is not Aim.MOST):
        worst = bool(_WORST.search(question.text)) and bool(table.labels[measured.column] & GOOD)
        return _ranked(table, records, measured, [*others, *which], question, largest=question.largest and not worst)
    if group and question.measure is Measure.ANY:
        return _grouped(table, records, group, question, others)
    return None


_WHO = re.compile(r"(?i)^\W*(?:so |and )?who(?:se)?\b|谁[^，。？]*最[多少]")
_OFTEN = re.compile(r"(?i)\b(?:main|common(?:est)?|frequent(?:ly)?|often|usual|predominant)\b|常见|主要|频繁|最常")
_ORDER = re.compile(r"(?i)\b(?:most|least|fewest|main|highest|lowest|largest|biggest|longest)\b")
_WORST = re.compile(r"(?i)\bworst\b|最差|最糟|最惨")
_ENDS = stems_of("closed ended resolved finished completed returned end close stopped done")
_STARTS = stems_of("opened started created begin began start since submitted reported from open fired")


def _longest_open(table: Table, records: Sequence[Record], rest: Sequence[Word], question: Question) -> Outcome | None:
    """What began first, of those that have not ended: that has lasted longest."""
    starts = [n for n in table.times if ">" not in n and table.labels[n] & _STARTS] or [
        n for n in table.times if ">" not in n
    ]
    ends = [n for n in table.columns if ">" not in n and table.labels[n] & _ENDS and n in table.times]
    lasting = [r for r in records if not any(r.fields.get(n) for n in ends)] or list(records)
    if not starts:
        return None
    held = [(m, r) for r in lasting if (m := table.moment(r, starts[0])) is not None]
    held.sort(key=lambda entry: entry[0], reverse=not question.largest)
    first = tuple(r for _, r in held[: question.many])
    return Outcome(Aim.EXTREME, first, _with(starts[0], table, first, list(rest), question), fit=1.1, of=starts[0])


def _ranked(
    table: Table,
    records: Iterable[Record],
    measured: Measured,
    others: Sequence[Word],
    question: Question,
    *,
    largest: bool,
) -> Outcome | None:
    column = measured.column
    held = [(n, r) for r in records if (n := r.number(column)) is not None]
    if not held:
        return None
    held.sort(key=lambda entry: entry[0], reverse=largest)
    first = tuple(r for _, r in held[: question.many])
    fit = (1.3 if measured.named else 0.3) - 0.4 * column.count(">")
    return Outcome(Aim.EXTREME, first, _with(column, table, first, others, question), fit=fit, of=column)


def _with(
    column: str, table: Table, records: Sequence[Record], others: Sequence[Word], question: Question
) -> tuple[str, ...]:
    """The column that ranks, and what else is asked about those rows."""
    left = [w for w in others if w.meets(table.labels[column]) < 0.6]
    more, _ = projection(table, records, left, question, without=frozenset({column}))
    return (column, *more[:3])


def _grouped(
    table: Table, records: Iterable[Record], group: str, question: Question, others: Sequence[Word]
) -> Outcome | None:
    groups: dict[str, list[Record]] = {}
    for record in records:
        if value := record.fields.get(group):
            groups.setdefault(value, []).append(record)
    if not groups or (len(groups) > 1 and max(map(len, groups.values())) == 1):
        return None
    best = (max if question.largest else min)(groups, key=lambda value: len(groups[value]))
    held = tuple(groups[best])
    same, _ = projection(table, held, list(others), question, without=frozenset({group}))
    told = tuple(name for name in same[:2] if len({r.fields.get(name) for r in held}) == 1)
    return Outcome(Aim.MOST, held, told, str(len(held)), best, fit=1.2, of=group)


def _grouped_sum(records: Sequence[Record], group: str, column: str, question: Question) -> Outcome | None:
    groups: dict[str, list[Record]] = {}
    for record in records:
        if record.fields.get(group) and record.number(column) is not None:
            groups.setdefault(record.fields[group], []).append(record)
    if not groups:
        return None
    sums = {value: sum_of(held, column) for value, held in groups.items()}
    best = (max if question.largest else min)(sums, key=lambda value: float(sums[value]))
    return Outcome(Aim.SUM, tuple(groups[best]), (column,), sums[best], best, fit=1.2, of=column)
