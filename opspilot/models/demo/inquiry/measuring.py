"""Counting, ranking, grouping and adding up the rows of one table: the parts of an answer that numbers give.

What is computed here is only counted or added up from whole rows; the rest is the rows' own. Writes no text.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from opspilot.models.demo.inquiry.aims import Aim, Sought, Want
from opspilot.models.demo.inquiry.choosing import Choice
from opspilot.models.demo.inquiry.meanings import PEOPLE
from opspilot.models.demo.inquiry.paging import Source
from opspilot.models.demo.inquiry.rows import ENVELOPES, Grid, Row, is_moment, last, quantity
from opspilot.models.demo.inquiry.terms import Term, word_stems
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.measures import UNITS, Measure
from opspilot.models.demo.words import parts, singular

_MARKS = listed("id line row pos port pid uid code no number year page index key version offset lineno zip phone")


@dataclass(frozen=True)
class Part:
    """One statement. `rows` are its rows, `fields` those that answer, `value` what was counted or added up.

    `label`: whose value it is. `grid`: the table of its rows, when not the reading's own. `quoted`: the value stands in
    the result as it is.
    """

    aim: Aim
    rows: tuple[Row, ...]
    fields: tuple[str, ...] = ()
    value: str = ""
    label: str = ""
    quoted: bool = False
    grid: Grid | None = None


def count(grid: Grid, choice: Choice, left: list[Term], sought: Sought) -> Part | None:
    """How many rows were chosen, or the number that one named row holds."""
    if grid.counts:
        return _tallied(grid, choice)
    if not choice.rows and not grid.rows and grid.single:
        return None
    numeric = _measure(grid, choice.rows, [t for t in left if not t.name], Measure.ANY) if choice.rows else ""
    named = any(term.name for term in choice.met) or grid.single
    single_out = len(choice.rows) == 1 < len(grid.rows) and _strong(numeric, left, sought)
    if numeric and ((named and len(choice.rows) <= max(sought.many, 1)) or single_out):
        return Part(Aim.FIELD, choice.rows, (numeric,), quoted=True)
    if grid.single:
        return None
    if (tally := _tally_field(grid)) and choice.rows:
        counted = sum(row.numbers.get(tally, 0.0) for row in choice.rows)
        return Part(Aim.COUNT, choice.rows, value=_number(counted), quoted=len(choice.rows) == 1)
    whole = len(choice.rows) == len(grid.rows)
    if whole and grid.total:
        return Part(Aim.COUNT, choice.rows, value=grid.total, quoted=True)
    return Part(Aim.COUNT, choice.rows, value=str(len(choice.rows)), quoted=False)


_TALLIES = listed("count n hits occurrences times freq cnt")
_MOST_COLUMNS = 5


def _tally_field(grid: Grid) -> str:
    """The column that says how often each row's value was seen, where rows have no id of their own."""
    if len(grid.names) > _MOST_COLUMNS or any(last(name) in {"id", "key"} for name in grid.names):
        return ""
    return next((name for name in grid.names if last(name) in _TALLIES and name in grid.rows[0].numbers), "")


def _tallied(grid: Grid, choice: Choice) -> Part | None:
    """A count that the result gives by value."""
    if len(choice.rows) == 1 and len(grid.rows) > 1:
        row = choice.rows[0]
        return Part(Aim.FIELD, (row,), ("count",), quoted=True, label=row.fields["label"])
    return None


def most(grid: Grid, choice: Choice, left: list[Term], sought: Sought, source: Source) -> Part | None:
    """The value with the most rows, or the row with the most of what it measures."""
    rows = choice.rows
    if grid.counts:
        fits = any(term.forms & word_stems(grid.key) for term in sought.dimension or left)
        return _ranked(rows, "count", sought) if fits else None
    dimension = dimension_field(grid, sought, source)
    measure = _measure(grid, rows, [t for t in left if t not in sought.dimension], Measure.ANY)
    values = [row.fields[dimension] for row in rows if row.fields.get(dimension)] if dimension else []
    own = not dimension or dimension == grid.naming or (len(set(values)) == len(values) > 1)
    if measure and (own or _strong(measure, left, sought)):
        return _grouped_sum(rows, dimension, measure, sought) if not own else _ranked(rows, measure, sought)
    if dimension and not own and (grouped := _grouped(rows, dimension, sought)) is not None:
        return grouped
    if _OFTEN.search(sought.text):
        return None
    lone = list(dict.fromkeys(n for row in rows for n in row.numbers if not _is_mark(n)))
    return _ranked(rows, lone[0], sought) if len(lone) == 1 and own and sought.dimension else None


