"""Answering at the command line: the walk-through at a terminal, the options for scripts, two people, the inbox."""

import re

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.test_command_line import ANSWER, RISKY, call, session_of

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(90)]

THREE = {"calls": [call("place", item="x"), call("restart", service="db"), call("restart", service="web")]}
WIPE = {"calls": [call("wipe", table="orders", rows=3)]}
CHINESE = {"LC_ALL": "zh_CN.UTF-8"}


def waiting_session(desk: Desk, *steps: object) -> str:
    desk.play(*steps)  # type: ignore[arg-type]
    asked = desk.run("ask", "--local", "Do it")
    assert asked.status == 4, asked
    return session_of(asked)


def kinds(desk: Desk, session: str) -> list[tuple[str, str]]:
    """Who did what to the questions of a session."""
    events = desk.run("show", "--json", session).events
    return [
        (event["kind"], f"{event['data']['interrupt']} {event['data'].get('action', event['data'].get('by', ''))}")
        for event in events
        if event["kind"].startswith(("interrupt.a", "answer.i"))
    ]


# ---------------------------------------------------------------- the walk-through


def test_at_a_terminal_what_is_open_is_walked_through_and_then_the_run_is_followed(desk: Desk) -> None:
    session = waiting_session(desk, THREE, {"text": "Done.", "expect": {"contains": "not that one"}})

    with desk.at_terminal("answer", session) as person:
        assert "? 1.1 place waits for a person: Where?" in person.until("environment (staging, production): ")
        person.type("staging\n")
        second = person.until("approve, reject [why]")
        assert "? 1.2 restart waits for a person: Restarting db drops open requests." in second
        assert "service = db" in second
        assert "rule unmatched-write · medium risk" in second
        assert re.search(r"asked by dana \d+ s ago", second)
        person.type("y fine\n")
        person.until("approve, reject [why]", after="? 1.3 restart waits for a person")
        person.type("r\n")
        person.until("Why? The model reads it: ")
        person.type("not that one\n")
        assert "placed x in staging" in person.until("Done.")
        assert person.end() == 0
        assert '! 1.1: provide by dana (environment="staging")' in person.shown
        assert "! 1.2: approve by dana: fine" in person.shown
        assert "! 1.3: reject by dana: not that one" in person.shown
        assert "✗ 1.3 restart: rejected_by_human" in person.shown

    assert sorted(what for kind, what in kinds(desk, session) if kind == "interrupt.answered") == [
        "1.1#1 provide",
        "1.2#0 approve",
        "1.3#0 reject",
    ]


def test_who_skips_goes_on_to_the_next_and_is_told_in_the_end_what_is_left(desk: Desk) -> None:
    session = waiting_session(desk, {"calls": [call("restart", service="db"), call("restart", service="web")]}, ANSWER)

    with desk.at_terminal("answer", session) as person:
        person.until("approve, reject [why]")
        person.type("\n")
        person.until("approve, reject [why]", after="? 1.2 restart")
        person.type("no not the web\n")
        person.until(f"Waits for a person: 1.1 restart. Answer with: starter.py answer {session}")
        assert person.end() == 4

    assert kinds(desk, session) == [("interrupt.answered", "1.2#0 reject")]


def test_a_question_for_values_can_be_turned_down(desk: Desk) -> None:
    session = waiting_session(desk, {"calls": [call("place", item="x")]}, ANSWER)

    with desk.at_terminal("answer", session) as person:
        person.until("environment (staging, production): ")
        person.type("\n")
        person.until("reject [why], or Enter to leave it open: ")
        person.type("reject\n")
        person.until("Why? The model reads it: ")
        person.type("nowhere\n")
        assert person.end() == 0
        assert "! 1.1: reject by dana: nowhere" in person.shown


def test_arguments_are_edited_one_by_one_and_what_is_left_empty_stays(desk: Desk) -> None:
    session = waiting_session(desk, WIPE, ANSWER)

    with desk.at_terminal("answer", session) as person:
        person.until("approve, reject [why]")
        person.type("edit\n")
        person.until("table [orders]: ")
        person.type("\n")
        person.until("rows [3]: ")
        person.type("3\n")
        person.until("Nothing is changed.")
        person.type("e\n")
        person.until("table [orders]: ", after="Nothing is changed.")
        person.type("baskets\n")
        person.until("rows [3]: ", after="baskets")
        person.type("\n")
        shown = person.until("? 1.1 wipe waits for a person", after="baskets")
        assert "with these values it is asked again" in shown
        # Who changed it agrees with the change; another one has to.
        person.until("Waits for somebody else, who has to agree as well: 1.1 wipe")
        assert person.end() == 4

    (question,) = desk.run("answer", session, "--json").events
    assert question["arguments"] == {"table": "baskets", "rows": 3}
    assert [approval["by"] for approval in question["approvals"]] == ["dana"]


