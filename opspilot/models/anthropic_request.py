"""Our conversation as the JSON body of an Anthropic Messages request.

Pure. Knows what the API refuses, each with where it was seen, and where its prompt cache wants to be marked.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from opspilot.core.calls import decode_call
from opspilot.core.messages import (
    AssistantMessage,
    Json,
    ModelRequest,
    ProtocolCall,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from opspilot.models.mending import mend
from opspilot.models.pairing import Turn, paired
from opspilot.models.wire_names import WireIds, is_plain, short_hash, wire_name, wire_schema

DEFAULT_MAX_TOKENS = 16_384
"""`max_tokens` is required; every model since Claude 4 writes at least twice as much."""

_Block = dict[str, Json]
_CACHED: _Block = {"type": "ephemeral"}
_CACHED_MESSAGES = 2
"""Of four marks that are allowed one is on tools and system. A mark finds a prefix that is at most 20 blocks shorter;
two on the conversation find it also where a step with many parallel calls lies between (docs: prompt caching)."""
_OPENING = "(The conversation begins here.)"


@dataclass(frozen=True)
class AnthropicDialect:
    """`provider` tells whose opaque blocks go back to it; `server` is for people."""

    provider: str
    server: str
    wants_signatures: bool

    @classmethod
    def of(cls, base_url: str) -> "AnthropicDialect":
        """Told from the address. Imitators think without signing it, and want it back like that."""
        address = urlsplit(base_url)
        host = (address.hostname or "").lower()
        return cls(
            provider=f"anthropic:{host}",
            server=f"{host}:{address.port}" if address.port else host,
            wants_signatures=host == "anthropic.com" or host.endswith(".anthropic.com"),
        )


def encode(request: ModelRequest, model: str, dialect: AnthropicDialect, *, stream: bool = True) -> dict[str, Json]:
    """The body of `POST /v1/messages`. Order and bytes of what was sent before don't change from step to step."""
    turns = paired(request.messages)
    # There is no system role inside the conversation; no text may vanish for that (kennethreitz/simplemind#37).
    system = [_text(turn.message.text) for turn in turns if isinstance(turn.message, SystemMessage)]
    system = [block for block in system if block]
    messages = _messages(turns, dialect)
    tools = [_tool(spec) for spec in request.tools]
    _mark_cached(system, tools, messages)
    choice = _tool_choice(request)
    if not tools:
        # A conversation with calls in it has to declare tools, though none may be called any more (vercel/ai#16991,
        # earendil-works/pi#149); without any, neither field may stand there.
        tools = _used_tools(turns)
        choice = {"type": "none"} if tools else {}
    body: dict[str, Json] = {
        "model": model,
        "max_tokens": request.max_output_tokens or DEFAULT_MAX_TOKENS,
        "system": system,
        "tools": tools,
        "tool_choice": choice,
        "messages": messages,
        "stream": stream,
    }
    mended: dict[str, Json] = mend({key: value for key, value in body.items() if value})
    return mended


def _tool(spec: ToolSpec) -> _Block:
    tool = {"name": wire_name(spec.name), "description": spec.description, "input_schema": wire_schema(spec)}
    return {key: value for key, value in tool.items() if value != ""}


def _used_tools(turns: tuple[Turn, ...]) -> list[_Block]:
    names = [call.name for turn in turns if isinstance(turn.message, AssistantMessage) for call in turn.message.calls]
    return [_tool(ToolSpec(name, "", {})) for name in dict.fromkeys(names)]


def _tool_choice(request: ModelRequest) -> _Block:
    choice: _Block = {"type": "auto"}
    if request.force is not None:
        choice = {"type": "tool", "name": wire_name(request.force)}
    if not request.parallel:
        choice["disable_parallel_tool_use"] = True
    return choice if choice != {"type": "auto"} else {}


def _messages(turns: tuple[Turn, ...], dialect: AnthropicDialect) -> list[_Block]:
    """User and assistant in turns, the user first; results lead in the message behind their calls.

    Two user messages where one is wanted give "tool_use ids were found without tool_result blocks immediately after"
    (MoonshotAI/kosong#45).
    """
    messages: list[_Block] = []
    ids = WireIds(is_plain, lambda seed: f"toolu_{short_hash(seed, 12)}")
    for role, blocks in _spoken(turns, ids, dialect):
        if not blocks:
            continue
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})
    if not messages or messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": [_text(_OPENING)]})
    last = messages[-1]["content"][-1]
    if messages[-1]["role"] == "assistant" and last["type"] == "text":
        # "final assistant content cannot end with trailing whitespace" (langchain-ai/langchain#35071)
        messages[-1]["content"][-1] = {**last, "text": last["text"].rstrip()}
    return messages


def _spoken(turns: tuple[Turn, ...], ids: WireIds, dialect: AnthropicDialect) -> Iterator[tuple[str, list[_Block]]]:
    for turn in turns:
        message = turn.message
        if isinstance(message, UserMessage):
            yield "user", [block] if (block := _text(message.text)) else []
        elif isinstance(message, AssistantMessage):
            wire_ids = [ids.take(call.id) for call in message.calls]
            calls = [_call(call, id_) for call, id_ in zip(message.calls, wire_ids, strict=True)]
            yield "assistant", _assistant(message, calls, dialect)
            yield "user", [_result(result, id_) for result, id_ in zip(turn.results, wire_ids, strict=True)]


def _text(text: str) -> _Block:
    """Empty for blank text: "text content blocks must be non-empty" (anthropics/anthropic-sdk-python#461)."""
    return {"type": "text", "text": text} if text.strip() else {}


def _call(call: ProtocolCall, id_: str) -> _Block:
    """`input` has to be an object (anthropics/claude-code#6696), so what the model wrote wrongly is wrapped in one."""
    decoded = decode_call(call).input
    arguments = {"invalid_arguments": call.arguments} if decoded is None else decoded
    return {"type": "tool_use", "id": id_, "name": wire_name(call.name), "input": arguments}


def _result(result: ToolMessage, id_: str) -> _Block:
    block: _Block = {"type": "tool_result", "tool_use_id": id_}
    if result.text.strip():
        block["content"] = result.text
    return block if result.ok else block | {"is_error": True}


def _assistant(message: AssistantMessage, calls: list[_Block], dialect: AnthropicDialect) -> list[_Block]:
    """As it came, block for block, when it came from this server; else text and calls alone.

    In kept blocks a `tool_use` stands for the next call; thinking without its signature is refused
    (NousResearch/hermes-agent#4626).
    """
    kept = message.opaque.get("content") if message.provider == dialect.provider else None
    if not kept or sum(_is_call(block) for block in kept) != len(calls):
        text = _text(message.text)
        return [text, *calls] if text else calls
    waiting = iter(calls)
    blocks = [
        {**block, **next(waiting)} if _is_call(block) else dict(block)
        for block in kept
        if not (dialect.wants_signatures and block.get("type") == "thinking" and not block.get("signature"))
    ]
    # "The final block in an assistant message cannot be `thinking`" (tailcallhq/forgecode#2107).
    while blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
        blocks.pop()
    return blocks


def _is_call(block: Mapping[str, Json]) -> bool:
    return bool(block.get("type") == "tool_use")


def _mark_cached(system: list[_Block], tools: list[_Block], messages: list[_Block]) -> None:
    """Tools and system never change in a session, and the conversation only grows: all of it is read from the cache."""
    stable = system or tools
    ends = [stable] if stable else []
    ends += [message["content"] for message in messages if message["role"] == "user"][-_CACHED_MESSAGES:]
    for blocks in ends:
        blocks[-1] = {**blocks[-1], "cache_control": _CACHED}
