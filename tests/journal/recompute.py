"""The read models once more, computed in memory from a session's entries alone: slow, plain, and independent."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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

Row = dict[str, Json]


@dataclass(frozen=True)
class Began:
    """What `begin_run` was told."""

    run: str
    at: datetime
    requester: str
    name: str


@dataclass
class Tables:
    """Every column of every read model of a session, but the session's id. Each row is under its key."""

    session: Row
    runs: dict[str, Row]
    calls: dict[tuple[str, str], Row]
    interrupts: dict[tuple[str, str], Row]
    spending: dict[int, Row]


def recompute(session: str, entries: Sequence[Entry], runs: Sequence[Began], changed: Sequence[datetime]) -> Tables:
    """`runs` in the order in which they began; the last one is current. `changed`: when there was a write."""
    calls: dict[tuple[str, str], Row] = {}
    interrupts: dict[tuple[str, str], Row] = {}
    spending: dict[int, Row] = {}
    for began in runs:
        of_run = [entry for entry in entries if entry.run == began.run]
        calls |= {(began.run, row["call"]): row for row in _calls(began, of_run)}
        interrupts |= {(began.run, row["interrupt"]): row for row in _interrupts(of_run)}
        spending |= dict(_spending(began, of_run))
    by_run = {
        began.run: _run(
            began,
            [entry for entry in entries if entry.run == began.run],
            [row for (run, _), row in calls.items() if run == began.run],
            [row for seq, row in spending.items() if entries[seq - 1].run == began.run],
        )
        for began in runs
    }
    current = by_run[runs[-1].run]
    waiting = sum(1 for (run, _), row in interrupts.items() if run == runs[-1].run and row["state"] == "open")
    questions = [entry.data["text"][:200] for entry in entries if entry.kind is Kind.USER_MESSAGE]
    title = next(filter(None, questions), "")
    of_session = {
        "owner": runs[0].requester,
        "owner_name": _owner_name(runs),
        "title": title,
        "searchable": f"{session}\n{title}".casefold(),
        "status": "done" if current["stopped_at"] else "waiting" if waiting else "running",
        "stop_reason": current["stop_reason"],
        "current_run": runs[-1].run,
        "model": current["model"],
        "waiting": waiting,
        "created_at": runs[0].at,
        "updated_at": max(changed),
        "last_seq": len(entries),
        "steps": sum(row["steps"] for row in by_run.values()),
        "tokens": sum(row["input_tokens"] + row["output_tokens"] for row in by_run.values()),
        "cost": _sum_of_costs(by_run.values()),
    }
    return Tables(of_session, by_run, calls, interrupts, spending)


def _owner_name(runs: Sequence[Began]) -> str:
    names = [began.name for began in runs if began.requester == runs[0].requester and began.name]
    return names[-1] if names else ""


def _run(began: Began, entries: Sequence[Entry], calls: Sequence[Row], spending: Sequence[Row]) -> Row:
    steps, model, cached = 0, "", 0
    last: Entry | None = None
    for entry in entries:
        if entry.kind in {Kind.RUN_STARTED, Kind.ASSISTANT_MESSAGE}:
            model = entry.data.get("model") or model
        if entry.kind is Kind.ASSISTANT_MESSAGE:
            steps = steps if entry.key.endswith("/final") else max(steps, entry.step or 0)
            cached += entry.data["usage"]["cached_tokens"]
        elif entry.kind is Kind.RUN_STOPPED:
            steps = max(steps, entry.data["steps"])
            cached = max(cached, entry.data["usage"]["cached_tokens"])
        if entry.kind in {Kind.RUN_STOPPED, Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE}:
            last = entry
    stop = last if last is not None and last.kind is Kind.RUN_STOPPED else None
    latencies = [entry.data.get("latency_ms") for entry in entries if entry.kind is Kind.ASSISTANT_MESSAGE]
    replies = [latency_ms for latency_ms in latencies if latency_ms is not None]
    costs = [entry for entry in entries if entry.data.get("cost") is not None]
    return {
        "requester": began.requester,
        "requester_name": began.name,
        "model": model,
        "day": began.at.date(),
        "started_at": began.at,
        "stopped_at": stop.at if stop else None,
        "stop_reason": stop.data["stop_reason"] if stop else None,
        "steps": steps,
        "input_tokens": sum(row["input_tokens"] for row in spending),
        "output_tokens": sum(row["output_tokens"] for row in spending),
        "cached_tokens": cached,
        "cost": (_sum_of_costs(spending) or 0.0) if costs else None,
        "model_calls": len(replies),
        "model_ms": sum(replies),
        "calls": len(calls),
        "calls_ok": sum(1 for row in calls if row["ok"]),
        "calls_failed": sum(1 for row in calls if row["went_well"] is False),
        "interrupts": sum(1 for entry in entries if entry.kind is Kind.INTERRUPT_OPENED),
    }


