"""Counts are those of plain counting: in every format, in small files and in large ones, of which parts are skipped."""

import gzip
import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opspilot.tools.builtin.logs import chunks, scan, seek
from opspilot.tools.builtin.logs.literals import literal_of
from opspilot.tools.builtin.logs.sieve import sieve_for
from opspilot.tools.spec import Tool
from tests.tools.builtin.calls import BuildTool, CallTool

START = datetime(2026, 11, 30, 8, tzinfo=UTC)
RANK = {"debug": 0, "info": 1, "warning": 2, "error": 3}
PRIORITY = {"debug": 135, "info": 134, "warning": 132, "error": 131}


@dataclass(frozen=True)
class Event:
    """One line, in no format yet."""

    at: datetime
    level: str
    service: str
    message: str


Render = Callable[[Event], str]


def as_json(event: Event) -> str:
    fields = {"ts": event.at.isoformat(), "level": event.level, "service": event.service, "msg": event.message}
    return json.dumps(fields, separators=(",", ":"))


def as_logfmt(event: Event) -> str:
    return f'time={event.at.isoformat()} level={event.level} service={event.service} msg="{event.message}"'


def as_rfc5424(event: Event) -> str:
    return (
        f'<{PRIORITY[event.level]}>1 {event.at:%Y-%m-%dT%H:%M:%SZ} web-1 {event.service} 7 - [a b="c"] {event.message}'
    )


def as_syslog(event: Event) -> str:
    return (
        f"<{PRIORITY[event.level]}>{event.at:%b} {event.at.day:2} {event.at:%H:%M:%S} web-1 {event.service}[7]: "
        f"{event.message}"
    )


def as_python(event: Event) -> str:
    return f"{event.at:%Y-%m-%d %H:%M:%S},000 {event.level.upper()} {event.service}.core - {event.message}"


def as_nginx(event: Event) -> str:
    return (
        f"{event.at:%Y/%m/%d %H:%M:%S} [{event.level.replace('warning', 'warn')}] 7#7: *5 {event.message}, client: ::1"
    )


def as_cri(event: Event) -> str:
    return f"{event.at:%Y-%m-%dT%H:%M:%S}.5Z stdout F {as_json(event)}"


def as_docker(event: Event) -> str:
    return json.dumps({"log": as_logfmt(event) + "\n", "stream": "stderr", "time": event.at.isoformat()})


def as_apache(event: Event) -> str:
    level = event.level.replace("warning", "warn")
    return f"[{event.at:%a %b %d %H:%M:%S}.000000 {event.at:%Y}] [core:{level}] [pid 7] {event.message}"


def as_klog(event: Event) -> str:
    return f"{event.level[0].upper()}{event.at:%m%d %H:%M:%S}.000000       7 main.go:12] {event.message}"


FORMATS: dict[str, tuple[Render, bool]] = {
    "json": (as_json, True),
    "logfmt": (as_logfmt, True),
    "rfc5424": (as_rfc5424, True),
    "syslog": (as_syslog, True),
    "timed": (as_python, False),
    "nginx-error": (as_nginx, False),
    "cri/json": (as_cri, True),
    "docker/logfmt": (as_docker, True),
    "apache-error": (as_apache, False),
    "klog": (as_klog, False),
}
"""How each format is written, and whether its lines name their service."""


@contextmanager
def large_files() -> Iterator[None]:
    """Every file counts as large, and is read in small pieces."""
    with (
        mock.patch.object(scan, "LARGE_BYTES", 0),
        mock.patch.object(chunks, "CHUNK_BYTES", 700),
        mock.patch.object(seek, "_CLOSE_BYTES", 500),
    ):
        yield


def events_of(count: int, seed: int = 1) -> list[Event]:
    rng = random.Random(seed)
    words = ["order placed", "Disk full", "timeout after 30 ms", "支付 超时", "retry 7 of 9", "cache miss"]
    return [
        Event(
            START + timedelta(seconds=20 * number + rng.randrange(15)),
            rng.choice([*RANK, "info", "info"]),
            rng.choice(["payment", "orders", "gateway"]),
            f"{rng.choice(words)} for {rng.randrange(40)}",
        )
        for number in range(count)
    ]


