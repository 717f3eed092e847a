"""Writes the shop's logs of the last 24 hours: seven services, several formats, one real fault and some noise.

The same seed gives the same story; its times end now. Run it as `python examples/shop/generate.py [FOLDER] [--force]`.
"""

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

SEED = 20_260_214
HOURS = 24
FRESH_SECONDS = 3600
STAMP = ".generated"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
FAULT_MINUTES = 160
"""How long ago the payment service was deployed with a connection pool that is too small."""


@dataclass(frozen=True)
class Line:
    """One log line, in no format yet."""

    at: datetime
    level: str
    message: str
    fields: dict[str, object] = field(default_factory=dict)


def payment(rng: random.Random, now: datetime) -> Iterator[Line]:
    """Well until its deployment; then its pool of 5 connections is used up, now and then at first, soon always."""
    deployed = now - timedelta(minutes=FAULT_MINUTES)
    first = now - timedelta(hours=HOURS) + timedelta(minutes=7)
    settings = "db.pool.max={} db.pool.timeout_ms=5000"
    yield Line(first, "info", f"deployed version 2.13.4: {settings.format(50)}", {"version": "2.13.4"})
    yield Line(deployed, "info", f"deployed version 2.14.0: {settings.format(5)}", {"version": "2.14.0"})
    yield Line(deployed + timedelta(seconds=4), "info", "ready", {"version": "2.14.0"})
    for at in _times(rng, now, 2_000):
        amount = rng.randint(499, 49_900) / 100
        order = f"ORD-{rng.randint(100_000, 999_999)}"
        minutes = (at - deployed).total_seconds() / 60
        if minutes > 6 and rng.random() < min(0.85, minutes / 120):
            waiting = rng.randint(8, 25) + int(minutes / 4)
            fault = "connection pool exhausted: no connection to payment-db within 5000 ms"
            outcome = {"order": order, "status": 503, "duration_ms": 5000 + rng.randint(0, 40)}
            yield Line(at, "error", f"{fault} (active=5 idle=0 max=5 waiting={waiting})", outcome)
        else:
            outcome = {"order": order, "status": 200, "duration_ms": rng.randint(40, 380)}
            yield Line(at, "info", f"payment captured: {amount:.2f} EUR", outcome)
        if minutes > 2 and rng.random() < 0.12:
            yield Line(at, "warn", f"waited {rng.randint(900, 4900)} ms for a connection to payment-db")
    for at in _times(rng, now, 46):
        yield Line(at, "warn", f"provider answered slowly: {rng.randint(2001, 4200)} ms", {"provider": "cards-one"})
    for at in _times(rng, now, 5):
        yield Line(at, "error", f"webhook refused: bad signature from 203.0.113.{rng.randint(2, 250)}")
    yield Line(now - timedelta(hours=9), "warn", "certificate of api.payment.shop.example expires in 21 days")


def orders(rng: random.Random, now: datetime) -> Iterator[Line]:
    """Fails where payment fails, and says so."""
    deployed = now - timedelta(minutes=FAULT_MINUTES)
    for at in _times(rng, now, 1_600):
        order = f"ORD-{rng.randint(100_000, 999_999)}"
        minutes = (at - deployed).total_seconds() / 60
        if minutes > 6 and rng.random() < min(0.6, minutes / 150):
            took = rng.randint(5000, 5060)
            yield Line(at, "error", f"payment call failed: status 503 after {took} ms", {"order": order})
        else:
            yield Line(at, "info", "order completed", {"order": order, "items": rng.randint(1, 9)})
    for at in _times(rng, now, 30):
        yield Line(at, "warn", "basket expired before checkout", {"order": f"ORD-{rng.randint(100_000, 999_999)}"})


def gateway(rng: random.Random, now: datetime) -> Iterator[Line]:
    """HTTP requests; those to payment answer 503 once the fault has begun."""
    deployed = now - timedelta(minutes=FAULT_MINUTES)
    requests = {
        "search": "GET /api/search",
        "orders": "GET /api/orders",
        "payment": "POST /api/pay",
        "accounts": "POST /api/login",
    }
    usual = [200] * 60 + [304] * 8 + [404] * 3 + [502]
    for at in _times(rng, now, 2_600):
        upstream = rng.choice(list(requests))
        minutes = (at - deployed).total_seconds() / 60
        failed = upstream == "payment" and minutes > 6 and rng.random() < min(0.8, minutes / 120)
        status = 503 if failed else rng.choice(usual)
        took = rng.randint(5000, 5100) if failed else rng.randint(3, 420)
        fields = {"upstream": upstream, "status": status, "client_ip": f"198.51.100.{rng.randint(1, 250)}"}
        level = "error" if status >= 500 else "info"
        yield Line(at, level, f"{requests[upstream]} {status} in {took} ms", fields)


def inventory(rng: random.Random, now: datetime) -> Iterator[Line]:
    """A stale cache during the nightly import."""
    for at in _times(rng, now, 900):
        what = f"{rng.randint(1, 6)} of sku-{rng.randint(1000, 9999)}"
        yield Line(at, "info", f"reserved {what} in warehouse {rng.randint(1, 4)}")
    night = now - timedelta(hours=13)
    for minute in range(38):
        at = night + timedelta(minutes=minute, seconds=rng.randint(0, 50))
        yield Line(at, "error", f"stock cache is stale: {300 + minute * 60} s old, refresh is locked by import")


