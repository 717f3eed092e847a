"""What became of an answer, as the journal tells it: for the command line and the web server alike."""

from dataclasses import dataclass
from enum import StrEnum

from opspilot.core.entries import answer_ignored_key, answered_key, approved_key
from opspilot.core.interrupts import Answer
from opspilot.core.ports import Journal
from opspilot.journal.queries import InterruptRow
from opspilot.texts.endings import is_about_limit
from opspilot.texts.language import counted, text
from opspilot.texts.objections import objection


class Outcome(StrEnum):
    """`kept`: no worker is up, the next one judges it; `given`: the run has it and has not judged it yet."""

    SETTLED = "settled"
    COUNTED = "counted"
    ASKED_AGAIN = "asked_again"
    IGNORED = "ignored"
    KEPT = "kept"
    GIVEN = "given"


@dataclass(frozen=True)
class Fate:
    """What whoever answered is told. `approvals` of `quorum` people have agreed."""

    outcome: Outcome
    message: str
    approvals: int = 0
    quorum: int = 1


def fate_of(journal: Journal, question: InterruptRow, answer: Answer) -> Fate | None:
    """What the journal says of this very answer to this question; None: nothing yet."""
    run, name, quorum = question.run, question.interrupt, question.quorum
    ended, ignored = answered_key(run, name), answer_ignored_key(run, name, answer.id)
    agreed = [approved_key(run, name, nth) for nth in range(1, quorum + 1)]
    found = journal.find(question.session, [ended, ignored, *agreed])
    given = [found[key] for key in agreed if key in found]
    if ended in found and found[ended].data.get("answer_id") == answer.id:
        if found[ended].data.get("asks_again"):
            return Fate(Outcome.ASKED_AGAIN, text("told.asked_again"))
        limit = is_about_limit({"interrupt": name})
        said = text(f"told.limit.{answer.action}" if limit else f"told.{answer.action}")
        return Fate(Outcome.SETTLED, said, quorum, quorum)
    if answer.id in [entry.data.get("answer_id") for entry in given]:
        said = text("told.agreed", agreed=len(given), quorum=quorum) + counted("told.more", max(quorum - len(given), 1))
        return Fate(Outcome.COUNTED, said, len(given), quorum)
    if ignored in found:
        return not_taken(question, str(found[ignored].data.get("message") or ""))
    return None


def not_taken(question: InterruptRow, why: str) -> Fate:
    """An answer that was no good, and changed nothing."""
    return Fate(Outcome.IGNORED, text("told.ignored", why=objection(why)), len(question.approvals), question.quorum)
