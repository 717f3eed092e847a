"""An Anthropic Messages answer, streamed or whole, as one `ModelReply`.

Pure: bytes in, a reply or a `ModelError` out. A reply is a list of blocks, each begun, filled by deltas and stopped
under its index. Rules for what is ambiguous, each with where it was seen:

1. `index` is a key: blocks interleave, and are ordered by it. A delta without a block begins one, but for arguments,
   whose call would be unknown. A start under an index that is taken begins another block; the very same start again,
   before anything else, is a repetition.
2. The type stands in the data, else in the event's name (anthropic-sdk-python `_streaming.py`). Unknown events, deltas
   and blocks are no error; what they hold goes back as it came (docs: "Streaming messages").
3. Arguments are the fragments as they stand. Without any, `input` of the start counts, which some servers fill at once
   (vercel/ai `anthropic-language-model`), as text too (nielspeter/claude-code-proxy#13).
4. A stop reason completes a reply, `message_stop` also does (zeroclaw-labs/zeroclaw#8663). Whether it calls tools is
   told from the blocks: Bedrock says `end_turn` with calls (strands-agents/harness-sdk#1810).
5. The start of a message comes twice behind some gateways; another message inside an open one is a fault, since mixing
   two would run a call of neither (vercel/ai `anthropic-message-lifecycle`).
6. Blocks that the provider's own tools made (`server_tool_use`, `…_tool_result`) are no calls of ours.
7. Calls of a refused reply are dropped; in a reply that was cut, a call without arguments may have lost them.
8. Counts only grow; a later event may repeat them, lack them, or say 0 (anthropic-sdk-python `fallback_response.txt`).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from opspilot.core.messages import Finish, Json, ModelReply, ProtocolCall, Usage
from opspilot.models.decoding import ReplyDecoder
from opspilot.models.mending import mend, mend_text
from opspilot.models.wire_names import random_id

_FINISH = {
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
    "sensitive": Finish.CONTENT_FILTER,  # GLM
    "content_filtered": Finish.CONTENT_FILTER,  # Bedrock
    "guardrail_intervened": Finish.CONTENT_FILTER,  # Bedrock
}
_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "thinking"}
"""The kind of block that a delta without one begins."""
_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


@dataclass
class _Block:
    index: int
    begun: dict[str, Json]
    fields: dict[str, Json]
    arguments: list[str] = field(default_factory=list)
    touched: bool = False

    @property
    def kind(self) -> Json:
        return self.fields.get("type")

    @property
    def written(self) -> str:
        """The arguments of a call as text; empty when there are none."""
        text = "".join(self.arguments)
        given = self.fields.get("input")
        if text.strip() or given is None or given == {}:
            return text
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)

    def grow(self, key: str, value: Json) -> None:
        so_far = self.fields.get(key)
        self.fields[key] = so_far + value if isinstance(so_far, str) and isinstance(value, str) else value


class AnthropicDecoder(ReplyDecoder):
    """One Messages answer. `paused`: the provider wants its own words back before it goes on, and nothing else."""

    def __init__(
        self, provider: str, server: str, declared: Mapping[str, str], new_id: Callable[[], str] = random_id
    ) -> None:
        super().__init__(provider, server, declared, new_id)
        self.paused = False
        self._message_id: Json = None
        self._blocks: list[_Block] = []
        self._reason = ""
        self._counts = dict.fromkeys(_COUNTS, 0)

    def _carries(self, event: str) -> bool:
        return event in {"", "message"} or event.startswith(("message_", "content_block_"))

    def _is_reply(self, document: Json) -> bool:
        return isinstance(document, dict) and isinstance(document.get("content"), list | str)

    def _is_complete(self) -> bool:
        return bool(self._reason)

    def _take(self, value: Json, event: str) -> None:
        if not isinstance(value, dict):
            return
        kind = value.get("type") or event
        if kind == "error" or value.get("error"):
            raise self._failed(value)
        if kind == "message_start":
            self._start(value.get("message"))
        elif kind == "content_block_start":
            self._begin(value.get("index"), value.get("content_block"))
        elif kind == "content_block_delta":
            self._delta(value.get("index"), value.get("delta"))
        elif kind == "message_delta":
            self._end(value.get("delta"))
            self._count(value.get("usage"))
        elif kind == "message_stop":
            self._done = True
        elif isinstance(value.get("content"), list | str):
            self._whole(value)

    def _start(self, message: Json) -> None:
        message = message if isinstance(message, dict) else {}
        id_ = message.get("id")
        if self._message_id is not None and id_ != self._message_id:
            raise self._bad("began another message inside an open one.")
        self._message_id = id_
        self._count(message.get("usage"))

    def _whole(self, message: Mapping[str, Json]) -> None:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            self._begin(None, block)
        self._end(message)
        self._count(message.get("usage"))

    def _begin(self, index: Json, begun: Json) -> None:
        if not (isinstance(begun, dict) and isinstance(begun.get("type"), str)):
            return
        latest = self._blocks[-1] if self._blocks else None
        place = index if _is_number(index) else latest.index if latest else 0
        if latest and latest.index == index and latest.begun == begun and not latest.touched:
            return
        self._blocks.append(_Block(place, begun, dict(begun)))
        if begun.get("type") == "text" and isinstance(begun.get("text"), str):
            self._text.append(begun["text"])

    def _delta(self, index: Json, delta: Json) -> None:
        if not isinstance(delta, dict):
            return
        kind = delta.get("type")
        block = next((block for block in reversed(self._blocks) if index is None or block.index == index), None)
        begins = _DELTAS.get(kind) if isinstance(kind, str) else None
        if begins and (block is None or block.kind != begins):
            self._begin(index, {"type": begins})
            block = self._blocks[-1]
        if block is None:
            if kind == "input_json_delta":
                raise self._bad("sent arguments of a call that it had not begun.")
            return
        block.touched = True
        match kind:
            case "input_json_delta":
                piece = delta.get("partial_json")
                block.arguments.append(piece if isinstance(piece, str) else "")
            case "signature_delta":
                block.fields["signature"] = delta.get("signature")
            case "citations_delta":
                earlier = block.fields.get("citations")
                block.fields["citations"] = [*(earlier if isinstance(earlier, list) else []), delta.get("citation")]
            case _:
                for key, value in delta.items():
                    if key != "type" and value is not None:
                        block.grow(key, value)
                if kind == "text_delta" and isinstance(delta.get("text"), str):
                    self._text.append(delta["text"])

    def _end(self, message: Json) -> None:
        reason = message.get("stop_reason") if isinstance(message, dict) else None
        if isinstance(reason, str) and reason:
            self._reason = reason

    def _count(self, usage: Json) -> None:
        for name in _COUNTS if isinstance(usage, dict) else ():
            count = usage.get(name)
            if _is_number(count):
                self._counts[name] = max(self._counts[name], count)

    def _reply(self) -> ModelReply:
        if not (self._reason or self._blocks or self._events is None):
            raise self._cut()
        finish = _FINISH.get(self._reason)
        blocks = [block for block in self._ordered() if not self._is_lost(block, finish)]
        calls = tuple(
            ProtocolCall(
                self._names.id(_as_text(block.fields.get("id"))),
                self._names.name(_as_text(block.fields.get("name"))),
                mend_text(block.written),
            )
            for block in blocks
            if block.kind == "tool_use"
        )
        self.paused = self._reason == "pause_turn" and not calls
        return ModelReply(
            text=mend_text("".join(_as_text(block.fields.get("text")) for block in blocks if block.kind == "text")),
            calls=calls,
            finish=finish or (Finish.TOOL_CALLS if calls else Finish.STOP),
            usage=self._usage(),
            provider=self._provider,
            opaque=mend(_kept(blocks)),
            reasoning=mend_text("".join(_as_text(block.fields.get("thinking")) for block in blocks)),
        )

    def _ordered(self) -> list[_Block]:
        return sorted(self._blocks, key=lambda block: block.index)

    def _is_lost(self, block: _Block, finish: Finish | None) -> bool:
        """Left out of a reply that was ended early: what is incomplete, and would be refused or misread as whole."""
        if finish is None:
            return False
        if block.kind == "tool_use":
            return finish is not Finish.LENGTH or not block.written.strip()
        if block.kind == "thinking":
            return not block.fields.get("signature")
        # A call of the provider's own tool that never got its result must not go back without one.
        own = isinstance(block.kind, str) and block.kind.endswith("_tool_use")
        return own and not any(other.fields.get("tool_use_id") == block.fields.get("id") for other in self._blocks)

    def _usage(self) -> Usage:
        """Anthropic counts what came from or went into the cache apart from `input_tokens`; ours is the whole input."""
        read, made = self._counts["cache_read_input_tokens"], self._counts["cache_creation_input_tokens"]
        return Usage(self._counts["input_tokens"] + read + made, self._counts["output_tokens"], read)


def _kept(blocks: list[_Block]) -> dict[str, Json]:
    """`{"content": blocks}` in their order, a call as `tool_use` without what the call itself says.

    Empty when text and calls alone say the same. Blank text is left out: it is refused when it comes back.
    """
    kept = [
        _without_call(block) if block.kind == "tool_use" else _with_input(block)
        for block in blocks
        if block.kind != "text" or _as_text(block.fields.get("text")).strip()
    ]
    in_order = sorted(kept, key=_is_call)
    return {} if kept == in_order and all(_is_plain(block) for block in kept) else {"content": kept}


def _is_call(block: Mapping[str, Json]) -> bool:
    return block.get("type") == "tool_use"


def _is_plain(block: Mapping[str, Json]) -> bool:
    """Is there nothing in it but what text and calls say?"""
    said = {key for key, value in block.items() if value not in (None, [])}
    return said in ({"type", "text"}, {"type"}) and block["type"] in ("text", "tool_use")


def _without_call(block: _Block) -> dict[str, Json]:
    return {key: value for key, value in block.fields.items() if key not in {"id", "name", "input"}}


def _with_input(block: _Block) -> dict[str, Json]:
    """The provider's own calls have their input streamed like ours, and take it back as an object."""
    try:
        return block.fields | {"input": json.loads("".join(block.arguments))}
    except (ValueError, RecursionError):
        return block.fields


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else ""
