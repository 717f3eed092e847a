"""Sessions written into a journal as a worker writes them, for pages that need no worker: a pen, and some stories."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from opspilot.core.calls import Effect, Gate, Verdict, round_name
from opspilot.core.entries import (
    Kind,
    NewEntry,
    answered_key,
    approved_key,
    assistant_key,
    call_key,
    climbed_key,
    interrupt_key,
    message_key,
    started_key,
    stopped_key,
    tool_started_key,
)
from opspilot.core.interrupts import InterruptType, Principal
from opspilot.core.limits import Limits
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.outcomes import call_data, result_entry
from opspilot.core.terms import Risk, Terms
from opspilot.core.verdicts import Asking, interrupt_data
from opspilot.journal.store import SqlJournal

ANN = Principal("ann", "Ann Lee", ("operator",))
READ = Verdict(Gate.RUN, Effect.READ, concurrent=True, rule="reads")
WRITE = Verdict(Gate.CONFIRM, Effect.WRITE, rule="production-writes")


class Pen:
    """Writes one session. Time goes on by what is said to have passed."""

    def __init__(self, journal: SqlJournal, session: str, *, ago: timedelta = timedelta(minutes=20)) -> None:
        self.journal = journal
        self.session = session
        self.run = f"{session}-run-1"
        self.at = datetime.now(UTC) - ago
        self.who = ANN
        self.step = 0
        self.runs = 1

    def write(self, *entries: NewEntry, overflow: Mapping[str, str] | None = None) -> None:
        """Append these."""
        self.journal.append(self.session, self.run, entries, overflow)

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.at += timedelta(seconds=seconds)

    def ask(self, question: str, *, who: Principal = ANN, model: str = "large-2", limits: Limits = Limits()) -> None:
        """A run begins with a question."""
        self.who = who
        self.journal.begin_run(self.session, self.run, self.at, who)
        user = {"id": who.id, "name": who.name, "roles": list(who.roles)}
        about = {"user": user, "model": model, "tools": ["search_logs", "restart_service"], "limits": asdict(limits)}
        self.write(
            NewEntry(started_key(self.run), Kind.RUN_STARTED, self.at, about),
            NewEntry(message_key(f"{self.run}-1"), Kind.USER_MESSAGE, self.at, {"id": "1", "text": question}),
        )

    def again(self, question: str) -> None:
        """Another run of the session."""
        self.runs += 1
        self.run = f"{self.session}-run-{self.runs}"
        self.step = 0
        self.wait(60)
        self.ask(question, who=self.who)

    def think(self, said: str, *calls: tuple[str, Json, Verdict], cost: float | None = 0.0123, **more: Any) -> None:
        """A reply, and the calls that it proposes: name, arguments, verdict."""
        self.step += 1
        self.wait(2.4)
        usage = {"input_tokens": 2400 + 900 * self.step, "output_tokens": 180, "cached_tokens": 1024}
        reply: dict[str, Json] = {
            "text": said,
            "tool_calls": [{"id": f"c{at}", "name": name, "arguments": "{}"} for at, (name, *_) in enumerate(calls)],
            "usage": usage,
            "latency_ms": 2380,
            "model": "large-2",
            **({} if cost is None else {"cost": cost}),
            **more,
        }
        entries = [NewEntry(assistant_key(self.run, self.step), Kind.ASSISTANT_MESSAGE, self.at, reply, self.step)]
        for at, (name, arguments, verdict) in enumerate(calls, start=1):
            call = f"{self.step}.{at}"
            data = call_data(verdict, name=name, arguments=arguments)
            entries.append(NewEntry(call_key(self.run, call), Kind.TOOL_CALL, self.at, data, self.step, call))
        self.write(*entries)

    def begin(self, call: str, round_: int = 1) -> None:
        """A round of a call starts."""
        key = tool_started_key(self.run, call, round_)
        self.write(NewEntry(key, Kind.TOOL_STARTED, self.at, {"round": round_}, self.step, call))

    def end(
        self, call: str, data: Json = None, *, fault: tuple[ErrorCode, str] | None = None, seconds: float = 0.3,
        whole: str = "",
    ) -> None:  # fmt: skip
        """A call has its result; `whole` is the text of one that was trimmed, under the ref `<run>/<call>`."""
        self.wait(seconds)
        observation = Observation(ok=True, data=data) if fault is None else Observation.failure(*fault)
        entry = result_entry(self.run, call, 1, observation, self.at, seconds)
        self.write(entry, overflow={f"{self.run}/{call}": whole} if whole else None)

    def open(
        self,
        call: str,
        tool: str,
        arguments: Json,
        reason: str,
        *,
        kind: InterruptType = InterruptType.CONFIRM_RISKY,
        terms: Terms = Terms(),
        rule: str = "production-writes",
        schema: Mapping[str, Json] | None = None,
        payload: Mapping[str, Json] | None = None,
        due: timedelta | None = None,
        round_: int = 0,
    ) -> str:
        """A question is asked; gives its name."""
        asking = Asking(rule, terms, self.who.id, self.at, schema or {})
        name = round_name(call, round_)
        data = interrupt_data(self.run, name, tool, arguments, kind=kind, reason=reason, asking=asking, payload=payload)
        data["due"] = None if due is None else (datetime.now(UTC) + due).isoformat()
        place = (self.step, call) if "." in call else (None, None)
        key = interrupt_key(self.run, call, round_)
        self.write(NewEntry(key, Kind.INTERRUPT_OPENED, self.at, data, *place))
        return name

    def agree(self, interrupt: str, by: str, name: str, comment: str = "", quorum: int = 2) -> None:
        """One approval of several."""
        self.wait(40)
        data = {
            "interrupt": interrupt, "answer_id": f"{interrupt}-{by}", "by": by, "name": name, "method": "token",
            "comment": comment, "approvals": 1, "quorum": quorum,
        }  # fmt: skip
        key = approved_key(self.run, interrupt, 1)
        self.write(NewEntry(key, Kind.INTERRUPT_APPROVED, self.at, data, self.step, interrupt.partition("#")[0]))

    def answer(self, interrupt: str, action: str, by: str, name: str, comment: str = "", **more: Json) -> None:
        """A question is settled."""
        self.wait(70)
        data: dict[str, Json] = {
            "interrupt": interrupt, "answer_id": f"{interrupt}-{by}", "action": action, "by": by, "name": name,
            "method": "token", "comment": comment, "values": {}, "digest": "", "summary": "", "code": None,
            "approved": action == "approve", "asks_again": False, **more,
        }  # fmt: skip
        key = answered_key(self.run, interrupt)
        self.write(NewEntry(key, Kind.INTERRUPT_ANSWERED, self.at, data, self.step, interrupt.partition("#")[0]))

    def climb(self, interrupt: str, kind: Kind, role: str = "") -> None:
        """A question is reminded of, or asked of others, too."""
        self.wait(300)
        data = {"interrupt": interrupt, **({"role": role} if role else {})}
        key = climbed_key(self.run, interrupt, kind)
        self.write(NewEntry(key, kind, self.at, data, self.step, interrupt.partition("#")[0]))

    def stop(self, reason: str, message: str, answer: str = "", cost: float | None = 0.0371) -> None:
        """The run ends."""
        usage = {"input_tokens": 12_400, "output_tokens": 860, "cached_tokens": 4096}
        data = {"stop_reason": reason, "message": message, "answer": answer, "steps": self.step, "usage": usage}
        data |= {} if cost is None else {"cost": cost}
        key = stopped_key(self.run, 1)
        self.write(NewEntry(key, Kind.RUN_STOPPED, self.at, data))


RESTART_SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "service": {"type": "string", "description": "The service, as the catalogue names it."},
        "environment": {"type": "string", "enum": ["staging", "production"], "description": "Where."},
        "instances": {"type": "integer", "minimum": 1, "default": 1, "description": "How many at a time."},
        "drain": {"type": "boolean", "default": True, "description": "Let open requests end first."},
        "hosts": {"type": "array", "items": {"type": "string"}, "default": [], "description": "Only these."},
        "note": {"type": "string", "default": "", "description": "For the log of changes."},
    },
    "required": ["service", "environment"],
}
RESTART: dict[str, Json] = {"service": "payment", "environment": "production", "instances": 2, "drain": True}


def finished(journal: SqlJournal, session: str = "payment-errors") -> Pen:
    """A run that looked at several things side by side, met a failure, asked, and answered."""
    pen = Pen(journal, session, ago=timedelta(hours=3))
    pen.ask("Why did the payment service fail this morning, and what do the docs advise?")
    pen.think(
        "I'll look at the errors of the **payment** service and at what the docs say about them, at once.",
        ("search_logs", {"service": "payment", "level": "error", "since": "2h"}, READ),
        ("search_docs", {"query": "payment pool exhausted"}, READ),
        ("search_resource", {"kind": "Component", "name": "payment"}, READ),
    )
    for call in ("1.1", "1.2", "1.3"):
        pen.begin(call)
    pen.end("1.2", {"passages": [{"file": "payment.md", "heading": "Pool exhausted", "text": "Raise `pool.size`."}]})
    lines = [f"2026-11-30T07:{at:02}:11Z payment ERROR pool exhausted (waiting={at})" for at in range(40)]
    pen.end("1.1", {"matches": 412, "levels": {"error": 412}, "lines": "\n".join(lines)}, seconds=1.4)
    pen.end("1.3", fault=(ErrorCode.TOOL_FAILED, "The catalogue has no Component called payment."))
    pen.think(
        "The pool is exhausted. Before anything is changed I check how the service stands now.",
        ("http_check", {"url": "https://payment.internal/health"}, READ),
    )
    pen.begin("2.1")
    pen.end("2.1", {"status": 200, "latency_ms": 31})
    pen.think(
        "A restart frees the connections that leaked.",
        ("restart_service", RESTART, WRITE),
    )
    name = pen.open("3.1", "restart_service", RESTART, "Restart payment in production? Requests may fail.",
                    terms=Terms("approver"), schema=RESTART_SCHEMA)  # fmt: skip
    pen.answer(name, "approve", "ben", "Ben Ortiz", "Traffic is low, go ahead.")
    pen.begin("3.1")
    pen.end("3.1", {"restarted": 2, "took_seconds": 18.2}, seconds=18.2)
    answer = (
        "## What happened\n\nThe pool of **payment** was exhausted from 07:00 to 07:40 UTC: 412 errors, all of them "
        "`pool exhausted`.\n\n| when | errors |\n|---|---|\n| 07:00 | 180 |\n| 07:20 | 232 |\n\n"
        "1. I restarted two instances, and the health check is green again.\n"
        "2. The docs advise to raise `pool.size`, see [payment.md](https://docs.example/payment.md).\n"
    )
    pen.think(answer)
    pen.stop("answered", "Answered.", answer)
    return pen


def waiting(journal: SqlJournal, session: str = "restart-payment", **terms: Any) -> Pen:
    """A run that waits for the second of two approvals."""
    pen = Pen(journal, session, ago=timedelta(minutes=26))
    pen.ask("Payment is slow again. Restart it, one instance at a time.")
    pen.think(
        "The logs show leaked connections since 09:10. I propose a restart of **both** instances, one at a time.",
        ("search_logs", {"service": "payment", "level": "warn"}, READ),
        ("restart_service", RESTART, WRITE),
    )
    pen.begin("1.1")
    pen.end("1.1", {"matches": 3, "lines": "pool waiting=8\npool waiting=9\npool waiting=12"})
    asked = Terms(**{"role": "approver", "quorum": 2, "not_requester": True, "risk": Risk.HIGH, **terms})
    name = pen.open("1.2", "restart_service", RESTART, "Restart payment in production? Requests that it is serving "
                    "may fail.", terms=asked, schema=RESTART_SCHEMA, due=timedelta(minutes=34))  # fmt: skip
    if asked.quorum > 1:
        pen.agree(name, "ben", "Ben Ortiz", "Fine with me.")
    pen.climb(name, Kind.INTERRUPT_REMINDED)
    return pen


def missing(journal: SqlJournal, session: str = "scale-search") -> Pen:
    """A run that waits for parameters."""
    pen = Pen(journal, session, ago=timedelta(minutes=9))
    pen.ask("Scale the search service up.")
    given = {"service": "search"}
    pen.think("Where, and to how many?", ("scale_service", given, WRITE))
    pen.begin("1.1")
    form = {
        "type": "object",
        "properties": {
            "environment": {"enum": ["staging", "production"], "description": "Where it runs."},
            "replicas": {"type": "integer", "description": "How many there should be."},
        },
        "required": ["environment", "replicas"],
    }
    pen.open(
        "1.1", "scale_service", given, "In which environment, and to how many replicas?",
        kind=InterruptType.PARAMS_REQUIRED, terms=Terms("approver", risk=Risk.LOW), rule="reads", round_=1,
        payload={"fields": ["environment", "replicas"], "options": {"environment": ["staging", "production"]},
                 "schema": form},
        due=timedelta(hours=5),
    )  # fmt: skip
    return pen


def wondering(journal: SqlJournal, session: str = "which-window") -> Pen:
    """A run that waits for the answer to a question."""
    pen = Pen(journal, session, ago=timedelta(hours=2))
    pen.ask("Plan the upgrade of the database.")
    asked = {"question": "Which maintenance window should I plan for?", "options": ["Tuesday 02:00", "Sunday 04:00"]}
    pen.think("The upgrade takes about 20 minutes and needs a window.", ("ask_human", asked, READ))
    pen.begin("1.1")
    pen.open(
        "1.1", "ask_human", asked, "Which maintenance window should I plan for?", kind=InterruptType.QUESTION,
        payload={"fields": ["answer"], "options": {"answer": ["Tuesday 02:00", "Sunday 04:00"]},
                 "context": "The upgrade takes about 20 minutes; both windows are free."},
        rule="reads", round_=1,
    )  # fmt: skip
    return pen


def at_a_limit(journal: SqlJournal, session: str = "long-hunt") -> Pen:
    """A run that asks whether it may go on."""
    pen = Pen(journal, session, ago=timedelta(minutes=50))
    pen.ask("Find out why nightly backups take longer each week.", limits=Limits(steps=2))
    for call in ("1.1", "2.1"):
        pen.think("Looking further.", ("search_logs", {"service": "backup", "page": pen.step}, READ))
        pen.begin(call)
        pen.end(call, {"matches": 0})
    question = "The limit of this run is reached. Go on for 2 more steps?"
    pen.open("limit", "", {"limit": "max_steps", "more": 2}, question, rule="limit", round_=1)
    return pen


def seed(journal: SqlJournal) -> None:
    """One of each."""
    finished(journal)
    waiting(journal)
    missing(journal)
    wondering(journal)
    at_a_limit(journal)
