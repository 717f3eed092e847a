"""A web server over a desk of the test kit, and people in front of it: with tokens, or signed in with a browser."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import httpx
from starlette.types import ASGIApp
from temporalio.client import Client

from opspilot.access.tokens import Tokens
from opspilot.core.policy import RUN_ANYTHING, Policy
from opspilot.journal.store import SqlJournal
from opspilot.sections.web import ProxySettings, WebSettings
from opspilot.testing import Desk
from opspilot.tools.spec import Tool
from opspilot.web.app import create_app
from opspilot.web.backend import Backend
from opspilot.web.live import Live
from opspilot.web.people.forgery import HEADER
from opspilot.web.people.ways import people

KEY = b"0123456789abcdef0123456789abcdef"
URL = "http://ops.test"
BY_TOKEN = WebSettings(auth="token", url=URL)


class Stand:
    """`async with Stand(client, folder, tools) as stand`: `stand.app` is the application, served to clients in memory.

    Answers are signed and checked with `KEY`, unless `key` says otherwise.
    """

    def __init__(
        self,
        temporal: Client,
        folder: Path,
        tools: Iterable[Tool] = (),
        *,
        policy: Policy = RUN_ANYTHING,
        key: bytes | None = KEY,
        web: WebSettings = BY_TOKEN,
    ) -> None:
        self.desk = Desk(temporal, f"web-{uuid4().hex[:8]}", folder, tools, policy=policy, key=key)
        self.web = web.model_copy(update={"tokens_file": folder / "tokens.json"})
        self.tokens = Tokens(folder / "tokens.json")
        self.state = folder
        self.backend = Backend(
            temporal=temporal,
            journal=self.desk.journal,
            live=Live(self.desk.journal),
            task_queue=self.desk.queue,
            key=key,
            tools=tuple(tool.name for tool in tools),
        )
        known = people(self.web, folder, ("operator", "approver"), self.desk.journal, approval_key=key, port=80)
        self.app = create_app(self.backend, known)
        self._open = AsyncExitStack()

    def another(self) -> "Other":
        """One more web server of the same journal and settings, or the same one after a restart."""
        return Other(self)

    async def __aenter__(self) -> Self:
        """Nothing has to be started."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let go of clients and journal."""
        await self._open.aclose()
        self.desk.journal.close()

    async def anybody(self, address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
        """A client that nobody has signed in with, from an address."""
        return await self._open.enter_async_context(client_of(self.app, address, **headers))

    async def program(self, name: str, *roles: str) -> httpx.AsyncClient:
        """A client with somebody's token."""
        token = self.tokens.add(name, roles)
        return await self.anybody(Authorization=f"Bearer {token}")

    async def browser(self, name: str, *roles: str) -> httpx.AsyncClient:
        """A client that somebody has signed in with, and that repeats what its pages tell it to."""
        token = self.tokens.add(name, roles)
        client = await self.anybody(Origin=URL)
        response = await client.post("/sign-in", data={"token": token})
        assert response.status_code == 303, response.text
        client.headers[HEADER] = (await client.get("/api/me")).json()["csrf"]
        return client


class Other:
    """A second web server, which shares nothing with the first but the journal, the files and the key."""

    def __init__(self, first: Stand) -> None:
        self._journal = SqlJournal(f"sqlite:///{first.state / 'journal.sqlite'}")
        backend = replace(first.backend, journal=self._journal, live=Live(self._journal))
        known = people(first.web, first.state, (), self._journal, approval_key=first.backend.key, port=80)
        self._app = create_app(backend, known)
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Nothing has to be started."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let go of clients and journal."""
        await self._open.aclose()
        self._journal.close()

    async def anybody(self) -> httpx.AsyncClient:
        """A client that nobody has signed in with."""
        return await self._open.enter_async_context(client_of(self._app))


def client_of(app: ASGIApp, address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    """A client of an application in memory, from an address."""
    transport = httpx.ASGITransport(app=app, client=(address, 50_000), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=URL, headers=headers)


def behind_proxy(*addresses: str, **groups: tuple[str, ...]) -> WebSettings:
    """Settings of a server that a proxy stands in front of."""
    return WebSettings(auth="proxy", url=URL, proxy=ProxySettings(addresses=addresses), groups=groups)


async def question(client: httpx.AsyncClient, session: str) -> dict[str, Any]:
    """The one open question of a session, as this client is shown it."""
    (found,) = (await client.get("/api/interrupts", params={"session": session, "all": True})).json()
    assert isinstance(found, dict)
    return found


async def answer(client: httpx.AsyncClient, asked: dict[str, Any], action: str, **more: Any) -> httpx.Response:
    """Answer a question as it was shown."""
    path = f"/api/interrupts/{asked['session']}/{asked['interrupt'].replace('#', '%23')}/answer"
    return await client.post(path, json={"action": action, "digest": asked["digest"], **more})
