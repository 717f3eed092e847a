"""A container cluster as its API server shows it: nested objects, pages with a continue token, quantities."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 2, 3, 4, 0, tzinfo=UTC)
_APPS = {
    "checkout": ("shop", "registry.acme.io/checkout:3.14.2", 4),
    "cart": ("shop", "registry.acme.io/cart:2.0.9", 3),
    "catalogue-web": ("shop", "registry.acme.io/catalogue-web:7.1.0", 5),
    "settlement": ("finance", "registry.acme.io/settlement:1.8.0", 2),
    "ledger": ("finance", "registry.acme.io/ledger:5.5.1", 3),
    "nightly-export": ("batch", "registry.acme.io/nightly-export:0.4.7", 12),
    "reindex": ("batch", "registry.acme.io/reindex:0.9.0", 9),
}
_NODES = ("worker-1", "worker-2", "worker-3", "worker-4", "worker-5")
_MEMORY = ("31Gi", "31Gi", "63Gi", "15Gi", "127Gi")


def _at(minutes: int) -> str:
    return (_START + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _pods() -> list[dict[str, Any]]:
    dice = random.Random(77)
    found: list[dict[str, Any]] = []
    for app, (namespace, image, many) in _APPS.items():
        for _ in range(many):
            phase = dice.choices(("Running", "Pending", "Failed"), (8, 2, 1) if namespace == "batch" else (20, 1, 0))[0]
            found.append(
                {
                    "metadata": {
                        "name": f"{app}-{dice.randrange(16**5):05x}",
                        "namespace": namespace,
                        "labels": {"app": app},
                        "creationTimestamp": _at(dice.randint(0, 2000)),
                    },
                    "spec": {"nodeName": None if phase == "Pending" else dice.choice(_NODES), "image": image},
                    "status": {"phase": phase, "restartCount": dice.choice((0, 0, 0, 1, 2, 3, 5))},
                }
            )
    found[1]["status"] = {"phase": "Running", "restartCount": 41, "reason": "CrashLoopBackOff"}
    found[13]["status"] = {"phase": "Pending", "restartCount": 0, "reason": "ImagePullBackOff"}
    found[13]["spec"]["nodeName"] = None
    return found


_PODS = _pods()
_BROKEN, _STUCK = _PODS[1], _PODS[13]


def _events() -> list[dict[str, Any]]:
    dice = random.Random(78)
    rows = [
        (_STUCK, "Warning", "Failed", f'Failed to pull image "{_STUCK["spec"]["image"]}": manifest unknown'),
        (_BROKEN, "Warning", "BackOff", "Back-off restarting failed container checkout"),
    ]
    for pod in _PODS:
        if dice.random() < 0.4:
            rows.append((pod, "Warning", "Unhealthy", "Readiness probe failed: HTTP probe returned 503"))
        rows.append((pod, "Normal", "Scheduled", "Successfully assigned to a node"))
    return [
        {
            "id": f"evt-{number}",
            "type": kind,
            "reason": reason,
            "message": message,
            "involvedObject": {
                "kind": "Pod",
                "namespace": pod["metadata"]["namespace"],
                "name": pod["metadata"]["name"],
            },
            "lastTimestamp": _at(2000 + number),
        }
        for number, (pod, kind, reason, message) in enumerate(rows, 1)
    ]


_EVENTS = _events()
_DEPLOYMENTS: list[dict[str, Any]] = [
    {
        "name": app,
        "namespace": namespace,
        "image": image,
        "replicas": {"desired": many, "ready": many - (1 if app == "ledger" else 0)},
        "updated": _at(50 * number),
    }
    for number, (app, (namespace, image, many)) in enumerate(_APPS.items())
]
_NODE_ROWS: list[dict[str, Any]] = [
    {
        "name": name,
        "zone": f"zone-{'abc'[number % 3]}",
        "ready": name != "worker-4",
        "kubelet": "v1.31.4",
        "joined": _at(-60 * 24 * (90, 300, 12, 45, 88)[number]),
    }
    for number, name in enumerate(_NODES)
]
_LOG = [
    "2026-02-04T13:00:01Z INFO starting checkout 3.14.2",
    "2026-02-04T13:00:03Z INFO connecting to queue broker-0:5672",
    "2026-02-04T13:00:33Z FATAL cannot reach broker-0:5672: i/o timeout",
]


@tool(effect="read")
def list_pods(
    namespace: Annotated[str, Field(description="Only this namespace; empty means all of them.")] = "",
    label_selector: Annotated[str, Field(description="For example app=frontend.")] = "",
    phase: Literal["Pending", "Running", "Succeeded", "Failed"] | None = None,
    limit: Annotated[int, Field(ge=1, le=20, description="Page size.")] = 20,
    continue_token: Annotated[str, Field(description="metadata.continue of the page before.")] = "",
) -> Json:
    """List the pods of the cluster with phase, node and restart count, one page at a time."""
    key, _, value = label_selector.partition("=")
    rows = [
        pod
        for pod in _PODS
        if namespace in ("", pod["metadata"]["namespace"])
        and phase in (None, pod["status"]["phase"])
        and (not key or pod["metadata"]["labels"].get(key) == value)
    ]
    start = int(continue_token.removeprefix("from-") or 0)
    metadata: dict[str, Json] = {}
    if start + limit < len(rows):
        metadata = {"continue": f"from-{start + limit}", "remainingItemCount": len(rows) - start - limit}
    return {"kind": "PodList", "items": rows[start : start + limit], "metadata": metadata}


@tool(effect="read")
def get_events(
    namespace: str = "",
    involved_object: Annotated[str, Field(description="Full name of the pod that the events are about.")] = "",
    type: Literal["Normal", "Warning"] | None = None,
) -> Json:
    """Events of the cluster such as failed probes, image pulls and scheduling, the latest first."""
    rows = [
        event
        for event in _EVENTS
        if namespace in ("", event["involvedObject"]["namespace"])
        and involved_object in ("", event["involvedObject"]["name"])
        and type in (None, event["type"])
    ]
    return {"kind": "EventList", "items": rows[::-1]}


@tool(effect="read")
def list_deployments(namespace: str = "") -> Json:
    """Deployments with their image and how many replicas are desired and ready."""
    return {"items": [row for row in _DEPLOYMENTS if namespace in ("", row["namespace"])]}


@tool(effect="read")
def list_nodes() -> Json:
    """The cluster's nodes: zone, readiness, kubelet version, when each joined."""
    return {"items": [{**row} for row in _NODE_ROWS]}


