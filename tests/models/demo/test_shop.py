"""The planner on the shipped example. It was written without knowing it: only tools and question lead it there."""

import re
from pathlib import Path

import pytest

from tests.models.demo.grounded import invented
from tests.models.demo.harness import Run, run
from tests.models.demo.real_tools import SHOP, shop

pytestmark = pytest.mark.skipif(not (SHOP / "logs").is_dir(), reason="the example's logs are not generated yet")


def ask(question: str, state: Path) -> Run:
    done = run(question, shop(state))
    calls = [f"{name} {arguments}" for name, arguments in done.calls]
    assert invented(done.answer, done.results, [question, *calls]) == []
    return done


@pytest.mark.parametrize(
    "question",
    [
        "Look at the payment service's recent errors and compare them with the handling advice in the docs",
        "看看支付服务最近报错，顺便对照一下文档里的处理建议",
    ],
)
def test_the_main_question_gets_parallel_reads_and_names_the_fault_with_evidence(question: str, tmp_path: Path) -> None:
    done = ask(question, tmp_path)
    assert any(len({name for name, _ in step}) >= 2 for step in done.steps)
    assert "connection pool exhausted" in done.answer
    assert re.search(r"payment\.log:\d+", done.answer)
    assert re.search(r"payment-database-pool-exhausted\.md:\d+", done.answer)
    assert "db.pool.max" in done.answer


@pytest.mark.parametrize(
    "question",
    ["Who owns the payment service and what does it depend on?", "支付服务归谁负责？依赖哪些服务？"],
)
def test_owner_and_dependencies_come_from_the_catalogue(question: str, tmp_path: Path) -> None:
    done = ask(question, tmp_path)
    assert {name for name, _ in done.calls} == {"search_resource"}
    assert "team-payments" in done.answer
    assert "payment-db" in done.answer


@pytest.mark.parametrize("question", ["Restart the payment service in production", "重启生产环境的支付服务"])
def test_a_restart_is_proposed_alone_after_the_service_was_identified(question: str, tmp_path: Path) -> None:
    done = ask(question, tmp_path)
    assert {name for name, _ in done.steps[0]} == {"search_resource"}
    (name, arguments), *others = done.steps[-1]
    assert (name, others) == ("restart_service", [])
    assert (arguments["service"], arguments["environment"]) == ("payment", "production")
