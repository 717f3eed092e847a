"""What an inbox shows, what a page of it has shown so far, and what has to change in it: nothing that hasn't changed.

So whatever somebody has typed or unfolded in one question stays while others come and go.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from opspilot.core.interrupts import Principal
from opspilot.journal.store import SqlJournal
from opspilot.web.asked import Card, card
from opspilot.web.questions import OPEN

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


def told_of(seen: list[Seen]) -> str:
    """What a page shows in one word, for its next request."""
    return ",".join(f"{each.session}~{each.run}~{each.interrupt}~{each.standing}~{each.answers}" for each in seen)


def seen_in(told: str) -> list[Seen]:
    """What `told_of` told; what isn't its is left out."""
    parts = (each.split("~") for each in told.split(","))
    return [Seen(*part) for part in parts if len(part) == 5]


@dataclass(frozen=True)
class Update:
    """`settled` can't be answered any more; of what is `changed` more is said, or others may answer it.

    `added` are new, neighbours together, each time with the card that they come before, or None at the end. `known` is
    what the page shows then.
    """

    settled: tuple[Card, ...]
    changed: tuple[Card, ...]
    added: tuple[tuple[tuple[Card, ...], Card | None], ...]
    known: list[Seen]

    @property
    def is_empty(self) -> bool:
        """Whether the page may stay as it is."""
        return not (self.settled or self.changed or self.added)


@dataclass(frozen=True)
class Inbox:
    """`cards` are the first of `count` questions that fit; `waiting` is how many there are whatever the filter."""

    cards: tuple[Card, ...]
    count: int
    waiting: int

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

    def _added(self, before: dict[tuple[str, str, str], Seen]) -> Iterator[tuple[tuple[Card, ...], Card | None]]:
        together: list[Card] = []
        for each in self.cards:
            if (each.question.session, each.question.run, each.question.interrupt) not in before:
                together.append(each)
            elif together:
                yield tuple(together), each
                together = []
        if together:
            yield tuple(together), None


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
