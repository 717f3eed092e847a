"""A small data centre: servers in racks, volumes on two arrays, backup runs, backup plans and a handbook."""

import random
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_ROLES = {
    "db": ("database", 5, (64, 128, 192, 256), "gold"),
    "web": ("web server", 7, (16, 32), "bronze"),
    "mail": ("mail", 2, (32, 64), "silver"),
    "erp": ("ERP", 3, (96, 128), "gold"),
    "file": ("file server", 4, (32, 48, 64), "silver"),
    "hv": ("hypervisor", 8, (256, 384, 512), "bronze"),
    "mon": ("monitoring", 2, (16, 32), "bronze"),
    "print": ("print server", 2, (8, 16), "none"),
}
_PLANS: list[dict[str, Any]] = [
    {"name": "gold", "schedule": "daily 01:00", "retention_days": 365, "target": "tape-lib-1", "contact": "Hana Kubo"},
    {"name": "silver", "schedule": "daily 03:00", "retention_days": 90, "target": "nas-2", "contact": "Marek Dvorak"},
    {"name": "bronze", "schedule": "Sunday 05:00", "retention_days": 28, "target": "nas-2", "contact": "Marek Dvorak"},
]


def _servers() -> list[dict[str, Any]]:
    dice = random.Random(77)
    rows = []
    for prefix, (role, count, sizes, plan) in _ROLES.items():
        for number in range(1, count + 1):
            system = (
                "Windows Server 2022" if prefix in ("erp", "print", "mail") else dice.choice(("Debian 12", "RHEL 9"))
            )
            rows.append(
                {
                    "hostname": f"{prefix}-{number:02}",
                    "role": role,
                    "rack": dice.choices(("R1", "R2", "R3", "R4"), (4, 2, 5, 3))[0],
                    "model": dice.choice(("PowerEdge R650", "PowerEdge R750", "ProLiant DL380")),
                    "cpu_cores": dice.choice((8, 16, 24, 32)),
                    "memory_gb": dice.choice(sizes),
                    "os": system,
                    "status": dice.choices(("online", "maintenance", "offline"), (8, 2, 1))[0],
                    "backup_plan": plan,
                    "warranty_until": (date(2026, 7, 5) + timedelta(days=dice.randint(0, 1100))).isoformat(),
                }
            )
    return rows


_SERVERS = _servers()


