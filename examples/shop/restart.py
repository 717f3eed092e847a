"""Stands in for whatever restarts a service: writes down that it happened, so that one can count how often.

`restart.py SERVICE` restarts, `restart.py --check KEY` says by its exit status whether a restart with that idempotency
key happened (0) or not (1). Restarts are kept as JSON lines in `restarts.jsonl` in the folder `--state`.
"""

import argparse
import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Restart a service of the shop, or ask whether that happened.")
    parser.add_argument("service", nargs="?", default="")
    parser.add_argument("--check", metavar="KEY", help="an idempotency key")
    parser.add_argument("--state", type=Path, default=Path(__file__).parent / "state")
    parser.add_argument("--seconds", type=float, default=0.5, help="how long a restart takes")
    options = parser.parse_args()
    record = options.state / "restarts.jsonl"
    if options.check:
        return 0 if options.check in keys(record) else 1
    if not options.service:
        parser.error("name a service, or use --check")
    options.state.mkdir(parents=True, exist_ok=True)
    restart = {
        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "service": options.service,
        "key": os.environ.get("OPSPILOT_IDEMPOTENCY_KEY", ""),
    }
    with record.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(restart) + "\n")
    print(f"stopping {options.service}", flush=True)
    time.sleep(options.seconds)
    print(f"{options.service} is ready", flush=True)
    return 0


def keys(record: Path) -> set[str]:
    """The idempotency keys of all restarts so far."""
    if not record.exists():
        return set()
    with record.open(encoding="utf-8") as stream:
        return {json.loads(line)["key"] for line in stream if line.strip()}


if __name__ == "__main__":
    sys.exit(main())
