"""The tool `search_logs`: what it finds, what it counts, and that its counts are true."""

import gzip
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opspilot.tools.spec import Tool, ToolError
from tests.tools.builtin.calls import BuildTool, CallTool

SSH = """\
Nov 30 10:00:01 web-1 sshd[1]: Failed password for root from 10.0.0.1 port 22 ssh2
Nov 30 10:00:02 web-1 sshd[1]: Failed password for invalid user admin from 10.0.0.2 port 22 ssh2
Nov 30 10:00:03 web-1 sshd[2]: Accepted password for anna from 10.0.0.3 port 22 ssh2
Nov 30 10:00:04 web-1 sshd[1]: Failed password for root from 10.0.0.1 port 23 ssh2
Nov 30 10:00:05 web-1 sshd[1]: message repeated 5 times: [ Failed password for root from 10.0.0.9 port 1 ssh2]
Nov 30 10:00:06 web-1 cron[7]: error: no such job
"""


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture
def tool(build_tool: BuildTool, logs: Path) -> Tool:
    return build_tool("search_logs", path="logs")


def naive_lines(data: bytes) -> list[str]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines]


def test_the_hosts_with_the_most_failed_passwords_come_first(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "auth.log").write_text(SSH)
    result = run_tool(tool, {"text": "failed PASSWORD", "count_by": "host"})
    assert result["matched"] == 4
    assert result["counts"]["top"] == [
        {"value": "10.0.0.1", "count": 2, "file": "auth.log", "line": 1},
        {"value": "10.0.0.2", "count": 1, "file": "auth.log", "line": 2},
        {"value": "10.0.0.9", "count": 1, "file": "auth.log", "line": 5},
    ]
    assert any("stand for 5 events; each is counted as one line" in note for note in result["notes"])


def test_lines_come_latest_first_with_where_they_stand(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "auth.log").write_text(SSH)
    os.utime(logs / "auth.log", (1796040000, 1796040000))
    lines = run_tool(tool, {"service": "sshd", "text": "password", "limit": 2})["lines"]
    assert [(line["file"], line["line"], line["service"]) for line in lines] == [
        ("auth.log", 5, "sshd"),
        ("auth.log", 4, "sshd"),
    ]
    assert lines[0]["time"] == "2026-11-30T10:00:05Z"
    assert lines[1]["text"] == SSH.split("\n")[3]


