"""A server for browsers over a desk of the test kit: people sign in with tokens, workers play scripts."""

import asyncio
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page
from temporalio.client import Client

from opspilot.access.tokens import Tokens
from opspilot.core.policy import RUN_ANYTHING, Policy
from opspilot.journal.store import SqlJournal
from opspilot.sections.web import WebSettings
from opspilot.temporal import connect
from opspilot.tools.spec import Tool
from opspilot.web.app import create_app
from opspilot.web.backend import Backend
from opspilot.web.live import Live
from opspilot.web.people.ways import people
from tests.web.conftest import NewPage
from tests.web.serving import serving
from tests.web.stand import KEY, Stand


class Visited:
    """Something served at `url`, in which `tokens` sign people in."""

    url: str
    tokens: Tokens

    async def visit(
        self, new_page: NewPage, name: str, *roles: str, path: str = "/", url: str = "", **options: Any
    ) -> Page:
        """A page of somebody who has just signed in, in a browser of their own, through `url` if that leads here."""
        options.setdefault("locale", "en-US")
        page, here = await new_page(**options), url or self.url
        token = await asyncio.to_thread(self.tokens.add, name, roles)
        await page.goto(f"{here}/sign-in")
        await page.locator("#token").fill(token)
        await page.locator("main button").click()
        await page.wait_for_url(f"{here}/")
        if path != "/":
            await page.goto(here + path)
        return page


class Look(Visited):
    """`async with Look(folder) as look`: a journal that a test writes, and a server of it; there is no Temporal."""

    def __init__(self, folder: Path) -> None:
        self.state = folder
        self.journal = SqlJournal(f"sqlite:///{folder / 'journal.sqlite'}")
        self.tokens = Tokens(folder / "tokens.json")
        self._serving = ExitStack()

    async def __aenter__(self) -> Self:
        """Serve."""
        backend = Backend(
            temporal=await connect("127.0.0.1:1", lazy=True),
            journal=self.journal,
            live=Live(self.journal),
            task_queue="none",
            key=KEY,
            console="http://127.0.0.1:8233",
        )
        web = WebSettings(auth="token", tokens_file=self.state / "tokens.json")
        app = create_app(backend, people(web, self.state, (), self.journal, approval_key=KEY, port=80))
        self.url = await asyncio.to_thread(self._serving.enter_context, serving(app))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving."""
        await asyncio.to_thread(self._serving.close)
        self.journal.close()


class Front(Stand, Visited):
    """A stand that a browser can reach, at `url`. The server has a thread and a client of Temporal of its own."""

    def __init__(
        self, temporal: Client, folder: Path, tools: Iterable[Tool] = (), *, policy: Policy = RUN_ANYTHING
    ) -> None:
        super().__init__(temporal, folder, tools, policy=policy)
        self._serving = ExitStack()

    async def __aenter__(self) -> Self:
        """Serve."""
        config = self.desk.client.service_client.config
        own = await connect(config.target_host, self.desk.client.namespace, lazy=True)
        backend = Backend(
            temporal=own,
            journal=self.desk.journal,
            live=Live(self.desk.journal),
            task_queue=self.desk.queue,
            key=KEY,
            tools=self.backend.tools,
            console="http://127.0.0.1:8233",
        )
        web = WebSettings(auth="token", tokens_file=self.state / "tokens.json")
        app = create_app(backend, people(web, self.state, (), self.desk.journal, approval_key=KEY, port=80))
        self.url = await asyncio.to_thread(self._serving.enter_context, serving(app))
        return self

    async def __aexit__(self, *whatever: object) -> None:
        """Stop serving."""
        await asyncio.to_thread(self._serving.close)
        await super().__aexit__(*whatever)


async def serious_findings(page: Page) -> list[str]:
    """What axe-core finds in the page that keeps somebody from using it."""
    found = await Axe().run(page)
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found.response["violations"]
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]


async def overflow_pixels(page: Page) -> int:
    """By how much the page is wider than the window."""
    return int(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
