"""Asking once for each of several things: which calls that takes, and what their numbers of rows say side by side.

For "more in A or in B", and for "which … most" where a tool returns too few rows to count them all at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opspilot.core.messages import Json
from opspilot.models.demo.inquiry.aims import Aim, Sought
from opspilot.models.demo.inquiry.choosing import Choice
from opspilot.models.demo.inquiry.measuring import Part, dimension_field
from opspilot.models.demo.inquiry.paging import Source, next_pages
from opspilot.models.demo.inquiry.readings import Reading
from opspilot.models.demo.inquiry.rows import Grid
from opspilot.models.demo.inquiry.slots import fillings, nouns
from opspilot.models.demo.inquiry.terms import Term
from opspilot.models.demo.toolbox import Parameter, ToolCard

_MOST_VALUES = 8
_SURE_SCORE = 20.0


def rivals_of(sought: Sought) -> tuple[Term, ...]:
    """The things that are set against each other."""
    return sought.names if Aim.COMPARE in sought.aims and len(sought.names) > 1 else ()


def rival_calls(tool: ToolCard, sought: Sought) -> Iterator[dict[str, Json]]:
    """One call for each rival, if the tool takes their names."""
    rivals = rivals_of(sought)
    for rival in rivals:
        alone = replace(sought, terms=tuple(t for t in sought.terms if t == rival or t not in rivals))
        placed = next((f for f in fillings(tool, alone) if rival in f.placed), None)
        if placed is None:
            return
        yield placed.arguments


def value_calls(best: Reading, sought: Sought) -> Iterator[dict[str, Json]]:
    """One call for each value of what "which …" asks for, when rows are missing that no page brings."""
    source = best.source
    if Aim.MOST not in sought.aims or not source.more or any(next_pages(source)):
        return
    field = dimension_field(best.grid, sought, source)
    parameter = next((p for p in source.tool.parameters if _is_of(p, source.tool, sought)), None)
    if not field or parameter is None or parameter.name in source.arguments:
        return
    values = [c for c in parameter.choices if isinstance(c, str) and c]
    values = values or list(dict.fromkeys(row.fields[field] for row in best.grid.rows if row.fields.get(field)))
    if 1 < len(values) <= _MOST_VALUES:
        for value in values:
            yield {**source.arguments, parameter.name: value}


def _is_of(parameter: Parameter, tool: ToolCard, sought: Sought) -> bool:
    about = nouns(parameter, tool)
    return parameter.type == "string" and any(term.meets(about) for term in sought.dimension)


def compared(sources: Sequence[Source], sought: Sought) -> Reading | None:
    """What calls that differ in one argument alone say together; None when there are no two that say how many."""
    if not {Aim.MOST, Aim.COMPARE} & set(sought.aims):
        return None
    for tool in dict.fromkeys(source.tool.name for source in sources):
        own = [source for source in sources if source.tool.name == tool]
        for parameter in own[0].tool.parameters:
            told = list(_told([source for source in own if parameter.name in source.arguments], parameter, sought))
            if len(told) > 1:
                return _side_by_side(told, parameter, sought)
    return None


_Told = tuple[str, int, Source, Grid]


def _told(sources: Sequence[Source], parameter: Parameter, sought: Sought) -> Iterator[_Told]:
    """Value, number of rows, and where it is said."""
    rests = [{n: v for n, v in source.arguments.items() if n != parameter.name} for source in sources]
    for source, rest in zip(sources, rests, strict=True):
        lists = [grid for grid in source.grids if not grid.single and not grid.counts]
        if rest != rests[-1] or not lists or not (_is_of(parameter, source.tool, sought) or rivals_of(sought)):
            continue
        grid = lists[0]
        if grid.total.isdigit() or not source.more:
            yield str(source.arguments[parameter.name]), int(grid.total or len(grid.rows)), source, grid


def _side_by_side(told: list[_Told], parameter: Parameter, sought: Sought) -> Reading:
    told.sort(key=lambda entry: entry[1], reverse=sought.largest)
    kept = told if rivals_of(sought) else told[:1]
    aim = Aim.COMPARE if rivals_of(sought) else Aim.MOST
    parts = tuple(
        Part(aim, grid.rows, (parameter.name,), str(number), value, grid=grid) for value, number, _, grid in kept
    )
    _, _, source, grid = kept[0]
    return Reading(
        replace(source, more=False), grid, parts, _SURE_SCORE, sure=True, choice=Choice(grid.rows, frozenset(), ())
    )
