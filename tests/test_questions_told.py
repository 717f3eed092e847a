"""Questions to people in a terminal: the inbox, the terms, how they stand, and each thing that can become of one."""

import io
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.console import Console

from opspilot.cli.inbox import inbox_table, print_inbox
from opspilot.cli.listing import Wanted
from opspilot.cli.questions import happening, in_one_line, standing, terms, what_it_shows
from opspilot.cli.terminal import TerminalView
from opspilot.cli.transcript import transcript
from opspilot.core.entries import Entry, Kind
from opspilot.core.sensitive import MASK
from opspilot.journal.queries import Approval, InterruptRow, SessionRow
from opspilot.texts.language import Language, speak, speaking

NOW = datetime(2030, 1, 10, 12, 0, tzinfo=UTC)

ROW = InterruptRow(
    session="talk", run="r1", interrupt="1.1#0", call="1.1", kind="confirm_risky", reason="It hurts.", payload={},
    role="approver", due=NOW + timedelta(hours=23, minutes=5), tool="restart", arguments={"service": "db"}, digest="d",
    state="open", opened_at=NOW - timedelta(minutes=5), settled_at=None, action=None, by=None, comment=None,
    rule="production", risk="high", quorum=2, requester="dana", requester_name="Dana", not_requester=True,
    roles=("approver", "lead"), approvals=(Approval("eve", "Eve", NOW, ""),), title="Restart the database",
)  # fmt: skip
PLAIN = replace(ROW, session="other", due=None, rule="unmatched-write", risk="medium", quorum=1, not_requester=False)
PLAIN = replace(PLAIN, roles=(), role="", approvals=(), requester="eve", title="Something else", opened_at=NOW)


class Waiting:
    """A journal in which these questions wait."""

    def __init__(self, *rows: InterruptRow) -> None:
        self.rows = rows

    def open_interrupts(self) -> tuple[InterruptRow, ...]:
        return self.rows


class Terminal(io.StringIO):
    """Somebody looks at it."""

    def isatty(self) -> bool:
        return True


def printed(rows: Sequence[InterruptRow], wanted: Wanted, output: io.StringIO, *, as_json: bool = False) -> list[str]:
    print_inbox(Waiting(*rows), wanted, output, NOW, as_json=as_json)
    return output.getvalue().split("\n")[:-1]


# ---------------------------------------------------------------- a question

VALUES = replace(
    ROW, kind="params_required", reason="Where?", arguments={"item": "box"},
    payload={"fields": ["environment", "count"], "options": {"environment": ["staging", "production"]}, "note": "soon"},
)  # fmt: skip
RESTART = replace(ROW, reason="Restart db? Requests that it is serving may fail.")


def test_a_question_for_values_says_what_it_needs_and_a_yes_or_no_says_nothing_of_it() -> None:
    needed = "needs environment (staging, production), count"
    assert what_it_shows(asdict(VALUES), "talk") == ["item = box", "note: soon", needed]
    assert what_it_shows(asdict(ROW), "talk") == ["service = db"]


def test_a_list_asks_in_the_readers_language() -> None:
    with speaking(Language.CHINESE):
        assert in_one_line(RESTART) == '1.1 restart service="db": 重启 db 吗？它正在处理的请求可能失败。'


# ---------------------------------------------------------------- the inbox


def test_a_pipe_gets_a_line_with_tabs_for_each_question() -> None:
    assert printed([ROW, PLAIN], Wanted(), io.StringIO()) == [
        (
            "talk\t1.1#0\tasked=2030-01-10T11:55:00+00:00\tdue=2030-01-11T11:05:00+00:00\trisk=high\t"
            "roles=approver,lead\tagreed=1/2\tkind=confirm_risky\t"
            '1.1 restart service="db": It hurts.'
        ),
        (
            "other\t1.1#0\tasked=2030-01-10T12:00:00+00:00\tdue=-\trisk=medium\troles=-\tagreed=0/1\tkind=confirm_risky\t"
            '1.1 restart service="db": It hurts.'
        ),
    ]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(), ["talk", "other"]),
        (Wanted(owner="eve"), ["other"]),
        (Wanted(text="DATABASE"), ["talk"]),
        (Wanted(text="oth"), ["other"]),
        (Wanted(since=NOW - timedelta(minutes=1)), ["other"]),
        (Wanted(until=NOW), ["talk"]),
        (Wanted(limit=1), ["talk"]),
        (Wanted(owner="nobody"), []),
    ],
)
def test_questions_are_chosen_by_who_asked_when_and_in_which_session(wanted: Wanted, found: list[str]) -> None:
    assert [line.split("\t")[0] for line in printed([ROW, PLAIN], wanted, io.StringIO())] == found