def test_a_level_means_this_or_worse(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    lines = [f'{{"level": "{level}", "msg": "m"}}' for level in ("debug", "info", "warn", "ERROR", "fatal", "error")]
    (logs / "web.log").write_text("\n".join(lines))
    result = run_tool(tool, {"level": "error"})
    assert result["by_level"] == {"error": 2, "critical": 1}
    assert run_tool(tool, {"level": "WARN"})["matched"] == 4


def test_no_count_by_level_is_given_where_levels_are_not_recognised(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "odd.log").write_text("~~7~~ pump went wrong\n~~2~~ pump runs\n")
    result = run_tool(tool, {"level": "error"})
    assert result["matched"] is None
    assert result["notes"][0].startswith("Levels are not recognised in odd.log")


def test_times_are_absolute_or_relative(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    now = datetime.now(UTC)
    times = [now - timedelta(minutes=minutes) for minutes in (300, 90, 10)]
    (logs / "a.log").write_text("".join(f"{time:%Y-%m-%d %H:%M:%S},000 INFO x - tick\n" for time in times))
    assert run_tool(tool, {"since": "2h"})["matched"] == 2
    assert run_tool(tool, {"since": "last 30 minutes"})["matched"] == 1
    assert run_tool(tool, {"until": "1 hour ago"})["matched"] == 2
    assert run_tool(tool, {"since": times[1].replace(microsecond=0).isoformat()})["matched"] == 2
    assert run_tool(tool, {"since": f"{times[1]:%Y-%m-%d %H:%M:%S}"})["matched"] == 2
    with pytest.raises(ToolError, match="since can't be 'soon'"):
        run_tool(tool, {"since": "soon"})


def test_an_empty_time_range_says_where_the_lines_are(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "old.log").write_text("[Sun Dec 04 04:47:44 2005] [error] it broke\n")
    result = run_tool(tool, {"since": "1d"})
    assert result["matched"] == 0
    assert result["notes"] == ["The lines searched are from 2005-12-04T04:47:44Z to 2005-12-04T04:47:44Z."]


def test_shapes_are_counted_with_first_last_and_an_example(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "web.log").write_text(
        "".join(f"2026-11-30 10:0{minute}:00 ERROR web - no answer after {minute * 7} ms\n" for minute in range(5))
        + "2026-11-30 10:09:00 ERROR web - disk is full\n"
    )
    shapes = run_tool(tool)["shapes"]
    assert shapes[0] == {
        "count": 5,
        "shape": "no answer after <n> ms",
        "level": "error",
        "first": "2026-11-30T10:00:00Z",
        "last": "2026-11-30T10:04:00Z",
        "file": "web.log",
        "line": 1,
        "example": "no answer after 0 ms",
    }
    assert (shapes[1]["count"], shapes[1]["line"]) == (1, 6)


def test_a_captured_group_can_be_counted_by_name_or_number(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "auth.log").write_text(SSH)
    pattern = r"for (?:invalid user )?(?P<user>\w+) from (\S+)"
    by_name = run_tool(tool, {"pattern": pattern, "count_by": "user"})["counts"]
    assert [(row["value"], row["count"]) for row in by_name["top"]] == [("root", 3), ("admin", 1), ("anna", 1)]
    by_number = run_tool(tool, {"pattern": pattern, "count_by": "2"})["counts"]
    assert by_number["top"][0]["value"] == "10.0.0.1"


def test_values_beyond_the_first_twenty_are_summed_up(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "web.log").write_text("".join(f"code={number} x\n" for number in range(30) for _ in range(number + 1)))
    counts = run_tool(tool, {"count_by": "code"})["counts"]
    assert (counts["distinct"], len(counts["top"]), counts["others"]) == (30, 20, {"values": 10, "count": 55})
    assert counts["top"][0] == {"value": "29", "count": 30, "file": "web.log", "line": 436}


def test_what_no_line_has_can_not_be_counted_and_the_fields_are_named(
    tool: Tool, run_tool: CallTool, logs: Path
) -> None:
    (logs / "web.log").write_text('{"level":"info","msg":"m","route":"/a"}\n')
    counts = run_tool(tool, {"count_by": "colour"})["counts"]
    assert counts["without"] == 1
    assert "route" in counts["note"]


@pytest.mark.parametrize("asked", ["payment", "Payment", "payment-service", "payment service", "payment_svc"])
def test_a_service_is_known_by_what_people_call_it(tool: Tool, run_tool: CallTool, logs: Path, asked: str) -> None:
    (logs / "all.log").write_text('{"service":"payment","msg":"a"}\n{"service":"orders","msg":"b"}\n')
    assert run_tool(tool, {"service": asked})["matched"] == 1


def test_a_service_that_is_not_there_is_answered_with_those_that_are(
    tool: Tool, run_tool: CallTool, logs: Path
) -> None:
    (logs / "payment-api.log").write_text("one\ntwo\n")
    (logs / "payment-jobs.log").write_text("three\n")
    result = run_tool(tool, {"service": "payment"})
    assert result["matched"] == 0
    assert result["notes"][0] == "There is no service 'payment' in these logs."
    assert result["services"] == [{"service": "payment-api", "lines": 2}, {"service": "payment-jobs", "lines": 1}]
    assert set(result["did_you_mean"]) == {"payment-api", "payment-jobs"}
    assert "did_you_mean" not in run_tool(tool, {"service": "支付服务"})


@pytest.mark.parametrize("asked", ["paymnet", "pay", "payments"])
def test_when_only_one_service_can_be_meant_its_lines_are_given_and_this_is_said(
    tool: Tool, run_tool: CallTool, logs: Path, asked: str
) -> None:
    (logs / "payment.log").write_text("one\ntwo\n")
    (logs / "orders.log").write_text("three\n")
    result = run_tool(tool, {"service": asked})
    assert result["matched"] == 2
    assert result["notes"][0] == f"There is no service {asked!r}; these are the lines of 'payment'."


def test_a_service_without_a_matching_line_is_not_taken_for_unknown(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "OpenSSH.log").write_text(SSH)
    result = run_tool(tool, {"service": "openssh", "text": "nothing like it"})
    assert result["notes"] == ["No line contains the text as it stands: try fewer or other words."]


def test_a_stack_trace_belongs_to_the_line_before_it(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "a.log").write_text(
        "2026-11-30 10:00:00 ERROR x - failed\n  File 'x.py' error\n2026-11-30 10:00:01 INFO x - fine\n"
    )
    assert run_tool(tool, {"level": "error"})["matched"] == 1
    inside = run_tool(tool, {"text": "x.py"})["lines"][0]
    assert (inside["line"], inside["lines"], inside["time"]) == (1, 2, "2026-11-30T10:00:00Z")


def test_a_line_without_a_time_is_given_that_of_the_line_before_it_or_none(
    tool: Tool, run_tool: CallTool, logs: Path
) -> None:
    """Also where the lines between were passed over, because they don't have the text."""
    (logs / "a.log").write_text(
        "2026-11-30 10:00:00 INFO x - here\n2026-11-30 11:00:00 INFO x - b\nhere too\nbetween\nhere, later\n"
    )
    times = {line["line"]: line.get("time") for line in run_tool(tool, {"text": "here"})["lines"]}
    assert times == {1: "2026-11-30T10:00:00Z", 3: "2026-11-30T11:00:00Z", 5: None}


def test_lines_that_lack_a_level_or_a_time_are_counted_only_if_they_fit_otherwise(
    tool: Tool, run_tool: CallTool, logs: Path
) -> None:
    (logs / "a.log").write_text("needle\nneedle too\nother\n")
    assert "2 otherwise fitting lines have no level" in run_tool(tool, {"text": "needle", "level": "info"})["notes"][0]
    assert "2 otherwise fitting lines have no time" in run_tool(tool, {"pattern": "^needle", "since": "1d"})["notes"][0]


def test_folders_below_gzip_and_carriage_returns_are_read(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "web" / "old").mkdir(parents=True)
    (logs / "web" / "old" / "app.log.1.gz").write_bytes(gzip.compress(b"ERROR one\r\nERROR two\r\n"))
    (logs / "web" / "app.log").write_bytes(b"ERROR three\r\n")
    (logs / ".hidden").write_text("ERROR\n")
    (logs / "LICENSE").write_text("ERROR\n")
    result = run_tool(tool, {"level": "error", "count_by": "file"})
    assert {row["value"]: row["count"] for row in result["counts"]["top"]} == {
        "web/old/app.log.1.gz": 2,
        "web/app.log": 1,
    }
    assert {line["text"] for line in result["lines"]} == {"ERROR one", "ERROR two", "ERROR three"}


def test_lines_end_at_line_feeds_alone(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "a.log").write_text("one\u2028still one\x85and\x0bon\ntwo\n", encoding="utf-8")
    result = run_tool(tool, {"text": "two"})
    assert (result["scanned"], result["lines"][0]["line"]) == (2, 2)


def test_one_file_can_be_the_whole_configuration(build_tool: BuildTool, run_tool: CallTool, logs: Path) -> None:
    (logs / "only.log").write_text("ERROR here\n")
    (logs / "other.log").write_text("ERROR there\n")
    assert run_tool(build_tool("search_logs", path="logs/only.log"))["files"][0]["file"] == "only.log"


def test_only_files_whose_path_contains_the_word_are_searched(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "OpenSSH.log").write_text(SSH)
    (logs / "web.log").write_text("Failed password\n")
    assert run_tool(tool, {"file": "ssh", "text": "failed password"})["matched"] == 4
    with pytest.raises(ToolError, match=r"contains 'mail'\. There are: .*web\.log"):
        run_tool(tool, {"file": "mail"})


def test_the_description_tells_the_model_which_files_there_are(build_tool: BuildTool, logs: Path) -> None:
    (logs / "payment.log").write_text("x\n")
    assert "payment.log" in build_tool("search_logs", path="logs").description


def test_text_is_found_in_what_json_spells_otherwise(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "a.log").write_text('{"msg": "\\u652f\\u4ed8 said \\"no\\""}\n')
    assert run_tool(tool, {"text": '支付 said "no"'})["matched"] == 1
    assert run_tool(tool, {"pattern": 'said "no"$'})["matched"] == 1


def test_a_search_that_runs_out_of_time_says_what_it_covered(
    build_tool: BuildTool, run_tool: CallTool, logs: Path
) -> None:
    (logs / "a.log").write_text("ERROR x\n" * 5_000)
    result = run_tool(build_tool("search_logs", path="logs", seconds=0.000_001))
    assert result["matched"] == result["scanned"] < 5_000
    assert "Time ran out: 0 of 1 files" in result["notes"][0]


def test_a_search_stops_when_its_run_is_stopped(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "a.log").write_text("ERROR x\n" * 5_000)
    assert run_tool(tool, cancelled=lambda: True)["scanned"] < 5_000


ALPHABET = st.sampled_from(
    ["error", "ERROR", "Info", " ", "42", "x", "\r", "\u2028", "\x85", "支付", "\t", "1.2.3.4", "é"]
)
LINES = st.lists(st.lists(ALPHABET, max_size=6).map("".join), max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(lines=LINES, needle=st.sampled_from(["error", "x", "支付", "42", "É", "\u2028", "nothing"]), end=st.booleans())
def test_counts_are_those_of_plain_counting(
    build_tool: BuildTool, run_tool: CallTool, logs: Path, lines: list[str], needle: str, end: bool
) -> None:
    data = ("\n".join(lines) + ("\n" if end and lines else "")).encode() + (b"\xff\xfe\n" if end else b"")
    (logs / "a.log").write_bytes(data)
    plain = naive_lines(data)
    expected = [number for number, line in enumerate(plain, start=1) if needle.casefold() in line.casefold()]
    result = run_tool(build_tool("search_logs", path="logs"), {"text": needle, "limit": 50, "count_by": "level"})
    assert result["scanned"] == len(plain)
    assert result["matched"] == len(expected)
    assert sorted(line["line"] for line in result["lines"]) == expected
    assert sum(result["by_level"].values()) == sum(shape["count"] for shape in result["shapes"]) == len(expected)
    counts = result["counts"]
    assert sum(row["count"] for row in counts["top"]) + counts.get("without", 0) == len(expected)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    events=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["info", "error"]), st.integers(0, 9)),
        min_size=1,
        max_size=60,
    )
)
def test_counts_by_service_level_and_field_are_those_of_plain_counting(
    build_tool: BuildTool, run_tool: CallTool, logs: Path, events: list[tuple[str, str, int]]
) -> None:
    text = "".join(
        f"ts=2026-11-30T10:00:00Z level={level} service={name} code={code}\n" for name, level, code in events
    )
    (logs / "mixed.log").write_text(text)
    tool = build_tool("search_logs", path="logs")

    def counted(arguments: dict[str, Any]) -> dict[str, int]:
        return {row["value"]: row["count"] for row in run_tool(tool, arguments)["counts"]["top"]}

    assert counted({"count_by": "service"}) == Counter(name for name, _, _ in events)
    assert counted({"count_by": "code", "level": "error"}) == Counter(
        str(code) for _, level, code in events if level == "error"
    )
    assert run_tool(tool, {"service": "a"})["matched"] == sum(name == "a" for name, _, _ in events)
