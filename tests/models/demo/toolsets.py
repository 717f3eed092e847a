"""Three toolsets that the planner has never seen: other names, parameters, shapes of result, content and languages."""

from typing import Any, Literal

from pydantic import Field

from opspilot.core.messages import Json
from tests.models.demo.harness import Refused, Toy, declared

# ---------------------------------------------------------------- a fleet of ships: ids must be looked up first

VESSELS: list[dict[str, Json]] = [
    {"vessel_id": "V-204", "name": "Aurora", "title": "极光号", "operator_team": "North Line", "depends_on": ["V-377"]},
    {"vessel_id": "V-377", "name": "Borealis", "title": "北风号", "operator_team": "Ice Pilots", "depends_on": []},
]
EVENTS: list[dict[str, Json]] = [
    {
        "vessel": "V-204",
        "grade": "alarm",
        "src": "engine.txt",
        "row": 41,
        "msg": "bilge pump tripped: overcurrent at 17 A",
    },
    {
        "vessel": "V-204",
        "grade": "alarm",
        "src": "engine.txt",
        "row": 58,
        "msg": "bilge pump tripped: overcurrent at 19 A",
    },
    {"vessel": "V-204", "grade": "notice", "src": "engine.txt", "row": 60, "msg": "generator started"},
    {"vessel": "V-377", "grade": "alarm", "src": "bridge.txt", "row": 7, "msg": "radar lost heading input"},
]
ARTICLES: list[dict[str, Json]] = [
    {
        "article": "KB-31",
        "section": "Bilge pump tripped",
        "row": 12,
        "body": "Overcurrent means a blocked strainer.\nClean it.",
    },
    {"article": "KB-32", "section": "Radar without heading", "row": 3, "body": "Switch to the magnetic sensor."},
    {"article": "KB-33", "section": "Galley hygiene", "row": 1, "body": "Wash hands."},
]


def _find_vessel(asked: Any) -> Json:
    found = [v for v in VESSELS if asked.who.lower() in f"{v['vessel_id']} {v['name']} {v['title']}".lower()]
    if not found:
        raise Refused(f"There is no vessel like '{asked.who}'; known: {', '.join(str(v['name']) for v in VESSELS)}.")
    return {"vessels": found}


def _grep_events(asked: Any) -> Json:
    if asked.vessel_id not in {v["vessel_id"] for v in VESSELS}:
        raise Refused(f"'{asked.vessel_id}' is not a vessel id. Ids look like V-204.")
    rows = [e for e in EVENTS if e["vessel"] == asked.vessel_id and asked.needle.lower() in str(e["msg"]).lower()]
    rows = [e for e in rows if asked.grade is None or e["grade"] == asked.grade]
    shapes: dict[str, int] = {}
    for row in rows:
        shape = str(row["msg"]).rstrip("0123456789 A")
        shapes[shape] = shapes.get(shape, 0) + 1
    return {
        "total": len(rows),
        "signatures": [{"signature": shape, "n": n} for shape, n in sorted(shapes.items(), key=lambda item: -item[1])],
        "entries": [{k: v for k, v in row.items() if k in {"src", "row", "msg"}} for row in rows],
    }


def _kb_lookup(asked: Any) -> Json:
    words = [word for word in asked.topic.lower().split() if len(word) > 3]
    scored = [(sum(word in f"{a['section']} {a['body']}".lower() for word in words), a) for a in ARTICLES]
    return {"articles": [article for score, article in sorted(scored, key=lambda entry: -entry[0]) if score][:2]}


def _reboot(asked: Any) -> Json:
    return {"accepted": True, "unit": asked.unit, "ticket": "T-9001"}


def fleet() -> list[Toy]:
    return [
        Toy(
            "find_vessel",
            "Look up a ship of the fleet in the vessel registry: its id, who operates it, what it depends on.",
            declared("FindVessel", who=(str, Field(description="Name or call sign, any language."))),
            _find_vessel,
        ),
        Toy(
            "grep_events",
            "Searches the event journal of one vessel. Returns totals, frequent signatures and entries.",
            declared(
                "GrepEvents",
                vessel_id=(str, Field(description="The vessel's id, as the registry gives it.", pattern=r"^V-\d+$")),
                needle=(str, Field(default="", description="Text that an entry must contain.")),
                grade=(Literal["notice", "alarm"] | None, Field(default=None, description="Severity of entries.")),
            ),
            _grep_events,
        ),
        Toy(
            "kb_lookup",
            "Find knowledge base articles: what a fault means and how crews handle it.",
            declared("KbLookup", topic=(str, Field(min_length=2, description="What it is about."))),
            _kb_lookup,
        ),
        Toy(
            "reboot_unit",
            "Reboot a unit on board.",
            declared(
                "RebootUnit",
                vessel_id=(str, Field(description="The vessel's id.", pattern=r"^V-\d+$")),
                unit=(Literal["radar", "pump", "autopilot"], Field(description="Which unit.")),
            ),
            _reboot,
        ),
    ]


