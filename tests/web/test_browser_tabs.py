"""Tabs in a real browser: what each keeps up to date, and that many of them don't stand in each other's way."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from opspilot.core.terms import Risk, Terms
from opspilot.journal.store import SqlJournal
from opspilot.web.pages import inbox
from tests.web.browsing import Look
from tests.web.conftest import NewPage
from tests.web.seeds import ANN, WRITE, Pen, seed

pytestmark = pytest.mark.asyncio(loop_scope="session")

HIDE = "Object.defineProperty(document, 'hidden', { get: () => window.away !== false, configurable: true })"
"""A tab that is opened behind the others; `window.away = false` brings it to the front."""
TURN = "document.dispatchEvent(new Event('visibilitychange'))"


@pytest_asyncio.fixture(loop_scope="session")
async def look(tmp_path: Path) -> AsyncIterator[Look]:
    async with Look(tmp_path) as look:
        yield look


def ask(journal: SqlJournal, name: str, minutes: int, risk: Risk = Risk.LOW) -> tuple[Pen, str]:
    """A question that is due in so many minutes."""
    pen = Pen(journal, name)
    pen.ask(f"Restart {name}")
    pen.think("", ("restart", {"service": name}, WRITE))
    due = timedelta(minutes=minutes)
    return pen, pen.open("1.1", "restart", {"service": name}, f"{name}?", terms=Terms("sre", risk=risk), due=due)


def sentences(page: Page) -> Locator:
    """Of the questions on the page."""
    return page.locator("#inbox article .strong")


async def test_an_inbox_is_turned_page_by_page_and_each_page_lives(
    look: Look, new_page: NewPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MOST_SHOWN", 2)
    pens = {name: ask(look.journal, name, minutes) for minutes, name in enumerate("abcde", start=60)}
    plain = await look.visit(new_page, "eve", "sre", java_script_enabled=False)
    seen = []
    for _ in range(3):
        await expect(plain.locator("#inbox-count")).to_have_text("5 questions wait for you")
        seen += await sentences(plain).all_text_contents()
        if len(seen) < 5:
            await plain.get_by_role("link", name="Next questions").click()
    assert seen == ["a?", "b?", "c?", "d?", "e?"]
    await expect(plain.get_by_role("link", name="Next questions")).to_have_count(0)

    first = await look.visit(new_page, "bob", "sre")
    second = await new_page(first.context)
    await second.goto(first.url)
    await second.get_by_role("link", name="Next questions").click()
    await expect(sentences(second)).to_have_text(["c?", "d?"])
    pens["a"][0].answer(pens["a"][1], "approve", "ann", "Ann")
    ask(look.journal, "cc", 62)
    await expect(first.locator("article.settled")).to_have_count(1)
    await expect(sentences(first)).to_have_text(["a?", "b?", "c?"])
    await expect(sentences(second)).to_have_text(["c?", "cc?", "d?"])
    for page in (first, second):
        await expect(page.locator("#inbox-count")).to_have_text("5 questions wait for you")
    await second.get_by_role("link", name="From the first one").click()
    await expect(sentences(second)).to_have_text(["b?", "c?"])
    await second.get_by_role("link", name="Next questions").click()
    await expect(sentences(second)).to_have_text(["cc?", "d?"])


async def test_filters_hold_from_page_to_page(look: Look, new_page: NewPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "MOST_SHOWN", 1)
    for minutes, name in enumerate("abcd", start=60):
        ask(look.journal, name, minutes, Risk.HIGH if name in "bd" else Risk.LOW)
    page = await look.visit(new_page, "bob", "sre", path="/?risk=high")
    await expect(page.locator("#inbox-count")).to_have_text("2 questions wait for you")
    await expect(sentences(page)).to_have_text(["b?"])
    await page.get_by_role("link", name="Next questions").click()
    await expect(sentences(page)).to_have_text(["d?"])
    await expect(page.get_by_label("Risk")).to_have_value("high")
    await expect(page.get_by_role("link", name="Next questions")).to_have_count(0)
    await page.get_by_role("link", name="From the first one").click()
    await expect(sentences(page)).to_have_text(["b?"])
    await page.goto(f"{look.url}/?after=nonsense")
    await expect(page.get_by_text("There is no such page of the inbox.")).to_be_visible()


async def test_how_many_questions_wait_is_up_to_date_on_every_page_that_one_looks_at(
    look: Look, new_page: NewPage
) -> None:
    page = await look.visit(new_page, "bob", "sre", path="/numbers")
    count = page.locator("#waiting")
    await expect(count).to_be_hidden()
    pen, name = ask(look.journal, "one", 60)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    # Time goes by faster in this tab.
    await page.evaluate("look()")
    await expect(count).to_contain_text("1")
    await page.evaluate(f"{HIDE}; {TURN}; look()")
    pen.answer(name, "approve", "ann", "Ann")
    assert len(asked) == 1
    await page.evaluate(f"window.away = false; {TURN}")
    await expect(count).to_be_hidden()
    assert asked == [f"{look.url}/waiting"] * 2

    other = Pen(look.journal, "two")
    other.ask("Restart two")
    await page.goto(f"{look.url}/sessions/two")
    other.think("", ("restart", {}, WRITE))
    other.open("1.1", "restart", {}, "two?", terms=Terms("sre"))
    await expect(page.get_by_text("two?").first).to_be_visible()
    await expect(count).to_contain_text("1")


async def test_a_page_that_is_older_than_its_sessions_first_question_gets_its_name(
    look: Look, new_page: NewPage
) -> None:
    pen = Pen(look.journal, "later")
    look.journal.begin_run("later", pen.run, pen.at, ANN)
    page = await look.visit(new_page, "vic", "viewer", path="/sessions/later")
    await expect(page.get_by_role("heading", level=1)).to_have_text("later")
    pen.ask("Why is it slow?")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Why is it slow?")
    await expect(page).to_have_title("Why is it slow? · OpsPilot")


async def test_one_colour_says_what_waits_for_whoever_looks(look: Look, new_page: NewPage) -> None:
    seed(look.journal)
    colours = set()
    for who, roles, path in (
        ("cleo", ["approver"], "/"),
        ("clea", ["approver"], "/sessions"),
        ("cleb", ["approver"], "/sessions/restart-payment"),
    ):
        page = await look.visit(new_page, who, *roles, path=path)
        every = page.locator(".badge", has_text="waiting for you")
        await expect(every.first).to_be_visible()
        colours |= set(await every.evaluate_all("all => all.map(each => getComputedStyle(each).backgroundColor)"))
    assert len(colours) == 1
    ann = await look.visit(new_page, "ann", "operator", path="/sessions/restart-payment")
    others = ann.locator(".badge", has_text="waiting for the role approver")
    shown = await others.evaluate_all("all => all.map(each => getComputedStyle(each).backgroundColor)")
    assert len(shown) == 3
    assert not colours & set(shown)


async def test_more_tabs_than_a_browser_has_connections_can_be_open(look: Look, new_page: NewPage) -> None:
    """Six are looked at and left, six are opened behind the others: all live when somebody comes to them."""
    seed(look.journal)
    front = await look.visit(new_page, "cleo", "approver", "sre")
    left = [front, *[await new_page(front.context) for _ in range(5)]]
    for number, tab in enumerate(left):
        async with tab.expect_response(lambda response: "/changes" in response.url):
            await tab.goto(f"{look.url}{'/sessions/scale-search' if number % 2 else '/'}")
        await tab.evaluate(f"{HIDE}; {TURN}")
    behind = [await new_page(front.context) for _ in range(6)]
    for number, tab in enumerate(behind):
        await tab.add_init_script(HIDE)
        await tab.goto(f"{look.url}{'/sessions/scale-search' if number % 2 else '/'}")
    ask(look.journal, "late", 1)
    seventh = await new_page(front.context)
    await seventh.goto(look.url)
    await expect(sentences(seventh)).to_have_count(5)
    await seventh.close()
    for tab in (left[0], behind[0]):
        await expect(sentences(tab)).to_have_count(4)
        await tab.evaluate(f"window.away = false; {TURN}")
        await expect(sentences(tab)).to_have_count(5)
