"""The backend of an online game: servers by region, live metrics, matches, reports of players, patch notes."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_DAY = datetime(2026, 5, 9, 18, 0, tzinfo=UTC)
_REGIONS = ("eu-central", "us-east", "ap-tokyo")


def _servers() -> list[dict[str, Any]]:
    dice = random.Random(406)
    return [
        {
            "id": f"gs-{region.split('-')[1]}-{number}",
            "region": region,
            "state": dice.choices(("online", "draining", "offline"), (4, 1, 3))[0],
            "build": dice.choice(("4.12.0", "4.12.1", "4.12.1")),
            "players": {"current": dice.randint(0, 380) + 7 * number, "max": 400},
        }
        for region in _REGIONS
        for number in range(1, 8)
    ]


_SERVERS = _servers()


def _metrics(server: str) -> dict[str, Any]:
    dice = random.Random(server)
    return {
        "server": server,
        "cpuPercent": dice.randint(12, 97),
        "memoryMb": dice.randint(2100, 15900),
        "tickTimeMs": round(dice.uniform(7, 48), 1),
        "packetLossPercent": round(dice.uniform(0, 4), 2),
    }


def _matches() -> list[dict[str, Any]]:
    dice = random.Random(78)
    return [
        {
            "matchId": f"m{88100 + number}",
            "mode": dice.choices(("ranked", "casual", "tournament"), (5, 4, 1))[0],
            "server": dice.choices([row["id"] for row in _SERVERS], range(1, 22))[0],
            "result": dice.choices(("completed", "aborted", "surrendered"), (8, 3, 2))[0],
            "startedAt": (_DAY + timedelta(minutes=9 * number)).isoformat(),
            "durationSeconds": dice.randint(180, 2400) + number,
            "playerCount": dice.choice((8, 10, 12)),
        }
        for number in range(66)
    ]


_MATCHES = _matches()
_REASONS = ("cheating", "abusive_chat", "griefing", "boosting")


def _reports() -> list[dict[str, Any]]:
    dice = random.Random(15)
    return [
        {
            "reportId": f"PR-{510 + number}",
            "reportedPlayer": dice.choice(("xX_Viper", "MoonRabbit", "Sir_Lagalot", "Kestrel9", "小龙女")),
            "reason": dice.choices(_REASONS, (6, 3, 2, 1))[0],
            "state": dice.choices(("open", "in_review", "closed"), (4, 2, 3))[0],
            "moderator": dice.choice(("Hana", "Bruno", None)),
            "comment": dice.choice(("Aimbot in round 3", "See the chat log", "Left spawn only once", "")),
        }
        for number in range(34)
    ]


_REPORTS = _reports()
_PATCHES = [
    {
        "version": "4.12.1",
        "releasedOn": "2026-05-06",
        "notes": [
            {"area": "lobby", "text": "Fixed a crash when a party of five left the lobby together."},
            {"area": "matchmaking", "text": "Ranked queues now widen after 90 seconds instead of 60."},
        ],
    },
    {
        "version": "4.12.0",
        "releasedOn": "2026-04-22",
        "notes": [
            {"area": "weapons", "text": "Reduced the recoil of the Marten rifle by 12 percent."},
            {"area": "servers", "text": "Game servers drain for ten minutes before a restart."},
        ],
    },
    {
        "version": "4.11.3",
        "releasedOn": "2026-03-30",
        "notes": [{"area": "chat", "text": "Voice chat no longer cuts out after a host migration."}],
    },
]


@tool(effect="read")
def list_servers(
    region: Annotated[Literal["eu-central", "us-east", "ap-tokyo"] | None, Field(description="Region code.")] = None,
    state: Annotated[Literal["online", "draining", "offline"] | None, Field(description="Server state.")] = None,
) -> Json:
    """Lists game servers and how many players each has."""
    rows = [row for row in _SERVERS if region in (None, row["region"]) and state in (None, row["state"])]
    return {"servers": [{**row} for row in rows]}


@tool(effect="read")
def server_metrics(server_id: Annotated[str, Field(description="ID as returned by list_servers.")]) -> Json:
    """Current CPU, memory, tick time and packet loss of one game server."""
    if all(row["id"] != server_id for row in _SERVERS):
        raise ToolError(f"Unknown server {server_id}.")
    return _metrics(server_id)


@tool(effect="read")
def find_matches(
    mode: Annotated[Literal["ranked", "casual", "tournament"] | None, Field(description="Game mode.")] = None,
    result: Annotated[Literal["completed", "aborted", "surrendered"] | None, Field(description="How it ended.")] = None,
    server_id: Annotated[str | None, Field(description="Only matches on this server.")] = None,
    cursor: Annotated[str | None, Field(description="Value of nextCursor of the previous page.")] = None,
) -> Json:
    """Finds matches, oldest first, 25 per page."""
    rows = [
        row
        for row in _MATCHES
        if mode in (None, row["mode"]) and result in (None, row["result"]) and server_id in (None, row["server"])
    ]
    begin = int(cursor.removeprefix("c")) if cursor else 0
    following = f"c{begin + 25}" if begin + 25 < len(rows) else None
    return {"matches": rows[begin : begin + 25], "nextCursor": following}


@tool(effect="read")
def player_reports(
    state: Annotated[Literal["open", "in_review", "closed"] | None, Field(description="State of the report.")] = None,
    player: Annotated[str | None, Field(description="Name of the reported player.")] = None,
) -> Json:
    """Reports that players filed about other players, with reason and the moderator handling it."""
    rows = [row for row in _REPORTS if state in (None, row["state"]) and player in (None, row["reportedPlayer"])]
    return {"totalCount": len(rows), "items": [{**row} for row in rows]}


@tool(effect="read")
def patch_notes(
    version: Annotated[str | None, Field(description="Version such as 4.12.0; all versions when left out.")] = None,
) -> Json:
    """Release notes of the game's patches."""
    return {"patches": [{**row} for row in _PATCHES if version in (None, row["version"])]}


