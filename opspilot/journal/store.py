"""The journal itself: `SqlJournal`, which appends, finds, reads and lists. It knows neither models nor workflows.

Every write to a session first locks the session's row, so sequence numbers are handed out in commit order and whoever
tails `seq > n` misses nothing. Of two writers of one key the first wins, and both are told the same.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from opspilot.core.budget import Spent
from opspilot.core.calls import canonical_json
from opspilot.core.contract import Status
from opspilot.core.entries import Entry, Kind, NewEntry
from opspilot.core.errors import JournalConflict, JournalError, StaleRun
from opspilot.core.ghosts import ended_behind_our_back, ghost_key
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.ports import Draft, Journal, Leftovers
from opspilot.journal import drafts, figures, inbox, queries, read_models, reading, schema, sign_outs, spending, totals
from opspilot.journal.database import Database
from opspilot.journal.figures import Numbers
from opspilot.journal.inbox import WHATEVER_WAITS, AskedOf, InboxChoices, InboxFilter, InboxPlace
from opspilot.journal.leftovers import leftovers
from opspilot.journal.queries import CallRow, InterruptRow, RunRow, SessionFilter, SessionRow

NEVER_REWRITTEN = frozenset({Kind.RUN_STARTED, Kind.USER_MESSAGE})
"""Kinds whose content is known before anything is done: another content under the key means crossed histories."""


class SqlJournal(Journal):
    """The journal in an SQL database, such as `sqlite:////var/lib/opspilot/journal.sqlite`.

    Creates what is missing when it is opened. Safe to use from many threads, and from several processes on one file.
    """

    def __init__(self, url: str) -> None:
        self._database = Database(url)

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    @property
    def id(self) -> str:
        """An identity made when the database was created, to tell two journals apart."""
        return self._database.journal_id

    def owner(self, session: str) -> str | None:
        """The id of whoever started this session; None when there is no such session yet."""
        query = select(schema.sessions.c.owner).where(schema.sessions.c.id == session)
        with self._database.read() as connection:
            return connection.execute(query).scalar()

    def begin_run(self, session: str, run: str, started_at: datetime, owner: Principal) -> Leftovers:
        """Make `run` the session's current run, unless a later one is (`StaleRun`). Idempotent.

        The session keeps the owner of its first run. Drafts of its earlier runs are dropped.
        """
        _need_zone(started_at, f"The start of run {run}")
        with self._database.write() as connection:
            row = _lock(connection, session)
            if row is None:
                connection.execute(insert(schema.sessions).values(**_new_session(session, run, started_at, owner)))
            if row is None or row["current_run"] != run:
                if row is not None:
                    _need_later(connection, session, run, started_at, row["current_run"])
                began = read_models.new_run(session, run, started_at.astimezone(UTC), owner.id, owner.name)
                connection.execute(insert(schema.runs).values(began))
                drafts.drop(connection, session)
                read_models.summarise(connection, session, run, started_at)
                totals.change(connection, {}, totals.of_runs(connection, session, [run]))
            return leftovers(connection, session, run)

    def append(
        self,
        session: str,
        run: str,
        entries: Sequence[NewEntry],
        overflow: Mapping[str, str] | None = None,
        *,
        whole: bool = False,
    ) -> tuple[Entry, ...]:
        """Write entries in one transaction and update the read models. A key that is there keeps its first content.

        Returns the entries as they stand, one for each given. Raises `StaleRun` when `run` isn't the session's current
        one or was ended by `end_ghost`, and `JournalConflict` when a `run.started` or `user.message` is there with
        other content; either writes nothing. `overflow` are whole texts of trimmed results by reference; the first text
        of a reference stays. With `whole` the entries belong together: when the first one's key is there already
        nothing is written, and what is returned is that first entry alone.
        """
        for new in entries:
            _need_zone(new.at, f"The time of entry {new.key}")
        with self._database.write() as connection:
            row = _lock(connection, session)
            if row is None or row["current_run"] != run:
                raise _stale(session, run, None if row is None else row["current_run"])
            known = reading.find(connection, session, [ghost_key(run), *(new.key for new in entries)])
            if ghost_key(run) in known:
                raise _ended(session, run)
            if whole and entries and entries[0].key in known:
                _need_same(known[entries[0].key], entries[0])
                return (known[entries[0].key],)
            fresh: list[Entry] = []
            for new in entries:
                if new.key in known:
                    _need_same(known[new.key], new)
                    continue
                entry = _numbered(new, session, run, row["last_seq"] + len(fresh) + 1)
                known[new.key] = entry
                fresh.append(entry)
            if fresh:
                _write(connection, session, run, fresh)
            _write_overflow(connection, session, overflow or {})
        return tuple(known[new.key] for new in entries)

    def end_ghost(self, session: str, run: str, at: datetime) -> bool:
        """Record that Temporal ended this run behind our back: it is done, and its questions leave the inbox.

        For a client that has just been told by Temporal that the session's latest execution has this run's id as its
        first and is closed; that it can't be found proves nothing. Nothing of such a run is written any more, not even
        by an activity that is still at work (`StaleRun`); its open calls are left to the next run's repair. Idempotent:
        False, and nothing is written, when the run has stopped, isn't the session's current one or isn't there.
        """
        _need_zone(at, f"The end of run {run}")
        with self._database.write() as connection:
            row = _lock(connection, session)
            if row is None or row["current_run"] != run or row["status"] == Status.DONE:
                return False
            _write(
                connection, session, run, [_numbered(ended_behind_our_back(run, at), session, run, row["last_seq"] + 1)]
            )
            return True

    def find(self, session: str, keys: Sequence[str]) -> dict[str, Entry]:
        """The entries among these keys that exist."""
        with self._database.read() as connection:
            return reading.find(connection, session, keys)

    def read(self, session: str, after: int = 0, limit: int | None = None) -> tuple[Entry, ...]:
        """Entries with `seq > after`, in order. A reader that goes on from the last seq misses nothing."""
        with self._database.read() as connection:
            return reading.after(connection, session, after, limit)

    def overflow(self, session: str, ref: str, offset: int, limit: int) -> tuple[str, int] | None:
        """`limit` characters of a trimmed result from `offset`, and its whole length in characters."""
        query = select(
            func.substr(schema.overflow.c.text, max(offset, 0) + 1, max(limit, 0)), func.length(schema.overflow.c.text)
        ).where(schema.overflow.c.session_id == session, schema.overflow.c.ref == ref)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return None if row is None else (row[0], row[1])

    def put_draft(self, session: str, draft: Draft) -> None:
        """Overwrite the draft of an open model call; dropped when its message lands.

        Quietly does nothing when the draft comes too late: its run is not current or has stopped, its message is there,
        or a later attempt is writing.
        """
        with self._database.write() as connection:
            row = _lock(connection, session)
            if row is not None and row["current_run"] == draft.run and row["status"] != Status.DONE:
                drafts.put(connection, session, draft)

    def drafts(self, session: str) -> tuple[Draft, ...]:
        """Text that is being produced right now."""
        with self._database.read() as connection:
            return drafts.in_progress(connection, session)

    def sessions(
        self,
        status: str | None = None,
        owner: str | None = None,
        text: str | None = None,
        limit: int = 50,
        before: tuple[datetime, str] | None = None,
    ) -> tuple[SessionRow, ...]:
        """`find_sessions` by what a terminal asks for."""
        return self.find_sessions(SessionFilter(status=status, owner=owner, text=text), limit, before)

    def find_sessions(
        self, wanted: SessionFilter, limit: int = 50, before: tuple[datetime, str] | None = None
    ) -> tuple[SessionRow, ...]:
        """Sessions, latest change first. `before` goes on after a page: the `(updated_at, id)` of its last row."""
        with self._database.read() as connection:
            return queries.list_sessions(connection, wanted, limit, before)

    def count_sessions(self, wanted: SessionFilter, at_most: int = 1000) -> int:
        """How many sessions there are, counted up to `at_most`: so much is `at_most` or more."""
        with self._database.read() as connection:
            return queries.count_sessions(connection, wanted, at_most)

    def session(self, id: str) -> SessionRow | None:
        """One session."""
        with self._database.read() as connection:
            return queries.one_session(connection, id)

    def runs(self, session: str) -> tuple[RunRow, ...]:
        """The session's runs, oldest first."""
        with self._database.read() as connection:
            return queries.list_runs(connection, session)

    def calls(self, session: str, run: str | None = None) -> tuple[CallRow, ...]:
        """The session's calls, or one run's, in the order of proposal."""
        with self._database.read() as connection:
            return queries.list_calls(connection, session, run)

    def interrupts(self, session: str, run: str | None = None) -> tuple[InterruptRow, ...]:
        """The session's questions to people, or one run's, settled ones too, in the order in which they were asked."""
        with self._database.read() as connection:
            return inbox.of_session(connection, session, run)

    def open_interrupts(
        self,
        session: str | None = None,
        wanted: InboxFilter = WHATEVER_WAITS,
        limit: int | None = None,
        after: InboxPlace | None = None,
    ) -> tuple[InterruptRow, ...]:
        """Questions that wait for a person, in one session or in all: oldest deadline first, then longest open.

        `after` goes on behind a question of the page before.
        """
        with self._database.read() as connection:
            return inbox.waiting(connection, session, wanted, limit, after)

    def count_open_interrupts(self, wanted: InboxFilter = WHATEVER_WAITS, at_most: int = 1000) -> int:
        """How many questions wait for a person, counted up to `at_most`."""
        with self._database.read() as connection:
            return inbox.count_waiting(connection, wanted, at_most)

    def inbox_choices(self, asked_of: AskedOf | None = None) -> InboxChoices:
        """What the questions that wait can be narrowed to."""
        with self._database.read() as connection:
            return inbox.choices(connection, asked_of)

    def numbers(self, since: datetime | None = None, until: datetime | None = None) -> Numbers:
        """The figures over runs that began at `since` or later and before `until`; None leaves the range open."""
        with self._database.read() as connection:
            return figures.numbers(connection, since, until)

    def spent(self, session: str) -> Spent:
        """What all runs of a session have spent, the open one included."""
        with self._database.read() as connection:
            return spending.of_session(connection, session)

    def spent_by(self, requester: str, since: datetime) -> Spent:
        """What replies to runs that this person asked for have spent from a moment on, those of open runs included."""
        with self._database.read() as connection:
            return spending.by_requester(connection, requester, since)

    def sign_out(self, id: str, now: datetime, until: datetime) -> None:
        """Remember until then that whoever has signed in to a web server under this number is signed out. Idempotent.

        Forgets those whose time is over.
        """
        with self._database.write() as connection:
            sign_outs.add(connection, id, now, until)

    def is_signed_out(self, id: str) -> bool:
        """Whether whoever has signed in to a web server under this number has signed out since."""
        with self._database.read() as connection:
            return sign_outs.has(connection, id)


