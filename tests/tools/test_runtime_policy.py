"""The rules of the policy, asked by the runtime: about the arguments that a tool will see, and what a verdict tells."""

import pytest
from pydantic import BaseModel

from opspilot.core.calls import Gate
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode
from opspilot.core.policy import Policy, Rule
from opspilot.core.terms import Terms
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import tool
from opspilot.tools.trying import try_tool

ANN = Principal("ann")


class Where(BaseModel):
    zone: str = "a"


HERE = Where()


@tool()
def deploy(count: int, environment: str = "production", where: Where = HERE) -> str:
    """Deploy."""
    return f"{count} to {environment} in {where.zone}"


RULES = Policy(
    (
        Rule("many", Gate.DENY, arguments={"count": (9,)}, reason="Nine is too many."),
        Rule("zone", Gate.DENY, arguments={"where.zone": ("b*",)}),
        Rule("live", Gate.CONFIRM, arguments={"environment": ("production",)}, terms=Terms(role="approver", quorum=2)),
        Rule("rest", Gate.RUN),
    )
)


@pytest.mark.parametrize(
    ("arguments", "gate", "rule"),
    [
        ({"count": 1}, Gate.CONFIRM, "live"),
        ({"count": 1, "environment": "staging"}, Gate.RUN, "rest"),
        ({"count": "9", "environment": "staging"}, Gate.DENY, "many"),
        ({"count": 9.0, "environment": "staging"}, Gate.DENY, "many"),
        ({"count": 1, "environment": "staging", "where": {"zone": "bb"}}, Gate.DENY, "zone"),
        ({"count": 1, "environment": "staging", "where": {"zone": "c", "zona": "b"}}, Gate.RUN, "rest"),
        ({"count": "many"}, Gate.INVALID, "schema"),
    ],
)
def test_rules_see_arguments_as_the_tool_will_with_defaults_and_types(
    arguments: dict[str, Json], gate: Gate, rule: str
) -> None:
    verdict = ToolRuntime(Registry([deploy]), RULES).judge("deploy", arguments, ANN)
    assert (verdict.gate, verdict.rule) == (gate, rule)


def test_a_verdict_has_the_terms_of_its_rule_and_a_denial_says_why() -> None:
    runtime = ToolRuntime(Registry([deploy]), RULES)
    assert runtime.judge("deploy", {"count": 1}, ANN).terms == Terms(role="approver", quorum=2)
    denied = runtime.judge("deploy", {"count": 9}, ANN)
    assert (denied.code, denied.message) == (ErrorCode.DENIED_BY_POLICY, "Nine is too many.")
    unsaid = runtime.judge("deploy", {"count": 1, "where": {"zone": "b"}}, ANN)
    assert unsaid.message == "The rule 'zone' does not allow this call."


async def test_what_is_denied_does_not_run_when_it_is_tried_either_whoever_approves() -> None:
    shown = await try_tool(ToolRuntime(Registry([deploy]), RULES), "deploy", {"count": 9}, ANN, approved=True)
    assert shown == {"ok": False, "errorCode": "denied_by_policy", "message": "Nine is too many."}


async def test_what_needs_agreement_asks_when_it_is_tried_and_runs_as_approved() -> None:
    runtime = ToolRuntime(Registry([deploy]), RULES)
    assert (await try_tool(runtime, "deploy", {"count": 1}, ANN))["interruptType"] == "confirm_risky"
    shown = await try_tool(runtime, "deploy", {"count": 1}, ANN, approved=True)
    assert shown == {"ok": True, "data": "1 to production in a"}
