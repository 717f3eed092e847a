"""A campus network: switches with ports inside, probes as text, change tickets in a table, addresses, outages."""

import random
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_START = datetime(2026, 9, 7, 7, 0, tzinfo=UTC)
_SITES = ("library", "stadium", "dorm-east", "physics")


def _switches() -> list[dict[str, Any]]:
    dice, found = random.Random(2), []
    for number in range(1, 13):
        ports = [
            {
                "port": f"ge-0/0/{port}",
                "link": dice.choices(("up", "down"), (4, 1))[0],
                "errors": dice.randint(0, 40) + (5000 if (number, port) == (5, 3) else 0),
            }
            for port in range(6)
        ]
        found.append(
            {
                "hostname": f"sw-{_SITES[number % 4]}-{number:02}",
                "mgmt_ip": f"10.20.{number}.2",
                "site": _SITES[number % 4],
                "vendor": dice.choice(("Arista", "Juniper")),
                "os_version": dice.choice(("4.31.2", "4.30.1", "22.4R3")),
                "uptime_days": dice.randint(1, 900) + number,
                "status": "unreachable" if number == 8 else "reachable",
                "ports": ports,
            }
        )
    return found


_SWITCHES = _switches()
_CHANGES = [
    ["CHG-71", "sw-library-04", "Upgrade to 4.31.2", "approved", "2026-09-10 22:00", "pavel"],
    ["CHG-72", "sw-physics-07", "Replace line card", "draft", "2026-09-14 06:00", "noor"],
    ["CHG-73", "sw-dorm-east-06", "Add VLAN 310", "implemented", "2026-09-03 21:00", "pavel"],
    ["CHG-74", "sw-stadium-05", "Move uplink", "approved", "2026-09-12 23:30", "greta"],
]
_OUTAGES: list[dict[str, Any]] = [
    {
        "ref": "OUT-9",
        "site": "stadium",
        "began": "2026-08-02T10:05:00Z",
        "minutes": 95,
        "cause": "fibre cut",
    },
    {
        "ref": "OUT-10",
        "site": "library",
        "began": "2026-08-19T02:00:00Z",
        "minutes": 12,
        "cause": "power supply",
    },
    {"ref": "OUT-11", "site": "dorm-east", "began": "2026-08-28T18:40:00Z", "minutes": 241, "cause": "broadcast storm"},
    {
        "ref": "OUT-12",
        "site": "library",
        "began": "2026-09-01T09:15:00Z",
        "minutes": 33,
        "cause": "stale licence",
    },
]
_SYSLOG = [
    (f"sw-stadium-05.log:{n}", (_START + timedelta(minutes=7 * n)).strftime("%Y-%m-%dT%H:%M:%SZ"), text)
    for n in range(1, 31)
    for text in ["CRC errors on ge-0/0/3 exceed threshold" if n % 3 == 0 else "LLDP neighbour refreshed"]
]


@tool(effect="read")
def get_switches(
    site: Annotated[str, Field(description="library, stadium, dorm-east or physics.")] = "",
    status: Literal["reachable", "unreachable"] | None = None,
) -> Json:
    """Switches of the campus with management address, vendor, software version and uptime in days."""
    rows = [s for s in _SWITCHES if site in ("", s["site"]) and status in (None, s["status"])]
    return {"count": len(rows), "switches": [{k: v for k, v in row.items() if k != "ports"} for row in rows]}


@tool(effect="read")
def get_ports(switch: Annotated[str, Field(description="Hostname of the switch.")]) -> Json:
    """Ports of a switch with link state and error counters."""
    row = next((s for s in _SWITCHES if s["hostname"] == switch), None)
    if row is None:
        raise ToolError(f"No switch '{switch}'. Did you mean 'sw-library-04'?")
    return {"switch": switch, "ports": row["ports"]}


@tool(effect="read")
def change_requests(state: Literal["draft", "approved", "implemented"] | None = None) -> Json:
    """Planned and done changes: device, what is changed, state, when it is scheduled, who implements it."""
    rows = [row for row in _CHANGES if state in (None, row[3])]
    return {"fields": ["change", "device", "summary", "state", "scheduled", "implementer"], "data": rows}


@tool(effect="read")
def outages(site: str = "") -> Json:
    """Past outages: site, when each began, how many minutes it lasted, the cause."""
    return [{**row} for row in _OUTAGES if site in ("", row["site"])]


