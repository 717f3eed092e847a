"""Text that is still being written, shown a few times a second and never kept."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from temporalio import activity

from opspilot.core.errors import JournalError
from opspilot.core.ports import Draft, Journal

EVERY_SECONDS = 0.3


class DraftWriter:
    """An async context in which `write` may be called for each piece of text; `text` is all of it so far."""

    def __init__(self, journal: Journal, session: str, run: str, step: int, attempt: int) -> None:
        self._journal = journal
        self._session = session
        self._draft = Draft(run, step, attempt, "")
        self._pieces: list[str] = []
        self._writer: asyncio.Task[None] | None = None

    @property
    def text(self) -> str:
        """What was written so far."""
        return "".join(self._pieces)

    def write(self, piece: str) -> None:
        """Take a piece of text."""
        self._pieces.append(piece)

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._writer is not None
        self._writer.cancel()
        with suppress(asyncio.CancelledError):
            await self._writer

    async def _run(self) -> None:
        shown = 0
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            if len(self._pieces) == shown:
                continue
            shown = len(self._pieces)
            draft = Draft(self._draft.run, self._draft.step, self._draft.attempt, self.text)
            try:
                await asyncio.to_thread(self._journal.put_draft, self._session, draft)
            except JournalError as error:
                activity.logger.warning("draft not shown: %s", error)
