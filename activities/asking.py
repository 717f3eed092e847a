"""The activities about questions apart from their answers: one about a limit, and what waiting too long means."""

import asyncio
from datetime import UTC, datetime

from temporalio import activity

from activities.failures import journal_failures
from opspilot.core.calls import INTERRUPT, limit_interrupt
from opspilot.core.contract import Asked, AskToGoOn, Climb, Done
from opspilot.core.entries import (
    Entry,
    Kind,
    NewEntry,
    answered_key,
    climbed_key,
    interrupt_key,
    started_key,
)
from opspilot.core.errors import JournalBehind
from opspilot.core.interrupts import InterruptType
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.outcomes import asked, result_entry
from opspilot.core.ports import Journal
from opspilot.core.terms import RungKind, Terms
from opspilot.core.verdicts import Asking, interrupt_data

KINDS = {
    RungKind.REMIND: Kind.INTERRUPT_REMINDED,
    RungKind.ESCALATE: Kind.INTERRUPT_ESCALATED,
    RungKind.EXPIRE: Kind.INTERRUPT_EXPIRED,
}


class AskingActivities:
    """Holds the journal, and the terms on which a question about a limit is asked."""

    def __init__(self, journal: Journal, terms: Terms) -> None:
        self._journal = journal
        self._terms = terms

    @activity.defn
    async def ask_to_go_on(self, order: AskToGoOn) -> Asked:
        """Ask whether the run may go on beyond a limit."""
        session = activity.info().workflow_id
        assert session is not None
        with journal_failures():
            return asked(await asyncio.to_thread(self._ask, session, order))

    def _ask(self, session: str, order: AskToGoOn) -> Entry:
        key = started_key(order.run)
        started = self._journal.find(session, [key]).get(key)
        if started is None:
            raise JournalBehind("The journal does not know that this run started.")
        at = datetime.fromtimestamp(order.at, UTC)
        interrupt = limit_interrupt(order.nth)
        question = interrupt_data(
            order.run,
            interrupt,
            "",
            _asked_for(order),
            kind=InterruptType.CONFIRM_RISKY,
            reason=order.question,
            asking=Asking("limit", self._terms, started.data["user"]["id"], at),
        )
        call, _, nth = interrupt.partition("#")
        entry = NewEntry(interrupt_key(order.run, call, int(nth)), Kind.INTERRUPT_OPENED, at, question)
        (written,) = self._journal.append(session, order.run, [entry])
        return written

    @activity.defn
    async def climb(self, order: Climb) -> Done:
        """Record that a question was reminded of, that others are asked, or that nobody decided in time.

        With an expiry its call gets its observation; both are written under the key of an answer, so there is one end.
        """
        session = activity.info().workflow_id
        assert session is not None
        with journal_failures():
            await asyncio.to_thread(self._climb, session, order)
        return Done()

    def _climb(self, session: str, order: Climb) -> None:
        at = datetime.fromtimestamp(order.at, UTC)
        name = INTERRUPT.fullmatch(order.interrupt)
        assert name is not None
        call = name[1] if "." in name[1] else None
        kind = KINDS[order.kind]
        data: dict[str, Json] = {"interrupt": order.interrupt}
        if kind is Kind.INTERRUPT_ESCALATED:
            data["role"] = order.role
        if kind is Kind.INTERRUPT_EXPIRED:
            data["stops"] = order.stops
        expires = kind is Kind.INTERRUPT_EXPIRED
        key = answered_key(order.run, order.interrupt) if expires else climbed_key(order.run, order.interrupt, kind)
        step = int(call.partition(".")[0]) if call else None
        entries = [NewEntry(key, kind, at, data, step, call)]
        if expires and call is not None:
            entries.append(result_entry(order.run, call, 0, Observation.failure(ErrorCode.APPROVAL_EXPIRED), at))
        self._journal.append(session, order.run, entries, whole=True)


def _asked_for(order: AskToGoOn) -> dict[str, Json]:
    """What an approval is for: so much more of a limit, or each budget up to so much."""
    figures = {grant.budget.value: grant.up_to for grant in order.grants}
    if order.more is not None:
        figures["more"] = order.more
    # A float with nothing behind the point is a count that came through JSON.
    whole = {name: int(figure) if figure == int(figure) else figure for name, figure in figures.items()}
    return {"limit": order.reason.value, **whole}
