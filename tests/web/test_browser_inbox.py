"""The inbox in a real browser: decide, edit, fill in, and see what others do while one looks."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from pydantic import Field
from temporalio.client import Client

from opspilot.core.calls import Gate
from opspilot.core.entries import Kind
from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.policy import Policy, Rule
from opspilot.core.terms import Risk, Terms
from opspilot.testing import Step, call
from opspilot.tools.spec import Tool, tool
from tests.web.browsing import Front, overflow_pixels, serious_findings
from tests.web.conftest import NewPage
from tests.web.relay import Relay
from tests.web.stand import answer, question

pytestmark = pytest.mark.asyncio(loop_scope="session")

DONE = Step(text="That is all.")
CHANGE = [Step(text="The **database** is slow.", calls=[call("change", name="db")]), DONE]
DEPLOY = [Step(calls=[call("deploy", service="search")]), DONE]


def tools(done: list[str]) -> list[Tool]:
    @tool()
    def change(
        name: str,
        by: Annotated[int, Field(ge=1, description="How often.")] = 1,
        notes: str = "",
        safe: bool = True,
        how: str = "slowly",
    ) -> str:
        """Change something."""
        done.append(f"change {name} {by} {safe}{'' if how == 'slowly' else how}")
        return "changed"

    @tool()
    def deploy(service: str, environment: str = "", replicas: int = 0) -> str | Interrupt:
        """Deploy something somewhere."""
        if not environment:
            asked = {"fields": ["environment", "replicas"], "options": {"environment": ["staging", "production"]}}
            return Interrupt(InterruptType.PARAMS_REQUIRED, "Where to, and how many?", asked)
        done.append(f"deploy {service} {environment} {replicas}")
        return "deployed"

    return [change, deploy]


def asks(**terms: Any) -> Policy:
    given = {"role": "sre", "risk": Risk.HIGH, **terms}
    return Policy((Rule("changes", Gate.CONFIRM, tools=("change",), terms=Terms(**given)), Rule("rest", Gate.RUN)))


@pytest.fixture
def done() -> list[str]:
    """What really happened, in order."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def front(temporal: Client, tmp_path: Path, done: list[str]) -> AsyncIterator[Front]:
    async with Front(temporal, tmp_path, tools(done), policy=asks()) as front:
        yield front


@pytest_asyncio.fixture(loop_scope="session")
async def strict(temporal: Client, tmp_path: Path, done: list[str]) -> AsyncIterator[Front]:
    """Two people have to agree."""
    async with Front(temporal, tmp_path, tools(done), policy=asks(quorum=2)) as front:
        yield front


async def asked(front: Front) -> str:
    """A session that waits for a person."""
    session = (await front.desk.ask("Make it fast.")).session
    await front.desk.waiting(session)
    return session


async def test_of_two_who_look_at_one_question_the_slower_is_told_who_was_faster_and_what_they_said(
    front: Front, new_page: NewPage, done: list[str]
) -> None:
    bob, eve = await asyncio.gather(front.visit(new_page, "bob", "sre"), front.visit(new_page, "eve", "sre"))
    async with front.desk.worker(CHANGE):
        await expect(bob.get_by_text("Nothing waits for you.")).to_be_visible()
        session = await asked(front)
        for page in (bob, eve):
            await expect(page.get_by_role("heading", name="change")).to_be_visible()
            await expect(page.locator("#waiting")).to_contain_text("1")
        await expect(bob.get_by_text("The database is slow.")).to_be_visible()
        await bob.get_by_label("Comment").fill("Now is fine.")
        await bob.get_by_role("button", name="Approve").click()
        await expect(bob.get_by_text("Approved; the run goes on.")).to_be_focused()
        await expect(eve.get_by_text("bob has approved this already. They said: Now is fine.")).to_be_visible()
        await expect(eve.get_by_role("button", name="Approve")).to_have_count(0)
        await expect(eve.locator("#waiting")).to_be_hidden()
        await front.desk.until(session, Kind.RUN_STOPPED)
    assert done == ["change db 1 True"]


