"""Answers open questions from the command line: lists what is open, or gives one answer and tells what became of it."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from opspilot.cli.blanks import needs
from opspilot.cli.jsonlines import json_line
from opspilot.cli.prompting import make_answer, parse_values
from opspilot.cli.questions import in_one_line, standing, terms
from opspilot.cli.remote import Told
from opspilot.client import OpsPilot
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.fate import Fate, Outcome
from opspilot.journal.queries import InterruptRow
from opspilot.outward import outward_question
from opspilot.texts.language import text

CHECK_SECONDS = 5.0
"""How long the run may take to check an answer before the receipt alone is reported."""
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Reply:
    """What was given on the command line. `action` None asks for a list; `call` empty means the only one that waits."""

    action: AnswerAction | None
    call: str = ""
    comment: str = ""
    values: tuple[str, ...] = ()


def chosen_action(*, approve: bool, reject: bool, values: Sequence[str]) -> AnswerAction | None:
    """The one action that was given, None when there is none. Raises `UsageError` for several."""
    given = {AnswerAction.APPROVE: approve, AnswerAction.REJECT: reject, AnswerAction.PROVIDE: bool(values)}
    chosen = [action for action, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise UsageError(text("refused.several_actions"))
    return chosen[0] if chosen else None


async def answer_question(
    pilot: OpsPilot,
    principal: Principal,
    session: str,
    reply: Reply,
    print_line: Callable[[str], None],
    *,
    as_json: bool = False,
) -> None:
    """Send the reply and print what became of it; without an action, print what is open.

    Raises `UsageError` when the reply can't be meant, or isn't taken.
    """
    waiting = await open_questions(pilot, session)
    chosen = [question for question in waiting if not reply.call or reply.call in (question.call, question.interrupt)]
    if not chosen:
        calls = ", ".join(f"{question.call} {question.tool}".rstrip() for question in waiting)
        raise UsageError(text("refused.no_question", session=session, call=repr(reply.call), calls=calls))
    if reply.action is None or len(chosen) > 1:
        now = datetime.now(UTC)
        for question in chosen:
            print_line(json_line(outward_question(question)) if as_json else _told(question, now))
    if reply.action is None:
        return
    if len(chosen) > 1:
        raise UsageError(text("refused.which_call"))
    question = chosen[0]
    answer = make_answer(
        asdict(question), principal, reply.action, values=parse_values(reply.values), comment=reply.comment
    )
    fate = await give(pilot, question, answer)
    if as_json:
        about = {"session": session, "interrupt": question.interrupt, "action": answer.action.value}
        print_line(json_line({**about, **asdict(fate)}))
    if fate.outcome is Outcome.IGNORED:
        raise UsageError(fate.message)
    if not as_json:
        print_line(fate.message)


async def open_questions(pilot: OpsPilot, session: str) -> tuple[InterruptRow, ...]:
    """What a session waits for. Raises `UsageError` when there is no such session, or it waits for nobody."""
    await pilot.session(session)
    waiting = await pilot.questions(session)
    if not waiting:
        raise UsageError(text("refused.waits_for_nobody", session=session))
    return waiting


async def give(pilot: OpsPilot, question: InterruptRow, answer: Answer) -> Fate:
    """Give an answer and wait a moment for what becomes of it. Raises `UsageError` when it isn't taken at the door."""
    receipt = await pilot.answer(question.session, answer)
    if isinstance(receipt, Told):
        return Fate(receipt.outcome, receipt.message, receipt.approvals, receipt.quorum)
    if receipt.message == text("answer.kept"):
        return Fate(Outcome.KEPT, receipt.message, len(question.approvals), question.quorum)
    deadline = time.monotonic() + CHECK_SECONDS
    while time.monotonic() < deadline:
        if fate := await pilot.fate(question, answer):
            return fate
        await asyncio.sleep(POLL_SECONDS)
    return Fate(Outcome.GIVEN, text("told.given"), len(question.approvals), question.quorum)


def _told(question: InterruptRow, now: datetime) -> str:
    lines = [in_one_line(question), needs(asdict(question)), terms(asdict(question)), standing(question, now)]
    return "\n    ".join(line for line in lines if line)
