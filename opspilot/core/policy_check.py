"""What is wrong with a policy that is well formed: rules that can never decide, and what they name that isn't there.

Knows the rules and what the tools declare. A rule that is said to be out of reach is so for certain; one that is only
reached in ways that nobody writes may be missed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from opspilot.core.argument_paths import Schema, may_be, schemas_at
from opspilot.core.calls import Effect
from opspilot.core.interrupts import ADMIN
from opspilot.core.messages import Json
from opspilot.core.policy import Policy, Rule, equals, fits
from opspilot.core.terms import RungKind, Terms


@dataclass(frozen=True)
class KnownTool:
    """What a tool declares of itself. `schema` is the JSON Schema of its arguments."""

    name: str
    effect: Effect
    schema: Schema


class Fault(StrEnum):
    """What can be wrong. The comment says what `Finding.what` holds."""

    NO_TOOL = "no_tool"  # a pattern that no tool matches
    NO_EFFECT = "no_effect"  # the effect, which none of the tools has that the patterns match
    NO_ARGUMENT = "no_argument"  # the paths, which none of these tools has, or none has all of
    NO_VALUE = "no_value"  # a path, and a value that can't be there in any of these tools
    SHADOWED = "shadowed"  # the names of the earlier rules that decide instead
    ESCALATES_TO_NOBODY_NEW = "escalates_to_nobody_new"  # the role


@dataclass(frozen=True)
class Finding:
    """One fault of a rule; `position` counts from 1, and 0 is `[policy]` itself.

    `unreachable`: the rule never decides about any call. `tools` are those that it speaks of.
    """

    position: int
    rule: str
    fault: Fault
    what: tuple[Json, ...]
    unreachable: bool = False
    tools: tuple[str, ...] = ()


def check_policy(policy: Policy, tools: Sequence[KnownTool]) -> tuple[Finding, ...]:
    """Everything that is found, in the order of the rules."""
    found = list(_escalation(0, "", policy.terms))
    for position, rule in enumerate(policy.rules, start=1):
        found += _rule(position, rule, policy.rules[: position - 1], tools)
        found += _escalation(position, rule.name, rule.terms) if rule.terms != policy.terms else ()
    return tuple(found)


def _rule(position: int, rule: Rule, earlier: Sequence[Rule], tools: Sequence[KnownTool]) -> Iterator[Finding]:
    named = [tool for tool in tools if rule.speaks_of(tool.name)]
    meant = [tool for tool in named if rule.effect in (None, tool.effect)]
    cells = list(_cells(rule, meant))

    def finding(fault: Fault, *what: Json, unreachable: bool) -> Finding:
        return Finding(position, rule.name, fault, what, unreachable, tuple(tool.name for tool in named))

    for pattern in rule.tools:
        if not any(fits(tool.name, pattern) for tool in tools):
            yield finding(Fault.NO_TOOL, pattern, unreachable=not named)
    if named and not meant:
        yield finding(Fault.NO_EFFECT, str(rule.effect), unreachable=True)
    for fault, what in _arguments(rule, meant, possible=bool(cells)) if meant else ():
        yield finding(fault, *what, unreachable=not cells)
    deciders = [next((other.name for other in earlier if _covers(other, cell)), None) for cell in cells]
    if cells and None not in deciders:
        yield finding(Fault.SHADOWED, *dict.fromkeys(deciders), unreachable=True)


def _arguments(rule: Rule, tools: Sequence[KnownTool], *, possible: bool) -> Iterator[tuple[Fault, tuple[Json, ...]]]:
    faultless = True
    for path, values in rule.arguments.items():
        places = [schema for tool in tools for schema in schemas_at(tool.schema, path)]
        wrong = [(path, value) for value in values if not may_be(places, value)] if places else []
        if not places:
            yield Fault.NO_ARGUMENT, (path,)
        for what in wrong:
            yield Fault.NO_VALUE, what
        faultless = faultless and bool(places) and not wrong
    if faultless and not possible:
        yield Fault.NO_ARGUMENT, tuple(rule.arguments)


@dataclass(frozen=True)
class _Cell:
    """The calls of one tool for people with one role (empty: for everybody) and with one value for each argument."""

    tool: KnownTool
    role: str
    values: Mapping[str, Json]


def _cells(rule: Rule, tools: Sequence[KnownTool]) -> Iterator[_Cell]:
    """All calls that the rule matches, as these tools take arguments."""
    for tool in tools:
        fitting = [
            [value for value in values if may_be(schemas_at(tool.schema, path), value)]
            for path, values in rule.arguments.items()
        ]
        for role in rule.user_roles or ("",):
            for values in product(*fitting):
                yield _Cell(tool, role, dict(zip(rule.arguments, values, strict=True)))


def _covers(rule: Rule, cell: _Cell) -> bool:
    """Whether a rule matches every call of a cell."""
    return (
        rule.speaks_of(cell.tool.name)
        and rule.effect in (None, cell.tool.effect)
        and (not rule.user_roles or cell.role in (ADMIN, *rule.user_roles))
        and all(
            path in cell.values and any(_includes(value, cell.values[path]) for value in values)
            for path, values in rule.arguments.items()
        )
    )


def _includes(wide: Json, narrow: Json) -> bool:
    """Whether everything that is a rule's value `narrow` is also its value `wide`."""
    if not (isinstance(wide, str) and isinstance(narrow, str)):
        return equals(narrow, wide)
    if "?" in wide and "*" in narrow and wide != narrow:
        return False
    # Each wildcard becomes a character that nobody writes: only a wildcard takes it, and takes what it stood for, too.
    return fits(_WILDCARD.sub("\0", narrow), wide)


_WILDCARD = re.compile(r"[*?]")


def _escalation(position: int, rule: str, terms: Terms) -> Iterator[Finding]:
    for rung in terms.ladder:
        if rung.kind is RungKind.ESCALATE and terms.role in ("", rung.role):
            yield Finding(position, rule, Fault.ESCALATES_TO_NOBODY_NEW, (rung.role,))
