"""Questions about limits, and how budgets stand: as the record says it in English, and in Chinese with its figures."""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from opspilot.cli.questions import in_one_line
from opspilot.cli.terminal import TerminalView
from opspilot.cli.transcript import transcript
from opspilot.core.budget import BudgetName, Use, sentence
from opspilot.core.entries import Entry, Kind
from opspilot.core.limits import Limits, StopReason, extended, go_on, more
from opspilot.core.limits import sentence as why
from opspilot.journal.queries import InterruptRow, SessionRow
from opspilot.texts.endings import asked, ending, told_of_budgets
from opspilot.texts.language import Language, speak

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LIMITS = Limits(steps=3, active_seconds=40.0, tokens=12_345, failures_in_a_row=2)
ASKED_ABOUT = [
    StopReason.MAX_STEPS,
    StopReason.TIMEOUT,
    StopReason.TOO_MANY_FAILS,
    StopReason.LOOP_DETECTED,
    StopReason.BUDGET,
]
CJK = re.compile("[\u4e00-\u9fff]")
FIGURE = re.compile(r"\d[\d,.]*\d|\d")
STANDS = {
    name: sentence(Use(name, 1234.5, 2000.0, 2000.0, 0.0), "ops-1", "alice@example.com", 5400.0) for name in BudgetName
}


@pytest.fixture
def in_chinese() -> Iterator[None]:
    speak(Language.CHINESE)
    yield
    speak(Language.ENGLISH)


def question(reason: StopReason, **figures: Any) -> dict[str, Any]:
    """The data of a question about a limit, as `ask_to_go_on` writes it."""
    arguments = {"limit": reason.value, **figures}
    if (much := more(reason, LIMITS)) is not None and not figures:
        arguments["more"] = int(much)
    return {
        "interrupt": "limit#1",
        "kind": "confirm_risky",
        "tool": "",
        "reason": go_on(reason, LIMITS),
        "arguments": arguments,
    }


BUDGETS = {
    **question(StopReason.BUDGET, session_tokens=4000, user_cost=9.5),
    "reason": go_on(StopReason.BUDGET, LIMITS, f"{STANDS[BudgetName.SESSION_TOKENS]} {STANDS[BudgetName.USER_COST]}"),
}


