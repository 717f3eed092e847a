"""The figure that the README gives for the planner, and that the judge of it would notice a wrong answer."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.planner import FIRST_CONTACT, OLDER, WRITTEN_BY_OTHERS
from bench.unseen.asking import Asked, judge

ROOT = Path(__file__).parents[3]
PLACES = {"a.log:7": "pump failed 3 times", "a.log:9": "pump started"}
RESULTS = ['{"ok": true, "data": {"file": "a.log", "line": 7, "text": "pump failed 3 times", "total": 12}}']
ASKED = Asked("How often?", "多少次？", ("12",), evidence=(frozenset({"a.log:7"}),))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_four_of_five_questions_are_answered_and_nothing_is_invented() -> None:
    done = subprocess.run(
        [sys.executable, "bench/planner.py", "--newest"],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        timeout=290,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_answer_with_its_fact_first_and_a_true_citation_counts() -> None:
    assert judge("12 in all, see `a.log:7`\n\n- `a.log:7`: pump failed 3 times", ASKED, PLACES, [], RESULTS).answered


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("See `a.log:7`.\n\n12 in all", "in the direct answer"),
        ("12 in all", "cited"),
        ("12 in all, see `a.log:9`", "cited"),
        ("112 in all, see `a.log:7`", "in the direct answer"),
    ],
)
def test_an_answer_without_its_fact_or_a_true_citation_does_not_count(answer: str, why: str) -> None:
    assert any(why in missing for missing in judge(answer, ASKED, PLACES, [], RESULTS).missing)


@pytest.mark.parametrize(
    "answer",
    [
        "12 in all, see `a.log:7`, about 40 a day",
        "12 in all, see `a.log:7`: “pump exploded”",
        "12 in all, see `a.log:7` and `b.log:1`",
        "12 in all, see `a.log:7`\n\n- `a.log:9`: pump failed 3 times",
    ],
)
def test_numbers_quotes_places_and_lines_that_no_result_holds_are_noticed(answer: str) -> None:
    assert judge(answer, ASKED, PLACES, [], RESULTS).invented


def test_toolsets_that_were_met_together_have_their_figure_of_first_contact() -> None:
    assert len(FIRST_CONTACT) == len(WRITTEN_BY_OTHERS)
    assert all(0 <= n <= 20 * len(met) for n, met in zip(FIRST_CONTACT, WRITTEN_BY_OTHERS, strict=True))


def test_the_planner_knows_no_tool_and_no_thing_of_the_bench() -> None:
    files = (ROOT / "opspilot" / "models" / "demo").rglob("*.py")
    source = "\n".join(path.read_text("utf-8") for path in files).lower()
    others = [module for three in WRITTEN_BY_OTHERS for module in three]
    toolsets = [module.toolset() for module in (*OLDER, *others)]
    names = {tool.name for toolset in toolsets for tool in toolset.tools if "_" in tool.name}
    names |= {place for toolset in toolsets for place in toolset.places if len(place) > 2 and not place.isalpha()}
    held = [name.lower() for name in names if name.lower() in source]
    assert [name for name in held if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source)] == []
