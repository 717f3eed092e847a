"""A run that is at a limit asks at the command line: what is shown, how it is answered, in both languages."""

from typing import Any

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.test_command_line import ANSWER, call, session_of

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(90)]

ONE_MORE = "The limit of this run is reached. Go on for 1 more step?"
AT_ONE_STEP = ("ask", "--local", "--max-steps", "1", "--on-limit", "ask")


def look(topic: str, tokens: int = 0) -> dict[str, Any]:
    return {"calls": [call("look", topic=topic)], "final": "So far: a.", "usage": {"input_tokens": tokens}}


def test_without_a_terminal_a_run_at_its_limit_says_how_to_let_it_go_on(desk: Desk) -> None:
    desk.play(look("a"), ANSWER)

    asked = desk.run(*AT_ONE_STEP, "What was it?")
    session = session_of(asked)

    assert asked.status == 4
    assert f"? A person decides: {ONE_MORE}" in asked.out
    assert f"{ONE_MORE} Answer with: starter.py answer {session} --call limit --approve | --reject" in asked.err
    assert desk.run("answer", session).out.startswith(f"limit: {ONE_MORE}\n")
    refused = desk.run("answer", session, "--set", "more=5")
    assert (refused.status, refused.err) == (2, "Not taken: This question takes an approval or a rejection.\n")
    assert "the run goes on" in desk.run("answer", session, "--call", "limit", "--approve").out
    watched = desk.run("watch", session)
    assert watched.status == 0
    assert "approve by dana" in watched.out
    assert "It was **a**." in watched.out
    shown = desk.run("show", session).out
    assert ONE_MORE in shown
    assert "approve by dana" in shown


def test_at_a_terminal_a_person_says_no_and_reads_what_was_found(desk: Desk) -> None:
    desk.play(look("a"), look("b"))

    with desk.at_terminal(*AT_ONE_STEP, "What was it?") as person:
        assert ONE_MORE in person.until("approve, or reject [why]: ")
        person.type("no enough of it\n")
        person.until("So far: a.")
        assert person.end() == 3
        assert "reject by dana: enough of it" in person.shown
        assert "Stopped after 1 steps" in person.shown


def test_who_comes_to_a_session_that_is_at_its_limit_is_shown_what_it_asks(desk: Desk) -> None:
    desk.play(look("a"), {"text": "Both.", "expect": {"contains": "And b?"}})
    session = session_of(desk.run(*AT_ONE_STEP, "What was it?"))

    with desk.at_terminal("ask", "--session", session, "And b?") as person:
        assert ONE_MORE in person.until("approve, or reject [why]: ")
        person.type("yes\n")
        person.until("Both.")
        assert person.end() == 0


def test_the_question_about_a_limit_is_asked_in_chinese(desk: Desk) -> None:
    desk.play(look("a"), ANSWER)

    asked = desk.run(*AT_ONE_STEP, "--lang", "zh", "怎么回事？")
    session = session_of(asked)

    assert "? 请人决定：已达到本次运行的上限。再继续 1 步吗？" in asked.out
    assert f"再继续 1 步吗？请这样答复：starter.py answer {session} --call limit --approve | --reject" in asked.err
    assert desk.run("answer", session, "--lang", "zh").out.startswith("limit: 已达到本次运行的上限。再继续 1 步吗？\n")
    assert desk.run("answer", session, "--reject", "--lang", "zh").status == 0
    assert "已达到本次运行 1 步的上限而停止" in desk.run("watch", session, "--lang", "zh").out


def test_a_budget_warns_and_then_asks(desk: Desk) -> None:
    desk.play(look("a", tokens=90_000), look("b", tokens=20_000), ANSWER)

    asked = desk.run("ask", "--local", "What was it?")
    session = session_of(asked)

    assert asked.status == 4
    assert f"! Budget: Session {session} has used 90,000 of its 100,000 tokens." in asked.out
    question = f"Session {session} has used 110,000 of its 100,000 tokens. Go on for as much again?"
    assert question in asked.out
    assert desk.run("answer", session).out.startswith(f"limit: {question}\n")
    chinese = f"会话 {session} 已用 110,000 个 token，最多 100,000 个。再继续用同样多吗？"
    assert desk.run("answer", session, "--lang", "zh").out.startswith(f"limit: {chinese}\n")
    (event,) = [event for event in desk.run("show", session, "--json").events if event["kind"] == "budget.warned"]
    assert (event["data"]["budget"], event["data"]["used"]) == ("session_tokens", 90_000)
    assert desk.run("answer", session, "--approve").status == 0
    assert "It was **a**." in desk.run("watch", session).out


def test_what_to_do_at_a_limit_is_one_of_two_words(desk: Desk) -> None:
    ended = desk.run("ask", "--local", "--on-limit", "perhaps", "What was it?")

    assert ended.status == 2
    assert ended.err == "--on-limit must be one of stop, ask. See `root ask --help`.\n"
