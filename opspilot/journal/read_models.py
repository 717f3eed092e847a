"""What each entry does to `sessions`, `runs`, `calls`, `interrupts` and `drafts`, in the transaction that appends it.

Everything here follows from the entries and their order, so the tables can be computed again at any time. An entry
about a run or call that is not there changes nothing: the record is the truth, and its lists must not stand in its way.
"""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, case, func, insert, select, update

from opspilot.core.contract import Status
from opspilot.core.entries import VOID, Entry, Kind, assistant_key
from opspilot.core.errors import JournalError
from opspilot.core.messages import Json
from opspilot.core.observations import COUNTED_AS_FAILURE
from opspilot.journal import drafts
from opspilot.journal.schema import calls, interrupts, runs, sessions

TITLE_CHARACTERS = 200


def apply(connection: Connection, entry: Entry) -> None:
    """Bring the tables up to date with one entry that has just been written."""
    match entry.kind:
        case Kind.USER_MESSAGE:
            _reopen(connection, entry)
            _name_session(connection, entry)
        case Kind.ASSISTANT_MESSAGE:
            _reopen(connection, entry)
            _count_step(connection, entry)
        case Kind.TOOL_CALL:
            _propose(connection, entry)
        case Kind.TOOL_STARTED:
            if not entry.data.get(VOID):
                _call_moves(connection, entry, "started", _number(entry.data.get("round")))
        case Kind.TOOL_RESULT:
            _settle_call(connection, entry)
        case Kind.INTERRUPT_OPENED:
            _open_interrupt(connection, entry)
        case Kind.INTERRUPT_ANSWERED | Kind.INTERRUPT_EXPIRED:
            _settle_interrupt(connection, entry)
        case Kind.RUN_STOPPED:
            _stop(connection, entry)
        case _:
            pass


def summarise(connection: Connection, session: str, current_run: str, at: datetime) -> None:
    """Bring the session's own row up to date with its runs. `at` is the time of the latest of what happened."""
    stopped_at, stop_reason = connection.execute(
        select(runs.c.stopped_at, runs.c.stop_reason).where(runs.c.session_id == session, runs.c.run_id == current_run)
    ).one()
    status = Status.DONE if stopped_at is not None else Status.RUNNING
    if (
        status is Status.RUNNING
        and connection.execute(
            select(interrupts.c.interrupt)
            .where(interrupts.c.session_id == session, interrupts.c.run_id == current_run, interrupts.c.state == "open")
            .limit(1)
        ).first()
    ):
        status = Status.WAITING
    steps, tokens = connection.execute(
        select(func.sum(runs.c.steps), func.sum(runs.c.tokens)).where(runs.c.session_id == session)
    ).one()
    connection.execute(
        update(sessions)
        .where(sessions.c.id == session)
        .values(
            status=status.value,
            stop_reason=stop_reason,
            current_run=current_run,
            updated_at=case((sessions.c.updated_at < at, at), else_=sessions.c.updated_at),
            steps=int(steps),
            tokens=int(tokens),
        )
    )


def _reopen(connection: Connection, entry: Entry) -> None:
    # A message that came while the run was closing: it goes on, and stops again later.
    connection.execute(
        update(runs).where(_this_run(entry), runs.c.stopped_at.is_not(None)).values(stopped_at=None, stop_reason=None)
    )


def _name_session(connection: Connection, entry: Entry) -> None:
    title = str(entry.data.get("text", ""))[:TITLE_CHARACTERS]
    connection.execute(
        update(sessions)
        .where(sessions.c.id == entry.session, sessions.c.title == "")
        .values(title=title, searchable=searchable(entry.session, title))
    )


def searchable(session: str, title: str) -> str:
    """What a search over sessions looks into: id and title, with the difference of case removed in every script."""
    return f"{session}\n{title}".casefold()


def _count_step(connection: Connection, entry: Entry) -> None:
    step = entry.step or 0
    last_turn = entry.key == assistant_key(entry.run, step, final=True)
    usage = entry.data.get("usage") or {}
    connection.execute(
        update(runs)
        .where(_this_run(entry))
        .values(
            steps=runs.c.steps if last_turn else _at_least(runs.c.steps, step),
            tokens=runs.c.tokens + _tokens(usage),
        )
    )
    drafts.land(connection, entry)


def _propose(connection: Connection, entry: Entry) -> None:
    connection.execute(
        insert(calls).values(
            session_id=entry.session,
            run_id=entry.run,
            call=entry.call,
            seq=entry.seq,
            step=entry.step,
            tool=str(entry.data.get("name", "")),
            effect=str(entry.data.get("effect", "write")),
            gate=str(entry.data.get("gate", "")),
            rule=str(entry.data.get("rule", "")),
            state="proposed",
            proposed_at=entry.at,
        )
    )
    connection.execute(update(runs).where(_this_run(entry)).values(calls=runs.c.calls + 1))