@tool(effect="write")
def restart_server(server_id: Annotated[str, Field(description="Server to restart.")]) -> Json:
    """Restarts a game server after draining it. Players are disconnected."""
    return {"server": server_id, "state": "draining"}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    offline = [row for row in _SERVERS if row["state"] == "offline"]
    down = [row for row in offline if row["region"] == "us-east"]
    fullest = max(_SERVERS, key=lambda row: row["players"]["current"])
    aborted = [row for row in _MATCHES if row["result"] == "aborted"]
    ranked = [row for row in aborted if row["mode"] == "ranked"]
    server = Counter(row["server"] for row in aborted).most_common(1)[0]
    longest = max(_MATCHES, key=lambda row: row["durationSeconds"])
    waiting = [row for row in _REPORTS if row["state"] == "open"]
    reason = Counter(row["reason"] for row in waiting).most_common(1)[0]
    player = Counter(row["reportedPlayer"] for row in _REPORTS).most_common(1)[0]
    tick = _metrics("gs-central-3")["tickTimeMs"]
    handled = next(row for row in _REPORTS if row["moderator"] == "Bruno")
    places = {row["id"]: f"{row} {_metrics(row['id'])}" for row in _SERVERS}
    places |= {row["matchId"]: str(row) for row in _MATCHES} | {row["reportId"]: str(row) for row in _REPORTS}
    places |= {str(row["version"]): str(row) for row in _PATCHES}
    places |= {note["area"]: note["text"] for row in _PATCHES for note in row["notes"]}  # type: ignore[index]
    return Toolset(
        "game backend",
        (list_servers, server_metrics, find_matches, player_reports, patch_notes, restart_server),
        (
            Asked(
                "How many game servers are offline in us-east?",
                "us-east 有几台游戏服务器离线？",
                (str(len(down)),),
                evidence=(frozenset(row["id"] for row in down),),
            ),
            Asked(
                "Which server has the most players right now?",
                "现在哪台服务器的玩家最多？",
                (fullest["id"], str(fullest["players"]["current"])),
                evidence=(frozenset({fullest["id"]}),),
            ),
            Asked(
                "What is the tick time of gs-central-3?",
                "gs-central-3 的 tick 时间是多少？",
                (str(tick),),
                evidence=(frozenset({"gs-central-3"}),),
            ),
            Asked(
                "How many ranked matches were aborted?",
                "有多少场排位赛（ranked）中途中止了？",
                (str(len(ranked)),),
                evidence=(frozenset(row["matchId"] for row in ranked),),
            ),
            Asked(
                "On which server were the most matches aborted?",
                "哪台服务器上中止的比赛最多？",
                (server[0], str(server[1])),
                evidence=(frozenset(row["matchId"] for row in aborted if row["server"] == server[0]),),
            ),
            Asked(
                "What was the longest match and how long did it take?",
                "时间最长的比赛是哪一场，持续了多久？",
                (longest["matchId"], str(longest["durationSeconds"])),
                evidence=(frozenset({longest["matchId"]}),),
            ),
            Asked(
                "What is the most common reason among the open player reports?",
                "未处理（open）的玩家举报里最常见的原因是什么？",
                (reason[0], str(reason[1])),
                evidence=(frozenset(row["reportId"] for row in waiting if row["reason"] == reason[0]),),
            ),
            Asked(
                f"Who is handling report {handled['reportId']}?",
                f"举报 {handled['reportId']} 是谁在处理？",
                ("Bruno",),
                evidence=(frozenset({handled["reportId"]}),),
            ),
            Asked(
                "Which player was reported most often?",
                "被举报次数最多的玩家是谁？",
                (player[0], str(player[1])),
                evidence=(frozenset(row["reportId"] for row in _REPORTS if row["reportedPlayer"] == player[0]),),
            ),
            Asked(
                "Which version fixed the lobby crash?",
                "大厅（lobby）崩溃是在哪个版本修复的？",
                ("4.12.1",),
                evidence=(frozenset({"4.12.1", "lobby"}),),
            ),
        ),
        places,
    )