async def test_who_presses_too_late_is_told_so_and_nothing_happens_twice(
    front: Front, new_page: NewPage, done: list[str]
) -> None:
    async with front.desk.worker(CHANGE):
        session = await asked(front)
        eve = await front.visit(new_page, "eve", "sre")
        await expect(eve.get_by_role("button", name="Reject")).to_be_visible()
        # Nothing reaches this page any more, so that it still shows the question.
        await eve.route("**/inbox/changes*", lambda route: route.fulfill(status=503))
        await eve.reload()
        bob = await front.visit(new_page, "bob", "sre")
        await bob.get_by_role("button", name="Approve").click()
        await front.desk.until(session, Kind.RUN_STOPPED)
        await eve.get_by_role("button", name="Reject").click()
        await expect(eve.get_by_text("bob has approved this already.")).to_be_visible()
    assert done == ["change db 1 True"]


async def test_arguments_are_edited_in_a_form_reviewed_as_a_diff_and_judged_again(
    front: Front, new_page: NewPage, done: list[str]
) -> None:
    async with front.desk.worker(CHANGE):
        session = await asked(front)
        bob = await front.visit(new_page, "bob", "sre")
        await bob.get_by_role("button", name="Edit arguments").click()
        await expect(bob.get_by_text("How often.")).to_be_visible()
        await bob.get_by_label("by").fill("many")
        await bob.get_by_role("button", name="Review the change").click()
        await expect(bob.get_by_text("This must be a whole number.")).to_be_visible()
        await expect(bob.get_by_label("by")).to_have_value("many")
        await bob.get_by_label("by").fill("3")
        await bob.get_by_label("safe").select_option("no")
        await bob.get_by_role("button", name="Review the change").click()
        diff = bob.get_by_role("table", name="What you change")
        await expect(diff.get_by_role("row", name="by")).to_contain_text("1")
        await expect(diff.locator("ins")).to_have_text(["3", "false"])
        await bob.get_by_role("button", name="Go on editing").click()
        await expect(bob.get_by_label("by")).to_have_value("3")
        await bob.get_by_label("by").fill("4")
        await bob.get_by_role("button", name="Review the change").click()
        await bob.get_by_role("button", name="Send this change").click()
        await expect(bob.get_by_text("Taken; the run goes on.")).to_be_visible()
        await front.desk.until(session, Kind.RUN_STOPPED)
    assert done == ["change db 4 False"]


async def test_an_argument_is_left_out_by_its_own_box_which_is_still_ticked_when_one_comes_back(
    front: Front, new_page: NewPage, done: list[str]
) -> None:
    script = [Step(calls=[call("change", name="db", how="fast")]), DONE]
    async with front.desk.worker(script):
        session = await asked(front)
        bob = await front.visit(new_page, "bob", "sre")
        await bob.get_by_role("button", name="Edit arguments").click()
        await bob.get_by_label("leave it out").check()
        await bob.get_by_role("button", name="Review the change").click()
        diff = bob.get_by_role("table", name="What you change")
        await expect(diff.get_by_role("row", name="how")).to_contain_text("left out")
        await bob.get_by_role("button", name="Go on editing").click()
        await expect(bob.get_by_label("leave it out")).to_be_checked()
        await bob.get_by_role("button", name="Review the change").click()
        await bob.get_by_role("button", name="Send this change").click()
        await expect(bob.get_by_text("Taken; the run goes on.")).to_be_visible()
        await front.desk.until(session, Kind.RUN_STOPPED)
    assert done == ["change db 1 True"]


async def test_an_edit_that_is_not_allowed_is_told_with_what_was_typed_still_there(
    front: Front, new_page: NewPage, done: list[str]
) -> None:
    async with front.desk.worker(CHANGE):
        session = await asked(front)
        bob = await front.visit(new_page, "bob", "sre")
        await bob.get_by_role("button", name="Edit arguments").click()
        await bob.get_by_label("by").fill("0")
        await bob.get_by_role("button", name="Review the change").click()
        await expect(bob.get_by_text("1 is the least.")).to_be_visible()
        await bob.get_by_label("by").fill("2")
        await bob.get_by_role("button", name="Review the change").click()
        # As if the form had not known what the tool knows.
        await bob.locator("input[name=values]").evaluate("input => { input.value = '{\"by\": 0}'; }")
        await bob.get_by_role("button", name="Send this change").click()
        await expect(bob.get_by_text("Not taken:")).to_be_visible()
        await expect(bob.get_by_label("by")).to_have_value("0")
        await front.desk.opspilot.stop(session)
        await front.desk.until(session, Kind.RUN_STOPPED)
    assert done == []


