"""Real logs and runbooks, through the tools that ship with OpsPilot. Facts are counted here, from the files."""

import re
from collections import Counter
from pathlib import Path

from bench.unseen.asking import Asked, Toolset
from opspilot.tools.registry import build_registry
from opspilot.tools.spec import ToolPlace

DATA = Path(__file__).parents[3] / "shared" / "real-data"


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8", "replace").split("\n")


def _places() -> dict[str, str]:
    found: dict[str, str] = {}
    for folder, kinds in ((DATA / "logs", ("*.log",)), (DATA / "runbooks", ("*.md",))):
        for file in (file for kind in kinds for file in folder.rglob(kind)):
            name = file.relative_to(folder).as_posix()
            found |= {f"{name}:{number}": line for number, line in enumerate(_lines(file), 1)}
    return found


def _holding(places: dict[str, str], file: str, pattern: str) -> frozenset[str]:
    return frozenset(
        place for place, line in places.items() if place.startswith(f"{file}:") and re.search(pattern, line)
    )


def _around(places: dict[str, str], file: str, words: str) -> frozenset[str]:
    """The paragraph that holds the words, and the heading above: a passage is cited by its first line."""
    number = next(
        int(place.rpartition(":")[2])
        for place, line in places.items()
        if place.startswith(f"{file}:") and words in line
    )
    return frozenset(f"{file}:{near}" for near in range(number - 4, number + 1))


def toolset(state: Path) -> Toolset:
    """Two shipped tools, ten questions. `state` is a folder in which an index may be kept."""
    settings = {"search_docs": {"path": str(DATA / "runbooks")}, "search_logs": {"path": str(DATA / "logs")}}
    registry = build_registry(settings, ToolPlace(DATA, state, None))
    places = _places()
    stack = {
        place: float(found[1])
        for place, line in places.items()
        if place.startswith("OpenStack.log:") and (found := re.search(r" time: ([\d.]+)", line))
    }
    slowest = max(stack, key=lambda place: stack[place])
    ssh = [line for place, line in places.items() if place.startswith("OpenSSH.log:")]
    failed = Counter(m[1] for line in ssh if (m := re.search(r"Failed password .* from (\S+) port", line)))
    address, tries = failed.most_common(1)[0]
    invalid = Counter(m[1] for line in ssh if (m := re.search(r"^.*: Invalid user (\S+) from", line))).most_common(1)[
        0
    ][0]
    apache = [line for place, line in places.items() if place.startswith("Apache.log:")]
    shapes = Counter(re.sub(r"\d+", "#", line.split("] ", 2)[2]) for line in apache if "[error]" in line)
    shape, often = shapes.most_common(1)[0]
    programs = Counter(
        m[1]
        for place, line in places.items()
        if place.startswith("Linux.log:") and (m := re.match(r"\w+ +\d+ \S+ \S+ ([\w-]+)", line))
    )
    program, wrote = programs.most_common(1)[0]
    opened = _holding(places, "Linux.log", "session opened for user news")
    refused = {file: _holding(places, file, "authentication failure") for file in ("Linux.log", "OpenSSH.log")}
    return Toolset(
        "real data",
        tuple(registry.values()),
        (
            Asked(
                "Which OpenStack requests were slowest?",
                "OpenStack 里哪些请求最慢？",
                (str(stack[slowest]),),
                evidence=(frozenset({slowest}),),
            ),
            Asked(
                "Which IP address has the most failed password attempts in the SSH log?",
                "SSH 日志里哪个 IP 的密码失败次数最多？",
                (address, str(tries)),
                evidence=(_holding(places, "OpenSSH.log", f"Failed password .* {re.escape(address)} "),),
            ),
            Asked(
                "How do we handle a lost etcd leader?",
                "etcd 丢失 leader 该怎么处理？",
                told=("disaster-recovery",),
                evidence=(_around(places, "etcd/etcdNoLeader.md", "Follow the steps"),),
            ),
            Asked(
                "Which invalid user was tried most often on SSH?",
                "SSH 上被尝试最多的无效用户是哪个？",
                (invalid,),
                evidence=(_holding(places, "OpenSSH.log", rf"(?i)user {invalid}\b"),),
            ),
            Asked(
                "What errors does the Apache log report, and which is the most frequent?",
                "Apache 日志里有哪些错误？哪个最常见？",
                (shape.split("#")[0].strip(), str(often)),
                evidence=(_holding(places, "Apache.log", re.escape(shape.split("#")[0])),),
            ),
            Asked(
                "When did the mod_jk errors begin in the Apache log?",
                "Apache 日志里 mod_jk 的错误是从什么时候开始的？",
                (("2005-12-04T04:47:44", "2005-12-04T04:47:44Z", "Sun Dec 04 04:47:44 2005"),),
                evidence=(frozenset({"Apache.log:2"}),),
            ),
            Asked(
                'How often was a "session opened for user news" in the Linux log?',
                "Linux 日志里 “session opened for user news” 出现了多少次？",
                (str(len(opened)),),
                evidence=(opened,),
            ),
            Asked(
                "Which program writes the most lines in the Linux log?",
                "Linux 日志里哪个程序写的行数最多？",
                (program, str(wrote)),
                evidence=(_holding(places, "Linux.log", rf" {program}\["),),
            ),
            Asked(
                "Are there more authentication failures in the Linux log or in the OpenSSH log?",
                "Linux 日志和 OpenSSH 日志哪个 authentication failure 更多？",
                tuple(str(len(found)) for found in refused.values()),
                evidence=tuple(refused.values()),
            ),
            Asked(
                "Prometheus' notification queue is running full. What is the impact and what can we do?",
                "Prometheus 的 notification queue 快满了，有什么影响，怎么处理？",
                told=("Fail to send alerts", "Remove conflicting configuration option"),
                evidence=(
                    _around(places, "prometheus/PrometheusNotificationQueueRunningFull.md", "Fail to send alerts")
                    | _around(places, "prometheus/PrometheusNotificationQueueRunningFull.md", "Remove conflicting"),
                ),
            ),
        ),
        places,
    )
