"""What the judge of the wire cases calls: the real adapters, with the judge's words translated into ours and back."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from opspilot.core.calls import decode_call
from opspilot.core.errors import ModelError, ModelFault
from opspilot.core.messages import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    ProtocolCall,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from opspilot.core.retry import classify
from opspilot.models import anthropic_request, openai_request
from opspilot.models.anthropic_request import AnthropicDialect
from opspilot.models.anthropic_stream import AnthropicDecoder
from opspilot.models.openai_request import Dialect
from opspilot.models.openai_stream import OpenAIDecoder
from opspilot.models.wire_names import wire_names

AdapterError = ModelError
HOME = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}

KINDS = {
    ModelFault.RATE_LIMIT: "rate_limit",
    ModelFault.QUOTA: "auth",
    ModelFault.OVERLOADED: "overloaded",
    ModelFault.AUTH: "auth",
    ModelFault.BAD_REQUEST: "bad_request",
    ModelFault.CONTEXT_LENGTH: "context_length",
    ModelFault.SERVER: "server",
    ModelFault.NETWORK: "server",
    ModelFault.BAD_REPLY: "server",
}


def read_stream(provider: str, packets: list[bytes], tools: list[dict[str, Any]], content_type: str) -> dict[str, Any]:
    return _as_turn(*_decode(provider, packets, _specs(tools), HOME[provider]))


def read_response(provider: str, body: dict[str, Any] | str, tools: list[dict[str, Any]]) -> dict[str, Any]:
    return _as_turn(*_decode(provider, [_bytes(body)], _specs(tools), HOME[provider]))


def build_request(
    provider: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]], options: dict[str, Any]
) -> dict[str, Any]:
    specs, model, stream = _specs(tools), options["model"], options.get("stream", True)
    request = ModelRequest(
        messages=tuple(_messages(messages, specs, provider, options["base_url"])),
        tools=() if options.get("tool_choice") == "none" else specs,
        force=_forced(options.get("tool_choice"), specs),
        parallel=options.get("parallel_tool_calls", True),
        max_output_tokens=options.get("max_tokens"),
    )
    if provider == "anthropic":
        dialect = AnthropicDialect.of(options["base_url"])
        return anthropic_request.encode(request, model, dialect, stream=stream)
    return openai_request.encode(request, model, Dialect.of(options["base_url"], model), stream=stream)


def classify_http(provider: str, status: int, headers: Mapping[str, str], body: Any, now: str | None) -> dict[str, Any]:
    at = datetime.fromisoformat(now) if now else datetime.now(UTC)
    failure = classify(status, headers, body, at)
    return {
        "retryable": failure.retryable,
        "retry_after_s": failure.retry_after_seconds,
        "kind": KINDS[failure.fault],
    }


def _decode(
    provider: str, packets: Sequence[bytes], specs: tuple[ToolSpec, ...], base_url: str
) -> tuple[ModelReply, bool]:
    """The reply, and whether the provider paused it: the adapter goes on by itself then."""
    decoder: AnthropicDecoder | OpenAIDecoder
    if provider == "anthropic":
        dialect = AnthropicDialect.of(base_url)
        decoder = AnthropicDecoder(dialect.provider, dialect.server, wire_names(specs))
    else:
        openai = Dialect.of(base_url, "m")
        decoder = OpenAIDecoder(openai.provider, openai.server, wire_names(specs))
    for packet in packets:
        decoder.feed(packet)
    reply = decoder.finish()
    return reply, isinstance(decoder, AnthropicDecoder) and decoder.paused


def _bytes(body: dict[str, Any] | str) -> bytes:
    return (body if isinstance(body, str) else json.dumps(body)).encode()


def _specs(tools: Sequence[Mapping[str, Any]]) -> tuple[ToolSpec, ...]:
    return tuple(ToolSpec(tool["name"], tool.get("description", ""), tool.get("parameters", {})) for tool in tools)


def _as_turn(reply: ModelReply, paused: bool) -> dict[str, Any]:
    calls = []
    for call in reply.calls:
        decoded = decode_call(call)
        arguments = decoded.input if decoded.input is not None else {"invalid": True, "raw": call.arguments}
        calls.append({"id": call.id, "name": call.name, "arguments": arguments})
    usage = {"input": reply.usage.input_tokens, "output": reply.usage.output_tokens}
    return {
        "text": reply.text,
        "tool_calls": calls,
        "finish": "pause" if paused else reply.finish.value,
        "reasoning": reply.reasoning or None,
        "usage": None if reply.usage == Usage() else usage,
    }


def _forced(choice: Any, specs: tuple[ToolSpec, ...]) -> str | None:
    if isinstance(choice, dict):
        name = choice.get("name") or choice.get("function", {}).get("name")
        return str(name)
    if choice in {"required", "any"} and len(specs) == 1:
        return specs[0].name
    return None


def _messages(
    messages: Sequence[Mapping[str, Any]], specs: tuple[ToolSpec, ...], provider: str, base_url: str
) -> list[Message]:
    ours: list[Message] = []
    for message in messages:
        role, content = message["role"], message.get("content", "")
        if role == "system":
            ours.append(SystemMessage(content))
        elif role == "user":
            ours.append(UserMessage(content))
        elif role == "tool":
            text = content if isinstance(content, str) else json.dumps(content)
            ours.append(ToolMessage(message["tool_call_id"], "", text, ok=not message.get("is_error", False)))
        elif "from_response" in message or "from_stream" in message:
            ours.append(_recorded(message, specs, provider, base_url))
        else:
            ours.append(AssistantMessage(content or "", tuple(_call(call) for call in message.get("tool_calls") or [])))
    return ours


def _call(call: Mapping[str, Any]) -> ProtocolCall:
    arguments = call["arguments"]
    raw = arguments["raw"] if arguments.get("invalid") is True else json.dumps(arguments, ensure_ascii=False)
    return ProtocolCall(call["id"], call["name"], raw)


def _recorded(
    message: Mapping[str, Any], specs: tuple[ToolSpec, ...], provider: str, base_url: str
) -> AssistantMessage:
    body = message["from_stream"] if "from_stream" in message else message["from_response"]
    origin = message.get("from_provider", provider)
    reply, _ = _decode(origin, [_bytes(body)], specs, base_url if origin == provider else HOME[origin])
    return AssistantMessage(reply.text, reply.calls, reply.provider, reply.opaque)