# ---------------------------------------------------------------- a warehouse, described in Chinese

JOURNAL = [
    ("belt.out", 3, "E", "传送带卡住：光电传感器被遮挡", "CB-12"),
    ("belt.out", 9, "E", "传送带卡住：光电传感器被遮挡", "CB-12"),
    ("belt.out", 11, "I", "传送带恢复运行", "CB-12"),
    ("lift.out", 5, "E", "升降机超载", "LF-3"),
]
MANUAL = {
    "传送带.md": ["# 传送带", "## 卡住时的处理", "先按急停，再清洁光电传感器。", "恢复后观察十分钟。"],
    "升降机.md": ["# 升降机", "## 超载", "减少货物后复位。"],
}


def _journal(asked: Any) -> Json:
    rows = [row for row in JOURNAL if not asked.device or asked.device == row[4]]
    rows = [row for row in rows if asked.text in row[3] and (asked.grade is None or row[2] == asked.grade)]
    counts: dict[str, int] = {}
    for row in rows:
        counts[row[3]] = counts.get(row[3], 0) + 1
    return {
        "条数": len(rows),
        "最多的消息": [{"内容": text, "次数": n} for text, n in sorted(counts.items(), key=lambda item: -item[1])],
        "记录": [{"文件": file, "行号": line, "内容": text} for file, line, _, text, _ in rows],
    }


def _manual(asked: Any) -> Json:
    pairs = {asked.question[i : i + 2] for i in range(len(asked.question) - 1)}
    found: list[tuple[int, Json]] = []
    for file, lines in MANUAL.items():
        hits = sum(pair in "".join(lines) for pair in pairs)
        rows = [{"文件": file, "行号": n, "内容": line} for n, line in enumerate(lines, 1) if n > 1]
        found += [(hits, row) for row in rows if hits]
    return {"段落": [row for _, row in sorted(found, key=lambda entry: -entry[0])][:4]}


def _device(asked: Any) -> Json:
    devices = [
        {"编号": "CB-12", "名称": "一号传送带", "负责人": "李班长"},
        {"编号": "LF-3", "名称": "货梯系统", "负责人": "王工"},
    ]
    return {"设备": [device for device in devices if asked.keyword in str(device)]}


def warehouse() -> list[Toy]:
    return [
        Toy(
            "wms_journal",
            "查询仓库设备的运行日志，返回条数、最多的消息和原始记录。",
            declared(
                "WmsJournal",
                device=(str, Field(default="", description="设备编号，可从设备台账查到。")),
                text=(str, Field(default="", description="内容中包含的文字。")),
                grade=(Literal["E", "I"] | None, Field(default=None, description="E 为报错，I 为普通。")),
            ),
            _journal,
        ),
        Toy(
            "sop_reader",
            "检索操作手册与处理规程，返回有关的段落。",
            declared("SopReader", question=(str, Field(description="要查的问题。"))),
            _manual,
        ),
        Toy(
            "device_book",
            "设备台账：按名称查询设备的编号与负责人。",
            declared("DeviceBook", keyword=(str, Field(description="设备名称。"))),
            _device,
        ),
    ]


# ---------------------------------------------------------------- a call centre, in plain text and pairs

CALLS = """voice.log:14: call dropped: codec mismatch from 10.0.0.7
voice.log:15: call dropped: codec mismatch from 10.0.0.9
voice.log:22: call dropped: codec mismatch from 10.0.0.7"""


def _tail(asked: Any) -> Json:
    import re

    lines = [line for line in CALLS.split("\n") if re.search(asked.pattern, line)]
    if not asked.tally:
        return "\n".join(lines)
    counts: dict[str, int] = {}
    for line in lines:
        found = re.search(asked.pattern, line)
        if found and asked.tally in found.groupdict():
            counts[found[asked.tally]] = counts.get(found[asked.tally], 0) + 1
    return {"tally": [[value, n] for value, n in sorted(counts.items(), key=lambda item: -item[1])], "hits": len(lines)}


def call_centre() -> list[Toy]:
    return [
        Toy(
            "trunk_log_lines",
            "Lines of the trunk log, as grep prints them.",
            declared(
                "TrunkLogLines",
                pattern=(str, Field(description="A regular expression.")),
                tally=(str, Field(default="", description="Count by this named group of the pattern instead.")),
            ),
            _tail,
        ),
        Toy(
            "queue_status",
            "Show the status of a support queue: waiting callers and agents.",
            declared("QueueStatus", queue=(str, Field(description="The queue's name."))),
            lambda asked: {"queue": asked.queue, "waiting": 12, "agents": 3, "longest_wait_seconds": 340},
        ),
    ]
