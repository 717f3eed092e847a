"""What the roles allow. The four roles of the server are here; policies may ask for any others in an approval."""

from enum import StrEnum

from opspilot.core.interrupts import ADMIN, AnswerAction, InterruptType, Principal, holds
from opspilot.journal.inbox import AskedOf
from opspilot.journal.queries import InterruptRow
from opspilot.web.questions import OPEN

VIEWER = "viewer"
OPERATOR = "operator"
APPROVER = "approver"
ROLES = (VIEWER, OPERATOR, APPROVER, ADMIN)


class Right(StrEnum):
    """What a request needs. Which answers somebody may give is decided for each question by `may_answer`."""

    LOOK = "look"
    ASK = "ask"
    ANSWER = "answer"


def may(who: Principal, right: Right) -> bool:
    """Whether some role of theirs gives this right. Any role lets one look; `viewer` gives nothing else."""
    match right:
        case Right.LOOK:
            return bool(who.roles)
        case Right.ASK:
            return holds(who, OPERATOR)
        case Right.ANSWER:
            return any(role != VIEWER for role in who.roles)


def may_steer(who: Principal, owner: str) -> bool:
    """Whether they may send messages to a session, and stop its run: operators their own, admins everybody's."""
    return holds(who, ADMIN) or (holds(who, OPERATOR) and who.id == owner)


def may_answer(who: Principal, question: InterruptRow, action: AnswerAction) -> bool:
    """Whether they may give this answer. The run itself judges again, and goes by the same rule of policy.

    Who has a role that the question asks for decides, where it asks for none any approver; who asked for the run may
    always reject what it does, and say what it lacks.
    """
    roles = question.roles or (APPROVER,)
    decides = any(holds(who, role) for role in roles)
    own = who.id == question.requester and holds(who, OPERATOR)
    confirms = question.kind == InterruptType.CONFIRM_RISKY
    match action:
        case AnswerAction.REJECT:
            return decides or own
        case AnswerAction.PROVIDE if confirms:
            return decides and bool(question.tool)
        case AnswerAction.PROVIDE:
            return decides or own or holds(who, APPROVER)
        case AnswerAction.APPROVE:
            barred = question.not_requester and who.id == question.requester
            agreed = who.id in [approval.by for approval in question.approvals]
            return confirms and decides and not barred and not agreed


def answers_of(who: Principal, question: InterruptRow) -> tuple[AnswerAction, ...]:
    """The answers that they may give; none to a question that is settled."""
    if question.state != OPEN:
        return ()
    return tuple(action for action in AnswerAction if may_answer(who, question, action))


def asked_of(who: Principal) -> AskedOf | None:
    """Whose inbox theirs is: exactly the questions for which `answers_of` gives any; None: all there are."""
    if holds(who, ADMIN):
        return None
    return AskedOf(
        roles=who.roles,
        unruled=holds(who, APPROVER),
        requester=who.id if holds(who, OPERATOR) else None,
    )
