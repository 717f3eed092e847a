"""What pages and API stand on: the journal, Temporal (connected when it is first needed), and a client for each person.

Reading needs the journal alone, so that it works while Temporal and the workers are away; acting says in a sentence
when they are.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, ParamSpec, TypeVar

from fastapi import Depends
from starlette.requests import Request
from temporalio.client import Client

from opspilot.client import OpsPilot
from opspilot.core.interrupts import Principal
from opspilot.core.limits import Limits
from opspilot.journal.store import SqlJournal
from opspilot.redaction import redact
from opspilot.temporal import reach
from opspilot.web.live import Live

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Backend:
    """`temporal` may be a lazy client; `key` signs answers.

    `limits` are those that a question is asked under, `tools` and `models` the names that it may choose from, `console`
    the address of Temporal's web console, empty when nobody knows.
    """

    temporal: Client
    journal: SqlJournal
    live: Live
    task_queue: str
    key: bytes | None = None
    limits: Limits = field(default_factory=Limits)
    tools: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    console: str = ""

    def look(self, who: Principal) -> OpsPilot:
        """The client of one person, for reading: whatever only needs the journal."""
        return OpsPilot(self.temporal, self.journal, who, self.task_queue, redact, self.key)

    async def pilot(self, who: Principal) -> OpsPilot:
        """The client of one person, for acting. Raises `Unreachable` when there is no Temporal."""
        await reach(self.temporal)
        return self.look(who)

    async def read(self, read: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """A read of the journal, in a thread."""
        return await asyncio.to_thread(read, *arguments, **named)


def _backend(request: Request) -> Backend:
    backend = request.app.state.backend
    assert isinstance(backend, Backend)
    return backend


Served = Annotated[Backend, Depends(_backend)]
"""What a route stands on: `backend: Served`."""
