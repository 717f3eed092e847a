"""What searching a log of 1 GB costs: four searches, each with its time and its peak of memory.

    python bench/logs.py [--megabytes 1024] [--keep FOLDER]

Makes a log of JSON lines in a temporary folder (seven services, one day, in order by time), and asks the tool
`search_logs` through the real runtime, each time in a process of its own, as a worker would: lines with a text; lines
of a service and a level; the last 15 minutes; a pattern with a count by what it captures. What the tool counts is
compared with what was written. Exits with 1 when a search takes longer than the tool's time limit, needs 300 MB or
more, doesn't cover the whole file, or counts wrongly.
"""

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

MOST_SECONDS = 20.0
MOST_MEGABYTES = 300
SERVICES = ("gateway", "orders", "payment", "inventory", "search", "accounts", "notifications")
LEVELS = ("debug", "info", "info", "info", "info", "info", "info", "warning")
HOURS = 24
BYTES_PER_LINE = 213
RECENT_MINUTES = 15


@dataclass
class Written:
    """What the log holds, counted while it was written."""

    lines: int = 0
    needles: int = 0
    payment_errors: int = 0
    recent: int = 0
    logins: Counter[str] = field(default_factory=Counter)


def write(path: Path, size: int, now: datetime) -> Written:
    """A log of about so many bytes whose last line is of now."""
    rng = random.Random(7)
    written = Written(lines=size // BYTES_PER_LINE)
    total = written.lines
    step = timedelta(hours=HOURS) / total
    recent = now - timedelta(minutes=RECENT_MINUTES)
    with path.open("w", encoding="utf-8", buffering=1024 * 1024) as stream:
        for number in range(1, total + 1):
            at = now - step * (total - number)
            service = SERVICES[number % len(SERVICES)]
            level, message = _event(rng, number, service, written)
            if service == "payment" and level == "error":
                written.payment_errors += 1
            written.recent += at >= recent
            line = (
                f'{{"time":"{at.isoformat()}","level":"{level}","service":"{service}","message":"{message}",'
                f'"trace":"{rng.getrandbits(64):016x}","region":"eu-west-{number % 3}",'
                f'"instance":"shop-{number % 40}"}}\n'
            )
            stream.write(line)
    return written


def _event(rng: random.Random, number: int, service: str, written: Written) -> tuple[str, str]:
    if number % 500_009 == 77:
        written.needles += 1
        return "warning", f"disk /var is 97 % full, ticket OPS-{number}"
    if number % 997 == 5:
        host = f"10.0.{rng.randrange(4)}.{rng.randrange(30)}"
        written.logins[host] += 1
        return "info", f"Failed password for user{rng.randrange(9000)} from {host} port {rng.randrange(1024, 65536)}"
    if service == "payment" and rng.random() < 0.01:
        return "error", f"connection pool exhausted: no connection to payment-db within 5000 ms (waiting={number % 50})"
    level = LEVELS[rng.randrange(len(LEVELS))]
    return level, f"request {number} handled in {rng.randrange(5, 900)} ms for customer {rng.randrange(100_000)}"


SEARCHES: dict[str, dict[str, Any]] = {
    "text": {"text": "disk /var is"},
    "level and service": {"level": "error", "service": "payment"},
    f"last {RECENT_MINUTES} minutes": {"since": ""},
    "pattern and count_by": {"pattern": r"Failed password for \w+ from (?P<source>\S+) port", "count_by": "source"},
}


def faults(name: str, data: dict[str, Any], written: Written) -> list[str]:
    """What a result says that isn't true."""
    expected = {
        "text": written.needles,
        "level and service": written.payment_errors,
        f"last {RECENT_MINUTES} minutes": written.recent,
        "pattern and count_by": written.logins.total(),
    }[name]
    wrong = [] if data["matched"] == expected else [f"matched {data['matched']:,}, but {expected:,} were written"]
    wrong += [note for note in data.get("notes", []) if note.startswith("Time ran out")]
    if name == "pattern and count_by":
        top = [(row["value"], row["count"]) for row in data["counts"]["top"]]
        if top != sorted(written.logins.items(), key=lambda item: (-item[1], item[0]))[: len(top)]:
            wrong.append("the hosts are not the most frequent ones")
    last = data["lines"][0]
    if name.startswith("last") and last["line"] != written.lines:
        wrong.append(f"the last line has the number {last['line']:,}, not {written.lines:,}")
    return wrong


async def search(folder: Path, arguments: dict[str, Any]) -> dict[str, Any]:
    """One search through the tool runtime, in this process."""
    from opspilot.core.interrupts import Principal  # noqa: PLC0415 - the measured process alone loads the product
    from opspilot.core.ports import CallContext  # noqa: PLC0415
    from opspilot.tools.registry import build_registry  # noqa: PLC0415
    from opspilot.tools.runtime import ToolRuntime  # noqa: PLC0415
    from opspilot.tools.spec import ToolPlace  # noqa: PLC0415

    settings = {"search_logs": {"path": str(folder), "seconds": MOST_SECONDS}}
    runtime = ToolRuntime(build_registry(settings, ToolPlace(folder, folder)))
    context = CallContext("bench", "run", "1.1", 1, "run/1.1#1", Principal("bench"))
    started = time.perf_counter()
    observation = (await runtime.run("search_logs", arguments, context)).observation
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
    if observation is None or not observation.ok:
        raise SystemExit(f"the tool failed: {observation}")
    return {"seconds": seconds, "megabytes": megabytes, "data": observation.data}


def main() -> int:
    """Write, search, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--keep", type=Path, help="a folder for the log, which is left there")
    parser.add_argument("--search", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.search:
        print(json.dumps(asyncio.run(search(Path(options.search[0]), json.loads(options.search[1])))))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC)
        started = time.perf_counter()
        written = write(folder / "shop.log", options.megabytes * 1024 * 1024, now)
        megabytes = (folder / "shop.log").stat().st_size / 1024 / 1024
        print(f"{megabytes:,.0f} MB, {written.lines:,} lines, written in {time.perf_counter() - started:.0f} s")
        print(f"{'search':24} {'seconds':>8} {'peak MB':>8} {'matched':>9}")
        failed = False
        for name, given in SEARCHES.items():
            arguments = given if "since" not in given else {"since": _recent(now)}
            command = [sys.executable, __file__, "--search", str(folder), json.dumps(arguments)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                print(f"{name:24} failed: {run.stderr.strip()[-500:]}")
                failed = True
                continue
            result = json.loads(run.stdout)
            wrong = faults(name, result["data"], written)
            print(f"{name:24} {result['seconds']:8.1f} {result['megabytes']:8.0f} {result['data']['matched']:9,}")
            if result["seconds"] > MOST_SECONDS:
                wrong.append(f"took longer than {MOST_SECONDS:.0f} s")
            if result["megabytes"] >= MOST_MEGABYTES:
                wrong.append(f"needed {MOST_MEGABYTES} MB or more")
            for fault in wrong:
                print(f"  {fault}")
            failed = failed or bool(wrong)
    print(f"bounds: {MOST_SECONDS:.0f} s, {MOST_MEGABYTES} MB, the whole file covered, every count true")
    return 1 if failed else 0


def _recent(now: datetime) -> str:
    return (now - timedelta(minutes=RECENT_MINUTES)).isoformat()


if __name__ == "__main__":
    raise SystemExit(main())
