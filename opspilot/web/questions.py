"""One question to people, found by its name in what the journal lists, and how it ended in a sentence."""

from opspilot.journal.queries import InterruptRow
from opspilot.journal.store import SqlJournal
from opspilot.outward import shown
from opspilot.texts.language import text

OPEN = "open"


def find_question(journal: SqlJournal, session: str, interrupt: str) -> InterruptRow | None:
    """A question of the session's current run, open or settled; None when there is no such."""
    about = journal.session(session)
    asked = journal.interrupts(session, about.current_run) if about is not None else ()
    return next((shown(question) for question in asked if question.interrupt == interrupt), None)


def settled_sentence(question: InterruptRow) -> str:
    """Who settled it and how, for a question that is not open: `Alice has approved this already. They said: …`."""
    how = question.action if question.state == "answered" and question.action else question.state
    comment = text("web.settled.comment", comment=question.comment) if question.comment else ""
    return text(f"web.settled.{how}", who=question.name or question.by or "") + comment
