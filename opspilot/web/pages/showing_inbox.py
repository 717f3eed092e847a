"""What an inbox shows, what a page of it has shown so far, and what has to change in it: nothing that hasn't changed.

So whatever somebody has typed or unfolded in one question stays while others come and go.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from opspilot.core.interrupts import Principal
from opspilot.journal.inbox import InboxPlace
from opspilot.journal.store import SqlJournal
from opspilot.texts.language import text
from opspilot.web.asked import Card, card
from opspilot.web.paging import last_seen
from opspilot.web.questions import OPEN
from opspilot.web.refusing import Refused

CLOSED = "closed"


@dataclass(frozen=True)
class Seen:
    """A question as a page shows it. `standing` changes with what is said of it, `answers` with what may be said."""

    session: str
    run: str
    interrupt: str
    standing: str
    answers: str

    @classmethod
    def of(cls, shown: Card) -> "Seen":
        """A card on the page."""
        row = shown.question
        return cls(row.session, row.run, row.interrupt, shown.version, shown.allowed)


def word_of(place: InboxPlace) -> str:
    """Where a page goes on, as a word in an address."""
    due = "" if place.due is None else place.due.isoformat()
    return f"{due}~{place.opened_at.isoformat()}~{place.seq}~{place.session}"


def place_in(word: str) -> InboxPlace | None:
    """What `word_of` made a word of; None for the first page. Raises `Refused` for what it never made."""
    if not word:
        return None
    due, _, rest = word.partition("~")
    opened_at, _, rest = rest.partition("~")
    seq, _, session = rest.partition("~")
    try:
        place = InboxPlace(_moment(due) if due else None, _moment(opened_at), session, last_seen(seq, -1))
    except (ValueError, OverflowError):
        place = None
    if place is None or place.seq < 0:
        raise Refused(422, "not_understood", text("ui.inbox.nowhere"))
    return place


def _moment(word: str) -> datetime:
    moment = datetime.fromisoformat(word)
    if moment.tzinfo is None:
        raise ValueError(word)
    return moment.astimezone(UTC)


def told_of(seen: list[Seen]) -> str:
    """What a page shows in one word, for its next request."""
    return ",".join(f"{each.session}~{each.run}~{each.interrupt}~{each.standing}~{each.answers}" for each in seen)


def seen_in(told: str) -> list[Seen]:
    """What `told_of` told; what isn't its is left out."""
    parts = (each.split("~") for each in told.split(","))
    return [Seen(*part) for part in parts if len(part) == 5]


@dataclass(frozen=True)
class Added:
    """Neighbours that are new, and the cards on the page that they come before or, at the end, after, if any."""

    cards: tuple[Card, ...]
    following: Card | None
    preceding: Card | None


@dataclass(frozen=True)
class Update:
    """`settled` can't be answered any more; of what is `changed` more is said, or others may answer it.

    `known` is what the page shows then.
    """

    settled: tuple[Card, ...]
    changed: tuple[Card, ...]
    added: tuple[Added, ...]
    known: list[Seen]

    @property
    def is_empty(self) -> bool:
        """Whether the page may stay as it is."""
        return not (self.settled or self.changed or self.added)


@dataclass(frozen=True)
class Inbox:
    """`cards` are one page of `count` questions that fit; `waiting` is how many there are whatever the filter.

    `next` is the word for where the next page begins, empty on the last one; `is_first`: these are the first ones.
    """

    cards: tuple[Card, ...]
    count: int
    waiting: int
    next: str = ""
    is_first: bool = True

    @property
    def around(self) -> tuple[int, int, str]:
        """What is said of the inbox beside its cards."""
        return self.count, self.waiting, self.next

    def since(self, known: list[Seen], journal: SqlJournal, who: Principal) -> Update:
        """What has to change in a page that shows `known`."""
        before = {(seen.session, seen.run, seen.interrupt): seen for seen in known}
        now = {(each.question.session, each.question.run, each.question.interrupt): each for each in self.cards}
        gone = {key: _found(journal, seen, who) for key, seen in before.items() if key not in now}
        return Update(
            settled=tuple(each for each in gone.values() if each is not None and not each.is_open),
            changed=tuple(each for key, each in now.items() if key in before and Seen.of(each) != before[key]),
            added=tuple(self._added(before)),
            known=[
                *map(Seen.of, self.cards),
                # Still open, but further down now, or somebody else's.
                *(before[key] for key, each in gone.items() if each is not None and each.is_open),
            ],
        )

    def _added(self, before: dict[tuple[str, str, str], Seen]) -> Iterator[Added]:
        together: list[Card] = []
        preceding: Card | None = None
        for each in self.cards:
            if (each.question.session, each.question.run, each.question.interrupt) not in before:
                together.append(each)
                continue
            if together:
                yield Added(tuple(together), each, preceding)
            together, preceding = [], each
        if together:
            yield Added(tuple(together), None, preceding)


def _found(journal: SqlJournal, seen: Seen, who: Principal) -> Card | None:
    """The question as it is now. One of a run that another has replaced can't be answered any more."""
    about = journal.session(seen.session)
    if about is None:
        return None
    questions = journal.interrupts(seen.session, seen.run)
    row = next((each for each in questions if each.interrupt == seen.interrupt), None)
    if row is not None and row.state == OPEN and about.current_run != seen.run:
        row = replace(row, state=CLOSED)
    return None if row is None else card(row, who)
