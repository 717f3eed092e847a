"""Entries as the activities write them, cut down to what the journal looks at."""

from datetime import UTC, datetime, timedelta

from opspilot.core.calls import round_name
from opspilot.core.entries import (
    Kind,
    NewEntry,
    answered_key,
    assistant_key,
    call_key,
    interrupt_key,
    message_key,
    result_key,
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


def reply(
    run: str, step: int, *, final: bool = False, tokens: tuple[int, int] = (0, 0), when: datetime = NOON
) -> NewEntry:
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1], "cached_tokens": 0}
    key = assistant_key(run, step, final=final)
    return NewEntry(key, Kind.ASSISTANT_MESSAGE, when, {"text": "…", "tool_calls": [], "usage": usage}, step)


def call(run: str, name: str, *, effect: str = "read", gate: str = "run", when: datetime = NOON) -> NewEntry:
    data = {"name": "look", "effect": effect, "arguments": {"of": name}, "gate": gate, "rule": "reads run"}
    return NewEntry(call_key(run, name), Kind.TOOL_CALL, when, data, _step(name), name)


def started(run: str, name: str, round_: int = 1, *, void: bool = False, when: datetime = NOON) -> NewEntry:
    data: dict[str, Json] = {"round": round_, "void": True} if void else {"round": round_}
    return NewEntry(tool_started_key(run, name, round_), Kind.TOOL_STARTED, when, data, _step(name), name)


def result(
    run: str, name: str, *, code: str | None = None, round_: int = 1, when: datetime = NOON, into: str | None = None
) -> NewEntry:
    outcome: dict[str, Json] = (
        {"ok": True, "data": {}} if code is None else {"ok": False, "errorCode": code, "message": ""}
    )
    data = {"round": round_, "duration_ms": 12, **outcome}
    return NewEntry(result_key(run, name), Kind.TOOL_RESULT, when, data, _step(name), name, into)


def question(run: str, name: str, round_: int = 1, *, due: str | None = None, when: datetime = NOON) -> NewEntry:
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
    }
    return NewEntry(interrupt_key(run, name, round_), Kind.INTERRUPT_OPENED, when, data, _step(name), name)


def answered(run: str, name: str, round_: int = 1, *, action: str = "approve", when: datetime = NOON) -> NewEntry:
    interrupt = round_name(name, round_)
    data = {"interrupt": interrupt, "action": action, "by": "ben", "comment": "Go on."}
    return NewEntry(answered_key(run, interrupt), Kind.INTERRUPT_ANSWERED, when, data, _step(name), name)


def expired(run: str, name: str, round_: int = 1, *, when: datetime = NOON) -> NewEntry:
    interrupt = round_name(name, round_)
    key = f"{run}/{interrupt}/expired"
    return NewEntry(key, Kind.INTERRUPT_EXPIRED, when, {"interrupt": interrupt}, _step(name), name)


def stopped(
    run: str,
    nth: int = 1,
    *,
    reason: str = "answered",
    steps: int = 0,
    tokens: tuple[int, int] = (0, 0),
    when: datetime = NOON,
    into: str | None = None,
) -> NewEntry:
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1], "cached_tokens": 0}
    data = {"stop_reason": reason, "answer": "", "message": "", "steps": steps, "usage": usage}
    return NewEntry(stopped_key(run, nth), Kind.RUN_STOPPED, when, data, run=into)


def _step(name: str) -> int:
    return int(name.partition(".")[0])
