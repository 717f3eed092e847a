"""Looking: sessions, transcripts, the doctor; and terminals and languages of all kinds."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from opspilot import stack
from opspilot.embedded import server_binary
from tests.e2e.conftest import ROOT, Desk
from tests.e2e.test_command_line import ANSWER, LONG_NAP, RISKY, TWO_READS, session_of

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(90)]

NOWHERE = {"TEMPORAL_ADDRESS": "127.0.0.1:9"}
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]m")
CHINESE = {"LC_ALL": "zh_CN.UTF-8"}


# ---------------------------------------------------------------- looking


def test_sessions_and_show_read_the_journal_without_temporal(desk: Desk) -> None:
    desk.play(TWO_READS, ANSWER)
    desk.run("ask", "--local", "--session", "shown", "What was it\nreally?")

    line = next(line for line in desk.run("sessions", **NOWHERE).out.split("\n") if line.startswith("shown\t"))
    assert line.split("\t")[2:] == ["state=answered", "steps=2", "owner=dana", "What was it really?"]
    row = next(row for row in desk.run("sessions", "--json", **NOWHERE).events if row["id"] == "shown")
    assert row["owner"] == "dana"
    shown = desk.run("show", "shown", **NOWHERE)
    assert shown.status == 0
    assert shown.out.startswith("# OpsPilot: What was it really?\n")
    assert '"facts": "facts about b"' in shown.out
    assert "> It was **a**." in shown.out


def test_a_command_that_reads_another_journal_says_so(desk: Desk) -> None:
    desk.play(LONG_NAP, ANSWER)
    desk.run("up")
    address = f"127.0.0.1:{stack.load(desk.folder / 'state' / 'stack.json').port}"

    ended = desk.run(
        "ask", "--session", "lost", "Why?", TEMPORAL_ADDRESS=address, OPSPILOT_JOURNAL="sqlite:///other.sqlite"
    )

    assert ended.status == 2
    assert "another journal" in ended.err
    desk.run("cancel", "lost")


def test_the_doctor_says_what_is_there_and_what_is_missing(desk: Desk) -> None:
    desk.run("up")
    well = desk.run("doctor")
    ill = desk.run("doctor", **NOWHERE)

    assert well.status == 0, well.out
    assert "tool nap: nap (read), from tests.e2e.desk_tools:nap" in well.out
    assert "worker: asks for work on task queue opspilot" in well.out
    assert ill.status == 1
    assert "MISSING temporal" in ill.out


def test_sessions_are_filtered_by_state_person_time_and_text(desk: Desk) -> None:
    desk.play(RISKY, ANSWER)
    desk.run("ask", "--local", "--session", "held", "Restart db of filtering")
    desk.play(ANSWER)
    desk.run("ask", "--local", "--session", "free", "Nothing of filtering")

    def found(*options: str) -> list[str]:
        return [
            line.split("\t")[0]
            for line in desk.run("sessions", "--text", "of filtering", *options).out.split("\n")[:-1]
        ]

    assert found() == ["free", "held"]
    assert found("--waiting") == found("--status", "waiting") == ["held"]
    assert found("--status", "answered", "--user", "dana", "--since", "1h") == ["free"]
    assert found("--user", "eve") == found("--until", "2020-01-01") == []
    assert found("--limit", "1") == ["free"]
    wrong = desk.run("sessions", "--since", "soon")
    assert (wrong.status, wrong.err.startswith("'soon' is no time")) == (2, True)
    with desk.at_terminal("sessions", "--waiting", "--text", "of filtering", NO_COLOR="1") as person:
        assert person.end() == 0
        shown = re.sub(r"\x1b\[[0-9;]*m", "", person.shown)
        assert re.search(r"held +\d+ s +medium risk +anybody +1.1 restart", shown), shown
        assert "starter.py answer SESSION" in person.shown


def test_limits_of_one_question_are_options(desk: Desk) -> None:
    desk.play(ANSWER)
    given = ["--max-steps", "3", "--max-seconds", "12.5", "--max-tokens", "4000", "--max-failures", "2"]
    ended = desk.run("ask", "--local", "--json", *given, "Why?")

    limits = ended.events[0]["data"]["limits"]
    assert [limits[name] for name in ("steps", "active_seconds", "tokens", "failures_in_a_row")] == [3, 12.5, 4000, 2]


def test_json_is_printed_by_every_command_that_lists(desk: Desk) -> None:
    desk.play(RISKY, ANSWER)
    session = session_of(desk.run("ask", "--local", "Restart db"))

    (question,) = desk.run("answer", session, "--json").events
    assert (question["call"], question["kind"]) == ("1.1", "confirm_risky")
    (stack_,) = desk.run("up", "--json").events
    assert stack_["address"].startswith("127.0.0.1:")
    findings = desk.run("doctor", "--json").events
    assert {"name", "ok", "text", "fix"} == findings[0].keys()
    assert {finding["name"] for finding in findings} >= {"model", "journal", "tool look", "temporal", "worker"}


# ---------------------------------------------------------------- the doctor repairs


@pytest.fixture
def bare_server() -> Iterator[str]:
    """The address of a Temporal that knows none of our search attributes."""
    port = stack.free_port(0)
    command = [str(server_binary()), "server", "start-dev", "--headless", "--ip=127.0.0.1", f"--port={port}"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def test_the_doctor_makes_folders_indexes_documents_and_registers_search_attributes(
    desk: Desk, bare_server: str, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nText.\n")
    (tmp_path / "opspilot.toml").write_text(
        'state_dir = "new/state"\n[tools.search_docs]\npath = "docs"\n[tools.search_logs]\npath = "nowhere"\n'
    )
    here = {"OPSPILOT_CONFIG": str(tmp_path / "opspilot.toml"), "TEMPORAL_ADDRESS": bare_server}
    while "MISSING temporal" in (ill := desk.run("doctor", **here)).out:
        pass

    assert ill.status == 1
    assert "MISSING state: there is no folder" in ill.out
    assert "MISSING tool search_logs: there is nothing at" in ill.out
    assert "MISSING search attributes: " in ill.out
    assert "→ starter.py doctor --fix" in ill.out
    assert not (tmp_path / "new").exists(), "who only looks makes nothing"

    mended = desk.run("doctor", "--fix", **here).out
    assert "ok      search attributes: registered now: OpsPilotStatus" in mended
    assert "ok      tool search_docs: 1 documents in" in mended
    assert "ok      journal: readable" in mended
    assert "MISSING tool search_logs" in mended, "nobody can invent logs"
    assert "ok      search attributes: all there" in desk.run("doctor", **here).out


def test_who_only_looks_starts_nothing(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "opspilot.toml").write_text('state_dir = "state"\n')
    (tmp_path / "state").mkdir()
    ports = '{"port": 9, "ui_port": 10, "server_pid": 1}'
    (tmp_path / "state" / "stack.json").write_text(ports)

    ill = desk.run("doctor", OPSPILOT_CONFIG=str(tmp_path / "opspilot.toml"))

    assert "MISSING temporal: No Temporal server answers at 127.0.0.1:9" in ill.out
    assert "→ starter.py up" in ill.out
    assert (tmp_path / "state" / "stack.json").read_text() == ports


# ---------------------------------------------------------------- terminals


def test_ctrl_c_twice_at_a_terminal_leaves_the_run_going_and_says_how_to_come_back(desk: Desk) -> None:
    desk.play({"calls": [{"name": "nap", "arguments": {"seconds": 25}}], "delay_seconds": 1}, ANSWER)

    with desk.at_terminal("ask", "--local", "--session", "left", "Take a nap") as person:
        person.until("Take a nap")
        person.type("\x03")
        person.until("Press Ctrl-C again")
        person.type("\x03")
        assert person.end() == 130
        assert "starter.py watch left" in person.shown


def test_a_dumb_terminal_is_sent_no_escape_sequence(desk: Desk) -> None:
    desk.play(TWO_READS, ANSWER)

    with desk.at_terminal("ask", "--local", "What was it?", TERM="dumb") as person:
        assert person.end() == 0
        assert "\x1b" not in person.shown
        assert "It was **a**." in person.shown


def test_colours_are_left_out_where_they_are_not_wanted(desk: Desk) -> None:
    desk.play(TWO_READS, ANSWER)

    with desk.at_terminal("ask", "--local", "What was it?") as person:
        assert person.end() == 0
        assert COLOUR.search(person.shown)
    with desk.at_terminal("ask", "--local", "What was it?", NO_COLOR="1") as person:
        assert person.end() == 0
        assert not COLOUR.search(person.shown)


def test_a_forced_colour_makes_no_terminal_of_a_pipe(desk: Desk) -> None:
    desk.play(TWO_READS, ANSWER)
    ended = desk.finish(desk.start("ask", "--local", "What was it?", FORCE_COLOR="1"))

    assert ended.status == 0
    assert "\x1b[?25l" not in ended.out, "the cursor is not hidden, nothing turns"
    assert "It was **a**." in ended.out


def test_a_pipe_that_closes_early_ends_the_plain_view_quietly_and_the_run_goes_on(desk: Desk) -> None:
    naps = [{"calls": [{"name": "nap", "arguments": {"seconds": seconds}}]} for seconds in (0.3, 0.4, 0.5)]
    desk.play(TWO_READS, *naps, ANSWER)
    desk.run("up")
    command = f"'{sys.executable}' '{ROOT / 'starter.py'}' ask --local --session cut 'What was it?' | head -n 2"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=desk.folder,
        env=desk.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (141, "")
    watched = desk.run("watch", "cut")
    assert (watched.status, "It was **a**." in watched.out) == (0, True)


def test_a_locale_that_cannot_write_a_character_gets_a_question_mark_and_no_trace(desk: Desk) -> None:
    desk.play({"text": "支付 → ok"})
    ended = desk.finish(desk.start("ask", "--local", "Why?", PYTHONIOENCODING="ascii"))
    assert ended.status == 0
    assert "?? ? ok" in ended.out
    events = desk.finish(desk.start("show", "--json", session_of(ended), PYTHONIOENCODING="ascii")).events
    assert "支付 → ok" in [event["data"].get("answer") for event in events]


# ---------------------------------------------------------------- languages


def test_a_chinese_locale_is_spoken_to_in_chinese_and_answers_in_it(desk: Desk) -> None:
    desk.play(RISKY, {"text": "好了。"})

    with desk.at_terminal("ask", "--local", "重启 db", **CHINESE) as person:
        assert "第 1 步" in person.until("批准、拒绝 [原因]")
        person.type("批准 去吧\n")
        assert person.end() == 0
        assert "dana 批准：去吧" in person.shown
        assert "已回答。" in person.shown

    assert desk.run("ask", "--local", " ", **CHINESE).err == "问题是空的。\n"


def test_a_mistyped_name_of_a_session_is_answered_with_the_one_that_was_meant(desk: Desk) -> None:
    desk.play(ANSWER)
    desk.run("ask", "--local", "--session", "freeze-check", "Why?")

    for command in (("watch", "--local"), ("answer",), ("cancel",), ("show",)):
        ended = desk.run(*command, "freze-check")
        assert ended.status == 2
        assert ended.err == (
            "There is no session freze-check in this journal. Did you mean freeze-check? `starter.py sessions` lists "
            "them.\n"
        )


def test_lang_goes_before_the_locale(desk: Desk) -> None:
    assert desk.run("show", "nobody", "--lang", "zh").err.startswith("这个日志库里没有会话 nobody")
    assert desk.run("show", "nobody", "--lang", "en", **CHINESE).err.startswith("There is no session nobody")
    assert desk.run("show", "nobody", "--lang", "fr").status == 2


def test_help_is_in_the_language_of_the_locale(desk: Desk) -> None:
    assert "最多这么多步" in desk.finish(desk.start("ask", "--help", **CHINESE)).out
    assert "Stop after so many steps" in desk.finish(desk.start("ask", "--help")).out


# ---------------------------------------------------------------- the shell completes


def test_the_shell_completes_commands_sessions_and_tools(desk: Desk) -> None:
    desk.play(ANSWER)
    desk.run("ask", "--local", "--session", "completed-1", "Why?")

    def completed(line: str) -> list[str]:
        words = line.split(" ")
        asked = {"_STARTER.PY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        return desk.finish(desk.start(**asked)).out.split()

    assert "sessions" in completed("starter.py se")
    assert completed("starter.py show completed-") == ["completed-1"]
    assert "look" in completed("starter.py ask --only lo")
    assert "restart" not in completed("starter.py ask --only lo")


# ---------------------------------------------------------------- the web UI


def test_up_and_url_print_addresses_that_sign_in_once_and_the_doctor_sees_the_server(desk: Desk) -> None:
    printed = re.search(r"The web UI is at (http://127\.0\.0\.1:\d+/sign-in\?token=\S+)\n", desk.run("up").out)
    assert printed is not None
    (stack_,) = desk.run("up", "--json").events
    (web,) = stack.find(f"opspilot-web={desk.folder / 'state'}", 0)
    web.kill()
    web.wait(10)
    ill = desk.run("doctor")
    assert ill.status == 1
    assert "MISSING web: does not answer at http://127.0.0.1:" in ill.out
    url = desk.run("url").out.strip()

    assert len({printed[1], stack_["web"], url}) == 3
    for address in (printed[1], stack_["web"], url):
        assert [httpx.get(address).status_code for _ in range(2)] == [303, 403], "good once"
    assert f"ok      web: answers at {url.partition('/sign-in')[0]}\n" in desk.run("doctor").out
