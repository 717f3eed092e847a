"""Between entries and outcomes: an activity that finds its work recorded answers as it did when it did the work."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from opspilot.core.calls import Effect, Gate, Verdict, digest
from opspilot.core.contract import Asked, JudgedCall, ModelOutcome, ToolOutcome
from opspilot.core.conversation import observation_of
from opspilot.core.entries import Entry, Kind, NewEntry, result_key
from opspilot.core.limits import StopReason
from opspilot.core.messages import Json, Usage
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.terms import terms_of

MAX_ANSWER_CHARS = 8_000
"""What of an answer goes through Temporal's history; the journal has all of it."""


def result_entry(
    run: str, call: str, round_: int, observation: Observation, at: datetime, seconds: float = 0.0, **more: Json
) -> NewEntry:
    """The `tool.result` of a call. `round_` 0 says that no round of it ran."""
    data: dict[str, Json] = {"round": round_, "duration_ms": round(seconds * 1000), **more, **observation.as_json()}
    return NewEntry(result_key(run, call), Kind.TOOL_RESULT, at, data, int(call.partition(".")[0]), call, run)


def tool_outcome(entry: Entry) -> ToolOutcome:
    """The outcome that a `tool.result` or `interrupt.opened` stands for."""
    if entry.kind is Kind.INTERRUPT_OPENED:
        return ToolOutcome(
            ok=False,
            active_seconds=entry.data["duration_ms"] / 1000,
            digest=entry.data["digest"],
            interrupted=True,
            ladder=asked(entry).ladder,
        )
    observation = observation_of(entry)
    return ToolOutcome(
        ok=observation.ok,
        active_seconds=entry.data["duration_ms"] / 1000,
        digest=digest(observation.as_json()),
        code=observation.error_code,
    )


def asked(opened: Entry) -> Asked:
    """What the workflow needs to know of a question: an `interrupt.opened`."""
    return Asked(opened.data["digest"], terms_of(opened.data.get("terms", {})).ladder)


def call_data(verdict: Verdict, **more: Json) -> dict[str, Json]:
    """What a `tool.call` entry keeps of a verdict, beside what identifies the call."""
    return {
        **more,
        "effect": verdict.effect.value,
        "gate": verdict.gate.value,
        "rule": verdict.rule,
        "concurrent": verdict.concurrent,
        "polling": verdict.polling,
        "idempotent": verdict.idempotent,
        "timeout_seconds": verdict.timeout_seconds,
        "terms": asdict(verdict.terms),
    }


def model_outcome(reply: Sequence[Entry]) -> ModelOutcome:
    """The outcome of a recorded reply: `reply` holds its assistant entry and all that was written together with it."""
    assistant = next(entry for entry in reply if entry.kind is Kind.ASSISTANT_MESSAGE)
    calls = [entry for entry in reply if entry.kind is Kind.TOOL_CALL]
    codes = {entry.call: observation_of(entry).error_code for entry in reply if entry.kind is Kind.TOOL_RESULT}
    questions = {entry.call: asked(entry) for entry in reply if entry.kind is Kind.INTERRUPT_OPENED}
    data = assistant.data
    return ModelOutcome(
        usage=Usage(**data.get("usage", {})),
        active_seconds=data.get("latency_ms", 0) / 1000,
        calls=tuple(_judged(entry, codes.get(entry.call), questions.get(entry.call)) for entry in calls),
        answer="" if calls else _cut(data["text"]),
        stop=StopReason(data["stop"]) if data.get("stop") else None,
        detail=data.get("detail", ""),
        notice=data.get("notice", ""),
    )


def _cut(answer: str) -> str:
    if len(answer) <= MAX_ANSWER_CHARS:
        return answer
    return answer[:MAX_ANSWER_CHARS] + " … (the whole answer is in the journal)"


def _judged(entry: Entry, code: ErrorCode | None, question: Asked | None) -> JudgedCall:
    data = entry.data
    return JudgedCall(
        name=data["name"][:100],
        digest=digest(data["arguments"]),
        summary=data["summary"],
        gate=Gate(data["gate"]),
        effect=Effect(data["effect"]),
        concurrent=data["concurrent"],
        seconds=data["timeout_seconds"],
        polling=data["polling"],
        idempotent=data["idempotent"],
        code=code,
        shown=question.shown if question else "",
        ladder=question.ladder if question else (),
    )
