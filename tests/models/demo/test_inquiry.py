"""Questions about data: how they are read, how any result becomes rows, and what the rows answer."""

from datetime import datetime
from typing import Any

import pytest

from opspilot.core.messages import Json
from opspilot.models.demo.inquiry.aims import Aim
from opspilot.models.demo.inquiry.asked import read_question
from opspilot.models.demo.inquiry.grids import grids_of
from opspilot.models.demo.inquiry.moments import span_of
from opspilot.models.demo.inquiry.rows import quantity
from opspilot.models.demo.inquiry.text_tables import tables_in
from opspilot.models.demo.inquiry.words import words_of
from tests.models.demo.harness import Refused, Toy, declared, run


@pytest.mark.parametrize(
    ("text", "aims"),
    [
        ("How many pumps are idle?", (Aim.COUNT,)),
        ("有多少台泵处于空闲状态？", (Aim.COUNT,)),
        ("Which pump used the most water?", (Aim.MOST,)),
        ("最新的工单是哪个？", (Aim.EXTREME,)),
        ("Which run was the slowest?", (Aim.EXTREME,)),
        ("What is the total cost of all pumps?", (Aim.SUM,)),
        ("Did north or south have more alarms?", (Aim.COMPARE,)),
        ("这台泵用了多少内存？", (Aim.FIELD,)),
        ("Who owns the pump?", (Aim.FIELD,)),
    ],
)
def test_what_is_asked_of_the_rows_is_read_from_the_question(text: str, aims: tuple[Aim, ...]) -> None:
    assert read_question(text).aims == aims


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("in March 2026", "2026-03-01", "2026-04-01"),
        ("2026 年 3 月", "2026-03-01", "2026-04-01"),
        ("for 2026-03?", "2026-03-01", "2026-04-01"),
        ("on 3 June 2026", "2026-06-03", "2026-06-04"),
        ("from 23 to 25 November 2026", "2026-11-23", "2026-11-26"),
        ("2026 年 6 月 13、14 日", "2026-06-13", "2026-06-15"),
        ("between 22:00 and 04:00 on 28 November 2026", "2026-11-28T22:00", "2026-11-29T04:00"),
        ("2026-11-28 凌晨 2 点到 4 点", "2026-11-28T02:00", "2026-11-28T04:00"),
        ("before 1 April 2027", None, "2027-04-01"),
        ("since 2026-05-01", "2026-05-01", None),
    ],
)
def test_a_range_of_time_is_read_in_any_spelling(text: str, since: str | None, until: str | None) -> None:
    span = span_of(text)
    assert span is not None
    ends = tuple(None if end is None else datetime.fromisoformat(end) for end in (since, until))
    assert (span.since, span.until) == ends


def test_a_day_without_a_year_is_in_the_year_that_the_data_has() -> None:
    span = span_of("on 28 November")
    assert span is not None
    known = [datetime.fromisoformat("2026-11-27"), datetime.fromisoformat("2026-11-28T10:00")]
    assert [moment.day for moment in known if span.within(known).holds(moment)] == [28]


@pytest.mark.parametrize(
    "text",
    [
        "pump    litres  state\np1      5       idle\np2      9       busy",
        "pump | litres | state\n-----|--------|------\np1 | 5 | idle\np2 | 9 | busy",
        "pump=p1 litres=5 state=idle\npump=p2 litres=9 state=busy",
        "pump,litres,state\np1,5,idle\np2,9,busy",
    ],
)
def test_plain_text_in_columns_is_a_table(text: str) -> None:
    (grid,) = tables_in(text.split("\n"))
    assert [(row.fields["pump"], row.fields["litres"], row.fields["state"]) for row in grid.rows] == [
        ("p1", "5", "idle"),
        ("p2", "9", "busy"),
    ]


def test_prose_is_no_table() -> None:
    assert tables_in(["Stop the pump first.", "Then call the crew, and wait for it to arrive."]) == []


@pytest.mark.parametrize(
    ("small", "large"), [("890 MB", "1.1 TB"), ("15Gi", "127Gi"), ("45ms", "1.2s"), ("1h 5m", "66m"), ("7%", "12%")]
)
def test_values_with_units_compare(small: str, large: str) -> None:
    assert (quantity(small) or 0) < (quantity(large) or 0)


@pytest.mark.parametrize("value", ["2026-01-02", "v1.2.3", "10.0.0.1", "WT-02", "up"])
def test_what_is_no_quantity_is_none(value: str) -> None:
    assert quantity(value) is None


def test_chinese_is_cut_into_words_that_are_known_by_their_english_meanings() -> None:
    words = {word.text: word.forms for word in words_of("延迟最大的从库是哪个？")}
    assert "lag" in words["延迟"]
    assert "replica" in words["从库"]


ROWS = [{"pump": "p1", "litres": 5}, {"pump": "p2", "litres": 9}]


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        {"data": {"pumps": ROWS}},
        {"edges": [{"node": row} for row in ROWS]},
        {"columns": ["pump", "litres"], "rows": [["p1", 5], ["p2", 9]]},
        {"p1": {"litres": 5, "on": True}, "p2": {"litres": 9, "on": False}},
    ],
)
def test_rows_are_found_in_any_shape(data: Json) -> None:
    grid = next(grid for grid in grids_of(data) if not grid.single)
    assert [grid.place(row) for row in grid.rows] == ["p1", "p2"]
    assert [next(iter(row.numbers.values())) for row in grid.rows] == [5, 9]


def _toy(name: str, description: str, run_it: Any, **fields: Any) -> Toy:
    return Toy(name, description, declared(name.title(), **fields), run_it)


