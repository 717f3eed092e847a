"""Tool calls out of fragments: the one place where it is decided what ambiguous OpenAI-compatible servers mean.

A fragment is `toolCallDelta(index, id?, name?, argumentsDelta?)`. Rules, each with where it was seen:

1. `index` is a key, not a position: it may start at 1, leave gaps, interleave, come in any order; calls are ordered
   by it (vercel/ai `streaming-tool-call-tracker`, QwenLM/Qwen-Agent#943).
2. `null` and `""` mean absent, for id, name and arguments (anomalyco/opencode#37841, symfony/ai#2220).
3. Without an index, a known id means that call, a new id a new call, no id the latest call (AstrBotDevs/AstrBot#6692,
   SamSaffron/term-llm#314). The position in the list of fragments means nothing (zavora-ai/adk-rust#410).
4. A different id under an index that is taken is another call: gateways give each call index 0 (ai-dynamo/dynamo#4723,
   huggingface/smolagents#1569). Unless the fragment only carries on with arguments: then the server makes up an id for
   each chunk. An id that comes after its call's first fragment completes that call (QwenLM/Qwen-Agent#943).
5. Without any id, a named fragment that opens a new JSON object after the call's own is complete is another call
   (huggingface/smolagents#1958). The very same arguments again are a repetition, not another call: a write run twice
   costs more than a read run once.
6. Two indexes with one id are two calls; the later gets an id of its own, so that results can be told apart
   (vectorize-io/hindsight#4250). A missing id is made up: an empty one sent back is a 400 (iOfficeAI/aionrs#99).
7. A name that equals what is there is a repetition (SillyTavern/SillyTavern#5948), one that begins with it replaces it,
   any other before the first arguments is appended (continuedev/continue#5849).
8. `arguments` as an object is written as its JSON text (ggml-org/llama.cpp#20198). As text they are never repaired, and
   a call is never finished early because what is there happens to parse (vercel/ai#13137).
9. A name that no declared tool has loses a `functions.` in front (mlc-ai/xgrammar#607) or a `<|…` behind
   (vllm-project/vllm#32587), if what remains is declared. Calls written into the text stay text
   (sgl-project/sglang#21377).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from opspilot.core.messages import Json, ProtocolCall
from opspilot.models.mending import mend, mend_text
from opspilot.models.wire_names import CallNames

OPAQUE_FIELDS = ("extra_content",)
"""Fields of a call that must go back as they came: Gemini's thought signatures (openai-agents-python `converter`)."""


@dataclass(frozen=True)
class _Fragment:
    index: int | None
    id: str
    name: str
    arguments: str
    opaque: Mapping[str, Json]


@dataclass
class _Call:
    index: int | None
    order: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    opaque: dict[str, Json] = field(default_factory=dict)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def is_whole(self) -> bool:
        """Are the arguments a complete JSON object? Asked only where a rule needs it: it parses everything there is."""
        text = self.arguments.strip()
        if not (text.startswith("{") and text.endswith("}")):
            return False
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return False
        return True


@dataclass(frozen=True)
class AssembledCall:
    """A call as it goes into the conversation, and the fields of it that only its provider understands."""

    call: ProtocolCall
    opaque: Mapping[str, Json]


