"""Rules that can never decide are found, with the reason; what is said to be out of reach is so for every call."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from opspilot.core.argument_paths import may_be, schemas_at
from opspilot.core.calls import Effect, Gate
from opspilot.core.messages import Json
from opspilot.core.policy import Policy, Rule, fits
from opspilot.core.policy_check import Fault, Finding, KnownTool, _includes, check_policy
from opspilot.core.terms import Rung, RungKind, Terms
from opspilot.tools.spec import tool
from tests.policy.generated import calls, known_tools, policies, texts


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Node(BaseModel):
    name: str = ""
    child: "Node | None" = None


class Target(BaseModel):
    environment: Literal["staging", "production"]
    zone: str = ""
    labels: dict[str, int] = {}
    anything: Any = None


@tool()
def restart_service(service: str, target: Target, count: int = 1, size: Size = Size.SMALL, force: bool = False) -> str:
    """Restart."""
    return service


@tool(effect="read")
def look(service: str | None = None, hosts: list[str] | None = None, node: Node | None = None, rate: float = 0) -> str:
    """Look."""
    return str(service)


TOOLS = [KnownTool(it.name, it.effect, it.input_schema) for it in (restart_service, look)]
NAMES = ("restart_service", "look")
WRITE = ("restart_service",)


def rule(name: str, /, **conditions: Any) -> Rule:
    return Rule(name, Gate.CONFIRM, **conditions)


def found(*rules: Rule) -> list[tuple[int, Fault, tuple[Json, ...], bool]]:
    return [(it.position, it.fault, it.what, it.unreachable) for it in check_policy(Policy(rules), TOOLS)]


SHADOWED: list[tuple[Sequence[Rule], Rule]] = [
    ([rule("a")], rule("z", tools=("restart_service",), arguments={"service": ("x",)})),
    ([rule("a", tools=("restart_*",))], rule("z", tools=("restart_service",))),
    ([rule("a", tools=("restart_*",))], rule("z", tools=("*_service",))),
    ([rule("a", effect=Effect.WRITE)], rule("z", tools=("restart_service",))),
    ([rule("a", effect=Effect.WRITE), rule("b", effect=Effect.READ)], rule("z")),
    ([rule("a", effect=Effect.WRITE), rule("b", tools=("look",))], rule("z", user_roles=("x",))),
    ([rule("a", arguments={"service": ("pay*",)})], rule("z", arguments={"service": ("payment", "pay-?")})),
    ([rule("a", arguments={"service": ("x", "y")})], rule("z", arguments={"service": ("y",), "count": (2,)})),
    ([rule("a", arguments={"service": ("x",)}), rule("b", arguments={"service": ("y",)})],
     rule("z", arguments={"service": ("x", "y")})),
    ([rule("a", arguments={"count": (1,)})], rule("z", arguments={"count": (1.0,)})),
    ([rule("a", user_roles=("x", "y"))], rule("z", user_roles=("x",))),
    ([rule("a", user_roles=("x",)), rule("b", user_roles=("y",))], rule("z", user_roles=("x", "y"))),
    ([rule("a", user_roles=("x",))], rule("z", user_roles=("admin",))),
]  # fmt: skip

REACHABLE: list[tuple[Sequence[Rule], Rule]] = [
    ([], rule("z")),
    ([rule("a", tools=("restart_service",))], rule("z")),
    ([rule("a", tools=("restart_service",))], rule("z", tools=("*",))),
    ([rule("a", arguments={"service": ("payment",)})], rule("z", arguments={"service": ("pay*",)})),
    ([rule("a", arguments={"service": ("pay-?",)})], rule("z", arguments={"service": ("pay-*",)})),
    ([rule("a", arguments={"service": ("x",), "count": (2,)})], rule("z", arguments={"service": ("x",)})),
    ([rule("a", arguments={"service": ("x",)})], rule("z", arguments={"count": (2,)})),
    ([rule("a", arguments={"count": (1,)})], rule("z", arguments={"force": (True,)})),
    ([rule("a", user_roles=("x",))], rule("z")),
    ([rule("a", user_roles=("admin",))], rule("z", user_roles=("x",))),
]


@pytest.mark.parametrize(("earlier", "last"), SHADOWED)
def test_a_rule_behind_more_general_ones_is_found_with_those_that_decide(earlier: Sequence[Rule], last: Rule) -> None:
    assert found(*earlier, last) == [
        (len(earlier) + 1, Fault.SHADOWED, tuple(it.name for it in earlier), True),
    ]


@pytest.mark.parametrize(("earlier", "last"), REACHABLE)
def test_a_rule_for_which_a_call_is_left_is_not_complained_of(earlier: Sequence[Rule], last: Rule) -> None:
    assert found(*earlier, last) == []


FAULTS: list[tuple[Rule, Fault, tuple[Json, ...], bool]] = [
    (rule("z", tools=("restart_servic",)), Fault.NO_TOOL, ("restart_servic",), True),
    (rule("z", tools=("look", "deploy_*")), Fault.NO_TOOL, ("deploy_*",), False),
    (rule("z", tools=("restart_*",), effect=Effect.READ), Fault.NO_EFFECT, ("read",), True),
    (rule("z", arguments={"zone": ("x",)}), Fault.NO_ARGUMENT, ("zone",), True),
    (rule("z", arguments={"target.zona": ("x",)}), Fault.NO_ARGUMENT, ("target.zona",), True),
    (rule("z", arguments={"service.name": ("x",)}), Fault.NO_ARGUMENT, ("service.name",), True),
    (rule("z", tools=("look",), arguments={"count": (1,)}), Fault.NO_ARGUMENT, ("count",), True),
    (rule("z", arguments={"count": (1,), "hosts": ("x",)}), Fault.NO_VALUE, ("hosts", "x"), True),
    (rule("z", arguments={"count": ("1",)}), Fault.NO_VALUE, ("count", "1"), True),
    (rule("z", arguments={"count": (1.5,)}), Fault.NO_VALUE, ("count", 1.5), True),
    (rule("z", arguments={"force": (1,)}), Fault.NO_VALUE, ("force", 1), True),
    (rule("z", arguments={"count": (True,)}), Fault.NO_VALUE, ("count", True), True),
    (rule("z", arguments={"size": ("small", "huge")}), Fault.NO_VALUE, ("size", "huge"), False),
    (rule("z", arguments={"target.environment": ("prod",)}), Fault.NO_VALUE, ("target.environment", "prod"), True),
    (rule("z", arguments={"target": ("x",)}), Fault.NO_VALUE, ("target", "x"), True),
    (rule("z", arguments={"count": (2,), "rate": (2,)}), Fault.NO_ARGUMENT, ("count", "rate"), True),
]


@pytest.mark.parametrize(("subject", "fault", "what", "unreachable"), FAULTS)
def test_what_a_rule_names_and_is_not_there_is_found(
    subject: Rule, fault: Fault, what: tuple[Json, ...], unreachable: bool
) -> None:
    assert found(subject) == [(1, fault, what, unreachable)]


SOUND = [
    {"target.environment": ("prod*",)},
    {"target.labels.tier": (1,)},
    {"target.anything": ("x",)},
    {"target.anything.deep.down": (True,)},
    {"size": ("large",)},
    {"node.child.child.name": ("x",)},
    {"rate": (1.5, 2)},
    {"service": ("",)},
]


@pytest.mark.parametrize("arguments", SOUND, ids=str)
def test_what_a_tools_schema_allows_is_not_complained_of(arguments: dict[str, tuple[Json, ...]]) -> None:
    assert found(rule("z", arguments=arguments)) == []


def test_a_finding_names_the_rule_and_the_tools_that_it_speaks_of() -> None:
    policy = Policy((rule("first", tools=("look",)), rule("second", arguments={"zone": ("x",)})))
    assert check_policy(policy, TOOLS) == (
        Finding(2, "second", Fault.NO_ARGUMENT, ("zone",), unreachable=True, tools=NAMES),
    )


def terms(role: str, to: str) -> Terms:
    return Terms(role, ladder=(Rung(RungKind.REMIND, 1.0), Rung(RungKind.ESCALATE, 2.0, to)))


def test_an_escalation_to_people_who_may_decide_anyway_is_found_once() -> None:
    policy = Policy(
        (
            Rule("same", Gate.CONFIRM, WRITE, terms=terms("boss", "boss")),
            Rule("inherits", Gate.CONFIRM, ("look",), arguments={"service": ("x",)}, terms=terms("", "boss")),
            Rule("fine", Gate.CONFIRM, ("look",), terms=terms("approver", "boss")),
        ),
        terms("", "boss"),
    )
    assert [(it.position, it.fault, it.what) for it in check_policy(policy, TOOLS)] == [
        (0, Fault.ESCALATES_TO_NOBODY_NEW, ("boss",)),
        (1, Fault.ESCALATES_TO_NOBODY_NEW, ("boss",)),
    ]


def test_without_rules_there_is_nothing_to_find() -> None:
    assert check_policy(Policy(), TOOLS) == ()


# ---------------------------------------------------------------- what holds for every policy


@settings(max_examples=150)
@given(st.data(), policies(), known_tools())
def test_a_rule_that_is_said_to_be_out_of_reach_never_decides(
    data: st.DataObject, policy: Policy, tools: tuple[KnownTool, ...]
) -> None:
    unreachable = {it.rule for it in check_policy(policy, tools) if it.unreachable}
    for call in data.draw(st.lists(calls(tools), min_size=1, max_size=20)):
        assert policy.rule_on(*call.asked).rule not in unreachable


@given(st.data(), policies(), known_tools())
def test_what_is_out_of_reach_can_be_left_out(
    data: st.DataObject, policy: Policy, tools: tuple[KnownTool, ...]
) -> None:
    unreachable = {it.rule for it in check_policy(policy, tools) if it.unreachable}
    rest = Policy(tuple(rule for rule in policy.rules if rule.name not in unreachable), policy.terms)
    for call in data.draw(st.lists(calls(tools), min_size=1, max_size=10)):
        assert rest.rule_on(*call.asked) == policy.rule_on(*call.asked)


@given(texts, texts, st.lists(st.text("ab*?[]!-", max_size=5), max_size=10))
def test_a_pattern_that_includes_another_matches_all_that_the_other_does(
    wide: str, narrow: str, words: list[str]
) -> None:
    if _includes(wide, narrow):
        assert all(fits(word, wide) for word in words if fits(word, narrow))


@given(texts)
def test_a_pattern_includes_itself_and_is_included_by_a_star(pattern: str) -> None:
    assert _includes(pattern, pattern)
    assert _includes("*", pattern)


@given(st.data(), known_tools())
def test_an_argument_that_a_call_has_is_known_by_its_path_with_its_value(
    data: st.DataObject, tools: tuple[KnownTool, ...]
) -> None:
    call = data.draw(calls(tools))
    for name, value in call.arguments.items():
        places = schemas_at(call.tool.schema, name)
        assert places
        if isinstance(value, str | int | float):
            assert may_be(places, value)
