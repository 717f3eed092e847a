"""What a run refuses at its door: what is wrong on its face, in a sentence for whoever sent it."""

from temporalio.exceptions import ApplicationError

from opspilot.core import contract
from opspilot.core.calls import INTERRUPT, limit_interrupt
from opspilot.core.interrupts import ADMIN, Answer, holds
from opspilot.core.limits import AT_A_LIMIT
from opspilot.core.state import Phase, RunState, Stage

MAX_WAITING_ANSWERS = 50
"""Unchecked answers that a run holds; more are refused at the door, so that a flood costs no history."""


def check_message(state: RunState, message: contract.UserMessage, request: contract.RunRequest) -> None:
    """Raises for a message that can't be read, and for one of somebody whose session this isn't.

    Clients ask the journal before they send, which is a moment behind: of two people who begin a session under one name
    at the same time, the second is told here.
    """
    owner = request.owner or request.user.id
    if message.sender is not None and message.sender.id != owner and not holds(message.sender, ADMIN):
        raise ApplicationError(f"This session belongs to {owner}.", owner, type=contract.NOT_OWNER)
    if not message.id or not message.text.strip():
        raise ApplicationError("A message needs an id and a text.", type="MessageRefused")
    if len(message.text.encode()) > contract.MAX_MESSAGE_BYTES:
        raise ApplicationError("A message may have 256 KiB at most.", type="MessageRefused")
    if sum(map(contract.json_bytes, (*state.inbox, message))) > contract.MAX_UNREAD_BYTES:
        raise ApplicationError("Too much is unread; say this again in a moment.", type="MessageRefused")


def check_answer(state: RunState, answer: Answer, now: float) -> None:
    """Raises for an answer to nothing that is asked at this moment, in seconds since the epoch."""
    if not has_room(state, answer):
        raise ApplicationError(
            "An answer may have 16 KiB at most."
            if contract.json_bytes(answer) > contract.MAX_ANSWER_BYTES
            else "Too many answers are being checked; try again in a moment.",
            type="AnswerRefused",
        )
    shown = state.shown(answer.interrupt)
    if shown is None and not _may_be_asked_soon(state, answer):
        raise ApplicationError(f"Question {answer.interrupt} is not open (any more).", type="AnswerRefused")
    if shown is not None and answer.digest and answer.digest != shown:
        raise ApplicationError("This answer is for something else than what is asked now.", type="AnswerRefused")
    wait = state.waits.get(answer.interrupt)
    if wait and wait.expires_at is not None and wait.expires_at <= now:
        raise ApplicationError(
            f"Question {answer.interrupt} has expired; nobody decided in time.", type="AnswerRefused"
        )


def has_room(state: RunState, answer: Answer) -> bool:
    """Whether one more answer may wait to be checked."""
    return len(state.answers) < MAX_WAITING_ANSWERS and contract.json_bytes(answer) <= contract.MAX_ANSWER_BYTES


def moment_of(answer: Answer, now: float) -> float:
    """When an answer counts as given that may have waited for a worker: when its sender says, if that isn't to come.

    Whoever backdates one that isn't signed gains nothing: it is refused when it is judged. Unless everybody is taken at
    their word, in local mode.
    """
    return min(now, answer.said_at) if answer.said_at > 0 else now


def _may_be_asked_soon(state: RunState, answer: Answer) -> bool:
    """The journal shows a question a moment before its activity returns; a digest proves that it was seen there."""
    call = state.open_under(answer.interrupt)
    of_call = call is not None and call.stage is not Stage.ASKED
    at_limit = state.stop in AT_A_LIMIT and state.limit_question is None
    of_limit = at_limit and answer.interrupt == limit_interrupt(state.limits_asked + 1)
    # A verdict's question is written with the reply, before the run knows of either.
    thinking = state.phase is Phase.THINKING and state.stop is None
    of_reply = thinking and _is_of_verdict(answer.interrupt, state.step + 1)
    return bool(answer.digest) and (of_call or of_limit or of_reply)


def _is_of_verdict(interrupt: str, step: int) -> bool:
    name = INTERRUPT.fullmatch(interrupt)
    return name is not None and name[1].startswith(f"{step}.") and name[2] == "0"
