"""Entries as the activities write them, cut down to what the journal looks at."""

from datetime import UTC, datetime, timedelta

from opspilot.core.calls import limit_interrupt, round_name
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
    result_key,
    started_key,
    stopped_key,
    tool_started_key,
)
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
ANN = Principal("ann", "Ann")


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def message(id: str, text: str = "What is wrong?", when: datetime = NOON) -> NewEntry:
    return NewEntry(message_key(id), Kind.USER_MESSAGE, when, {"id": id, "text": text})


def run_started(run: str, *, user: Principal = ANN, model: str = "m1", when: datetime = NOON) -> NewEntry:
    who = {"id": user.id, "name": user.name, "roles": list(user.roles)}
    return NewEntry(started_key(run), Kind.RUN_STARTED, when, {"user": who, "model": model})


def reply(
    run: str,
    step: int,
    *,
    final: bool = False,
    tokens: tuple[int, int] = (0, 0),
    latency_ms: int | None = None,
    cost: float | None = None,
    model: str | None = None,
    when: datetime = NOON,
) -> NewEntry:
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1], "cached_tokens": tokens[0] // 2}
    known = {"latency_ms": latency_ms, "cost": cost, "model": model}
    data: dict[str, Json] = {
        "text": "…",
        "tool_calls": [],
        "usage": usage,
        **{name: one for name, one in known.items() if one is not None},
    }
    return NewEntry(assistant_key(run, step, final=final), Kind.ASSISTANT_MESSAGE, when, data, step)


def call(
    run: str, name: str, *, tool: str = "look", effect: str = "read", gate: str = "run", when: datetime = NOON
) -> NewEntry:
    data = {"name": tool, "effect": effect, "arguments": {"of": name}, "gate": gate, "rule": "reads run"}
    return NewEntry(call_key(run, name), Kind.TOOL_CALL, when, data, _step(name), name)


def started(run: str, name: str, round_: int = 1, *, void: bool = False, when: datetime = NOON) -> NewEntry:
    data: dict[str, Json] = {"round": round_, "void": True} if void else {"round": round_}
    return NewEntry(tool_started_key(run, name, round_), Kind.TOOL_STARTED, when, data, _step(name), name)


def result(
    run: str,
    name: str,
    *,
    code: str | None = None,
    round_: int = 1,
    took_ms: float = 12,
    when: datetime = NOON,
    into: str | None = None,
) -> NewEntry:
    outcome: dict[str, Json] = (
        {"ok": True, "data": {}} if code is None else {"ok": False, "errorCode": code, "message": ""}
    )
    data = {"round": round_, "duration_ms": took_ms, **outcome}
    return NewEntry(result_key(run, name), Kind.TOOL_RESULT, when, data, _step(name), name, into)


def question(
    run: str, name: str, round_: int = 1, *, due: str | None = None, when: datetime = NOON, **more: Json
) -> NewEntry:
    data = {
        "interrupt": round_name(name, round_),
        "kind": "confirm_risky",
        "reason": "This restarts the service.",
        "payload": {"impact": "high"},
        "arguments": {"service": "payment"},
        "digest": "d1",
        "role": "",
        "due": due,
        "tool": "restart",
        **more,
    }
    return NewEntry(interrupt_key(run, name, round_), Kind.INTERRUPT_OPENED, when, data, _step(name), name)


def limit_question(run: str, nth: int = 1, *, when: datetime = NOON) -> NewEntry:
    asked = question(run, "1.1", nth, when=when).data
    data = {
        **asked,
        "interrupt": limit_interrupt(nth),
        "tool": "",
        "arguments": {"limit": "max_steps"},
        "rule": "limit",
    }
    return NewEntry(interrupt_key(run, "limit", nth), Kind.INTERRUPT_OPENED, when, data)


def approved(
    run: str, name: str, round_: int = 1, nth: int = 1, *, by: str = "cleo", when: datetime = NOON
) -> NewEntry:
    interrupt = round_name(name, round_)
    data = {"interrupt": interrupt, "by": by, "name": by.title(), "comment": "Fine.", "approvals": nth, "quorum": 2}
    return NewEntry(approved_key(run, interrupt, nth), Kind.INTERRUPT_APPROVED, when, data, _step(name), _call(name))


def climbed(run: str, name: str, round_: int = 1, *, role: str | None = None, when: datetime = NOON) -> NewEntry:
    """Reminded; with a role: escalated."""
    interrupt = round_name(name, round_)
    kind = Kind.INTERRUPT_REMINDED if role is None else Kind.INTERRUPT_ESCALATED
    data: dict[str, Json] = {"interrupt": interrupt} if role is None else {"interrupt": interrupt, "role": role}
    return NewEntry(climbed_key(run, interrupt, kind), kind, when, data, _step(name), _call(name))


def answered(
    run: str, name: str, round_: int = 1, *, action: str = "approve", when: datetime = NOON, **more: Json
) -> NewEntry:
    interrupt = round_name(name, round_)
    who = {"by": "ben", "name": "Ben", "method": "local"}
    data = {"interrupt": interrupt, "action": action, **who, "comment": "Go on.", **more}
    return NewEntry(answered_key(run, interrupt), Kind.INTERRUPT_ANSWERED, when, data, _step(name), _call(name))


def expired(run: str, name: str, round_: int = 1, *, when: datetime = NOON) -> NewEntry:
    interrupt = round_name(name, round_)
    data = {"interrupt": interrupt, "stops": False}
    return NewEntry(answered_key(run, interrupt), Kind.INTERRUPT_EXPIRED, when, data, _step(name), _call(name))


def stopped(
    run: str,
    nth: int = 1,
    *,
    reason: str = "answered",
    steps: int = 0,
    tokens: tuple[int, int] = (0, 0),
    cost: float | None = None,
    when: datetime = NOON,
    into: str | None = None,
) -> NewEntry:
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1], "cached_tokens": 0}
    data: dict[str, Json] = {"stop_reason": reason, "answer": "", "message": "", "steps": steps, "usage": usage}
    if cost is not None:
        data["cost"] = cost
    return NewEntry(stopped_key(run, nth), Kind.RUN_STOPPED, when, data, run=into)


def _step(name: str) -> int | None:
    return int(name.partition(".")[0]) if "." in name else None


def _call(name: str) -> str | None:
    return name if "." in name else None
