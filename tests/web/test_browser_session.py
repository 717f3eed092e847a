"""The page of a session in a real browser: it grows as the run goes on, loses nothing, and lets nothing in or out."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, Request, expect
from temporalio.client import Client

from opspilot.core.calls import Gate
from opspilot.core.entries import Kind
from opspilot.core.interrupts import Principal
from opspilot.core.observations import ErrorCode
from opspilot.core.policy import Policy, Rule
from opspilot.core.ports import Draft
from opspilot.core.terms import Terms
from opspilot.testing import Step, call
from opspilot.tools.spec import Tool, tool
from opspilot.web import lasting
from opspilot.web.refusing import SignInNeeded
from tests.web.browsing import Front, Look, overflow_pixels, serious_findings
from tests.web.conftest import NewPage
from tests.web.relay import Relay
from tests.web.seeds import READ, RESTART, RESTART_SCHEMA, WRITE, Pen, finished, seed

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE = (
    "<script>document.title = 'ran'</script><img src=x onerror=\"document.title = 'ran'\"> "
    "![pixel](http://evil.test/p) [click](http://evil.test/) <a href='http://evil.test'>x</a> <form action='http://evil.test'><button>go</button>"
    "</form> <b hx-get='/inbox' hx-trigger='load' id='draft'>x</b> <hx-partial hx-target='#facts'>gone</hx-partial> "
    "</pre></article><style>body{display:none}</style> {{ 7 * 7 }} \u202egnp.exe\u2028<!--"
)


@pytest_asyncio.fixture(loop_scope="session")
async def look(tmp_path: Path) -> AsyncIterator[Look]:
    async with Look(tmp_path) as look:
        yield look


@pytest.fixture
def pen(look: Look) -> Pen:
    pen = Pen(look.journal, "talk")
    pen.ask("Why is it slow?")
    return pen


async def story(page: Page) -> str:
    """What the page tells, as a reader sees it, whatever the moment."""
    await page.evaluate("document.querySelectorAll('time').forEach((time) => { time.textContent = 'then'; })")
    return await page.locator("main").inner_text()


async def test_a_run_appears_step_by_step_and_a_reload_shows_the_same(look: Look, pen: Pen, new_page: NewPage) -> None:
    page = await look.visit(new_page, "vic", "viewer", path="/sessions/talk")
    await expect(page.get_by_role("heading", name="Why is it slow?")).to_be_visible()
    await expect(page.locator("#now")).to_have_text("Thinking")
    look.journal.put_draft("talk", Draft(pen.run, 1, 1, "Let me"))
    await expect(page.locator("#draft")).to_contain_text("Let me")
    look.journal.put_draft("talk", Draft(pen.run, 1, 2, "I look"))
    await expect(page.locator("#draft")).to_contain_text("writing, attempt 2")
    await expect(page.locator("#draft")).not_to_contain_text("Let me")
    pen.think("I look at **two** things.", ("search_logs", {"level": "error"}, READ), ("search_docs", {"q": "x"}, READ))
    await expect(page.locator("#r1-s1 strong")).to_have_text("two")
    await expect(page.locator("#draft")).to_have_text("")
    pen.begin("1.1")
    pen.begin("1.2")
    await expect(page.locator("#now")).to_have_text("Running search_logs, search_docs")
    beside = await page.locator(".call").evaluate_all("all => all.map((each) => each.getBoundingClientRect().top)")
    assert beside[0] == beside[1]
    pen.end("1.2", {"found": 3})
    await expect(page.locator("#r1-c1-2")).to_contain_text("done")
    pen.end("1.1", fault=(ErrorCode.TOOL_FAILED, "The disk is full."), seconds=1.5)
    await expect(page.locator("#r1-c1-1")).to_contain_text("The disk is full.")
    await expect(page.locator("#r1-c1-1")).to_contain_text("1.5 s")
    pen.think("I restart it.", ("restart_service", RESTART, WRITE))
    name = pen.open("2.1", "restart_service", RESTART, "Restart?", terms=Terms("approver"), schema=RESTART_SCHEMA)
    await expect(page.locator("#now")).to_contain_text("waiting for the role approver")
    await expect(page.locator("#facts")).to_contain_text("waiting")
    pen.answer(name, "reject", "ben", "Ben", "Not now.")
    await expect(page.locator("#r1-c2-1")).to_contain_text("Ben rejected")
    pen.end("2.1", fault=(ErrorCode.REJECTED_BY_HUMAN, ""))
    pen.think("It is the disk.")
    pen.stop("answered", "Answered.", "It is the disk.")
    await expect(page.locator("#facts")).to_contain_text("answered")
    await expect(page.locator("#now")).to_have_text("")
    live = await story(page)
    assert "The disk is full." in live
    assert live.count("It is the disk.") == 1
    await page.reload()
    await expect(page.locator("#facts")).to_contain_text("answered")
    assert await story(page) == live


async def test_every_prefix_of_a_story_goes_on_to_the_same_page(look: Look, new_page: NewPage) -> None:
    """Whenever somebody comes, what they see grow is what the whole page would have been."""
    pen = Pen(look.journal, "talk")
    pen.ask("Why?")
    early = await look.visit(new_page, "vic", "viewer", path="/sessions/talk")
    pen.think("One.", ("search_logs", {}, READ), ("search_docs", {}, READ), ("restart_service", {}, WRITE))
    later = await look.visit(new_page, "vera", "viewer", path="/sessions/talk")
    name = pen.open("1.3", "restart_service", {}, "Sure?", terms=Terms("lead", quorum=2))
    pen.begin("1.1")
    pen.agree(name, "ben", "Ben")
    pen.climb(name, Kind.INTERRUPT_ESCALATED, "boss")
    latest = await look.visit(new_page, "vito", "viewer", path="/sessions/talk")
    pen.end("1.1", {"a": 1})
    pen.answer(name, "approve", "cat", "Cat")
    pen.begin("1.3")
    pen.end("1.3", "done")
    pen.stop("cancelled", "Stopped on request; what was found until then is kept.")
    pen.again("And now?")
    pen.think("Nothing.")
    pen.stop("answered", "Answered.", "Nothing.")
    pages = [early, later, latest]
    for page in pages:
        await expect(page.locator("#r2-s1")).to_be_visible()
        await expect(page.locator("#facts")).to_contain_text("answered")
    told = [await story(page) for page in pages]
    await early.reload()
    assert told == [await story(early)] * 3


async def test_a_connection_that_is_cut_in_the_middle_resumes_exactly(
    look: Look, pen: Pen, new_page: NewPage, page_errors: list[str]
) -> None:
    async with Relay(look.url) as relay:
        page = await look.visit(new_page, "vic", "viewer", path="/sessions/talk", url=relay.url)
        for number in range(1, 13):
            pen.think(f"Thought {number}.", ("search_logs", {"page": number}, READ))
            if number % 3 == 0:
                await expect(page.locator("#timeline")).to_contain_text(f"Thought {number - 2}.")
                relay.cut()
            if number % 3 == 2:
                relay.mend()
        relay.mend()
        await expect(page.locator("#timeline")).to_contain_text("Thought 12.")
        steps = await page.locator(".step > .prose").all_inner_texts()
        assert steps == [f"Thought {number}." for number in range(1, 13)]
        await expect(page.locator(".call")).to_have_count(12)
        await page.close()
    page_errors.clear()


async def test_a_stream_that_the_server_ends_goes_on_unseen_until_one_is_signed_out_and_told_so(
    look: Look, pen: Pen, new_page: NewPage, page_errors: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lasting, "RECHECK_SECONDS", 0.2)
    page = await look.visit(new_page, "vic", "viewer", path="/sessions/talk")
    connected: list[str | None] = []

    def note(request: Request) -> None:
        if "/changes" in request.url:
            connected.append(request.headers.get("last-event-id"))

    page.on("request", note)
    await page.evaluate(
        """for (const notice of document.querySelectorAll("#trouble, #signed-out")) {
             const look = () => { if (!notice.hidden) window.flickered = notice.id; };
             new MutationObserver(look).observe(notice, {attributes: true});
           }"""
    )
    with monkeypatch.context() as patch:
        patch.setattr(lasting, "_need_known", _ends_it)
        for number in range(1, 5):
            pen.think(f"Thought {number}.", ("search_logs", {"page": number}, READ))
            await expect(page.locator("#timeline")).to_contain_text(f"Thought {number}.")
            async with page.expect_request(lambda request: "/changes" in request.url):
                pass
    steps = await page.locator(".step > .prose").all_inner_texts()
    assert steps == [f"Thought {number}." for number in range(1, 5)]
    assert len(connected) >= 4
    assert await page.evaluate("window.flickered") is None

    other = await new_page(page.context)
    await other.goto(f"{look.url}/sessions/talk")
    await other.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_text("Your sign-in has ended")).to_be_visible()
    await expect(page.locator("#trouble")).to_be_hidden()
    assert await serious_findings(page) == []
    asked = len(connected)
    pen.think("Nobody else's business.", ("search_logs", {}, READ))
    await page.get_by_role("link", name="Sign in").click()
    await expect(page.locator("#token")).to_be_visible()
    assert len(connected) == asked
    await page.locator("#token").fill(await asyncio.to_thread(look.tokens.add, "vera", ("viewer",)))
    await page.locator("main button").click()
    await expect(page.locator("#timeline")).to_contain_text("Nobody else's business.")
    await asyncio.gather(page.close(), other.close())
    assert [error for error in page_errors if "status 401" not in error] == []
    page_errors.clear()


async def _ends_it(*_: object) -> None:
    """As behind a proxy, where only a new request tells whether they are still there."""
    raise SignInNeeded


async def test_nothing_that_a_model_or_a_tool_says_runs_in_the_page_or_leads_out_of_it(
    look: Look, pen: Pen, new_page: NewPage
) -> None:
    page = await look.visit(new_page, "vic", "viewer", path="/sessions/talk")
    long = (HOSTILE + "\n") * 500
    assert len(long) > 200_000
    pen.think(HOSTILE, (HOSTILE[:60], {HOSTILE: HOSTILE}, READ), ("search_logs", HOSTILE, READ))
    pen.begin("1.1")
    pen.end("1.1", {"text": HOSTILE, HOSTILE[:40]: [HOSTILE]})
    pen.end("1.2", long)
    pen.think(HOSTILE, ("fail", {}, WRITE), reasoning=HOSTILE)
    pen.open("2.1", "fail", {"text": HOSTILE}, HOSTILE, payload={"note": HOSTILE}, schema={"properties": {HOSTILE: 1}})
    look.journal.put_draft("talk", Draft(pen.run, 3, 1, HOSTILE))
    await expect(page.locator("#draft")).to_contain_text("evil.test")
    for _ in range(2):
        await expect(page.locator("#r1-c1-2")).to_contain_text("Read more")
        assert await page.title() != "ran"
        outside = (
            "a[href*='evil'], form[action*='evil'], [onerror], img:not(.brand img), style, main [hx-trigger='load']"
        )
        assert await page.locator(outside).count() == 0
        assert await page.locator("#facts").inner_text() != "gone"
        assert await page.locator("#draft").count() == 1
        assert await overflow_pixels(page) == 0
        await page.reload()


async def test_a_long_result_is_read_on_to_its_end(look: Look, pen: Pen, new_page: NewPage) -> None:
    whole = json.dumps([f"line {number}: {'x' * 40}" for number in range(4000)])
    assert len(whole) > 200_000
    pen.think("I look.", ("search_logs", {}, READ))
    pen.begin("1.1")
    excerpt = {"excerpt": whole[:4000], "total_chars": len(whole), "read_more": {"ref": "x", "offset": 4000}}
    pen.end("1.1", excerpt)
    look.journal.append("talk", pen.run, (), {"x": whole})
    page = await look.visit(new_page, "vic", "viewer", path="/sessions/talk")
    call = page.locator("#r1-c1-1")
    while await call.locator("a.more").count():
        shown = await call.locator("pre").count()
        await call.locator("a.more").click()
        await expect(call.locator("pre")).to_have_count(shown + 1)
    assert "".join(await call.locator("pre").evaluate_all("all => all.map((each) => each.textContent)")) == whole


async def test_what_is_typed_into_an_open_question_stays_while_others_agree(
    look: Look, pen: Pen, new_page: NewPage
) -> None:
    pen.think("I restart it.", ("restart_service", RESTART, WRITE))
    name = pen.open("1.1", "restart_service", RESTART, "Restart?", terms=Terms("approver", quorum=2))
    page = await look.visit(new_page, "cat", "approver", path="/sessions/talk")
    await page.get_by_label("Comment").fill("Me too")
    pen.agree(name, "ben", "Ben")
    await expect(page.get_by_text("1 of 2 approvals")).to_be_visible()
    await expect(page.get_by_text("Ben approved")).to_be_visible()
    await expect(page.get_by_label("Comment")).to_have_value("Me too")
    await expect(page.get_by_label("Comment")).to_be_focused()
    await page.keyboard.type(".")
    pen.climb(name, Kind.INTERRUPT_REMINDED)
    await expect(page.get_by_text("Reminded")).to_be_visible()
    await expect(page.get_by_label("Comment")).to_have_value("Me too.")


async def test_a_link_to_a_step_leads_to_it(look: Look, new_page: NewPage) -> None:
    finished(look.journal, "talk")
    page = await look.visit(new_page, "vic", "viewer", path="/sessions/talk")
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.locator("#r1-s3").get_by_label("Copy a link to Step 3").click()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{look.url}/sessions/talk#r1-s3"
    await page.goto("about:blank")
    await page.goto(copied)
    await expect(page.locator("#r1-s3")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("scheme", "sessions"),
    [
        ("light", ["payment-errors", "scale-search", "which-window", "long-hunt"]),
        ("dark", ["payment-errors", "restart-payment"]),
    ],
)
async def test_every_kind_of_session_fits_a_phone_and_axe_finds_nothing_serious(
    look: Look, new_page: NewPage, scheme: str, sessions: list[str]
) -> None:
    seed(look.journal)
    size = {"width": 375, "height": 700}
    page = await look.visit(new_page, "ann", "operator", "approver", viewport=size, color_scheme=scheme)
    for session in sessions:
        await page.goto(f"{look.url}/sessions/{session}")
        await expect(page.locator("#timeline .step").first).to_be_visible()
        assert await overflow_pixels(page) == 0
        assert await serious_findings(page) == []


# ---------------------------------------------------------------- with a run behind it


@pytest_asyncio.fixture(loop_scope="session")
async def front(temporal: Client, tmp_path: Path) -> AsyncIterator[Front]:
    policy = Policy((Rule("changes", Gate.CONFIRM, tools=("change",), terms=Terms("sre")), Rule("rest", Gate.RUN)))
    async with Front(temporal, tmp_path, [change()], policy=policy) as front:
        yield front


def change() -> Tool:
    @tool()
    def change(name: str) -> str:
        """Change something."""
        return f"changed {name}"

    return change


@pytest.mark.slow
async def test_a_question_is_answered_where_it_stands_and_the_run_goes_on_before_ones_eyes(
    front: Front, new_page: NewPage
) -> None:
    script = [Step(text="I change it.", calls=[call("change", name="db")]), Step(text="It is fast now.")]
    async with front.desk.worker(script):
        session = (await front.desk.ask("Make it fast.")).session
        await front.desk.waiting(session)
        page = await front.visit(new_page, "bob", "sre", path=f"/sessions/{session}#1.1%230")
        await expect(page.locator("#now")).to_contain_text("waiting for you")
        await page.get_by_role("button", name="Approve").click()
        await expect(page.get_by_text("bob approved")).to_be_visible()
        await expect(page.get_by_text("changed db")).to_be_visible()
        await expect(page.get_by_text("It is fast now.")).to_be_visible()
        await expect(page.locator("#facts")).to_contain_text("answered")
        await front.desk.until(session, Kind.RUN_STOPPED)


async def test_messages_are_sent_and_a_run_is_stopped(front: Front, new_page: NewPage) -> None:
    script = [Step(text="I change it.", calls=[call("change", name="db")]), Step(text="Hello again.")]
    front.desk.opspilot = front.backend.look(Principal("ann", "Ann", ("operator",)))
    async with front.desk.worker(script):
        session = (await front.desk.ask("Make it fast.")).session
        await front.desk.waiting(session)
        page = await front.visit(new_page, "ann", "operator", path=f"/sessions/{session}")
        await page.get_by_role("button", name="Stop the run").click()
        await expect(page.get_by_text("Asked the run to stop")).to_be_visible()
        await expect(page.get_by_text("Stopped on request")).to_be_visible()
        await expect(page.get_by_role("button", name="Stop the run")).to_have_count(0)
        await page.get_by_label("Message").fill("Are you still there?")
        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_text("Are you still there?")).to_be_visible()
        await expect(page.get_by_text("Hello again.")).to_be_visible()
        await expect(page.get_by_label("Message")).to_have_value("")
        others = await front.visit(new_page, "olga", "operator", path=f"/sessions/{session}")
        await expect(others.get_by_text("Hello again.")).to_be_visible()
        await expect(others.get_by_label("Message")).to_have_count(0)
        await asyncio.gather(page.close(), others.close())
