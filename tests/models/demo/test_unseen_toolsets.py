"""The planner on toolsets that its code has never seen: it goes by their names, schemas and results."""

import pytest

from tests.models.demo.harness import Run, run
from tests.models.demo.toolsets import call_centre, fleet, warehouse


def _parallel_reads(done: Run) -> bool:
    return any(len({name for name, _ in step}) >= 2 for step in done.steps)


@pytest.mark.parametrize(
    "question",
    [
        "Look at the recent alarms of the vessel Aurora and compare them with the advice in the knowledge base",
        "看看极光号最近的报错，顺便对照一下知识库里的处理建议",
    ],
)
def test_errors_and_advice_are_found_by_an_id_that_a_registry_gave(question: str) -> None:
    done = run(question, fleet())
    assert _parallel_reads(done)
    assert done.called("grep_events")[0] == {"vessel_id": "V-204", "grade": "alarm"}
    assert "engine.txt:41" in done.answer
    assert "KB-31:12" in done.answer
    assert "Overcurrent means a blocked strainer." in done.answer


def test_the_second_look_into_documents_uses_the_words_of_the_error() -> None:
    done = run("Look at the recent alarms of the vessel Aurora and compare them with the knowledge base", fleet())
    assert any("overcurrent" in str(call["topic"]) for call in done.called("kb_lookup"))


@pytest.mark.parametrize("question", ["Who operates the vessel Aurora?", "Who owns Aurora?", "极光号归谁负责？"])
def test_a_question_about_ownership_is_answered_from_the_registry(question: str) -> None:
    done = run(question, fleet())
    assert "North Line" in done.answer
    assert "Ice Pilots" not in done.answer


def test_a_number_is_quoted_from_the_result() -> None:
    done = run("How many overcurrent events did Aurora have?", fleet())
    assert done.answer.startswith("2 in all")


def test_advice_alone_needs_no_logs() -> None:
    done = run("What do I do when the bilge pump trips?", fleet())
    assert {name for name, _ in done.calls} == {"kb_lookup"}
    assert "blocked strainer" in done.answer


def test_an_action_comes_alone_and_after_the_thing_was_identified() -> None:
    done = run("Reboot the radar of the vessel Borealis", fleet())
    assert done.steps == [
        [("find_vessel", {"who": "Borealis"})],
        [("reboot_unit", {"vessel_id": "V-377", "unit": "radar"})],
    ]
    assert "T-9001" in done.answer


@pytest.mark.parametrize(
    "question",
    [
        "How do I reboot the radar of the vessel Borealis?",
        "Should we reboot the radar of Borealis?",
        "Don't reboot the radar of the vessel Borealis",
        "Who rebooted the radar of the vessel Borealis?",
        "Reboot history of the vessel Borealis",
        "不要重启北风号的雷达",
        "北风号为什么重启了？",
        "怎么重启北风号？",
    ],
)
def test_nothing_is_done_that_is_only_asked_about(question: str) -> None:
    assert run(question, fleet()).called("reboot_unit") == []


def test_nothing_is_done_to_what_the_registry_does_not_know() -> None:
    done = run("Reboot the radar of the vessel Nautilus", fleet())
    assert done.called("reboot_unit") == []
    assert "reboot_unit" in done.answer
    assert "Nautilus" in done.answer


def test_each_of_several_things_is_acted_on_but_for_those_that_are_not_known() -> None:
    done = run("Reboot the radar of the vessel Aurora, of the vessel Borealis and of the vessel Nautilus", fleet())
    assert [arguments["vessel_id"] for arguments in done.called("reboot_unit")] == ["V-204", "V-377"]
    assert "nothing in the catalogue is called “Nautilus”" in done.answer


def test_several_things_are_looked_at_side_by_side() -> None:
    done = run("Compare the alarms of the vessel Aurora and the vessel Borealis", fleet())
    assert [name for name, _ in done.steps[1]] == ["grep_events", "grep_events"]
    assert "engine.txt:41" in done.answer
    assert "bridge.txt:7" in done.answer


def test_what_an_action_needs_and_the_question_does_not_say_is_asked_for() -> None:
    done = run("Reboot the vessel Borealis", fleet())
    assert done.called("reboot_unit") == []
    assert "unit" in done.answer


@pytest.mark.parametrize(
    "question",
    [
        "看看一号传送带最近的报错，对照一下手册里的处理建议",
        "Look at the recent errors of 一号传送带 and compare with the manual",
    ],
)
def test_tools_described_in_chinese_serve_both_languages(question: str) -> None:
    done = run(question, warehouse())
    assert _parallel_reads(done)
    assert done.called("wms_journal")[0] == {"device": "CB-12", "grade": "E"}
    assert "belt.out:3" in done.answer
    assert "传送带.md:3" in done.answer
    assert "先按急停，再清洁光电传感器。" in done.answer


def test_the_most_frequent_message_is_ranked_by_the_results_own_counts() -> None:
    done = run("哪种报错最多？", warehouse())
    assert "“传送带卡住：光电传感器被遮挡”，次数 2" in done.answer


def test_counting_by_host_learns_from_the_lines_where_the_host_stands() -> None:
    done = run("Which host has the most dropped calls in the trunk log?", call_centre())
    assert done.called("trunk_log_lines")[-1]["tally"] == "address"
    assert done.answer.index("`10.0.0.7`: 2") < done.answer.index("`10.0.0.9`: 1")


def test_a_tool_of_no_known_kind_is_found_by_its_name() -> None:
    done = run("What is the status of the billing queue?", call_centre())
    assert done.calls == [("queue_status", {"queue": "billing"})]
    assert "waiting: 12" in done.answer


@pytest.mark.parametrize(
    ("question", "sentence"),
    [("Sing me a song", "none of the tools"), ("唱首歌吧", "都不适合")],
)
def test_it_says_so_when_no_tool_fits_and_names_its_tools(question: str, sentence: str) -> None:
    done = run(question, call_centre())
    assert done.calls == []
    assert sentence in done.answer
    assert "queue_status" in done.answer


def test_it_says_so_when_nothing_was_found() -> None:
    done = run("What do the documents say about zebra crossings?", fleet())
    assert "could not find anything" in done.answer
    assert "kb_lookup found nothing" in done.answer
