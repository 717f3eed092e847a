"""An OpenAI Responses answer, streamed or whole, as one `ModelReply`.

Pure: bytes in, a reply or a `ModelError` out. A reply is a list of output items: messages, reasoning, function calls,
and calls of the provider's own tools. Rules for what is ambiguous, each with where it was seen:

1. A piece belongs to the item of its `item_id`, else of its `output_index`, else to the latest; ids may change between
   an item's beginning and its end. Items are ordered by index. Text before any item begins a message
   (Oaklight/llm-rosetta#56).
2. `output_item.done` is what counts: ciphertext and status differ from the beginning's (openai/openai-python#3615).
   Arguments may come in pieces, or whole at the end alone (lidge-jun/opencodex#4652).
3. `response.completed` may have an empty `output` after a full stream (BerriAI/litellm#32724), or all of it after none.
4. `response.completed`, `.incomplete` and `.failed` end a reply. A status or reason that is unknown counts as cut.
5. A call goes by its `call_id`; servers that have only `id` mean that one.
6. In a reply that was cut, a call without arguments may have lost them, and reasoning with nothing behind it is
   refused when it comes back ("without its required following item": coder/xum#59).
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from opspilot.core.messages import Finish, Json, ModelReply, ProtocolCall, Usage
from opspilot.models.decoding import ReplyDecoder
from opspilot.models.mending import mend, mend_text
from opspilot.models.wire_names import random_id

_PIECES = {
    "response.output_text": ("message", "text"),
    "response.refusal": ("message", "refusal"),
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.reasoning_summary_text": ("reasoning", "reasoning"),
    "response.reasoning_text": ("reasoning", "reasoning"),
}
"""Event, short of `.delta` or `.done` -> kind of item, and what of it grows."""
_ENDINGS = {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}


@dataclass
class _Item:
    index: int
    fields: Mapping[str, Json]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    done: bool = False

    @property
    def kind(self) -> Json:
        return self.fields.get("type")

    def streamed(self, what: str) -> str:
        return "".join(self.pieces.get(what, ()))

    def said(self, what: str, *parts: str) -> str:
        """The text of these parts, from the item's end where that has any, else as it was streamed."""
        return _joined(self.fields, *parts) or self.streamed(what)

    @property
    def arguments(self) -> str:
        given = self.fields.get("arguments")
        if isinstance(given, str) and given.strip():
            return given
        return self.streamed("arguments") if given in (None, "") else json.dumps(given, ensure_ascii=False)

    def kept(self) -> dict[str, Json]:
        """What goes back of it: a call without what the call itself says, a message with its text; else as it came."""
        if self.kind == "function_call":
            return {key: value for key, value in self.fields.items() if key not in ("call_id", "name", "arguments")}
        if self.kind != "message" or _joined(self.fields, "output_text", "refusal"):
            return dict(self.fields)
        text = self.streamed("text") or self.streamed("refusal")
        content = [{"type": "output_text", "text": text}]
        return {**self.fields, "role": "assistant", "content": content} if text.strip() else {}


