"""The policy in words: what would happen to a call, and what is wrong with a rule. Knows neither settings nor tools."""

import json as jsonlib
from collections.abc import Iterator, Sequence

from opspilot.core.calls import Gate
from opspilot.core.messages import Json
from opspilot.core.policy_check import Fault, Finding
from opspilot.core.policy_reading import Condition, Unmet
from opspilot.core.terms import Rung, RungKind, Terms
from opspilot.texts.folding import arguments_line
from opspilot.texts.guessing import guess
from opspilot.texts.language import text
from opspilot.tools.policy_trial import Trial

MOST_LISTED = 5
"""How many tools a finding names."""


def explained(trial: Trial) -> Iterator[str]:
    """A call, the verdict on it, who would be asked and until when, and why earlier rules do not decide."""
    verdict, who = trial.verdict, trial.requester
    yield f"{trial.tool} {arguments_line(trial.arguments)}".rstrip()
    roles = ", ".join(who.roles) or text("policy.no_roles")
    yield "  " + text("policy.asked_for", effect=text(f"tools.{verdict.effect.value}"), who=who.id, roles=roles)
    yield ""
    if trial.position:
        by = text("policy.by_rule", position=trial.position, rules=trial.rules, name=verdict.rule)
    elif verdict.code is None:
        by = text("policy.by_none", name=verdict.rule)
    else:
        by = text("policy.by_itself", name=verdict.rule)
    yield text(f"policy.{verdict.gate.value}", by=by)
    if verdict.message:
        yield "  " + verdict.message
    if verdict.gate is Gate.CONFIRM:
        yield from ("  " + line for line in _terms(verdict.terms))
    elif verdict.gate is Gate.RUN and verdict.terms != Terms():
        yield text("policy.asks_itself")
        yield from ("  " + line for line in _terms(verdict.terms))
    if trial.passed:
        yield ""
        yield text("policy.passed")
        for rule in trial.passed:
            yield f"  {rule.position} {rule.rule}: {'; '.join(_unmet(rule.unmet))}"


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
