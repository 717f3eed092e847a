"""Policies, tools and calls for properties: small worlds, in which rules often meet, cover and miss one another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from opspilot.core.calls import Effect, Gate
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.policy import Policy, Rule
from opspilot.core.policy_check import KnownTool
from opspilot.core.terms import Rung, RungKind, Terms

NAMES = ("get_a", "get_b", "set_a", "set_ab")
ROLES = ("viewer", "operator", "admin")
WORDS = ("", "a", "b", "ab", "ba", "aab")

schemas = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "boolean"},
        {"enum": ["a", "ab", 1]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "integer"}}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {},
    ]
)


@st.composite
def known_tools(draw: st.DrawFn) -> tuple[KnownTool, ...]:
    tools = []
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1)):
        arguments = draw(st.dictionaries(st.sampled_from(["p", "q", "p.x"]), schemas, max_size=3))
        schema = {"type": "object", "properties": arguments, "additionalProperties": False}
        tools.append(KnownTool(name, draw(st.sampled_from(Effect)), schema))
    return tuple(tools)


texts = st.one_of(
    st.sampled_from([*WORDS, "*", "a*", "*a", "?", "a?", "*b*", "a*b", "[ab]", "."]),
    st.text("ab*?[]!-", max_size=5),
)
values = st.one_of(texts, st.integers(0, 2), st.booleans(), st.just(1.0))


def several(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, min_size=1, max_size=3).map(tuple)


rules = st.builds(
    Rule,
    name=st.just("rule"),
    verdict=st.sampled_from([Gate.RUN, Gate.CONFIRM, Gate.DENY]),
    tools=st.one_of(st.just(()), several(st.sampled_from([*NAMES, "get_*", "set_*", "*", "set_a?", "nothing"]))),
    effect=st.one_of(st.none(), st.sampled_from(Effect)),
    arguments=st.dictionaries(st.sampled_from(["p", "q", "p.x", "p.y", "r"]), several(values), max_size=2),
    user_roles=st.one_of(st.just(()), several(st.sampled_from(ROLES))),
    terms=st.sampled_from([Terms(), Terms("approver"), Terms("a", ladder=(Rung(RungKind.ESCALATE, 9.0, "b"),))]),
)


@st.composite
def policies(draw: st.DrawFn, most: int = 5) -> Policy:
    made = draw(st.lists(rules, max_size=most))
    named = [Rule(**{**rule.__dict__, "name": f"rule-{position}"}) for position, rule in enumerate(made, start=1)]
    return Policy(tuple(named))


@dataclass(frozen=True)
class Call:
    """What a policy is asked about."""

    tool: KnownTool
    arguments: Mapping[str, Json]
    requester: Principal

    @property
    def asked(self) -> tuple[str, Effect, Mapping[str, Json], Principal]:
        return self.tool.name, self.tool.effect, self.arguments, self.requester


def value_of(schema: Mapping[str, Json]) -> st.SearchStrategy[Json]:
    """What this schema allows."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of(*map(value_of, schema["anyOf"]))
    words = st.one_of(st.sampled_from(WORDS), st.text("ab", max_size=4))
    match schema.get("type"):
        case "string":
            return words
        case "integer":
            return st.integers(0, 3)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "object" if "properties" in schema:
            parts = {name: value_of(part) for name, part in schema["properties"].items()}
            return st.fixed_dictionaries({}, optional=parts)
        case "object":
            return st.dictionaries(st.sampled_from(["x", "y", "z"]), words, max_size=2)
    return st.one_of(words, st.integers(0, 2), st.booleans(), st.dictionaries(st.sampled_from(["x", "y"]), words))


def calls(tools: Sequence[KnownTool]) -> st.SearchStrategy[Call]:
    """Calls of these tools, as their schemas allow."""

    def of(tool: KnownTool) -> st.SearchStrategy[Call]:
        parts = {name: value_of(schema) for name, schema in tool.schema["properties"].items()}
        people = st.lists(st.sampled_from(ROLES), unique=True).map(lambda roles: Principal("ann", roles=tuple(roles)))
        return st.builds(Call, st.just(tool), st.fixed_dictionaries({}, optional=parts), people)

    return st.sampled_from(tools).flatmap(of)
