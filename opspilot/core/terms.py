"""On which terms a person is asked: who may agree, how many of them, and what happens while nobody does.

Times are seconds; moments are seconds since the epoch, by the workflow's clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from opspilot.core.messages import Json


class RungKind(StrEnum):
    """What a question does when it has waited for so long."""

    REMIND = "remind"
    ESCALATE = "escalate"
    EXPIRE = "expire"


@dataclass(frozen=True)
class Rung:
    """One rung of a ladder, and when. `role` is whom an escalation reaches; an expiry that `stops` ends the run."""

    kind: RungKind
    after_seconds: float
    role: str = ""
    stops: bool = False


Ladder: TypeAlias = tuple[Rung, ...]
"""Earliest first. Nothing comes after an expiry."""


class Risk(StrEnum):
    """How much is at stake, as a rule says; people sort their inbox by it."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True)
class Terms:
    """What a rule asks of an approval. No `role`: anybody; a `quorum` counts different people.

    `not_requester`: who asked for the run may not approve what it does.
    """

    role: str = ""
    quorum: int = 1
    not_requester: bool = False
    risk: Risk = Risk.MEDIUM
    ladder: Ladder = ()

    @property
    def expires_after_seconds(self) -> float | None:
        """How long a person has; None: for ever."""
        return next((rung.after_seconds for rung in self.ladder if rung.kind is RungKind.EXPIRE), None)


def terms_of(data: Mapping[str, Json]) -> Terms:
    """The terms that a journal entry holds as `asdict` made them; without any, those of a question nobody ruled on."""
    if not data:
        return Terms()
    ladder = tuple(
        Rung(RungKind(rung["kind"]), rung["after_seconds"], rung["role"], rung["stops"]) for rung in data["ladder"]
    )
    return Terms(data["role"], data["quorum"], data["not_requester"], Risk(data["risk"]), ladder)


@dataclass(frozen=True)
class Wait:
    """How long a question has waited, and how much of its ladder it has climbed."""

    since: float
    ladder: Ladder = ()
    climbed: int = 0

    @property
    def next_rung(self) -> Rung | None:
        """What comes next if nobody says anything."""
        return self.ladder[self.climbed] if self.climbed < len(self.ladder) else None

    @property
    def next_at(self) -> float | None:
        """When that is."""
        rung = self.next_rung
        return None if rung is None else self.since + rung.after_seconds

    @property
    def expires_at(self) -> float | None:
        """When it is too late for an answer."""
        return next((self.since + rung.after_seconds for rung in self.ladder if rung.kind is RungKind.EXPIRE), None)
