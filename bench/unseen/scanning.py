"""A vulnerability scanner: findings with scores and fixes, assets by network, scans, exceptions that were granted."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 5, 18, tzinfo=UTC)
_HOSTS = ("edge-proxy-1", "edge-proxy-2", "billing-db", "hr-portal", "build-agent-7", "vpn-gw")
_PACKAGES = (("openssl", "3.0.14"), ("zlib", "1.3.2"), ("nginx", "1.27.4"), ("sudo", "1.9.16"), ("curl", "8.9.0"))


def _findings() -> list[dict[str, Any]]:
    dice, found = random.Random(2024), []
    for number in range(1, 53):
        package, fixed = dice.choice(_PACKAGES)
        score = round(dice.uniform(2, 9.4), 1)
        found.append(
            {
                "finding_id": f"F-{number:03}",
                "cve": f"CVE-2026-{1000 + 7 * number}",
                "host": dice.choices(_HOSTS, (2, 3, 1, 4, 8, 2))[0],
                "package": package,
                "fixed_in": fixed,
                "cvss": 9.9 if number == 31 else score,
                "severity": "critical" if score >= 8 or number == 31 else "high" if score >= 6 else "medium",
                "status": dice.choices(("open", "fixed", "accepted"), (5, 4, 1))[0],
                "first_seen": (_START + timedelta(hours=9 * number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
        )
    return found


_FINDINGS = _findings()
_SCANS = [
    ("sc-11", "dmz", "completed", 1840, "2026-06-01T01:00:00Z"),
    ("sc-12", "office", "completed", 5230, "2026-06-02T01:00:00Z"),
    ("sc-13", "dmz", "aborted", 95, "2026-06-03T01:00:00Z"),
    ("sc-14", "datacenter", "completed", 7711, "2026-06-04T01:00:00Z"),
]
_EXCEPTIONS = [
    {"exception": "EX-2", "cve": "CVE-2026-1035", "approved_by": "Lena Vogt", "expires": "2026-12-31"},
    {"exception": "EX-4", "cve": "CVE-2026-1112", "approved_by": "Paul Reyes", "expires": "2026-08-15"},
]
_ASSETS = {
    "edge-proxy-1": ("dmz", "Debian 12", "web team"),
    "edge-proxy-2": ("dmz", "Debian 12", "web team"),
    "billing-db": ("datacenter", "RHEL 9", "database team"),
    "hr-portal": ("office", "Windows Server 2022", "hr systems"),
    "build-agent-7": ("datacenter", "Ubuntu 24.04", "platform team"),
    "vpn-gw": ("dmz", "OpenBSD 7.7", "network team"),
}


@tool(effect="read")
def list_findings(
    host: Annotated[str, Field(description="Host name.")] = "",
    severity: Literal["medium", "high", "critical"] | None = None,
    status: Literal["open", "fixed", "accepted"] | None = None,
    cursor: str = "",
) -> Json:
    """Vulnerabilities that scans found: CVE, host, package, score, fixed version."""
    rows = [
        row
        for row in _FINDINGS
        if host in ("", row["host"]) and severity in (None, row["severity"]) and status in (None, row["status"])
    ]
    begin = int(cursor or 0)
    more = begin + 15 < len(rows)
    return {"findings": rows[begin : begin + 15], "cursor": str(begin + 15) if more else None, "has_more": more}


@tool(effect="read")
def asset(host: Annotated[str, Field(description="Host name.")]) -> Json:
    """One asset: network, operating system, responsible team."""
    if host not in _ASSETS:
        raise ToolError(f"No asset '{host}'. Try one of {', '.join(_ASSETS)}.")
    network, system, team = _ASSETS[host]
    return {"host": host, "network": network, "os": system, "team": team}


@tool(effect="read")
def scan_history() -> Json:
    """Scans of networks: result, how many seconds each took, when it started."""
    names = ("scan", "network", "result", "seconds", "started")
    return {"scans": [dict(zip(names, row, strict=True)) for row in _SCANS]}


@tool(effect="read")
def exceptions() -> Json:
    """Exceptions granted for vulnerabilities, who approved them and until when they hold."""
    return [{**row} for row in _EXCEPTIONS]


def toolset() -> Toolset:
    """Four tools, ten questions. Facts are counted here from the rows themselves."""
    critical = [row for row in _FINDINGS if (row["severity"], row["status"]) == ("critical", "open")]
    host = Counter(row["host"] for row in _FINDINGS if row["status"] == "open").most_common(1)[0]
    top = max(_FINDINGS, key=lambda row: row["cvss"])
    asked = _FINDINGS[16]
    accepted = [row for row in _FINDINGS if row["status"] == "accepted"]
    portal = [row for row in _FINDINGS if row["host"] == "hr-portal"]
    places = {row["finding_id"]: str(row) for row in _FINDINGS} | {name: str(row) for name, row in _ASSETS.items()}
    places |= {row["cve"]: str(row) for row in _FINDINGS}
    places |= {row[0]: str(row) for row in _SCANS} | {row["exception"]: str(row) for row in _EXCEPTIONS}
    return Toolset(
        "vulnerability scanner",
        (list_findings, asset, scan_history, exceptions),
        (
            Asked(
                "How many critical vulnerabilities are still open?",
                "还有多少个 critical 漏洞未修复，状态是 open？",
                (str(len(critical)),),
                evidence=(frozenset(row["finding_id"] for row in critical),),
            ),
            Asked(
                "Which host has the most open findings?",
                "哪台主机 open 的漏洞最多？",
                (host[0], str(host[1])),
                evidence=(
                    frozenset(r["finding_id"] for r in _FINDINGS if (r["host"], r["status"]) == (host[0], "open")),
                ),
            ),
            Asked(
                "Which vulnerability has the highest CVSS score?",
                "CVSS 评分最高的漏洞是哪个？",
                ((top["cve"], top["finding_id"]), "9.9"),
                evidence=(frozenset({top["finding_id"], top["cve"]}),),
            ),
            Asked(
                f"In which version is {asked['cve']} fixed?",
                f"{asked['cve']} 在哪个版本中修复？",
                (asked["fixed_in"],),
                evidence=(frozenset({asked["finding_id"], asked["cve"]}),),
            ),
            Asked(
                "Which operating system runs on billing-db?",
                "billing-db 用的是什么操作系统？",
                ("RHEL 9",),
                evidence=(frozenset({"billing-db"}),),
            ),
            Asked(
                "Which scan took the longest?",
                "耗时最长的扫描是哪次？",
                ("sc-14", "7711"),
                evidence=(frozenset({"sc-14"}),),
            ),
            Asked(
                "Which scan was aborted?",
                "哪次扫描被中止了？",
                ("sc-13",),
                evidence=(frozenset({"sc-13"}),),
            ),
            Asked(
                "Who approved the exception for CVE-2026-1112?",
                "CVE-2026-1112 的例外是谁批准的？",
                ("Paul Reyes",),
                evidence=(frozenset({"EX-4"}),),
            ),
            Asked(
                "How many findings have been accepted?",
                "有多少个 accepted 的漏洞？",
                (str(len(accepted)),),
                evidence=(frozenset(row["finding_id"] for row in accepted),),
            ),
            Asked(
                "How many vulnerabilities does hr-portal have?",
                "hr-portal 一共有多少个漏洞？",
                (str(len(portal)),),
                evidence=(frozenset(row["finding_id"] for row in portal),),
            ),
        ),
        places,
    )