def _pages(asked: Any) -> Json:
    rows: list[Json] = [
        {"id": f"b-{n}", "state": "open" if n % 3 else "shut", "yard": f"yard-{n % 2}"} for n in range(25)
    ]
    start = 10 * (asked.page - 1)
    return {"barrels": rows[start : start + 10], "next_page": asked.page + 1 if start + 10 < len(rows) else None}


BARRELS = _toy("list_barrels", "Barrels in the yards, ten a page.", _pages, page=(int, 1))


@pytest.mark.parametrize("question", ["How many barrels are open?", "有多少个 open 的 barrel？"])
def test_rows_are_counted_over_all_pages_and_the_answer_says_so(question: str) -> None:
    done = run(question, [BARRELS])
    assert [call.get("page", 1) for call in done.called("list_barrels")] == [1, 2, 3]
    first = done.answer.split("\n")[0]
    assert "16" in first
    assert "`b-1`" in first
    assert "list_barrels" in first


def test_a_value_that_no_row_has_is_none_and_no_figure() -> None:
    done = run("How many barrels are shut in yard-7?", [BARRELS])
    assert "in all" not in done.answer.split("\n")[0] or "yard-7" not in done.answer


def test_pages_that_cannot_be_read_are_said_to_be_missing() -> None:
    def cut(_: Any) -> Json:
        return {"barrels": [{"id": f"b-{n}", "state": "open"} for n in range(10)], "has_more": True}

    done = run("How many barrels are open?", [_toy("list_barrels", "Barrels in the yards.", cut)])
    assert done.answer.startswith("At least")
    assert "more rows than it returned" in done.answer


def test_an_id_in_a_row_leads_to_the_tool_that_takes_it() -> None:
    def detail(asked: Any) -> Json:
        return {"crane_id": asked.crane_id, "operator": "Ulla", "grease": "K2"}

    cranes = _toy(
        "list_cranes",
        "Cranes of the quay with their load.",
        lambda _: [{"id": "C-9", "load_t": 4}, {"id": "C-3", "load_t": 7}],
    )
    one = _toy("get_crane", "One crane in full: operator, grease.", detail, crane_id=(str, ...))
    done = run("Which grease does crane C-3 take?", [cranes, one])
    assert {"crane_id": "C-3"} in done.called("get_crane")
    assert "K2" in done.answer.split("\n")[0]


def test_a_refusal_that_lists_the_names_is_followed_if_the_question_says_one() -> None:
    def plan(asked: Any) -> Json:
        if asked.rota != "night-guards":
            raise Refused(f"No rota '{asked.rota}'. Rotas: night-guards, gate-keepers.")
        return {"rota": asked.rota, "on_duty": "Ulla"}

    done = run(
        "Who is on duty for the night guards?", [_toy("duty", "Who is on duty in a rota.", plan, rota=(str, ...))]
    )
    assert done.called("duty")[-1] == {"rota": "night-guards"}
    assert "Ulla" in done.answer.split("\n")[0]


def test_only_rows_that_lack_a_time_are_those_to_which_it_has_not_happened() -> None:
    rows: list[Json] = [{"id": "m-1", "merged_at": "2026-01-02T03:04:05Z"}, {"id": "m-2", "merged_at": None}]
    done = run("Which requests are not merged yet?", [_toy("list_requests", "Requests.", lambda _: {"requests": rows})])
    assert "m-2" in done.answer.split("\n")[0]
    assert "m-1" not in done.answer.split("\n")[0]


def _park() -> list[Toy]:
    cranes: list[Json] = [
        {"crane": "CR-1", "crew": "blue", "load_t": 4, "ready": True, "hours": 12, "limit_hours": 40},
        {"crane": "CR-2", "crew": "blue", "load_t": 7, "ready": False, "hours": 55, "limit_hours": 40},
        {"crane": "CR-3", "crew": "red", "load_t": 5, "ready": True, "hours": 44, "limit_hours": 50},
    ]
    crews: list[Json] = [{"crew": "blue", "foreman": "Ulla Berg"}, {"crew": "red", "foreman": "Ivo Lang"}]
    return [
        _toy("list_cranes", "Cranes with crew, load and hours.", lambda _: {"cranes": cranes}),
        _toy("list_crews", "Crews and their foremen.", lambda _: {"crews": crews}),
    ]


@pytest.mark.parametrize(
    ("question", "said", "unsaid"),
    [
        ("Who is the foreman of crane CR-3?", "Ivo Lang", "Ulla"),
        ("CR-3 的工头（foreman）是谁？", "Ivo Lang", "Ulla"),
        ("Which cranes are not ready?", "CR-2", "CR-1"),
        ("Which cranes have hours over their limit?", "CR-2", "CR-3"),
        ("Does CR-1 or CR-3 have the larger load?", "load_t 5", "CR-2"),
        ("What is the total load of the blue crew's cranes?", "11", "CR-3"),
        ("Which crew has the most cranes?", "blue", "red"),
        ("哪个班组（crew）的起重机（crane）最多？", "blue", "red"),
    ],
)
def test_tables_are_joined_filtered_compared_and_added_up(question: str, said: str, unsaid: str) -> None:
    first = run(question, _park()).answer.split("\n\n")[0]
    assert said in first
    assert unsaid not in first


def test_what_no_row_has_is_said_to_be_missing() -> None:
    first = run("Who is the foreman of crane CR-9?", _park()).answer.split("\n\n")[0]
    assert "CR-9" in first
    assert "Nothing" in first


def test_a_count_of_which_the_rows_do_not_speak_is_not_given() -> None:
    assert "in all" not in run("How many rusty bolts do the cranes have?", _park()).answer
