"""What is one entry: stack traces, pieces of long lines, rotated parts of a log; and the lines around an entry."""

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from opspilot.tools.builtin.logs.files import family_of, find_logs
from opspilot.tools.spec import Tool
from tests.tools.builtin.calls import BuildTool, CallTool

PYTHON = """\
2026-11-30 10:00:00,000 INFO web.core - before
2026-11-30 10:00:01,000 ERROR web.core - request failed
Traceback (most recent call last):
  File "a.py", line 1, in f
    g()
KeyError: 'stock'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "b.py", line 2, in g
    raise Gone("no stock")
shop.errors.GoneError: no stock
2026-11-30 10:00:02,000 INFO web.core - after
"""
JAVA = """\
2026-11-30 10:00:00,000 ERROR [main] c.e.Foo - request failed
java.lang.IllegalStateException: no connection
\tat c.e.Foo.bar(Foo.java:12)
Caused by: java.net.SocketTimeoutException: Read timed out
\tat c.e.Net.read(Net.java:1)
\t... 12 more
2026-11-30 10:00:01,000 INFO [main] c.e.Foo - fine
"""


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture
def search(build_tool: BuildTool, run_tool: CallTool, logs: Path) -> Any:
    tool = build_tool("search_logs", path="logs")
    return lambda **arguments: run_tool(tool, arguments)


def test_a_python_trace_with_its_chain_is_one_entry(search: Any, logs: Path) -> None:
    (logs / "web.log").write_text(PYTHON)
    result = search()
    assert (result["matched"], result["scanned"]) == (3, 14)
    assert result["by_level"] == {"info": 2, "error": 1}
    [entry] = search(level="error")["lines"]
    assert (entry["line"], entry["lines"]) == (2, 12)
    assert entry["text"].endswith("GoneError: no stock")
    assert search(text="another exception occurred")["lines"][0]["line"] == 2
    assert search(pattern=r'^  File "b\.py"')["matched"] == 1
    assert result["shapes"][-1]["shape"] == "request failed … shop.errors.GoneError: no stock"


def test_a_java_trace_is_one_entry_and_its_cause_can_be_counted(search: Any, logs: Path) -> None:
    (logs / "web.log").write_text(JAVA.replace("\n", "\r\n"))
    result = search(level="error", count_by="exception")
    assert (result["matched"], result["lines"][0]["line"], result["lines"][0]["lines"]) == (1, 1, 6)
    assert result["counts"]["top"][0]["value"] == "java.net.SocketTimeoutException"
    assert "1 of the matches have several lines" in result["notes"][0]


def test_a_trace_among_words_without_times_is_one_entry_too(search: Any, logs: Path) -> None:
    (logs / "out.txt").write_text(
        'starting\n  indented\nTraceback (most recent call last):\n  File "a"\nOSError: x\ndone\n'
    )
    rows = {line["line"]: line for line in search()["lines"]}
    assert sorted(rows) == [1, 2, 3, 6]
    assert (rows[3]["lines"], rows[3]["level"]) == (3, "error")


def test_a_long_trace_shows_its_beginning_the_match_and_its_end(search: Any, logs: Path) -> None:
    frames = "".join(f'  File "f{number}.py", line {number}, in f\n' for number in range(200))
    head = "2026-11-30 10:00:01,000 ERROR web - failed\nTraceback (most recent call last):\n"
    (logs / "web.log").write_text(f"{head}{frames}OSError: disk\n")
    text = search(text="f100.py")["lines"][0]["text"]
    assert text.startswith("2026-11-30 10:00:01,000 ERROR web - failed\n")
    assert '\n…\n  File "f100.py", line 100, in f\n…\n' in text
    assert text.endswith("OSError: disk")
    assert len(text) < 1_000


def test_an_entry_beyond_a_thousand_lines_is_said_to_be_looked_at_in_part(search: Any, logs: Path) -> None:
    (logs / "web.log").write_text("2026-11-30 10:00:00,000 ERROR web - x\n" + "  y\n" * 1_500 + "  needle\n")
    result = search(level="error")
    assert (result["matched"], result["lines"][0]["lines"]) == (1, 1_502)
    assert result["problems"] == ["web.log line 1 begins an entry of 1,502 lines; only the first 1,000 were looked at"]


def test_pieces_of_a_line_that_a_container_runtime_cut_are_joined_by_their_stream(search: Any, logs: Path) -> None:
    (logs / "0.log").write_text(
        '2026-11-30T10:00:00.1Z stderr P {"level":"error",\n'
        '2026-11-30T10:00:00.2Z stdout F {"level":"info","msg":"beside it"}\n'
        '2026-11-30T10:00:00.3Z stderr P "msg":"long\n'
        '2026-11-30T10:00:00.4Z stderr F  one"}\n'
        "2026-11-30T10:00:01.1Z stderr F Traceback (most recent call last):\n"
        '2026-11-30T10:00:01.1Z stderr F   File "x.py", line 3, in f\n'
        "2026-11-30T10:00:01.1Z stderr F ValueError: bad\n"
    )
    result = search()
    assert (result["matched"], result["scanned"], result["files"][0]["format"]) == (3, 7, "cri/json")
    rows = {line["line"]: line for line in search(level="error", count_by="stream")["lines"]}
    assert (rows[1]["text"], rows[1]["lines"]) == ('{"level":"error","msg":"long one"}', 3)
    assert (rows[5]["lines"], rows[5]["time"]) == (3, "2026-11-30T10:00:01Z")


