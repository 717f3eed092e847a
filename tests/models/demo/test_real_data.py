"""The planner over real logs and runbooks, by configuration alone. Expected facts are counted here, by plain code."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.models.demo.grounded import invented
from tests.models.demo.harness import Run, run
from tests.models.demo.real_tools import REAL_DATA, readers

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not REAL_DATA.is_dir(), reason="the real data is not part of the project"),
]


def _lines(name: str) -> list[str]:
    return (REAL_DATA / "logs" / name).read_text("utf-8", "replace").split("\n")


def _top(pattern: str, address: str, least: int = 3) -> list[tuple[str, int]]:
    lines = [line for line in _lines("OpenSSH.log") if re.search(pattern, line)]
    counts = Counter(found[1] for line in lines if (found := re.search(address, line)))
    return counts.most_common(least)


FAILED = ("Failed password", r"from (\d+\.\d+\.\d+\.\d+)")
BREAK_IN = ("POSSIBLE BREAK-IN ATTEMPT", r"(\d+\.\d+\.\d+\.\d+)")


def ask(question: str, state: Path) -> Run:
    tools = readers(REAL_DATA / "runbooks", REAL_DATA / "logs", state)
    done = run(question, tools)
    calls = [f"{name} {arguments}" for name, arguments in done.calls]
    assert invented(done.answer, done.results, [question, *calls]) == []
    return done


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("From which hosts does the SSH log have the most failed passwords, with counts?", [FAILED]),
        ("SSH 日志里哪些主机的密码失败次数最多？各多少次？", [FAILED]),
        ("which host has the most POSSIBLE BREAK-IN ATTEMPT lines in the SSH log", [BREAK_IN]),
        ('SSH 日志中哪台主机的 "POSSIBLE BREAK-IN ATTEMPT" 最多？', [BREAK_IN]),
        (
            (
                "from which hosts the SSH log has the most failed passwords and the most "
                '"POSSIBLE BREAK-IN ATTEMPT" lines, with counts'
            ),
            [FAILED, BREAK_IN],
        ),
    ],
)
def test_hosts_are_ranked_with_true_counts(question: str, facts: list[tuple[str, str]], tmp_path: Path) -> None:
    done = ask(question, tmp_path)
    for pattern, address in facts:
        for host, count in _top(pattern, address, 1):
            assert re.search(rf"`{re.escape(host)}`[:：] ?{count}\b", done.answer)


def test_two_counts_asked_for_at_once_are_made_side_by_side(tmp_path: Path) -> None:
    question = (
        'Which hosts have the most failed passwords and the most "POSSIBLE BREAK-IN ATTEMPT" lines in the SSH log?'
    )
    done = ask(question, tmp_path)
    assert [name for name, _ in done.steps[0]].count("search_logs") == 2


@pytest.mark.parametrize("question", ["Which error does Apache log most often?", "Apache 日志里最常见的错误是什么？"])
def test_the_most_frequent_error_is_quoted_with_its_count(question: str, tmp_path: Path) -> None:
    errors = [line.split("] ", 2)[2] for line in _lines("Apache.log") if "[error]" in line]
    shapes = Counter(re.sub(r"-?\d+", "#", error) for error in errors)
    shape, count = shapes.most_common(1)[0]
    done = ask(question, tmp_path)
    first = next(line for line in done.answer.split("\n") if "“" in line)
    assert shape.split("#")[0].strip() in first
    assert re.search(rf"\b{count}\b", first)


@pytest.mark.parametrize(
    "question",
    [
        "Which etcd alert means a lost leader and what should I do about it?",
        "哪个 etcd 告警表示丢失了 leader？该怎么处理？",
    ],
)
def test_an_alert_is_named_with_its_meaning_and_its_remedy(question: str, tmp_path: Path) -> None:
    done = ask(question, tmp_path)
    assert "etcdNoLeader.md:" in done.answer
    assert "does not have a leader" in done.answer
    assert "disaster-recovery" in done.answer
