"""What the earlier runs of a session left half-finished, read from the tables.

What to do about it is decided elsewhere.
"""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection, select, tuple_

from opspilot.core.entries import VOID, Kind
from opspilot.core.ports import Leftovers, OpenCall
from opspilot.journal.schema import calls, entries, interrupts, runs


def leftovers(connection: Connection, session: str, current_run: str) -> Leftovers:
    """Open calls, open questions and unstopped runs of every run of the session but the current one, oldest first.

    A run that stopped and then went on for a late message counts as unstopped until it stops again.
    """
    earlier = runs.c.run_id != current_run
    unstopped = connection.execute(
        select(runs.c.run_id)
        .where(runs.c.session_id == session, earlier, runs.c.stopped_at.is_(None))
        .order_by(runs.c.started_at, runs.c.run_id)
    ).scalars()
    open_calls = connection.execute(
        select(calls.c.run_id, calls.c.call, calls.c.tool, calls.c.effect)
        .where(calls.c.session_id == session, calls.c.run_id != current_run, calls.c.state != "done")
        .order_by(calls.c.seq)
    ).all()
    questions = connection.execute(
        select(interrupts.c.run_id, interrupts.c.interrupt)
        .where(interrupts.c.session_id == session, interrupts.c.run_id != current_run, interrupts.c.state == "open")
        .order_by(interrupts.c.seq)
    ).all()
    started, interrupted = _rounds(connection, session, [(run, call) for run, call, _, _ in open_calls])
    return Leftovers(
        calls=tuple(
            OpenCall(
                run=run,
                call=call,
                tool=tool,
                effect=effect,
                started_rounds=tuple(sorted(started[run, call])),
                interrupted_rounds=tuple(sorted(interrupted[run, call])),
            )
            for run, call, tool, effect in open_calls
        ),
        interrupts=tuple((run, interrupt) for run, interrupt in questions),
        runs=tuple(unstopped),
    )


_Rounds = defaultdict[tuple[str, str], set[int]]


def _rounds(connection: Connection, session: str, of_calls: Sequence[tuple[str, str]]) -> tuple[_Rounds, _Rounds]:
    """The rounds that started, and those whose last word is a question.

    A call that is held before it runs asks first and starts later, in one and the same round: that round didn't end in
    an interrupt, and a write in it may have happened. A start marked `void` was no start: it was written to make
    sure that there is none.
    """
    started: _Rounds = defaultdict(set)
    interrupted: _Rounds = defaultdict(set)
    if not of_calls:
        return started, interrupted
    for run, call, kind, data in connection.execute(
        select(entries.c.run_id, entries.c.call, entries.c.kind, entries.c.data)
        .where(
            entries.c.session_id == session,
            entries.c.kind.in_((Kind.TOOL_STARTED, Kind.INTERRUPT_OPENED)),
            tuple_(entries.c.run_id, entries.c.call).in_(of_calls),
        )
        .order_by(entries.c.seq)
    ):
        if kind == Kind.TOOL_STARTED and data.get(VOID):
            continue
        if kind == Kind.TOOL_STARTED:
            round_ = int(data.get("round") or 1)
            started[run, call].add(round_)
            interrupted[run, call].discard(round_)
        else:
            interrupted[run, call].add(int(str(data["interrupt"]).partition("#")[2] or 1))
    return started, interrupted