def _call_moves(connection: Connection, entry: Entry, state: str, round_: int) -> None:
    connection.execute(
        update(calls)
        .where(_this_call(entry), calls.c.state != "done")
        .values(state=state, rounds=_at_least(calls.c.rounds, round_))
    )


def _settle_call(connection: Connection, entry: Entry) -> None:
    ok = bool(entry.data.get("ok"))
    code = entry.data.get("errorCode")
    settled = connection.execute(
        update(calls)
        .where(_this_call(entry), calls.c.state != "done")
        .values(
            state="done",
            ok=ok,
            error_code=code,
            duration_ms=entry.data.get("duration_ms"),
            rounds=_at_least(calls.c.rounds, _number(entry.data.get("round"))),
            settled_at=entry.at,
        )
    )
    if settled.rowcount:
        failed = not ok and code in COUNTED_AS_FAILURE
        connection.execute(
            update(runs)
            .where(_this_run(entry))
            .values(calls_ok=runs.c.calls_ok + int(ok), calls_failed=runs.c.calls_failed + int(failed))
        )
    connection.execute(
        update(interrupts)
        .where(
            interrupts.c.session_id == entry.session,
            interrupts.c.run_id == entry.run,
            interrupts.c.call == entry.call,
            interrupts.c.state == "open",
        )
        .values(state="closed", settled_at=entry.at)
    )


def _open_interrupt(connection: Connection, entry: Entry) -> None:
    interrupt = _interrupt_id(entry)
    call, _, round_ = interrupt.partition("#")
    connection.execute(
        insert(interrupts).values(
            session_id=entry.session,
            run_id=entry.run,
            interrupt=interrupt,
            seq=entry.seq,
            call=call,
            kind=str(entry.data.get("kind", "")),
            reason=str(entry.data.get("reason", "")),
            payload=entry.data.get("payload"),
            role=str(entry.data.get("role") or ""),
            due=_moment(entry, "due"),
            tool=str(entry.data.get("tool", "")),
            arguments=entry.data.get("arguments"),
            digest=str(entry.data.get("digest", "")),
            state="open",
            opened_at=entry.at,
        )
    )
    connection.execute(update(runs).where(_this_run(entry)).values(interrupts=runs.c.interrupts + 1))
    _call_moves(connection, entry, "interrupted", int(round_ or 1))


def _settle_interrupt(connection: Connection, entry: Entry) -> None:
    # A question that was merely closed may still get the reply that was on its way; a reply is never replaced.
    answered = entry.kind is Kind.INTERRUPT_ANSWERED
    connection.execute(
        update(interrupts)
        .where(
            interrupts.c.session_id == entry.session,
            interrupts.c.run_id == entry.run,
            interrupts.c.interrupt == _interrupt_id(entry),
            interrupts.c.state.in_(("open", "closed")),
        )
        .values(
            state="answered" if answered else "expired",
            settled_at=entry.at,
            action=entry.data.get("action"),
            by=entry.data.get("by"),
            comment=entry.data.get("comment"),
        )
    )


def _stop(connection: Connection, entry: Entry) -> None:
    connection.execute(
        update(runs)
        .where(_this_run(entry))
        .values(
            stopped_at=entry.at,
            stop_reason=entry.data.get("stop_reason"),
            steps=_at_least(runs.c.steps, _number(entry.data.get("steps"))),
            tokens=_at_least(runs.c.tokens, _tokens(entry.data.get("usage") or {})),
        )
    )
    connection.execute(
        update(interrupts)
        .where(interrupts.c.session_id == entry.session, interrupts.c.run_id == entry.run, interrupts.c.state == "open")
        .values(state="closed", settled_at=entry.at)
    )
    drafts.drop(connection, entry.session, entry.run)


def _this_run(entry: Entry) -> ColumnElement[bool]:
    return and_(runs.c.session_id == entry.session, runs.c.run_id == entry.run)


def _this_call(entry: Entry) -> ColumnElement[bool]:
    return and_(calls.c.session_id == entry.session, calls.c.run_id == entry.run, calls.c.call == entry.call)


def _at_least(column: ColumnElement[int], value: int) -> ColumnElement[int]:
    return case((column < value, value), else_=column)


def _tokens(usage: Mapping[str, Json]) -> int:
    return _number(usage.get("input_tokens")) + _number(usage.get("output_tokens"))


def _number(value: Json) -> int:
    return int(value or 0)


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
