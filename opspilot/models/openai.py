"""A model behind the OpenAI Chat Completions format, at any address."""

from dataclasses import replace

from opspilot.core.messages import Json, ModelRequest
from opspilot.models.decoding import ReplyDecoder
from opspilot.models.openai_request import Dialect, encode
from opspilot.models.openai_stream import OpenAIDecoder
from opspilot.models.wire_model import DEFAULTS, WireModel, WireOptions, join_url
from opspilot.models.wire_names import wire_names


class OpenAIModel(WireModel):
    """`base_url` is the address that `/chat/completions` is added to; `api_key` may be empty.

    `stream_usage` False is for servers that refuse `stream_options`; None lets the address decide.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        api_key: str = "",
        options: WireOptions = DEFAULTS,
        *,
        stream_usage: bool | None = None,
    ) -> None:
        dialect = Dialect.of(base_url, name)
        self._dialect = dialect if stream_usage is None else replace(dialect, stream_usage=stream_usage)
        url = join_url(base_url, "/chat/completions")
        own_headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        super().__init__(name, url, dialect.server, own_headers, options, api_key)

    def _encode(self, request: ModelRequest) -> dict[str, Json]:
        return encode(request, self._name, self._dialect)

    def _decoder(self, request: ModelRequest) -> ReplyDecoder:
        return OpenAIDecoder(self._dialect.provider, self._server, wire_names(request.tools))
