"""A model behind the OpenAI Responses format, at any address."""

from opspilot.core.messages import Json, ModelRequest
from opspilot.models.decoding import ReplyDecoder
from opspilot.models.responses_request import ResponsesDialect, encode
from opspilot.models.responses_stream import ResponsesDecoder
from opspilot.models.wire_model import DEFAULTS, WireModel, WireOptions, join_url
from opspilot.models.wire_names import wire_names


class ResponsesModel(WireModel):
    """`base_url` is the address that `/responses` is added to; `api_key` may be empty."""

    def __init__(self, name: str, base_url: str, api_key: str = "", options: WireOptions = DEFAULTS) -> None:
        self._dialect = ResponsesDialect.of(base_url, name)
        own_headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        super().__init__(name, join_url(base_url, "/responses"), self._dialect.server, own_headers, options, api_key)

    def _encode(self, request: ModelRequest) -> dict[str, Json]:
        return encode(request, self._name, self._dialect)

    def _decoder(self, request: ModelRequest) -> ReplyDecoder:
        return ResponsesDecoder(self._dialect.provider, self._server, wire_names(request.tools))