def search(rng: random.Random, now: datetime) -> Iterator[Line]:
    """Slow queries now and then."""
    for at in _times(rng, now, 1_100):
        yield Line(at, "info", f"query took {rng.randint(8, 240)} ms, {rng.randint(0, 400)} hits")
    for at in _times(rng, now, 120):
        words = rng.choice(["lamp", "chair", "table"])
        yield Line(at, "warn", f"slow query: {rng.randint(1001, 3400)} ms for '*{words}'")


def notifications(rng: random.Random, now: datetime) -> Iterator[Line]:
    """A mail server that refuses for an hour in the morning."""
    for at in _times(rng, now, 1_000):
        template = rng.choice(["ordered", "paid", "shipped"])
        yield Line(at, "info", "mail sent", {"template": template, "queue": rng.randint(0, 40)})
    bad = now - timedelta(hours=6)
    for _ in range(85):
        at = bad + timedelta(seconds=rng.randint(0, 3600))
        refusal = "mail server smtp.shop.example refused: 421 try again later"
        yield Line(at, "error", refusal, {"queue": rng.randint(400, 2200)})


def accounts(rng: random.Random, now: datetime) -> Iterator[Line]:
    """Logins; one address tries passwords."""
    for at in _times(rng, now, 900):
        user = rng.randint(10_000, 99_999)
        yield Line(at, "info", f"login ok for user {user} from 198.51.100.{rng.randint(1, 250)}")
    for at in _times(rng, now, 140):
        address = "192.0.2.44" if rng.random() < 0.7 else f"198.51.100.{rng.randint(1, 250)}"
        yield Line(at, "warn", f"login failed for user {rng.randint(10_000, 99_999)} from {address}")


def as_json(service: str, line: Line) -> str:
    """JSON lines."""
    time_text = line.at.isoformat(timespec="milliseconds")
    head = {"time": time_text, "level": line.level, "service": service, "message": line.message}
    return json.dumps(head | line.fields, ensure_ascii=False)


def as_logfmt(service: str, line: Line) -> str:
    """Pairs of `key=value`."""
    more = "".join(f" {key}={value}" for key, value in line.fields.items())
    time_text = line.at.isoformat(timespec="milliseconds")
    return f'ts={time_text} level={line.level} service={service} msg="{line.message}"{more}'


def as_python(service: str, line: Line) -> str:
    """The default of Python's logging, with a comma before the milliseconds."""
    level = "WARNING" if line.level == "warn" else line.level.upper()
    return f"{line.at:%Y-%m-%d %H:%M:%S},{line.at.microsecond // 1000:03d} {level} {service}.worker - {line.message}"


def as_java(service: str, line: Line) -> str:
    """What logback writes."""
    time_text = f"{line.at:%Y-%m-%d %H:%M:%S}.{line.at.microsecond // 1000:03d}"
    return f"{time_text} [{service}-1] {line.level.upper():5} shop.{service.title()} - {line.message}"


def as_syslog(service: str, line: Line) -> str:
    """What syslog writes: no year, and a level only where the message has one."""
    prefix = {"warn": "warning: ", "error": "error: "}.get(line.level, "")
    time_text = f"{MONTHS[line.at.month - 1]} {line.at.day:2d} {line.at:%H:%M:%S}"
    return f"{time_text} shop-1 {service}[4117]: {prefix}{line.message}"


Story = Callable[[random.Random, datetime], Iterator[Line]]
Writer = Callable[[str, Line], str]

FILES: tuple[tuple[str, str, Story, Writer], ...] = (
    ("payment.log", "payment", payment, as_json),
    ("orders.log", "orders", orders, as_logfmt),
    ("gateway.log", "gateway", gateway, as_json),
    ("inventory.log", "inventory", inventory, as_python),
    ("search.log", "search", search, as_java),
    ("notifications.log", "notifications", notifications, as_logfmt),
    ("accounts.log", "accounts", accounts, as_syslog),
)


def write(folder: Path, now: datetime) -> dict[str, int]:
    """Write all logs, each whole or not at all. Gives the number of lines by file."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder))
    counts: dict[str, int] = {}
    try:
        for name, service, story, writer in FILES:
            rng = random.Random(f"{SEED} {name}")
            lines = sorted((line for line in story(rng, now) if line.at <= now), key=lambda line: line.at)
            text = "".join(f"{writer(service, line)}\n" for line in lines)
            (draft / name).write_text(text, encoding="utf-8")
            counts[name] = len(lines)
        (draft / STAMP).write_text(now.isoformat(), encoding="utf-8")
        for name in (*counts, STAMP):
            (draft / name).replace(folder / name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return counts


def is_fresh(folder: Path) -> bool:
    """Were these logs written less than an hour ago, and are they all there?"""
    try:
        age = time.time() - (folder / STAMP).stat().st_mtime
    except OSError:
        return False
    return 0 <= age < FRESH_SECONDS and all((folder / name).is_file() for name, *_ in FILES)


def _times(rng: random.Random, now: datetime, count: int) -> list[datetime]:
    return [now - timedelta(milliseconds=rng.randint(0, HOURS * 3_600_000)) for _ in range(count)]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write the shop's logs of the last 24 hours.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "logs")
    parser.add_argument("--force", action="store_true", help="write them even if they are less than an hour old")
    options = parser.parse_args()
    if not options.force and is_fresh(options.folder):
        return
    counts = write(options.folder, datetime.now(UTC))
    print(f"Wrote {sum(counts.values()):,} lines of {len(counts)} services to {options.folder}")


if __name__ == "__main__":
    main()
