"""A cloud estate: machines and what they cost, series of points, a database's slow queries, tables and replicas."""

import random
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 1, 19, tzinfo=UTC)
_TYPES = {"t4.medium": 24.53, "m7.large": 73.58, "c7.xlarge": 124.1, "r7.2xlarge": 386.32}
_COSTS = {
    "2026-02": {"Virtual machines": 18233.4, "Object storage": 2410.07, "Managed database": 6120.0, "CDN": 880.95},
    "2026-03": {"Virtual machines": 17904.15, "Object storage": 2987.61, "Managed database": 6120.0, "CDN": 1042.3},
}
_QUERIES = {
    "orders": [
        ("q-77a1", "SELECT * FROM order_lines WHERE sku = $1", 120_441, 18.2, 911.0),
        ("q-03be", "UPDATE stock SET held = held + $1 WHERE sku = $2", 88_020, 4.1, 5210.7),
        ("q-9c10", "SELECT customer, sum(total) FROM orders GROUP BY customer", 312, 2874.9, 4102.3),
    ],
    "crm": [("q-51d0", "SELECT * FROM contacts WHERE lower(email) = $1", 9043, 310.4, 702.9)],
}
_TABLES = {
    "orders": [
        ("order_lines", "212 GB", 227_633_266_688, 1_904_221_000),
        ("orders", "64 GB", 68_719_476_736, 402_110_300),
        ("stock", "890 MB", 933_232_640, 2_100_044),
        ("events_2025", "1.1 TB", 1_209_462_790_553, 9_220_110_202),
    ],
    "crm": [("contacts", "7 GB", 7_516_192_768, 31_004_112)],
}
_REPLICAS = [
    {"name": "orders-ro-1", "database": "orders", "state": "streaming", "lag_seconds": 0.4},
    {"name": "orders-ro-2", "database": "orders", "state": "catching up", "lag_seconds": 734.0},
    {"name": "crm-ro-1", "database": "crm", "state": "streaming", "lag_seconds": 1.2},
]


def _machines() -> list[dict[str, Any]]:
    dice, found = random.Random(19), []
    for number in range(1, 35):
        kind = dice.choices(list(_TYPES), (6, 5, 3, 1))[0]
        found.append(
            {
                "InstanceId": f"i-0{dice.randrange(16**7):07x}",
                "Name": f"{dice.choice(('web', 'queue', 'render', 'db'))}-{number:02d}",
                "InstanceType": kind,
                "Region": dice.choices(("eu-west-1", "us-east-2", "ap-south-1"), (4, 3, 1))[0],
                "State": {"Code": 16, "Name": dice.choices(("running", "stopped"), (4, 1))[0]},
                "LaunchTime": (_START - timedelta(hours=dice.randint(10, 30_000))).strftime("%Y-%m-%dT%H:%M:%S+00:00"),
                "MonthlyCostUsd": _TYPES[kind],
                "Tags": [
                    {"Key": "team", "Value": dice.choice(("search", "media", "checkout"))},
                    {"Key": "env", "Value": dice.choice(("prod", "test"))},
                ],
            }
        )
    return found


_MACHINES = _machines()


def _series(name: str, metric: str) -> list[list[Any]]:
    dice = random.Random(f"{name} {metric}")
    return [
        [(_START + timedelta(minutes=15 * step)).strftime("%Y-%m-%dT%H:%M:%SZ"), round(dice.uniform(3, 97), 2)]
        for step in range(48)
    ]


@tool(effect="read")
def list_instances(
    region: Annotated[str, Field(description="Such as eu-central-1; empty for all regions.")] = "",
    state: Literal["running", "stopped", "terminated"] | None = None,
    max_results: Annotated[int, Field(ge=5, le=100)] = 50,
) -> Json:
    """Virtual machine instances: type, region, state, launch time, monthly cost in US dollars, tags."""
    rows = [m for m in _MACHINES if region in ("", m["Region"]) and state in (None, m["State"]["Name"])]
    return {"Reservations": [{"OwnerId": "0042", "Instances": rows[:max_results]}], "NextToken": None}


@tool(effect="read")
def cost_by_service(
    month: Annotated[str, Field(pattern=r"^\d{4}-\d{2}$", description="Calendar month, YYYY-MM.")],
) -> Json:
    """What each cloud service cost in a month."""
    if month not in _COSTS:
        raise ToolError(f"No bill for {month}; there are bills for {', '.join(_COSTS)}.")
    costs = _COSTS[month]
    return {
        "month": month,
        "currency": "USD",
        "total": round(sum(costs.values()), 2),
        "costs": [{"service": name, "amount": amount} for name, amount in costs.items()],
    }


@tool(effect="read")
def query_metric(
    metric: Annotated[Literal["cpu_utilization", "memory_used", "disk_busy"], Field(description="In percent.")],
    instance: Annotated[str, Field(description="Name of the machine, such as web-01.")],
    hours: Annotated[int, Field(ge=1, le=72, description="How far back.")] = 12,
) -> Json:
    """A metric of one machine as a series of points, one every 15 minutes."""
    if instance not in {m["Name"] for m in _MACHINES}:
        raise ToolError(f"No machine is called '{instance}'.")
    return {
        "metric": metric,
        "instance": instance,
        "unit": "percent",
        "points": _series(instance, metric)[-4 * hours :],
    }