@pytest.fixture
def tool(build_tool: BuildTool, tmp_path: Path) -> Tool:
    (tmp_path / "logs").mkdir()
    return build_tool("search_logs", path="logs")


@pytest.fixture(params=[False, True], ids=["small", "large"])
def search(request: pytest.FixtureRequest, tool: Tool, run_tool: CallTool) -> Iterator[Any]:
    if not request.param:
        yield lambda **arguments: run_tool(tool, arguments)
        return
    with large_files():
        yield lambda **arguments: run_tool(tool, arguments)


@pytest.mark.parametrize("name", FORMATS)
def test_counts_and_line_numbers_are_true_in_every_format(search: Any, tmp_path: Path, name: str) -> None:
    render, names_service = FORMATS[name]
    events = events_of(300)
    text = "".join(render(event) + "\n" for event in events)
    (tmp_path / "logs" / "mixed.log").write_text(text, encoding="utf-8")

    def numbers(wanted: Callable[[Event], bool]) -> list[int]:
        return [number for number, event in enumerate(events, start=1) if wanted(event)]

    def found(**arguments: Any) -> tuple[int, list[int]]:
        result = search(limit=50, **arguments)
        assert result["files"][0]["format"] == name
        return result["matched"], [line["line"] for line in result["lines"]]

    since, until = events[100].at, events[200].at
    times = {"since": since.isoformat(), "until": until.isoformat()}
    cases: list[tuple[dict[str, Any], Callable[[Event], bool]]] = [
        ({"text": "DISK full"}, lambda event: "Disk full" in event.message),
        ({"text": "支付 超"}, lambda event: "支付" in event.message),
        ({"level": "warning"}, lambda event: RANK[event.level] >= RANK["warning"]),
        ({"pattern": r"retry \d of (?P<n>\d)"}, lambda event: event.message.startswith("retry")),
        (times, lambda event: since <= event.at <= until),
        (times | {"text": "order placed"}, lambda event: since <= event.at <= until and "placed" in event.message),
    ]
    if names_service:
        cases += [
            ({"service": "Payment"}, lambda event: event.service == "payment"),
            (
                {"service": "payment", "level": "error", "text": "for"},
                lambda event: event.service == "payment" and event.level == "error",
            ),
        ]
    for arguments, wanted in cases:
        expected = numbers(wanted)
        matched, lines = found(**arguments)
        assert matched == len(expected) > 0, arguments
        assert sorted(lines) == sorted(expected, reverse=True)[:50][::-1], arguments
    by_level = search(limit=0)["by_level"]
    assert by_level == {level: sum(event.level == level for event in events) for level in by_level}
    assert sum(by_level.values()) == len(events)


def test_a_time_range_of_a_large_file_is_found_without_reading_the_rest(
    tool: Tool, run_tool: CallTool, tmp_path: Path
) -> None:
    events = events_of(2_000)
    (tmp_path / "logs" / "a.log").write_text("".join(as_json(event) + "\n" for event in events), encoding="utf-8")
    since = events[-100].at
    with large_files():
        result = run_tool(tool, {"since": since.isoformat(), "limit": 1})
    assert result["matched"] == sum(event.at >= since for event in events)
    assert result["scanned"] < 400
    assert result["lines"][0]["line"] == 2_000
    assert f"only the {result['scanned']:,} lines from line " in result["notes"][0]


def test_where_there_is_no_time_to_count_lines_the_byte_is_said_instead_of_a_number(
    tool: Tool, run_tool: CallTool, tmp_path: Path
) -> None:
    events = events_of(2_000)
    data = "".join(as_json(event) + "\n" for event in events).encode()
    (tmp_path / "logs" / "a.log").write_bytes(data)
    with large_files(), mock.patch.object(scan, "count_lines", return_value=None):
        result = run_tool(tool, {"since": events[-5].at.isoformat(), "count_by": "level"})
    assert result["matched"] == 5
    for row in [*result["lines"], *result["shapes"], *result["counts"]["top"]]:
        assert "line" not in row
        assert data[row["byte"] - 1 : row["byte"]] == b"\n"
    assert data[result["lines"][0]["byte"] :].decode() == as_json(events[-1]) + "\n"