class ResponsesDecoder(ReplyDecoder):
    """One Responses answer."""

    def __init__(
        self, provider: str, server: str, declared: Mapping[str, str], new_id: Callable[[], str] = random_id
    ) -> None:
        super().__init__(provider, server, declared, new_id)
        self._items: list[_Item] = []
        self._end: Mapping[str, Json] = {}

    def _carries(self, event: str) -> bool:
        return event in {"", "message"} or event.startswith("response.")

    def _is_reply(self, document: Json) -> bool:
        return isinstance(document, dict) and isinstance(document.get("output"), list)

    def _is_complete(self) -> bool:
        return bool(self._end)

    def _take(self, value: Json, event: str) -> None:
        if not isinstance(value, dict):
            return
        kind = value.get("type") or event
        kind = kind if isinstance(kind, str) else ""
        response = value.get("response")
        if kind == "error" or (value.get("error") and not self._is_reply(value)):
            raise self._failed(value)
        if kind == "response.output_item.added":
            self._begin(value.get("output_index"), value.get("item"))
        elif kind == "response.output_item.done":
            self._settle(value.get("output_index"), value.get("item"))
        elif kind.rpartition(".")[0] in _PIECES:
            self._piece(kind, value)
        elif kind in _ENDINGS and isinstance(response, dict):
            self._ended(response)
            self._done = True
        elif self._is_reply(value):
            self._ended(value)

    def _begin(self, index: Json, fields: Json) -> _Item:
        place = index if _is_number(index) else self._items[-1].index + 1 if self._items else 0
        item = _Item(place, fields if isinstance(fields, dict) else {})
        self._items.append(item)
        return item

    def _find(self, id_: Json, index: Json, kind: str) -> _Item | None:
        """The item of this kind that is meant (rule 1)."""
        found = [item for item in reversed(self._items) if item.kind == kind]
        named = (item for item in found if id_ and item.fields.get("id") == id_)
        placed = (item for item in found if not item.done and (index is None or item.index == index))
        return next(named, None) or next(placed, None)

    def _piece(self, event: str, value: Mapping[str, Json]) -> None:
        name, _, stage = event.rpartition(".")
        kind, what = _PIECES[name]
        whole = next((value[key] for key in ("arguments", "text", "refusal") if key in value), None)
        piece = value.get("delta") if stage == "delta" else whole
        item = self._find(value.get("item_id"), value.get("output_index"), kind)
        if not isinstance(piece, str) or (stage == "done" and item and item.streamed(what)):
            return
        if item is None:
            if kind == "function_call":
                raise self._bad("sent arguments of a call that it had not begun.")
            item = self._begin(value.get("output_index"), {"type": kind})
        item.pieces.setdefault(what, []).append(piece)
        if what == "text":
            self._text.append(piece)

    def _settle(self, index: Json, fields: Json) -> None:
        if not isinstance(fields, dict):
            return
        item = self._find(fields.get("id"), index, _as_text(fields.get("type"))) or self._begin(index, fields)
        item.fields, item.done = fields, True
        text, shown = _joined(fields, "output_text"), item.streamed("text")
        if text.startswith(shown):
            self._text.append(text[len(shown) :])

    def _ended(self, response: Mapping[str, Json]) -> None:
        self._end = response
        if response.get("status") in ("failed", "cancelled") or response.get("error"):
            raise self._failed({"error": response.get("error") or {}})
        output = response.get("output")
        nothing_came = not self._items
        for index, fields in enumerate(output if isinstance(output, list) else []):
            open_item = isinstance(fields, dict) and any(
                item.fields.get("id") == fields.get("id") and not item.done for item in self._items
            )
            if nothing_came or open_item:
                self._settle(index if nothing_came else None, fields)

    def _reply(self) -> ModelReply:
        finish = self._early_end()
        ordered = sorted(self._items, key=lambda item: item.index)
        items = [item for item in ordered if not _is_lost(item, finish)]
        text = mend_text("".join(item.said("text", "output_text") for item in items if item.kind == "message"))
        refusal = mend_text("".join(item.said("refusal", "refusal") for item in items if item.kind == "message"))
        if not (items or self._end or self._events is None):
            raise self._cut()
        calls = tuple(self._call(item) for item in items if item.kind == "function_call")
        if refusal and finish is None:
            finish = Finish.REFUSAL
        thoughts = [item.said("reasoning", "summary_text", "reasoning_text") for item in ordered]
        return ModelReply(
            text=text or refusal,
            calls=calls,
            finish=finish or (Finish.TOOL_CALLS if calls else Finish.STOP),
            usage=_usage(self._end.get("usage")),
            provider=self._provider,
            opaque=mend(_kept(items)),
            reasoning=mend_text("\n\n".join(thought for thought in thoughts if thought)),
        )

    def _call(self, item: _Item) -> ProtocolCall:
        id_ = _as_text(item.fields.get("call_id")) or _as_text(item.fields.get("id"))
        return ProtocolCall(
            self._names.id(id_), self._names.name(_as_text(item.fields.get("name"))), mend_text(item.arguments)
        )

    def _early_end(self) -> Finish | None:
        details = self._end.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        if reason == "content_filter":
            return Finish.CONTENT_FILTER
        return Finish.LENGTH if reason or self._end.get("status") == "incomplete" else None


def _is_lost(item: _Item, finish: Finish | None) -> bool:
    if item.kind == "function_call":
        return finish is not None and not item.arguments.strip()
    return item.kind != "message" and not item.done


def _kept(items: Iterable[_Item]) -> dict[str, Json]:
    """`{"output": items}` in their order, a call as `function_call` without what the call itself says.

    Empty when text and calls alone say the same.
    """
    kept = [fields for item in items if (fields := item.kept())]
    while kept and kept[-1].get("type") == "reasoning":
        kept.pop()
    in_order = sorted(kept, key=lambda item: item.get("type") == "function_call")
    return {} if kept == in_order and all(_is_plain(item) for item in kept) else {"output": kept}


def _is_plain(item: Mapping[str, Json]) -> bool:
    """Is there nothing in it but what text and calls say? What a message cites and its ids are of no use later."""
    said = {key for key, value in item.items() if value is not None}
    return item.get("type") in ("message", "function_call") and said <= {"type", "id", "status", "role", "content"}


def _joined(fields: Mapping[str, Json], *kinds: str) -> str:
    parts = [part for key in ("summary", "content") for part in _as_list(fields.get(key)) if isinstance(part, dict)]
    texts = (part.get("text", part.get("refusal")) for part in parts if part.get("type") in kinds)
    return "".join(text for text in texts if isinstance(text, str))


def _usage(usage: Json) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("input_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    counts = (usage.get("input_tokens"), usage.get("output_tokens"), cached)
    return Usage(*(count if isinstance(count, int) and count > 0 else 0 for count in counts))


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
