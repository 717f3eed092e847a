"""The conversation as a model sees it: four kinds of message, and one reply.

Provider differences are not known here; they live in the adapters (`opspilot/models`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A value that JSON can carry: None, bool, int, finite float, str, list, dict with string keys."""


@dataclass(frozen=True)
class ProtocolCall:
    """A tool call exactly as the model wrote it. `arguments` is the raw text, never re-encoded."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Usage:
    """Tokens of one or more model calls. `cached_tokens` is the part of `input_tokens` read from a provider's cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


class Finish(StrEnum):
    """Why the model stopped writing."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"


@dataclass(frozen=True)
class SystemMessage:
    """Instructions that stand before the conversation."""

    text: str


@dataclass(frozen=True)
class UserMessage:
    """What a person said."""

    text: str


@dataclass(frozen=True)
class AssistantMessage:
    """What the model said. `provider` and `opaque` are its adapter's own: bytes that must go back as they came."""

    text: str
    calls: tuple[ProtocolCall, ...] = ()
    provider: str = ""
    opaque: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolMessage:
    """The one observation of a call, as JSON text. `call_id` is the id of the `ProtocolCall` that it answers."""

    call_id: str
    name: str
    text: str
    ok: bool


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True)
class ToolSpec:
    """A tool as it is shown to a model. `input_schema` is a JSON Schema of type object."""

    name: str
    description: str
    input_schema: Mapping[str, Json]


@dataclass(frozen=True)
class ModelRequest:
    """One model call. With `tools` empty the model can only answer in text.

    `force` names the one tool that the model must call (None: it chooses). `parallel` False asks for at most one call;
    not every server honours that, so it is enforced elsewhere too. `max_output_tokens` None leaves it to the provider.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    force: str | None = None
    parallel: bool = True
    max_output_tokens: int | None = None


@dataclass(frozen=True)
class ModelReply:
    """One whole reply. `reasoning` is for people to read; what must go back to the provider is in `opaque`."""

    text: str
    calls: tuple[ProtocolCall, ...] = ()
    finish: Finish = Finish.STOP
    usage: Usage = Usage()
    provider: str = ""
    opaque: Mapping[str, Json] = field(default_factory=dict)
    reasoning: str = ""


def unanswered(messages: tuple[Message, ...]) -> tuple[str, ...]:
    """Ids of calls that the messages right after their assistant message don't answer exactly once, in order.

    Empty means that the conversation is paired, which every provider demands of a request.
    """
    wrong: list[str] = []
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        if isinstance(message, ToolMessage):
            wrong.append(message.call_id)
            continue
        if not isinstance(message, AssistantMessage):
            continue
        for call in message.calls:
            answer = messages[position] if position < len(messages) else None
            if isinstance(answer, ToolMessage) and answer.call_id == call.id:
                position += 1
            else:
                wrong.append(call.id)
    return tuple(wrong)
