"""The planner on results whose keys are none of the usual, and on names of two words."""

import pytest

from tests.models.demo.harness import run
from tests.models.demo.plant import plant


@pytest.mark.parametrize(
    "question",
    [
        "Look at the recent errors of the North press and compare them with the handbook",
        "看看 North press 最近的报错，对照一下手册里的处理建议",
    ],
)
def test_errors_and_advice_under_unusual_keys(question: str) -> None:
    done = run(question, plant())
    assert done.called("trail")[0] == {"machine_ref": "MX-12", "seriousness": "severe"}
    assert "`trail/MX-12.txt#45`" in done.answer
    assert "`hydraulics.md:3`" in done.answer
    assert "inspect the seals" in done.answer


@pytest.mark.parametrize(
    ("question", "fact", "not_said"),
    [
        ("Which crew is responsible for the Lacquer line?", "Red shift", "Blue shift"),
        ("North press 归谁负责？", "Blue shift", "Red shift"),
        ("What does the North press feed?", "MX-30", "Red shift"),
        ("How many times was the oven door open?", "how_many: 1", "severe"),
        ("What should I do when hydraulic pressure is lost?", "inspect the seals", "oven"),
        ("Show the log of the Lacquer line", "oven door open for 90 s", "hydraulic"),
    ],
)
def test_facts_and_nothing_beside_them(question: str, fact: str, not_said: str) -> None:
    done = run(question, plant())
    assert fact in done.answer
    assert not_said not in done.answer


@pytest.mark.parametrize("question", ["Halt the North press", "停止 North press"])
def test_a_name_of_two_words_is_acted_on_by_its_reference(question: str) -> None:
    assert run(question, plant()).steps[-1] == [("halt_machine", {"machine_ref": "MX-12"})]


def test_what_a_result_does_not_count_is_not_ranked() -> None:
    done = run("Which machine reported the most problems?", plant())
    assert "can't rank" in done.answer
