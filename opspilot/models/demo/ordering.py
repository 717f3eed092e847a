"""Telling a tool in which order to return its rows: which sort key measures what is asked, and from which end."""

import re

from opspilot.core.messages import Json
from opspilot.models.demo.measures import Measure, Superlative, best_of, fitness
from opspilot.models.demo.toolbox import ASCENDING, DESCENDING, Parameter, Role, ToolCard
from opspilot.models.demo.words import parts


def sort_key(parameter: Parameter, order: Superlative) -> Json:
    """The sort key that measures what is asked, as its parameter spells it; None when none does."""
    if parameter.choices:
        return best_of(order, [choice for choice in parameter.choices if isinstance(choice, str)])
    names = [name for name in re.findall(r"[A-Za-z_]\w+", parameter.description) if name[0].islower()]
    scored = [(fitness(order, name), -at, name) for at, name in enumerate(names) if name not in _PROSE]
    best = max(scored, default=(0.0, 0, ""))
    if best[0] <= 0:
        return None
    return f"-{best[2]}" if _falls(parameter) and order.largest else best[2]


def _falls(parameter: Parameter) -> bool:
    """Does a minus before the key turn the order around?"""
    return bool(
        re.search(r"(?i)(?:'-'|\"-\"|`-`|minus|-)[^.;]{0,24}(?:descend|falling|revers|largest)", parameter.description)
    )


_PROSE = frozenset({"how", "long", "something", "took", "in", "the", "of", "a", "by", "or", "number", "them", "time"})


def direction(parameter: Parameter, order: Superlative) -> Json:
    """The value for a parameter that says which end comes first; None when it can't be told."""
    wanted = DESCENDING if order.largest else ASCENDING
    if parameter.type == "boolean":
        return bool(set(parts(parameter.name)) & wanted)
    return next((choice for choice in parameter.choices if str(choice).lower() in wanted), None)


def sorts(tool: ToolCard, order: Superlative) -> bool:
    """Can the tool itself rank by what is asked?"""
    by, way = tool.with_role(Role.SORT), tool.with_role(Role.DIRECTION)
    if by is not None and sort_key(by, order) is not None:
        return order.largest or way is not None or _falls(by)
    return way is not None and by is None and order.measure is Measure.TIME