def _lock(connection: Connection, session: str) -> RowMapping | None:
    # FOR UPDATE where the database has row locks; on SQLite the transaction is the lock.
    query = select(schema.sessions.c.current_run, schema.sessions.c.last_seq, schema.sessions.c.status).where(
        schema.sessions.c.id == session
    )
    return connection.execute(query.with_for_update()).mappings().first()


def _new_session(session: str, run: str, started_at: datetime, owner: Principal) -> dict[str, Json]:
    return {
        "id": session,
        "owner": owner.id,
        "searchable": read_models.searchable(session, ""),
        "status": Status.RUNNING.value,
        "current_run": run,
        "created_at": started_at,
        "updated_at": started_at,
    }


def _need_zone(moment: datetime, what: str) -> None:
    if moment.tzinfo is None:
        raise JournalError(f"{what} has no time zone; give it in UTC.")


def _need_later(connection: Connection, session: str, run: str, started_at: datetime, current: str) -> None:
    # Equal times are decided by id, so that the answer is the same however often either run asks. A run that has
    # stopped makes way for any new one: a clock that goes back must not close the session.
    known = connection.execute(
        select(schema.runs.c.started_at, schema.runs.c.stopped_at).where(
            schema.runs.c.session_id == session, schema.runs.c.run_id == current
        )
    ).one()
    replaced = connection.execute(
        select(schema.runs.c.run_id).where(schema.runs.c.session_id == session, schema.runs.c.run_id == run)
    ).first()
    if (started_at, run) < (known.started_at, current) and (known.stopped_at is None or replaced):
        raise _stale(session, run, current)


