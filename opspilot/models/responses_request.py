"""Our conversation as the JSON body of an OpenAI Responses request.

Pure. Nothing is stored at the provider: the whole conversation goes along each time, and reasoning comes and goes
encrypted (docs: "Reasoning models", "Conversation state").
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from opspilot.core.calls import decode_call
from opspilot.core.messages import (
    AssistantMessage,
    Json,
    ModelRequest,
    ProtocolCall,
    SystemMessage,
    ToolSpec,
    UserMessage,
)
from opspilot.models.mending import mend
from opspilot.models.pairing import Turn, paired
from opspilot.models.wire_names import WireIds, is_plain, short_hash, wire_name, wire_schema

_Item = dict[str, Json]
_THINKS_NOT = re.compile(r"(^|/)(gpt-3|gpt-4|chatgpt)|-chat\b", re.IGNORECASE)


@dataclass(frozen=True)
class ResponsesDialect:
    """`provider` tells whose opaque items go back to it; `server` is for people."""

    provider: str
    server: str
    encrypted_reasoning: bool
    plain_reasoning: bool

    @classmethod
    def of(cls, base_url: str, model: str) -> "ResponsesDialect":
        """Told from the address and the model's name.

        Models that don't think answer 400, "Encrypted content is not supported with this model" (pydantic/pydantic-ai
        #2867). OpenAI and Azure take no readable reasoning back (microsoft/agent-framework-go#784); others, such as
        vLLM, have no other.
        """
        address = urlsplit(base_url)
        host = (address.hostname or "").lower()
        return cls(
            provider=f"openai-responses:{host}",
            server=f"{host}:{address.port}" if address.port else host,
            encrypted_reasoning=not _THINKS_NOT.search(model),
            plain_reasoning=not host.endswith((".openai.com", ".openai.azure.com")),
        )


def encode(request: ModelRequest, model: str, dialect: ResponsesDialect, *, stream: bool = True) -> dict[str, Json]:
    """The body of `POST /responses`. Order and bytes of what was sent before don't change from step to step."""
    turns = paired(request.messages)
    system = [turn.message.text for turn in turns if isinstance(turn.message, SystemMessage)]
    body: dict[str, Json] = {"model": model, "instructions": "\n\n".join(system), "input": _input(turns, dialect)}
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
        if request.force is not None:
            body["tool_choice"] = {"type": "function", "name": wire_name(request.force)}
        if not request.parallel:
            body["parallel_tool_calls"] = False
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    if dialect.encrypted_reasoning:
        body["include"] = ["reasoning.encrypted_content"]
    body["store"] = False
    if stream:
        body["stream"] = True
    mended: dict[str, Json] = mend({key: value for key, value in body.items() if value != ""})
    return mended


def _tool(spec: ToolSpec) -> _Item:
    # Left out, `strict` is true here, unlike in Chat Completions, and refuses every optional parameter.
    tool = {"type": "function", "name": wire_name(spec.name), "description": spec.description}
    return {key: value for key, value in tool.items() if value != ""} | {
        "parameters": wire_schema(spec),
        "strict": False,
    }


def _input(turns: tuple[Turn, ...], dialect: ResponsesDialect) -> list[_Item]:
    items: list[_Item] = []
    ids = WireIds(is_plain, lambda seed: f"call_{short_hash(seed, 12)}")
    for turn in turns:
        message = turn.message
        if isinstance(message, UserMessage) and message.text.strip():
            items.append(_message("user", "input_text", message.text))
        elif isinstance(message, AssistantMessage):
            wire_ids = [ids.take(call.id) for call in message.calls]
            calls = [_call(call, id_) for call, id_ in zip(message.calls, wire_ids, strict=True)]
            items += _assistant(message, calls, dialect)
            items += [
                {"type": "function_call_output", "call_id": id_, "output": result.text}
                for result, id_ in zip(turn.results, wire_ids, strict=True)
            ]
    return items


def _message(role: str, kind: str, text: str) -> _Item:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _call(call: ProtocolCall, id_: str) -> _Item:
    """Arguments as the model wrote them, if they are a JSON object; else wrapped in one, as for Chat Completions."""
    arguments = call.arguments if call.arguments.strip() else "{}"
    if decode_call(call).input is None:
        arguments = json.dumps({"invalid_arguments": call.arguments}, ensure_ascii=False)
    return {"type": "function_call", "call_id": id_, "name": wire_name(call.name), "arguments": arguments}


def _assistant(message: AssistantMessage, calls: list[_Item], dialect: ResponsesDialect) -> list[_Item]:
    """As it came, item for item, when it came from this server; else text and calls alone.

    In kept items a `function_call` stands for the next call.
    """
    kept = message.opaque.get("output") if message.provider == dialect.provider else None
    if not kept or sum(_is_call(item) for item in kept) != len(calls):
        text = [_message("assistant", "output_text", message.text)] if message.text.strip() else []
        return [*text, *calls]
    waiting = iter(calls)
    items = [_again(item, dialect) | (next(waiting) if _is_call(item) else {}) for item in kept]
    return [item for item in items if item]


def _again(item: Mapping[str, Json], dialect: ResponsesDialect) -> _Item:
    """What of an item goes back; empty for one that can't.

    Ids of what is not stored are looked up in vain, but for encrypted reasoning, which needs its own (langchain-ai/
    langchain#38372, openclaw/openclaw#90425). Reasoning that is only known by its id is "not found" (vercel/ai#7543).
    """
    fields = {key: value for key, value in item.items() if value is not None and key != "status"}
    kind = item.get("type")
    if kind in ("message", "function_call"):
        return {key: value for key, value in fields.items() if key != "id"}
    if kind != "reasoning":
        return fields | ({"status": item["status"]} if item.get("status") else {})
    if not dialect.plain_reasoning:
        fields.pop("content", None)
    fields.setdefault("summary", [])
    return fields if dialect.plain_reasoning or fields.get("encrypted_content") else {}


def _is_call(item: Mapping[str, Json]) -> bool:
    return bool(item.get("type") == "function_call")
