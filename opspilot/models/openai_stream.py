"""An OpenAI Chat Completions answer, streamed or whole, as one `ModelReply`.

Pure: bytes in, a reply or a `ModelError` out. What a server calls its answer is not believed: the first byte tells
whether the body is a stream of events or one JSON document (openclaw/openclaw#97474). Tool calls are put together in
`openai_calls`; nothing here knows of connections or requests.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from uuid import uuid4

from opspilot.core.errors import ModelError, ModelFault
from opspilot.core.messages import Finish, Json, ModelReply, Usage
from opspilot.core.retry import classify
from opspilot.models.mending import ends_in_half, mend, mend_text
from opspilot.models.openai_calls import CallAssembler
from opspilot.models.sse import Event, EventReader

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""An error inside a 200 has no `Retry-After`, so no clock is needed to judge it."""

_FINISH = {
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,  # Mistral: the context is full
    "content_filter": Finish.CONTENT_FILTER,
    "sensitive": Finish.CONTENT_FILTER,  # GLM (docs.bigmodel.cn)
    "refusal": Finish.REFUSAL,
}
"""The reasons that are believed. All others (`stop`, `tool_calls`, `eos`, null, …) are decided by what was delivered:
servers say `stop` with calls and `tool_calls` without (BerriAI/litellm#12249, vllm-project/vllm#9209)."""

_FAILED = {
    "error",  # OpenRouter
    "network_error",  # GLM
    "insufficient_system_resource",  # DeepSeek
}

_REASONING_FIELDS = ("reasoning_content", "reasoning")
"""DeepSeek's and OpenRouter's; vLLM sends both with the same text, so the first that has any is taken."""


def _random_id() -> str:
    return f"call_{uuid4().hex[:24]}"


