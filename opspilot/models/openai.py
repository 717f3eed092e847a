"""A model behind the OpenAI Chat Completions format, at any address: the thin shell around encode and decode."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from opspilot.core.errors import ModelError, ModelFault, UsageError
from opspilot.core.messages import Finish, ModelReply, ModelRequest
from opspilot.core.ports import Model
from opspilot.models.http import posted
from opspilot.models.openai_request import Dialect, encode, wire_names
from opspilot.models.openai_stream import ReplyDecoder

READ_TIMEOUT_SECONDS = 300.0
"""How long a server may be silent. Reasoning models think for minutes before their first byte."""


class OpenAIModel(Model):
    """`name` is the model's, `base_url` the address that `/chat/completions` is added to.

    `api_key` may be empty for servers that want none. `max_output_tokens` stands in where a request sets none.
    `extra_headers` are sent with each call. `stream_usage` False is for servers that refuse `stream_options`; None lets
    the address decide. Key and header values appear in no error and no representation.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        api_key: str = "",
        read_timeout_seconds: float = READ_TIMEOUT_SECONDS,
        max_output_tokens: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        stream_usage: bool | None = None,
    ) -> None:
        self._name = name
        self._url = _completions_url(base_url)
        self._read_timeout_seconds = read_timeout_seconds
        self._max_output_tokens = max_output_tokens
        dialect = Dialect.of(base_url, name)
        self._dialect = dialect if stream_usage is None else replace(dialect, stream_usage=stream_usage)
        own = {"content-type": "application/json", "accept": "text/event-stream, application/json;q=0.9"}
        secret = {"authorization": f"Bearer {api_key}"} if api_key else {}
        secret |= {key.lower(): value for key, value in (extra_headers or {}).items()}
        for key, value in secret.items():
            if not (value.isascii() and value.isprintable()):
                raise UsageError(
                    f"The header {key} for the model {name} has characters that can't be sent; check the key."
                )
        self._headers = own | secret
        self._secrets = [text for text in (api_key, *secret.values()) if len(text) >= 8]

    def __repr__(self) -> str:
        return f"OpenAIModel({self._name!r}, server={self._dialect.server!r})"

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._name

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """One streamed call; see `Model.reply`. An empty reply is an error: nobody could go on from it."""
        if request.max_output_tokens is None:
            request = replace(request, max_output_tokens=self._max_output_tokens)
        decoder = ReplyDecoder(self._dialect.provider, self._dialect.server, wire_names(request.tools))
        try:
            body = self._body(request)
            async with posted(
                self._url, self._headers, body, self._read_timeout_seconds, self._dialect.server
            ) as packets:
                async for packet in packets:
                    text = decoder.feed(packet)
                    if text:
                        on_text(text)
            reply = decoder.finish()
            self._refuse_empty(reply)
        except ModelError as error:
            raise replace(error, message=self._without_secrets(error.message), text=decoder.text) from None
        return reply

    def _body(self, request: ModelRequest) -> bytes:
        body = encode(request, self._name, self._dialect)
        try:
            return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError) as error:
            message = f"The request for the model {self._name} can't be written as JSON: {error}."
            raise ModelError(ModelFault.BAD_REQUEST, message, retryable=False) from None

    def _refuse_empty(self, reply: ModelReply) -> None:
        if reply.calls or reply.text.strip() or reply.finish in {Finish.CONTENT_FILTER, Finish.REFUSAL}:
            return
        what = "reached its output limit before it wrote anything" if reply.finish is Finish.LENGTH else "wrote nothing"
        message = f"The model {self._name} at {self._dialect.server} {what}."
        raise ModelError(ModelFault.BAD_REPLY, message, retryable=True)

    def _without_secrets(self, message: str) -> str:
        for secret in self._secrets:
            message = message.replace(secret, "[secret]")
        return message


def _completions_url(base_url: str) -> str:
    """`https://host/v1` -> `https://host/v1/chat/completions`; a query (Azure's `api-version`) stays behind it."""
    address = urlsplit(base_url)
    if address.scheme not in {"http", "https"} or not address.hostname:
        raise UsageError(f"The base URL {base_url!r} must look like https://host/v1.")
    return urlunsplit(address._replace(path=address.path.rstrip("/") + "/chat/completions"))
