"""The read models once more, computed in memory from a session's entries alone: slow, plain, and independent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from opspilot.core.entries import Entry, Kind
from opspilot.core.messages import Json

RAN_AND_FAILED = {
    "invalid_json",
    "invalid_arguments",
    "unknown_tool",
    "timed_out",
    "tool_failed",
    "result_unusable",
    "outcome_unknown",
    "too_many_rounds",
}


@dataclass
class Facts:
    """What should stand in the tables. Keys are (run, call) and (run, interrupt)."""

    title: str
    status: str
    stop_reason: str | None
    steps: int
    tokens: int
    last_seq: int
    runs: dict[str, tuple[Json, ...]]
    calls: dict[tuple[str, str], tuple[Json, ...]]
    interrupts: dict[tuple[str, str], tuple[Json, ...]]


@dataclass
class _Call:
    tool: str
    history: list[Entry] = field(default_factory=list)


def recompute(entries: Sequence[Entry], runs: Sequence[str]) -> Facts:
    """`runs` in the order in which they began; the last one is current."""
    by_run = {run: [entry for entry in entries if entry.run == run] for run in runs}
    calls = {key: facts for run in runs for key, facts in _calls(run, by_run[run])}
    interrupts = {key: facts for run in runs for key, facts in _interrupts(run, by_run[run])}
    figures = {run: _run(by_run[run], [facts for key, facts in calls.items() if key[0] == run]) for run in runs}
    stopped_at, stop_reason = figures[runs[-1]][:2]
    waits = any(run == runs[-1] and facts[0] == "open" for (run, _), facts in interrupts.items())
    questions = [entry.data["text"] for entry in entries if entry.kind is Kind.USER_MESSAGE]
    return Facts(
        title=questions[0][:200] if questions else "",
        status="done" if stopped_at else "waiting" if waits else "running",
        stop_reason=stop_reason,
        steps=sum(facts[2] for facts in figures.values()),
        tokens=sum(facts[3] for facts in figures.values()),
        last_seq=len(entries),
        runs=figures,
        calls=calls,
        interrupts=interrupts,
    )


def _run(entries: Sequence[Entry], calls: Sequence[tuple[Json, ...]]) -> tuple[Json, ...]:
    steps = tokens = 0
    for entry in entries:
        if entry.kind is Kind.ASSISTANT_MESSAGE:
            tokens += _tokens(entry)
            steps = steps if entry.key.endswith("/final") else max(steps, entry.step or 0)
        elif entry.kind is Kind.RUN_STOPPED:
            tokens, steps = max(tokens, _tokens(entry)), max(steps, entry.data["steps"])
    last: Entry | None = None
    for entry in entries:
        if entry.kind in {Kind.RUN_STOPPED, Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE}:
            last = entry
    stop = last if last is not None and last.kind is Kind.RUN_STOPPED else None
    return (
        stop.at if stop else None,
        stop.data["stop_reason"] if stop else None,
        steps,
        tokens,
        len(calls),
        sum(1 for facts in calls if facts[1] is True),
        sum(1 for facts in calls if facts[2] in RAN_AND_FAILED),
        sum(1 for entry in entries if entry.kind is Kind.INTERRUPT_OPENED),
    )


def _calls(run: str, entries: Sequence[Entry]) -> Iterable[tuple[tuple[str, str], tuple[Json, ...]]]:
    for position, proposed in enumerate(entries):
        if proposed.kind is not Kind.TOOL_CALL:
            continue
        later = [entry for entry in entries[position:] if entry.call == proposed.call]
        settled = next((entry for entry in later if entry.kind is Kind.TOOL_RESULT), None)
        until = later[: later.index(settled) + 1] if settled else later
        state, rounds = "proposed", 0
        for entry in until:
            if entry.kind is Kind.TOOL_STARTED and not entry.data.get("void"):
                state, rounds = "started", max(rounds, entry.data["round"])
            elif entry.kind is Kind.INTERRUPT_OPENED:
                state, rounds = "interrupted", max(rounds, int(entry.data["interrupt"].split("#")[1]))
        data = settled.data if settled else {}
        yield (
            (run, proposed.call or ""),
            (
                "done" if settled else state,
                data.get("ok"),
                data.get("errorCode"),
                max(rounds, data.get("round", 0)),
                proposed.at,
                settled.at if settled else None,
                proposed.data["effect"],
                proposed.step,
            ),
        )


def _interrupts(run: str, entries: Sequence[Entry]) -> Iterable[tuple[tuple[str, str], tuple[Json, ...]]]:
    for position, opened in enumerate(entries):
        if opened.kind is not Kind.INTERRUPT_OPENED:
            continue
        interrupt = opened.data["interrupt"]
        later = entries[position:]
        reply = next(
            (
                entry
                for entry in later
                if entry.kind in {Kind.INTERRUPT_ANSWERED, Kind.INTERRUPT_EXPIRED}
                and entry.data["interrupt"] == interrupt
            ),
            None,
        )
        end = next(
            (
                entry
                for entry in later
                if entry.kind is Kind.RUN_STOPPED or (entry.kind is Kind.TOOL_RESULT and entry.call == opened.call)
            ),
            None,
        )
        yield (run, interrupt), (*_outcome(reply, end), opened.at, opened.data["digest"])


def _outcome(reply: Entry | None, end: Entry | None) -> tuple[str, datetime | None, str | None, str | None]:
    if reply is not None:
        state = "answered" if reply.kind is Kind.INTERRUPT_ANSWERED else "expired"
        return state, reply.at, reply.data.get("action"), reply.data.get("by")
    return ("closed", end.at, None, None) if end is not None else ("open", None, None, None)


def _tokens(entry: Entry) -> int:
    usage = entry.data["usage"]
    return int(usage["input_tokens"] + usage["output_tokens"])