def test_json_is_one_question_a_line_without_secrets_and_sensitive_values() -> None:
    schema = {"properties": {"pin": {"type": "string", "writeOnly": True}, "note": {"type": "string"}}}
    arguments = {"pin": "1234567", "note": "password=hunter2hunter2"}
    row = replace(ROW, schema=schema, arguments=arguments)
    (line,) = printed([row], Wanted(), Terminal(), as_json=True)
    shown = json.loads(line)
    assert shown["arguments"]["pin"] == MASK
    assert "hunter2" not in line
    assert shown["schema"] == schema
    assert (shown["interrupt"], shown["quorum"], shown["approvals"][0]["by"]) == ("1.1#0", 2, "eve")


def test_a_line_for_a_pipe_stays_one_line_whatever_it_holds() -> None:
    row = replace(ROW, reason="a\nb\tc\x1b[2J", arguments={"x": "1\n2\t3"})
    (line,) = printed([row], Wanted(), io.StringIO())
    assert line.count("\t") == 8
    assert "\x1b" not in line


@pytest.mark.parametrize("width", [30, 50, 100])
def test_a_terminal_gets_a_table_that_keeps_to_the_window(width: int) -> None:
    output = io.StringIO()
    Console(file=output, width=width).print(inbox_table([ROW, PLAIN], NOW, width))
    lines = output.getvalue().rstrip("\n").split("\n")
    assert len(lines) == 3
    assert max(map(len, lines)) <= width
    assert ("5 min" in lines[1], "23 h" in lines[1]) == (width >= 36, width >= 36)
    assert ("high risk" in lines[1], "approver / lead" in lines[1]) == (width >= 60, width >= 60)
    assert "anybody" in lines[2] or width < 60


def test_a_terminal_says_how_to_answer_and_when_there_is_nothing_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    assert "starter.py answer SESSION" in "\n".join(printed([ROW], Wanted(), Terminal()))
    assert printed([], Wanted(), Terminal()) == ["Nothing waits for anybody."]


# ---------------------------------------------------------------- terms and standing


def test_the_terms_say_rule_risk_who_how_many_and_who_not() -> None:
    assert terms(asdict(ROW)) == (
        "rule production · high risk · for the role approver / lead · 2 people have to agree · "
        "not Dana, who asked for it"
    )
    assert terms(asdict(PLAIN)) == "rule unmatched-write · medium risk"
    assert terms({}) == ""


def test_the_terms_of_an_entry_say_until_when() -> None:
    data = {"rule": "a", "role": "lead", "due": NOW.isoformat(), "terms": {"not_requester": True}, "requester": "dana"}
    said = terms(data)
    assert said.startswith("rule a · for the role lead · not dana, who asked for it · until 2030-01-1")


def test_how_a_question_stands() -> None:
    said = standing(ROW, NOW)
    assert said.startswith("asked by Dana 5 min ago · until 2030-01-1")
    assert said.endswith(" (23 h left) · 1 of 2 approvals: Eve")
    assert standing(PLAIN, NOW) == "asked by Dana 0 s ago"
    assert "(no time left)" in standing(replace(ROW, due=NOW - timedelta(seconds=1)), NOW)


# ---------------------------------------------------------------- what becomes of it