_OFTEN = re.compile(r"(?i)\boften\b|\bfrequent|次数|频繁|经常")


def _strong(measure: str, left: list[Term], sought: Sought) -> bool:
    return any(term.forms & word_stems(measure.rpartition(".")[2]) for term in left if term not in sought.dimension)


def _grouped(rows: Iterable[Row], field: str, sought: Sought) -> Part | None:
    counted = Counter(row.fields[field] for row in rows if row.fields.get(field))
    if not counted or (len(counted) > 1 and max(counted.values()) == 1):
        return None
    best = (max if sought.largest else min)(counted, key=lambda value: counted[value])
    own = tuple(row for row in rows if row.fields.get(field) == best)
    return Part(Aim.MOST, own, (field,), str(counted[best]), best)


def _grouped_sum(rows: tuple[Row, ...], field: str, measure: str, sought: Sought) -> Part | None:
    values = {row.fields[field] for row in rows if row.fields.get(field)}
    if len(values) == sum(1 for row in rows if row.fields.get(field)):
        return _ranked(rows, measure, sought)
    sums: Counter[str] = Counter()
    for row in rows:
        if row.fields.get(field) and measure in row.numbers:
            sums[row.fields[field]] += row.numbers[measure]  # type: ignore[assignment]
    if not sums:
        return None
    best = (max if sought.largest else min)(sums, key=lambda value: sums[value])
    own = tuple(row for row in rows if row.fields.get(field) == best)
    return Part(Aim.SUM, own, (measure,), _number(float(sums[best])), best)


_OWN_FIELD = 0.9


def dimension_field(grid: Grid, sought: Sought, source: Source) -> str:
    """The field that holds what "which …" asks for; the rows' own name when they are of that sort."""
    terms = sought.dimension
    own = word_stems(grid.key if len(grid.key) > 1 and not set(parts(grid.key)) <= ENVELOPES else source.tool.name)
    scored: list[tuple[float, int, str]] = []
    if terms and all(term.forms & own for term in terms):
        return _repeated(grid, terms) or grid.naming
    terms = tuple(term for term in terms if not term.forms & own)
    for at, name in enumerate(grid.names):
        values = [row.fields[name] for row in grid.rows if row.fields.get(name)]
        if not values or all(quantity(v) is not None for v in values) or any(is_moment(v) for v in values[:3]):
            continue
        stems = word_stems(name)
        fit = max((term.meets(stems) for term in terms), default=0.0)
        if not terms and Want.WHO in sought.wants:
            fit = 0.6 if set(parts(name)) & PEOPLE else 0.0
        readable = (
            0.2
            if last(name) in {"name", "summary", "title", "username"}
            else -0.2
            if last(name) in {"id", "key"}
            else 0.0
        )
        if fit:
            scored.append((fit + readable - 0.05 * name.count("."), -at, name))
    best = max(scored, default=(0.0, 0, ""))
    if best[0] < _OWN_FIELD and len(terms) < len(sought.dimension):
        return grid.naming
    return best[2]


def _repeated(grid: Grid, terms: Iterable[Term]) -> str:
    """A field beside the rows' own name that is called so and whose values come again: who a report is about."""
    for name in grid.names:
        values = [row.fields[name] for row in grid.rows if row.fields.get(name)]
        called = word_stems(last(name)) | word_stems(singular(last(name)))
        texts = bool(values) and all(quantity(value) is None and not is_moment(value) for value in values)
        if name != grid.naming and texts and len(set(values)) < len(values) and all(t.forms & called for t in terms):
            return name
    return ""


_CLOCKS = listed("time timestamp ts epoch at")


def _is_mark(name: str) -> bool:
    return bool(set(parts(name.rpartition(".")[2])[-1:]) & _MARKS)


