"""The page of a session over HTTP, the story that it tells, and how what models and tools say is shown."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from opspilot.core.entries import Entry, Kind, NewEntry
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode
from opspilot.core.ports import Draft
from opspilot.core.terms import Terms
from opspilot.temporal import connect
from opspilot.web.prose import MOST_CHARACTERS, prose
from opspilot.web.story.results import SHOWN_CHARACTERS, STRETCH_CHARACTERS, shown
from opspilot.web.story.timeline import Call, End, Question, Run, Step, Timeline
from tests.web.seeds import ANN, READ, RESTART, WRITE, Pen, finished, seed
from tests.web.stand import Stand

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest_asyncio.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    """Without a Temporal: what only needs the journal works all the same."""
    async with Stand(await connect("127.0.0.1:1", lazy=True), tmp_path) as stand:
        yield stand


@pytest.fixture
def pen(stand: Stand) -> Pen:
    pen = Pen(stand.desk.journal, "talk")
    pen.ask("Why is it slow?")
    return pen


async def page(stand: Stand, path: str = "/sessions/talk", *roles: str, who: str = "vic") -> str:
    """What somebody sees there."""
    client = await stand.browser(who, *(roles or ("viewer",)))
    response = await client.get(path)
    assert response.status_code == 200, response.text
    return unescape(response.text)


# ---------------------------------------------------------------- the page


async def test_it_tells_the_whole_story(stand: Stand) -> None:
    finished(stand.desk.journal, "talk")
    told = await page(stand)
    for words in (
        "Why did the payment service fail this morning", "Ann Lee", "Step 1", "<strong>payment</strong>", "search_logs",
        "The catalogue has no Component called payment.", "tool_failed", "1.4 s", "18.2 s", "Ben Ortiz approved",
        "“Traffic is low, go ahead.”", "<td>07:20</td>", "payment.md (https://docs.example/payment.md)", "Answered.",
        "13,260 tokens (12,400 in, 860 out)", "cost 0.0371", "write",
    ):  # fmt: skip
        assert words in told, words
    assert told.count('class="call card beside"') == 3
    assert 'href="https://docs' not in told


async def test_every_kind_of_session_is_shown_to_everybody(stand: Stand) -> None:
    seed(stand.desk.journal)
    for session in ("payment-errors", "restart-payment", "scale-search", "which-window", "long-hunt"):
        for role in ("viewer", "approver", "admin"):
            client = await stand.browser(f"{role}-{session}", role)
            assert (await client.get(f"/sessions/{session}")).status_code == 200


@pytest.mark.parametrize(
    ("who", "roles", "waits", "answers", "steers"),
    [
        ("vic", ("viewer",), "waiting for the role approver", False, False),
        ("bo", ("approver",), "waiting for you", True, False),
        ("olga", ("operator",), "waiting for the role approver", False, False),
        ("ann", ("operator",), "waiting for the role approver", True, True),
        ("root", ("admin",), "waiting for you", True, True),
    ],
)
async def test_who_looks_is_told_whom_the_run_waits_for_and_offered_what_they_may_do(
    stand: Stand, pen: Pen, who: str, roles: tuple[str, ...], waits: str, *, answers: bool, steers: bool
) -> None:
    pen.think("I restart it.", ("restart_service", RESTART, WRITE))
    pen.open("1.1", "restart_service", RESTART, "Restart?", terms=Terms("approver"))
    told = await page(stand, "/sessions/talk", *roles, who=who)
    assert waits in told
    assert ("Comment" in told) == answers
    assert ("Stop the run" in told, 'id="message"' in told) == (steers, steers)


async def test_a_run_that_temporal_ended_behind_our_back_is_shown_so(stand: Stand, pen: Pen) -> None:
    pen.think("I restart it.", ("restart_service", RESTART, WRITE))
    pen.open("1.1", "restart_service", RESTART, "Restart?")
    stand.desk.journal.end_ghost("talk", pen.run, NOW)
    told = await page(stand, "/sessions/talk", "admin")
    assert "This run ended outside OpsPilot: it was terminated, or timed out, in Temporal." in told
    assert "This is closed: the run ended, or went on without it." in told
    assert "Approve" not in told
    assert "Stop the run" not in told


async def test_secrets_do_not_reach_the_page_and_sensitive_arguments_are_masked(stand: Stand, pen: Pen) -> None:
    pen.think("password=hunter22", ("search_logs", {"note": "password=hunter22"}, READ))
    pen.begin("1.1")
    pen.end("1.1", {"text": "password=hunter22"}, whole="password=hunter22 " * 10)
    stand.desk.journal.put_draft("talk", Draft(pen.run, 2, 1, "password=hunter22"))
    told = await page(stand)
    assert "hunter22" not in told
    assert 'aria-busy="true"' in told


async def test_a_session_that_is_not_there_and_one_of_strange_name_are_told_in_a_sentence(stand: Stand) -> None:
    client = await stand.browser("vic", "viewer")
    for path in ("/sessions/nobody", "/sessions/%00", "/sessions/a%2Fb%3Fc", "/sessions/nobody/changes"):
        response = await client.get(path, headers={"Accept": "text/html"})
        assert response.status_code == 404
        assert "<main" in response.text
    assert (await (await stand.anybody()).get("/sessions/nobody")).status_code == 401


# ---------------------------------------------------------------- results


async def test_a_page_stays_small_however_much_a_tool_returns(stand: Stand, pen: Pen) -> None:
    pen.think("I look.", *((f"tool_{at}", {}, READ) for at in range(3)))
    pen.end("1.1", "<b>" + "x" * 200_000)
    pen.end("1.2", {"lines": ["y" * 100] * 2000})
    pen.end("1.3", {"excerpt": "z" * 4000, "total_chars": 900_000, "read_more": {"ref": "r", "offset": 4000}})
    told = await page(stand)
    assert len(told) < 60_000
    assert told.count("Read more (") == 3
    assert "Read more (896,000 characters left)" in told


async def test_the_rest_of_a_result_adds_up_to_the_whole(stand: Stand, pen: Pen) -> None:
    whole = "".join(f"{number},<b>\n" for number in range(9000))
    pen.think("I look.", ("search_logs", {}, READ))
    pen.end("1.1", whole)
    client = await stand.browser("vic", "viewer")
    first = unescape((await client.get("/sessions/talk")).text)
    read = whole[:SHOWN_CHARACTERS]
    assert read in first
    path = f"/sessions/talk/results/{pen.run}/1.1"
    while len(read) < len(whole):
        part = (await client.get(path, params={"offset": len(read)}, headers={"HX-Request": "true"})).text
        assert part.startswith('<pre class="output"')
        stretch = unescape(part.partition(">")[2].partition("</pre>")[0])
        assert 0 < len(stretch) <= STRETCH_CHARACTERS
        read += stretch
        assert ("Read more" in part) == (len(read) < len(whole))
    assert read == whole
    plain = await client.get(path, params={"offset": 6000})
    assert f"Characters 6,001 to 26,000 of {len(whole):,}" in plain.text


@pytest.mark.parametrize(
    ("path", "status"),
    [("run/1.1", 404), ("{run}/9.9", 404), ("{run}/1.1?offset=-1", 422), ("{run}/1.1?offset=x", 422),
     ("{run}/1.1?offset=99999", 200), ("{run}/1.2?offset=10", 404)],
)  # fmt: skip
async def test_what_is_no_part_of_a_result_is_refused(stand: Stand, pen: Pen, path: str, status: int) -> None:
    pen.think("I look.", ("search_logs", {}, READ), ("search_logs", {}, READ))
    pen.end("1.1", "short")
    pen.end("1.2", {"excerpt": "z", "total_chars": 9000})
    client = await stand.browser("vic", "viewer")
    response = await client.get(f"/sessions/talk/results/{path.format(run=pen.run)}")
    assert response.status_code == status


RESULTS: list[tuple[dict[str, Json], dict[str, Json]]] = [
    ({"ok": True, "data": {"a": 1}}, {"values": {"a": 1}}),
    ({"ok": True, "data": "plain"}, {"text": "plain", "total": 5}),
    ({"ok": True, "data": None}, {"text": ""}),
    ({"ok": True, "data": {}}, {"text": "{}"}),
    ({"ok": True, "data": "x" * 8000}, {"text": "x" * 6000, "total": 8000, "rest": 6000}),
    ({"ok": True, "data": "x" * 6500}, {"text": "x" * 6500, "total": 6500, "rest": 0}),
    ({"ok": True, "data": {"excerpt": "e", "total_chars": 9, "read_more": {"ref": "r", "offset": 1}}}, {"rest": 1}),
    ({"ok": True, "data": {"excerpt": "e", "total_chars": 9}}, {"text": "e", "total": 9, "rest": 0}),
    ({"ok": True, "data": {"excerpt": 5, "total_chars": 9}}, {"values": {"excerpt": 5, "total_chars": 9}}),
    ({"ok": False, "errorCode": "timed_out", "message": "The tool did not finish in time."}, {"code": "timed_out"}),
    ({}, {"code": "", "sentence": ""}),
]


@pytest.mark.parametrize(("result", "expected"), RESULTS, ids=[str(result)[:60] for result, _ in RESULTS])
def test_of_each_result_so_much_is_shown(result: dict[str, Json], expected: dict[str, Json]) -> None:
    got = shown(result)
    assert {name: getattr(got, name) for name in expected} == expected


# ---------------------------------------------------------------- messages and stop


@pytest.mark.parametrize("path", ["messages", "stop"])
async def test_only_who_may_steer_a_session_reaches_it_and_is_told_when_temporal_is_away(
    stand: Stand, pen: Pen, path: str
) -> None:
    ann, olga = await stand.browser("ann", "operator"), await stand.browser("olga", "operator")
    vic = await stand.browser("vic", "viewer")
    sent, asks = {"text": "More, please", "id": "m-1"}, {"HX-Request": "true"}
    assert (await vic.post(f"/sessions/talk/{path}", data=sent)).status_code == 403
    others = await olga.post(f"/sessions/talk/{path}", data=sent, headers=asks)
    assert (others.status_code, "belongs to ann" in others.text) == (403, True)
    away = await ann.post(f"/sessions/talk/{path}", data=sent, headers=asks)
    assert (away.status_code, "No Temporal server answers" in away.text) == (503, True)
    if path == "messages":
        assert "More, please</textarea>" in away.text
        assert 'value="m-1"' in away.text
    del ann.headers["X-CSRF-Token"]
    forged = await ann.post(f"/sessions/talk/{path}", data=sent, headers=asks)
    assert forged.status_code == 403
    assert forged.headers["HX-Reswap"] == "afterbegin"


# ---------------------------------------------------------------- the story


class Told:
    """Entries one after the other, as a stream gives them."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self.seq = 0

    def __call__(self, kind: Kind, run: str = "a", call: str | None = None, **data: Json) -> list[Any]:
        """The next entry; what it changes, as `(view, parent)`."""
        self.seq += 1
        step = int(call.partition(".")[0]) if call and "." in call else data.pop("step", None)
        entry = Entry("s", self.seq, run, f"k/{self.seq}", kind, NOW, data, step, call)
        return [(type(part.view), part.parent) for part in self.timeline.add(entry)]


