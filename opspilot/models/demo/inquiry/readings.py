"""What one table says to a question: the parts of an answer, how much of the question they account for, how surely.

Chooses among what the parts offer; makes no calls and writes no text.
"""

from dataclasses import dataclass, replace

from opspilot.models.demo.inquiry.aims import Aim, Sought, Want
from opspilot.models.demo.inquiry.answering import besides, spoken, told
from opspilot.models.demo.inquiry.choosing import Choice, choose
from opspilot.models.demo.inquiry.measuring import Part, compare, count, extreme, most, together
from opspilot.models.demo.inquiry.paging import Source, turns
from opspilot.models.demo.inquiry.rows import Grid
from opspilot.models.demo.inquiry.terms import Term, word_stems
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.measures import Measure
from opspilot.models.demo.toolbox import Role
from opspilot.models.demo.words import CJK, parts


@dataclass(frozen=True)
class Reading:
    """What one table says. `sure`: it answers all that was asked; `score` compares readings of several tables."""

    source: Source
    grid: Grid
    parts: tuple[Part, ...]
    score: float
    sure: bool
    choice: Choice
    fits: bool = True


_NAME_WEIGHT = 3.0
_FEW = 3


def readings_of(source: Source, sought: Sought) -> list[Reading]:
    """A reading of each of its tables that says anything to the question."""
    return [
        _reading(source, grid, sought)
        for grid in source.grids
        if grid.rows or grid.total or (not grid.single and not grid.lines)
    ]


def _asked(source: Source, sought: Sought) -> set[Term]:
    """Terms that the call's own arguments account for."""
    shaping = {p.name for p in source.tool.parameters if p.role in {Role.SORT, Role.DIRECTION, Role.GROUP} or turns(p)}
    values = [str(value) for name, value in source.arguments.items() if name not in shaping]
    said = [word_stems(value) for value in values]
    lowered = {value.lower() for value in values}
    month = {sought.month} & lowered
    return {
        term
        for term in sought.terms
        if term.text.lower() in lowered
        or any(also & set(values) for named, also in sought.aliases if named == term)
        or any(term.text.lower() in value.lower().split() for value in values)
        or (not term.name and any(term.forms & s for s in said))
        or (month and (term.text.isdigit() or term.text[:3].lower() in _MONTH_NAMES))
    }


_MONTH_NAMES = listed("jan feb mar apr may jun jul aug sep oct nov dec")


def _reading(source: Source, grid: Grid, sought: Sought) -> Reading:
    asked = _asked(source, sought)
    context = {t for t in sought.names if any(t.text.lower() == v.lower() for v in grid.above.values())}
    topic = word_stems(source.tool.name) | word_stems(grid.key)
    about = {term for term in sought.terms if not term.name and term.forms & topic}
    nouns = {term for term in about if term not in sought.dimension}
    choice = choose(grid, sought, asked | context | (nouns if len(nouns) < len(sought.terms) else set()))
    met = asked | context | choice.met
    left = [term for term in sought.terms if term not in met]
    parts_found = [*_rivals(grid, choice, sought, left)] or [
        part for aim in sought.aims if (part := _part_for(aim, grid, choice, left, sought, source)) is not None
    ]
    fields = {name for part in parts_found for name in part.fields}
    columns = word_stems(" ".join(grid.names))
    shown = {term for term in left if term.forms & word_stems(" ".join(fields))}
    described = word_stems(source.tool.description)
    score = sum(_NAME_WEIGHT if term.name else 1.2 for term in met)
    for term in left:
        score += 1.5 if term in shown else 0.8 if term in about or term.forms & columns else 0.4 * term.meets(described)
    unmet = [
        t
        for t in left
        if t.name
        and t not in shown
        and t not in about
        and not t.forms & (columns | topic | described)
        and not _is_month(t, sought)
    ]
    named = any(term.name for term in met)
    foreign = [term for term in unmet if CJK.search(term.text) and not named]
    if named or not any(CJK.search(v) for row in grid.rows for v in row.fields.values()):
        unmet = [term for term in unmet if not CJK.search(term.text)]
    told_all = columns | topic | described | word_stems(" ".join(grid.above))
    lost = [term for term in left if term not in shown and not term.meets(told_all)]
    heard = len(lost) <= max(1, len(sought.terms) // 4) and not any(term.denied for term in lost)
    complete = len(parts_found) >= len(sought.aims)
    score += sum(term.text.lower() in parts(source.tool.name) for term in sought.terms)
    called = {grid.place(row).lower() for row in choice.rows[:_FEW]} if Aim.FIELD in sought.aims else set()
    score += 2.0 * any(term.text.lower() in called for term in sought.names)
    score += 3.0 * complete - 2.5 * len(unmet)
    return Reading(
        source, grid, tuple(parts_found), score, complete and heard and not (unmet or foreign), choice, not unmet
    )


def _rivals(grid: Grid, choice: Choice, sought: Sought, left: list[Term]) -> tuple[Part, ...]:
    """Two things side by side: the rows of each counted, or, where each is one row, what that row says."""
    if Aim.COMPARE not in sought.aims or grid.single or grid.lines:
        return ()
    without = [term for term in sought.terms if term in choice.met and not term.name]
    found = compare(grid, sought.names, lambda rival: choose(grid, replace(sought, terms=(rival, *without))).rows)
    if any(len(part.rows) > 1 for part in found) or not found:
        return found
    rows = tuple(row for part in found for row in part.rows)
    return tuple(filter(None, (told(grid, replace(choice, rows=rows), left, sought, None, asked=True),)))


def _is_month(term: Term, sought: Sought) -> bool:
    return bool(sought.month) and (
        term.text.isdigit() or term.text[:3].lower() in _MONTH_NAMES or term.text in sought.month
    )


def _part_for(aim: Aim, grid: Grid, choice: Choice, left: list[Term], sought: Sought, source: Source) -> Part | None:
    if grid.lines and not (aim is Aim.EXTREME and sought.measure is Measure.TIME and "time" in grid.names):
        return spoken(grid, left, sought) if aim is Aim.FIELD or Want.WHY in sought.wants else None
    asked = bool(_asked(source, sought))
    if aim is Aim.COUNT:
        return count(grid, choice, left, sought)
    if not choice.rows or (grid.single and aim is not Aim.FIELD and any(not g.single for g in source.grids)):
        return None
    if aim is Aim.MOST:
        return most(grid, choice, left, sought, source)
    if aim is Aim.EXTREME:
        best = extreme(grid, choice.rows, left, sought, source)
        return replace(best, fields=tuple(dict.fromkeys((*best.fields, *besides(best.rows, sought))))) if best else None
    if aim in {Aim.SUM, Aim.MEAN}:
        return together(aim, grid, choice.rows, left, sought) or told(grid, choice, left, sought, source, asked=asked)
    return told(grid, choice, left, sought, source, asked=asked)