def entry(kind: Kind, **data: Any) -> Entry:
    return Entry("talk", 1, "r1", "k", kind, NOW, {"interrupt": "1.1#0", **data}, call="1.1")


HAPPENED = [
    (
        entry(Kind.INTERRUPT_APPROVED, by="eve", comment="fine", approvals=1, quorum=2),
        "approve by eve: fine · 1 of 2 approvals; one more person has to agree.",
        "eve 批准：fine · 已有 1/2 人批准；还需要一个人同意。",
    ),
    (
        entry(Kind.INTERRUPT_APPROVED, by="eve", approvals=1, quorum=3),
        "approve by eve · 1 of 3 approvals; 2 more people have to agree.",
        "eve 批准 · 已有 1/3 人批准；还需要 2 个人同意。",
    ),
    (entry(Kind.INTERRUPT_ANSWERED, action="approve", by="eve"), "approve by eve", "eve 批准"),
    (
        entry(Kind.INTERRUPT_ANSWERED, action="provide", by="eve", values={"service": "db2"}, asks_again=True),
        'provide by eve (service="db2") · with these values it is asked again',
        'eve 给出了值（service="db2"） · 用这些值要重新提问',
    ),
    (
        entry(Kind.INTERRUPT_REMINDED),
        "nobody has decided yet; people are reminded",
        "还没有人作出决定；已提醒大家",
    ),
    (
        entry(Kind.INTERRUPT_ESCALATED, role="lead"),
        "nobody has decided yet; people with the role lead may, too",
        "还没有人作出决定；具有角色 lead 的人现在也可以决定",
    ),
    (entry(Kind.INTERRUPT_EXPIRED), "nobody decided in time", "无人在期限内作出决定"),
    (
        entry(Kind.INTERRUPT_EXPIRED, stops=True),
        "nobody decided in time, so the run stops",
        "无人在期限内作出决定，运行因此停止",
    ),
    (
        entry(Kind.ANSWER_IGNORED, by="eve", message="Only people with the role lead may decide this."),
        "the answer of eve was not taken: Only people with the role lead may decide this.",
        "eve 的答复未被采纳：只有具有角色 lead 的人才能决定。",
    ),
    (
        entry(Kind.NOTIFICATION_FAILED, notice="asked", channel="ops-chat", message="It said 503."),
        "ops-chat could not be told: It said 503.",
        "无法通知 ops-chat：It said 503.",
    ),
]


@pytest.mark.parametrize(("happened", "english", "chinese"), HAPPENED)
def test_whatever_becomes_of_a_question_is_told_in_terminal_and_transcript(
    happened: Entry, english: str, chinese: str
) -> None:
    assert happening(happened) == english
    output = io.StringIO()
    TerminalView(output).show(happened)
    assert output.getvalue() == f"  ! 1.1: {english}\n"
    proposed = Entry("talk", 1, "r1", "c", Kind.TOOL_CALL, NOW, {"name": "restart", "arguments": {}}, 1, "1.1")
    session = SessionRow("talk", "dana", "Why?", "done", "answered", "r1", NOW, NOW, 9, 2, 30)
    told = transcript(session, [proposed, happened])
    assert f"- 2030-01-10 12:00:00 UTC: {english}\n" in told.replace("\\", "")
    speak(Language.CHINESE)
    try:
        assert happening(happened) == chinese
    finally:
        speak(Language.ENGLISH)


def test_a_budget_that_nobody_could_be_told_of_stands_in_the_transcript_by_itself() -> None:
    data = {"interrupt": "", "channel": "chat", "message": "It said 503."}
    untold = Entry("talk", 1, "r1", "k", Kind.NOTIFICATION_FAILED, NOW, data)
    session = SessionRow("talk", "dana", "Why?", "done", "answered", "r1", NOW, NOW, 9, 2, 30)
    assert "- 2030-01-10 12:00:00 UTC: chat could not be told: It said 503." in transcript(session, [untold])
    output = io.StringIO()
    TerminalView(output).show(untold)
    assert output.getvalue() == "  ! chat could not be told: It said 503.\n"
