"""One table's reading of a question: which rows, which columns, and how much of the question that accounts for.

Chooses the evidence that holds together, the surest first. What is computed from the rows is in `computing`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from opspilot.models.demo.inquiry.aims import Aim, Want
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.bounds import bounded, compared
from opspilot.models.demo.inquiry.computing import outcome_of
from opspilot.models.demo.inquiry.evidence import Hit, hits, is_bound
from opspilot.models.demo.inquiry.moments import Span
from opspilot.models.demo.inquiry.outcomes import Outcome
from opspilot.models.demo.inquiry.tables import Record, Table
from opspilot.models.demo.inquiry.words import Sort, Word


@dataclass(frozen=True, eq=False)
class Reading:
    """What one table says. `met`: words that it accounts for; `lost`: names that it doesn't; `score` compares readings.

    `by`: the evidence that chose the rows. `sure`: all that was asked is answered.
    """

    table: Table
    records: tuple[Record, ...]
    by: tuple[Hit, ...]
    met: frozenset[Word]
    lost: tuple[Word, ...]
    missed: tuple[Word, ...]
    outcome: Outcome | None
    score: float
    timed: str = ""
    named: bool = field(default=False)

    @property
    def sure(self) -> bool:
        """Is all that was asked answered?"""
        return self.outcome is not None and not self.lost


_LOST_ID, _LOST_NAME, _LOST_NUMBER, _LOST_PLAIN = 3.0, 1.5, 1.0, 0.25
_LOST_WANTED = 0.9


def read(table: Table, question: Question) -> Reading:
    """Read a table."""
    chosen, records = _choose(table, question)
    used = frozenset(word for hit in chosen for word in hit.words)
    records, timed, time_met = _timed(table, question, records)
    rest = tuple(w for w in question.content if w not in used)
    pair = compared(table, question, rest)
    bound_met: frozenset[Word] = frozenset()
    if pair is not None:
        left, right, below = pair
        records = tuple(r for r in records if _against(r, left, right, below=below))
        bound_met = frozenset(w for w in rest if w.meets(table.labels[right]) or w.meets(table.labels[left]))
    elif question.bounds and (column := bounded(table, rest)):
        records = tuple(r for r in records if _in_bounds(r.number(column), question.bounds))
        bound_met = frozenset(w for w in rest if is_bound(w, question) or w.meets(table.labels[column]) >= 0.6)
    rest = tuple(w for w in rest if w not in bound_met)
    outcome = outcome_of(table, records, chosen, rest, question, timed=timed, set_apart=pair is not None)
    shown = frozenset(w for w in rest if outcome and any(w.meets(table.labels[c]) >= 0.5 for c in outcome.columns))
    topic = frozenset(w for w in rest if w.meets(table.nouns) >= 0.6)
    columns = frozenset(w for w in rest if any(w.meets(label) >= 0.6 for label in table.labels.values()))
    said = frozenset(w for w in rest if w.plain and w.forms & table.described)
    asked = frozenset(w for w in rest if any(w.text.lower() == value.lower() for value in table.asked_by))
    met = used | bound_met | shown | topic | columns | said | asked | time_met
    missed = tuple(w for w in question.content if w not in met)
    lost = tuple(w for w in missed if w.sort in {Sort.ID, Sort.NAME})
    score = sum(hit.score for hit in chosen)
    score += 1.0 * len(bound_met) + 1.3 * len(shown) + 1.0 * len(topic - shown)
    score += 0.5 * len(columns - shown - topic) + 0.35 * len(said - columns - topic - shown) + 1.5 * len(asked)
    score += (
        1.5
        if time_met or (question.span and timed)
        else -1.0
        if question.span and not question.span.hours and not _asked_for_time(table)
        else 0.0
    )
    for word in missed:
        wanted = word in question.which or word in question.counted
        price = {Sort.ID: _LOST_ID, Sort.NAME: _LOST_NAME, Sort.NUMBER: _LOST_NUMBER}.get(word.sort, _LOST_PLAIN)
        score -= max(price, _LOST_WANTED if wanted else 0.0)
    score += outcome.fit if outcome else -2.5
    score += _about(table, question, chosen)
    score += 0.7 * any(hit.exact and hit.column == table.naming and question.aims[0] is Aim.FIELD for hit in chosen)
    return Reading(table, records, chosen, met, lost, missed, outcome, score, timed, bool(chosen))


def _about(table: Table, question: Question, chosen: tuple[Hit, ...]) -> float:
    """More where its rows are what is counted, or asked for."""
    wanted = [*question.counted, *question.which[-1:], *question.stressed]
    used = {word for hit in chosen for word in hit.words}
    fit = max((w.meets(table.nouns) for w in wanted if w not in used), default=0.0)
    return 1.2 * fit


def _choose(table: Table, question: Question) -> tuple[tuple[Hit, ...], tuple[Record, ...]]:
    found = sorted(hits(table, question), key=lambda hit: (-hit.score, -len(hit.words), hit.column.count(">")))
    records, chosen, used = table.records, list[Hit](), set[Word]()
    dimension = {w for w in question.which[-1:] if w.plain}
    for hit in found:
        fresh = hit.words - used
        if not fresh or (fresh != hit.words and not hit.exact):
            continue
        if hit.words <= dimension and not hit.exact and Aim.COUNT not in question.aims:
            continue
        if _is_wanted(hit, question):
            continue
        same = [one for one in chosen if one.column == hit.column and one.denied == hit.denied and not hit.denied]
        if same and hit.score > 1.2:
            base = [one for one in chosen if one.column != hit.column]
            records = _kept(table.records, [*base, _either([*same, hit])])
            chosen = [*base, _either([*same, hit])]
            used |= hit.words
            continue
        kept = tuple(record for record in records if hit.keeps(record.fields))
        if not kept and not (
            hit.exact and hit.score >= 2.0 and (question.yes_no or Aim.COUNT in question.aims) and table.whole
        ):
            continue
        if len(kept) == len(records) and hit.score < 2.0 and not hit.exact:
            used |= hit.words if any(w.meets(table.labels[hit.column]) for w in hit.words) else set()
            continue
        records, chosen = kept, [*chosen, hit]
        used |= hit.words
    return tuple(chosen), records


def _is_wanted(hit: Hit, question: Question) -> bool:
    """Is this the column that is asked for, rather than one that chooses rows: "why did it fail" and `failed`?"""
    if hit.exact or hit.score >= 2.0:
        return False
    return Want.WHEN in question.wants and all(w.text.lower().endswith("ed") for w in hit.words) and not hit.denied


def _either(same: Sequence[Hit]) -> Hit:
    return Hit(
        same[0].column,
        frozenset(value for hit in same for value in hit.values),
        frozenset(word for hit in same for word in hit.words),
        sum(hit.score for hit in same),
        same[0].denied,
        any(hit.exact for hit in same),
    )


def _kept(records: Sequence[Record], chosen: Sequence[Hit]) -> tuple[Record, ...]:
    return tuple(record for record in records if all(hit.keeps(record.fields) for hit in chosen))


def _timed(
    table: Table, question: Question, records: tuple[Record, ...]
) -> tuple[tuple[Record, ...], str, frozenset[Word]]:
    """The rows in the range of time that the question names, and the column that says so."""
    if question.span is not None and question.span.clock[0]:
        return _clocked(table, question.span, question, records)
    if question.span is None or not table.times:
        return records, "", frozenset()
    words = question.content
    names = sorted(
        table.times,
        key=lambda n: (-sum(w.meets(table.labels[n]) for w in words), n.count(">"), table.columns.index(n)),
    )
    for name in names[:1] if ">" not in names[0] or len(names) == 1 else names:
        moments = [m for record in table.records if (m := table.moment(record, name)) is not None]
        span = question.span.within(moments)
        kept = tuple(r for r in records if (m := table.moment(r, name)) is not None and span.holds(m))
        return kept, name, frozenset(w for w in question.words if question.span.covers(w.at, w.end))
    return records, "", frozenset()


def _clocked(
    table: Table, span: Span, question: Question, records: tuple[Record, ...]
) -> tuple[tuple[Record, ...], str, frozenset[Word]]:
    """The rows whose time of day lies between two hours."""
    first, second = span.clock
    for name in table.columns:
        hours = [_HOUR.search(value) for value in table.values.get(name, {})]
        if ">" not in name and hours and all(hours):
            kept = tuple(r for r in records if (h := _HOUR.search(r.fields.get(name, ""))) and first <= h[0] < second)
            return kept, name, frozenset(w for w in question.words if span.covers(w.at, w.end))
    return records, "", frozenset()


_HOUR = re.compile(r"(?<!\d)\d\d:\d\d(?!\d)")


def _asked_for_time(table: Table) -> bool:
    return any(any(character.isdigit() for character in value) and "-" in value for value in table.asked_by)


def _against(record: Record, left: str, right: str, *, below: bool) -> bool:
    one, other = record.number(left), record.number(right)
    return one is not None and other is not None and (one < other if below else one > other)


def _in_bounds(value: float | None, bounds: tuple[tuple[bool, float], ...]) -> bool:
    return value is not None and all((value > number) if above else (value < number) for above, number in bounds)
