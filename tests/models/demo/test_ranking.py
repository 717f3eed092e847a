"""Superlatives, first times, totals and rows, read from questions and results of any shape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.messages import Json
from opspilot.models.demo.lead import ranked_rows
from opspilot.models.demo.measures import Measure, Superlative, read_superlative
from opspilot.models.demo.question import read_question
from opspilot.models.demo.records import rows_of
from opspilot.models.demo.times import read_span
from opspilot.models.demo.words import tokens


@pytest.mark.parametrize(
    ("text", "measure", "largest", "many"),
    [
        ("Which requests were the slowest?", Measure.DURATION, True, 3),
        ("哪些请求最慢？", Measure.DURATION, True, 3),
        ("Which request was slowest?", Measure.DURATION, True, 1),
        ("Which query was fastest?", Measure.DURATION, False, 1),
        ("What is the biggest invoice?", Measure.SIZE, True, 1),
        ("金额最大的发票", Measure.AMOUNT, True, 1),
        ("What was the latest deployment?", Measure.TIME, True, 1),
        ("the oldest open order", Measure.TIME, False, 1),
        ("List the three jobs that used the most memory", Measure.ANY, True, 3),
        ("What are the top 5 calls by duration?", Measure.DURATION, True, 5),
    ],
)
def test_superlatives_are_read(text: str, measure: Measure, largest: bool, many: int) -> None:
    found = read_superlative(text, tokens(text))
    assert found is not None
    assert (found.measure, found.largest, found.many) == (measure, largest, many)


@pytest.mark.parametrize(
    "text", ["Which host has the most failed passwords?", "Show the latest errors of billing", "Who owns billing?"]
)
def test_a_count_or_a_recent_thing_is_no_superlative(text: str) -> None:
    assert read_superlative(text, tokens(text)) is None


@pytest.mark.parametrize(
    "text", ["When did the failures start?", "Since when is it slow?", "什么时候开始报错的？", "第一次出现是几点？"]
)
def test_questions_for_a_beginning_are_known(text: str) -> None:
    assert read_question(text).starts


ROWS: list[Json] = [{"id": "a-1", "ms": 7}, {"id": "b-2", "ms": 90}]
SHAPES: list[Json] = [
    {"total": 12, "rows": ROWS},
    {"data": {"page": {"totalCount": 12, "edges": [{"node": row} for row in ROWS]}}},
    {"count": 12, "columns": ["id", "ms"], "table": [["a-1", 7], ["b-2", 90]]},
    {"hits": {"total": {"value": 12}, "hits": [{"_source": row} for row in ROWS]}},
]


@pytest.mark.parametrize("data", SHAPES)
def test_rows_and_their_total_are_found_in_any_shape(data: Json) -> None:
    rows = rows_of(data)[0]
    assert rows.total == "12"
    assert [record.place for record in rows.records] == ["a-1", "b-2"]
    name, ranked = ranked_rows(rows, Superlative("slowest", Measure.DURATION))
    assert (name, ranked[0].place) == ("ms", "b-2")


def test_lines_of_text_are_rows_with_a_place_and_a_time() -> None:
    rows = rows_of("3 lines match\na.log:4: 2026-01-02T03:04:05Z pump failed\na.log:9: 2026-01-03T00:00:00Z ok now")[0]
    assert rows.total == "3"
    assert (rows.records[0].place, rows.records[0].time) == ("a.log:4", "2026-01-02T03:04:05Z")


@pytest.mark.parametrize("numbers", [{"port": 8080}, {"line": 9}, {"count": 4}])
def test_what_measures_no_time_does_not_rank_the_slowest(numbers: dict[str, Json]) -> None:
    rows = rows_of({"rows": [{"name": "x", **numbers}]})[0]
    assert ranked_rows(rows, Superlative("slowest", Measure.DURATION))[1] == []


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=20), st.booleans())
def test_the_first_ranked_row_is_the_end_that_was_asked_for(values: list[int], largest: bool) -> None:
    rows = rows_of({"rows": [{"id": f"r-{n}", "seconds": value} for n, value in enumerate(values)]})[0]
    _, ranked = ranked_rows(rows, Superlative("", Measure.DURATION, largest))
    assert ranked[0].numbers["seconds"] == (max if largest else min)(values)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("between 2026-05-04T07:00:00Z and 2026-05-04T08:00:00Z", "2026-05-04T07:00:00Z", "2026-05-04T08:00:00Z"),
        ("2026-05-04 到 2026-05-05 之间", "2026-05-04T00:00:00Z", "2026-05-05T23:59:59Z"),
        ("how many on 2026-05-04?", "2026-05-04T00:00:00Z", "2026-05-04T23:59:59Z"),
        ("since 2026-05-04", "2026-05-04", ""),
        ("before 2026-05-04", "", "2026-05-04T00:00:00Z"),
        ("until 2026-05-04", "", "2026-05-04T23:59:59Z"),
    ],
)
def test_ranges_of_time_have_both_ends(text: str, since: str, until: str) -> None:
    span = read_span(text)
    assert span is not None
    assert (span.since, span.until) == (since, until)
