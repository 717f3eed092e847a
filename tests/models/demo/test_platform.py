"""The planner on results shaped like those of search engines, wikis and metric stores."""

import pytest

from tests.models.demo.harness import run
from tests.models.demo.platform import platform


@pytest.mark.parametrize(
    "question",
    [
        "Look at the recent errors of host api-7 and compare them with the wiki",
        "看看 api-7 最近的报错，对照一下文档里的处理建议",
    ],
)
def test_a_page_found_by_the_words_of_the_error_is_read_in_full_by_its_id(question: str) -> None:
    done = run(question, platform())
    assert done.called("elastic_query")[0] == {"host": "api-7", "severity": "ERROR"}
    assert done.called("wiki_page") == [{"page_id": "9001"}]
    assert "upstream timed out while reading response from 10.1.1.9" in done.answer
    assert "> - Drain the slow backend." in done.answer


@pytest.mark.parametrize("question", ["Which host has the most errors?", "哪台主机报错最多？"])
def test_buckets_are_counts(question: str) -> None:
    done = run(question, platform())
    assert done.answer.index("`api-7`") < done.answer.index("`web-1`")


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Who is the contact of host web-1?", "Team Otter"),
        ("api-7 归谁负责？", "Team Falcon"),
        ("What is the cpu load of api-7?", "0.93"),
        ("api-7 的 CPU 负载是多少？", "0.93"),
        ("What happened on web-1?", "certificate expired"),
        ("证书过期怎么处理？", "run the renewal job"),
        ("How do I handle upstream timeouts?", "Check the upstream first."),
    ],
)
def test_facts_are_found_in_either_language(question: str, fact: str) -> None:
    assert fact in run(question, platform()).answer


@pytest.mark.parametrize("question", ["Drain host api-7", "隔离 api-7"])
def test_an_action_gives_the_question_as_its_reason(question: str) -> None:
    done = run(question, platform())
    assert done.steps[-1] == [("drain_host", {"hostname": "api-7", "reason": question})]
