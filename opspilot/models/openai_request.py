"""Our conversation as the JSON body of an OpenAI Chat Completions request, in the dialect of the server it goes to.

Pure. Knows the differences between servers that a request can trip over, each with where it was seen.
"""

import json
import re
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Literal
from urllib.parse import urlsplit

from opspilot.core.calls import decode_call
from opspilot.core.messages import (
    AssistantMessage,
    Json,
    ModelRequest,
    ProtocolCall,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from opspilot.models.mending import mend
from opspilot.models.pairing import Turn, paired
from opspilot.models.wire_names import WireIds, short_hash, wire_name, wire_schema

_NINE = re.compile(r"[a-zA-Z0-9]{9}")
_MISTRAL_MODEL = re.compile(
    r"(^|/)(open-)?(mistral|mixtral|ministral|codestral|devstral|magistral|pixtral)", re.IGNORECASE
)
_O_SERIES = re.compile(r"(^|/)o\d")


@dataclass(frozen=True)
class Dialect:
    """What one server wants differently. `provider` tells whose opaque fields go back to it; `server` is for people."""

    provider: str
    server: str
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    parallel_flag: bool = True
    nine_character_ids: bool = False

    @classmethod
    def of(cls, base_url: str, model: str) -> "Dialect":
        """Told from the address and the model's name.

        OpenAI and Azure reject `max_tokens` for their reasoning models, most others know nothing else (pydantic-ai
        `openai_supports_max_completion_tokens`). Mistral refuses `stream_options` and reports usage anyway
        (langfuse/langfuse#17699), and wants ids of nine characters, also behind OpenRouter
        (langchain-ai/langchain#24668, openclaw/openclaw#57672). OpenAI's o-series refuses `parallel_tool_calls`
        (run-llama/llama_index#20865).
        """
        address = urlsplit(base_url)
        host = (address.hostname or "").lower()
        openai = host == "api.openai.com" or host.endswith((".openai.com", ".openai.azure.com"))
        mistral = host == "mistral.ai" or host.endswith(".mistral.ai")
        return cls(
            provider=f"openai:{host}",
            server=f"{host}:{address.port}" if address.port else host,
            max_tokens_field="max_completion_tokens" if openai else "max_tokens",
            stream_usage=not mistral,
            parallel_flag=not _O_SERIES.search(model),
            nine_character_ids=mistral or bool(_MISTRAL_MODEL.search(model)),
        )


def encode(request: ModelRequest, model: str, dialect: Dialect, *, stream: bool = True) -> dict[str, Json]:
    """The body of `POST /chat/completions`.

    Order and bytes of what was sent before don't change from step to step, so that servers that cache prefixes can.
    """
    body: dict[str, Json] = {"model": model, "messages": _messages(request, dialect)}
    if stream:
        body["stream"] = True
        # Without it OpenAI and vLLM report no usage for a stream (open-webui/open-webui#23556); without `stream` it
        # is refused (BerriAI/litellm#5803).
        if dialect.stream_usage:
            body["stream_options"] = {"include_usage": True}
    # Nothing about tools may be sent when there are none: "[] is too short - 'tools'" (vllm-project/vllm#39780).
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
        if request.force is not None:
            body["tool_choice"] = {"type": "function", "function": {"name": wire_name(request.force)}}
        if not request.parallel and dialect.parallel_flag:
            body["parallel_tool_calls"] = False
    if request.max_output_tokens is not None:
        body[dialect.max_tokens_field] = request.max_output_tokens
    mended: dict[str, Json] = mend(body)
    return mended


def _tool(spec: ToolSpec) -> dict[str, Json]:
    function = {"name": wire_name(spec.name), "description": spec.description, "parameters": wire_schema(spec)}
    return {"type": "function", "function": {key: value for key, value in function.items() if value != ""}}


def _messages(request: ModelRequest, dialect: Dialect) -> list[Json]:
    turns = paired(request.messages)
    used_tools = _used_tools(turns)
    ids = _ids(dialect)
    messages: list[Json] = []
    for turn, in_tool_loop in zip(turns, used_tools, strict=True):
        message = turn.message
        if isinstance(message, SystemMessage):
            messages.append({"role": "system", "content": message.text})
        elif isinstance(message, UserMessage):
            messages.append({"role": "user", "content": message.text})
        elif isinstance(message, AssistantMessage):
            messages += _assistant(message, turn.results, ids, dialect, in_tool_loop=in_tool_loop)
    return messages


def _used_tools(turns: tuple[Turn, ...]) -> list[bool]:
    """For each message: did the model call a tool between the user messages around it?"""
    answer: list[bool] = []
    start = 0
    for end in range(len(turns) + 1):
        if end == len(turns) or isinstance(turns[end].message, UserMessage):
            stretch = turns[start:end]
            answer += [any(turn.results for turn in stretch)] * len(stretch)
            start = end
    return answer


def _assistant(
    message: AssistantMessage, results: tuple[ToolMessage, ...], ids: WireIds, dialect: Dialect, *, in_tool_loop: bool
) -> list[Json]:
    """The message and its results. Opaque fields only go back to the server that they came from."""
    if not (message.text or message.calls):
        return []
    # With calls, "" is what every server takes: null is rejected by Ollama and old LM Studio, a missing key by vLLM
    # gateways (SAIL-Research-Lab/cheetahclaws#72, agentjido/req_llm#966).
    sent: dict[str, Json] = {"role": "assistant", "content": message.text}
    opaque = message.opaque if message.provider == dialect.provider else {}
    # DeepSeek wants the reasoning back for every turn that used tools, for ever, and ignores it for the others, where
    # its older models answered 400 to it (api-docs.deepseek.com/guides/thinking_mode, vercel/ai#14739).
    fields = opaque.get("message", {}).items()
    sent |= {key: value for key, value in fields if key != "reasoning_content" or in_tool_loop}
    if not message.calls:
        return [sent]
    wire_ids = [ids.take(call.id) for call in message.calls]
    extras = chain(opaque.get("calls", ()), repeat({}))
    sent["tool_calls"] = [
        {
            "id": id_,
            "type": "function",
            "function": {"name": wire_name(call.name), "arguments": _arguments(call)},
            **extra,
        }
        for id_, call, extra in zip(wire_ids, message.calls, extras, strict=False)
    ]
    # Nothing but these three keys: strict servers answer 422 to others (vybestack/llxprt-code#114).
    answers = zip(wire_ids, results, strict=True)
    return [sent, *({"role": "tool", "tool_call_id": id_, "content": result.text} for id_, result in answers)]


def _arguments(call: ProtocolCall) -> str:
    """As the model wrote them, if they are a JSON object; else wrapped in one.

    DeepSeek, Meta and every proxy that parses them answer 400, for ever, to anything else (can1357/oh-my-pi#11104,
    truehot/LMLocal#8); "" becomes `{}` for the same reason (MetaFARS/codex-relay#57).
    """
    if not call.arguments.strip():
        return "{}"
    if decode_call(call).input is None:
        return json.dumps({"invalid_arguments": call.arguments}, ensure_ascii=False)
    return call.arguments


def _ids(dialect: Dialect) -> WireIds:
    """At most 40 characters (OpenAI: vercel/ai#5171), for Mistral exactly nine."""
    if dialect.nine_character_ids:
        return WireIds(lambda id_: bool(_NINE.fullmatch(id_)), lambda seed: short_hash(seed, 5)[:9])
    return WireIds(lambda id_: 0 < len(id_) <= 40, lambda seed: f"call_{short_hash(seed, 12)}")
