"""What each entry about a question to a person does to `interrupts`: opened, agreed to, escalated, settled, closed."""

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, insert, select, update

from opspilot.core.entries import Entry, Kind
from opspilot.core.errors import JournalError
from opspilot.core.messages import Json
from opspilot.core.terms import Terms
from opspilot.journal.schema import interrupts

UNRULED = Terms()
"""The terms of a question whose entry names none."""


def apply(connection: Connection, entry: Entry) -> None:
    """Bring the table up to date with one entry that has just been written. Most are about something else."""
    match entry.kind:
        case Kind.INTERRUPT_OPENED:
            _open(connection, entry)
        case Kind.INTERRUPT_APPROVED:
            _approve(connection, entry)
        case Kind.INTERRUPT_REMINDED | Kind.INTERRUPT_ESCALATED:
            _climb(connection, entry)
        case Kind.INTERRUPT_ANSWERED | Kind.INTERRUPT_EXPIRED:
            _settle(connection, entry)
        case _:
            pass


def close(connection: Connection, entry: Entry, call: str | None = None) -> None:
    """The call, or the whole run, ended without a reply to what is still open."""
    where = [interrupts.c.session_id == entry.session, interrupts.c.run_id == entry.run, interrupts.c.state == "open"]
    if call is not None:
        where.append(interrupts.c.call == call)
    connection.execute(update(interrupts).where(*where).values(state="closed", settled_at=entry.at))


def _open(connection: Connection, entry: Entry) -> None:
    data = entry.data
    interrupt = _interrupt_id(entry)
    terms = data.get("terms") or {}
    connection.execute(
        insert(interrupts).values(
            session_id=entry.session,
            run_id=entry.run,
            interrupt=interrupt,
            seq=entry.seq,
            call=interrupt.partition("#")[0],
            kind=str(data.get("kind", "")),
            reason=str(data.get("reason", "")),
            payload=data.get("payload"),
            tool=str(data.get("tool", "")),
            arguments=data.get("arguments"),
            schema=data.get("schema") or {},
            digest=str(data.get("digest", "")),
            rule=str(data.get("rule") or ""),
            risk=str(data.get("risk") or UNRULED.risk),
            role=str(data.get("role") or UNRULED.role),
            quorum=int(data.get("quorum") or UNRULED.quorum),
            requester=str(data.get("requester") or ""),
            not_requester=bool(terms.get("not_requester", UNRULED.not_requester)),
            approvals=[],
            due=_moment(entry, "due"),
            state="open",
            opened_at=entry.at,
            asks_again=False,
        )
    )


def _approve(connection: Connection, entry: Entry) -> None:
    given = connection.execute(select(interrupts.c.approvals).where(_this_question(entry))).scalar()
    if given is not None:
        approval = {
            "by": str(entry.data.get("by") or ""),
            "name": str(entry.data.get("name") or ""),
            "at": entry.at.isoformat(),
            "comment": str(entry.data.get("comment") or ""),
        }
        connection.execute(update(interrupts).where(_this_question(entry)).values(approvals=[*given, approval]))


def _climb(connection: Connection, entry: Entry) -> None:
    values: dict[str, Json] = {"reminded_at": entry.at}
    if entry.kind is Kind.INTERRUPT_ESCALATED:
        values = {"escalated_at": entry.at, "escalated_role": str(entry.data.get("role") or "")}
    connection.execute(update(interrupts).where(_this_question(entry)).values(values))


def _settle(connection: Connection, entry: Entry) -> None:
    # A question that was merely closed may still get the reply that was on its way; a reply is never replaced.
    answered = entry.kind is Kind.INTERRUPT_ANSWERED
    connection.execute(
        update(interrupts)
        .where(_this_question(entry), interrupts.c.state.in_(("open", "closed")))
        .values(
            state="answered" if answered else "expired",
            settled_at=entry.at,
            action=entry.data.get("action"),
            by=entry.data.get("by"),
            name=entry.data.get("name"),
            method=entry.data.get("method"),
            comment=entry.data.get("comment"),
            asks_again=bool(entry.data.get("asks_again")),
        )
    )


def _this_question(entry: Entry) -> ColumnElement[bool]:
    return and_(
        interrupts.c.session_id == entry.session,
        interrupts.c.run_id == entry.run,
        interrupts.c.interrupt == _interrupt_id(entry),
    )


def _moment(entry: Entry, name: str) -> datetime | None:
    text = entry.data.get(name)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is None:
        raise JournalError(
            f"Entry {entry.key} of session {entry.session}: `{name}` must be an ISO time with its zone, not {text!r}."
        )
    return moment


def _interrupt_id(entry: Entry) -> str:
    interrupt = entry.data.get("interrupt")
    if not isinstance(interrupt, str):
        raise JournalError(f"Entry {entry.key} of session {entry.session} doesn't say which interrupt it is about.")
    return interrupt
