"""What people are told: in their language, whatever the reason holds, and with a link to the very question."""

from dataclasses import replace
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.budget import BudgetName, Use, sentence
from opspilot.core.contract import Notice
from opspilot.core.limits import Limits, StopReason, go_on
from opspilot.core.ports import Notification
from opspilot.notifying.message import FACTS, MAX_REASON_CHARACTERS, Wording
from opspilot.texts.language import Language, spoken
from tests.notifying.receiver import ASKED

DETAILS = "tool restart_service · risk high · for sre · asked for by alice"
LINK = "https://ops.example/sessions/ops-1#3.1%230"


@pytest.mark.parametrize(
    ("notice", "lines"),
    [
        (Notice.ASKED, ["OpsPilot waits for a person: Restart payment in production?",
                        f"{DETAILS} · until 2026-12-01 12:00 UTC"]),
        (Notice.REMINDED, ["OpsPilot still waits for a person: Restart payment in production?",
                           f"{DETAILS} · until 2026-12-01 12:00 UTC"]),
        (Notice.ESCALATED, ["Nobody has decided yet, so OpsPilot asks sre now, too: Restart payment in production?",
                            "tool restart_service · risk high · asked for by alice · until 2026-12-01 12:00 UTC"]),
        (Notice.EXPIRED, ["Nobody decided in time: Restart payment in production?", DETAILS]),
        (Notice.BUDGET, ["OpsPilot's budget: Restart payment in production?"]),
        (Notice.TEST, ["This is a test of OpsPilot's notifications. Nothing waits for you."]),
    ],
)  # fmt: skip
def test_each_notice_has_its_sentence_its_facts_and_the_link(notice: Notice, lines: list[str]) -> None:
    facts = Wording("https://ops.example").facts(replace(ASKED, notice=notice))
    assert facts["text"].split("\n") == [*lines, LINK]


def test_it_is_said_in_chinese_where_that_is_set() -> None:
    assert Wording("https://ops.example", Language.CHINESE).facts(ASKED)["text"].split("\n") == [
        "OpsPilot 在等待人工处理：Restart payment in production?",
        "工具 restart_service · 风险 高 · 由 sre 处理 · 请求人 alice · 截止 2026-12-01 12:00 UTC",
        LINK,
    ]


LIMITS = Limits(steps=3)
STANDS = sentence(Use(BudgetName.SESSION_TOKENS, 1234.0, 2000.0, 2000.0, 0.0), "ops-1", "alice", 3600.0)
STANDS_IN_CHINESE = "会话 ops-1 已用 1,234 个 token，最多 2,000 个。"
RESTART = "Restart payment? Requests that it is serving may fail."


@pytest.mark.parametrize(
    ("notice", "reason", "said"),
    [
        (Notice.ASKED, go_on(StopReason.MAX_STEPS, LIMITS), "已达到本次运行的上限。再继续 3 步吗？"),
        (Notice.REMINDED, go_on(StopReason.BUDGET, LIMITS, STANDS), f"{STANDS_IN_CHINESE}再继续用同样多吗？"),
        (Notice.BUDGET, STANDS, STANDS_IN_CHINESE),
        (Notice.ASKED, RESTART, "重启 payment 吗？它正在处理的请求可能失败。"),
        (Notice.ASKED, "Wipe orders?", "Wipe orders?"),
    ],
)  # fmt: skip
def test_what_opspilot_itself_asks_is_asked_in_that_language_in_the_text_and_in_the_fact(
    notice: Notice, reason: str, said: str
) -> None:
    about = replace(ASKED, notice=notice, reason=reason)
    assert Wording().facts(about)["reason"] == reason
    facts = Wording("", Language.CHINESE).facts(about)
    assert facts["reason"] == said
    assert facts["text"].split("\n")[0].endswith(f"：{said}")
    assert spoken() is Language.ENGLISH, "who sends goes on speaking as before"


@pytest.mark.parametrize(
    ("notice", "last"),
    [
        (Notice.ASKED, "Question 3.1#0: `opspilot answer ops-1`"),
        (Notice.EXPIRED, "session ops-1"),
        (Notice.BUDGET, "session ops-1"),
    ],
)
def test_without_a_web_ui_it_says_how_else_to_get_there(notice: Notice, last: str) -> None:
    facts = Wording().facts(replace(ASKED, notice=notice))
    assert (facts["link"], facts["text"].split("\n")[-1]) == ("", last)


def test_a_test_without_a_session_is_one_sentence() -> None:
    test = Notification("1", Notice.TEST, session="", interrupt="", reason="")
    assert "\n" not in Wording("https://ops.example").facts(test)["text"]


def test_what_is_not_known_is_left_out() -> None:
    bare = Notification("1", Notice.ASKED, "ops-1", "limit#1", "Go on for 10 more steps?")
    assert Wording().facts(bare)["text"].split("\n") == [
        "OpsPilot waits for a person: Go on for 10 more steps?",
        "Question limit#1: `opspilot answer ops-1`",
    ]


def test_a_risk_and_a_moment_of_another_version_are_shown_as_they_are() -> None:
    assert "risk dire · " in Wording().facts(replace(ASKED, risk="dire"))["text"]
    assert "until tomorrow" in Wording().facts(replace(ASKED, due="tomorrow"))["text"]


ANYTHING = st.text(max_size=2500)


@given(
    reason=ANYTHING, tool=ANYTHING, requester=ANYTHING, language=st.sampled_from([Language.ENGLISH, Language.CHINESE])
)
def test_no_value_can_break_out_of_its_line(reason: str, tool: str, requester: str, language: Language) -> None:
    hostile = replace(ASKED, reason=reason, tool=tool, requester=requester)
    facts = Wording("https://ops.example", language).facts(hostile)
    assert tuple(facts) == FACTS
    assert len(facts["text"].split("\n")) == 3
    assert all(line.isprintable() for line in facts["text"].split("\n"))
    assert facts["text"].split("\n")[2] == LINK
    assert len(facts["reason"]) <= MAX_REASON_CHARACTERS
    assert len(facts["text"]) < 2000


@given(interrupt=st.from_regex(r"(limit|[1-9]\d{0,3}\.[1-9]\d{0,3})#\d{1,3}", fullmatch=True))
def test_a_browser_finds_the_question_by_the_links_fragment(interrupt: str) -> None:
    link = urlsplit(Wording("https://ops.example/pilot").facts(replace(ASKED, interrupt=interrupt))["link"])
    assert (link.path, unquote(link.fragment)) == ("/pilot/sessions/ops-1", interrupt)
