"""A bug tracker and its releases: issues with labels, pull requests, feature flags, error groups of an application."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 10, 1, tzinfo=UTC)
_PEOPLE = ("kim", "lars", "nadia", "tomoko")


def _issues() -> list[dict[str, Any]]:
    dice, found, at = random.Random(404), [], _START
    for number in range(1200, 1264):
        at += timedelta(hours=dice.randint(1, 14))
        found.append(
            {
                "number": number,
                "title": dice.choice(("Crash on start", "Wrong total", "Typo in menu", "Slow search", "Login loop")),
                "labels": sorted(dice.sample(("bug", "ui", "security", "backend"), dice.randint(1, 2))),
                "milestone": dice.choice(("5.0", "5.1", "5.2")),
                "state": dice.choices(("open", "closed"), (2, 3))[0],
                "assignee": {"login": dice.choices(_PEOPLE, (5, 2, 3, 1))[0]},
                "opened_at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "comments": dice.randint(0, 30) + (40 if number == 1233 else 0),
            }
        )
    return found


_ISSUES = _issues()
_PULLS = [
    {"id": 881, "title": "Cache the menu", "author": "lars", "review": "approved", "merged_at": "2026-10-19T12:00:00Z"},
    {"id": 884, "title": "Fix login loop", "author": "nadia", "review": "changes requested", "merged_at": None},
    {"id": 890, "title": "Bump parser", "author": "kim", "review": "approved", "merged_at": "2026-10-22T09:30:00Z"},
    {"id": 893, "title": "Split the search index", "author": "tomoko", "review": "pending", "merged_at": None},
]
_FLAGS = {
    "new-checkout": {"enabled": True, "rollout_percent": 35, "owner": "kim", "changed": "2026-10-20"},
    "dark-mode": {"enabled": True, "rollout_percent": 100, "owner": "tomoko", "changed": "2026-09-02"},
    "bulk-import": {"enabled": False, "rollout_percent": 0, "owner": "lars", "changed": "2026-10-11"},
}
_ERRORS = [
    {"group": "E-9f", "exception": "NullReference in Cart", "users": 412, "events": 1904, "last_release": "5.1.3"},
    {
        "group": "E-21",
        "exception": "Timeout of price service",
        "users": 77,
        "events": 8120,
        "last_release": "5.1.4",
    },
    {
        "group": "E-c0",
        "exception": "Invalid date in invoice",
        "users": 19,
        "events": 25,
        "last_release": "5.0.9",
    },
]
_RELEASES = [
    ["5.0.9", "2026-09-12", "lars", 14],
    ["5.1.3", "2026-10-08", "kim", 9],
    ["5.1.4", "2026-10-21", "nadia", 3],
]


@tool(effect="read")
def search_issues(
    state: Literal["open", "closed"] | None = None,
    label: Annotated[str, Field(description="bug, ui, security or backend.")] = "",
    milestone: Annotated[str, Field(description="Such as 4.2.")] = "",
    assignee: Annotated[str, Field(description="Login of a developer.")] = "",
    page: Annotated[int, Field(ge=1)] = 1,
) -> Json:
    """Issues of the tracker, newest first, 25 a page."""
    rows = [
        row
        for row in _ISSUES[::-1]
        if state in (None, row["state"])
        and (not label or label in row["labels"])
        and milestone in ("", row["milestone"])
        and assignee in ("", row["assignee"]["login"])
    ]
    return {"total_count": len(rows), "items": rows[25 * (page - 1) : 25 * page]}


@tool(effect="read")
def get_issue(number: int) -> Json:
    """One issue with all its details."""
    row = next((row for row in _ISSUES if row["number"] == number), None)
    if row is None:
        raise ToolError(f"Issue #{number} does not exist.")
    return {"issue": {**row, "severity": "SEV" + str(number % 4 + 1), "reported_in": "5.0." + str(number % 9)}}


@tool(effect="read")
def pull_requests() -> Json:
    """Pull requests: author, state of the review, when merged."""
    return {"pull_requests": [{**row} for row in _PULLS]}


@tool(effect="read")
def feature_flags() -> Json:
    """Feature flags of the product: whether on, for how many percent of users, owner."""
    return {name: {**row} for name, row in _FLAGS.items()}


@tool(effect="read")
def error_groups(
    order_by: Annotated[Literal["users", "events"], Field(description="Descending.")] = "events",
) -> Json:
    """Exceptions of the application by group: how many users were affected, how many events, release last seen in."""
    return {"groups": sorted(({**row} for row in _ERRORS), key=lambda row: -int(str(row[order_by])))}


@tool(effect="read")
def releases() -> Json:
    """Releases: version, date, release manager, number of fixes."""
    return {"columns": ["version", "date", "manager", "fixes"], "values": [list(row) for row in _RELEASES]}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    secure = [row for row in _ISSUES if row["state"] == "open" and "security" in row["labels"]]
    talked = max(_ISSUES, key=lambda row: row["comments"])
    busy = Counter(row["assignee"]["login"] for row in _ISSUES if row["state"] == "open").most_common(1)[0]
    target = [row for row in _ISSUES if row["milestone"] == "5.2"]
    places = {str(row["number"]): str(row) for row in _ISSUES} | {str(row["id"]): str(row) for row in _PULLS}
    places |= {name: str(row) for name, row in _FLAGS.items()} | {str(row["group"]): str(row) for row in _ERRORS}
    places |= {str(row[0]): str(row) for row in _RELEASES}
    return Toolset(
        "issues and releases",
        (search_issues, get_issue, pull_requests, feature_flags, error_groups, releases),
        (
            Asked(
                "How many open security issues are there?",
                "有多少个未关闭的 security 问题？",
                (str(len(secure)),),
                evidence=(frozenset(str(row["number"]) for row in secure),),
            ),
            Asked(
                "Which issue has the most comments?",
                "评论最多的是哪个 issue？",
                (str(talked["number"]), str(talked["comments"])),
                evidence=(frozenset({str(talked["number"])}),),
            ),
            Asked(
                "Who has the most open issues assigned?",
                "谁名下未关闭的 issue 最多？",
                (busy[0], str(busy[1])),
                evidence=(
                    frozenset(
                        str(row["number"])
                        for row in _ISSUES
                        if (row["assignee"]["login"], row["state"]) == (busy[0], "open")
                    ),
                ),
            ),
            Asked(
                "What is the severity of issue 1240?",
                "issue 1240 的严重级别是什么？",
                ("SEV" + str(1240 % 4 + 1),),
                evidence=(frozenset({"1240"}),),
            ),
            Asked(
                "Which pull requests are not merged yet?",
                "哪些 pull request 还没有合并？",
                ("884", "893"),
                evidence=(frozenset({"884"}), frozenset({"893"})),
            ),
            Asked(
                "For how many percent of the users is new-checkout rolled out?",
                "new-checkout 向百分之多少的用户开放？",
                ("35",),
                evidence=(frozenset({"new-checkout"}),),
            ),
            Asked(
                "Which exception affects the most users?",
                "影响用户最多的异常是哪个？",
                ("NullReference in Cart", "412"),
                evidence=(frozenset({"E-9f"}),),
            ),
            Asked(
                "Who managed the latest release, and which version was it?",
                "最近一次发布是哪个版本，谁负责的？",
                ("nadia", "5.1.4"),
                evidence=(frozenset({"5.1.4"}),),
            ),
            Asked(
                "How many issues are planned for milestone 5.2?",
                "milestone 5.2 一共有多少个 issue？",
                (str(len(target)),),
                evidence=(frozenset(str(row["number"]) for row in target),),
            ),
            Asked(
                "Which feature flag is off?",
                "哪个 feature flag 没有启用？",
                ("bulk-import",),
                evidence=(frozenset({"bulk-import"}),),
            ),
        ),
        places,
    )
