"""What an AG-UI run says and answers before anything is told of it: its last message, and its resume entries."""

from collections.abc import Sequence
from dataclasses import dataclass

from ag_ui.core import CustomEvent, ResumeEntry, RunAgentInput, UserMessage
from pydantic import ValidationError

from opspilot.core.entries import message_key
from opspilot.texts.language import text
from opspilot.web import answering, asking
from opspilot.web.agui.answers import given, named
from opspilot.web.agui.telling import OURS
from opspilot.web.answering import FIT_FOR_ID, Given
from opspilot.web.api.sessions import session_of
from opspilot.web.asked import card
from opspilot.web.asking import AskBody
from opspilot.web.backend import Backend
from opspilot.web.people.rights import Right
from opspilot.web.people.visitors import Visitor
from opspilot.web.questions import find_question
from opspilot.web.refusing import Refused, not_understood


@dataclass(frozen=True)
class Note:
    """What became of one resume entry, for whoever sent it."""

    interrupt: str
    outcome: str
    message: str

    def as_event(self) -> CustomEvent:
        """As the protocol carries what it has no words for."""
        value = {"interruptId": self.interrupt, "outcome": self.outcome, "message": self.message}
        return CustomEvent(name=f"{OURS}.answer", value=value)


@dataclass(frozen=True)
class Beginning:
    """Where the telling begins: behind `after`, with what was `asked` now, if anything was."""

    after: int
    asked: UserMessage | None
    notes: tuple[Note, ...] = ()


async def begin(backend: Backend, who: Visitor, wanted: RunAgentInput) -> Beginning:
    """Ask and answer what is to be; raises `Refused` and `OpsPilotError` before anything is told."""
    session = wanted.thread_id
    said = _said(wanted)
    recorded = await _recorded_at(backend, session, said.id) if said else None
    if said is not None and recorded is not None and not wanted.resume:
        # The same request again: it is told again from there.
        return Beginning(recorded - 1, said)
    row = await backend.read(backend.journal.session, session)
    if row is None and (said is None or wanted.resume):
        await session_of(backend, session)
    after = row.last_seq if row is not None else 0
    notes = await _answer(backend, who, session, wanted.resume) if wanted.resume else ()
    if said is None or recorded is not None:
        return Beginning(after, None, notes)
    _need(who, Right.ASK)
    asked = await asking.ask(backend, who.principal, _question(wanted, said))
    return Beginning(min(after, asked.after), said, notes)


def _said(wanted: RunAgentInput) -> UserMessage | None:
    """What the last message says, if it is the user's."""
    last = wanted.messages[-1] if wanted.messages else None
    return last if isinstance(last, UserMessage) else None


async def _recorded_at(backend: Backend, session: str, message_id: str) -> int | None:
    if not FIT_FOR_ID.fullmatch(message_id):
        return None
    key = message_key(message_id)
    found = await backend.read(backend.journal.find, session, [key])
    return found[key].seq if key in found else None


def _question(wanted: RunAgentInput, said: UserMessage) -> AskBody:
    props = wanted.forwarded_props.get(OURS) if isinstance(wanted.forwarded_props, dict) else None
    chosen = props if isinstance(props, dict) else {}
    parts = [said.content] if isinstance(said.content, str) else [getattr(part, "text", "") for part in said.content]
    fields = {name: chosen[name] for name in ("model", "only", "force", "limits") if name in chosen}
    try:
        return AskBody(text="\n".join(filter(None, parts)), session=wanted.thread_id, id=said.id, **fields)
    except ValidationError as error:
        raise not_understood(error) from None


async def _answer(backend: Backend, who: Visitor, session: str, entries: Sequence[ResumeEntry]) -> tuple[Note, ...]:
    """Give each answer. One that nobody waits for any more, or that isn't theirs to give, is told of and left out."""
    _need(who, Right.ANSWER)
    notes: list[Note] = []
    meant: list[tuple[str, str, Given]] = []
    for entry in entries:
        question = named(entry.interrupt_id)
        row = None
        if question is not None:
            row = await backend.read(find_question, backend.journal, session, question.interrupt)
        if question is None or row is None or row.run != question.run:
            notes.append(Note(entry.interrupt_id, "unknown", text("web.agui.unknown", interrupt=entry.interrupt_id)))
            continue
        shown = card(row, who.principal)
        if shown.is_open:
            meant.append((entry.interrupt_id, question.interrupt, given(entry, question, shown)))
        else:
            notes.append(Note(entry.interrupt_id, "settled", shown.settled))
    for name, interrupt, answer in meant:
        try:
            told = await answering.give(backend, who.principal, session, interrupt, answer)
        except Refused as refused:
            notes.append(Note(name, refused.code, refused.message))
        else:
            notes.append(Note(name, told.outcome.value, told.message))
    return tuple(notes)


def _need(who: Visitor, right: Right) -> None:
    if not who.may(right):
        raise Refused(403, "not_allowed", text(f"web.may_not.{right.value}"))
