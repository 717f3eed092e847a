"""The planner on the shipped example. It was written without knowing it: only tools and question lead it there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.models.demo.grounded import invented
from tests.models.demo.harness import Run, run
from tests.models.demo.real_tools import SHOP, shop


@pytest.fixture(autouse=True, scope="module")
def _logs() -> None:
    subprocess.run([sys.executable, str(SHOP / "generate.py")], check=True, capture_output=True)


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


@pytest.mark.parametrize(
    ("question", "owner"),
    [
        ("Who owns the payment service?", "team-payments"),
        ("Who is responsible for the payment service?", "team-payments"),
        ("Which team owns the orders service?", "team-orders"),
        ("Who owns payment?", "team-payments"),
        ("谁负责支付服务？", "team-payments"),
        ("支付服务的负责人是谁？", "team-payments"),
    ],
)
def test_who_owns_a_service_is_told_first_and_cited(question: str, owner: str, tmp_path: Path) -> None:
    first = ask(question, tmp_path).answer.split("\n\n")[0]
    assert owner in first
    assert re.search(r"`[\w./-]+:\d+`", first)


@pytest.mark.parametrize("question", ["Restart the payment service in production", "重启生产环境的支付服务"])
def test_a_restart_is_proposed_alone_after_the_service_was_identified(question: str, tmp_path: Path) -> None:
    done = ask(question, tmp_path)
    assert {name for name, _ in done.steps[0]} == {"search_resource"}
    (name, arguments), *others = done.steps[-1]
    assert (name, others) == ("restart_service", [])
    assert (arguments["service"], arguments["environment"]) == ("payment", "production")


@pytest.mark.parametrize("question", ["Which service logs the most errors?", "哪个服务报错最多？"])
def test_services_are_ranked_by_their_errors(question: str, tmp_path: Path) -> None:
    done = ask(question, tmp_path)
    errors = {
        log.stem: sum('"level": "error"' in line for line in log.read_text("utf-8").split("\n"))
        for log in (SHOP / "logs").glob("*.log")
    }
    top = max(errors, key=lambda name: errors[name])
    assert f"`{top}`" in done.answer.split("\n")[3]
    assert str(errors[top]) in done.answer.split("\n")[3]


@pytest.mark.parametrize(
    "question", ["How many errors did the payment service have in the last hour?", "过去一小时支付服务有多少条报错？"]
)
def test_a_span_of_time_is_put_to_the_logs(question: str, tmp_path: Path) -> None:
    calls = ask(question, tmp_path).called("search_logs")
    assert calls == [{"service": "payment", "level": "error", "since": "1h"}]


@pytest.mark.parametrize("question", ["Who owns what the orders service depends on?"])
def test_what_a_thing_depends_on_is_looked_up_in_turn(question: str, tmp_path: Path) -> None:
    done = ask(question, tmp_path)
    assert {"query": "payment"} in done.called("search_resource")
    assert "team-payments" in done.answer
