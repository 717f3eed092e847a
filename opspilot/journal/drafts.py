"""Text that a model is still producing: one row per open model call, fenced so that nothing late is shown."""

from sqlalchemy import Connection, delete, insert, select, update

from opspilot.core.entries import Entry, assistant_key
from opspilot.core.ports import Draft
from opspilot.journal.schema import calls, drafts, entries


def put(connection: Connection, session: str, draft: Draft) -> None:
    """Write or overwrite, unless the draft comes too late: a later attempt is writing, or its message is there."""
    if _landed(connection, session, draft):
        return
    here = (drafts.c.session_id == session, drafts.c.run_id == draft.run, drafts.c.step == draft.step)
    attempt = connection.execute(select(drafts.c.attempt).where(*here)).scalar()
    if attempt is None:
        row = {"session_id": session, "run_id": draft.run, "step": draft.step}
        connection.execute(insert(drafts).values(**row, attempt=draft.attempt, text=draft.text))
    elif attempt <= draft.attempt:
        connection.execute(update(drafts).where(*here).values(attempt=draft.attempt, text=draft.text))


def land(connection: Connection, message: Entry) -> None:
    """Drop the draft that has become this message, and what may be left of earlier steps."""
    connection.execute(
        delete(drafts).where(
            drafts.c.session_id == message.session, drafts.c.run_id == message.run, drafts.c.step <= (message.step or 0)
        )
    )


def drop(connection: Connection, session: str, run: str | None = None) -> None:
    """Drop all drafts of a session, or of one run of it."""
    query = delete(drafts).where(drafts.c.session_id == session)
    connection.execute(query if run is None else query.where(drafts.c.run_id == run))


def in_progress(connection: Connection, session: str) -> tuple[Draft, ...]:
    """The session's drafts, by step."""
    query = select(drafts).where(drafts.c.session_id == session).order_by(drafts.c.run_id, drafts.c.step)
    return tuple(Draft(row.run_id, row.step, row.attempt, row.text) for row in connection.execute(query))


def _landed(connection: Connection, session: str, draft: Draft) -> bool:
    # The tool-free turn at a limit has the number of the step before it, and begins when that step's calls are settled.
    reply, last_turn = (assistant_key(draft.run, draft.step, final=final) for final in (False, True))
    there = set(
        connection.execute(
            select(entries.c.key).where(entries.c.session_id == session, entries.c.key.in_((reply, last_turn)))
        ).scalars()
    )
    if last_turn in there or reply not in there:
        return last_turn in there
    open_call = (
        select(calls.c.call)
        .where(calls.c.session_id == session, calls.c.run_id == draft.run, calls.c.state != "done")
        .limit(1)
    )
    return connection.execute(open_call).first() is not None