@tool(effect="read")
def ping(host: Annotated[str, Field(description="Hostname or address.")]) -> str:
    """Probe a host and report loss and round trip time."""
    row = next((s for s in _SWITCHES if host in (s["hostname"], s["mgmt_ip"])), None)
    if row is None:
        raise ToolError(f"cannot resolve {host}")
    if row["status"] == "unreachable":
        return f"PING {host}\n5 packets transmitted, 0 received, 100% packet loss"
    return f"PING {host}\n5 packets transmitted, 5 received, 0% packet loss\nround trip min/avg/max 0.3/1.7/4.2 ms"


@tool(effect="read")
def device_syslog(
    device: Annotated[str, Field(description="Hostname of the device.")],
    match: Annotated[str, Field(description="Only lines with this text.")] = "",
    newest_first: bool = True,
) -> Json:
    """Syslog lines of a network device."""
    rows = [row for row in _SYSLOG if row[0].startswith(device) and match.lower() in row[2].lower()]
    shown = rows[::-1] if newest_first else rows
    return {"hits": len(rows), "lines": [{"at": a, "ref": r, "text": t} for r, a, t in shown[:12]]}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    library = [s for s in _SWITCHES if s["site"] == "library"]
    lost = next(s for s in _SWITCHES if s["status"] == "unreachable")
    longest = max(_SWITCHES, key=lambda s: s["uptime_days"])
    asked = _SWITCHES[2]
    faulty = max(_SWITCHES[4]["ports"], key=lambda p: p["errors"])
    worst = max(_OUTAGES, key=lambda row: row["minutes"])
    crc = [row for row in _SYSLOG if "CRC" in row[2]]
    places = {s["hostname"]: str(s) for s in _SWITCHES} | {p["port"]: str(p) for s in _SWITCHES for p in s["ports"]}
    places |= {row[0]: str(row) for row in _CHANGES} | {row["ref"]: str(row) for row in _OUTAGES}
    places |= {ref: f"{at} {text}" for ref, at, text in _SYSLOG}
    switch = _SWITCHES[4]["hostname"]
    return Toolset(
        "campus network",
        (get_switches, get_ports, change_requests, outages, ping, device_syslog),
        (
            Asked(
                "How many switches are in the library?",
                "library 有几台交换机？",
                (str(len(library)),),
                evidence=(frozenset(s["hostname"] for s in library),),
            ),
            Asked(
                "Which switch is unreachable?",
                "哪台交换机 unreachable？",
                (lost["hostname"],),
                evidence=(frozenset({lost["hostname"]}),),
            ),
            Asked(
                "Which switch has the longest uptime?",
                "运行天数最长的是哪台交换机？",
                (longest["hostname"], str(longest["uptime_days"])),
                evidence=(frozenset({longest["hostname"]}),),
            ),
            Asked(
                f"What is the management address of {asked['hostname']}?",
                f"{asked['hostname']} 的管理地址是什么？",
                (asked["mgmt_ip"],),
                evidence=(frozenset({asked["hostname"]}),),
            ),
            Asked(
                f"Which port of {switch} has the most errors?",
                f"{switch} 的哪个端口错误最多？",
                (faulty["port"], str(faulty["errors"])),
                evidence=(frozenset({faulty["port"]}),),
            ),
            Asked(
                "Who implements CHG-74 and when is it scheduled?",
                "CHG-74 由谁实施，安排在什么时候？",
                ("greta", "2026-09-12 23:30"),
                evidence=(frozenset({"CHG-74"}),),
            ),
            Asked(
                "What caused the longest outage?",
                "持续时间最长的一次断网是什么原因造成的？",
                ("broadcast storm",),
                evidence=(frozenset({worst["ref"]}),),
            ),
            Asked(
                "How many changes are approved?",
                "已批准的变更有多少个？",
                ("2",),
                evidence=(frozenset({"CHG-71", "CHG-74"}),),
            ),
            Asked(
                f"When did {switch} log CRC errors for the first time?",
                f"{switch} 第一次记录 CRC errors 是什么时候？",
                (crc[0][1],),
                evidence=(frozenset({crc[0][0]}),),
            ),
            Asked(
                f"Is there packet loss to {lost['mgmt_ip']}?",
                f"{lost['mgmt_ip']} 丢包吗？",
                ("100%",),
            ),
        ),
        places,
    )
