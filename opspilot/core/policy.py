"""What may run, what a person must agree to, and what is refused: rules as data, of which the first that matches wins.

Knows calls and people, nothing of tools' code, files or settings. A write that no rule speaks of needs a person's
agreement: a rule that was forgotten must not let anything through.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from opspilot.core.calls import Effect, Gate
from opspilot.core.interrupts import Principal, holds
from opspilot.core.messages import Json
from opspilot.core.terms import Terms

UNMATCHED_READ = "unmatched-read"
UNMATCHED_WRITE = "unmatched-write"
"""The names of what is decided when no rule matches."""


def fits(text: str, pattern: str) -> bool:
    """Whether the whole text is as the pattern says: `*` stands for any characters, `?` for one."""
    first, *parts = (re.escape(part).replace(r"\?", ".") for part in pattern.split("*"))
    # A part between stars may be taken where it first occurs, for good: whoever writes arguments must not be able to
    # keep us searching.
    taken = "".join(f"(?>.*?{part})" for part in parts[:-1])
    return re.fullmatch(first + taken + (f".*{parts[-1]}" if parts else ""), text, re.DOTALL) is not None


@dataclass(frozen=True)
class Rule:
    """What to do with the calls that it matches: all conditions have to hold, and one that isn't given always does.

    `tools` are names or patterns (`restart_*`), any of them. `arguments` maps a name, or the path to a nested one
    (`target.environment`), to values of which one has to be there; texts may be patterns, and are compared to the
    letter. `user_roles`: who asked for the run has one of these.
    """

    name: str
    verdict: Gate
    tools: tuple[str, ...] = ()
    effect: Effect | None = None
    arguments: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    user_roles: tuple[str, ...] = ()
    reason: str = ""
    terms: Terms = Terms()

    def speaks_of(self, tool: str) -> bool:
        """Whether its patterns match a tool of this name."""
        return not self.tools or any(fits(tool, pattern) for pattern in self.tools)

    def matches(self, tool: str, effect: Effect, arguments: Mapping[str, Json], requester: Principal) -> bool:
        """Whether this rule decides about this call."""
        return (
            self.speaks_of(tool)
            and (self.effect is None or self.effect is effect)
            and all(_has(arguments, path, values) for path, values in self.arguments.items())
            and (not self.user_roles or any(holds(requester, role) for role in self.user_roles))
        )


@dataclass(frozen=True)
class Ruling:
    """What was decided about a call, and by which rule."""

    gate: Gate
    rule: str
    reason: str
    terms: Terms


@dataclass(frozen=True)
class Policy:
    """The rules, and the terms of questions that none of them speaks of."""

    rules: tuple[Rule, ...] = ()
    terms: Terms = Terms()

    def rule_on(self, tool: str, effect: Effect, arguments: Mapping[str, Json], requester: Principal) -> Ruling:
        """The decision about one call."""
        for rule in self.rules:
            if rule.matches(tool, effect, arguments, requester):
                return Ruling(rule.verdict, rule.name, rule.reason, rule.terms)
        if effect is Effect.READ:
            return Ruling(Gate.RUN, UNMATCHED_READ, "", self.terms)
        return Ruling(Gate.CONFIRM, UNMATCHED_WRITE, "", self.terms)


RUN_ANYTHING = Policy((Rule("run-anything", Gate.RUN),))
"""For trying a tool out where nothing is at stake."""


def _has(arguments: Mapping[str, Json], path: str, values: tuple[Json, ...]) -> bool:
    found: Json = dict(arguments)
    # A name with dots in it goes before a path.
    for name in [path] if path in arguments else path.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return False
        found = found[name]
    return any(equals(found, value) for value in values)


def equals(found: Json, wanted: Json) -> bool:
    """Whether an argument is the value that a rule names; both texts: whether the pattern matches."""
    if isinstance(found, str) and isinstance(wanted, str):
        return fits(found, wanted)
    # To Python `True == 1`; to whoever writes a rule it is not.
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)
