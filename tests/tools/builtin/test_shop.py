"""The example shop: its data holds the fault that it promises, and the tools find it by the shop's own settings."""

import json
import subprocess
import sys
import tomllib
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from opspilot.core.interrupts import Interrupt
from opspilot.tools.registry import build_registry
from opspilot.tools.spec import Tool, ToolPlace
from tests.tools.builtin.calls import CallTool

ROOT = Path(__file__).parents[3]
SHOP = ROOT / "examples" / "shop"
ENGLISH = "Look at the payment service's recent errors and compare them with the handling advice in the docs"
CHINESE = "看看支付服务最近报错，顺便对照一下文档里的处理建议"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False, timeout=30)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the shop's settings whose logs lie in a folder of the test."""
    folder = tmp_path_factory.mktemp("shop")
    written = run(SHOP / "generate.py", folder / "logs")
    assert written.returncode == 0, written.stderr
    return folder


@pytest.fixture(scope="module")
def tools(shop: Path) -> dict[str, Tool]:
    tables: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "opspilot.toml").read_text())["tools"]
    tables["search_logs"]["path"] = str(shop / "logs")
    tables["restart_service"]["command"] += ["--state", str(shop / "state"), "--seconds", "0"]
    tables["restart_service"]["reconcile_command"] += ["--state", str(shop / "state")]
    return dict(build_registry(tables, ToolPlace(ROOT, shop / "tool-state")))


def payment_lines(shop: Path) -> list[dict[str, Any]]:
    lines = (shop / "logs" / "payment.log").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def test_the_generator_writes_thousands_of_lines_of_the_last_day(shop: Path) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (shop / "logs").glob("*.log")}
    assert len(texts) >= 6
    assert sum(text.count("\n") for text in texts.values()) >= 5_000
    times = [datetime.fromisoformat(line["time"]) for line in payment_lines(shop)]
    assert times == sorted(times)
    assert datetime.now(UTC) - timedelta(hours=25) < times[0] < times[-1] <= datetime.now(UTC)


def test_logs_that_are_fresh_are_left_alone_unless_forced(shop: Path) -> None:
    stamp = (shop / "logs" / "payment.log").stat().st_mtime_ns
    assert run(SHOP / "generate.py", shop / "logs").stdout == ""
    assert (shop / "logs" / "payment.log").stat().st_mtime_ns == stamp


def test_the_same_seed_tells_the_same_story(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        run(SHOP / "generate.py", tmp_path / folder, "--force")

    def told(folder: str) -> list[object]:
        lines = (tmp_path / folder / "payment.log").read_text(encoding="utf-8").split("\n")
        return [json.loads(line)["message"] for line in lines if line]

    assert told("one") == told("two")


def test_the_fault_is_the_most_frequent_error_of_payment(
    tools: dict[str, Tool], run_tool: CallTool, shop: Path
) -> None:
    errors = [line["message"] for line in payment_lines(shop) if line["level"] == "error"]
    (fault, count) = Counter(message.partition(":")[0] for message in errors).most_common(1)[0]
    result = run_tool(tools["search_logs"], {"service": "payment", "level": "error"})
    assert fault == "connection pool exhausted"
    assert result["matched"] == len(errors)
    assert result["shapes"][0]["shape"].startswith(fault)
    assert result["shapes"][0]["count"] == count > 2 * (len(errors) - count)
    assert not result.get("problems")


def test_the_deployment_that_caused_it_is_in_the_log(tools: dict[str, Tool], run_tool: CallTool) -> None:
    latest = run_tool(tools["search_logs"], {"service": "payment", "text": "deployed version"})["lines"][0]
    first = run_tool(tools["search_logs"], {"service": "payment", "text": "pool exhausted"})["shapes"][0]["first"]
    assert "db.pool.max=5 " in latest["text"]
    assert latest["time"] < first


def test_each_log_is_read_in_its_own_format(tools: dict[str, Tool], run_tool: CallTool) -> None:
    files = run_tool(tools["search_logs"])["files"]
    assert {row["format"] for row in files} == {"json", "logfmt", "timed", "syslog"}
    services = run_tool(tools["search_logs"], {"count_by": "service", "limit": 0})["counts"]["top"]
    assert {row["value"] for row in services} == {row["file"].removesuffix(".log") for row in files}


@pytest.mark.parametrize(
    ("query", "document"),
    [
        (ENGLISH, "en/payment-database-pool-exhausted.md"),
        (CHINESE, "zh/payment-database-pool-exhausted.md"),
        ("connection pool exhausted", "en/payment-database-pool-exhausted.md"),
        ("支付 报错", "zh/payment-database-pool-exhausted.md"),
        ("重启服务", "zh/restarting-a-service.md"),
    ],
)
def test_the_advice_is_among_the_first_passages(
    tools: dict[str, Tool], run_tool: CallTool, query: str, document: str
) -> None:
    passages = run_tool(tools["search_docs"], {"query": query})["passages"]
    assert document in [passage["file"] for passage in passages[:3]]


@pytest.mark.parametrize("query", ["payment", "payment service", "支付服务", "支付", "付款服务", ENGLISH, CHINESE])
def test_payment_is_found_by_all_its_names(tools: dict[str, Tool], run_tool: CallTool, query: str) -> None:
    assert run_tool(tools["search_resource"], {"query": query})["resources"][0]["name"] == "payment"


def test_the_catalogue_is_whole(tools: dict[str, Tool], run_tool: CallTool) -> None:
    result = run_tool(tools["search_resource"], {"limit": 30})
    known = set(result["names"])
    assert "problems" not in result
    for row in result["resources"]:
        assert row["title"].isascii() is False, row["name"]
        wanted = [row.get("owner"), *row.get("dependsOn", [])]
        assert {ref.replace(":", ":default/") for ref in wanted if ref} <= known


def test_what_other_tools_name_can_be_read(tools: dict[str, Tool], run_tool: CallTool) -> None:
    passage = run_tool(tools["search_docs"], {"query": ENGLISH})["passages"][0]
    page = run_tool(tools["read_file"], {"path": passage["file"], "line": passage["line"], "lines": 5})
    assert page["text"].split("\n")[0] == passage["text"].split("\n")[0]
    payment = run_tool(tools["search_resource"], {"query": "payment"})["resources"][0]
    assert run_tool(tools["read_file"], {"path": payment["annotations"]["shop.example/runbook"]})["total_lines"] > 5
    assert "name: payment" in run_tool(tools["read_file"], {"path": payment["file"], "line": payment["line"]})["text"]


def test_who_owns_what_the_payment_service_depends_on(tools: dict[str, Tool], run_tool: CallTool) -> None:
    result = run_tool(tools["search_resource"], {"query": "payment", "relation": "dependsOn"})
    assert {(row["name"], row["owner"]) for row in result["related"]} == {
        ("payment-db", "team-payments"),
        ("accounts", "team-platform"),
    }


def test_a_restart_can_be_counted_by_its_key(tools: dict[str, Tool], run_tool: CallTool, shop: Path) -> None:
    tool = tools["restart_service"]
    asked = {"service": "payment", "reason": "to free connections that hang"}
    assert isinstance(run_tool(tool, asked), Interrupt)
    assert not (shop / "state").exists()
    assert run_tool(tool, asked, approved=True)["restarted"] == "payment"
    record = [json.loads(line) for line in (shop / "state" / "restarts.jsonl").read_text().split("\n") if line]
    assert [(entry["service"], entry["key"]) for entry in record] == [("payment", "run-1/1.1#1")]
    assert tool.reconcile is not None
    assert tool.reconcile("run-1/1.1#1")["restarted"] is True
