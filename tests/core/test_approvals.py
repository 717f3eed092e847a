"""Who counts as somebody else: two spellings of one person's id are no second pair of eyes."""

from dataclasses import replace

import pytest

from opspilot.core.approvals import Agreed, Counted, Judgement, OpenQuestion, Refused, judge
from opspilot.core.calls import Gate, Verdict
from opspilot.core.interrupts import Answer, AnswerAction, InterruptType, Principal
from opspilot.core.terms import Terms

QUESTION = OpenQuestion(
    kind=InterruptType.CONFIRM_RISKY,
    digest="shown",
    tool="restart",
    arguments={"service": "payment"},
    terms=Terms(quorum=2, not_requester=True),
    roles=(),
    requester="carol",
    approvals=("alice",),
)
SAME = ["alice", "Alice", "ALICE", " alice", "ａｌｉｃｅ"]


def judged(question: OpenQuestion, who: str, action: AnswerAction = AnswerAction.APPROVE, **values: str) -> Judgement:
    answer = Answer("a", "1.1#0", action, Principal(who), values, digest="shown")
    return judge(question, answer, lambda _: Verdict(Gate.CONFIRM, terms=question.terms), known=True)


@pytest.mark.parametrize("who", SAME)
def test_nobody_agrees_twice_under_another_spelling(who: str) -> None:
    assert isinstance(judged(QUESTION, who), Refused)


@pytest.mark.parametrize("who", SAME)
@pytest.mark.parametrize("action", [AnswerAction.APPROVE, AnswerAction.PROVIDE])
def test_nor_agrees_to_their_own_request_by_an_edit_neither(who: str, action: AnswerAction) -> None:
    question = replace(QUESTION, requester="alice", approvals=())
    values = {"service": "billing"} if action is AnswerAction.PROVIDE else {}
    given = judged(question, who, action, **values)
    assert isinstance(given, Refused) or getattr(given, "approvals", None) == ()


@pytest.mark.parametrize("who", SAME)
def test_nor_to_what_the_run_does_after_they_told_it_something(who: str) -> None:
    assert isinstance(judged(replace(QUESTION, approvals=(), spoke=("bob", "alice")), who), Refused)


@pytest.mark.parametrize("who", ["bob", "alice2", "alice@example.com"])
def test_somebody_else_is_somebody_else(who: str) -> None:
    assert judged(QUESTION, who) == Agreed({"service": "payment"}, approved=True)
    assert judged(replace(QUESTION, approvals=()), who) == Counted((who,))