def test_each_entry_changes_as_little_of_the_page_as_it_can() -> None:
    tell = Told()
    assert tell(Kind.RUN_STARTED) == [(Run, "timeline")]
    tell(Kind.USER_MESSAGE, text="?")
    assert tell(Kind.ASSISTANT_MESSAGE, step=1, text="!", tool_calls=[1, 2, 3]) == [(Step, "r1")]
    beside: dict[str, Any] = {"concurrent": True, "gate": "run"}
    assert tell(Kind.TOOL_CALL, call="1.1", **beside) == [(Call, "r1-s1-calls")]
    assert tell(Kind.TOOL_CALL, call="1.2", **beside) == [(Call, "r1-s1-calls"), (Call, "")]
    assert tell(Kind.TOOL_CALL, call="1.3", gate="confirm") == [(Call, "r1-s1-calls")]
    assert [call.beside for call in tell.timeline.runs[0].calls] == [True, True, False]
    assert tell(Kind.INTERRUPT_OPENED, call="1.3", interrupt="1.3#0") == [(Call, "")]
    assert tell(Kind.TOOL_STARTED, call="1.1") == [(Call, "")]
    assert tell(Kind.TOOL_STARTED, call="1.2", void=True) == []
    assert [call.name for call in tell.timeline.running] == ["1.1"]
    assert tell(Kind.INTERRUPT_APPROVED, call="1.3", interrupt="1.3#0") == [(Question, "")]
    assert tell(Kind.INTERRUPT_REMINDED, call="1.3", interrupt="1.3#0") == [(Question, "")]
    assert len(tell.timeline.open_questions) == 1
    assert tell(Kind.INTERRUPT_ANSWERED, call="1.3", interrupt="1.3#0", action="approve") == [(Call, "")]
    assert tell.timeline.open_questions == []
    assert tell(Kind.TOOL_RESULT, call="1.1", ok=True) == [(Call, "")]
    assert tell(Kind.INTERRUPT_OPENED, interrupt="limit#1") == [(Question, "r1")]
    assert tell(Kind.RUN_STOPPED, stop_reason="cancelled") == [(Question, ""), (End, "r1")]
    assert not tell.timeline.is_going_on