@tool(effect="read")
def describe_node(node: Annotated[str, Field(description="Name of the node.")]) -> Json:
    """Capacity, conditions and taints of one node."""
    if node not in _NODES:
        raise ToolError(f'nodes "{node}" not found; the nodes are {", ".join(_NODES)}')
    number = _NODES.index(node)
    return {
        "node": {
            "name": node,
            "capacity": {"cpu": str(4 * (number + 1)), "memory": _MEMORY[number], "pods": 110},
            "conditions": [{"type": "Ready", "status": str(node != "worker-4")}],
            "taints": [],
        }
    }


@tool(effect="read")
def pod_logs(
    pod: Annotated[str, Field(description="Full name of the pod.")],
    tail: Annotated[int, Field(ge=1, le=500, description="How many of the last lines.")] = 100,
) -> Json:
    """The last lines that a pod's container printed."""
    if pod not in {row["metadata"]["name"] for row in _PODS}:
        raise ToolError(f'pods "{pod}" not found. List the pods to see their names.')
    lines = _LOG if pod == _BROKEN["metadata"]["name"] else ["2026-02-04T13:00:01Z INFO ready"]
    return {"pod": pod, "lines": lines[-tail:]}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    broken, stuck = _BROKEN["metadata"]["name"], _STUCK["metadata"]["name"]
    waiting = [p for p in _PODS if (p["metadata"]["namespace"], p["status"]["phase"]) == ("batch", "Pending")]
    placed = next(p for p in _PODS if p["metadata"]["labels"]["app"] == "cart" and p["spec"]["nodeName"])
    cart = placed["metadata"]["name"]
    warnings = Counter(e["involvedObject"]["namespace"] for e in _EVENTS if e["type"] == "Warning").most_common(1)[0]
    finance = [p for p in _PODS if p["metadata"]["namespace"] == "finance"]
    newest = max(_NODE_ROWS, key=lambda row: str(row["joined"]))
    places = {p["metadata"]["name"]: str(p) for p in _PODS} | {e["id"]: str(e) for e in _EVENTS}
    places |= {str(row["name"]): str(row) for row in (*_DEPLOYMENTS, *_NODE_ROWS)}
    return Toolset(
        "container cluster",
        (list_pods, get_events, list_deployments, list_nodes, describe_node, pod_logs),
        (
            Asked(
                "Which pod has restarted the most?",
                "重启次数最多的是哪个 Pod？",
                (broken, "41"),
                evidence=(frozenset({broken}),),
            ),
            Asked(
                "How many pods are pending in the batch namespace?",
                "batch 命名空间里有多少个 Pod 处于 Pending 状态？",
                (str(len(waiting)),),
                evidence=(frozenset(p["metadata"]["name"] for p in waiting),),
            ),
            Asked(
                f"On which node does {cart} run?",
                f"{cart} 跑在哪个节点上？",
                (placed["spec"]["nodeName"],),
                evidence=(frozenset({cart}),),
            ),
            Asked(
                "How much memory does worker-3 have?",
                "worker-3 有多少内存？",
                ("63Gi",),
                evidence=(frozenset({"worker-3"}),),
            ),
            Asked(
                "Which image does the checkout deployment use?",
                "checkout 这个 deployment 用的是哪个镜像？",
                ("registry.acme.io/checkout:3.14.2",),
                evidence=(frozenset({"checkout", broken}),),
            ),
            Asked(
                f"Why doesn't {stuck} start?",
                f"{stuck} 为什么起不来？",
                ("manifest unknown",),
                evidence=(frozenset({"evt-1", stuck}),),
            ),
            Asked(
                "Which namespace has the most warning events?",
                "哪个命名空间的 Warning 事件最多？",
                (warnings[0], str(warnings[1])),
                evidence=(
                    frozenset(
                        e["id"]
                        for e in _EVENTS
                        if (e["involvedObject"]["namespace"], e["type"]) == (warnings[0], "Warning")
                    ),
                ),
            ),
            Asked(
                "How many pods are there in the finance namespace?",
                "finance 命名空间一共有几个 Pod？",
                (str(len(finance)),),
                evidence=(frozenset(p["metadata"]["name"] for p in finance),),
            ),
            Asked(
                "Which node joined the cluster last?",
                "最晚加入集群的是哪个节点？",
                (str(newest["name"]), str(newest["joined"])),
                evidence=(frozenset({str(newest["name"])}),),
            ),
            Asked(
                f"What error does {broken} log?",
                f"{broken} 的日志里报了什么错？",
                ("cannot reach broker-0:5672: i/o timeout",),
                evidence=(frozenset({broken}),),
            ),
        ),
        places,
    )
