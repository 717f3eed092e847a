"""A fourth toolset: the shapes of search engines, wikis and metric stores, with ids that must be carried over."""

from typing import Any, Literal

from pydantic import Field

from opspilot.core.messages import Json
from tests.models.demo.harness import Refused, Toy, declared

_EVENTS = [
    ("api-7", "ERROR", "upstream timed out while reading response from 10.1.1.9"),
    ("api-7", "ERROR", "upstream timed out while reading response from 10.1.1.8"),
    ("web-1", "WARN", "slow request 2300 ms"),
    ("web-1", "ERROR", "tls handshake failed: certificate expired"),
]
_PAGES: list[dict[str, Json]] = [
    {"id": "9001", "title": "Upstream timeouts", "excerpt": "Check the upstream first."},
    {"id": "9002", "title": "Renewing certificates", "excerpt": "A certificate expired: run the renewal job."},
]
_HOSTS: dict[str, dict[str, Json]] = {
    "api-7": {"hostname": "api-7", "contact": "Team Falcon", "rack": "R12"},
    "web-1": {"hostname": "web-1", "contact": "Team Otter", "rack": "R3"},
}


def _elastic(asked: Any) -> Json:
    rows = [
        (number, event)
        for number, event in enumerate(_EVENTS, 1)
        if all(word.lower() in " ".join(event).lower() for word in asked.q.split())
        and asked.host in ("", event[0])
        and asked.severity in (None, event[1])
    ]
    result: dict[str, Json] = {
        "took": 3,
        "hits": {
            "total": {"value": len(rows)},
            "hits": [
                {"_id": f"e{number}", "_source": {"host": {"name": host}, "level": level, "message": message}}
                for number, (host, level, message) in rows
            ],
        },
    }
    if asked.agg_field == "host":
        names = [host for _, (host, _, _) in rows]
        buckets = [{"key": name, "doc_count": names.count(name)} for name in sorted(set(names), key=names.count)]
        result["aggregations"] = {"by": {"buckets": buckets[::-1]}}
    return result


def _wiki(asked: Any) -> Json:
    words = [word for word in asked.query.lower().split() if len(word) > 3]
    scored = [(sum(word in f"{page['title']} {page['excerpt']}".lower() for word in words), page) for page in _PAGES]
    return {"results": [page for score, page in sorted(scored, key=lambda entry: -entry[0]) if score]}


def _page(asked: Any) -> Json:
    if asked.page_id not in {page["id"] for page in _PAGES}:
        raise Refused(f"There is no page {asked.page_id}.")
    return {"id": asked.page_id, "body": f"## Steps on page {asked.page_id}\n\n- Drain the slow backend."}


def _host(asked: Any) -> Json:
    if asked.name not in _HOSTS:
        raise Refused(f"unknown host {asked.name}")
    return _HOSTS[asked.name]


def platform() -> list[Toy]:
    return [
        Toy(
            "elastic_query",
            "Full-text search in application log events.",
            declared(
                "Query",
                q=(str, Field(default="", description="Words; all must occur.")),
                host=(str, Field(default="", description="Host name, exact.")),
                severity=(Literal["ERROR", "WARN"] | None, None),
                agg_field=(str, Field(default="", description="Aggregate by: host or severity.")),
            ),
            _elastic,
        ),
        Toy("wiki_search", "Search the team wiki for procedures.", declared("Wiki", query=(str, ...)), _wiki),
        Toy(
            "wiki_page",
            "Read one page of the wiki in full.",
            declared("Page", page_id=(str, Field(description="Id of the page, from wiki_search."))),
            _page,
        ),
        Toy("cmdb_host", "Inventory record of a host: contact, rack.", declared("Host", name=(str, ...)), _host),
        Toy(
            "prom_value",
            "Current value of a metric of an instance.",
            declared(
                "Metric",
                instance=(str, Field(description="Host name.")),
                metric=(Literal["cpu_load", "memory_used"], ...),
            ),
            lambda asked: {"result": [{"metric": {"instance": asked.instance}, "value": [1767323045, "0.93"]}]},
        ),
        Toy(
            "drain_host",
            "Drain a host so that it gets no more traffic.",
            declared("Drain", hostname=(str, ...), reason=(str, ...)),
            lambda asked: {"drained": asked.hostname},
        ),
    ]