def test_a_message_after_the_end_makes_the_run_go_on_and_another_run_stands_below() -> None:
    tell = Told()
    tell(Kind.RUN_STARTED)
    tell(Kind.RUN_STOPPED, stop_reason="answered")
    tell(Kind.USER_MESSAGE, text="One more thing")
    assert tell.timeline.is_going_on
    assert tell(Kind.USER_MESSAGE, run="b", text="?") == [(Run, "timeline")]
    assert tell(Kind.RUN_STARTED, run="b") == []
    assert [run.name for run in tell.timeline.runs] == ["a", "b"]


def test_what_is_repaired_in_an_earlier_run_is_shown_there() -> None:
    tell = Told()
    tell(Kind.RUN_STARTED)
    tell(Kind.ASSISTANT_MESSAGE, step=1, tool_calls=[1])
    tell(Kind.TOOL_CALL, call="1.1")
    tell(Kind.RUN_STARTED, run="b")
    assert tell(Kind.TOOL_RESULT, run="a", call="1.1", ok=False) == [(Call, "")]
    assert tell.timeline.runs[0].calls[0].result is not None


def test_entries_about_what_is_not_there_change_nothing() -> None:
    tell = Told()
    tell(Kind.RUN_STARTED)
    for kind in (
        Kind.TOOL_CALL, Kind.TOOL_STARTED, Kind.TOOL_RESULT, Kind.INTERRUPT_APPROVED, Kind.INTERRUPT_ANSWERED,
        Kind.INTERRUPT_ESCALATED, Kind.NOTIFICATION_SENT, Kind.ANSWER_KEPT,
    ):  # fmt: skip
        assert tell(kind, call="7.1", interrupt="7.1#0") == []


