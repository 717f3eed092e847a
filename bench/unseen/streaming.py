"""A streaming platform. Results are GraphQL connections, and tables of columns and rows; places are ids."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 5, 4, 6, 0, tzinfo=UTC)
_COMPONENTS: dict[str, dict[str, Any]] = {
    "playlist-api": {
        "title": "播放列表服务",
        "squad": "Squad Heron",
        "tier": 1,
        "upstreams": ["origin-store", "drm-gateway"],
    },
    "drm-gateway": {"title": "版权网关", "squad": "Squad Lynx", "tier": 1, "upstreams": ["key-vault"]},
    "origin-store": {"title": "源站存储", "squad": "Squad Walrus", "tier": 1, "upstreams": []},
    "thumbnailer": {"title": "缩略图服务", "squad": "Squad Heron", "tier": 3, "upstreams": ["origin-store"]},
    "key-vault": {"title": "密钥库", "squad": "Squad Badger", "tier": 0, "upstreams": []},
}
_FAULTS = {
    "playlist-api": "origin fetch gave up after 3 tries",
    "drm-gateway": "licence key lookup refused",
    "thumbnailer": "frame extraction ran out of memory",
    "origin-store": "shard rebalancing, read delayed",
}
_PAGES = {
    "remedies/origin-fetch.md": [
        "# Origin fetch gives up",
        "When an origin fetch gives up, move the reads to the standby shard.",
        "Afterwards warm the edge with the top hundred playlists.",
    ],
    "remedies/licence-keys.md": [
        "# Licence key lookups are refused",
        "A refused licence key lookup means an expired vault lease: renew the lease before anything else.",
    ],
    "remedies/frames.md": [
        "# Frame extraction runs out of memory",
        "If frame extraction runs out of memory, halve the batch size of the extractor.",
    ],
    "remedies/rebalancing.md": ["# Shard rebalancing", "Reads are slow while shards rebalance; wait it out."],
}


def _requests() -> list[dict[str, Any]]:
    dice = random.Random(410)
    names, weights = list(_COMPONENTS)[:4], (6, 3, 2, 1)
    at, found = _START, []
    for number in range(1, 641):
        at += timedelta(seconds=dice.randint(5, 40))
        name = dice.choices(names, (5, 4, 3, 2))[0]
        bad = dice.random() < 0.04 * weights[names.index(name)] and number > 60
        found.append(
            {
                "id": f"rq-{number:05d}",
                "at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "component": name,
                "path": f"/{name.split('-')[0]}/{dice.randint(100, 999)}",
                "millis": dice.randint(4, 900) + (dice.randint(1000, 9000) if bad else 0),
                "status": dice.choice((502, 504)) if bad else 200,
                "viewer": f"10.8.{dice.choices((1, 2, 3), (1, 2, 5))[0]}.{dice.randint(1, 4)}",
                "note": _FAULTS[name] if bad else "",
            }
        )
    return found


_REQUESTS = _requests()
_FAILED = [row for row in _REQUESTS if row["status"] != 200]
_ROLLOUTS = [
    ("ro-71", "playlist-api", "4.2.0", "2026-05-01T09:00:00Z", "mina"),
    ("ro-72", "drm-gateway", "1.9.3", "2026-05-02T11:30:00Z", "tomas"),
    ("ro-73", "thumbnailer", "0.8.8", "2026-05-02T15:00:00Z", "mina"),
    ("ro-74", "drm-gateway", "1.9.4", "2026-05-03T08:15:00Z", "ines"),
    ("ro-75", "playlist-api", "4.2.1", "2026-05-03T17:45:00Z", "tomas"),
]


@tool(effect="read")
def edge_requests(  # noqa: PLR0913, PLR0917 - tools are called by name
    component: Annotated[str, Field(description="Slug of the component that served it, exact.")] = "",
    outcome: Annotated[Literal["ok", "failed"] | None, Field(description="failed: answered with 5xx.")] = None,
    contains: Annotated[str, Field(description="Text in path or note.")] = "",
    after: Annotated[str, Field(description="ISO time; only requests from then on.")] = "",
    before: Annotated[str, Field(description="ISO time; only requests up to then.")] = "",
    facet: Annotated[Literal["component", "viewer", "status"] | None, Field(description="Count requests by.")] = None,
    order_by: Annotated[Literal["at", "millis"], Field(description="millis: how long it took.")] = "at",
    direction: Literal["asc", "desc"] = "desc",
    first: Annotated[int, Field(ge=1, le=50)] = 15,
) -> dict[str, Json]:
    """Request log of the edge: what was requested, which component served it, how long it took, if it failed."""
    rows = [row for row in _REQUESTS if component in ("", row["component"])]
    rows = [row for row in rows if outcome is None or (row["status"] != 200) == (outcome == "failed")]
    rows = [row for row in rows if contains.lower() in f"{row['path']} {row['note']}".lower()]
    rows = [row for row in rows if (not after or row["at"] >= after) and (not before or row["at"] <= before)]
    shown = sorted(rows, key=lambda row: row[order_by], reverse=direction == "desc")[:first]
    connection: dict[str, Json] = {
        "totalCount": len(rows),
        "edges": [{"node": {key: value for key, value in row.items() if value != ""}} for row in shown],
        "pageInfo": {"hasNextPage": len(rows) > len(shown)},
    }
    if facet is not None:
        counted = Counter(str(row[facet]) for row in rows).most_common()
        connection["facets"] = [{"term": term, "count": count} for term, count in counted]
    return {"data": {"requests": connection}}


@tool(effect="read")
def component_map(term: Annotated[str, Field(description="Slug or title of a component, any language.")]) -> Json:
    """Map of the platform's components: which squad looks after each, its tier, and which upstreams it depends on."""
    wanted = term.lower().replace(" ", "-")
    found = [
        {"slug": slug, **row}
        for slug, row in _COMPONENTS.items()
        if wanted in slug or slug in wanted or row["title"] in term or (len(term) > 1 and term in row["title"])
    ]
    if not found:
        raise ToolError(f"No component is called '{term}'. Known: {', '.join(_COMPONENTS)}.")
    return {"nodes": found}