class ReplyDecoder:
    """One answer. `feed` it the packets, then take the reply from `finish`; both raise `ModelError`.

    `provider` marks whose opaque fields the reply carries, `server` is what people know it by, `declared` maps names on
    the wire to the names of our tools.
    """

    def __init__(
        self, provider: str, server: str, declared: Mapping[str, str], new_id: Callable[[], str] = _random_id
    ) -> None:
        self._provider = provider
        self._server = server
        self._calls = CallAssembler(declared, new_id)
        self._events: EventReader | None = None
        self._head = bytearray()
        self._is_document = False
        self._text: list[str] = []
        self._shown = 0
        self._refusal: list[str] = []
        self._reasoning: dict[str, list[str]] = {}
        self._opaque: dict[str, Json] = {}
        self._details: list[dict[str, Json]] = []
        self._reasons: set[str] = set()
        self._usage = Usage()
        self._done = False

    @property
    def text(self) -> str:
        """What has been delivered so far."""
        return mend_text("".join(self._text))

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
            if not (self._done or self._reasons):
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
                raise self._cut() from None
            if event.name == "error":
                raise self._failed(data) from None
            if event.name not in {"", "message"}:
                return
            # Skipping it would lose a piece of some call's arguments without a trace (amd/gaia#3501).
            raise self._bad("sent a piece of its answer that is not JSON.") from None
        if event.name == "error":
            raise self._failed(value)
        self._value(value)

    def _document(self, text: str) -> None:
        if not text.strip():
            raise self._cut()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            raise self._cut() from None
        self._value(value)
        if not (isinstance(value, dict) and isinstance(value.get("choices"), list) and value["choices"]):
            raise self._bad("answered with JSON that is not a chat completion; is the base URL right?")

    def _value(self, value: Json) -> None:
        """One chunk, or a whole completion: the same shape but for `delta` and `message`."""
        if isinstance(value, list):
            value = next((item for item in value if isinstance(item, dict) and item.get("error")), None)
        if not isinstance(value, dict):
            return
        choices = value.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        groq = value.get("x_groq")
        self._count(value.get("usage") or (groq.get("usage") if isinstance(groq, dict) else None))
        if isinstance(choice, dict):
            self._choice(choice)
        # A chunk with an error can look like one with usage: `choices` empty (diegosouzapw/OmniRoute#8210).
        # vLLM's has no `error` key but says what it is.
        if value.get("error") or value.get("object") == "error":
            raise self._failed(value)

    def _choice(self, choice: Mapping[str, Json]) -> None:
        self._count(choice.get("usage"))  # Moonshot puts it here
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._message(delta, self._calls.add_fragment)
        elif isinstance(choice.get("message"), dict):
            self._message(choice["message"], self._calls.add_whole)
        if choice.get("error"):
            raise self._failed(choice)
        # A reason doesn't end the body: more calls may follow (BerriAI/litellm#27139), or the error that it announces.
        if isinstance(choice.get("finish_reason"), str) and choice["finish_reason"]:
            self._reasons.add(choice["finish_reason"])

    def _message(self, message: Mapping[str, Json], add_call: Callable[[Json], None]) -> None:
        self._content(message.get("content"))
        if isinstance(message.get("refusal"), str):
            self._refusal.append(message["refusal"])
        for name in _REASONING_FIELDS:
            if isinstance(message.get(name), str) and message[name]:
                self._reasoning.setdefault(name, []).append(message[name])
        details = message.get("reasoning_details")
        for detail in details if isinstance(details, list) else []:
            self._detail(detail)
        if message.get("extra_content") is not None:
            self._opaque["extra_content"] = message["extra_content"]
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            add_call(call)

    def _content(self, content: Json) -> None:
        """Text, or Mistral's list of parts in which thinking stands beside text."""
        if isinstance(content, str):
            self._text.append(content)
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
                self._text.append(part["text"])
            elif isinstance(part, dict) and part.get("type") == "thinking":
                inner = part.get("thinking")
                pieces = [piece.get("text") for piece in inner or [] if isinstance(piece, dict)]
                self._reasoning.setdefault("thinking", []).extend(piece for piece in pieces if isinstance(piece, str))

    def _detail(self, detail: Json) -> None:
        """OpenRouter's reasoning blocks go back whole, in order (openrouter.ai/docs, "Preserving reasoning").

        Streamed, a block comes in pieces of one `type` and `index`: text grows, anything else is replaced.
        """
        if not isinstance(detail, dict):
            return
        last = self._details[-1] if self._details else None
        if last is None or (last.get("type"), last.get("index")) != (detail.get("type"), detail.get("index")):
            self._details.append(dict(detail))
            return
        for key, value in detail.items():
            grows = key in {"text", "summary"} and isinstance(value, str) and isinstance(last.get(key), str)
            last[key] = last[key] + value if grows else value if value is not None else last.get(key)

    def _count(self, usage: Json) -> None:
        """The last count stands: some servers report it with every chunk, growing."""
        if not isinstance(usage, dict):
            return
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else usage.get("prompt_cache_hit_tokens")
        counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
        self._usage = Usage(*(count if isinstance(count, int) and count > 0 else 0 for count in counts))

    def _new_text(self) -> str:
        fresh = "".join(self._text[self._shown :])
        if ends_in_half(fresh):
            return ""
        self._shown = len(self._text)
        return mend_text(fresh)

    def _reply(self) -> ModelReply:
        if self._reasons & _FAILED:
            raise self._failed("")
        believed = {_FINISH[reason] for reason in self._reasons if reason in _FINISH}
        cut = bool(believed & {Finish.LENGTH, Finish.CONTENT_FILTER})
        assembled = self._calls.calls(cut=cut)
        text, refusal = self.text, mend_text("".join(self._refusal))
        if not self._reasons and self._events is not None and not (text or assembled or refusal):
            raise self._cut()
        # The most serious reason stands, whatever came after it.
        ranked = (Finish.CONTENT_FILTER, Finish.REFUSAL, Finish.LENGTH)
        finish = next((reason for reason in ranked if reason in believed), None)
        if refusal and finish is None:
            finish = Finish.REFUSAL
        reasoning = {name: "".join(pieces) for name, pieces in self._reasoning.items()}
        return ModelReply(
            text=text or refusal,
            calls=tuple(item.call for item in assembled),
            finish=finish or (Finish.TOOL_CALLS if assembled else Finish.STOP),
            usage=self._usage,
            provider=self._provider,
            opaque=mend(self._kept(reasoning, [dict(item.opaque) for item in assembled])),
            reasoning=mend_text(next((text for text in reasoning.values() if text), "")),
        )

    def _kept(self, reasoning: Mapping[str, str], calls: list[dict[str, Json]]) -> dict[str, Json]:
        """What goes back into the conversation: `{"message": fields of the message, "calls": fields of each call}`."""
        message = dict(self._opaque)
        if reasoning.get("reasoning_content"):
            message["reasoning_content"] = reasoning["reasoning_content"]
        if self._details:
            message["reasoning_details"] = self._details
        kept: dict[str, Json] = {"message": message} if message else {}
        return kept | ({"calls": calls} if any(calls) else {})

    def _failed(self, body: Json) -> ModelError:
        """An error inside a 200: judged by its body alone."""
        return classify(200, {}, body, _EPOCH).as_error(self._server, self.text)

    def _cut(self) -> ModelError:
        message = f"The answer of the model server {self._server} broke off before it was complete."
        return ModelError(ModelFault.NETWORK, message, retryable=True, text=self.text)

    def _bad(self, what: str) -> ModelError:
        message = f"The model server {self._server} {what}"
        return ModelError(ModelFault.BAD_REPLY, message, retryable=True, text=self.text)