def test_a_draft_is_of_the_latest_attempt_at_what_is_not_said_yet() -> None:
    tell = Told()
    tell(Kind.RUN_STARTED)
    takes = tell.timeline.takes
    assert takes(Draft("a", 1, 1, "x"))
    assert takes(Draft("a", 1, 2, "y"))
    assert not takes(Draft("a", 1, 1, "x, late"))
    assert takes(Draft("a", 1, 2, "y, more"))
    tell(Kind.ASSISTANT_MESSAGE, step=1)
    assert not takes(Draft("a", 1, 3, "z"))
    assert takes(Draft("a", 2, 1, "x"))
    tell(Kind.RUN_STARTED, run="b")
    assert not takes(Draft("a", 2, 2, "x"))


async def test_notices_are_calm_facts(stand: Stand, pen: Pen) -> None:
    budget = "Session talk has used 8 of its 10 tokens."
    pen.write(
        NewEntry("w", Kind.BUDGET_WARNED, NOW, {"message": budget}),
        NewEntry("i", Kind.ANSWER_IGNORED, NOW, {"interrupt": "1.1#0", "by": "eve", "message": "Too late."}),
        NewEntry("n", Kind.NOTIFICATION_FAILED, NOW, {"channel": "chat", "message": "It answers with 500."}),
        NewEntry("s", Kind.NOTIFICATION_SENT, NOW, {"channel": "mail"}),
    )
    told = await page(stand)
    assert budget in told
    assert "An answer by eve was not taken: Too late." in told
    assert "Nobody could be told by chat: It answers with 500." in told


