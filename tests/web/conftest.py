"""A real browser for the tests of the web UI; tests/web/serving.py has the server.

The browser is one Chromium for all tests of a process, and its protocol lives on one event loop. So a file that asks
for `page` or `new_page` says at its top

    pytestmark = pytest.mark.asyncio(loop_scope="session")

and its tests are `async def`. Without a Chromium on the PATH they are skipped, but on CI they fail.
"""

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any, Protocol
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Response, Route, async_playwright
from temporalio.client import Client

from opspilot.testing import skipping_server

CHROMIUM = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
AS_ROOT_AND_OFFLINE = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
"""Tests run as root in containers, where Chromium's sandbox can't; and it calls nobody of its own accord."""
STEP_MILLISECONDS = 10_000
"""How long a page may take to show what a test waits for, on a machine that is busy with other tests."""


class NewPage(Protocol):
    """Opens a page in a context of its own: cookies are not shared unless `context` is another page's."""

    def __call__(self, context: BrowserContext | None = None, **context_options: Any) -> Awaitable[Page]: ...


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Debian's Chromium, driven by Playwright. Downloads nothing."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        sentence = "No Chromium on the PATH, so no browser test ran: apt install chromium fonts-wqy-microhei"
        (pytest.fail if "CI" in os.environ else pytest.skip)(sentence)
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=found, args=AS_ROOT_AND_OFFLINE)
        yield chromium
        await chromium.close()


@pytest.fixture
def page_errors() -> list[str]:
    """What went wrong in the pages of this test: it must be empty at the end. Who expects errors clears it."""
    return []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Judge the pages before fixtures end: a page that outlives its server rightly complains."""
    yield
    errors = getattr(item, "funcargs", {}).get("page_errors", [])
    assert errors == [], "\n".join(errors)


@pytest_asyncio.fixture(loop_scope="session")
async def new_page(browser: Browser, page_errors: list[str]) -> AsyncIterator[NewPage]:
    """Makes pages, in as many contexts as a test needs: `await new_page(color_scheme="dark", locale="zh-CN")`."""
    async with AsyncExitStack() as stack:

        async def make(context: BrowserContext | None = None, **options: Any) -> Page:
            if context is None:
                context = await browser.new_context(**options)
                stack.push_async_callback(context.close)
                context.set_default_timeout(STEP_MILLISECONDS)
                await context.route("**/*", _only_loopback(page_errors))
            page = await context.new_page()
            _watch(page, page_errors)
            return page

        yield make


@pytest_asyncio.fixture(loop_scope="session")
async def page(new_page: NewPage) -> Page:
    """One page, English, light, 1280 by 720."""
    return await new_page(locale="en-US")


def _only_loopback(errors: list[str]) -> Callable[[Route], Awaitable[None]]:
    """Nothing may be fetched from outside the server: a page that tries is stopped, and the test fails."""

    async def judge(route: Route) -> None:
        host = urlsplit(route.request.url).hostname
        if host in {"127.0.0.1", "localhost"}:
            await route.continue_()
        else:
            errors.append(f"fetched from outside: {route.request.url}")
            await route.abort()

    return judge


def _watch(page: Page, errors: list[str]) -> None:
    """Collect script errors, refused styles and scripts (Content-Security-Policy), and parts that are missing."""

    def on_console(message: ConsoleMessage) -> None:
        # A refused request (409, 403 …) is logged too; what it means is for the test to see in the page.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            errors.append(f"console: {message.text}")

    def on_response(response: Response) -> None:
        if response.status >= 400 and response.request.resource_type in {"script", "stylesheet", "image", "font"}:
            errors.append(f"{response.status}: {response.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: errors.append(f"script: {error}"))
    page.on("response", on_response)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def temporal() -> AsyncIterator[Client]:
    """One real Temporal server for all tests of a process: tests/web/stand.py stands on it."""
    async with skipping_server() as client:
        yield client