def test_what_docker_wraps_is_read_as_the_program_wrote_it(search: Any, logs: Path) -> None:
    (logs / "c.log").write_text(
        '{"log":"level=error msg=\\"no disk\\"\\n","stream":"stderr","time":"2026-11-30T10:00:00Z"}\n'
        '{"log":"level=info msg=fine\\n","stream":"stdout","time":"2026-11-30T10:00:01Z"}\n'
    )
    result = search(level="error")
    assert (result["files"][0]["format"], result["lines"][0]["text"]) == (
        "docker/logfmt",
        'level=error msg="no disk"',
    )


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("app.log", "app.log"),
        ("app.log.1", "app.log"),
        ("a/app.log.2.gz", "a/app.log"),
        ("app.log-20261130", "app.log"),
        ("app.log-20261130.gz", "app.log"),
        ("app-2026-11-30.log", "app.log"),
        ("0.log.20261130-101010.gz", "0.log"),
        ("app.log.gz", "app.log"),
    ],
)
def test_a_rotated_part_belongs_to_its_log(name: str, family: str) -> None:
    assert family_of(name)[0] == family


def test_the_parts_of_a_log_stand_from_the_latest_to_the_oldest(logs: Path) -> None:
    for age, name in enumerate(["app.log", "app.log.1", "app.log.2.gz", "app.log.10.gz"]):
        (logs / name).write_text("x\n")
        os.utime(logs / name, (1_000_000_000, 1_000_000_000 + age))
    (logs / "other.log").write_text("x\n")
    files, problems = find_logs(logs, ())
    assert [(file.name, file.age) for file in files] == [
        *(("other.log", 0), ("app.log", 0), ("app.log.1", 1), ("app.log.2.gz", 2), ("app.log.10.gz", 3)),
    ]
    assert problems == []


def test_lines_without_a_time_are_in_the_order_of_their_parts(search: Any, logs: Path) -> None:
    (logs / "app.log.2.gz").write_bytes(gzip.compress(b"ERROR one\nERROR two\n"))
    (logs / "app.log.1").write_text("ERROR three\n")
    (logs / "app.log").write_text("ERROR four\n")
    result = search(level="error")
    assert [line["text"] for line in result["lines"]] == ["ERROR four", "ERROR three", "ERROR two", "ERROR one"]
    assert [(row["file"], row.get("rotated_from")) for row in result["files"]] == [
        *(("app.log", None), ("app.log.1", "app.log"), ("app.log.2.gz", "app.log")),
    ]


def test_a_part_beside_its_packed_copy_is_said_to_count_twice(search: Any, logs: Path) -> None:
    (logs / "app.log.1").write_text("ERROR one\n")
    (logs / "app.log.1.gz").write_bytes(gzip.compress(b"ERROR one\n"))
    assert "app.log.1 and app.log.1.gz are both there" in search()["problems"][0]


@pytest.mark.parametrize("packed", [False, True])
def test_the_lines_around_an_entry_are_those_beside_it_in_the_file(search: Any, logs: Path, packed: bool) -> None:
    text = "".join(f"2026-11-30 10:00:{second:02},000 INFO web - line {second}\n" for second in range(30))
    trace = "2026-11-30 10:01:00,000 ERROR web - failed\n  File x\n"
    data = f"{text}{trace}2026-11-30 10:02:00,000 INFO web - end\n".encode()
    (logs / "web.log").write_bytes(gzip.compress(data) if packed else data)
    [line] = search(level="error", context=2)["lines"]
    assert [text.partition(" - ")[2] for text in line["before"]] == ["line 28", "line 29"]
    assert line["after"] == ["2026-11-30 10:02:00,000 INFO web - end"]
    [first] = search(text="line 0", context=3)["lines"]
    assert (first["before"], len(first["after"])) == ([], 3)


def test_context_stays_small(search: Any, logs: Path) -> None:
    (logs / "web.log").write_text("".join(f"needle {'x' * 500} {number}\n" for number in range(200)))
    lines = search(text="needle", context=20, limit=50)["lines"]
    shown = sum(len(text) for line in lines for text in [*line.get("before", []), *line.get("after", [])])
    assert 2_000 < shown < 15_000
    assert "before" not in lines[-1]


def test_utf_16_is_said(search: Any, logs: Path) -> None:
    (logs / "w.log").write_bytes("ERROR x\n".encode("utf-16"))
    assert "w.log is UTF-16; UTF-8 files are searched" in search()["problems"][0]


def test_a_service_may_be_named_as_the_catalogue_does(build_tool: BuildTool, run_tool: CallTool, logs: Path) -> None:
    (logs / "payment.log").write_text("one\n")
    (logs / "orders.log").write_text("two\n")
    tool: Tool = build_tool("search_logs", path="logs")
    assert run_tool(tool, {"service": "component:default/payment"})["matched"] == 1
