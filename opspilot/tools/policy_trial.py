"""What the policy makes of one call, or of all calls of a tool, found without running any: as in a run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from opspilot.core.calls import Gate, Verdict
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.policy import Policy
from opspilot.core.policy_reading import PassedOver, passed_over
from opspilot.core.ports import Tools
from opspilot.core.sensitive import mask, pointers
from opspilot.core.terms import Terms
from opspilot.redaction import redact
from opspilot.tools.spec import Tool


@dataclass(frozen=True)
class Trial:
    """A call with what the rules see of it, without secrets; the verdict; and the rules that were passed over before.

    `position` is that of the rule that decided among the `rules`, counted from 1; 0: none did, or none was asked.
    """

    tool: str
    arguments: Mapping[str, Json]
    requester: Principal
    verdict: Verdict
    position: int
    rules: int
    passed: tuple[PassedOver, ...]

    def as_json(self) -> dict[str, Json]:
        """For programs."""
        return {
            "tool": self.tool,
            "effect": self.verdict.effect.value,
            "arguments": dict(self.arguments),
            "requester": {"id": self.requester.id, "roles": list(self.requester.roles)},
            "gate": self.verdict.gate.value,
            "rule": self.verdict.rule,
            "position": self.position or None,
            "message": self.verdict.message,
            "terms": asdict(self.verdict.terms),
            "passed": [asdict(rule) for rule in self.passed],
        }


@dataclass(frozen=True)
class Course:
    """What becomes of the calls with such arguments that no course before it takes; without any, of all the rest.

    `position` is that of the rule among all, counted from 1; 0: no rule speaks of them. `reason` is the rule's own.
    """

    position: int
    rule: str
    gate: Gate
    reason: str
    terms: Terms
    arguments: Mapping[str, tuple[Json, ...]]


def courses(tool: Tool, requester: Principal, policy: Policy) -> tuple[Course, ...]:
    """What the calls of a tool may come to when this person asks for them, the last of them whatever the arguments."""
    found: list[Course] = []
    for position, rule in enumerate(policy.rules, start=1):
        if not replace(rule, arguments={}).matches(tool.name, tool.effect, {}, requester):
            continue
        found.append(Course(position, rule.name, rule.verdict, rule.reason, rule.terms, rule.arguments))
        if not rule.arguments:
            return tuple(found)
    rest = replace(policy, rules=()).rule_on(tool.name, tool.effect, {}, requester)
    return (*found, Course(0, rest.rule, rest.gate, rest.reason, rest.terms, {}))


def try_call(tool: Tool, arguments: Mapping[str, Json], requester: Principal, tools: Tools, policy: Policy) -> Trial:
    """The trial of a call. `tools` judge by that same policy."""
    verdict = tools.judge(tool.name, arguments, requester)
    position = next((at for at, rule in enumerate(policy.rules, start=1) if rule.name == verdict.rule), 0)
    seen, passed = arguments, tuple[PassedOver, ...]()
    if verdict.code is None or position:
        seen = tool.understood(arguments)
        passed = passed_over(policy, tool.name, tool.effect, seen, requester)
    shown = redact(mask(dict(seen), pointers(tool.input_schema, dict(seen))))
    return Trial(tool.name, shown, requester, verdict, position, len(policy.rules), passed)
