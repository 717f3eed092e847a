"""The built-in tools over logs and runbooks that nobody here wrote, checked by plain counting."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.tools.builtin.calls import BuildTool, CallTool

pytestmark = pytest.mark.real_data


def plain_lines(path: Path) -> list[str]:
    lines = [line.rstrip("\r") for line in path.read_bytes().decode().split("\n")]
    return lines if lines[-1] else lines[:-1]


@pytest.fixture
def search(build_tool: BuildTool, run_tool: CallTool, real_data: Path) -> Any:
    tool = build_tool("search_logs", path=str(real_data / "logs"))
    return lambda **arguments: run_tool(tool, arguments)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Failed password", r" from ([\d.]+) port \d+ ssh2"),
        ("POSSIBLE BREAK-IN ATTEMPT", r"\[([\d.]+)\] failed - POSS"),
    ],
)
def test_hosts_in_the_ssh_log_are_counted(search: Any, real_data: Path, text: str, address: str) -> None:
    matching = [line for line in plain_lines(real_data / "logs" / "OpenSSH.log") if text in line]
    expected = Counter(found[1] for line in matching if (found := re.search(address, line)))
    assert sum(expected.values()) == len(matching) > 50
    result = search(text=text, count_by="host", file="ssh")
    assert result["matched"] == len(matching)
    shown = {row["value"]: row["count"] for row in result["counts"]["top"]}
    assert shown == {value: expected[value] for value in shown}
    assert min(shown.values()) >= max((count for value, count in expected.items() if value not in shown), default=0)
    assert result["counts"]["top"][0]["count"] == expected.most_common(1)[0][1]


def test_apaches_most_frequent_error(search: Any, real_data: Path) -> None:
    errors = [line for line in plain_lines(real_data / "logs" / "Apache.log") if "] [error] " in line]
    first = Counter(re.sub(r"\d+$", "", line.partition("[error] ")[2]) for line in errors).most_common(1)[0]
    result = search(service="apache", level="error")
    assert result["by_level"] == {"error": len(errors)}
    assert result["shapes"][0]["count"] == first[1]
    assert result["shapes"][0]["shape"].startswith(first[0])


def test_each_file_is_read_in_its_own_format_to_the_last_line(search: Any, real_data: Path) -> None:
    result = search(limit=0)
    assert {row["file"]: (row["format"], row["lines"]) for row in result["files"]} == {
        f"{name}.log": (format_name, len(plain_lines(real_data / "logs" / f"{name}.log")))
        for name, format_name in [
            ("Apache", "apache-error"),
            ("Linux", "syslog"),
            ("OpenSSH", "syslog"),
            ("OpenStack", "timed"),
        ]
    }
    assert result["matched"] == result["scanned"] == sum(row["lines"] for row in result["files"])


def test_status_codes_of_openstack_are_counted_from_the_text(search: Any, real_data: Path) -> None:
    lines = plain_lines(real_data / "logs" / "OpenStack.log")
    expected = Counter(found[1] for line in lines if (found := re.search(r" status: (\d+)", line)))
    result = search(text="status:", count_by="status", file="openstack")
    assert {row["value"]: row["count"] for row in result["counts"]["top"]} == dict(expected)


def test_services_of_openstack_come_from_the_prefix(search: Any, real_data: Path) -> None:
    lines = plain_lines(real_data / "logs" / "OpenStack.log")
    result = search(service="nova-api")
    assert result["matched"] == sum(line.startswith("nova-api.log") for line in lines)


def test_every_line_that_is_quoted_stands_where_it_says(search: Any, real_data: Path) -> None:
    for line in search(text="a", limit=50)["lines"]:
        there = plain_lines(real_data / "logs" / line["file"])[line["line"] - 1]
        assert line["text"].removesuffix("…").removeprefix("…") in there


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("etcd leader lost", "etcd/etcdNoLeader.md"),
        ("which etcd alert means a lost leader and what to do about it", "etcd/etcdNoLeader.md"),
        ("哪个 etcd 告警表示失去 leader，该怎么处理", "etcd/etcdNoLeader.md"),
        ("how to handle a lost etcd leader", "etcd/etcdNoLeader.md"),
        ("etcd has lost its leader, what now?", "etcd/etcdNoLeader.md"),
        ("handling of a missing etcd leader", "etcd/etcdNoLeader.md"),
        ("如何处理丢失的 etcd leader", "etcd/etcdNoLeader.md"),
        ("etcd 集群失去主节点如何恢复", "etcd/etcdNoLeader.md"),
        ("pod 反复重启怎么办", "kubernetes/KubePodCrashLooping.md"),
        ("节点时钟偏移", "node/NodeClockSkewDetected.md"),
        ("磁盘空间快满了", "node/NodeFilesystemSpaceFillingUp.md"),
        ("pods keep crash looping", "kubernetes/KubePodCrashLooping.md"),
        ("the RAID array is degraded", "node/NodeRAIDDegraded.md"),
        ("cpu throttling", "kubernetes/CPUThrottlingHigh.md"),
        ("too many pods on one node", "kubernetes/KubeletTooManyPods.md"),
        ("clock skew", "node/NodeClockSkewDetected.md"),
        ("KubeAPIDown", "kubernetes/KubeAPIDown.md"),
    ],
)
def test_the_runbook_that_is_meant_comes_first(
    build_tool: BuildTool, run_tool: CallTool, real_data: Path, query: str, document: str
) -> None:
    result = run_tool(build_tool("search_docs", path=str(real_data / "runbooks")), {"query": query})
    passage = result["passages"][0]
    assert passage["file"] == document
    lines = (real_data / "runbooks" / document).read_text(encoding="utf-8").split("\n")
    assert lines[passage["line"] - 1] == passage["text"].split("\n")[0]
    assert passage["heading"].split(" > ")[-1] in lines[passage["heading_line"] - 1]
