"""A model behind the Anthropic Messages format, at any address."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from opspilot.core.messages import AssistantMessage, Json, ModelReply, ModelRequest
from opspilot.models.anthropic_request import AnthropicDialect, encode
from opspilot.models.anthropic_stream import AnthropicDecoder
from opspilot.models.wire_model import DEFAULTS, WireModel, WireOptions, join_url
from opspilot.models.wire_names import wire_names

API_VERSION = "2023-06-01"
MAX_PAUSES = 8
"""A provider that runs tools of its own pauses long turns; so many times one turn is carried on."""


class AnthropicModel(WireModel):
    """`base_url` is the address that `/v1/messages` is added to, with or without its `/v1`; `api_key` may be empty."""

    def __init__(self, name: str, base_url: str, api_key: str = "", options: WireOptions = DEFAULTS) -> None:
        self._dialect = AnthropicDialect.of(base_url)
        version = "" if base_url.partition("?")[0].rstrip("/").endswith("/v1") else "/v1"
        url = join_url(base_url, f"{version}/messages")
        own_headers = {"anthropic-version": API_VERSION} | ({"x-api-key": api_key} if api_key else {})
        super().__init__(name, url, self._dialect.server, own_headers, options, api_key)

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """One reply, in as many calls as the provider pauses it into (`pause_turn`); see `Model.reply`."""
        reply, decoder = await self._call(request, on_text)
        for _ in range(MAX_PAUSES):
            if not cast("AnthropicDecoder", decoder).paused:
                break
            so_far = AssistantMessage(reply.text, (), reply.provider, reply.opaque)
            more, decoder = await self._call(replace(request, messages=(*request.messages, so_far)), on_text)
            reply = _joined(reply, more)
        self._refuse_empty(reply)
        return reply

    def _encode(self, request: ModelRequest) -> dict[str, Json]:
        return encode(request, self._name, self._dialect)

    def _extra(self, request: ModelRequest) -> Mapping[str, Json]:
        """A forced call and thinking exclude each other (docs: "Extended thinking with tool use")."""
        extra = super()._extra(request)
        return extra if request.force is None else {key: extra[key] for key in extra if key != "thinking"}

    def _decoder(self, request: ModelRequest) -> AnthropicDecoder:
        return AnthropicDecoder(self._dialect.provider, self._server, wire_names(request.tools))


def _joined(first: ModelReply, rest: ModelReply) -> ModelReply:
    content = [*_content(first), *_content(rest)]
    return replace(
        rest,
        text=first.text + rest.text,
        usage=first.usage + rest.usage,
        opaque={"content": content},
        reasoning=first.reasoning + rest.reasoning,
    )


def _content(reply: ModelReply) -> list[Json]:
    """Its blocks, also where text and calls say all."""
    text = [{"type": "text", "text": reply.text}] if reply.text.strip() else []
    return list(reply.opaque.get("content") or [*text, *({"type": "tool_use"} for _ in reply.calls)])
