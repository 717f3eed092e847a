"""What happens in sessions while it happens, for any number of onlookers: a session is read once for all of them.

An onlooker goes on from the last sequence number that they saw, so that nothing is missed or told twice, whenever they
come and however slow they are: what is no longer at hand is read from the journal.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar

from opspilot.core.contract import Status
from opspilot.core.entries import Entry
from opspilot.core.errors import JournalError
from opspilot.core.ports import Draft
from opspilot.journal.store import SqlJournal
from opspilot.outward import outward
from opspilot.redaction import redact

POLL_SECONDS = 0.06
IDLE_POLL_SECONDS = 0.25
INBOX_POLL_SECONDS = 0.5
AT_HAND = 500
"""How many of the latest entries are kept for onlookers."""
READ_AT_ONCE = 500
MOST_WAITING = 5000

Happening: TypeAlias = Entry | Draft
T = TypeVar("T")


@dataclass
class _Watched(Generic[T]):
    """Something that is read again and again while anybody looks on. `changed` is replaced at each change."""

    state: T
    onlookers: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    trouble: JournalError | None = None
    reading: asyncio.Task[None] | None = None

    def tell(self) -> None:
        """Wake everybody up."""
        told, self.changed = self.changed, asyncio.Event()
        told.set()


@dataclass
class _Session:
    """What is known of a session: the latest number, the latest entries (redacted), and what is being written."""

    last: int
    recent: deque[Entry] = field(default_factory=lambda: deque(maxlen=AT_HAND))
    drafts: tuple[Draft, ...] = ()


async def _nothing(_: str) -> None:
    """Do nothing with a session that somebody begins to look at."""


class Live:
    """Owned by one event loop. `on_look` is called with a session when somebody begins to look on, and nobody did."""

    def __init__(self, journal: SqlJournal, on_look: Callable[[str], Awaitable[object]] = _nothing) -> None:
        self._journal = journal
        self._on_look = on_look
        self._sessions: dict[str, _Watched[_Session]] = {}
        self._inbox: dict[str, _Watched[object]] = {}

    async def happenings(self, session: str, after: int = 0) -> AsyncGenerator[Happening, None]:
        """Entries with `seq > after` and those to come, and drafts as they grow (each time the whole text so far).

        Both are without secrets (`opspilot.outward`).

        Never ends by itself: whoever stops listening closes it (`contextlib.aclosing`). Raises `JournalError`.
        """
        async with self._watching(self._sessions, session, self._start, self._read_session) as watched:
            drafts: tuple[Draft, ...] = ()
            while True:
                changed = watched.changed
                while entries := await self._since(watched.state, session, after):
                    for entry in entries:
                        after = entry.seq
                        yield entry
                for draft in watched.state.drafts:
                    if draft not in drafts:
                        yield draft
                drafts = watched.state.drafts
                if watched.trouble is not None:
                    raise watched.trouble
                await changed.wait()

    async def inbox_changes(self) -> AsyncGenerator[None, None]:
        """Once at the beginning, and whenever something has happened in a session that waits for people."""
        async with self._watching(self._inbox, "", self._waiting, self._read_inbox) as watched:
            while True:
                changed = watched.changed
                yield
                await changed.wait()
                if watched.trouble is not None:
                    raise watched.trouble

    @asynccontextmanager
    async def _watching(
        self,
        all_watched: dict[str, _Watched[T]],
        name: str,
        start: Callable[[str], T],
        read: Callable[[str, _Watched[T]], Any],
    ) -> AsyncIterator[_Watched[T]]:
        watched = all_watched.get(name)
        if watched is None or watched.trouble is not None:
            state = await asyncio.to_thread(start, name)
            # Somebody else may have begun meanwhile.
            watched = all_watched.get(name)
            if watched is None or watched.trouble is not None:
                watched = all_watched[name] = _Watched(state)
                watched.reading = asyncio.create_task(self._keep_reading(read, name, watched))
        watched.onlookers += 1
        try:
            yield watched
        finally:
            watched.onlookers -= 1
            if not watched.onlookers:
                if all_watched.get(name) is watched:
                    del all_watched[name]
                if watched.reading is not None:
                    watched.reading.cancel()

    @staticmethod
    async def _keep_reading(read: Callable[[str, _Watched[T]], Any], name: str, watched: _Watched[T]) -> None:
        try:
            await read(name, watched)
        except JournalError as error:
            watched.trouble = error
            watched.tell()

    def _start(self, session: str) -> _Session:
        about = self._journal.session(session)
        return _Session(about.last_seq if about else 0)

    async def _read_session(self, session: str, watched: _Watched[_Session]) -> None:
        looked_at = asyncio.ensure_future(self._on_look(session))
        try:
            await self._read_entries(session, watched)
        finally:
            looked_at.cancel()

    async def _read_entries(self, session: str, watched: _Watched[_Session]) -> None:
        state, pause = watched.state, POLL_SECONDS
        while True:
            entries, drafts = await asyncio.to_thread(self._look, session, state.last)
            if entries or drafts != state.drafts:
                state.recent.extend(entries)
                state.last = entries[-1].seq if entries else state.last
                state.drafts = drafts
                watched.tell()
                pause = POLL_SECONDS
            else:
                pause = min(pause * 1.1, IDLE_POLL_SECONDS)
            await asyncio.sleep(pause)

    def _look(self, session: str, after: int) -> tuple[list[Entry], tuple[Draft, ...]]:
        entries = [outward(entry) for entry in self._journal.read(session, after, READ_AT_ONCE)]
        return entries, tuple(replace(draft, text=redact(draft.text)) for draft in self._journal.drafts(session))

    async def _since(self, state: _Session, session: str, after: int) -> list[Entry]:
        if after >= state.last:
            return []
        if state.recent and state.recent[0].seq <= after + 1:
            return [entry for entry in state.recent if entry.seq > after]
        return await asyncio.to_thread(
            lambda: [outward(entry) for entry in self._journal.read(session, after, READ_AT_ONCE)]
        )

    def _waiting(self, _: str = "") -> object:
        return [(row.id, row.last_seq) for row in self._journal.sessions(status=Status.WAITING, limit=MOST_WAITING)]

    async def _read_inbox(self, _: str, watched: _Watched[object]) -> None:
        while True:
            await asyncio.sleep(INBOX_POLL_SECONDS)
            now = await asyncio.to_thread(self._waiting)
            if now != watched.state:
                watched.state = now
                watched.tell()
