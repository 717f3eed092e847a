"""Numbers in log lines: which line has the largest, and what all of them come to."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.tools.builtin.logs.line import LogLine
from opspilot.tools.builtin.logs.numbers import Number, Numbers, number_of, read_number
from opspilot.tools.builtin.logs.values import Found
from tests.tools.builtin.calls import BuildTool, CallTool


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture
def search(build_tool: BuildTool, run_tool: CallTool, logs: Path) -> Any:
    tool = build_tool("search_logs", path="logs")
    return lambda **arguments: run_tool(tool, arguments)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.25", Number(0.25)),
        ("-3", Number(-3)),
        ("1,234", Number(1234)),
        ("1e3", Number(1000)),
        ("12ms", Number(0.012, "seconds")),
        ("850 µs", Number(0.00085, "seconds")),
        ("2 min", Number(120, "seconds")),
        ("1.5 MB", Number(1_572_864, "bytes")),
        ("37%", Number(37, "%")),
        ("", None),
        ("abc", None),
        ("1.2.3.4", None),
        ("12:30", None),
        ("1e999", None),
    ],
)
def test_a_number_is_read_with_its_unit(text: str, number: Number | None) -> None:
    found = read_number(text)
    assert (found is None) is (number is None)
    if found is not None and number is not None:
        assert found.value == pytest.approx(number.value)
        assert found.unit == number.unit


@pytest.mark.parametrize(
    ("message", "fields", "name", "value"),
    [
        ("status: 200 len: 1893 time: 0.2477829", {}, "time", 0.2477829),
        ("status: 200 len: 1893 time: 0.2477829", {}, "duration", 0.2477829),
        ("status: 200 len: 1893 time: 0.2477829", {}, "size", 1893),
        ("Took 19.05 seconds to build", {}, "duration", 19.05),
        ("query took 27 ms, 249 hits", {}, "duration", 0.027),
        ("done", {"duration_ms": "250"}, "duration", 0.25),
        ("done", {"duration_ms": "250"}, "duration_ms", 0.25),
        ("done", {"elapsedMs": "250"}, "duration", 0.25),
        ("done", {"time": "1764500000.5", "latency": "3s"}, "duration", 3),
        ("done", {"time": "1764500000.5"}, "duration", None),
        ("in 12:30 of 7", {}, "duration", None),
        ("x", {"Status": "404"}, "status", 404),
    ],
)
def test_a_number_is_found_by_its_name_or_as_a_duration(
    message: str, fields: dict[str, str], name: str, value: float | None
) -> None:
    found = number_of(Found(LogLine(message, fields=fields), message, "a.log", 1, "web", None), name)
    assert (found.value if found is not None else None) == (pytest.approx(value) if value is not None else None)


def test_the_slowest_come_first_with_what_all_come_to(search: Any, logs: Path) -> None:
    times = [0.5, 0.1, 2.25, 0.3, 0.2]
    (logs / "web.log").write_text("".join(f'{{"msg":"GET /{n}","took":{time}}}\n' for n, time in enumerate(times)))
    result = search(sort_by="took", limit=2)
    assert [(line["line"], line["value"]) for line in result["lines"]] == [(3, 2.25), (1, 0.5)]
    assert result["numbers"] == {
        "by": "took",
        "count": 5,
        "max": 2.25,
        "p95": 2.25,
        "median": 0.3,
        "mean": 0.67,
        "min": 0.1,
    }


def test_the_smallest_may_come_first(search: Any, logs: Path) -> None:
    (logs / "web.log").write_text("took=3\ntook=1\ntook=2\ntook=1\n")
    lines = search(sort_by="took", ascending=True, limit=3)["lines"]
    assert [(line["line"], line["value"]) for line in lines] == [(2, 1), (4, 1), (3, 2)]


def test_numbers_by_a_group_of_the_pattern_and_per_counted_value(search: Any, logs: Path) -> None:
    (logs / "web.log").write_text("a took 5 ms\nb took 9 ms\na took 15 ms\nnothing\n")
    result = search(pattern=r"^(?P<who>\w) took (?P<ms>\d+)", sort_by="ms", count_by="who")
    assert [(row["value"], row["count"], row["max"], row["mean"]) for row in result["counts"]["top"]] == [
        ("a", 2, 0.015, 0.01),
        ("b", 1, 0.009, 0.009),
    ]
    assert (result["numbers"]["unit"], result["lines"][0]["line"]) == ("seconds", 3)


def test_units_are_made_comparable_and_mixed_ones_are_said(search: Any, logs: Path) -> None:
    (logs / "web.log").write_text("wait=90ms x\nwait=0.2s x\nwait=7 x\n")
    result = search(sort_by="wait")
    assert [line["value"] for line in result["lines"]] == [7, 0.2, 0.09]
    assert "Not all of these have the same unit (2 in seconds, 1 in no unit)" in result["numbers"]["note"]


def test_a_number_that_no_line_has_is_answered_with_those_there_are(search: Any, logs: Path) -> None:
    (logs / "web.log").write_text('{"msg":"m","code":7,"rt":0.5,"user":"anna"}\n')
    numbers = search(sort_by="colour")["numbers"]
    assert (numbers["count"], numbers["without"]) == (0, 1)
    assert numbers["note"] == "No matching line has a number 'colour'. Numbers in them: code, rt, duration."


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200))
def test_what_numbers_come_to_is_what_plain_reckoning_says(values: list[float]) -> None:
    numbers = Numbers()
    for value in values:
        numbers.add(Number(value))
    assert (numbers.smallest, numbers.largest, numbers.count) == (min(values), max(values), len(values))
    assert numbers.percentiles(50) == [statistics.median_low(values)]
    assert numbers.total == pytest.approx(sum(values), abs=1e-3)


@pytest.mark.real_data
def test_the_slowest_openstack_requests(build_tool: BuildTool, run_tool: CallTool, real_data: Path) -> None:
    import re

    lines = (real_data / "logs" / "OpenStack.log").read_text().split("\n")
    times = {
        number: float(found[1])
        for number, line in enumerate(lines, start=1)
        if (found := re.search(r" time: ([\d.]+)", line))
    }
    expected = sorted(times.items(), key=lambda item: -item[1])[:5]
    tool = build_tool("search_logs", path=str(real_data / "logs"))
    for name in ("time", "duration"):
        result = run_tool(tool, {"text": " time: ", "sort_by": name, "limit": 5, "file": "openstack"})
        assert [(line["line"], line["value"]) for line in result["lines"]] == expected
        assert result["numbers"]["count"] == len(times)
        assert result["numbers"]["median"] == pytest.approx(statistics.median_low(times.values()))
        assert json.dumps(result).index(str(expected[0][1])) < 300
