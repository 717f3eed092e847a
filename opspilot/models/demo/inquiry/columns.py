"""Which columns of a table a question asks for: what it measures, what it groups by, what it wants to be told.

Owns the choice of columns by what they are called and what they hold; computes nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opspilot.models.demo.inquiry.aims import Want
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.meanings import PEOPLE
from opspilot.models.demo.inquiry.rows import IDS, NAMES, last, quantity
from opspilot.models.demo.inquiry.tables import Record, Table
from opspilot.models.demo.inquiry.words import Word, stems_of
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.measures import UNITS, Measure
from opspilot.models.demo.words import parts

_MARKS = listed("id line row pos port pid uid code no number year page index key version offset lineno zip phone")
_HOP = 0.15
REASONS = listed("reason message cause error why note detail details description fault failure explanation summary")
_PLACES = listed(
    "node host region zone location site place city room rack datacenter where address floor area cluster shelf aisle"
)
_LONG = listed("duration seconds ms minutes hours elapsed took days s min h")
_WANTED = {Want.WHO: PEOPLE, Want.WHY: REASONS, Want.WHERE: _PLACES, Want.LONG: _LONG}
_LEAST = 0.5
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?(?: ?(?:UTC|am|pm))?")
_PART = 0.55


def bare(column: str) -> str:
    """A column without the way that leads to it."""
    return column.rpartition(">")[2]


@dataclass(frozen=True)
class Measured:
    """A numeric column. `named`: the question's words speak of it; else it is only the one that there is.

    `general`: it is an amount or a value of no matter what.
    """

    column: str = ""
    named: bool = False
    general: bool = False


def measure_of(
    table: Table,
    records: Iterable[Record],
    words: Sequence[Word],
    measure: Measure,
    question: Question,
    *,
    own: bool = False,
) -> Measured:
    """The numeric column that measures what these words speak of. `own`: joined ones are left out."""
    held = list(records)
    names = [
        n
        for n in table.columns
        if n in table.numeric
        and n != table.naming
        and not _is_mark(n)
        and not (own and ">" in n)
        and any(r.number(n) is not None for r in held)
    ]
    given = stems_of(" ".join(table.asked_by))
    told = [w for w in words if not (measure is Measure.DURATION and w.text in _TIME_WORDS)]
    scored: list[tuple[float, int, str]] = []
    for at, name in enumerate(names):
        label, units = table.labels[name], set(parts(bare(name)))
        fit = sum(
            word.meets(label) * (1.6 if word in question.stressed else 1.0) * (1.05 if _did(word) else 1.0)
            for word in told
        )
        if label & _GENERAL and ">" not in name:
            fit += 0.7 * sum(word.meets(given) for word in told)
        fit += 0.7 * bool(label & question.hint) + 0.15 * len(label & question.hint)
        typed = measure is not Measure.ANY and bool(units & UNITS[measure])
        if measure in {Measure.DURATION, Measure.AMOUNT} and not typed and not fit:
            continue
        fit += 0.6 * typed - _HOP * name.count(">") - 0.03 * max(0, len(label) - 1)
        fit += 0.05 * bool(units & {"total", "sum", "overall"})
        fit += 0.2 * (
            measure is Measure.DURATION and bool(units & {"duration", "elapsed", "took", "runtime", "耗时", "时长"})
        )
        scored.append((fit, -at, name))
    fit, _, name = max(scored, default=(0.0, 0, ""))
    if fit >= _LEAST - 0.1:
        return Measured(name, named=True, general=bool(table.labels[name] & _GENERAL))
    alone = [n for n in names if ">" not in n]
    return Measured(alone[0]) if len(alone) == 1 and measure is not Measure.TIME else Measured()


_GENERAL = stems_of("value amount count total measurement reading average max min")
_TIME_WORDS = {"时间", "time"}


GOOD = stems_of(
    "remaining left budget availability available uptime health healthy success hit pass score rating coverage yield "
    "compliance accuracy satisfaction approval free ontime punctuality"
)
"""Stems of what is better the more there is of it: the worst of it is the least."""


def last_label(column: str) -> frozenset[str]:
    """Stems of the last part of a column's name."""
    return stems_of(bare(column).rpartition(".")[2])


def _did(word: Word) -> bool:
    """Is it a participle, which tells one number of a thing from others: seats *assigned*?"""
    return word.text.lower().endswith("ed") or word.text.startswith("已") or word.text in {"分配", "使用", "占用"}


def _is_mark(name: str) -> bool:
    return bool(set(parts(bare(name).rpartition(".")[2])[-1:]) & _MARKS)


