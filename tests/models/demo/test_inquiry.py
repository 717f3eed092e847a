"""Questions about data: how they are read, how any result becomes rows, and what the rows answer."""

from typing import Any

import pytest

from opspilot.core.messages import Json
from opspilot.models.demo.inquiry.aims import Aim, read_month, read_sought
from opspilot.models.demo.inquiry.grids import grids_of
from opspilot.models.demo.inquiry.rows import quantity
from opspilot.models.demo.inquiry.terms import terms_of
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
    assert read_sought(text).aims == aims


@pytest.mark.parametrize("text", ["in March 2026", "2026 年 3 月", "for 2026-03?"])
def test_a_month_is_read_in_any_spelling(text: str) -> None:
    assert read_month(text) == "2026-03"


@pytest.mark.parametrize(
    ("small", "large"), [("890 MB", "1.1 TB"), ("15Gi", "127Gi"), ("45ms", "1.2s"), ("1h 5m", "66m"), ("7%", "12%")]
)
def test_values_with_units_compare(small: str, large: str) -> None:
    assert (quantity(small) or 0) < (quantity(large) or 0)


@pytest.mark.parametrize("value", ["2026-01-02", "v1.2.3", "10.0.0.1", "WT-02", "up"])
def test_what_is_no_quantity_is_none(value: str) -> None:
    assert quantity(value) is None


def test_a_chinese_name_of_a_known_word_and_one_character_stays_whole() -> None:
    assert "支付仓" in {term.text for term in terms_of("支付仓由谁负责？") if term.name}


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
