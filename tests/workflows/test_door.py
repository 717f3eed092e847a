"""What a run refuses at its door, and what it lets in because people may have seen more than it knows yet."""

from dataclasses import replace

import pytest
from temporalio.exceptions import ApplicationError

from opspilot.core.contract import MAX_ANSWER_BYTES, MAX_MESSAGE_BYTES, NOT_OWNER, RunRequest
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import StopReason
from opspilot.core.state import LimitQuestion, QueuedMessage, RunState
from opspilot.core.terms import Rung, RungKind, Wait
from tests.core.builders import ANN, SECOND, THINKING, settling
from workflows.door import MAX_WAITING_ANSWERS, check_answer, check_message

NOW = 1_000.0
ASKED = settling("W? R")
ASKED = replace(ASKED, calls=(replace(ASKED.calls[0], shown="shown", round=0), ASKED.calls[1]))
EXPIRING = replace(
    ASKED,
    calls=(replace(ASKED.calls[0], wait=Wait(NOW - 60, (Rung(RungKind.EXPIRE, 60.0),))), ASKED.calls[1]),
)
AT_LIMIT = replace(SECOND, stop=StopReason.MAX_STEPS)
OF_ANN = RunRequest(ANN)
ASKED_AT_LIMIT = replace(AT_LIMIT, limit_question=LimitQuestion(1, "shown", Wait(0.0)), limits_asked=1)


def answer(interrupt: str, digest: str = "shown", comment: str = "") -> Answer:
    return Answer("a", interrupt, AnswerAction.APPROVE, ANN, digest=digest, comment=comment)


@pytest.mark.parametrize(
    ("state", "said", "refusal"),
    [
        pytest.param(ASKED, answer("1.1#0"), "", id="what is asked"),
        pytest.param(ASKED, answer("1.1#0", ""), "", id="what is asked, whatever it shows"),
        pytest.param(ASKED, answer("1.1#0", "other"), "something else", id="for something else"),
        pytest.param(ASKED, answer("1.1#1"), "not open", id="another round"),
        pytest.param(ASKED, answer("1.9#0"), "not open", id="no such call"),
        pytest.param(ASKED, answer("1.2#1"), "", id="a call that is running and may have asked"),
        pytest.param(ASKED, answer("1.2#1", ""), "not open", id="the same, without having seen it"),
        pytest.param(EXPIRING, answer("1.1#0"), "expired", id="too late, to the second"),
        pytest.param(THINKING, answer("1.1#0"), "", id="a reply that is in the journal already"),
        pytest.param(THINKING, answer("1.1#0", ""), "not open", id="the same, without having seen it"),
        pytest.param(THINKING, answer("1.1#1"), "not open", id="no verdict asks in round 1"),
        pytest.param(THINKING, answer("2.1#0"), "not open", id="the step after the next"),
        pytest.param(SECOND, answer("1.1#0"), "not open", id="the step before"),
        pytest.param(AT_LIMIT, answer("limit#1"), "", id="a limit that is being asked about"),
        pytest.param(ASKED_AT_LIMIT, answer("limit#1"), "", id="a limit that is asked about"),
        pytest.param(ASKED_AT_LIMIT, answer("limit#2"), "not open", id="another limit"),
        pytest.param(ASKED, answer("1.1#0", comment="x" * MAX_ANSWER_BYTES), "16 KiB", id="too much"),
        pytest.param(
            replace(ASKED, answers=(answer("1.1#0"),) * MAX_WAITING_ANSWERS),
            answer("1.1#0"),
            "in a moment",
            id="too many",
        ),
        pytest.param(RunState(), answer("1.1#0"), "not open", id="nothing is open yet"),
    ],
)
def test_an_answer_is_let_in_when_somebody_may_have_seen_its_question(
    state: RunState, said: Answer, refusal: str
) -> None:
    if not refusal:
        check_answer(state, said, NOW)
        return
    with pytest.raises(ApplicationError, match=refusal):
        check_answer(state, said, NOW)


@pytest.mark.parametrize(
    ("message", "refusal"),
    [
        pytest.param(QueuedMessage("m", "And now?"), "", id="a message"),
        pytest.param(QueuedMessage("", "And now?"), "id and a text", id="without an id"),
        pytest.param(QueuedMessage("m", " \n"), "id and a text", id="without a text"),
        pytest.param(QueuedMessage("m", "问" * MAX_MESSAGE_BYTES), "256 KiB", id="too long"),
    ],
)
def test_a_message_is_let_in_when_it_can_be_read(message: QueuedMessage, refusal: str) -> None:
    if not refusal:
        check_message(THINKING, message, OF_ANN)
        return
    with pytest.raises(ApplicationError, match=refusal):
        check_message(THINKING, message, OF_ANN)


@pytest.mark.parametrize(
    ("request_", "sender", "owner"),
    [
        pytest.param(OF_ANN, ANN, "", id="who asked"),
        pytest.param(OF_ANN, None, "", id="from Temporal's console"),
        pytest.param(OF_ANN, Principal("eve", roles=("operator", "approver")), "ann", id="somebody else"),
        pytest.param(OF_ANN, Principal("eve", roles=("admin",)), "", id="an admin"),
        pytest.param(RunRequest(Principal("eve"), owner="ann"), ANN, "", id="the owner, in a run that an admin began"),
        pytest.param(RunRequest(Principal("eve"), owner="ann"), Principal("bob"), "ann", id="a third person there"),
    ],
)
def test_a_message_is_let_in_when_its_sender_may_speak_in_the_session(
    request_: RunRequest, sender: Principal | None, owner: str
) -> None:
    message = QueuedMessage("m", "And now?", sender)
    if not owner:
        check_message(THINKING, message, request_)
        return
    with pytest.raises(ApplicationError, match=owner) as refused:
        check_message(THINKING, message, request_)
    assert (refused.value.type, refused.value.details) == (NOT_OWNER, (owner,))
