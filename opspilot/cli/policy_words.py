"""The policy in words: what would happen to a call, and what is wrong with a rule. Knows neither settings nor tools."""

import json as jsonlib
from collections.abc import Iterator, Sequence

from opspilot.core.calls import Effect, Gate
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.policy_check import Fault, Finding
from opspilot.core.policy_reading import Condition, Unmet
from opspilot.core.terms import Rung, RungKind, Terms
from opspilot.texts.endings import question_told
from opspilot.texts.folding import arguments_line
from opspilot.texts.guessing import guess
from opspilot.texts.language import text
from opspilot.tools.policy_trial import Course, Trial
from opspilot.tools.spec import Tool

MOST_LISTED = 5
"""How many tools a finding names."""


def explained(trial: Trial) -> Iterator[str]:
    """A call, the verdict on it, who would be asked and until when, and why earlier rules do not decide."""
    verdict = trial.verdict
    yield f"{trial.tool} {arguments_line(trial.arguments)}".rstrip()
    yield from _asked_for(verdict.effect, trial.requester)
    if trial.position or verdict.code is None:
        by = _rule(trial.position, trial.rules, verdict.rule)
    else:
        by = text("policy.by_itself", name=verdict.rule)
    yield from _ruled(verdict.gate, by, verdict.message, verdict.terms)
    if trial.passed:
        yield ""
        yield text("policy.passed")
        for rule in trial.passed:
            yield f"  {rule.position} {rule.rule}: {'; '.join(_unmet(rule.unmet))}"


def overview(tool: Tool, requester: Principal, ways: Sequence[Course], rules: int) -> Iterator[str]:
    """What becomes of calls of a tool, and what that depends on. `rules` is how many there are in all."""
    yield tool.name
    yield from _asked_for(tool.effect, requester)
    if len(ways) == 1:
        yield text("policy.whatever")
        by = _rule(ways[0].position, rules, ways[0].rule)
        yield from _ruled(ways[0].gate, by, ways[0].reason, ways[0].terms)
        return
    yield text("policy.depends")
    for way in ways:
        when = text("policy.and").join(
            text("policy.where", path=path, wanted=_values(*values)) for path, values in way.arguments.items()
        )
        what = text(f"policy.course.{way.gate.value}")
        by = _rule(way.position, rules, way.rule)
        yield "  " + text("policy.course", when=when or text("policy.otherwise"), what=what, by=by)
    yield text("policy.with_args", tool=tool.name)


def _asked_for(effect: Effect, who: Principal) -> Iterator[str]:
    roles = ", ".join(who.roles) or text("policy.no_roles")
    yield "  " + text("policy.asked_for", effect=text(f"tools.{effect.value}"), who=who.id, roles=roles)
    yield ""


def _rule(position: int, rules: int, name: str) -> str:
    """Which of the rules it is, or that none of them speaks of it."""
    if not position:
        return text("policy.by_none", name=name)
    return text("policy.by_rule", position=position, rules=rules, name=name)


def _ruled(gate: Gate, by: str, message: str, terms: Terms) -> Iterator[str]:
    yield text(f"policy.{gate.value}", by=by)
    if message:
        yield "  " + question_told(message)
    if gate is Gate.CONFIRM:
        yield from ("  " + line for line in _terms(terms))
    elif gate is Gate.RUN and terms != Terms():
        yield text("policy.asks_itself")
        yield from ("  " + line for line in _terms(terms))


def _terms(terms: Terms) -> Iterator[str]:
    yield text("policy.role", role=terms.role) if terms.role else text("policy.anybody")
    if terms.quorum > 1:
        yield text("policy.quorum", quorum=terms.quorum)
    if terms.not_requester:
        yield text("policy.not_requester")
    yield text("policy.risk", risk=text(f"risk.{terms.risk.value}"))
    yield from map(_rung, terms.ladder)
    if terms.expires_after_seconds is None:
        yield text("policy.waits")


def _rung(rung: Rung) -> str:
    after = _duration(rung.after_seconds)
    match rung.kind:
        case RungKind.REMIND:
            return text("policy.remind", after=after)
        case RungKind.ESCALATE:
            return text("policy.escalate", after=after, role=rung.role)
    return text("policy.expire.stop" if rung.stops else "policy.expire.deny", after=after)


def _duration(seconds: float) -> str:
    """`2d`, `90m`: as it may stand in the settings, in the largest unit that gives a whole number."""
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds / length:.0f}{unit}"
    return f"{seconds:g}s"


def _unmet(conditions: Sequence[Unmet]) -> Iterator[str]:
    for unmet in conditions:
        wanted = _values(*unmet.wanted)
        yield text(f"policy.unmet.{unmet.condition.value}", path=unmet.path, wanted=wanted)
        if unmet.condition is Condition.TOOL:
            # About another tool's arguments there is nothing to say.
            return


def _values(*values: Json) -> str:
    return text("policy.or").join(jsonlib.dumps(value, ensure_ascii=False) for value in values)


# ---------------------------------------------------------------- what is wrong with the rules


def fault(finding: Finding, known: Sequence[str]) -> str:
    """One sentence about a rule. `known` are the names of all tools."""
    where = f"policy.rules#{finding.position} {finding.rule}" if finding.position else "policy"
    listed = ", ".join([*finding.tools[:MOST_LISTED], *(["…"] if len(finding.tools) > MOST_LISTED else [])])
    what = ", ".join(map(str, finding.what))
    values: dict[str, Json] = {"where": where, "what": what, "tools": listed}
    if finding.fault is Fault.NO_VALUE:
        path, value = finding.what
        values |= {"path": path, "value": _values(value)}
    sentence = text(f"policy.fault.{finding.fault.value}", **values)
    if finding.fault is Fault.NO_TOOL:
        sentence += guess(what, known)
    return sentence + (text("policy.never") if finding.unreachable else "")