async def test_missing_parameters_are_given_in_a_form_with_the_options_offered(
    front: Front, new_page: NewPage, done: list[str]
) -> None:
    async with front.desk.worker(DEPLOY):
        session = await asked(front)
        leo = await front.visit(new_page, "leo", "approver")
        await expect(leo.get_by_text("Where to, and how many?")).to_be_visible()
        await leo.get_by_role("button", name="Send").click()
        await expect(leo.get_by_text("A value is needed.")).to_have_count(2)
        await leo.get_by_label("staging").check()
        await leo.get_by_label("replicas").fill("3")
        await leo.get_by_role("button", name="Send").click()
        await expect(leo.get_by_text("Taken; the run goes on.")).to_be_visible()
        await front.desk.until(session, Kind.RUN_STOPPED)
    assert done == ["deploy search staging 3"]


async def test_a_rejection_with_a_comment_reaches_the_agent_which_goes_on(
    front: Front, new_page: NewPage, done: list[str]
) -> None:
    async with front.desk.worker([*CHANGE[:1], Step(text="Then I leave it alone.")]):
        session = await asked(front)
        bob = await front.visit(new_page, "bob", "sre")
        await bob.get_by_label("Comment").fill("Not during the sale.")
        await bob.get_by_role("button", name="Reject").click()
        await expect(bob.get_by_text("Rejected; the run goes on without it.")).to_be_visible()
        await bob.get_by_role("link", name="Make it fast.").click()
        await expect(bob.get_by_text("Then I leave it alone.")).to_be_visible()
        await expect(bob.get_by_text("Not during the sale.").first).to_be_visible()
        await front.desk.until(session, Kind.RUN_STOPPED)
    assert done == []


async def test_two_approvals_are_counted_while_others_type(strict: Front, new_page: NewPage, done: list[str]) -> None:
    async with strict.desk.worker(CHANGE):
        session = await asked(strict)
        bob, eve = await asyncio.gather(strict.visit(new_page, "bob", "sre"), strict.visit(new_page, "eve", "sre"))
        await eve.get_by_label("Comment").fill("Me too.")
        await bob.get_by_role("button", name="Approve").click()
        await expect(bob.get_by_text("1 of 2 approvals; one more person has to agree.")).to_be_visible()
        await expect(eve.get_by_text("1 of 2 approvals")).to_be_visible()
        await expect(eve.get_by_text("bob approved")).to_be_visible()
        await expect(eve.get_by_label("Comment")).to_have_value("Me too.")
        await expect(eve.get_by_label("Comment")).to_be_focused()
        await eve.keyboard.press("Enter")
        await expect(eve.get_by_text("Approved; the run goes on.")).to_be_visible()
        await strict.desk.until(session, Kind.RUN_STOPPED)
    assert done == ["change db 1 True"]


async def test_an_edit_that_others_have_to_agree_to_is_asked_anew_beside_what_was_asked_before(
    strict: Front, new_page: NewPage, done: list[str]
) -> None:
    async with strict.desk.worker(CHANGE):
        session = await asked(strict)
        bob, eve = await asyncio.gather(strict.visit(new_page, "bob", "sre"), strict.visit(new_page, "eve", "sre"))
        await bob.get_by_role("button", name="Edit arguments").click()
        await bob.get_by_label("by").fill("5")
        await bob.get_by_role("button", name="Review the change").click()
        await bob.get_by_role("button", name="Send this change").click()
        await expect(bob.get_by_text("With other values it is asked anew.")).to_be_visible()
        await expect(eve.get_by_text("bob has answered this already.")).to_be_visible()
        for page in (bob, eve):
            await expect(page.locator("article.question")).to_have_count(2)
            await expect(page.get_by_text("1 of 2 approvals")).to_be_visible()
        await expect(bob.get_by_role("button", name="Approve")).to_have_count(0)
        await eve.get_by_role("button", name="Approve").click()
        await expect(eve.get_by_text("Approved; the run goes on.")).to_be_visible()
        await strict.desk.until(session, Kind.RUN_STOPPED)
    assert done == ["change db 5 True"]