def _measure(grid: Grid, rows: Iterable[Row], terms: Iterable[Term], measure: Measure) -> str:
    """The numeric field that measures what these terms speak of; empty when none does."""
    held = list(rows)
    names = [n for n in grid.names if n != grid.naming and any(n in r.numbers for r in held) and not _is_mark(n)]
    names = [n for n in names if last(n) not in _CLOCKS and not any(is_moment(r.fields.get(n, "")) for r in held[:3])]
    known = list(terms)
    scored: list[tuple[float, int, str]] = []
    for at, name in enumerate(names):
        words, stems = set(parts(name)), word_stems(name)
        fit = sum(term.meets(stems) for term in known)
        if measure is not Measure.ANY and words & UNITS[measure]:
            fit += 0.6
        elif measure in {Measure.DURATION, Measure.AMOUNT} and not fit:
            continue
        scored.append((fit, -at, name))
    best = max(scored, default=(0.0, 0, ""))
    if best[0] > 0:
        return best[2]
    return names[0] if measure is not Measure.ANY and len(names) == 1 else ""


def extreme(grid: Grid, rows: tuple[Row, ...], left: list[Term], sought: Sought, source: Source) -> Part | None:
    """The rows at the asked end: by a time, or by the number that measures what is asked."""
    others = [t for t in left if t not in sought.dimension]
    others = [t for t in others if not t.forms & word_stems(grid.key)] or others
    if sought.measure is Measure.TIME:
        times = [n for n in grid.names if any(is_moment(row.fields.get(n, "")) for row in rows)]
        if times:
            field = max(times, key=lambda n: (sum(t.meets(word_stems(n)) for t in left), -times.index(n)))
            return _by_time(rows, field, sought)
        ages = _measure(grid, rows, others, Measure.DURATION)
        if not ages or "age" not in parts(ages)[0]:
            return None
        return _ranked(rows, ages, replace(sought, largest=not sought.largest))
    if grid.counts and not any(t.forms & word_stems(grid.key) for t in sought.dimension):
        return None
    name = _measure(grid, rows, others, sought.measure)
    if not name:
        numeric = list(dict.fromkeys(n for row in rows for n in row.numbers if not _is_mark(n) and n != grid.naming))
        name = numeric[0] if len(numeric) == 1 else ""
    if not name:
        return None
    dimension = dimension_field(grid, sought, source)
    repeated = dimension and dimension != grid.naming and len({r.fields.get(dimension) for r in rows}) < len(rows)
    if repeated and sought.measure in {Measure.AMOUNT, Measure.ANY} and set(parts(name)) & UNITS[Measure.AMOUNT]:
        return _grouped_sum(rows, dimension, name, sought)
    return _ranked(rows, name, sought)


def _by_time(rows: tuple[Row, ...], field: str, sought: Sought) -> Part | None:
    held = [row for row in rows if is_moment(row.fields.get(field, ""))]
    ordered = sorted(held, key=lambda row: row.fields[field], reverse=sought.largest)
    return Part(Aim.EXTREME, tuple(ordered[: sought.many]), (field,), quoted=True) if ordered else None


def _ranked(rows: Iterable[Row], field: str, sought: Sought) -> Part | None:
    held = [row for row in rows if field in row.numbers]
    ordered = sorted(held, key=lambda row: row.numbers[field], reverse=sought.largest)
    return Part(Aim.EXTREME, tuple(ordered[: sought.many]), (field,), quoted=True) if ordered else None


def together(aim: Aim, grid: Grid, rows: tuple[Row, ...], left: list[Term], sought: Sought) -> Part | None:
    """The sum or the average of a field over the chosen rows; None with fewer than two."""
    name = _measure(grid, rows, left, sought.measure)
    values = [row.numbers[name] for row in rows if name in row.numbers]
    if not name or len(rows) < 2 or not values:
        return None
    summed = sum(values)
    return Part(aim, rows, (name,), _number(summed if aim is Aim.SUM else summed / len(values)))


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def compare(grid: Grid, rivals: Iterable[Term], rows_of: Callable[[Term], tuple[Row, ...]]) -> tuple[Part, ...]:
    """How many rows speak of each of the things that are set against each other; empty unless all of them occur."""
    counted = [(rival, rows_of(rival)) for rival in rivals]
    if not all(rows for _, rows in counted):
        return ()
    counted.sort(key=lambda entry: -len(entry[1]))
    return tuple(Part(Aim.COMPARE, rows, (), str(len(rows)), rival.text, grid=grid) for rival, rows in counted)
