"""Answers one open question from the command line, and finds out what became of the answer."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from opspilot.cli.listing import question_line
from opspilot.cli.prompting import make_answer, parse_values
from opspilot.cli.remote import Told
from opspilot.client import OpsPilot
from opspilot.core.entries import Kind
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import AnswerAction, Principal
from opspilot.journal.queries import InterruptRow
from opspilot.texts.language import text

CHECK_SECONDS = 5.0
"""How long the run may take to check an answer before the receipt alone is reported."""


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
    line: Callable[[InterruptRow], str] = question_line,
) -> None:
    """Send the reply and print what became of it; `line` makes one of a question that is listed.

    Raises `UsageError` when the reply can't be meant, or isn't taken.
    """
    after = (await pilot.session(session)).last_seq
    waiting = await pilot.questions(session)
    if not waiting:
        raise UsageError(text("refused.waits_for_nobody", session=session))
    chosen = [question for question in waiting if not reply.call or reply.call in (question.call, question.interrupt)]
    if reply.action is None or len(chosen) != 1:
        for question in waiting:
            print_line(line(question))
    if reply.action is None:
        return
    if len(chosen) != 1:
        raise UsageError(text("refused.which_call"))
    answer = make_answer(
        asdict(chosen[0]), principal, reply.action, values=parse_values(reply.values), comment=reply.comment
    )
    receipt = await pilot.answer(session, answer)
    if isinstance(receipt, Told):
        print_line(receipt.message)
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(CHECK_SECONDS):
            async for entry in pilot.watch(session, after):
                if entry.kind is Kind.INTERRUPT_ANSWERED and entry.data["answer_id"] == answer.id:
                    print_line(text("answer.taken"))
                    return
                if entry.kind is Kind.ANSWER_IGNORED and entry.key.endswith(answer.id):
                    raise UsageError(text("answer.not_taken", why=entry.data["message"]))
    print_line(receipt.message)
