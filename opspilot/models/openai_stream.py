"""An OpenAI Chat Completions answer, streamed or whole, as one `ModelReply`.

Pure: bytes in, a reply or a `ModelError` out. Tool calls are put together in `openai_calls`; nothing here knows of
connections or requests.
"""

from collections.abc import Callable, Mapping

from opspilot.core.messages import Finish, Json, ModelReply, Usage
from opspilot.models.decoding import ReplyDecoder
from opspilot.models.mending import mend, mend_text
from opspilot.models.openai_calls import CallAssembler
from opspilot.models.wire_names import random_id

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


class OpenAIDecoder(ReplyDecoder):
    """One Chat Completions answer."""

    def __init__(
        self, provider: str, server: str, declared: Mapping[str, str], new_id: Callable[[], str] = random_id
    ) -> None:
        super().__init__(provider, server, declared, new_id)
        self._calls = CallAssembler(self._names)
        self._refusal: list[str] = []
        self._reasoning: dict[str, list[str]] = {}
        self._opaque: dict[str, Json] = {}
        self._details: list[dict[str, Json]] = []
        self._reasons: set[str] = set()
        self._usage = Usage()

    def _carries(self, event: str) -> bool:
        return event in {"", "message"}

    def _is_reply(self, document: Json) -> bool:
        return isinstance(document, dict) and isinstance(document.get("choices"), list) and bool(document["choices"])

    def _is_complete(self) -> bool:
        return bool(self._reasons)

    def _take(self, value: Json, event: str) -> None:
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