def test_the_walk_through_speaks_chinese(desk: Desk) -> None:
    session = waiting_session(desk, RISKY, {"text": "好的，不重启。", "expect": {"contains": "先别动"}})

    with desk.at_terminal("answer", session, **CHINESE) as person:
        assert "规则 unmatched-write · 中风险" in person.until("批准、拒绝 [原因]")
        person.type("拒绝\n")
        person.until("为什么？模型会读到：")
        person.type("先别动\n")
        person.until("好的，不重启。")
        assert person.end() == 0
        assert "dana 拒绝：先别动" in person.shown


def test_ctrl_c_leaves_the_walk_through_and_everything_open(desk: Desk) -> None:
    session = waiting_session(desk, RISKY, ANSWER)

    with desk.at_terminal("answer", session) as person:
        person.until("leave it open: ")
        person.type("\x03")
        assert person.end() == 130
        assert "\nLeft; the run goes on." in person.shown

    assert kinds(desk, session) == []


# ---------------------------------------------------------------- two people


def test_an_approval_of_two_counts_and_says_that_one_more_person_has_to_agree(desk: Desk) -> None:
    session = waiting_session(desk, WIPE, {"text": "Gone.", "expect": {"contains": "wiped orders"}})

    listed = desk.run("answer", session).out
    assert "rule two-people · high risk · for the role approver · 2 people have to agree\n" in listed
    assert re.search(r"asked by dana \d+ s ago · until \S+ \S+ UTC \(23 h left\) · 0 of 2 approvals\n", listed), listed
    first = desk.run("answer", session, "--approve", "--comment", "ok for me")
    assert (first.status, first.out) == (0, "1 of 2 approvals; one more person has to agree.\n")
    again = desk.run("answer", session, "--approve")
    assert (again.status, again.err) == (
        2,
        "Not taken: You have agreed already; somebody else has to agree as well.\n",
    )
    assert "1 of 2 approvals: dana" in desk.run("answer", session).out
    second = desk.run("answer", session, "--approve", LOGNAME="eve")
    assert (second.status, second.out) == (0, "Approved; the run goes on.\n")
    watched = desk.run("watch", session)
    assert "! 1.1: approve by dana: ok for me · 1 of 2 approvals; one more person has to agree." in watched.out
    assert "! 1.1: the answer of dana was not taken: You have agreed already" in watched.out
    assert "! 1.1: approve by eve" in watched.out
    assert "Gone." in watched.out
    assert "1 of 2 approvals" in desk.run("show", session).out


def test_at_a_terminal_who_has_agreed_is_not_asked_twice(desk: Desk) -> None:
    desk.play(WIPE, ANSWER)

    with desk.at_terminal("ask", "--local", "--session", "agreed", "Wipe it") as person:
        assert "rule two-people · high risk" in person.until("approve, reject [why]")
        person.type("y\n")
        person.until("Waits for somebody else, who has to agree as well: 1.1 wipe")
        assert person.end() == 4
        assert person.shown.count("approve, reject [why]") == 1

    refused = desk.run("answer", "agreed", "--reject", "--lang", "zh", LOGNAME="eve")
    assert (refused.status, refused.out) == (0, "已拒绝；运行继续，但不做这件事。\n")


# ---------------------------------------------------------------- for scripts


def test_one_of_several_is_named_by_its_call_or_its_whole_name(desk: Desk) -> None:
    session = waiting_session(desk, THREE, ANSWER)

    unnamed = desk.run("answer", session, "--approve")
    assert unnamed.status == 2
    assert unnamed.err == "Say which of these with --call.\n"
    assert [line.split(" ")[0] for line in unnamed.out.split("\n") if line[:1].isdigit()] == ["1.1", "1.2", "1.3"]
    for action in (("--approve",), ()):
        missing = desk.run("answer", session, "--call", "1.7", *action)
        assert (missing.status, missing.out) == (2, "")
        assert missing.err == (
            f"Session {session} asks nothing that is called '1.7'. What it asks: 1.1 place, 1.2 restart, 1.3 restart.\n"
        )
    assert desk.run("answer", session, "--call", "1.3#0").out.startswith('1.3 restart service="web"')
    (fate,) = desk.run("answer", session, "--call", "1.3#0", "--approve", "--json").events
    assert fate == {
        "session": session,
        "interrupt": "1.3#0",
        "action": "approve",
        "outcome": "settled",
        "message": "Approved; the run goes on.",
        "approvals": 1,
        "quorum": 1,
    }
    assert desk.run("answer", session, "--call", "1.1", "--set", "environment=staging").status == 0
    assert desk.run("answer", session, "--reject", "--comment", "no").out == "Rejected; the run goes on without it.\n"
    assert desk.run("watch", session).status == 0