@pytest.mark.parametrize("data", [*map(question, ASKED_ABOUT), BUDGETS], ids=[*ASKED_ABOUT, "budgets"])
def test_a_question_about_a_limit_is_asked_as_it_was_recorded_and_in_chinese_with_its_figures(
    data: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    assert asked(data) == data["reason"]
    request.getfixturevalue("in_chinese")
    said = asked(data)
    assert CJK.search(said)
    assert not re.search(
        "[A-Za-z]{4,}", said.replace("ops-1", "").replace("alice@example.com", "").replace("token", "")
    )
    assert sorted(FIGURE.findall(said)) == sorted(FIGURE.findall(data["reason"])) or "loop" in str(data["arguments"])


def test_one_more_step_is_one_step() -> None:
    limits = replace(LIMITS, steps=1)
    data = question(StopReason.MAX_STEPS, more=1) | {"reason": go_on(StopReason.MAX_STEPS, limits)}
    assert asked(data) == data["reason"]


@pytest.mark.parametrize(
    "data",
    [
        {"interrupt": "1.1#0", "tool": "restart", "reason": "Really?", "arguments": {"limit": "max_steps", "more": 3}},
        {"interrupt": "limit#1", "tool": "", "reason": "Really?", "arguments": {"limit": "something new"}},
        {"interrupt": "limit#1", "tool": "", "reason": "Really?", "arguments": {"limit": "max_steps"}},
        {"interrupt": "limit#1", "tool": "", "reason": "Really?", "arguments": {"limit": "budget", "user_cost": 3}},
        {"interrupt": "limit#1", "tool": "", "reason": "Really?"},
    ],
)
def test_what_is_not_known_to_be_about_a_limit_stays_as_it_was_written(data: dict[str, Any], in_chinese: None) -> None:
    assert asked(data) == "Really?"


@pytest.mark.parametrize("name", BudgetName)
def test_how_a_budget_stands_is_told_as_it_was_recorded_and_in_chinese_with_its_figures(
    name: BudgetName, request: pytest.FixtureRequest
) -> None:
    said = f"Before. {STANDS[name]} After."
    assert told_of_budgets(said) == said
    request.getfixturevalue("in_chinese")
    told = told_of_budgets(said)
    assert (told[:8], told[-7:]) == ("Before. ", " After.")
    assert CJK.search(told)
    assert sorted(FIGURE.findall(told)) == sorted(FIGURE.findall(said))
    assert not re.search(r"[a-z]{4,} [a-z]{2,}", told)


def test_a_run_that_was_let_go_on_says_which_limit_it_met_in_the_end(in_chinese: None) -> None:
    grants = [StopReason.MAX_STEPS, StopReason.MAX_STEPS, StopReason.TIMEOUT]
    stopped = {
        "stop_reason": "max_steps",
        "message": why(StopReason.MAX_STEPS, extended(LIMITS, grants)),
        "grants": [reason.value for reason in grants],
    }
    assert ending(stopped, LIMITS) == "已达到本次运行 9 步的上限而停止，没有完整的答案。"


def test_a_run_that_stopped_for_a_budget_says_which(request: pytest.FixtureRequest) -> None:
    stands = STANDS[BudgetName.SESSION_TOKENS]
    stopped = {"stop_reason": "budget", "message": why(StopReason.BUDGET, LIMITS, stands)}
    assert ending(stopped, LIMITS) == f"Stopped because a budget is used up. {stands}"
    request.getfixturevalue("in_chinese")
    assert ending(stopped, LIMITS) == "有预算已用完，已停止。 会话 ops-1 已用 1,234 个 token，最多 2,000 个。"


# ---------------------------------------------------------------- where it is shown

STEPS = question(StopReason.MAX_STEPS)
ENTRIES = [
    ("budget.warned", {"message": STANDS[BudgetName.SESSION_COST]}),
    ("interrupt.opened", STEPS),
    ("interrupt.answered", {"interrupt": "limit#1", "action": "reject", "by": "eve", "comment": "enough"}),
]


def entries() -> list[Entry]:
    return [Entry("talk", seq, "r1", str(seq), Kind(kind), NOW, data) for seq, (kind, data) in enumerate(ENTRIES, 1)]


def test_a_terminal_shows_the_warning_the_question_and_the_answer() -> None:
    output = io.StringIO()
    view = TerminalView(output)
    for entry in entries():
        view.show(entry)
    assert output.getvalue() == (
        "  ! Budget: Session ops-1 has cost 1,234.5; it may cost 2,000.\n"
        "\n"
        "  ? A person decides: The limit of this run is reached. Go on for 3 more steps?\n"
        "  ! limit: reject by eve: enough\n"
    )


def test_a_transcript_tells_them_in_their_order() -> None:
    session = SessionRow("talk", "dana", "Why?", "done", "answered", "r1", NOW, NOW, 9, 2, 30)
    told = transcript(session, entries())
    assert told.endswith(
        "- 2030-01-01 00:00:00 UTC: Session ops-1 has cost 1,234.5; it may cost 2,000.\n\n"
        "- 2030-01-01 00:00:00 UTC: waited for a person: The limit of this run is reached. Go on for 3 more steps?\n\n"
        "- 2030-01-01 00:00:00 UTC: reject by eve: enough\n"
    )


def test_a_list_of_open_questions_says_what_is_asked_and_how_to_name_it() -> None:
    row = InterruptRow(
        session="talk", run="r1", interrupt="limit#1", call="limit", kind="confirm_risky", reason=STEPS["reason"],
        payload={}, role="", due=None, tool="", arguments=STEPS["arguments"], digest="d", state="open", opened_at=NOW,
        settled_at=None, action=None, by=None, comment=None,
    )  # fmt: skip
    assert in_one_line(row) == "limit: The limit of this run is reached. Go on for 3 more steps?"
