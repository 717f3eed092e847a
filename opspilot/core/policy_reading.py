"""Why the rules before the one that decided did not: which of its conditions a call does not meet.

Asks the rule itself, one condition at a time, so that what is explained is what happens.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from opspilot.core.calls import Effect
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.policy import Policy, Rule


class Condition(StrEnum):
    """What a rule may demand of a call."""

    TOOL = "tool"
    EFFECT = "effect"
    ARGUMENT = "argument"
    USER_ROLE = "user_role"


@dataclass(frozen=True)
class Unmet:
    """A condition that a call does not meet: what would have. `path` names the argument that is meant."""

    condition: Condition
    wanted: tuple[Json, ...]
    path: str = ""


@dataclass(frozen=True)
class PassedOver:
    """A rule that did not decide, its position counted from 1, and why."""

    position: int
    rule: str
    unmet: tuple[Unmet, ...]


def passed_over(
    policy: Policy, tool: str, effect: Effect, arguments: Mapping[str, Json], requester: Principal
) -> tuple[PassedOver, ...]:
    """The rules before the one that decides about this call; all of them when none does."""
    passed: list[PassedOver] = []
    for position, rule in enumerate(policy.rules, start=1):
        unmet = tuple(
            condition for condition, alone in _conditions(rule) if not alone.matches(tool, effect, arguments, requester)
        )
        if not unmet:
            break
        passed.append(PassedOver(position, rule.name, unmet))
    return tuple(passed)


def _conditions(rule: Rule) -> Iterator[tuple[Unmet, Rule]]:
    """Each condition with a rule that has no other."""
    if rule.tools:
        yield Unmet(Condition.TOOL, rule.tools), Rule(rule.name, rule.verdict, tools=rule.tools)
    if rule.effect is not None:
        yield Unmet(Condition.EFFECT, (rule.effect.value,)), Rule(rule.name, rule.verdict, effect=rule.effect)
    for path, values in rule.arguments.items():
        alone = Rule(rule.name, rule.verdict, arguments={path: values})
        yield Unmet(Condition.ARGUMENT, values, path), alone
    if rule.user_roles:
        yield Unmet(Condition.USER_ROLE, rule.user_roles), Rule(rule.name, rule.verdict, user_roles=rule.user_roles)