async def test_another_person_may_have_asked_in_another_run(stand: Stand, pen: Pen) -> None:
    pen.think("Because.")
    pen.stop("answered", "Answered.", "Because.")
    pen.who = Principal("root", "Root", ("admin",))
    pen.again("And now?")
    told = await page(stand)
    assert ANN.name in told
    assert "Root" in told


async def test_a_failed_call_and_one_that_did_not_run_are_told_apart(stand: Stand, pen: Pen) -> None:
    pen.think("", ("a", {}, WRITE), ("b", {}, WRITE))
    pen.end("1.1", fault=(ErrorCode.TIMED_OUT, ""))
    pen.end("1.2", fault=(ErrorCode.SKIPPED_AFTER_UNSUCCESSFUL_WRITE, ""))
    told = await page(stand)
    assert '<span class="badge bad">failed</span>' in told
    assert '<span class="badge ">not run</span>' in told
    assert "The tool did not finish in time." in told


# ---------------------------------------------------------------- what models write

WRITTEN: list[tuple[str, str]] = [
    ("**so** `x<y`", "<p><strong>so</strong> <code>x&lt;y</code></p>"),
    ("[here](https://evil.test/x)", "<p>here (https://evil.test/x)</p>"),
    ("<https://evil.test>", "<p>https://evil.test</p>"),
    ("![dot](https://evil.test/p.png)", "<p>dot (https://evil.test/p.png)</p>"),
    ("[![i](http://e/i)](http://e/)", "<p>i (http://e/i) (http://e/)</p>"),
    ("[a][r]\n\n[r]: http://e/ 't'", "<p>a (http://e/)</p>"),
    ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
    ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
    ("<b onclick=x>y</b>", "<p>&lt;b onclick=x&gt;y&lt;/b&gt;</p>"),
    ("a\u202eb\x07", "<p>ab</p>"),
    ("# One\n\n#### Four", "<h3>One</h3><h6>Four</h6>"),
    ("### Three\n\n#### Four\n\n### Three", "<h3>Three</h3><h4>Four</h4><h3>Three</h3>"),
    ("```html\n<i>\n```", "<pre><code>&lt;i&gt;\n</code></pre>"),
    ("~~no~~", "<p><s>no</s></p>"),
    ("2. two", '<ol start="2">\n<li>two</li>\n</ol>'),
]


@pytest.mark.parametrize(("said", "html"), WRITTEN)
def test_what_a_model_writes_is_markdown_that_neither_runs_nor_leads_anywhere(said: str, html: str) -> None:
    assert str(prose(said)).strip() == html


def test_a_text_without_end_is_not_parsed() -> None:
    assert str(prose("*" * (MOST_CHARACTERS + 1))).startswith("<pre>***")