def _stale(session: str, run: str, current: str | None) -> StaleRun:
    if current is None:
        return StaleRun(f"Session {session} isn't in this journal, so nothing of its run {run} can be written.")
    return StaleRun(f"Run {run} of session {session} has been replaced by run {current}; it may not write any more.")


def _ended(session: str, run: str) -> StaleRun:
    return StaleRun(f"Run {run} of session {session} was ended outside OpsPilot; it may not write any more.")


def _numbered(new: NewEntry, session: str, run: str, seq: int) -> Entry:
    return Entry(
        session=session,
        seq=seq,
        run=new.run or run,
        key=new.key,
        kind=new.kind,
        at=new.at.astimezone(UTC),
        data=_as_stored(new),
        step=new.step,
        call=new.call,
    )


def _as_stored(new: NewEntry) -> Mapping[str, Json]:
    # What the writer is told is what every reader will be told: lists for tuples, words for enum members.
    try:
        stored: dict[str, Json] = json.loads(json.dumps(dict(new.data), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise JournalError(f"Entry {new.key} can't be written, its data isn't JSON: {error}.") from error
    return stored


def _need_same(there: Entry, new: NewEntry) -> None:
    if new.kind in NEVER_REWRITTEN and canonical_json(there.data) != canonical_json(_as_stored(new)):
        raise JournalConflict(
            f"Session {there.session} has an entry {new.key} with other content already (number {there.seq}, of run "
            f"{there.run}). Was a run reset in Temporal, or one message id used for two messages?"
        )


def _write(connection: Connection, session: str, run: str, fresh: Sequence[Entry]) -> None:
    connection.execute(
        insert(schema.entries),
        [
            {
                "session_id": session,
                "seq": entry.seq,
                "run_id": entry.run,
                "key": entry.key,
                "kind": entry.kind.value,
                "at": entry.at,
                "step": entry.step,
                "call": entry.call,
                "data": entry.data,
            }
            for entry in fresh
        ],
    )
    connection.execute(update(schema.sessions).where(schema.sessions.c.id == session).values(last_seq=fresh[-1].seq))
    changed = {entry.run for entry in fresh if entry.kind in totals.CHANGING}
    before = totals.of_runs(connection, session, changed)
    for entry in fresh:
        read_models.apply(connection, entry)
    read_models.summarise(connection, session, run, max(entry.at for entry in fresh))
    totals.change(connection, before, totals.of_runs(connection, session, changed))


def _write_overflow(connection: Connection, session: str, texts: Mapping[str, str]) -> None:
    if not texts:
        return
    there = set(
        connection.execute(
            select(schema.overflow.c.ref).where(
                schema.overflow.c.session_id == session, schema.overflow.c.ref.in_(texts)
            )
        ).scalars()
    )
    fresh = [{"session_id": session, "ref": ref, "text": text} for ref, text in texts.items() if ref not in there]
    if fresh:
        connection.execute(insert(schema.overflow), fresh)
