"""Which rule decides about a call: by table what each condition matches, by property what holds for every policy."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.calls import Effect, Gate
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.policy import RUN_ANYTHING, UNMATCHED_READ, UNMATCHED_WRITE, Policy, Rule, Ruling, fits
from opspilot.core.policy_reading import Condition, Unmet, passed_over
from opspilot.core.terms import Terms
from tests.policy.generated import calls, known_tools, policies

ANN = Principal("ann", roles=("operator",))
TARGET = {"environment": "production", "count": 2, "force": False, "ratio": 0.5}
ARGUMENTS: dict[str, Json] = {"service": "payment-api", "target": TARGET, "tags": ["a"], "a.b": "dotted", "none": None}


def rule(**conditions: object) -> Rule:
    return Rule("one", Gate.DENY, **conditions)  # type: ignore[arg-type]


MATCHING = [
    (rule(), True),
    (rule(tools=("restart_service",)), True),
    (rule(tools=("deploy", "restart_*")), True),
    (rule(tools=("restart",)), False),
    (rule(tools=("RESTART_*",)), False),
    (rule(effect=Effect.WRITE), True),
    (rule(effect=Effect.READ), False),
    (rule(arguments={"service": ("payment-api",)}), True),
    (rule(arguments={"service": ("orders", "payment-*")}), True),
    (rule(arguments={"service": ("Payment-API",)}), False),
    (rule(arguments={"service": ("payment",)}), False),
    (rule(arguments={"target.environment": ("production",)}), True),
    (rule(arguments={"target.count": (2,)}), True),
    (rule(arguments={"target.count": (2.0,)}), True),
    (rule(arguments={"target.count": ("2",)}), False),
    (rule(arguments={"target.force": (False,)}), True),
    (rule(arguments={"target.force": (0,)}), False),
    (rule(arguments={"target.ratio": (0.5,)}), True),
    (rule(arguments={"target.nothing": ("*",)}), False),
    (rule(arguments={"service.nothing": ("*",)}), False),
    (rule(arguments={"a.b": ("dotted",)}), True),
    (rule(arguments={"tags": ("a",)}), False),
    (rule(arguments={"none": ("*",)}), False),
    (rule(arguments={"service": ("*",), "target.count": (3,)}), False),
    (rule(user_roles=("operator",)), True),
    (rule(user_roles=("viewer", "operator")), True),
    (rule(user_roles=("viewer",)), False),
    (rule(tools=("restart_*",), effect=Effect.WRITE, user_roles=("viewer",)), False),
]


@given(st.text("ab\n.[", max_size=12), st.text("ab\n.*?", max_size=8))
def test_a_pattern_fits_as_in_a_shell(text: str, pattern: str) -> None:
    assert fits(text, pattern) is fnmatchcase(text, pattern)


def test_brackets_stand_for_themselves() -> None:
    assert fits("a[1].log", "a[1].*")
    assert not fits("a1.log", "a[1].*")


@pytest.mark.timeout(5)
def test_whoever_writes_an_argument_can_not_keep_a_rule_searching() -> None:
    assert not fits("a" * 200_000, "*a*a?a*a*b")


@pytest.mark.parametrize(("subject", "matches"), MATCHING)
def test_a_rule_matches_when_all_of_its_conditions_hold(subject: Rule, matches: bool) -> None:
    assert subject.matches("restart_service", Effect.WRITE, ARGUMENTS, ANN) is matches


def test_an_administrator_is_whoever_a_rule_speaks_of() -> None:
    admin = Principal("root", roles=("admin",))
    assert rule(user_roles=("viewer",)).matches("x", Effect.READ, {}, admin)


def test_what_a_rule_says_is_what_is_ruled() -> None:
    decides = Rule("mine", Gate.CONFIRM, reason="Careful.", terms=Terms("approver", 2))
    assert Policy((decides,)).rule_on("x", Effect.READ, {}, ANN) == Ruling(
        Gate.CONFIRM, "mine", "Careful.", Terms("approver", 2)
    )


def test_where_nothing_is_at_stake_everything_runs() -> None:
    assert RUN_ANYTHING.rule_on("x", Effect.WRITE, {}, ANN).gate is Gate.RUN


@given(st.data(), policies())
def test_the_first_rule_that_matches_decides_and_later_ones_change_nothing(data: st.DataObject, policy: Policy) -> None:
    call = data.draw(known_tools().flatmap(calls))
    ruling = policy.rule_on(*call.asked)
    matching = [rule for rule in policy.rules if rule.matches(*call.asked)]
    if matching:
        first = matching[0]
        assert ruling == Ruling(first.verdict, first.name, first.reason, first.terms)
        upto = policy.rules[: policy.rules.index(first) + 1]
        assert Policy(upto, policy.terms).rule_on(*call.asked) == ruling
    else:
        assert ruling.rule in (UNMATCHED_READ, UNMATCHED_WRITE)


@given(st.data(), policies())
def test_a_write_that_no_rule_lets_run_never_runs(data: st.DataObject, policy: Policy) -> None:
    call = data.draw(known_tools().flatmap(calls))
    ruling = policy.rule_on(*call.asked)
    lets = any(rule.verdict is Gate.RUN and rule.matches(*call.asked) for rule in policy.rules)
    if call.tool.effect is Effect.WRITE and not lets:
        assert ruling.gate is not Gate.RUN
    matched = any(rule.matches(*call.asked) for rule in policy.rules)
    if not matched:
        assert ruling.gate is (Gate.RUN if call.tool.effect is Effect.READ else Gate.CONFIRM)


@given(st.data(), policies())
def test_the_rules_before_the_one_that_decides_are_explained_and_no_others(data: st.DataObject, policy: Policy) -> None:
    call = data.draw(known_tools().flatmap(calls))
    decides = policy.rule_on(*call.asked).rule
    names = [rule.name for rule in policy.rules]
    before = names[: names.index(decides)] if decides in names else names
    passed = passed_over(policy, *call.asked)
    assert [rule.rule for rule in passed] == before
    assert [rule.position for rule in passed] == list(range(1, len(before) + 1))
    assert all(rule.unmet for rule in passed)


def test_each_condition_that_is_not_met_is_named_with_what_would_have_met_it() -> None:
    subject = rule(
        tools=("deploy",), effect=Effect.READ, arguments={"service": ("a", 1), "target.count": (2,)}, user_roles=("x",)
    )
    (passed,) = passed_over(Policy((subject,)), "restart_service", Effect.WRITE, ARGUMENTS, ANN)
    assert passed.unmet == (
        Unmet(Condition.TOOL, ("deploy",)),
        Unmet(Condition.EFFECT, ("read",)),
        Unmet(Condition.ARGUMENT, ("a", 1), "service"),
        Unmet(Condition.USER_ROLE, ("x",)),
    )
