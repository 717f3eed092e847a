"""The command line as people and scripts meet it: real processes, a real server, real signals and terminals."""

import re
import signal
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from opspilot import stack
from tests.e2e.conftest import ROOT, Desk, Ended

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(90)]


def call(name: str, /, **arguments: object) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


TWO_READS = {"text": "Two looks.", "calls": [call("look", topic="a"), call("look", topic="b")]}
ANSWER = {"text": "It was **a**.", "usage": {"input_tokens": 1200, "output_tokens": 34}}
LONG_NAP = {"calls": [call("nap", seconds=25)]}
RISKY = {"calls": [call("restart", service="db")]}


def session_of(ended: Ended) -> str:
    found = re.search(r"ops-[0-9a-f]{8}", ended.out + ended.err)
    assert found is not None
    return found[0]


def assert_paired(events: list[dict[str, Any]]) -> None:
    calls = Counter((event["run"], event["call"]) for event in events if event["kind"] == "tool.call")
    results = Counter((event["run"], event["call"]) for event in events if event["kind"] == "tool.result")
    assert results == calls
    assert set(calls.values()) <= {1}


# ---------------------------------------------------------------- asking


def test_each_step_is_printed_then_the_answer_why_it_stopped_and_where_to_look(desk: Desk) -> None:
    desk.play(TWO_READS, {"calls": [call("fail")]}, ANSWER)

    ended = desk.run("ask", "--local", "What was it?")

    assert ended.status == 0
    assert "\x1b" not in ended.out
    order = [
        "> What was it?",
        "Step 1",
        "Two looks.",
        '→ 1.1 look topic="a"',
        '→ 1.2 look topic="b"',
        "facts: facts about a",
        "Step 2",
        "→ 2.1 fail",
        "tool_failed",
        "the disk is full",
        "It was **a**.",
        "Answered.",
        "3 steps · 1,234 tokens (1,200 in, 34 out)",
        f"/namespaces/default/workflows/{session_of(ended)}/",
    ]
    positions = [ended.out.find(text) for text in order]
    assert -1 not in positions, ended.out
    assert positions == sorted(positions), ended.out
    assert ended.out.count("It was **a**.") == 1


def test_json_prints_events_and_nothing_else(desk: Desk) -> None:
    desk.play(TWO_READS, ANSWER)

    ended = desk.finish(desk.start("ask", "--local", "--json", "-"), "What was it?\n")

    assert ended.status == 0
    assert [event["seq"] for event in ended.events] == list(range(1, len(ended.events) + 1))
    assert {"kind", "at", "session", "run", "data"} <= set(ended.events[0])
    assert ended.events[0]["kind"] == "run.started"
    assert ended.events[-1]["data"]["stop_reason"] == "answered"
    assert sum(event["kind"] == "tool.call" for event in ended.events) == 2
    assert_paired(ended.events)


def test_two_questions_at_the_same_moment_share_the_stack(desk: Desk) -> None:
    desk.play(TWO_READS, ANSWER)
    both = [desk.start("ask", "--local", "--json", "What was it?") for _ in range(2)]

    ended = [desk.finish(process) for process in both]

    assert [each.status for each in ended] == [0, 0]
    assert len({each.events[0]["session"] for each in ended}) == 2
    assert len(stack.find(f"opspilot-state={desk.folder / 'state'}", 0)) == 1


def test_a_session_goes_on_with_what_was_said_before(desk: Desk) -> None:
    desk.play(ANSWER, {"text": "As I said."})
    assert desk.run("ask", "--local", "--session", "talk", "First?").status == 0

    ended = desk.run("ask", "--session", "talk", "And again?")

    assert ended.status == 0
    assert "As I said." in ended.out
    assert "First?" not in ended.out, "only what is new is printed"
    said = [message["content"] for message in desk.server.requests[-1].body["messages"]]
    assert [text for text in said if text in {"First?", "It was **a**.", "And again?"}] == [
        "First?",
        "It was **a**.",
        "And again?",
    ]


def test_a_tool_can_be_the_only_one(desk: Desk) -> None:
    desk.play({"calls": [call("look", topic="a"), call("fail")]}, ANSWER)

    ended = desk.run("ask", "--local", "--json", "--only", "look", "--force", "What was it?")

    codes = {event["call"]: event["data"].get("errorCode") for event in ended.events if event["kind"] == "tool.result"}
    assert codes == {"1.1": None, "1.2": "skipped_in_serial_step"}


# ---------------------------------------------------------------- another model, and options of a run


@pytest.mark.parametrize(("name", "thinks"), [("tiny", "tiny-1"), ("of-the-server", "of-the-server")])
def test_one_question_can_be_given_another_model(desk: Desk, name: str, thinks: str) -> None:
    desk.play(ANSWER)

    ended = desk.run("ask", "--local", "--json", "--model", name, "What was it?")

    assert ended.status == 0
    assert ended.events[0]["data"]["model"] == thinks
    assert [request.body["model"] for request in desk.server.requests] == [thinks]


