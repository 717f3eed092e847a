"""A run without Temporal: the model is asked, its calls are made, until it answers. Checks each reply on the way."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from opspilot.core.messages import (
    AssistantMessage,
    Json,
    Message,
    ModelReply,
    ModelRequest,
    ToolMessage,
    ToolSpec,
    UserMessage,
    unanswered,
)
from opspilot.models.demo import DemoModel

MOST_STEPS = 8


class Refused(Exception):
    """A tool's failure: a code and a public message."""

    def __init__(self, message: str, code: str = "tool_failed") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class Usable(Protocol):
    """What the harness needs of a tool."""

    @property
    def name(self) -> str: ...

    @property
    def spec(self) -> ToolSpec: ...

    def call(self, arguments: Mapping[str, Json]) -> Json: ...


@dataclass(frozen=True)
class Toy:
    """A tool of a test: declared by a pydantic model, run by a function of the validated model."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Any], Json]

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.arguments.model_json_schema())

    def call(self, arguments: Mapping[str, Json]) -> Json:
        return self.run(self.arguments.model_validate(dict(arguments)))


def declared(name: str, /, **fields: Any) -> type[BaseModel]:
    """A pydantic model of arguments, extra ones forbidden."""
    model: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid", strict=True), **fields)
    return model


@dataclass
class Run:
    """What happened: the messages, the calls by step as (tool, arguments), the results, the answer."""

    messages: list[Message] = field(default_factory=list)
    steps: list[list[tuple[str, dict[str, Json]]]] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    answer: str = ""

    @property
    def calls(self) -> list[tuple[str, dict[str, Json]]]:
        return [call for step in self.steps for call in step]

    def called(self, tool: str) -> list[dict[str, Json]]:
        return [arguments for name, arguments in self.calls if name == tool]


def reply_to(request: ModelRequest) -> ModelReply:
    """One reply; asks twice and expects the same, and that the streamed pieces are the text."""
    pieces: list[str] = []
    reply = asyncio.run(DemoModel().reply(request, pieces.append))
    assert "".join(pieces) == reply.text
    assert asyncio.run(DemoModel().reply(request, lambda _: None)) == reply
    return reply


def run(
    question: str,
    tools: Sequence[Usable],
    *,
    before: Sequence[Message] = (),
    failures: Mapping[str, str] | None = None,
) -> Run:
    """Ask and go on until the answer. Fails on an invalid or repeated call, and when it takes more than eight steps.

    `failures`: observations by tool, instead of what the tool says.
    """
    done = Run([*before, UserMessage(question)])
    by_name = {tool.name: tool for tool in tools}
    seen: set[str] = set()
    while True:
        assert unanswered(tuple(done.messages)) == ()
        reply = reply_to(ModelRequest(tuple(done.messages), tuple(tool.spec for tool in tools)))
        done.messages.append(AssistantMessage(reply.text, reply.calls))
        if not reply.calls:
            done.answer = reply.text
            return done
        assert len(done.steps) < MOST_STEPS, "it goes on and on"
        assert len({call.id for call in reply.calls}) == len(reply.calls)
        done.steps.append([(call.name, json.loads(call.arguments)) for call in reply.calls])
        for call in reply.calls:
            key = f"{call.name} {json.dumps(json.loads(call.arguments), sort_keys=True)}"
            assert key not in seen, f"{key} is called again"
            seen.add(key)
            message = observe(by_name[call.name], call.id, json.loads(call.arguments))
            if failures:
                message = ToolMessage(call.id, call.name, failures[call.name], ok=False)
            done.results.append(message.text)
            done.messages.append(ToolMessage(call.id, call.name, message.text, message.ok))


def observe(tool: Usable, call_id: str, arguments: Mapping[str, Json]) -> ToolMessage:
    """Make a call as the runtime would. Arguments that don't validate fail the test."""
    try:
        data = tool.call(arguments)
    except ValidationError as error:
        raise AssertionError(f"{tool.name}({arguments}) does not fit its schema: {error}") from error
    except Refused as refusal:
        text = json.dumps({"ok": False, "errorCode": refusal.code, "message": refusal.message}, ensure_ascii=False)
        return ToolMessage(call_id, tool.name, text, ok=False)
    return ToolMessage(call_id, tool.name, json.dumps({"ok": True, "data": data}, ensure_ascii=False), ok=True)
