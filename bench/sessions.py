"""What the pages of the UI wait for when a journal is large: 100,000 sessions, 2,000 open questions.

    python bench/sessions.py
    python bench/sessions.py --keep journal.sqlite

Fills a journal: some different sessions are written as a worker writes them, and all others are copies of these with
another name, question, owner, time and speed. Then prints how long the reads behind each page take, as median and worst
of several, and what a processor had to do for it; exits with 1 when a median is 200 ms or more.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from sqlalchemy import Connection, Table, bindparam, func, insert, literal, select  # noqa: E402

from opspilot.core.entries import (  # noqa: E402
    Kind,
    NewEntry,
    answered_key,
    assistant_key,
    call_key,
    interrupt_key,
    message_key,
    result_key,
    started_key,
    stopped_key,
    tool_started_key,
)
from opspilot.core.interrupts import Principal  # noqa: E402
from opspilot.core.messages import Json  # noqa: E402
from opspilot.journal import read_models, schema, totals  # noqa: E402
from opspilot.journal.inbox import AskedOf, InboxFilter  # noqa: E402
from opspilot.journal.queries import SessionFilter  # noqa: E402
from opspilot.journal.spending import three_digits  # noqa: E402
from opspilot.journal.store import SqlJournal  # noqa: E402

MOST_MILLISECONDS = 200
REPEATS = 7
TEMPLATES = 150
DAYS = 180
PAGE = 50
PEOPLE = 400
NEEDLE = "zanzibar"
END = datetime(2026, 6, 1, tzinfo=UTC)
MINE = AskedOf(("approver",), unruled=True)

TOOLS = ("search_logs", "search_docs", "search_resource", "read_more", "restart_service", "run_query", "scale_service")
TOPICS = ("payment", "login", "search", "billing", "checkout", "支付", "登录", "inventory", "mail", "gateway")
QUESTIONS = ("Why does {} fail?", "Is {} slower than yesterday?", "Restart {} in production", "{} 服务为什么报错")
REASONS = ("answered",) * 14 + ("cancelled", "max_steps", "model_failed", "timeout", "expired", "internal_error")


# ---------------------------------------------------------------- filling


@dataclass(frozen=True)
class Template:
    """A session that was written entry by entry, and when it began."""

    session: str
    began: datetime
    waits: bool


def write(journal: SqlJournal, number: int, dice: random.Random, *, waits: bool) -> Template:
    """One session as a worker writes it: a run or two of some steps, some with a question to a person."""
    session, began = f"template-{number}", END - timedelta(days=DAYS)
    at = began
    for nth in range(1, dice.choice((2, 2, 2, 3))):
        run = f"{session}-run-{nth}"
        owner = Principal("ann", "Ann", ("operator",))
        journal.begin_run(session, run, at, owner)
        user = {"id": owner.id, "name": owner.name, "roles": list(owner.roles)}
        opening = [
            NewEntry(started_key(run), Kind.RUN_STARTED, at, {"user": user, "model": dice.choice(("small", "large"))}),
            NewEntry(message_key(f"{run}-message"), Kind.USER_MESSAGE, at, {"id": "m", "text": "?"}),
        ]
        journal.append(session, run, opening)
        steps, costs = dice.randint(1, 4), []
        for step in range(1, steps + 1):
            at += timedelta(seconds=dice.randint(1, 20))
            written = journal.append(session, run, list(step_entries(run, step, at, dice, calls=step < steps)))
            costs.append(written[0].data["cost"])
        if waits:
            call = f"{steps}.1"
            journal.append(session, run, [call_entry(run, call, at, "restart_service"), question(run, call, at, dice)])
            return Template(session, began, waits=True)
        end: dict[str, Json] = {"stop_reason": dice.choice(REASONS), "steps": steps, "cost": sum(costs)}
        journal.append(session, run, [NewEntry(stopped_key(run, 1), Kind.RUN_STOPPED, at, end)])
        at += timedelta(hours=1)
    return Template(session, began, waits=False)


def step_entries(run: str, step: int, at: datetime, dice: random.Random, *, calls: bool) -> Iterator[NewEntry]:
    """A reply, its calls and their results; one in ten was asked about first."""
    usage = {"input_tokens": dice.randint(500, 20_000), "output_tokens": dice.randint(20, 900)}
    of_call = {"latency_ms": dice.randint(300, 9000), "model": "large", "cost": round(dice.random() / 10, 6)}
    said = {"text": "Because. " * 40, "usage": usage, **of_call}
    yield NewEntry(assistant_key(run, step), Kind.ASSISTANT_MESSAGE, at, said, step)
    for index in range(1, dice.choice((1, 1, 2, 2, 3)) + 1 if calls else 1):
        call = f"{step}.{index}"
        yield call_entry(run, call, at, dice.choice(TOOLS))
        if dice.random() < 0.1:
            yield question(run, call, at, dice)
            answer = {"interrupt": f"{call}#0", "action": "approve", "by": "ben", "name": "Ben", "method": "token"}
            yield NewEntry(answered_key(run, f"{call}#0"), Kind.INTERRUPT_ANSWERED, at, answer, step, call)
        yield NewEntry(tool_started_key(run, call, 1), Kind.TOOL_STARTED, at, {"round": 1}, step, call)
        outcome: dict[str, Json] = {"ok": True, "data": {"lines": ["x" * 80] * 6}}
        if dice.random() < 0.06:
            outcome = {"ok": False, "errorCode": dice.choice(("tool_failed", "timed_out")), "message": "No."}
        result = {"round": 1, "duration_ms": dice.randint(3, 4000), **outcome}
        yield NewEntry(result_key(run, call), Kind.TOOL_RESULT, at, result, step, call)


def call_entry(run: str, call: str, at: datetime, tool: str) -> NewEntry:
    """A proposed call."""
    data = {"name": tool, "effect": "read", "gate": "run", "rule": "reads", "arguments": {"service": "payment"}}
    return NewEntry(call_key(run, call), Kind.TOOL_CALL, at, data, int(call.partition(".")[0]), call)


def question(run: str, call: str, at: datetime, dice: random.Random) -> NewEntry:
    """A question with everything that an inbox shows."""
    fields = {name: {"type": "string", "description": "What this is for. " * 4} for name in ("service", "environment")}
    data: dict[str, Json] = {
        "interrupt": f"{call}#0",
        "kind": "confirm_risky",
        "reason": "This restarts a service in production.",
        "payload": {},
        "tool": "restart_service",
        "arguments": {"service": "payment", "environment": "production"},
        "digest": "0" * 32,
        "rule": "production",
        "role": dice.choice(("approver", "approver", "dba", "")),
        "risk": dice.choice(("low", "medium", "high")),
        "quorum": dice.choice((1, 1, 2)),
        "requester": "ann",
        "schema": {"type": "object", "properties": fields},
        "due": (at + timedelta(hours=dice.randint(1, 48))).isoformat() if dice.random() < 0.7 else None,
    }
    return NewEntry(interrupt_key(run, call, 0), Kind.INTERRUPT_OPENED, at, data, int(call.partition(".")[0]), call)


class Copies:
    """Copies templates: the rows of the read models are changed, the entries are copied as they are."""

    def __init__(self, connection: Connection, dice: random.Random) -> None:
        self._connection = connection
        self._dice = dice
        self._rows: dict[str, dict[str, list[dict[str, Json]]]] = {}
        self._waiting: dict[str, list[dict[str, Json]]] = {table.name: [] for table in schema.READ_MODELS}
        self._copied: list[dict[str, Json]] = []
        entries = schema.entries.c
        self._copy_entries = insert(schema.entries).from_select(
            [column.name for column in entries],
            select(
                literal("").op("||")(bindparam("copy")),
                *(column for column in entries if column.name != "session_id"),
            ).where(entries.session_id == bindparam("template")),
        )

    def add(self, template: Template, number: int) -> None:
        """One more session like this one."""
        if template.session not in self._rows:
            self._rows[template.session] = {table.name: self._read(table, template) for table in schema.READ_MODELS}
        dice = self._dice
        session = f"ops-{number:08x}"
        title = dice.choice(QUESTIONS).format(f"{dice.choice(TOPICS)}-{dice.randint(1, 999)}")
        title = f"{title} {NEEDLE}" if number % 25_000 == 7 else title
        owner = f"user{min(int(dice.expovariate(1 / 40)), PEOPLE)}"
        shift = timedelta(seconds=dice.randint(0, DAYS * 86_400))
        speed = dice.lognormvariate(0, 0.6)
        for table in schema.READ_MODELS:
            for row in self._rows[template.session][table.name]:
                copy = {name: _changed(name, value, shift, speed) for name, value in row.items()}
                copy["id" if table is schema.sessions else "session_id"] = session
                if table is schema.sessions:
                    copy |= {"owner": owner, "title": title, "searchable": read_models.searchable(session, title)}
                if "requester" in copy:
                    copy["requester"] = owner
                if table is schema.runs:
                    copy["day"] = copy["started_at"].date()
                self._waiting[table.name].append(copy)
        self._copied.append({"copy": session, "template": template.session})
        if len(self._copied) >= 1000:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        for table in schema.READ_MODELS:
            if rows := self._waiting[table.name]:
                self._connection.execute(insert(table), rows)
                rows.clear()
        for copied in self._copied:
            self._connection.execute(self._copy_entries, copied)
        self._copied.clear()

    def _read(self, table: Table, template: Template) -> list[dict[str, Json]]:
        key = table.c.id if table is schema.sessions else table.c.session_id
        rows = self._connection.execute(select(table).where(key == template.session)).mappings()
        return [dict(row) for row in rows]


def _changed(name: str, value: Json, shift: timedelta, speed: float) -> Json:
    if isinstance(value, datetime):
        return value + shift
    if name in {"model_ms", "took_ms", "duration_ms"} and value is not None:
        return three_digits(value * speed)
    return value


def fill(journal: SqlJournal, sessions: int, questions: int) -> None:
    """So many sessions, so many of them waiting for a person."""
    dice = random.Random(20260601)
    written = min(TEMPLATES, sessions // 4)
    templates = [write(journal, number, dice, waits=number % 10 == 0) for number in range(written)]
    done = [template for template in templates if not template.waits]
    waiting = [template for template in templates if template.waits]
    # The journal has no door for copies, which nobody but a bench needs.
    with journal._database.write() as connection:  # noqa: SLF001
        copies = Copies(connection, dice)
        for number in range(sessions - written):
            is_waiting = number < questions - len(waiting)
            copies.add(dice.choice(waiting if is_waiting else done), number)
        copies.flush()
        totals.compute(connection)


# ---------------------------------------------------------------- measuring


def pages(journal: SqlJournal) -> dict[str, Callable[[], object]]:
    """What is read for each page, by its name."""
    week, month = END - timedelta(days=7), END - timedelta(days=30)
    before = END - timedelta(days=DAYS - 2), ""

    def page(wanted: SessionFilter, before: tuple[datetime, str] | None = None) -> Callable[[], object]:
        def read() -> None:
            # Of sessions that fit on the first page the number is known.
            if len(journal.find_sessions(wanted, PAGE, before)) == PAGE or before is not None:
                journal.count_sessions(wanted)

        return read

    (busy,) = journal.sessions(limit=1)
    return {
        "sessions: first page": page(SessionFilter()),
        "sessions: deep page": page(SessionFilter(), before),
        "sessions: status": page(SessionFilter(status="waiting")),
        "sessions: frequent stop reason": page(SessionFilter(stop_reason="answered")),
        "sessions: rare stop reason": page(SessionFilter(stop_reason="expired")),
        "sessions: owner": page(SessionFilter(owner="user0")),
        "sessions: owner with little": page(SessionFilter(owner="user200")),
        "sessions: owner, reason, deep": page(SessionFilter(owner="user0", stop_reason="expired"), before),
        "sessions: began long ago": page(SessionFilter(created_until=END - timedelta(days=DAYS - 1))),
        "sessions: changed within a week": page(SessionFilter(updated_since=week, updated_until=END)),
        "sessions: frequent text": page(SessionFilter(text="payment")),
        "sessions: rare text": page(SessionFilter(text=NEEDLE)),
        "sessions: text that isn't there": page(SessionFilter(text="no such words")),
        "sessions: a tool failed": page(SessionFilter(failed_tool="restart_service")),
        "sessions: status, reason, text, time": page(
            SessionFilter(status="done", stop_reason="cancelled", text="登录", created_since=month)
        ),
        "inbox: all": journal.open_interrupts,
        "inbox: 50 of mine, and how many": lambda: (
            journal.open_interrupts(wanted=InboxFilter(MINE), limit=PAGE),
            journal.count_open_interrupts(InboxFilter(MINE)),
            journal.inbox_choices(MINE),
        ),
        "inbox: tool and risk": lambda: journal.open_interrupts(
            wanted=InboxFilter(tool="restart_service", risk="high"), limit=PAGE
        ),
        "session: all that a page shows": lambda: (
            journal.session(busy.id),
            journal.runs(busy.id),
            journal.calls(busy.id),
            journal.interrupts(busy.id),
            journal.read(busy.id),
        ),
        "numbers: all": journal.numbers,
        "numbers: a month": lambda: journal.numbers(month, END),
        "numbers: a week": lambda: journal.numbers(week, END),
        "budget: a session": lambda: journal.spent(busy.id),
        "budget: a busy person, a day": lambda: journal.spent_by("user0", END - timedelta(days=1)),
        "budget: a busy person, ever": lambda: journal.spent_by("user0", END - timedelta(days=DAYS)),
    }


def milliseconds(read: Callable[[], object]) -> tuple[list[float], list[float]]:
    """How long each of several reads took, by the clock and in processor time."""
    by_clock, by_processor = [], []
    for _ in range(REPEATS):
        began, busy = time.perf_counter(), time.process_time()
        read()
        by_clock.append((time.perf_counter() - began) * 1000)
        by_processor.append((time.process_time() - busy) * 1000)
    return by_clock, by_processor


def measure(journal: SqlJournal) -> bool:
    """Print each page's times; whether all are short enough."""
    print(f"{'read':40} {'median ms':>10} {'worst ms':>10} {'busy ms':>10}")
    good = True
    for name, read in pages(journal).items():
        taken, busy = milliseconds(read)
        median = statistics.median(taken)
        good = good and median < MOST_MILLISECONDS
        mark = "" if median < MOST_MILLISECONDS else "  too slow"
        print(f"{name:40} {median:10.1f} {max(taken):10.1f} {statistics.median(busy):10.1f}{mark}")
    return good


def size(journal: SqlJournal) -> str:
    """How much there is to read."""
    with journal._database.read() as connection:  # noqa: SLF001
        counts = {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (*schema.READ_MODELS, schema.entries)
        }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def main() -> int:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=2_000, help="how many of them wait for a person")
    parser.add_argument("--keep", type=Path, help="a file for the journal; when it is there already, it is read")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="opspilot-bench-") as folder:
        file = options.keep or Path(folder) / "journal.sqlite"
        is_new = not file.exists()
        journal = SqlJournal(f"sqlite:///{file.resolve()}")
        try:
            began = time.perf_counter()
            if is_new:
                fill(journal, options.sessions, options.questions)
            seconds = time.perf_counter() - began
            megabytes = file.stat().st_size / 1024 / 1024
            print(f"{size(journal)}; {megabytes:,.0f} MB, filled in {seconds:.0f} s")
            good = measure(journal)
        finally:
            journal.close()
    print(f"bound: each median under {MOST_MILLISECONDS} ms")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
