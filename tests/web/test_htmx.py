"""What the pages may rely on: the vendored htmx under a strict policy, refusals that show, events that resume."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tests.web.serving import serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

STATIC = Path(__file__).parents[2] / "opspilot" / "web" / "static"
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
# Without `defer`: htmx starts at DOMContentLoaded only if it was read before, and by then the extension must be there.
# Deferred, htmx starts by a timer between the two scripts now and then, and no stream is ever opened.
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Parts</title>
<meta name="htmx-config" content='{"sse": {"reconnectDelay": 20}}'>
<script src="/static/vendor/htmx.min.js"></script>
<script src="/static/vendor/hx-sse.min.js"></script></head><body>
<main>
<form hx-post="/answer" hx-target="#outcome" hx-status:403="target:#refusal"><button>Approve</button></form>
<p id="outcome"></p><p id="refusal"></p>
<ol id="events" hx-sse:connect="/events?after=0" hx-sse:close="finished" hx-swap="beforeend"></ol>
<p id="inbox" hx-get="/inbox" hx-trigger="inbox-changed from:#events"></p>
<div id="unread" hx-ignore><b hx-get="/inbox" hx-trigger="load">from a tool</b></div>
</main></body></html>"""
LAST = 9


class Parts:
    """A page of parts and the server behind it, which hangs up after every third event."""

    def __init__(self) -> None:
        self.resumed_from: list[str | None] = []
        self.status = 409
        self.app = Starlette(
            routes=[
                Route("/", self.page),
                Route("/inline", self.inline),
                Route("/answer", self.answer, methods=["POST"]),
                Route("/inbox", self.inbox),
                Route("/events", self.events),
                Mount("/static", StaticFiles(directory=STATIC)),
            ]
        )

    async def page(self, request: Request) -> HTMLResponse:
        return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY})

    async def inline(self, request: Request) -> HTMLResponse:
        return HTMLResponse("<script>document.title = 'ran'</script>", headers={"Content-Security-Policy": POLICY})

    async def answer(self, request: Request) -> HTMLResponse:
        return HTMLResponse("<em>Settled by someone else.</em>", status_code=self.status)

    async def inbox(self, request: Request) -> HTMLResponse:
        return HTMLResponse("<em>2 open</em>")

    async def events(self, request: Request) -> EventSourceResponse:
        resumed = request.headers.get("Last-Event-ID")
        self.resumed_from.append(resumed)
        return EventSourceResponse(self.three_after(int(resumed or request.query_params["after"])))

    async def three_after(self, start: int) -> AsyncIterator[ServerSentEvent]:
        for number in range(start + 1, min(start + 3, LAST) + 1):
            yield ServerSentEvent(id=str(number), data=f"<li>{number}\nof {LAST}</li>")
        yield ServerSentEvent(event="inbox-changed", data="{}")
        if start + 3 >= LAST:
            yield ServerSentEvent(event="finished", data="{}")


@pytest.fixture
def parts() -> Parts:
    return Parts()


@pytest.fixture
def url(parts: Parts) -> Iterator[str]:
    with serving(parts.app) as address:
        yield address


async def test_events_arrive_once_each_though_the_server_hangs_up(page: Page, url: str, parts: Parts) -> None:
    await page.goto(url)
    await expect(page.locator("#events li")).to_have_text([f"{number} of {LAST}" for number in range(1, LAST + 1)])
    assert parts.resumed_from == [None, "3", "6"]


async def test_a_named_event_makes_another_part_fetch_itself(page: Page, url: str) -> None:
    await page.goto(url)
    await expect(page.locator("#inbox em")).to_have_text("2 open")


async def test_nothing_works_inside_a_part_that_htmx_ignores(page: Page, url: str) -> None:
    await page.goto(url)
    await expect(page.locator("#inbox em")).to_have_text("2 open")
    await expect(page.locator("#unread")).to_have_text("from a tool")


@pytest.mark.parametrize(("status", "shown_in"), [(200, "#outcome"), (409, "#outcome"), (403, "#refusal")])
async def test_a_refusal_is_shown_where_the_form_says(
    page: Page, url: str, parts: Parts, status: int, shown_in: str
) -> None:
    parts.status = status
    await page.goto(url)
    await page.get_by_role("button", name="Approve").click()
    await expect(page.locator(shown_in)).to_have_text("Settled by someone else.")


async def test_the_policy_stops_an_inline_script_and_the_test_would_fail(
    page: Page, url: str, page_errors: list[str]
) -> None:
    await page.goto(f"{url}/inline")
    assert await page.title() == ""
    assert len(page_errors) == 1
    assert "Content Security Policy" in page_errors[0]
    page_errors.clear()
