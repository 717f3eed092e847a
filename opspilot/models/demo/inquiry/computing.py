"""What the chosen rows come to: a count, a sum, one end of an order, two things side by side, or what fields say.

What is computed here is only counted or added up from whole rows; the rest is the rows' own. Writes no text.
"""

import re
from collections.abc import Iterator, Sequence

from opspilot.models.demo.inquiry.adding import NOT_ADDED, sum_of, together
from opspilot.models.demo.inquiry.aims import Aim, Want
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.columns import (
    bare,
    dimension_of,
    last_label,
    measure_of,
    projection,
)
from opspilot.models.demo.inquiry.comparing import side_by_side
from opspilot.models.demo.inquiry.evidence import Hit
from opspilot.models.demo.inquiry.ordering import extreme
from opspilot.models.demo.inquiry.outcomes import Outcome
from opspilot.models.demo.inquiry.tables import Record, Table
from opspilot.models.demo.inquiry.words import Word, stems_of
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.measures import Measure
from opspilot.models.demo.words import parts


def outcome_of(
    table: Table,
    records: tuple[Record, ...],
    chosen: Sequence[Hit],
    rest: tuple[Word, ...],
    question: Question,
    *,
    timed: str,
    set_apart: bool,
) -> Outcome | None:
    """The best that these rows say to what is asked; None when nothing."""
    if table.prose:
        return None
    aim = question.aims[0]
    if aim is Aim.COUNT:
        if len(question.aims) > 1 and question.aims[1] in {Aim.EXTREME, Aim.MOST}:
            return extreme(table, records, rest, question) or _count(table, records, chosen, rest, question)
        return _count(table, records, chosen, rest, question)
    if not records:
        return None
    if aim is Aim.COMPARE:
        return side_by_side(table, records, chosen, rest, question) or _told(
            table, records, chosen, rest, question, timed=timed, set_apart=set_apart
        )
    if aim in {Aim.EXTREME, Aim.MOST} and not set_apart:
        return extreme(table, records, rest, question)
    if aim in {Aim.SUM, Aim.MEAN}:
        return together(aim, table, records, rest, question)
    return _told(table, records, chosen, rest, question, timed=timed, set_apart=set_apart)


# ---------------------------------------------------------------- counting


def _count(
    table: Table, records: tuple[Record, ...], chosen: Sequence[Hit], rest: tuple[Word, ...], question: Question
) -> Outcome | None:
    counted = question.counted
    spoken = {w for hit in chosen for w in hit.words}
    named = any(hit.exact and hit.score >= 2.5 for hit in chosen)
    own = max((w.meets(table.nouns) for w in counted), default=0.0)
    free = [w for w in counted if w not in spoken]
    numbers = measure_of(table, records, free or rest, Measure.ANY, question)
    exact = bool(numbers.named and free and last_label(numbers.column) <= frozenset(f for w in free for f in w.forms))
    if numbers.column and numbers.named and free and (own < 1.0 or exact):
        if len(records) == 1 and (named or table.single):
            return Outcome(Aim.FIELD, records, (numbers.column,), fit=1.5)
        path = bare(numbers.column).split(".")
        whole = len(path) > 1 and bool(set(parts(path[-1])) & _COUNTS) and free[-1].meets(stems_of(path[-2])) >= 1.0
        if ">" not in numbers.column and (
            exact or (own < 0.6 and (whole or free[-1].meets(last_label(numbers.column)) >= 1.0))
        ):
            return Outcome(
                Aim.SUM, records, (numbers.column,), sum_of(records, numbers.column), fit=1.3, of=numbers.column
            )
    if own < 0.6 and counted and _ALL.search(question.text) and records and not table.single:
        amount = measure_of(table, records, [w for w in rest if w not in counted], Measure.ANY, question, own=True)
        if amount.named and not set(parts(amount.column)) & NOT_ADDED:
            return Outcome(
                Aim.SUM, records, (amount.column,), sum_of(records, amount.column), fit=1.1, of=amount.column
            )
    if len(records) == 1 < len(table.records) and named and (not counted or own < 0.6):
        held = [n for n in table.columns if ">" not in n and n in table.numeric and set(parts(n)) & _STOCK]
        told, _ = projection(table, records, list(rest), question, without=frozenset())
        if held:
            return Outcome(Aim.FIELD, records, tuple(dict.fromkeys((held[0], *told))), fit=1.2)
    if table.counts:
        return Outcome(Aim.FIELD, records, ("count",), fit=1.0) if len(records) == 1 < len(table.records) else None
    if table.single:
        numbers = numbers if numbers.column else measure_of(table, records, rest, Measure.ANY, question)
        return Outcome(Aim.FIELD, records, (numbers.column,), fit=0.8) if numbers.named else None
    about = any(w.meets(table.nouns) >= 0.6 for w in question.content)
    if free and not about:
        kind = dimension_of(table, free[-1:])
        held = [r.fields[kind] for r in records if r.fields.get(kind)] if kind else []
        if held and len(set(held)) < len(held):
            return Outcome(Aim.COUNT, records, (kind,), str(len(set(held))), fit=0.9, of=kind)
    more = tuple(_sums_besides(table, records, question))
    value = table.total if table.total and len(records) == len(table.records) else str(len(records))
    spoken_of = all(_is_accounted(w, table, spoken, chosen) for w in counted)
    sure = not counted or (spoken_of and (own >= 0.6 or any(w in spoken for w in counted)))
    return Outcome(Aim.COUNT, records, (), value, fit=1.0 if sure else 0.2, besides=more)