async def test_an_answer_that_does_not_reach_the_server_is_not_taken_for_given(
    front: Front, new_page: NewPage, page_errors: list[str]
) -> None:
    async with Relay(front.url) as relay, front.desk.worker(CHANGE):
        session = await asked(front)
        bob = await front.visit(new_page, "bob", "sre", url=relay.url)
        await bob.get_by_label("Comment").fill("Go.")
        relay.cut()
        await bob.get_by_role("button", name="Approve").click()
        await expect(bob.get_by_text("Lost touch with the server")).to_be_visible()
        await expect(bob.get_by_label("Comment")).to_have_value("Go.")
        relay.mend()
        await bob.get_by_role("button", name="Approve").click()
        await expect(bob.get_by_text("Approved; the run goes on.")).to_be_visible()
        await front.desk.until(session, Kind.RUN_STOPPED)
        await bob.close()
    page_errors.clear()


async def test_everything_can_be_done_with_the_keyboard_alone(front: Front, new_page: NewPage, done: list[str]) -> None:
    async with front.desk.worker(CHANGE):
        session = await asked(front)
        bob = await front.visit(new_page, "bob", "sre")
        await expect(bob.get_by_role("button", name="Edit arguments")).to_be_visible()
        await _tab_to(bob, "Edit arguments")
        await bob.keyboard.press("Enter")
        await expect(bob.get_by_label("by")).to_be_visible()
        await _tab_to_label(bob, "by")
        await bob.keyboard.press("Control+A")
        await bob.keyboard.type("2")
        await _tab_to(bob, "Review the change")
        await bob.keyboard.press("Space")
        await expect(bob.get_by_role("button", name="Send this change")).to_be_visible()
        await _tab_to(bob, "Send this change")
        await bob.keyboard.press("Enter")
        await expect(bob.get_by_text("Taken; the run goes on.")).to_be_visible()
        await front.desk.until(session, Kind.RUN_STOPPED)
    assert done == ["change db 2 True"]


async def test_the_inbox_can_be_narrowed_and_goes_on_living(front: Front, new_page: NewPage) -> None:
    async with front.desk.worker(CHANGE):
        session = await asked(front)
        bob = await front.visit(new_page, "bob", "sre")
        await bob.get_by_text("Filter").click()
        await bob.get_by_label("Risk").select_option("high risk")
        await bob.get_by_role("button", name="Apply").click()
        await expect(bob.get_by_role("heading", name="change")).to_be_visible()
        await bob.goto(f"{front.url}/?tool=deploy")
        await expect(bob.get_by_text("Nothing that waits for you fits these filters.")).to_be_visible()
        await front.desk.opspilot.stop(session)
        await front.desk.until(session, Kind.RUN_STOPPED)
        await bob.goto(front.url)
        await expect(bob.get_by_text("Nothing waits for you.")).to_be_visible()


async def test_a_connection_that_is_cut_resumes_and_nothing_is_shown_twice_or_lost(
    front: Front, new_page: NewPage, page_errors: list[str]
) -> None:
    async with Relay(front.url) as relay, front.desk.worker([*CHANGE, *CHANGE, *CHANGE]):
        bob = await front.visit(new_page, "bob", "sre", url=relay.url)
        cards = bob.locator("article.question")
        first = await asked(front)
        await expect(cards).to_have_count(1)
        relay.cut()
        await expect(bob.get_by_text("Lost touch with the server")).to_be_visible()
        program = await front.program("max", "sre")
        assert (await answer(program, await question(program, first), "approve")).status_code == 200
        await front.desk.until(first, Kind.RUN_STOPPED)
        second = await asked(front)
        relay.mend()
        await expect(cards).to_have_count(2)
        await expect(bob.get_by_text("Lost touch with the server")).to_be_hidden()
        await expect(bob.locator("article.question.settled")).to_have_count(1)
        third = await asked(front)
        await expect(cards).to_have_count(3)
        assert len(set(await cards.evaluate_all("all => all.map(each => each.id)"))) == 3
        await bob.close()
        for session in (second, third):
            await front.desk.opspilot.stop(session)
    # The browser complains of the connection that the test has cut.
    page_errors.clear()