def _volumes() -> list[dict[str, Any]]:
    dice = random.Random(5)
    hosts = [row["hostname"] for row in _SERVERS if row["role"] in ("database", "mail", "ERP", "file server")]
    rows = []
    for number in range(1, 25):
        size = dice.choice((500, 800, 1000, 2000, 4000))
        used = dice.randint(size * 2 // 10, size * 97 // 100)
        rows.append(
            {
                "volume_id": f"VOL-{100 + number}",
                "array": dice.choice(("san-a", "san-b")),
                "host": hosts[(number - 1) % len(hosts)],
                "size_gb": size,
                "used_gb": used,
                "used_percent": round(100 * used / size, 1),
                "disk_type": dice.choice(("ssd", "hdd")),
            }
        )
    return rows


_VOLUMES = _volumes()
_ERRORS = (
    "The target did not answer within 300 seconds.",
    "Snapshot could not be created: VSS writer in state 9.",
    "Not enough space on the target.",
    "Login with account svc-backup was rejected: the password has expired.",
)


def _backups() -> list[dict[str, Any]]:
    dice = random.Random(18)
    hosts = [row for row in _SERVERS if row["backup_plan"] in ("gold", "silver")]
    rows, number = [], 7000
    for day in range(10, 18):
        for row in hosts:
            if row["backup_plan"] == "silver" and dice.random() < 0.1:
                continue
            number += 1
            begun = datetime(2026, 6, day, 1 if row["backup_plan"] == "gold" else 3, dice.randint(0, 50))  # noqa: DTZ001
            failed = dice.random() < 0.13
            minutes = dice.randint(2, 9) if failed else dice.randint(14, 150)
            rows.append(
                {
                    "job_id": f"BKP-{number}",
                    "host": row["hostname"],
                    "plan": row["backup_plan"],
                    "started": begun.isoformat(),
                    "finished": (begun + timedelta(minutes=minutes)).isoformat(),
                    "duration_min": minutes,
                    "size_gb": None if failed else dice.randint(20, 900),
                    "result": "failed" if failed else "success",
                    "error": dice.choice(_ERRORS) if failed else None,
                }
            )
    return rows


_BACKUPS = _backups()
_HANDBOOK = {
    "handbook/storage.md": [
        "# Storage",
        "## Replacing a failed disk",
        "Check with arrayctl disk list which slot is marked FAILED; the LED must blink amber.",
        "Never pull a second disk while a rebuild is running.",
        "Spare disks are in cabinet S2; log the serial number of the old disk in the asset list.",
        "## Volume nearly full",
        "At 85 percent ask the owner to clean up; at 95 percent extend the volume with arrayctl volume grow.",
    ],
    "handbook/backup.md": [
        "# Backup",
        "## Failed backup",
        "Start the job again with bkctl rerun <job id> before 09:00.",
        "If it fails twice in a row, call the contact of the backup plan.",
        "## Restore",
        "Restores of whole servers need the written consent of the head of IT, Judith Maier.",
    ],
    "handbook/cooling.md": [
        "# Cooling",
        "## Temperature alarm",
        "Above 30 degrees in the cold aisle switch on the second chiller and call facility at extension 4410.",
        "Above 38 degrees shut down the hypervisors, beginning with rack R4.",
    ],
}


@tool(effect="read")
def list_servers(
    rack: Annotated[Literal["R1", "R2", "R3", "R4"] | None, Field(description="Rack in the server room.")] = None,
    role: Annotated[str | None, Field(description="What the server is for, e.g. database or file server.")] = None,
    status: Literal["online", "maintenance", "offline"] | None = None,
) -> Json:
    """List the physical servers with rack, hardware, operating system, status and end of warranty."""
    return [
        row
        for row in _SERVERS
        if rack in (None, row["rack"]) and role in (None, row["role"]) and status in (None, row["status"])
    ]


@tool(effect="read")
def get_server(hostname: Annotated[str, Field(description="Host name, for example db-01.")]) -> Json:
    """Show one server by its host name."""
    row = next((row for row in _SERVERS if row["hostname"] == hostname), None)
    if row is None:
        raise ToolError(f"No server with the host name {hostname}.")
    return row


@tool(effect="read")
def list_volumes(
    array: Annotated[Literal["san-a", "san-b"] | None, Field(description="Storage array.")] = None,
    host: Annotated[str | None, Field(description="Only volumes mounted on this host.")] = None,
    min_used_percent: Annotated[float, Field(ge=0, le=100, description="Only volumes at least this full.")] = 0,
) -> Json:
    """Storage volumes with their size and how much of it is used."""
    rows = [
        row
        for row in _VOLUMES
        if array in (None, row["array"]) and host in (None, row["host"]) and row["used_percent"] >= min_used_percent
    ]
    return {"count": len(rows), "volumes": rows}


@tool(effect="read")
def backup_jobs(
    host: Annotated[str | None, Field(description="Host name of the server that was backed up.")] = None,
    result: Literal["success", "failed"] | None = None,
    date_from: Annotated[date | None, Field(description="Started on or after this day.")] = None,
    date_to: Annotated[date | None, Field(description="Started on or before this day.")] = None,
    limit: Annotated[int, Field(ge=1, le=200, description="At most so many jobs.")] = 50,
) -> Json:
    """Backup job runs, latest first, with result, duration and error message."""
    rows = [
        row
        for row in sorted(_BACKUPS, key=lambda row: row["started"], reverse=True)
        if host in (None, row["host"])
        and result in (None, row["result"])
        and (date_from is None or row["started"][:10] >= date_from.isoformat())
        and (date_to is None or row["started"][:10] <= date_to.isoformat())
    ]
    return {"jobs": rows[:limit], "matched": len(rows)}


@tool(effect="read")
def backup_plans() -> Json:
    """The backup plans: schedule, how long backups are kept, target and contact."""
    return {"plans": _PLANS}


@tool(effect="read")
def search_handbook(query: Annotated[str, Field(description="Words to look for.")]) -> Json:
    """Search the operations handbook of the data centre. Returns the sections that match, line by line."""
    words = {word.strip("?,.").lower() for word in query.split()}
    words = {word for word in words if len(word) > 3}
    found = []
    for file, lines in _HANDBOOK.items():
        for begin, head in enumerate(lines):
            if not head.startswith("## "):
                continue
            end = next((n for n in range(begin + 1, len(lines)) if lines[n].startswith("## ")), len(lines))
            text = " ".join(lines[begin:end]).lower()
            score = sum(word in text for word in words)
            rows = [{"file": file, "line": n + 1, "text": lines[n]} for n in range(begin, end)]
            found.append((score, rows))
    best = [rows for score, rows in sorted(found, key=lambda hit: -hit[0]) if score][:2]
    return {"hits": [row for rows in best for row in rows]}


def toolset() -> Toolset:
    """Six tools, ten questions."""
    by_host = {row["hostname"]: row for row in _SERVERS}
    bigger = max(("db-02", "db-04"), key=lambda name: by_host[name]["memory_gb"])
    upkeep = [row["hostname"] for row in _SERVERS if row["status"] == "maintenance"]
    fullest = max(_VOLUMES, key=lambda row: row["used_percent"])
    failed = [row for row in _BACKUPS if row["result"] == "failed" and row["started"].startswith("2026-06-17")]
    why = next(row for row in _BACKUPS if row["host"] == "mail-02" and "VSS writer" in str(row["error"]))
    day = date.fromisoformat(why["started"][:10])
    retention = next(plan for plan in _PLANS if plan["name"] == by_host["file-03"]["backup_plan"])
    san_b = [row for row in _VOLUMES if row["array"] == "san-b"]
    total = sum(row["size_gb"] for row in san_b)
    expiring = [row["hostname"] for row in _SERVERS if row["warranty_until"] < "2026-10-01"]
    good = [row for row in _BACKUPS if row["host"] == "erp-02" and row["result"] == "success"]
    last = max(good, key=lambda row: row["started"])
    clock = last["finished"][11:16]
    places = {row["hostname"]: str(row) for row in _SERVERS} | {row["volume_id"]: str(row) for row in _VOLUMES}
    places |= {row["job_id"]: str(row) for row in _BACKUPS} | {row["name"]: str(row) for row in _PLANS}
    places |= {f"{file}:{n}": text for file, lines in _HANDBOOK.items() for n, text in enumerate(lines, 1)}
    return Toolset(
        "small data centre",
        (list_servers, get_server, list_volumes, backup_jobs, backup_plans, search_handbook),
        (
            Asked(
                "Which server has more memory, db-02 or db-04?",
                "db-02 和 db-04 哪台内存更大？",
                (bigger, str(by_host[bigger]["memory_gb"])),
                evidence=(frozenset({bigger}),),
            ),
            Asked(
                "How many servers are in maintenance at the moment?",
                "目前有几台服务器处于维护状态？",
                (str(len(upkeep)),),
                evidence=(frozenset(upkeep),),
            ),
            Asked(
                "Which volume is the fullest, and on which host is it mounted?",
                "哪个卷用得最满？挂在哪台主机上？",
                (fullest["volume_id"], fullest["host"]),
                evidence=(frozenset({fullest["volume_id"]}),),
            ),
            Asked(
                "Which backups failed on 17 June 2026?",
                "2026 年 6 月 17 日有哪些备份失败了？",
                tuple((row["job_id"], row["host"]) for row in failed),
                evidence=(frozenset(row["job_id"] for row in failed),),
            ),
            Asked(
                f"Why did the backup of {why['host']} fail on {day.day} June?",
                f"{why['host']} 在 6 月 {day.day} 日的备份为什么失败？",
                told=(("VSS writer in state 9", "VSS writer"),),
                evidence=(frozenset({why["job_id"]}),),
            ),
            Asked(
                "An auditor wants to know how many days we keep the backups of file-03.",
                "审计问 file-03 的备份要保留多少天，帮我查一下。",
                (str(retention["retention_days"]),),
                evidence=(frozenset({"file-03", retention["name"]}),),
            ),
            Asked(
                "How many GB of volumes have we carved out on san-b in total, used or not?",
                "san-b 上所有卷的容量（size）加起来一共多少 GB？",
                ((str(total), f"{total:,}", f"{total / 1000:g}"),),
                evidence=(frozenset(row["volume_id"] for row in san_b),),
            ),
            Asked(
                "Which servers run out of warranty before October 2026?",
                "哪些服务器的保修在 2026 年 10 月之前到期？",
                tuple(expiring),
                evidence=(frozenset(expiring),),
            ),
            Asked(
                "A disk in the storage array has failed and I have to replace it. What does the handbook say?",
                "存储阵列里有块盘坏了（failed disk），要换盘，手册里怎么说？",
                told=("arrayctl disk list",),
                evidence=(frozenset(f"handbook/storage.md:{n}" for n in (2, 3, 4, 5)),),
            ),
            Asked(
                "When did the last successful backup of erp-02 finish?",
                "erp-02 最近一次成功的备份是什么时候完成的？",
                ((clock, clock.lstrip("0"), last["finished"], last["finished"][:16]),),
                evidence=(frozenset({last["job_id"]}),),
            ),
        ),
        places,
    )
