"""Asking, the list of sessions and the figures in a real browser."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from temporalio.client import Client

from opspilot.core.entries import Kind
from opspilot.testing import Step, call
from opspilot.tools.spec import tool
from opspilot.web.pages import sessions
from tests.web.browsing import Front, Look, overflow_pixels, serious_findings
from tests.web.conftest import NewPage
from tests.web.seeds import seed

pytestmark = pytest.mark.asyncio(loop_scope="session")

PHONE = {"viewport": {"width": 375, "height": 760}}
CONTRAST = {"forced_colors": "active", "color_scheme": "dark", "reduced_motion": "reduce"}
MINE = ("/sessions", "/sessions?status=waiting&text=r", "/ask", "/numbers?span=all", "/api")
ALL = ("/", "/sessions/payment-errors", "/sessions/restart-payment/questions/1.2%230", *MINE)


@tool(effect="read")
def look(topic: str) -> str:
    """Say what is known."""
    return f"{topic} is slow"


@pytest_asyncio.fixture(loop_scope="session")
async def front(temporal: Client, tmp_path: Path) -> AsyncIterator[Front]:
    async with Front(temporal, tmp_path, [look]) as front:
        yield front


@pytest_asyncio.fixture(loop_scope="session")
async def told(tmp_path: Path) -> AsyncIterator[Look]:
    async with Look(tmp_path) as told:
        seed(told.journal)
        yield told


async def unfold(page: Page) -> None:
    await page.evaluate("document.querySelectorAll('main details').forEach((part) => { part.open = true; })")


async def test_somebody_asks_and_watches_the_steps_arrive(front: Front, new_page: NewPage) -> None:
    page = await front.visit(new_page, "ann", "operator")
    await page.get_by_role("link", name="Ask").click()
    await expect(page.get_by_text("It ends after 10 steps")).to_be_visible()
    await page.get_by_label("Your question").fill("How is the database?")
    await page.get_by_text("Another model, one tool alone").click()
    await page.get_by_label("One tool alone").select_option("look")
    async with front.desk.worker(
        [Step(text="I **look**.", calls=[call("look", topic="db")]), Step(text="It is slow.")]
    ):
        # Twice, as the impatient do.
        await page.get_by_role("button", name="Ask").dblclick()
        await page.wait_for_url(re.compile(r"/sessions/ops-[0-9a-f]+$"))
        await expect(page.get_by_text("How is the database?").first).to_be_visible()
        await expect(page.get_by_text("It is slow.")).to_be_visible()
        await front.desk.until(page.url.rpartition("/")[2], Kind.RUN_STOPPED)
    (row,) = front.desk.journal.sessions()
    assert row.id == page.url.rpartition("/")[2]
    assert len(front.desk.entries(row.id, Kind.USER_MESSAGE)) == 1
    await page.get_by_role("link", name="Sessions").click()
    await expect(page.get_by_role("row", name=re.compile("How is the database.*answered"))).to_be_visible()


async def test_a_question_that_can_not_be_asked_stays_in_its_form_with_the_keyboard_alone(
    front: Front, new_page: NewPage
) -> None:
    page = await front.visit(new_page, "ann", "operator", path="/ask")
    await expect(page.get_by_label("Your question")).to_be_focused()
    await page.keyboard.type("Why?")
    await page.get_by_text("Another model, one tool alone").press("Enter")
    await page.get_by_label("It has to be called first").press("Space")
    await page.get_by_label("Your question").focus()
    await page.get_by_role("button", name="Ask").press("Enter")
    await expect(page.get_by_role("alert")).to_be_focused()
    await expect(page.get_by_role("alert")).to_contain_text("which tool is to be called?")
    await expect(page.get_by_label("Your question")).to_have_value("Why?")
    await expect(page.get_by_label("It has to be called first")).to_be_checked()


async def test_sessions_are_searched_narrowed_and_turned_page_by_page(
    told: Look, new_page: NewPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PAGE", 2)
    page = await told.visit(new_page, "cleo", "approver", path="/sessions")
    titles = page.locator("table.sessions tbody th a")
    await expect(titles).to_have_count(2)
    first = await titles.all_text_contents()
    await page.get_by_role("link", name="Older").click()
    await expect(page.get_by_role("link", name="Newest")).to_be_visible()
    second = await titles.all_text_contents()
    assert not set(first) & set(second)
    await page.get_by_label("Question or name has").fill("restart")
    await page.get_by_label("Question or name has").press("Enter")
    await expect(titles).to_have_count(1)
    await expect(page.locator("table.sessions")).to_contain_text("waiting for you")
    await page.get_by_text("State, person, days").click()
    await page.get_by_label("State").select_option("done")
    await page.get_by_role("button", name="Search").click()
    await expect(page.get_by_text("No session is like this.")).to_be_visible()
    await page.get_by_role("link", name="Show all sessions").click()
    await expect(titles).to_have_count(2)


async def test_figures_lead_to_the_sessions_they_are_about_and_can_be_read_as_a_table(
    told: Look, new_page: NewPage
) -> None:
    page = await told.visit(new_page, "vic", "viewer", path="/numbers")
    await expect(page.get_by_role("link", name="7 days")).to_have_attribute("aria-current", "true")
    chart = page.get_by_role("img", name="Tokens")
    await expect(chart).to_be_visible()
    await page.locator("figure", has=chart).locator("summary").click()
    await expect(page.locator("figure", has=chart).get_by_role("table")).to_be_visible()
    await page.get_by_role("link", name="All", exact=True).click()
    await page.get_by_role("link", name="answered").click()
    await page.wait_for_url(re.compile(r"stop_reason=answered"))
    await expect(page.locator("table.sessions tbody tr").first).to_contain_text("answered")


@pytest.mark.parametrize(
    ("paths", "look"),
    [
        (MINE, {}),
        (MINE, {"color_scheme": "dark", "locale": "zh-CN", **PHONE}),
        (ALL, {"viewport": {"width": 320, "height": 400}, **CONTRAST}),
    ],
    ids=["wide", "phone", "four times as large, with colours of one's own"],
)
async def test_each_page_fits_and_can_be_used_by_everybody(
    told: Look, new_page: NewPage, paths: tuple[str, ...], look: dict[str, Any]
) -> None:
    page = await told.visit(new_page, "cleo", "operator", "approver", **look)
    for path in paths:
        await page.goto(told.url + path)
        await unfold(page)
        assert await serious_findings(page) == [], path
        assert await overflow_pixels(page) == 0, path


async def test_a_viewer_is_not_offered_to_ask(told: Look, new_page: NewPage) -> None:
    page = await told.visit(new_page, "vic", "viewer", path="/sessions")
    await expect(page.get_by_role("link", name="Ask")).to_have_count(0)
    await page.goto(f"{told.url}/ask")
    await expect(page.get_by_text("that takes the role operator")).to_be_visible()
