"""What a person sees of a run: every kind of entry, nothing that a model or tool could use to play with the screen."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from opspilot.cli import terminal
from opspilot.cli.attendant import ExitStatus
from opspilot.cli.blanks import blanks
from opspilot.cli.jsonlines import JsonView
from opspilot.cli.prompting import make_answer, parse_values, value
from opspilot.cli.terminal import TerminalView
from opspilot.core.entries import Entry, Kind
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import AnswerAction, Principal
from opspilot.core.limits import AT_A_LIMIT, Limits, StopReason, sentence
from opspilot.outward import outward
from opspilot.texts.folding import (
    APPROVED_CHARACTERS,
    arguments_line,
    arguments_to_approve,
    compact,
    printable,
    result_lines,
    seconds,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def entry(kind: Kind, data: dict[str, Any], **more: Any) -> Entry:
    return Entry(
        **{"session": "talk", "seq": 1, "run": "r1", "key": "k", "kind": kind, "at": NOW, "data": data, **more}
    )


def shown(*entries: Entry, address: str = "") -> str:
    output = io.StringIO()
    view = TerminalView(output, console_address=address)
    for each in entries:
        view.show(each)
    return output.getvalue()


def test_an_offline_model_is_labelled_and_the_way_to_a_real_one_is_told() -> None:
    assert "OPENAI_API_KEY" in shown(entry(Kind.RUN_STARTED, {"model": "demo (offline)", "tools": ["look"]}))
    assert "offline" not in shown(entry(Kind.RUN_STARTED, {"model": "gpt", "tools": []}))


def test_arguments_that_were_no_json_are_shown_as_the_model_wrote_them() -> None:
    assert '→ 1.1 look {"topic":' in shown(
        entry(Kind.TOOL_CALL, {"name": "look", "arguments": '{"topic": '}, step=1, call="1.1")
    )


def test_a_failed_call_shows_its_code_message_and_duration() -> None:
    call = entry(Kind.TOOL_CALL, {"name": "look", "arguments": {}}, step=1, call="1.1")
    result = {"ok": False, "errorCode": "timed_out", "message": "Too slow.", "duration_ms": 20_000}

    assert "✗ 1.1 look: timed_out (20.0 s): Too slow." in shown(call, entry(Kind.TOOL_RESULT, result, call="1.1"))


def test_what_is_told_of_something_that_was_there_before_is_told_with_its_name_and_its_limits() -> None:
    output = io.StringIO()
    view = TerminalView(output)
    for before in (
        entry(Kind.RUN_STARTED, {"model": "m", "tools": [], "limits": {"steps": 3}}),
        entry(Kind.USER_MESSAGE, {"text": "Why?"}),
        entry(Kind.TOOL_CALL, {"name": "look", "arguments": {}}, step=1, call="1.1"),
        entry(Kind.TOOL_CALL, {"name": "restart", "arguments": {}}, step=1, call="1.2"),
        entry(Kind.INTERRUPT_OPENED, {"interrupt": "1.2#0", "tool": "restart"}, call="1.2"),
    ):
        view.recall(before)
    assert output.getvalue() == ""

    view.show(entry(Kind.TOOL_RESULT, {"ok": True, "data": None}, call="1.1"))
    view.show(entry(Kind.TOOL_RESULT, {"ok": False, "errorCode": "rejected_by_human", "message": "No."}, call="1.2"))
    stopped = {"stop_reason": "max_steps", "message": sentence(StopReason.MAX_STEPS, Limits(steps=3)), "steps": 3}
    view.show(entry(Kind.RUN_STOPPED, stopped, at=NOW + timedelta(seconds=2)))

    lines = output.getvalue().split("\n")
    assert lines[:2] == ["  ✓ 1.1 look", "  ✗ 1.2 restart: rejected_by_human: No."]
    assert "Stopped after 3 steps, the limit of this run, without a complete answer." in lines
    assert "3 steps · 2.0 s" in lines


def test_a_result_of_a_call_that_nobody_knows_of_has_no_empty_name() -> None:
    assert "✗ 1.2: tool_failed: No." in shown(
        entry(Kind.TOOL_RESULT, {"ok": False, "errorCode": "tool_failed", "message": "No."}, call="1.2")
    )


def test_an_interrupt_shows_what_an_approval_would_be_for() -> None:
    data = {
        "interrupt": "2.1#1",
        "kind": "confirm_risky",
        "reason": "It hurts.",
        "tool": "restart",
        "arguments": {"service": "db"},
        "payload": {"impact": "all", "service": "db", "schema": {"type": "object"}},
    }
    text = shown(entry(Kind.INTERRUPT_OPENED, data))

    assert "? 2.1 restart waits for a person: It hurts." in text
    assert "service = db" in text
    assert "impact: all" in text
    assert "service: db" not in text, "what stands in the arguments is not repeated"
    assert "schema" not in text


def question(arguments: dict[str, Any]) -> Entry:
    data = {"interrupt": "2.1#1", "kind": "confirm_risky", "reason": "It hurts.", "tool": "run", "arguments": arguments}
    return entry(Kind.INTERRUPT_OPENED, data)


def test_who_approves_sees_the_whole_of_a_long_value() -> None:
    command = "echo safe; " * 100 + "rm -rf /data"

    assert f"command = {command}\n" in shown(question({"command": command}))
    assert arguments_to_approve({"command": command}, "talk") == f'command="{command}"'


def test_who_approves_is_told_how_much_is_left_out_and_where_all_of_it_is() -> None:
    value = "a" * APPROVED_CHARACTERS + "b" * 1234

    for text in (shown(question({"value": value})), arguments_to_approve({"value": value[1:-1]}, "talk")):
        assert "and 1,234 more characters" in text
        assert "show --json talk" in text
        assert "b" * 10 not in text


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a  b", '"a  b"'), ("a\nb", '"a\\nb"'), ("a\u202eb", '"a\\u202eb"'), ("a\x1bb", '"a\\u001bb"'), ("a b", "a b")],
)
def test_who_approves_sees_spaces_lines_and_characters_that_cannot_be_seen(value: str, expected: str) -> None:
    assert f"value = {expected}\n" in shown(question({"value": value}))


def test_the_answer_is_printed_once_and_the_time_is_that_since_the_question() -> None:
    text = shown(
        entry(Kind.USER_MESSAGE, {"id": "m", "text": "Why?"}),
        entry(Kind.ASSISTANT_MESSAGE, {"text": "Because.", "tool_calls": []}, step=1),
        entry(
            Kind.RUN_STOPPED,
            {"stop_reason": "answered", "answer": "Because.", "message": "Answered.", "steps": 1, "usage": {}},
            at=NOW + timedelta(seconds=2),
        ),
        address="http://console",
    )

    assert text.count("Because.") == 1
    assert "1 step · 2.0 s" in text
    assert "http://console/namespaces/default/workflows/talk/r1/history" in text


def test_an_answer_that_no_message_said_is_printed_at_the_end() -> None:
    data = {"stop_reason": "max_steps", "answer": "So far: a.", "message": "Stopped.", "steps": 2, "usage": {}}
    assert "So far: a." in shown(entry(Kind.RUN_STOPPED, data))


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_of_entry_can_be_shown_even_without_its_data(kind: Kind) -> None:
    assert "Traceback" not in shown(entry(kind, {}))


@given(st.text())
def test_nothing_printable_moves_the_cursor_or_turns_the_text_around(text: str) -> None:
    kept = printable(f"a\x1b[2J\u202eb{text}")

    assert not {c for c in kept if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f" or "\u202a" <= c <= "\u202e"}
    assert kept.startswith("a[2Jb")


def test_hostile_text_is_tamed_wherever_it_stands() -> None:
    evil = "\x1b]0;title\x07\x1b[31m"
    text = shown(
        entry(Kind.RUN_STARTED, {"model": evil, "tools": [evil]}),
        entry(Kind.USER_MESSAGE, {"text": evil}),
        entry(Kind.ASSISTANT_MESSAGE, {"text": evil, "tool_calls": [{}]}, step=1),
        entry(Kind.TOOL_CALL, {"name": evil, "arguments": {evil: evil}}, step=1, call="1.1"),
        entry(Kind.TOOL_RESULT, {"ok": True, "data": {evil: evil}}, call="1.1"),
        entry(Kind.TOOL_RESULT, {"ok": False, "errorCode": evil, "message": evil}, call="1.2"),
        entry(Kind.INTERRUPT_OPENED, {"interrupt": evil, "reason": evil, "tool": evil, "arguments": {evil: evil}}),
        entry(Kind.RUN_STOPPED, {"answer": f"x{evil}", "message": evil}),
    )
    assert "\x1b" not in text
    assert "\x07" not in text


def test_json_is_one_event_a_line_whatever_the_text_holds() -> None:
    output = io.StringIO()
    JsonView(output, outward).show(entry(Kind.USER_MESSAGE, {"text": "a\nb\u2028c 你好"}, step=2))

    assert output.getvalue().count("\n") == 1
    assert "你好" in output.getvalue()
    assert json.loads(output.getvalue())["data"]["text"] == "a\nb\u2028c 你好"


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (None, []),
        ("", []),
        ("done", ["done"]),
        ([1, 2], ["[1, 2]"]),
        ({"a": 1, "b": "x\ny"}, ["a: 1", "b: x y"]),
        (dict.fromkeys("abcdefg", 0), [*(f"{name}: 0" for name in "abcde"), "… and 2 more"]),
    ],
)
def test_results_are_folded_to_their_first_keys(data: Any, lines: list[str]) -> None:
    assert result_lines(data) == lines


@given(st.text(), st.integers(2, 50))
def test_a_folded_value_is_one_line_of_the_given_length(text: str, characters: int) -> None:
    folded = compact(text, characters)
    assert len(folded) <= characters
    assert "\n" not in folded


def test_arguments_read_like_a_command() -> None:
    assert arguments_line({"service": "支付", "limit": 5}) == 'service="支付" limit=5'


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (34.4, "34 ms"),
        (2149.0, "2.1 s"),
        (200_000.0, "3 min 20 s"),
        (119_700.0, "2 min 0 s"),
        (43_500_000.0, "12 h 5 min"),
        (0.0, "0 ms"),
    ],
)
def test_durations_are_short(duration: float, text: str) -> None:
    assert seconds(duration) == text


def test_every_end_of_a_run_has_its_exit_status() -> None:
    statuses = {reason: ExitStatus.of(reason) for reason in StopReason}

    assert {reason for reason, status in statuses.items() if status == 0} == {
        StopReason.ANSWERED,
        StopReason.NOTHING_TO_DO,
    }
    assert {reason for reason, status in statuses.items() if status == 3} == AT_A_LIMIT
    assert [reason for reason, status in statuses.items() if status == 130] == [StopReason.CANCELLED]
    assert set(statuses.values()) == {0, 1, 3, 130}


# ---------------------------------------------------------------- replies


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("5", "5"),
        ("007", "007"),
        ('["a"]', ["a"]),
        ('{"a": 1}', {"a": 1}),
        ('"5"', "5"),
        ("[oops", "[oops"),
        ("true", "true"),
    ],
)
def test_typed_values_stay_text_unless_they_look_like_json(typed: str, meant: Any) -> None:
    assert value(typed) == meant


def test_values_are_pairs_and_anything_else_is_refused() -> None:
    assert parse_values(["a=1", "b = x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    for wrong in ("a", "=1", " =1"):
        with pytest.raises(UsageError, match="is no name=value"):
            parse_values([wrong])


@pytest.mark.parametrize(
    ("payload", "names"),
    [
        ({"fields": ["a", "b"]}, ["a", "b"]),
        ({"fields": [{"name": "a", "label": "A"}]}, ["a"]),
        ({"fields": []}, ["answer"]),
        ({"fields": ["a", "b"], "options": {"a": ["x", 1]}}, ["a (x, 1)", "b"]),
        ({"fields": ["a"], "options": ["x", "y"]}, ["a (x, y)"]),
        ({"fields": ["a"], "options": "xy"}, ["a"]),
        ({}, ["answer"]),
        (None, ["answer"]),
    ],
)
def test_a_question_names_its_fields_or_takes_free_text(payload: Any, names: list[str]) -> None:
    assert list(map(str, blanks({"payload": payload}))) == names


def test_an_answer_is_bound_to_what_was_shown_and_has_an_id_of_its_own() -> None:
    question = {"interrupt": "1.1#1", "digest": "d"}
    first, second = (make_answer(question, Principal("dana"), AnswerAction.REJECT, comment="no") for _ in range(2))

    assert (first.interrupt, first.digest, first.comment) == ("1.1#1", "d", "no")
    assert first.id != second.id


def test_an_answer_keeps_what_looks_like_html() -> None:
    drawn = io.StringIO()
    Console(file=drawn, width=60).print(terminal.markdown("Node: <none>, within <n> ms, `a` **b**"))
    assert drawn.getvalue().strip() == "Node: <none>, within <n> ms, a b"