_STOCK = listed("stock quantity qty count left available remaining inventory hand free amount 库存 数量")
_COUNTS = listed("current count total number online active used n now 数 数量")
_ALL = re.compile(r"(?i)\b(?:total|altogether|across|all|combined|together)\b|总共|一共|合计|总计|加起来|所有|总数")


def _is_accounted(word: Word, table: Table, spoken: set[Word], chosen: Sequence[Hit]) -> bool:
    """Does the table speak of what this word says?"""
    return (
        word in spoken
        or any(word.forms & stems_of(value) for hit in chosen for value in hit.values)
        or word.meets(table.nouns | table.described) >= 0.5
        or any(word.meets(label) >= 0.6 for label in table.labels.values())
    )


def _sums_besides(table: Table, records: Sequence[Record], question: Question) -> Iterator[tuple[str, str]]:
    """What else is to be added up over the same rows: "how many outages, and how many customers were affected"."""
    for words in question.also_counted:
        measured = measure_of(table, records, list(words), Measure.ANY, question, own=True)
        if measured.named and max(w.meets(table.nouns) for w in words) < 1.0:
            yield measured.column, sum_of(records, measured.column)


# ---------------------------------------------------------------- fields


def _told(
    table: Table,
    records: tuple[Record, ...],
    chosen: Sequence[Hit],
    rest: tuple[Word, ...],
    question: Question,
    *,
    timed: str,
    set_apart: bool,
) -> Outcome | None:
    single = table.single or len(table.records) == 1
    apart = bool(chosen) or bool(timed) or set_apart or single
    without = frozenset(hit.column for hit in chosen if hit.exact)
    columns, fit = projection(table, records, list(rest), question, without=without)
    own = max((w.meets(table.nouns) for w in question.which[-1:]), default=0.0)
    listing = own >= 0.6 or (question.many > 1 and any(w.meets(table.nouns) >= 0.6 for w in question.content))
    listing = listing or (question.yes_no and bool(chosen))
    if columns and (apart or len(records) <= 3):
        spread = 0.4 * (len(records) > 3 and question.many == 1)
        return Outcome(
            Aim.FIELD,
            records,
            columns,
            fit=0.6 + min(fit, 2.0) * 0.5 - spread + (0.3 if Want.WHO in question.wants else 0.0),
        )
    if listing and (apart or len(records) <= 12):
        return Outcome(Aim.FIELD, records, columns, fit=1.0 if apart else 0.2)
    if (timed or set_apart) and len(records) <= _MOST_LISTED:
        return Outcome(Aim.FIELD, records, (), fit=0.6 if question.wants or question.many > 1 else 0.3)
    if single and any(w.text.lower() in value.lower() for value in table.asked_by for w in question.content):
        return Outcome(Aim.FIELD, records, (), fit=0.5)
    if apart and len(records) <= 5 and chosen:
        return Outcome(Aim.FIELD, records, (), fit=0.1)
    return None


_MOST_LISTED = 25