async def test_who_may_only_look_sees_no_buttons(front: Front, new_page: NewPage) -> None:
    async with front.desk.worker(CHANGE):
        session = await asked(front)
        vic = await front.visit(new_page, "vic", "viewer")
        await expect(vic.get_by_text("You may look on, but not answer.")).to_be_visible()
        await vic.goto(f"{front.url}/sessions/{session}/questions/1.1%230")
        await expect(vic.get_by_text("waiting for the role sre")).to_be_visible()
        await expect(vic.locator("main button")).to_have_count(0)
        await front.desk.opspilot.stop(session)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_on_a_phone_nothing_is_cut_off_and_axe_finds_nothing_serious(
    front: Front, new_page: NewPage, scheme: str
) -> None:
    long = "x" * 300
    script = [Step(text=f"Look: `{long}` {long}", calls=[call("change", name=long, notes="word " * 300)]), *DEPLOY]
    async with front.desk.worker([*script, *DEPLOY]):
        await asked(front)
        bob = await front.visit(
            new_page, "bob", "sre", "approver", viewport={"width": 375, "height": 700}, color_scheme=scheme
        )
        await expect(bob.get_by_role("heading", name="change")).to_be_visible()
        assert await overflow_pixels(bob) == 0
        assert await serious_findings(bob) == []
        ground = await bob.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (sum(map(int, ground[4:-1].split(","))) < 200) == (scheme == "dark")
        await bob.get_by_role("button", name="Edit arguments").click()
        await expect(bob.get_by_label("notes")).to_be_visible()
        assert await overflow_pixels(bob) == 0
        assert await serious_findings(bob) == []
        await bob.get_by_label("notes").fill(f"{long}\n{long}")
        await bob.get_by_role("button", name="Review the change").click()
        await expect(bob.get_by_role("button", name="Send this change")).to_be_visible()
        assert await overflow_pixels(bob) == 0
        assert await serious_findings(bob) == []


async def test_it_works_without_scripts(front: Front, new_page: NewPage, done: list[str]) -> None:
    async with front.desk.worker(CHANGE):
        session = await asked(front)
        bob = await front.visit(new_page, "bob", "sre", java_script_enabled=False)
        await bob.get_by_role("button", name="Edit arguments").click()
        await bob.get_by_label("by").fill("2")
        await bob.get_by_role("button", name="Review the change").click()
        await bob.get_by_role("button", name="Send this change").click()
        await expect(bob.get_by_text("bob has answered this already.")).to_be_visible()
        await front.desk.until(session, Kind.RUN_STOPPED)
        await bob.goto(f"{front.url}/sessions/{session}")
        await expect(bob.get_by_text("That is all.")).to_be_visible()
    assert done == ["change db 2 True"]


async def test_chinese_readers_are_spoken_to_in_chinese(front: Front, new_page: NewPage) -> None:
    async with front.desk.worker(CHANGE):
        session = await asked(front)
        page = await front.visit(new_page, "li", "sre", locale="zh-CN")
        await expect(page.get_by_role("button", name="批准")).to_be_visible()
        assert await page.locator("html").get_attribute("lang") == "zh"
        await page.get_by_role("button", name="拒绝").click()
        await front.desk.until(session, Kind.RUN_STOPPED)


async def _tab_to(page: Page, button: str) -> None:
    await _press_tab_until(page, f"document.activeElement.textContent.trim() === {button!r}")


async def _tab_to_label(page: Page, label: str) -> None:
    await _press_tab_until(page, f"document.activeElement.labels?.[0]?.textContent.trim().startsWith({label!r})")


async def _press_tab_until(page: Page, condition: str) -> None:
    for _ in range(60):
        if await page.evaluate(condition):
            return
        await page.keyboard.press("Tab")
    pytest.fail(f"The Tab key never came to where {condition}.")