@pytest.mark.parametrize(
    "disturbed", [range(1_000, 1_400), range(1_890, 1_900), range(3)], ids=["middle", "end", "start"]
)
def test_a_file_out_of_order_is_not_trusted(tool: Tool, run_tool: CallTool, tmp_path: Path, disturbed: range) -> None:
    """Lines of yesterday that stand among those of today, as a clock that was set leaves them."""
    events = [
        Event(event.at + timedelta(days=number in disturbed), event.level, event.service, event.message)
        for number, event in enumerate(events_of(2_000))
    ]
    (tmp_path / "logs" / "a.log").write_text("".join(as_json(event) + "\n" for event in events), encoding="utf-8")
    since = events[1_850].at
    with large_files():
        result = run_tool(tool, {"since": since.isoformat(), "limit": 0})
    assert result["matched"] == sum(event.at >= since for event in events)


def test_a_packed_or_unordered_file_is_read_as_a_whole(tool: Tool, run_tool: CallTool, tmp_path: Path) -> None:
    events = events_of(400)
    random.Random(3).shuffle(events)
    data = "".join(as_json(event) + "\n" for event in events).encode()
    (tmp_path / "logs" / "a.log").write_bytes(data)
    (tmp_path / "logs" / "b.log.gz").write_bytes(gzip.compress(data))
    since = START + timedelta(minutes=100)
    with large_files():
        result = run_tool(tool, {"since": since.isoformat(), "limit": 0})
    assert result["matched"] == 2 * sum(event.at >= since for event in events)
    assert result["scanned"] == 800


def test_a_service_that_is_not_there_is_said_of_large_files_too(tool: Tool, run_tool: CallTool, tmp_path: Path) -> None:
    (tmp_path / "logs" / "all.log").write_text("".join(as_json(event) + "\n" for event in events_of(90)))
    with large_files():
        result = run_tool(tool, {"service": "mail"})
        assert result["notes"][0] == "There is no service 'mail' in these logs."
        assert sum(row["lines"] for row in result["services"]) == 90
        assert run_tool(tool, {"service": "paymnet"})["matched"] > 0


