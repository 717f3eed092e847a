"""A model behind one of the wire formats: the thin shell around encode and decode, the same for all of them.

Owns what is sent with each call (headers, extra fields), what is refused of a reply, and that no key is in any error.
"""

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit, urlunsplit

from opspilot.core.errors import ModelError, ModelFault, UsageError
from opspilot.core.messages import Finish, Json, ModelReply, ModelRequest
from opspilot.core.ports import Model
from opspilot.models.decoding import ReplyDecoder
from opspilot.models.http import DIRECT, Route, posted

READ_TIMEOUT_SECONDS = 300.0
"""How long a server may be silent. Reasoning models think for minutes before their first byte."""


@dataclass(frozen=True)
class WireOptions:
    """What can be chosen for a model, whatever its format.

    `max_output_tokens` stands in where a request sets none. `extra_headers` and `extra_body` are sent with each call;
    fields that the format sets itself win. `strict_tool_calls` refuses replies whose calls lack an id or a name or
    share an id, which are mended else.
    """

    read_timeout_seconds: float = READ_TIMEOUT_SECONDS
    max_output_tokens: int | None = None
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra_body: Mapping[str, Json] = field(default_factory=dict)
    strict_tool_calls: bool = False
    route: Route = DIRECT


DEFAULTS = WireOptions()


class WireModel(Model):
    """`name` is the model's. Key and header values appear in no error and no representation."""

    def __init__(
        self, name: str, url: str, server: str, own_headers: Mapping[str, str], options: WireOptions, api_key: str
    ) -> None:
        self._name = name
        self._url = url
        self._server = server
        self._options = options
        fixed = {"content-type": "application/json", "accept": "text/event-stream, application/json;q=0.9"}
        chosen = dict(own_headers) | {key.lower(): value for key, value in options.extra_headers.items()}
        for key, value in chosen.items():
            if not (value.isascii() and value.isprintable()):
                raise UsageError(
                    f"The header {key} for the model {name} has characters that can't be sent; check the key."
                )
        self._headers = fixed | chosen
        secrets = [api_key, *chosen.values(), *options.route.secrets]
        self._secrets = sorted((text for text in secrets if len(text) >= 8), key=len, reverse=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, server={self._server!r})"

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._name

    @abstractmethod
    def _encode(self, request: ModelRequest) -> dict[str, Json]:
        """The request's body in the wire format."""

    @abstractmethod
    def _decoder(self, request: ModelRequest) -> ReplyDecoder:
        """A decoder for the answer to this request."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """One streamed call; see `Model.reply`. An empty reply is an error: nobody could go on from it."""
        reply, _ = await self._call(request, on_text)
        self._refuse_empty(reply)
        return reply

    async def _call(self, request: ModelRequest, on_text: Callable[[str], None]) -> tuple[ModelReply, ReplyDecoder]:
        options = self._options
        if request.max_output_tokens is None:
            request = replace(request, max_output_tokens=options.max_output_tokens)
        decoder = self._decoder(request)
        try:
            body = self._body(request)
            timeout = options.read_timeout_seconds
            async with posted(self._url, self._headers, body, timeout, self._server, options.route) as packets:
                async for packet in packets:
                    text = decoder.feed(packet)
                    if text:
                        on_text(text)
            reply = decoder.finish()
            if options.strict_tool_calls and decoder.flaws:
                raise self._bad_reply(f"made {' and '.join(decoder.flaws)}, which strict_tool_calls refuses.")
        except ModelError as error:
            raise replace(error, message=self._without_secrets(error.message), text=decoder.text) from None
        return reply, decoder

    def _extra(self, request: ModelRequest) -> Mapping[str, Json]:
        """The extra fields for this request."""
        del request
        return self._options.extra_body

    def _body(self, request: ModelRequest) -> bytes:
        try:
            whole = {**self._extra(request), **self._encode(request)}
            return json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError) as error:
            message = f"The request for the model {self._name} can't be written as JSON: {error}."
            raise ModelError(ModelFault.BAD_REQUEST, message, retryable=False) from None

    def _refuse_empty(self, reply: ModelReply) -> None:
        if reply.calls or reply.text.strip() or reply.finish in {Finish.CONTENT_FILTER, Finish.REFUSAL}:
            return
        cut = reply.finish is Finish.LENGTH
        raise self._bad_reply("reached its output limit before it wrote anything." if cut else "wrote nothing.")

    def _bad_reply(self, what: str) -> ModelError:
        return ModelError(ModelFault.BAD_REPLY, f"The model {self._name} at {self._server} {what}", retryable=True)

    def _without_secrets(self, message: str) -> str:
        for secret in self._secrets:
            message = message.replace(secret, "[secret]")
        return message


def join_url(base_url: str, path: str) -> str:
    """`https://host/v1` and `/chat/completions` in one; a query (Azure's `api-version`) stays behind both."""
    address = urlsplit(base_url)
    if address.scheme not in {"http", "https"} or not address.hostname:
        raise UsageError(f"The base URL {base_url!r} must look like https://host/v1.")
    return urlunsplit(address._replace(path=address.path.rstrip("/") + path))