@tool(effect="read")
def rollouts(component: Annotated[str, Field(description="Slug of the component; empty for all.")] = "") -> Json:
    """Release history: which version of a component was rolled out when and by whom, oldest first."""
    rows = [list(row) for row in _ROLLOUTS if component in ("", row[1])]
    return {"columns": ["id", "component", "version", "at", "by"], "rows": rows}


@tool(effect="read")
def remedies(about: Annotated[str, Field(min_length=2, description="What is wrong, in words.")]) -> Json:
    """Collected remedies: what to do about a failure. Passages, the best first."""
    words = {word for word in about.lower().replace("-", " ").split() if len(word) > 3}
    hits = []
    for doc, lines in _PAGES.items():
        score = sum(word[:5] in " ".join(lines).lower() for word in words)
        for number, line in enumerate(lines[1:], 2):
            hits.append((score, {"doc": doc, "line": number, "section": lines[0][2:], "body": line}))
    hits.sort(key=lambda hit: -hit[0])
    return {"hits": [hit for score, hit in hits if score][:4]}


@tool(effect="write")
def purge_edge(component: str) -> Json:
    """Purge everything that the edge has cached of a component."""
    return {"purged": component}


def _ids(keep: Callable[[Mapping[str, Any]], bool]) -> frozenset[str]:
    return frozenset(row["id"] for row in _FAILED if keep(row))


def toolset() -> Toolset:
    """Five tools, ten questions. Facts are counted here from the rows themselves."""
    slowest = max(_REQUESTS, key=lambda row: row["millis"])
    by_component = Counter(row["component"] for row in _FAILED)
    worst = by_component.most_common(1)[0]
    drm = [row for row in _FAILED if row["component"] == "drm-gateway"]
    half = ("2026-05-04T07:00:00Z", "2026-05-04T08:00:00Z")
    within = [row for row in _FAILED if half[0] <= row["at"] <= half[1]]
    places = {row["id"]: str(row) for row in _REQUESTS} | {slug: f"{slug} {row}" for slug, row in _COMPONENTS.items()}
    places |= {row[0]: " ".join(row) for row in _ROLLOUTS}
    places |= {f"{doc}:{n}": line for doc, lines in _PAGES.items() for n, line in enumerate(lines, 1)}
    upstreams = _COMPONENTS["playlist-api"]["upstreams"]
    return Toolset(
        "streaming platform",
        (edge_requests, component_map, rollouts, remedies, purge_edge),
        (
            Asked(
                "Which requests were the slowest on the edge?",
                "边缘节点上哪些请求最慢？",
                (str(slowest["millis"]),),
                evidence=(frozenset({slowest["id"]}),),
            ),
            Asked(
                "How many requests to playlist-api failed?",
                "playlist-api 一共有多少个请求失败了？",
                (str(by_component["playlist-api"]),),
                evidence=(_ids(lambda row: row["component"] == "playlist-api"),),
            ),
            Asked(
                "When did the failures of drm-gateway start?",
                "drm-gateway 的失败是从什么时候开始的？",
                (drm[0]["at"],),
                evidence=(frozenset({drm[0]["id"]}),),
            ),
            Asked(
                "Which component has the most failed requests?",
                "哪个组件失败的请求最多？",
                (worst[0], str(worst[1])),
                evidence=(_ids(lambda row: row["component"] == worst[0]),),
            ),
            Asked(
                "Who owns the things that playlist-api depends on?",
                "playlist-api 依赖的那些组件分别归谁负责？",
                tuple(_COMPONENTS[name]["squad"] for name in upstreams),
                evidence=tuple(frozenset({name}) for name in upstreams),
            ),
            Asked(
                "licence key lookups are being refused, what should we do?",
                "licence key lookup 被拒绝了，该怎么办？",
                told=("renew the lease",),
                evidence=(frozenset({"remedies/licence-keys.md:2"}),),
            ),
            Asked(
                "What's the latest version of drm-gateway that was rolled out, and by whom?",
                "drm-gateway 最近一次上线的是哪个版本，谁上的？",
                ("1.9.4", "ines"),
                evidence=(frozenset({"ro-74"}),),
            ),
            Asked(
                "Are there more failed requests in playlist-api or in drm-gateway?",
                "playlist-api 和 drm-gateway 哪个失败的请求更多？",
                (str(by_component["playlist-api"]), str(by_component["drm-gateway"])),
                evidence=(_ids(lambda row: row["component"] in {"playlist-api", "drm-gateway"}),),
            ),
            Asked(
                f"How many requests failed between {half[0]} and {half[1]}, and for which viewer most?",
                f"{half[0]} 到 {half[1]} 之间有多少个失败的请求，哪个 viewer 最多？",
                (str(len(within)), Counter(row["viewer"] for row in within).most_common(1)[0][0]),
                evidence=(frozenset(row["id"] for row in within),),
            ),
            Asked(
                "Look at the recent errors of the thumbnailer and check what the remedies say about them",
                "看一下 thumbnailer 最近的报错，再对照处理办法里怎么说",
                told=("frame extraction ran out of memory", "halve the batch size"),
                evidence=(
                    _ids(lambda row: row["component"] == "thumbnailer"),
                    frozenset({"remedies/frames.md:2"}),
                ),
            ),
        ),
        places,
    )
