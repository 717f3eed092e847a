"""What all answers of model servers have in common: packets in, one `ModelReply` or a `ModelError` out.

Pure. What a server calls its answer is not believed: the first byte tells whether the body is a stream of events or one
JSON document (openclaw/openclaw#97474). What the events mean is each wire format's own, in the subclasses.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from opspilot.core.errors import ModelError, ModelFault
from opspilot.core.messages import Json, ModelReply
from opspilot.core.retry import classify
from opspilot.models.mending import ends_in_half, mend_text
from opspilot.models.sse import Event, EventReader
from opspilot.models.wire_names import CallNames, random_id

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""An error inside a 200 has no `Retry-After`, so no clock is needed to judge it."""


class ReplyDecoder(ABC):
    """One answer. `feed` it the packets, then take the reply from `finish`; both raise `ModelError`.

    `provider` marks whose opaque fields the reply carries, `server` is what people know it by, `declared` maps names on
    the wire to the names of our tools.
    """

    def __init__(
        self, provider: str, server: str, declared: Mapping[str, str], new_id: Callable[[], str] = random_id
    ) -> None:
        self._provider = provider
        self._server = server
        self._names = CallNames(declared, new_id)
        self._events: EventReader | None = None
        self._head = bytearray()
        self._is_document = False
        self._text: list[str] = []
        self._shown = 0
        self._done = False

    @abstractmethod
    def _carries(self, event: str) -> bool:
        """Can an event of this name hold a piece of the reply, so that it must be readable?"""

    @abstractmethod
    def _take(self, value: Json, event: str) -> None:
        """One event's JSON, or the whole document with no event name. `_done` set here ends the reading."""

    @abstractmethod
    def _is_reply(self, document: Json) -> bool:
        """Is this JSON document a reply of the wire format at all?"""

    @abstractmethod
    def _is_complete(self) -> bool:
        """Did the stream say, short of `_done`, that the reply is whole?"""

    @abstractmethod
    def _reply(self) -> ModelReply:
        """The reply, made of everything taken."""

    @property
    def text(self) -> str:
        """What has been delivered so far."""
        return mend_text("".join(self._text))

    @property
    def flaws(self) -> tuple[str, ...]:
        """What was wrong with the calls' ids and names, known after `finish`; all of it is mended in the reply."""
        return tuple(dict.fromkeys(self._names.flaws))

    def feed(self, packet: bytes) -> str:
        """Take in one packet of any size; returns the text that it added, ready to be shown."""
        if self._events is None:
            self._head += packet
            if self._is_document:
                return ""
            start = self._head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
            self._is_document = bytes(start) in {b"{", b"["}
            if self._is_document or not start:
                return ""
            self._events, packet = EventReader(), bytes(self._head)
            if start == b"<":
                raise self._bad("answered with a web page instead of a completion; is the base URL right?")
        for event in self._events.feed(packet):
            self._event(event)
        return self._new_text()

    def finish(self) -> ModelReply:
        """The reply, when there are no more packets."""
        if self._events is None:
            self._document(self._head.decode("utf-8-sig", "replace"))
        else:
            for event in self._events.close():
                self._event(event)
            if not (self._done or self._is_complete()):
                raise self._cut()
        return self._reply()

    def _event(self, event: Event) -> None:
        data = event.data.strip()
        if self._done or not data:
            return
        # `[DONE]` completes a reply even where no finish reason ever came (Ollama, NIM: QuantumNous/new-api#696), and
        # nothing behind it counts (openai-python `_streaming.py`).
        if data.startswith("[DONE]"):
            self._done = True
            return
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            if not event.complete:
                if "[DONE]".startswith(data):
                    return
                raise self._cut() from None
            if event.name == "error":
                raise self._failed(data) from None
            if not self._carries(event.name):
                return
            # Skipping it would lose a piece of some call's arguments without a trace (amd/gaia#3501).
            raise self._bad("sent a piece of its answer that is not JSON.") from None
        if event.name == "error":
            raise self._failed(value)
        self._take(value, event.name)

    def _document(self, text: str) -> None:
        if not text.strip():
            raise self._cut()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            raise self._cut() from None
        self._take(value, "")
        if not self._is_reply(value):
            raise self._bad("answered with JSON that is not a reply of a model; is the base URL right?")

    def _new_text(self) -> str:
        fresh = "".join(self._text[self._shown :])
        if ends_in_half(fresh):
            return ""
        self._shown = len(self._text)
        return mend_text(fresh)

    def _failed(self, body: Json) -> ModelError:
        """An error inside a 200: judged by its body alone."""
        return classify(200, {}, body, _EPOCH).as_error(self._server, self.text)

    def _cut(self) -> ModelError:
        message = f"The answer of the model server {self._server} broke off before it was complete."
        return ModelError(ModelFault.NETWORK, message, retryable=True, text=self.text)

    def _bad(self, what: str) -> ModelError:
        message = f"The model server {self._server} {what}"
        return ModelError(ModelFault.BAD_REPLY, message, retryable=True, text=self.text)
