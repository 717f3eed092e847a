"""What each entry does to `sessions`, `runs`, `calls` and `drafts`, in the transaction that appends it.

Questions to people and what replies cost are brought up to date by `questions` and `spending`, which this calls.

Everything here follows from the entries and their order, so the tables can be computed again at any time. An entry
about a run or call that is not there changes nothing: the record is the truth, and its lists must not stand in its way.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, ScalarSelect, and_, case, func, insert, select, update

from opspilot.core.contract import Status
from opspilot.core.entries import VOID, Entry, Kind, assistant_key
from opspilot.core.messages import Json
from opspilot.core.observations import COUNTED_AS_FAILURE
from opspilot.core.sensitive import masked
from opspilot.journal import drafts, questions, spending, totals
from opspilot.journal.schema import calls, interrupts, runs, sessions

TITLE_CHARACTERS = 200


def apply(connection: Connection, entry: Entry) -> None:
    """Bring the tables up to date with one entry that has just been written; none of them has sensitive arguments."""
    entry = masked(entry)
    match entry.kind:
        case Kind.RUN_STARTED:
            _start(connection, entry)
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
                _call_moves(connection, entry, "started", number(entry.data.get("round")))
        case Kind.TOOL_RESULT:
            _settle_call(connection, entry)
        case Kind.INTERRUPT_OPENED:
            questions.apply(connection, entry)
            _call_asks(connection, entry)
        case Kind.RUN_STOPPED:
            _stop(connection, entry)
        case _:
            questions.apply(connection, entry)


def new_run(session: str, run: str, started_at: datetime, requester: str, name: str) -> dict[str, Json]:
    """The row of a run that begins. `started_at` is in UTC."""
    return {
        "session_id": session,
        "run_id": run,
        "requester": requester,
        "requester_name": name,
        "day": started_at.date(),
        "started_at": started_at,
    }


def summarise(connection: Connection, session: str, current_run: str, at: datetime | None = None) -> None:
    """Bring the session's own row up to date with its runs. `at` is the time of the latest of what happened, if new."""
    run = connection.execute(
        select(runs.c.stopped_at, runs.c.stop_reason, runs.c.model).where(
            runs.c.session_id == session, runs.c.run_id == current_run
        )
    ).one()
    waiting = connection.execute(
        select(func.count())
        .select_from(interrupts)
        .where(interrupts.c.session_id == session, interrupts.c.run_id == current_run, interrupts.c.state == "open")
    ).scalar_one()
    steps, tokens, cost = connection.execute(
        select(
            func.sum(runs.c.steps), func.sum(runs.c.input_tokens + runs.c.output_tokens), func.sum(runs.c.cost)
        ).where(runs.c.session_id == session)
    ).one()
    status = Status.DONE if run.stopped_at is not None else Status.WAITING if waiting else Status.RUNNING
    values: dict[str, Json] = {
        "status": status.value,
        "stop_reason": run.stop_reason,
        "current_run": current_run,
        "owner_name": func.coalesce(_owner_name(session), ""),
        "model": run.model,
        "waiting": waiting,
        "steps": int(steps),
        "tokens": int(tokens),
        "cost": None if cost is None else round(cost, spending.DIGITS),
    }
    if at is not None:
        values["updated_at"] = case((sessions.c.updated_at < at, at), else_=sessions.c.updated_at)
    connection.execute(update(sessions).where(sessions.c.id == session).values(values))


def _owner_name(session: str) -> ScalarSelect[str]:
    """What the owner was called in the latest run that they asked for; others may ask in their session."""
    return (
        select(runs.c.requester_name)
        .where(runs.c.session_id == session, runs.c.requester == sessions.c.owner, runs.c.requester_name != "")
        .order_by(runs.c.started_at.desc(), runs.c.run_id.desc())
        .limit(1)
        .correlate(sessions)
        .scalar_subquery()
    )


def searchable(session: str, title: str) -> str:
    """What a search over sessions looks into: id and title, with the difference of case removed in every script."""
    return f"{session}\n{title}".casefold()


def number(value: Json) -> int:
    """A count that an entry may lack."""
    return int(value or 0)