@tool(effect="read")
def slow_queries(
    database: Annotated[str, Field(description="Name of the database.")],
    min_ms: Annotated[float, Field(ge=0, description="Only those whose mean is above this.")] = 0,
) -> Json:
    """Statement statistics of a database: calls, mean and maximum time in milliseconds."""
    if database not in _QUERIES:
        raise ToolError(f"Unknown database {database!r}: choose one of {', '.join(_QUERIES)}")
    names = ("queryid", "sql", "calls", "mean_ms", "max_ms")
    return {"queries": [dict(zip(names, row, strict=True)) for row in _QUERIES[database] if row[3] >= min_ms]}


@tool(effect="read")
def table_sizes(database: Annotated[str, Field(description="Name of the database.")]) -> Json:
    """How big the tables of a database are."""
    if database not in _TABLES:
        raise ToolError(f"Unknown database {database!r}: choose one of {', '.join(_TABLES)}")
    names = ("table", "size", "size_bytes", "estimated_rows")
    return {"database": database, "tables": [dict(zip(names, row, strict=True)) for row in _TABLES[database]]}


@tool(effect="read")
def replication_status() -> Json:
    """State and lag of every database replica."""
    return [{**row} for row in _REPLICAS]


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    running = [m for m in _MACHINES if (m["Region"], m["State"]["Name"]) == ("eu-west-1", "running")]
    web = next(m for m in _MACHINES if m["Name"].startswith("web"))
    dear = max(_MACHINES, key=lambda m: m["MonthlyCostUsd"])
    dearest = frozenset(m["InstanceId"] for m in _MACHINES if m["MonthlyCostUsd"] == dear["MonthlyCostUsd"])
    stopped = min((m for m in _MACHINES if m["State"]["Name"] == "stopped"), key=lambda m: str(m["LaunchTime"]))
    peak = max(_series(web["Name"], "cpu_utilization"), key=lambda point: point[1])
    places = {m["InstanceId"]: str(m) for m in _MACHINES} | {m["Name"]: str(m) for m in _MACHINES}
    places |= {name: str(cost) for month in _COSTS.values() for name, cost in month.items()}
    places |= {row[0]: str(row) for queries in _QUERIES.values() for row in queries}
    places |= {row[0]: str(row) for tables in _TABLES.values() for row in tables}
    places |= {str(row["name"]): str(row) for row in _REPLICAS} | {str(peak[0]): str(peak)}
    return Toolset(
        "cloud estate",
        (list_instances, cost_by_service, query_metric, slow_queries, table_sizes, replication_status),
        (
            Asked(
                "What did object storage cost in 2026-03?",
                "2026-03 的 Object storage 花了多少钱？",
                ("2987.61",),
                evidence=(frozenset({"Object storage"}),),
            ),
            Asked(
                "Which cloud service cost the most in March 2026?",
                "2026 年 3 月哪个云服务的费用最高？",
                ("Virtual machines", "17904.15"),
                evidence=(frozenset({"Virtual machines"}),),
            ),
            Asked(
                "How many instances are running in eu-west-1?",
                "eu-west-1 有多少台运行中的实例？",
                (str(len(running)),),
                evidence=(frozenset(m["InstanceId"] for m in running) | frozenset(m["Name"] for m in running),),
            ),
            Asked(
                "Which is the biggest table of the orders database?",
                "orders 数据库里最大的表是哪张？",
                ("events_2025", ("1.1 TB", "1209462790553")),
                evidence=(frozenset({"events_2025"}),),
            ),
            Asked(
                f"What instance type is {web['Name']}?",
                f"{web['Name']} 是什么实例类型？",
                (web["InstanceType"],),
                evidence=(frozenset({web["InstanceId"], web["Name"]}),),
            ),
            Asked(
                f"What was the peak CPU utilization of {web['Name']}?",
                f"{web['Name']} 的 CPU 使用率峰值是多少？",
                (str(peak[1]),),
                evidence=(frozenset({str(peak[0]), web["Name"]}),),
            ),
            Asked(
                "Which query of the orders database is the slowest on average?",
                "orders 数据库里平均最慢的查询是哪条？",
                ("q-9c10", "2874.9"),
                evidence=(frozenset({"q-9c10"}),),
            ),
            Asked(
                "Which replica lags behind the most, and by how much?",
                "哪个副本的延迟最大，延迟了多少？",
                ("orders-ro-2", ("734.0", "734")),
                evidence=(frozenset({"orders-ro-2"}),),
            ),
            Asked(
                "Which instance is the most expensive?",
                "最贵的实例是哪台？",
                (str(dear["MonthlyCostUsd"]),),
                evidence=(dearest | frozenset(m["Name"] for m in _MACHINES if m["InstanceId"] in dearest),),
            ),
            Asked(
                "Which stopped instance was launched first?",
                "最早启动的已停止实例是哪台？",
                ((stopped["InstanceId"], stopped["Name"]),),
                evidence=(frozenset({stopped["InstanceId"], stopped["Name"]}),),
            ),
        ),
        places,
    )