PIECES = st.sampled_from(
    [
        "error",
        "ERROR",
        " ",
        "42",
        "x",
        "\r",
        "\u2028",
        "支付",
        "\t",
        "K",
        "\u212a",
        "ß",
        "ss",
        "\\",
        "é",
        "kelvin",
        "\u017f",
    ]
)
LINES = st.lists(st.lists(PIECES, max_size=6).map("".join), max_size=60)
NEEDLES = st.sampled_from(["error", "x", "支付", "42", "É", "k", "ss", "s", "kel", "\\", "x4", "é支", "nothing"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(lines=LINES, needle=NEEDLES)
def test_passing_over_lines_changes_no_count(
    build_tool: BuildTool, run_tool: CallTool, tmp_path: Path, lines: list[str], needle: str
) -> None:
    folder = tmp_path / "any"
    folder.mkdir(exist_ok=True)
    (folder / "a.log").write_bytes("\n".join(lines).encode())
    plain = [line.removesuffix("\r") for line in lines]
    if plain and not lines[-1]:
        plain.pop()
    expected = [number for number, line in enumerate(plain, start=1) if needle.casefold() in line.casefold()]
    with mock.patch.object(chunks, "CHUNK_BYTES", 200):
        result = run_tool(build_tool("search_logs", path="any"), {"text": needle, "limit": 50})
    assert result["scanned"] == len(plain)
    assert result["matched"] == len(expected)
    assert sorted(line["line"] for line in result["lines"]) == expected[-50:]


def json_with_traces(path: Path, entries: list[tuple[str, list[str]]]) -> list[int]:
    """Writes JSON lines with traces between them; gives the lines that are, or begin, an error."""
    lines: list[str] = []
    errors: list[int] = []
    for head, trace in entries:
        level = "error" if "ERROR" in head else "info"
        errors += [len(lines) + 1] if level == "error" else []
        lines.append(f'{{"level":"{level}","msg":"m"}}')
        if trace == TRACE:
            errors.append(len(lines) + 1)
            lines += trace
    path.write_text("\n".join(lines) + "\n")
    return errors


HEADS = st.sampled_from(["2026-11-30 10:00:0%d,000 ERROR a - needle", "2026-11-30 10:00:0%d,000 INFO a - fine"])
TRACE = ["Traceback (most recent call last):", '  File "x.py", line 1, in f', "    needle()", "ValueError: no needle"]
JAVA = ["java.lang.Foo: needle", "\tat a.b.C(D.java:7)", "Caused by: a.b.BarException: x", "\t... 3 more"]
ENTRIES = st.lists(st.tuples(HEADS, st.sampled_from([[], TRACE, JAVA, ["  indented", ""]])), min_size=1, max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(entries=ENTRIES, large=st.booleans())
def test_an_entry_is_counted_once_whichever_of_its_lines_match(
    build_tool: BuildTool, run_tool: CallTool, tmp_path: Path, entries: list[tuple[str, list[str]]], *, large: bool
) -> None:
    folder, other = tmp_path / "traces", tmp_path / "json"
    folder.mkdir(exist_ok=True)
    other.mkdir(exist_ok=True)
    lines: list[str] = []
    starts: list[int] = []
    for number, (head, trace) in enumerate(entries):
        starts.append(len(lines) + 1)
        lines += [head % (number % 10), *trace]
    (folder / "a.log").write_text("\n".join(lines) + "\n")
    expected = [
        start
        for start, (head, trace) in zip(starts, entries, strict=True)
        if "needle" in head or any("needle" in line for line in trace)
    ]
    tool = build_tool("search_logs", path="traces")
    with mock.patch.object(chunks, "CHUNK_BYTES", 150), mock.patch.object(scan, "LARGE_BYTES", 0 if large else 1e9):
        result = run_tool(tool, {"text": "Needle", "limit": 50})
        errors = run_tool(tool, {"level": "error", "limit": 0})
        mixed = json_with_traces(other / "b.log", entries)
        in_json = run_tool(build_tool("search_logs", path="json"), {"level": "error", "limit": 50})
    assert sorted(line["line"] for line in in_json["lines"]) == mixed[-50:]
    assert result["scanned"] == len(lines)
    assert sorted(line["line"] for line in result["lines"]) == expected
    assert errors["matched"] == sum("ERROR" in head for head, _ in entries)


@given(st.text(alphabet="ab.|()[]*+?{}12^$\\dw-", max_size=12), st.text(alphabet="ab12-.", max_size=30))
def test_what_a_pattern_surely_holds_is_in_everything_that_it_finds(pattern: str, text: str) -> None:
    import regex

    try:
        found = regex.search(pattern, text, timeout=1)
    except (regex.error, TimeoutError):
        return
    if found is not None:
        assert literal_of(pattern) in text


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        (r"Failed password for (?:invalid user )?(?P<user>\w+) from", "Failed password for "),
        (r"took (\d+) ms", "took "),
        (r"\[error\] x*y", "[error] "),
        (r"a|bc", ""),
        (r"(a|b)cde", "cde"),
        (r"(?i)abc", ""),
        (r"abc(?=d)", ""),
        (r"ab?c+d", "d"),
        (r"a\nb", ""),
    ],
)
def test_the_longest_certain_text_of_a_pattern(pattern: str, literal: str) -> None:
    found = literal_of(pattern)
    assert len(found) == len(literal)
    assert found in pattern.replace("\\", "")


def test_every_character_that_folds_to_ascii_passes_the_sieve() -> None:
    odd = [
        chr(code)
        for code in range(128, 0x110000)
        if not 0xD800 <= code < 0xE000 and any(ord(part) < 128 for part in chr(code).casefold())
    ]
    assert len(odd) > 10
    for character in odd:
        sieve = sieve_for(next(part for part in character.casefold() if ord(part) < 128))
        assert sieve is not None
        data = b"first\n" + b"2 -\n" * 20 + character.encode() + b"\n" + b"2 -\n" * 20
        at = data.index(character.encode())
        assert any(start <= at < end for start, end in sieve.lines(data)), character