def _start(connection: Connection, entry: Entry) -> None:
    user = entry.data.get("user") or {}
    values = {"model": entry.data.get("model"), "requester": user.get("id"), "requester_name": user.get("name")}
    if known := {name: str(value) for name, value in values.items() if value}:
        connection.execute(update(runs).where(_this_run(entry)).values(known))


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


def _count_step(connection: Connection, entry: Entry) -> None:
    step = entry.step or 0
    if entry.key != assistant_key(entry.run, step, final=True):
        connection.execute(update(runs).where(_this_run(entry)).values(steps=_at_least(runs.c.steps, step)))
    spending.of_reply(connection, entry)
    drafts.land(connection, entry)


def _propose(connection: Connection, entry: Entry) -> None:
    run_started_at = connection.execute(select(runs.c.started_at).where(_this_run(entry))).scalar()
    if run_started_at is None:
        return
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
            run_started_at=run_started_at,
            proposed_at=entry.at,
        )
    )
    connection.execute(update(runs).where(_this_run(entry)).values(calls=runs.c.calls + 1))


def _call_moves(connection: Connection, entry: Entry, state: str, round_: int) -> None:
    if entry.call is not None:
        connection.execute(
            update(calls)
            .where(_this_call(entry), calls.c.state != "done")
            .values(state=state, rounds=_at_least(calls.c.rounds, round_))
        )


def _call_asks(connection: Connection, entry: Entry) -> None:
    connection.execute(update(runs).where(_this_run(entry)).values(interrupts=runs.c.interrupts + 1))
    round_ = str(entry.data["interrupt"]).partition("#")[2]
    _call_moves(connection, entry, "interrupted", int(round_ or 1))


def _settle_call(connection: Connection, entry: Entry) -> None:
    ok = bool(entry.data.get("ok"))
    code = entry.data.get("errorCode")
    failed = not ok and code in COUNTED_AS_FAILURE
    round_ = number(entry.data.get("round"))
    duration_ms: Json = entry.data.get("duration_ms")
    # A result without a time was written for a round that gave none.
    was_timed = round_ > 0 and duration_ms is not None and (ok or duration_ms > 0)
    went_well = ok if ok or failed else None
    took_ms = spending.three_digits(duration_ms) if was_timed else None
    settled = connection.execute(
        update(calls)
        .where(_this_call(entry), calls.c.state != "done")
        .values(
            state="done",
            ok=ok,
            went_well=went_well,
            error_code=code,
            duration_ms=duration_ms,
            took_ms=took_ms,
            rounds=_at_least(calls.c.rounds, round_),
            settled_at=entry.at,
        )
    )
    if settled.rowcount:
        connection.execute(
            update(runs)
            .where(_this_run(entry))
            .values(calls_ok=runs.c.calls_ok + int(ok), calls_failed=runs.c.calls_failed + int(failed))
        )
        tool = connection.execute(select(calls.c.tool).where(_this_call(entry))).scalar_one()
        totals.took(connection, totals.TOOL, tool, totals.outcome_of(went_well), took_ms)
    if entry.call is not None:
        questions.close(connection, entry, entry.call)


def _stop(connection: Connection, entry: Entry) -> None:
    connection.execute(
        update(runs)
        .where(_this_run(entry))
        .values(
            stopped_at=entry.at,
            stop_reason=entry.data.get("stop_reason"),
            steps=_at_least(runs.c.steps, number(entry.data.get("steps"))),
        )
    )
    spending.of_run(connection, entry)
    questions.close(connection, entry)
    drafts.drop(connection, entry.session, entry.run)


def _this_run(entry: Entry) -> ColumnElement[bool]:
    return and_(runs.c.session_id == entry.session, runs.c.run_id == entry.run)


def _this_call(entry: Entry) -> ColumnElement[bool]:
    return and_(calls.c.session_id == entry.session, calls.c.run_id == entry.run, calls.c.call == entry.call)


def _at_least(column: ColumnElement[int], value: int) -> ColumnElement[int]:
    return case((column < value, value), else_=column)