def _spending(began: Began, entries: Sequence[Entry]) -> Iterator[tuple[int, Row]]:
    tokens_in = tokens_out = 0
    cost_so_far = 0.0
    for entry in entries:
        if entry.kind not in {Kind.ASSISTANT_MESSAGE, Kind.RUN_STOPPED}:
            continue
        usage, cost = entry.data["usage"], entry.data.get("cost")
        more_in, more_out = usage["input_tokens"], usage["output_tokens"]
        if entry.kind is Kind.RUN_STOPPED:
            more_in, more_out = max(0, more_in - tokens_in), max(0, more_out - tokens_out)
            cost = None if cost is None else max(0.0, round(cost - cost_so_far, 6))
        tokens_in, tokens_out, cost_so_far = tokens_in + more_in, tokens_out + more_out, cost_so_far + (cost or 0.0)
        latency_ms = entry.data.get("latency_ms")
        if more_in or more_out or cost or latency_ms is not None:
            yield (
                entry.seq,
                {
                    "requester": began.requester,
                    "run_started_at": began.at,
                    "at": entry.at,
                    "took_ms": None if latency_ms is None else rounded(latency_ms),
                    "input_tokens": more_in,
                    "output_tokens": more_out,
                    "cost": cost,
                },
            )


def _calls(began: Began, entries: Sequence[Entry]) -> Iterator[Row]:
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
        took_ms: Json = data.get("duration_ms")
        yield {
            "call": proposed.call,
            "seq": proposed.seq,
            "step": proposed.step,
            "tool": proposed.data["name"],
            "effect": proposed.data["effect"],
            "gate": proposed.data["gate"],
            "rule": proposed.data["rule"],
            "state": "done" if settled else state,
            "ok": data.get("ok"),
            "went_well": True if data.get("ok") else False if data.get("errorCode") in RAN_AND_FAILED else None,
            "error_code": data.get("errorCode"),
            "duration_ms": took_ms,
            "took_ms": rounded(took_ms) if data.get("round") and (took_ms or data["ok"]) else None,
            "rounds": max(rounds, data.get("round", 0)),
            "run_started_at": began.at,
            "proposed_at": proposed.at,
            "settled_at": settled.at if settled else None,
        }


def _interrupts(entries: Sequence[Entry]) -> Iterator[Row]:
    for position, opened in enumerate(entries):
        if opened.kind is not Kind.INTERRUPT_OPENED:
            continue
        data, interrupt = opened.data, opened.data["interrupt"]
        about = [entry for entry in entries[position:] if entry.data.get("interrupt") == interrupt]
        end = next(
            (
                entry
                for entry in entries[position:]
                if entry.kind is Kind.RUN_STOPPED
                or (entry.kind is Kind.TOOL_RESULT and opened.call and entry.call == opened.call)
            ),
            None,
        )
        reminded = [entry for entry in about if entry.kind is Kind.INTERRUPT_REMINDED]
        escalated = [entry for entry in about if entry.kind is Kind.INTERRUPT_ESCALATED]
        yield {
            "interrupt": interrupt,
            "seq": opened.seq,
            "call": interrupt.split("#")[0],
            **{name: data[name] for name in ("kind", "reason", "payload", "tool", "arguments", "digest", "role")},
            "schema": data.get("schema", {}),
            "rule": data.get("rule", ""),
            "risk": data.get("risk", "medium"),
            "quorum": data.get("quorum", 1),
            "requester": data.get("requester", ""),
            "not_requester": data.get("terms", {}).get("not_requester", False),
            "due": datetime.fromisoformat(data["due"]) if data["due"] else None,
            "opened_at": opened.at,
            "reminded_at": reminded[-1].at if reminded else None,
            "escalated_at": escalated[-1].at if escalated else None,
            "escalated_role": escalated[-1].data["role"] if escalated else None,
            "approvals": [
                {
                    "by": entry.data["by"],
                    "name": entry.data["name"],
                    "at": entry.at.isoformat(),
                    "comment": entry.data["comment"],
                }
                for entry in about
                if entry.kind is Kind.INTERRUPT_APPROVED
            ],
            **_outcome(about, end),
        }


def _outcome(about: Sequence[Entry], end: Entry | None) -> Row:
    reply = next((one for one in about if one.kind in {Kind.INTERRUPT_ANSWERED, Kind.INTERRUPT_EXPIRED}), None)
    said = reply.data if reply else {}
    last = reply or end
    return {
        "state": "open" if last is None else "closed" if reply is None else reply.kind.value.removeprefix("interrupt."),
        "settled_at": last.at if last else None,
        **{name: said.get(name) for name in ("action", "by", "name", "method", "comment")},
        "asks_again": said.get("asks_again", False),
    }


def rounded(milliseconds: float) -> int:
    """To three digits, by arithmetic."""
    whole = round(milliseconds)
    unit: int = 10 ** max(0, len(str(whole)) - 3)
    return round(whole / unit) * unit


def _sum_of_costs(rows: Iterable[Row]) -> float | None:
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    return round(sum(costs), 6) if costs else None
