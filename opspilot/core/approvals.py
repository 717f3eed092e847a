"""Whether a person's answer is good, and what it makes of the call: who may agree, how many must, what was shown.

Pure: what is open and what policy says is given. Whether the person is who they say has been found out before.
"""

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from opspilot.core.calls import Gate, Verdict
from opspilot.core.interrupts import Answer, AnswerAction, InterruptType, Principal, holds
from opspilot.core.messages import Json
from opspilot.core.terms import Terms


@dataclass(frozen=True)
class OpenQuestion:
    """A question as it is open now. `roles`: whoever has one of these may agree; empty: anybody.

    `fields` are those that it asks for, `approvals` the ids of who has agreed so far. `tool` is empty when it is about
    a limit. `spoke`: the ids of others who told the run something before it proposed this.
    """

    kind: InterruptType
    digest: str
    tool: str
    arguments: Mapping[str, Json]
    terms: Terms
    roles: tuple[str, ...]
    requester: str
    fields: tuple[str, ...] = ()
    approvals: tuple[str, ...] = ()
    spoke: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """The answer is no good; the question stays open."""

    why: str


@dataclass(frozen=True)
class Counted:
    """An approval, and more are needed."""

    approvals: tuple[str, ...]


@dataclass(frozen=True)
class Rejected:
    """The call will not run."""


@dataclass(frozen=True)
class Agreed:
    """The call may run with these arguments. `approved`: who may say so has agreed to exactly them."""

    arguments: Mapping[str, Json]
    approved: bool


@dataclass(frozen=True)
class AskAgain:
    """With these arguments it is another call, which needs people's agreement in its turn; some have given it."""

    arguments: Mapping[str, Json]
    verdict: Verdict
    approvals: tuple[str, ...]


Judgement: TypeAlias = Refused | Counted | Rejected | Agreed | AskAgain


def judge(
    question: OpenQuestion, answer: Answer, verdict_on: Callable[[Mapping[str, Json]], Verdict], *, known: bool
) -> Judgement:
    """What an answer does. For whom nobody vouches (`known` False) may only reject, or answer a question."""
    if answer.digest and answer.digest != question.digest:
        return Refused("This answer is for something else than what is asked.")
    if answer.action is AnswerAction.REJECT:
        may = not known or answer.principal.id == question.requester or _has_role(question.roles, answer.principal)
        return Rejected() if may else Refused(_needs_role(question.roles))
    if not known and not (question.kind is InterruptType.QUESTION and answer.action is AnswerAction.PROVIDE):
        return Refused(
            "Nobody vouches for who sent this answer: it is not signed by the server that people sign in to."
        )
    if answer.action is AnswerAction.APPROVE:
        return _approved(question, answer)
    return _provided(question, answer, verdict_on)


def _approved(question: OpenQuestion, answer: Answer) -> Judgement:
    if question.kind is not InterruptType.CONFIRM_RISKY:
        return Refused("This question needs values, not an approval.")
    if answer.without or any(
        name not in question.arguments or question.arguments[name] != value for name, value in answer.values.items()
    ):
        return Refused("An approval is for what is shown; other values are given as an edit.")
    if why := _may_not_agree(question, question.terms, question.roles, answer.principal):
        return Refused(why)
    if any(same_person(answer.principal.id, who) for who in question.approvals):
        return Refused("You have agreed already; somebody else has to agree as well.")
    approvals = (*question.approvals, answer.principal.id)
    if len(approvals) < question.terms.quorum:
        return Counted(approvals)
    return Agreed(question.arguments, approved=True)


def _provided(question: OpenQuestion, answer: Answer, verdict_on: Callable[[Mapping[str, Json]], Verdict]) -> Judgement:
    if not question.tool:
        return Refused("This question takes an approval or a rejection.")
    if not answer.values and not answer.without:
        return Refused("No values were given.")
    if question.kind is InterruptType.QUESTION:
        return Agreed(question.arguments, approved=False)
    confirms = question.kind is InterruptType.CONFIRM_RISKY
    if why := _does_not_fit(question, answer, confirms=confirms):
        return Refused(why)
    if confirms and not _has_role(question.roles, answer.principal):
        return Refused(_needs_role(question.roles))
    given = {**question.arguments, **answer.values}
    arguments = {name: value for name, value in given.items() if name not in answer.without}
    if confirms and arguments == question.arguments:
        return _approved(question, answer)
    verdict = verdict_on(arguments)
    if verdict.gate in (Gate.INVALID, Gate.DENY):
        return Refused(verdict.message)
    if verdict.gate is Gate.RUN and not confirms:
        return Agreed(arguments, approved=False)
    terms = verdict.terms
    roles = (terms.role,) if terms.role else ()
    may_agree = not _may_not_agree(question, terms, roles, answer.principal)
    if may_agree and terms.quorum == 1:
        return Agreed(arguments, approved=True)
    return AskAgain(arguments, verdict, (answer.principal.id,) if may_agree else ())


def _does_not_fit(question: OpenQuestion, answer: Answer, *, confirms: bool) -> str:
    if not confirms and question.fields and (unasked := sorted(set(answer.values) - set(question.fields))):
        return f"Nobody asked for {', '.join(unasked)}."
    shown = set(question.arguments) if confirms else set()
    return "" if shown.issuperset(answer.without) else "Only an argument that is shown can be left out."


def _may_not_agree(question: OpenQuestion, terms: Terms, roles: tuple[str, ...], who: Principal) -> str:
    if not _has_role(roles, who):
        return _needs_role(roles)
    if terms.not_requester and any(same_person(who.id, asked) for asked in (question.requester, *question.spoke)):
        return "Who asked for this may not agree to it; somebody else has to."
    return ""


def same_person(one: str, other: str) -> bool:
    """Whether two ids are one person's: some ways of signing in take `Alice` for `alice` and hand on what was typed."""
    return _folded(one) == _folded(other)


def _folded(id_: str) -> str:
    return unicodedata.normalize("NFKC", id_).casefold().strip()


def _has_role(roles: tuple[str, ...], who: Principal) -> bool:
    return not roles or any(holds(who, role) for role in roles)


def _needs_role(roles: tuple[str, ...]) -> str:
    return f"Only people with the role {' or '.join(roles)} may decide this."
