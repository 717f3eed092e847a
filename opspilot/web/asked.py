"""A question to people as one person sees it: what it would do, why, what they may say to it, and how it stands.

For the inbox, the session's page and the question's own page alike. Knows nothing of requests; asks no journal.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from urllib.parse import quote

from opspilot.core.calls import digest
from opspilot.core.interrupts import AnswerAction, InterruptType, Principal
from opspilot.core.messages import Json
from opspilot.journal.queries import InterruptRow
from opspilot.outward import shown
from opspilot.redaction import redact
from opspilot.texts.endings import asked, is_about_limit
from opspilot.texts.language import text
from opspilot.web.forms.fields import Field, asked_fields, fields_of
from opspilot.web.people.rights import APPROVER, answers_of
from opspilot.web.questions import OPEN, settled_sentence

FREE_TEXT = "answer"
"""The field that a question without named fields is answered in."""
ABOUT_THE_FORM = frozenset({"fields", "options", "schema"})


@dataclass(frozen=True)
class Card:
    """`question` as `who` may see it; `said` is what the model wrote in the step that led to it."""

    question: InterruptRow
    who: Principal
    answers: tuple[AnswerAction, ...]
    said: str = ""

    @property
    def id(self) -> str:
        """Of its element: unlike any other question's on a page."""
        return question_id(self.question.session, self.question.run, self.question.interrupt)

    @property
    def address(self) -> str:
        """The page of this question, and where answers to it go."""
        return question_address(self.question.session, self.question.interrupt)

    @property
    def place(self) -> str:
        """Where it stands in its session."""
        where = quote(self.question.interrupt, safe="")
        return f"/sessions/{quote(self.question.session, safe='')}#{where}"

    @property
    def _payload(self) -> Mapping[str, Json]:
        payload = self.question.payload
        return payload if isinstance(payload, Mapping) else {}

    @property
    def is_open(self) -> bool:
        """Whether it can still be answered."""
        return self.question.state == OPEN

    @property
    def confirms(self) -> bool:
        """Whether it wants an agreement."""
        return self.question.kind == InterruptType.CONFIRM_RISKY

    @property
    def is_about_limit(self) -> bool:
        """Whether it asks if the run may go on beyond a limit."""
        return is_about_limit({"interrupt": self.question.interrupt})

    @property
    def may_approve(self) -> bool:
        """Whether they may agree."""
        return AnswerAction.APPROVE in self.answers

    @property
    def may_reject(self) -> bool:
        """Whether they may turn it down."""
        return AnswerAction.REJECT in self.answers

    @property
    def may_provide(self) -> bool:
        """Whether they may change the arguments, or give the values that it asks for."""
        return AnswerAction.PROVIDE in self.answers

    @property
    def is_for_you(self) -> bool:
        """Whether it waits for them."""
        return is_for(self.who, self.question)

    @property
    def sentence(self) -> str:
        """What is asked, in a sentence."""
        return asked(asdict(self.question))

    @property
    def arguments(self) -> Mapping[str, Json]:
        """What the call would be made with. A question for information is asked, not done."""
        given = self.question.arguments
        shows = isinstance(given, Mapping) and not self.is_about_limit and self.question.kind != InterruptType.QUESTION
        return given if shows else {}

    @property
    def extras(self) -> Mapping[str, Json]:
        """What the tool shows beside the arguments, which tools tend to repeat."""
        return {
            name: value
            for name, value in self._payload.items()
            if name not in ABOUT_THE_FORM and value != self.arguments.get(name)
        }

    @property
    def schema(self) -> Mapping[str, Json]:
        """Of the arguments that may be changed, or of the values that are asked for."""
        found = self.question.schema if self.confirms else self._payload.get("schema")
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The form: of the arguments that may be changed, or of the values that are asked for."""
        if self.confirms:
            return fields_of(self.schema, self.arguments)
        named = self._payload.get("fields")
        names = [str(name) for name in named] if isinstance(named, list) and named else [FREE_TEXT]
        return asked_fields(names, self.schema, self._payload.get("options"))

    @property
    def settled(self) -> str:
        """Who settled it and how."""
        return settled_sentence(self.question)

    @property
    def standing(self) -> str:
        """Whom an open question waits for, as the one who looks is told."""
        if self.is_for_you:
            return text("ui.waits.you")
        roles = " / ".join(self.question.roles or (APPROVER,))
        if self.who.id in [approval.by for approval in self.question.approvals]:
            return text("ui.waits.others", roles=roles)
        return text("ui.waits.role", roles=roles)

    @property
    def allowed(self) -> str:
        """What they may say, in a word: a card with another word has to be replaced."""
        return "".join(action.value[0] for action in self.answers) or "-"

    @property
    def version(self) -> str:
        """Changes whenever the card would look different to the same person, but for the time."""
        row = self.question
        how = [row.state, len(row.approvals), list(row.roles), str(row.reminded_at), str(row.escalated_at)]
        return digest(how)[:8]


def is_for(who: Principal, question: InterruptRow) -> bool:
    """Whether they can move it on. Who asked may turn down what others decide, but isn't waited for."""
    answers = answers_of(who, question)
    fills_in = AnswerAction.PROVIDE in answers and question.kind != InterruptType.CONFIRM_RISKY
    return AnswerAction.APPROVE in answers or fills_in


def card(question: InterruptRow, who: Principal, said: str = "") -> Card:
    """The question as this person may see it: who may not answer it sees no secrets that its arguments may hold."""
    seen = shown(question)
    answers = answers_of(who, question)
    if not answers:
        hidden = {name: redact(getattr(seen, name)) for name in ("payload", "arguments", "reason")}
        seen = replace(seen, **hidden)
    return Card(replace(seen, title=redact(seen.title)), who, answers, redact(said))


def question_id(session: str, run: str, interrupt: str) -> str:
    """A name for an element, of letters and digits: sessions and questions have other characters in theirs."""
    whole = f"{session}\n{run}\n{interrupt}".encode("utf-8", "surrogatepass")
    return f"q{hashlib.blake2b(whole, digest_size=8).hexdigest()}"


def question_address(session: str, interrupt: str) -> str:
    """The path of a question's page."""
    return f"/sessions/{quote(session, safe='')}/questions/{quote(interrupt, safe='')}"