def test_an_edit_is_asked_again_under_another_name(desk: Desk) -> None:
    session = waiting_session(desk, WIPE, ANSWER)

    edited = desk.run("answer", session, "--set", "table=baskets", LOGNAME="eve")
    assert edited.out.startswith("With these values it is another call")
    assert desk.run("answer", session, "--call", "1.1#0", "--approve").status == 2, "that one is settled"
    assert desk.run("answer", session, "--approve").out == "Approved; the run goes on.\n"
    watched = desk.run("watch", session)
    assert '! 1.1: provide by eve (table="baskets") · with these values it is asked again' in watched.out
    assert "wiped baskets" in watched.out


def test_json_says_why_an_answer_was_not_taken_and_so_does_the_exit_status(desk: Desk) -> None:
    session = waiting_session(desk, {"calls": [call("place", item="x")]}, ANSWER)

    ended = desk.run("answer", session, "--approve", "--json")

    (fate,) = ended.events
    assert (ended.status, fate["outcome"]) == (2, "ignored")
    assert fate["message"] == "Not taken: This question needs values, not an approval."


# ---------------------------------------------------------------- the inbox, and saying something else


def test_the_inbox_has_a_line_for_each_question_of_all_sessions_what_is_due_first_at_the_top(desk: Desk) -> None:
    desk.play(THREE, ANSWER)
    desk.run("ask", "--local", "--session", "inbox-1", "Three of the inbox")
    desk.play(WIPE, ANSWER)
    desk.run("ask", "--local", "--session", "inbox-2", "One of the inbox")

    lines = [line.split("\t") for line in desk.run("sessions", "--waiting", "--text", "of the inbox").out.split("\n")]
    assert [(line[0], line[1], line[4], line[5], line[6]) for line in lines[:-1]] == [
        ("inbox-2", "1.1#0", "risk=high", "roles=approver", "agreed=0/2"),
        ("inbox-1", "1.2#0", "risk=medium", "roles=-", "agreed=0/1"),
        ("inbox-1", "1.3#0", "risk=medium", "roles=-", "agreed=0/1"),
        ("inbox-1", "1.1#1", "risk=medium", "roles=-", "agreed=0/1"),
    ], "what was asked first is at the top of those without a deadline"
    rows = desk.run("sessions", "--waiting", "--json", "--text", "of the inbox", "--limit", "1").events
    assert [(row["session"], row["interrupt"], row["rule"]) for row in rows] == [("inbox-2", "1.1#0", "two-people")]


def test_who_says_something_to_a_run_that_waits_is_told_that_it_is_kept_and_after_the_answer_it_is_read(
    desk: Desk,
) -> None:
    session = waiting_session(desk, RISKY, {"text": "Both.", "expect": {"contains": "And b?"}})

    said = desk.run("ask", "--session", session, "And b?")

    assert said.status == 4
    assert said.err.split("\n")[-3:] == [
        f"Waits for a person: 1.1 restart. Answer with: starter.py answer {session} --approve | --reject",
        "What you said is kept; the run reads it after the answer.",
        "",
    ]
    assert desk.run("answer", session, "--approve").status == 0
    watched = desk.run("watch", session)
    assert "> And b?" in watched.out
    assert "Both." in watched.out


def test_to_say_something_instead_rejects_what_is_open_and_the_model_reads_both_in_one_step(desk: Desk) -> None:
    session = waiting_session(desk, THREE, {"text": "Staging then.", "expect": {"contains": "try staging first"}})

    said = desk.run("ask", "--session", session, "--instead", "No, try staging first")

    assert said.status == 0, said
    assert "Staging then." in said.out
    assert sorted(what for _, what in kinds(desk, session)) == ["1.1#1 reject", "1.2#0 reject", "1.3#0 reject"]
    last = desk.server.requests[-1].body["messages"]
    assert [message["role"] for message in last[-4:]] == ["tool", "tool", "tool", "user"]
    assert all("No, try staging first" in message["content"] for message in last[-4:])
    nothing = desk.run("ask", "--session", session, "--instead", "And now?")
    assert (nothing.status, nothing.err) == (2, f"Session {session} waits for nobody.\n")
    assert "--instead needs --session" in desk.run("ask", "--instead", "What?").err