def time_of(table: Table, records: Iterable[Record], words: Sequence[Word]) -> str:
    """The column of times that these words speak of, else the first."""
    names = [n for n in table.times if any(table.moment(r, n) is not None for r in records)]
    return max(
        names,
        key=lambda n: (sum(w.meets(table.labels[n]) for w in words), -n.count(">"), -table.columns.index(n)),
        default="",
    )


def dimension_of(table: Table, words: Sequence[Word]) -> str:
    """The text column that holds what "which …" asks for; empty when none does."""
    scored: list[tuple[float, int, str]] = []
    for at, name in enumerate(table.columns):
        values = table.values.get(name, {})
        if not values or name in table.times or all(quantity(v) is not None for v in values):
            continue
        fit = max((word.meets(table.labels[name]) for word in words), default=0.0)
        fit += 0.1 * (last(bare(name)) in NAMES) - 0.1 * (last(bare(name)) in IDS) - _HOP * name.count(">")
        scored.append((fit, -at, name))
    fit, _, name = max(scored, default=(0.0, 0, ""))
    return name if fit >= _LEAST - 0.2 and any(w.meets(table.labels[name]) for w in words) else ""


def _are_people(values: Iterable[str]) -> bool:
    """Do these look like people's names?"""
    held = list(values)
    return bool(held) and sum(bool(_PERSON.fullmatch(value)) for value in held) >= 0.8 * len(held)


_PERSON = re.compile(r"(?:Dr\.? )?[A-Z][\w'’-]+(?: (?:[A-Z]\.|van|de|von|da|al|el))* [A-Z][\w'’-]+")


def people_of(table: Table, records: Sequence[Record]) -> str:
    """The column that says who, where some are in several rows; empty when none does."""
    for name in table.columns:
        held = [r.fields[name] for r in records if r.fields.get(name)]
        told = set(parts(bare(name))) & PEOPLE or bare(name).endswith(("人", "者", "员"))
        if told and name not in table.numeric and name not in table.times and len(set(held)) < len(held):
            return name
    return ""


def projection(
    table: Table, records: Sequence[Record], words: Sequence[Word], question: Question, without: frozenset[str]
) -> tuple[tuple[str, ...], float]:
    """The columns that say what is asked about these rows, the best first, and how well the best does."""
    scored: dict[str, float] = {}
    which = set(question.which)
    for name in table.columns:
        if (
            name in without
            or name == table.naming
            or bare(name) in table.given
            or not any(r.fields.get(name) for r in records)
        ):
            continue
        label = table.labels[name]
        fit = sum(w.meets(label) * (1.3 if w in which else 1.0) for w in words if w.plain or w.forms & label)
        fit += _wanted(name, table, question)
        if fit:
            fit -= _HOP * name.count(">") + 0.03 * max(0, len(label) - 1)
            scored[name] = fit
    best = max(scored.values(), default=0.0)
    if best < _LEAST:
        return (), 0.0
    tellers = {max(scored, key=lambda n: (w.meets(table.labels[n]), scored[n])) for w in words if w.plain}
    tellers = {n for n in tellers if any(w.forms & table.labels[n] for w in words)}
    ordered = sorted(
        (n for n in scored if scored[n] >= max(_LEAST - 0.05, _PART * best) or (n in tellers and scored[n] >= _LEAST)),
        key=lambda n: -scored[n],
    )
    kept: list[str] = []
    for name in ordered:
        if not any(bare(name) == bare(other) and other in scored for other in kept):
            kept.append(name)
    return tuple(kept[:5]), best


def _wanted(name: str, table: Table, question: Question) -> float:
    if name in table.numeric:
        return 0.0 if Want.LONG not in question.wants else 0.75 * bool(set(parts(bare(name))) & _LONG)
    words = set(parts(bare(name).rpartition(".")[2])) | set(parts(bare(name)))
    if ">" in name and last(bare(name)) in NAMES:
        words |= set(parts(name.rpartition(">")[0].rpartition(">")[2]))
    fit = 0.0
    if Want.WHO in question.wants and not words & PEOPLE and _are_people(table.values.get(name, {})):
        fit += 0.6
    for want in question.wants:
        if want is Want.WHEN:
            clock = all(_CLOCK.fullmatch(value) for value in table.values.get(name, {"-": None}))
            fit += 0.6 if name in table.times or clock else 0.0
        elif want is Want.MUCH:
            continue
        elif words & _WANTED[want] or (want is Want.WHO and bare(name).endswith(("人", "者", "员", "姓名", "经理"))):
            fit += 0.75
    return fit