def test_the_offline_model_can_be_asked_for_beside_a_real_one(desk: Desk) -> None:
    desk.play(ANSWER)

    ended = desk.run("ask", "--local", "--model", "demo", "Look at a")

    assert "demo (offline)" in ended.out
    assert desk.server.requests == []


def test_a_worker_that_does_not_know_a_model_ends_the_run_and_says_which_there_are(desk: Desk) -> None:
    desk.run("up")
    elsewhere = {"TEMPORAL_ADDRESS": f"127.0.0.1:{stack.load(desk.folder / 'state' / 'stack.json').port}"}

    ended = desk.run("ask", "--json", "--model", "x" * 201, "What was it?", **elsewhere)

    assert ended.status == 1
    assert ended.events[-1]["data"]["stop_reason"] == "model_failed"
    assert "There are: tiny, demo." in ended.events[-1]["data"]["message"]


@pytest.mark.parametrize("options", [["--model", "tiny"], ["--max-steps", "3"], ["--only", "look"]])
def test_options_that_come_too_late_for_a_run_are_said_to_change_nothing(desk: Desk, options: list[str]) -> None:
    desk.play(RISKY, {"text": "Done."})
    session = session_of(desk.run("ask", "--local", "Restart db"))

    plain = desk.run("ask", "--session", session, "And db2?")
    late = desk.run("ask", "--session", session, *options, "And db3?")

    assert "already going on" not in plain.err
    assert f"The run of session {session} is already going on" in late.err
    assert late.status == 4
    desk.run("cancel", session)
    after = desk.run("ask", "--session", session, *options, "And now?")
    assert "already going on" not in after.err


def test_whoever_asks_has_the_roles_of_this_machine(desk: Desk) -> None:
    desk.play(ANSWER)

    ended = desk.run("ask", "--local", "--json", "Why?")

    assert ended.events[0]["data"]["user"] == {"id": "dana", "name": "dana", "roles": ["operator", "approver"]}


# ---------------------------------------------------------------- exit statuses