class CallAssembler:
    """Collects the fragments of one reply. `names` knows the tools offered."""

    def __init__(self, names: CallNames) -> None:
        self._names = names
        self._declared = names.declared
        self._calls: list[_Call] = []

    def add_fragment(self, raw: Json) -> None:
        """One entry of a streamed `delta.tool_calls`. What isn't an object carries nothing."""
        if not isinstance(raw, dict):
            return
        fragment = _fragment(raw)
        call = self._owner(fragment) or self._open(fragment)
        self._extend(call, fragment)

    def add_whole(self, raw: Json) -> None:
        """One entry of a complete `message.tool_calls`: always a call of its own."""
        if isinstance(raw, dict):
            fragment = _fragment(raw)
            self._extend(self._open(fragment), fragment)

    def calls(self, *, cut: bool = False) -> tuple[AssembledCall, ...]:
        """The calls in order. `cut`: the reply was ended early, so a call without any arguments is left out.

        It may have lost them, and "no arguments" would be read as the empty object and run.
        """
        kept = [call for call in self._calls if call.name or call.id or call.arguments.strip()]
        if cut:
            kept = [call for call in kept if call.arguments.strip()]
        assembled = []
        for call in sorted(kept, key=lambda call: call.order):
            name = self._names.name(call.name, call.name.removeprefix("functions."), call.name.partition("<|")[0])
            protocol = ProtocolCall(self._names.id(call.id), name, mend_text(call.arguments))
            assembled.append(AssembledCall(protocol, mend(call.opaque)))
        return tuple(assembled)

    def _owner(self, fragment: _Fragment) -> _Call | None:
        """The call that this fragment carries on with, None when it opens another (rules 3 to 5)."""
        rivals = [call for call in self._calls if fragment.index is None or call.index in {None, fragment.index}]
        if not rivals:
            return None
        latest = rivals[-1]
        known = next((call for call in reversed(rivals) if call.id == fragment.id), None) if fragment.id else None
        if known is None and fragment.id and latest.id:
            return latest if _only_carries_on(latest, fragment) else None
        owner = known or latest
        return None if self._opens_another(owner, fragment) else owner

    def _opens_another(self, owner: _Call, fragment: _Fragment) -> bool:
        if not fragment.name or _repeats(owner, fragment):
            return False
        if fragment.name != owner.name and {fragment.name, owner.name} <= self._declared.keys():
            return owner.name + fragment.name not in self._declared
        begins_anew = fragment.name != owner.name or fragment.arguments.lstrip().startswith("{")
        return begins_anew and owner.is_whole()

    def _open(self, fragment: _Fragment) -> _Call:
        order = fragment.index
        if order is None:
            order = self._calls[-1].order if self._calls else 0
        self._calls.append(_Call(fragment.index, order))
        return self._calls[-1]

    def _extend(self, call: _Call, fragment: _Fragment) -> None:
        call.id = call.id or fragment.id
        call.opaque.update(fragment.opaque)
        if not any(piece.strip() for piece in call.pieces):
            call.name = self._joined_name(call.name, fragment.name)
        if fragment.arguments and not _repeats(call, fragment):
            call.pieces.append(fragment.arguments)

    def _joined_name(self, so_far: str, more: str) -> str:
        if so_far + more in self._declared:
            return so_far + more
        if more.startswith(so_far):
            return more
        return so_far + more


def _only_carries_on(latest: _Call, fragment: _Fragment) -> bool:
    if not fragment.arguments.strip():
        return False
    return not fragment.name or (fragment.name == latest.name and not fragment.arguments.lstrip().startswith("{"))


def _repeats(call: _Call, fragment: _Fragment) -> bool:
    """Is this the whole call once more? Only a named fragment can be: bare arguments are a continuation."""
    begins_anew = bool(fragment.name) and fragment.arguments.lstrip().startswith("{")
    return begins_anew and fragment.arguments == call.arguments and call.is_whole()


def _fragment(raw: Mapping[str, Json]) -> _Fragment:
    function = raw.get("function")
    function = function if isinstance(function, dict) else {}
    index, id_, name, arguments = raw.get("index"), raw.get("id"), function.get("name"), function.get("arguments")
    if arguments is None:
        arguments = ""
    elif not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return _Fragment(
        index=index if isinstance(index, int) and not isinstance(index, bool) else None,
        id=str(id_) if isinstance(id_, str | int) else "",
        name=name if isinstance(name, str) else "",
        arguments=arguments,
        opaque={key: raw[key] for key in OPAQUE_FIELDS if raw.get(key) is not None},
    )
