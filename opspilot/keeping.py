"""Makes an answer ready to be sent. Its sensitive values are kept in the journal: none goes through Temporal's history.

Knows which values those are by the question as the journal has it. The worker puts them back (`activities/answers.py`).
"""

from dataclasses import replace
from datetime import datetime

from opspilot.core.calls import INTERRUPT, is_json
from opspilot.core.contract import MAX_ANSWER_BYTES, json_bytes
from opspilot.core.entries import Kind, NewEntry, answer_kept_key, interrupt_key
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Answer
from opspilot.core.ports import Journal
from opspilot.core.sensitive import MASK, in_answer, mask
from opspilot.texts.language import text

__all__ = ["keep"]


def keep(journal: Journal, session: str, run: str, answer: Answer, at: datetime) -> Answer:
    """The answer as it goes through Temporal: with a mask for each sensitive value, which the journal then has.

    It says that it was given `at` that moment. A mask that comes back, as from a form that was filled with what is
    shown, says that a value stays what it is. Raises `UsageError` for an answer that is too long or not JSON,
    `JournalError` when the values can't be kept.
    """
    if not is_json([dict(answer.values), answer.comment]):
        raise UsageError(text("objection.no_json"))
    values = {name: value for name, value in answer.values.items() if value != MASK}
    # What is signed already says when it was given.
    answer = replace(answer, values=values, said_at=answer.said_at if answer.signature else at.timestamp())
    name = INTERRUPT.fullmatch(answer.interrupt)
    key = interrupt_key(run, name[1], int(name[2])) if name else ""
    question = journal.find(session, [key]).get(key)
    places = in_answer(question.data, answer.values) if question else []
    if question is None or not places:
        return answer
    if json_bytes(answer) > MAX_ANSWER_BYTES:
        raise UsageError(text("refused.answer_too_long", most=f"{MAX_ANSWER_BYTES:,}"))
    data = {"interrupt": answer.interrupt, "values": dict(answer.values), "sensitive": places}
    key = answer_kept_key(run, answer.interrupt, answer.id)
    journal.append(session, run, [NewEntry(key, Kind.ANSWER_KEPT, at, data, question.step, question.call)])
    return replace(answer, values=mask(dict(answer.values), places))