@pytest.mark.parametrize(
    ("steps", "options", "status", "reason"),
    [
        ([ANSWER], [], 0, "answered"),
        ([{**TWO_READS, "final": "As far as I got."}] * 3, ["--max-steps", "1"], 3, "max_steps"),
        ([{"error": {"fault": "auth", "message": "wrong key"}}], [], 1, "model_failed"),
    ],
)
def test_the_exit_status_says_how_a_run_ended(
    desk: Desk, steps: list[dict[str, Any]], options: list[str], status: int, reason: str
) -> None:
    desk.play(*steps)

    ended = desk.run("ask", "--local", "--json", *options, "What was it?")

    assert (ended.status, ended.events[-1]["data"]["stop_reason"]) == (status, reason)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ask", "--local", "  \n"], "The question is empty."),
        (["ask", "--local", "--force", "Why?"], "--force needs --only"),
        (["ask", "--local", "--session", "../x", "Why?"], "can't be a session's name"),
        (["ask", "--local", "--only", "drill", "Why?"], "There is no tool drill. Configured are: look, nap"),
        (["ask", "--local", "--model", "a\tb", "Why?"], "There is no model 'a\\tb'. There are: tiny, demo."),
        (["ask", "--local", "--max-steps", "0", "Why?"], "--max-steps"),
        (["ask", "--colour", "Why?"], "There is no option --colour."),
        (["watch", "--local", "nobody"], "There is no session nobody in this journal. `"),
        (["cancel", "--local", "nobody"], "There is no session nobody"),
        (["answer", "--local", "--approve", "--reject", "nobody"], "one of --approve, --reject"),
        (["show", "nobody"], "There is no session nobody"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(desk: Desk, arguments: list[str], sentence: str) -> None:
    ended = desk.run(*arguments)

    assert ended.status == 2
    assert sentence in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_a_question_of_a_megabyte_is_refused_before_anything_starts(desk: Desk) -> None:
    ended = desk.run("ask", "--local", "-", typed="x" * 1_000_000)

    assert ended.status == 2
    assert "1,000,000 bytes; at most 262,144" in ended.err


def test_bytes_that_are_no_text_are_refused(desk: Desk) -> None:
    process = subprocess.run(
        [sys.executable, str(ROOT / "starter.py"), "ask", "--local", "-"],
        cwd=desk.folder,
        env=desk.environment,
        input=b"\xff\xfe?",
        capture_output=True,
        check=False,
    )

    assert process.returncode == 2
    assert b"not valid UTF-8" in process.stderr


def test_without_any_temporal_one_sentence_says_how_to_go_on(desk: Desk) -> None:
    ended = desk.run("ask", "Why?", TEMPORAL_ADDRESS="127.0.0.1:9")

    assert ended.status == 5
    assert "127.0.0.1:9" in ended.err
    assert "--local" in ended.err
    assert ended.err.count("\n") == 1


def test_a_wrong_setting_is_refused_with_its_name(desk: Desk) -> None:
    ended = desk.run("sessions", OPSPILOT_LIMITS__STEPS="many")

    assert ended.status == 2
    assert "OPSPILOT_LIMITS__STEPS" in ended.err


# ---------------------------------------------------------------- people


def test_without_a_terminal_a_waiting_run_says_how_to_answer_and_goes_on_when_it_is(desk: Desk) -> None:
    desk.play(RISKY, {"text": "Done.", "expect": {"contains": "restarted db"}})

    asked = desk.run("ask", "--local", "Restart db")
    session = session_of(asked)

    assert asked.status == 4
    assert f"starter.py answer {session} --approve | --reject" in asked.err
    listed = desk.run("answer", session).out.split("\n")
    assert listed[0] == '1.1 restart service="db": Restarting db drops open requests.'
    assert listed[1] == "    rule unmatched-write · medium risk"
    assert listed[2].startswith("    asked by dana ")
    assert desk.run("answer", session, "--approve").out == "Approved; the run goes on.\n"
    watched = desk.run("watch", session)
    assert watched.status == 0
    assert "Done." in watched.out
    assert "approve by dana" in watched.out
    again = desk.run("answer", session, "--approve")
    assert (again.status, again.err) == (2, f"Session {session} waits for nobody.\n")


def test_a_question_in_a_session_that_waits_for_a_person_says_so_and_is_answered_afterwards(desk: Desk) -> None:
    desk.play(RISKY, {"text": "Done.", "expect": {"contains": "And db2?"}})
    session = session_of(desk.run("ask", "--local", "Restart db"))

    second = desk.run("ask", "--local", "--session", session, "And db2?")

    assert second.status == 4
    assert f"starter.py answer {session} --approve | --reject" in second.err
    assert desk.run("answer", session, "--approve").status == 0
    assert "Done." in desk.run("watch", session).out


def test_several_open_questions_need_the_name_of_a_call(desk: Desk) -> None:
    desk.play({"calls": [call("place", item="x"), call("place", item="y")]}, ANSWER)
    session = session_of(desk.run("ask", "--local", "Place them"))

    unnamed = desk.run("answer", session, "--set", "environment=staging")
    listed = len(desk.run("answer", session, "--json").events)

    if listed > 1:
        assert unnamed.status == 2
        assert "--call" in unnamed.err
    else:
        assert unnamed.status == 0


def test_at_a_terminal_a_person_is_asked_and_the_run_goes_on(desk: Desk) -> None:
    desk.play(RISKY, {"calls": [call("place", item="x")]}, {"text": "Done.", "expect": {"contains": "in staging"}})

    with desk.at_terminal("ask", "--local", "Restart db") as person:
        assert "Restarting db drops open requests." in person.until("approve, reject [why]")
        person.type("perhaps\n")
        person.until("'perhaps' is none of these.")
        person.type("yes go ahead\n")
        person.until("environment (staging, production): ")
        person.type("staging\n")
        person.until("Done.")
        assert person.end() == 0
        assert "approve by dana: go ahead" in person.shown


def test_a_person_may_leave_a_question_open(desk: Desk) -> None:
    desk.play(RISKY, ANSWER)

    with desk.at_terminal("ask", "--local", "Restart db") as person:
        person.until("approve, reject [why]")
        person.type("\n")
        assert person.end() == 4
        assert "starter.py answer ops-" in person.shown


def test_a_question_that_somebody_else_answers_is_no_longer_asked(desk: Desk) -> None:
    desk.play(RISKY, {"text": "So be it."})

    with desk.at_terminal("ask", "--local", "--session", "elsewhere", "Restart db") as person:
        person.until("1.1 restart: approve, reject [why]")
        person.until("leave it open: ")
        assert desk.run("answer", "elsewhere", "--set", "colour=red").status == 2
        person.until("leave it open: ", after="the answer of dana was not taken: colour: is no parameter")
        assert desk.run("answer", "elsewhere", "--reject", "--comment", "not now").status == 0
        assert person.end() == 0
        assert re.search(r"leave it open: \r\n\S*  ! 1\.1: reject by dana: not now", person.shown)
        assert "So be it." in person.shown


def test_only_the_owner_may_ask_in_a_session(desk: Desk) -> None:
    desk.play(ANSWER)
    desk.run("ask", "--local", "--session", "mine", "Why?")

    ended = desk.run("ask", "--local", "--session", "mine", "And for me?", LOGNAME="eve")

    assert ended.status == 2
    assert "Session mine belongs to dana" in ended.err


# ---------------------------------------------------------------- stopping


def test_ctrl_c_stops_the_run_leaves_a_paired_transcript_and_does_not_reach_the_stack(desk: Desk) -> None:
    desk.play({"calls": [call("look", topic="a"), call("nap", seconds=25)]}, ANSWER)
    state = desk.folder / "state"

    with desk.at_terminal("ask", "--local", "--session", "stopped", "Take a nap") as person:
        person.until("facts about a")
        person.type("\x03")
        person.until("Press Ctrl-C again")
        assert person.end() == 130
        assert "Stopped on request" in person.shown

    events = desk.run("show", "--json", "stopped").events
    assert_paired(events)
    codes = [event["data"].get("errorCode") for event in events if event["kind"] == "tool.result"]
    assert sorted(codes, key=str) == [None, "cancelled"]
    assert len(stack.find(f"opspilot-state={state}", 0)) == 1
    assert len(stack.find(f"--db-filename={state / 'temporal.db'}", 0)) == 1


def test_ctrl_c_twice_leaves_the_run_to_itself(desk: Desk) -> None:
    desk.play({"calls": [call("nap", seconds=25)], "delay_seconds": 1.5}, ANSWER)
    process = desk.start("ask", "--local", "Take a nap")
    assert process.stderr is not None
    assert process.stdout is not None
    while "Take a nap" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert "Press Ctrl-C again" in process.stderr.readline()
    process.send_signal(signal.SIGINT)

    ended = desk.finish(process)

    assert ended.status == 130
    assert re.search(r"starter\.py watch ops-", ended.err)


def test_a_question_that_no_worker_takes_says_so_and_can_be_given_up(desk: Desk) -> None:
    desk.run("up")
    nobody = {
        "TEMPORAL_ADDRESS": f"127.0.0.1:{stack.load(desk.folder / 'state' / 'stack.json').port}",
        "OPSPILOT_TEMPORAL__TASK_QUEUE": "nobody",
    }
    process = desk.start("ask", "--session", "early", "Why?", **nobody)
    assert process.stderr is not None
    assert "No worker is running; waiting for one" in process.stderr.readline()
    process.send_signal(signal.SIGINT)

    ended = desk.finish(process)

    assert ended.status == 130
    assert "starter.py watch early" in ended.err
    assert "Traceback" not in ended.err


def test_who_only_watches_leaves_with_one_ctrl_c_and_stops_nothing(desk: Desk) -> None:
    desk.play(RISKY, ANSWER)
    session = session_of(desk.run("ask", "--local", "Restart db"))

    with desk.at_terminal("watch", session) as person:
        person.until("approve, reject [why]")
        person.type("\x03")
        assert person.end() == 130
        assert "the run goes on" in person.shown

    assert desk.run("answer", session).out.startswith("1.1 restart")


def test_a_run_is_cancelled_from_elsewhere_and_who_follows_it_is_told(desk: Desk) -> None:
    desk.play(LONG_NAP, ANSWER)
    asking = desk.start("ask", "--local", "--json", "--session", "far", "Take a nap")
    assert asking.stdout is not None
    while "tool.started" not in asking.stdout.readline():
        assert asking.poll() is None

    assert desk.run("cancel", "far").out == "Stopped on request; what was found until then is kept.\n"

    assert desk.finish(asking).status == 130
    second = desk.run("cancel", "far")
    assert second.status == 2
    assert second.err.startswith("Session far has no open run.")


def test_a_pipe_that_closes_early_ends_the_command_quietly(desk: Desk) -> None:
    desk.play(TWO_READS, TWO_READS, ANSWER)
    process = desk.start("ask", "--local", "--json", "What was it?")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()

    assert process.wait(30) == 141
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.stdin is not None
    process.stdin.close()


def test_a_run_that_was_terminated_is_not_waited_for(desk: Desk) -> None:
    from opspilot.embedded import server_binary

    desk.play(LONG_NAP, ANSWER)
    asking = desk.start("ask", "--local", "--json", "--session", "killed", "Take a nap")
    assert asking.stdout is not None
    while "tool.started" not in asking.stdout.readline():
        assert asking.poll() is None
    address = f"127.0.0.1:{stack.load(desk.folder / 'state' / 'stack.json').port}"
    terminate = [str(server_binary()), "workflow", "terminate", "--workflow-id", "killed", "--address", address]
    subprocess.run(terminate, check=True, stdout=subprocess.DEVNULL)

    ended = desk.finish(asking)

    assert ended.status == 1
    assert "ended without closing" in ended.err

    desk.play(LONG_NAP, ANSWER)
    again = desk.run("ask", "--local", "--json", "--session", "killed", "And now?")
    assert again.status == 0
    assert_paired(desk.run("show", "--json", "killed").events)
