"""From a model's reply to the entries that record it: each call with its verdict, and what that alone settles."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from opspilot.core.calls import Gate, Verdict, call_name, decode_call, round_name
from opspilot.core.contract import CallModel
from opspilot.core.entries import Kind, NewEntry, call_key, interrupt_key
from opspilot.core.interrupts import InterruptType, Principal, shown_digest
from opspilot.core.messages import Finish, Json, ModelReply, ProtocolCall
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.outcomes import call_data, result_entry
from opspilot.core.ports import Tools
from opspilot.core.sensitive import pointers
from opspilot.core.terms import Terms

MUST_AGREE = "A person must agree before this runs."

CUT_OFF = "The reply was cut off before this call was complete, so it did not run. Make a shorter reply."


def reply_entries(
    order: CallModel,
    key: str,
    reply: ModelReply,
    principal: Principal,
    tools: Tools,
    at: datetime,
    more: Mapping[str, Json],
) -> list[NewEntry]:
    """The assistant entry, its calls, and the observations and questions that need no tool to run.

    `more` is what the caller knows of the model call itself: model, latency_ms, stop, detail.
    """
    calls = () if order.final else reply.calls
    entries = [
        NewEntry(
            key,
            Kind.ASSISTANT_MESSAGE,
            at,
            {
                "text": reply.text,
                "tool_calls": [{**asdict(call), **_sensitive(call, tools)} for call in calls],
                "provider": reply.provider,
                "opaque": dict(reply.opaque) if calls == reply.calls else {},
                "finish": reply.finish.value,
                "usage": asdict(reply.usage),
                **({"reasoning": reply.reasoning} if reply.reasoning else {}),
                **({"final": order.final.value} if order.final else {}),
                **more,
            },
            order.step,
        )
    ]
    for index, call in enumerate(calls, start=1):
        entries += _call_entries(order, index, call, reply.finish, principal, tools, at)
    return entries


def _sensitive(call: ProtocolCall, tools: Tools) -> dict[str, Json]:
    """Where the call holds what is sensitive, for whoever shows it."""
    decoded = decode_call(call).input
    places = pointers(tools.schema(call.name), call.arguments if decoded is None else decoded)
    return {"sensitive": places} if places else {}


def _call_entries(
    order: CallModel,
    index: int,
    call: ProtocolCall,
    finish: Finish,
    principal: Principal,
    tools: Tools,
    at: datetime,
) -> list[NewEntry]:
    name = call_name(order.step, index)
    decoded = decode_call(call)
    arguments: Json = call.arguments if decoded.input is None else decoded.input
    verdict = _verdict(order, index, call.name, decoded.input, decoded.parse_error, finish, principal, tools)
    summary = tools.summary(call.name, decoded.input or {})
    more = {"provider_id": call.id, "summary": summary, **_sensitive(call, tools)}
    data = call_data(verdict, name=call.name, arguments=arguments, **more)
    entries = [NewEntry(call_key(order.run, name), Kind.TOOL_CALL, at, data, order.step, name)]
    if verdict.code is not None:
        observation = Observation.failure(verdict.code, verdict.message)
        entries.append(result_entry(order.run, name, 0, observation, at))
    elif verdict.gate is Gate.CONFIRM:
        question = interrupt_data(
            order.run,
            round_name(name, 0),
            call.name,
            arguments if verdict.arguments is None else dict(verdict.arguments),
            kind=InterruptType.CONFIRM_RISKY,
            reason=verdict.message or MUST_AGREE,
            asking=Asking(verdict.rule, verdict.terms, principal.id, at, tools.schema(call.name)),
        )
        question["held"] = True
        key = interrupt_key(order.run, name, 0)
        entries.append(NewEntry(key, Kind.INTERRUPT_OPENED, at, question, order.step, name))
    return entries


def _verdict(
    order: CallModel,
    index: int,
    name: str,
    arguments: dict[str, Json] | None,
    parse_error: str,
    finish: Finish,
    principal: Principal,
    tools: Tools,
) -> Verdict:
    known = tools.judge(name, arguments or {}, principal)

    def settled(gate: Gate, rule: str, code: ErrorCode, message: str = "") -> Verdict:
        return Verdict(gate, effect=known.effect, rule=rule, code=code, message=message)

    only = order.mode.only
    if only is not None and (name != only or index > 1):
        return settled(Gate.DENY, "serial", ErrorCode.SKIPPED_IN_SERIAL_STEP)
    if finish in (Finish.LENGTH, Finish.CONTENT_FILTER, Finish.REFUSAL):
        return settled(Gate.INVALID, "whole-reply", ErrorCode.INVALID_JSON, CUT_OFF)
    if arguments is None and known.code is not ErrorCode.UNKNOWN_TOOL:
        return settled(Gate.INVALID, "json", ErrorCode.INVALID_JSON, parse_error)
    return known


@dataclass(frozen=True)
class Asking:
    """What is known of a question beside its content: rule, terms, who asked for the run, when, the tool's schema."""

    rule: str
    terms: Terms
    requester: str
    at: datetime
    schema: Mapping[str, Json] = field(default_factory=dict)


def interrupt_data(
    run: str,
    interrupt: str,
    tool: str,
    arguments: Json,
    *,
    kind: InterruptType,
    reason: str,
    asking: Asking,
    payload: Mapping[str, Json] | None = None,
) -> dict[str, Json]:
    """The data of an `interrupt.opened` entry. `digest` is what an approval of it must carry.

    Whoever asks because of a verdict adds `held`: then `arguments` are exactly those that the call will run with.
    `due` is when it expires, `schema` the JSON Schema of the tool's arguments, for whoever edits them in a form, and
    `sensitive` where the arguments hold what is hidden from everybody.
    """
    seconds_left = asking.terms.expires_after_seconds
    places = pointers(asking.schema, arguments)
    return {
        "interrupt": interrupt,
        "kind": kind.value,
        "reason": reason,
        "payload": dict(payload or {}),
        "tool": tool,
        "arguments": arguments,
        "digest": shown_digest(run, interrupt, tool, arguments),
        "rule": asking.rule,
        "role": asking.terms.role,
        "risk": asking.terms.risk.value,
        "quorum": asking.terms.quorum,
        "requester": asking.requester,
        "terms": asdict(asking.terms),
        "due": None if seconds_left is None else (asking.at + timedelta(seconds=seconds_left)).isoformat(),
        "schema": dict(asking.schema),
        "duration_ms": 0,
        **({"sensitive": places} if places else {}),
    }
