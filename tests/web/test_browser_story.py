"""The story of docs/approvals.md with the mouse: from the address that `up` prints to the report, or turned down.

The shop of examples/shop with its offline model, as it is shipped: a real stack, a real browser.
"""

import asyncio
import re

import pytest
from playwright.async_api import Page, expect

from opspilot.core.entries import Kind
from opspilot.texts.chinese import CHINESE
from opspilot.texts.english import ENGLISH
from tests.e2e.test_approvals import Shop, shop
from tests.web.conftest import NewPage

__all__ = ["shop"]

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(180)]

PATIENCE_MILLISECONDS = 60_000


async def sign_in(shop: Shop, page: Page) -> None:
    """By the address that `up` prints."""
    up = await asyncio.to_thread(shop.run, "up")
    (address,) = re.findall(r"http://127\.0\.0\.1:\d+/sign-in\?token=\S+", up.out)
    await page.goto(address)
    await expect(page.get_by_role("heading", level=1)).to_be_visible()


async def ask(page: Page, words: dict[str, str], question: str) -> str:
    """Ask by the form, and wait until the run waits; its session."""
    await page.get_by_role("link", name=words["ui.nav.ask"], exact=True).click()
    await page.locator("#text").click()
    await page.locator("#text").fill(question)
    await page.get_by_role("button", name=words["ui.ask.send"], exact=True).click()
    await page.wait_for_url(re.compile(r"/sessions/"))
    asked = page.get_by_role("button", name=words["ui.approve"], exact=True)
    await expect(asked).to_be_visible(timeout=PATIENCE_MILLISECONDS)
    await expect(page.get_by_role("status").get_by_text(words["ui.waits.you"])).to_be_visible()
    return page.url.split("/sessions/")[1].partition("#")[0]


async def report(shop: Shop, session: str, page: Page) -> str:
    """The model's answer, once it is in the journal, where the page shows it too."""
    await asyncio.to_thread(shop.until, lambda: shop.entries(session, Kind.RUN_STOPPED))
    answer = str(shop.entries(session, Kind.RUN_STOPPED)[0].data["answer"])
    # Without its Markdown, of which the page makes what it means.
    words = max(re.findall(r"[\w ]+", answer), key=len).strip()
    await expect(page.locator("main")).to_contain_text(words, timeout=PATIENCE_MILLISECONDS)
    return answer


async def test_the_story_of_a_restart_that_somebody_agrees_to_hours_later(shop: Shop, new_page: NewPage) -> None:
    page = await new_page(locale="en-US")
    await sign_in(shop, page)
    session = await ask(page, ENGLISH, "Restart the payment service in production")
    assert shop.restarts(session) == []
    await page.close()
    await asyncio.to_thread(shop.run, "down")

    page = await new_page(locale="en-US")
    await sign_in(shop, page)
    card = page.get_by_role("article").filter(has_text="Restart payment?")
    await card.get_by_role("button", name=ENGLISH["ui.approve"], exact=True).click()
    await page.get_by_role("link", name=ENGLISH["ui.nav.sessions"], exact=True).click()
    await page.get_by_role("link", name="Restart the payment service in production").first.click()
    answer = await report(shop, session, page)
    assert "payment" in answer
    assert shop.restarts(session) == ["payment"]
    (answered,) = shop.entries(session, Kind.INTERRUPT_ANSWERED)
    assert answered.data["action"] == "approve"


async def test_the_story_turned_down_in_chinese_with_a_reason(shop: Shop, new_page: NewPage) -> None:
    page = await new_page(locale="zh-CN")
    await sign_in(shop, page)
    session = await ask(page, CHINESE, "重启生产环境的支付服务")
    await page.get_by_label(CHINESE["ui.comment"]).first.click()
    await page.get_by_label(CHINESE["ui.comment"]).first.fill("发布冻结到周五")
    await page.get_by_role("button", name=CHINESE["ui.reject"], exact=True).first.click()
    answer = await report(shop, session, page)
    assert "发布冻结到周五" in answer
    assert shop.restarts(session) == []
    assert shop.result(session)["errorCode"] == "rejected_by_human"
