"""A model that plays a script: the shipped fake, for tests and for trying tools without a provider.

Which step is played follows from the conversation alone (step n answers a request with n - 1 assistant messages in it),
so that many sessions, retried attempts and restarted workers can share one script. What was played is counted only to
find steps left over and to fail a first attempt but not the second. Knows no wire format; `scripted_server` adds one.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from opspilot.core.calls import digest
from opspilot.core.errors import ModelError, ModelFault, UsageError
from opspilot.core.messages import (
    AssistantMessage,
    Finish,
    Json,
    ModelReply,
    ModelRequest,
    ProtocolCall,
    SystemMessage,
    Usage,
)
from opspilot.core.ports import Model

PIECE_CHARS = 12
"""Text arrives in pieces of this length, as from a real model."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScriptedCall(_Part):
    """A tool call. `arguments` as text is sent verbatim, so that broken JSON can be played. `id` None makes one up."""

    name: str
    arguments: dict[str, Json] | str = Field(default_factory=dict)
    id: str | None = None


class Expectation(_Part):
    """What the request must look like, else the call fails.

    `contains`: each text stands somewhere in what came after the last assistant message. `tools`: exactly these are
    offered, in any order.
    """

    contains: str | list[str] = Field(default_factory=list)
    tools: list[str] | None = None


class ScriptedError(_Part):
    """The call fails like this. `attempts` N: only the first N attempts at one conversation; None: all of them."""

    fault: ModelFault
    message: str
    retryable: bool = False
    retry_after_seconds: float | None = None
    attempts: int | None = None


class HttpFault(_Part):
    """What goes wrong on the wire, for the first `attempts` attempts at one conversation. Only the server plays it.

    A `status` is answered with `headers` and `body`; `cut_after_bytes` closes the connection inside the normal answer.
    """

    attempts: int = 1
    status: int | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    body: Json = None
    cut_after_bytes: int | None = None


class ScriptedUsage(_Part):
    """Tokens that the step reports."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


class Step(_Part):
    """One reply. When no tools are offered (a run's last turn) nothing is called, and `final` is said if it is given.

    `delay_seconds` pass before the answer. `finish` None follows from the calls.
    """

    text: str = ""
    calls: list[ScriptedCall] = Field(default_factory=list)
    final: str | None = None
    finish: Finish | None = None
    usage: ScriptedUsage = ScriptedUsage()
    expect: Expectation = Expectation()
    error: ScriptedError | None = None
    delay_seconds: float = 0.0
    http: HttpFault | None = None


@dataclass(frozen=True)
class Asked:
    """What a request shows of itself: assistant messages in it, texts after the last of them, tools offered.

    `fingerprint` tells two attempts at one conversation from two conversations.
    """

    replies: int
    said: tuple[str, ...]
    tools: frozenset[str]
    fingerprint: str


@dataclass(frozen=True)
class Played:
    """What to answer. `attempt` counts from 1 for each conversation."""

    number: int
    attempt: int
    step: Step
    text: str
    calls: tuple[ProtocolCall, ...]

    @property
    def error(self) -> ScriptedError | None:
        """The error to fail with, unless it is over."""
        error = self.step.error
        return error if error and (error.attempts is None or self.attempt <= error.attempts) else None

    @property
    def http(self) -> HttpFault | None:
        """The fault to put on the wire, unless it is over."""
        fault = self.step.http
        return fault if fault and self.attempt <= fault.attempts else None

    @property
    def finish(self) -> Finish:
        """As scripted, else what the calls say."""
        return self.step.finish or (Finish.TOOL_CALLS if self.calls else Finish.STOP)


class UnexpectedCall(Exception):
    """The model was called in a way that the script has no answer to. The text says how."""


class Script:
    """The steps, and which of them were played. Safe to use from several threads."""

    def __init__(self, steps: Iterable[Step | Mapping[str, Json]]) -> None:
        self._steps = _checked(list(steps), "the script")
        self._attempts: Counter[tuple[int, str]] = Counter()
        self._lock = Lock()

    @classmethod
    def load(cls, path: Path) -> Self:
        """From a JSON file that holds a list of steps. Raises `UsageError` with file, step and key."""
        try:
            steps = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"The script {path} can't be read: {error.strerror}.") from None
        except ValueError as error:
            raise UsageError(f"The script {path} is not valid JSON: {error}.") from None
        return cls(_checked(steps, str(path)))

    def play(self, asked: Asked) -> Played:
        """The answer to a request. Raises `UnexpectedCall`."""
        number = asked.replies + 1
        if number > len(self._steps):
            raise UnexpectedCall(
                f"The script has {len(self._steps)} step(s), and this request asks for step {number}: "
                f"it holds {asked.replies} assistant message(s)."
            )
        step = self._steps[number - 1]
        _check(step.expect, number, asked)
        with self._lock:
            self._attempts[number, asked.fingerprint] += 1
            attempt = self._attempts[number, asked.fingerprint]
        if asked.tools:
            return Played(number, attempt, step, step.text, tuple(_protocol_calls(step, number)))
        text = step.text if step.final is None else step.final
        if step.calls and not text:
            raise UnexpectedCall(
                f'Step {number} of the script only has calls, but no tools are offered. Give it a "final" text.'
            )
        return Played(number, attempt, step, text, ())

    def left_over(self) -> list[int]:
        """Numbers, from 1, of steps that were never played."""
        played = {number for number, _ in self._attempts}
        return [number for number in range(1, len(self._steps) + 1) if number not in played]

    def assert_done(self) -> None:
        """Fail if any step was never played."""
        if left := self.left_over():
            raise AssertionError(f"Steps of the script that were never played: {', '.join(map(str, left))}.")


class ScriptedModel(Model):
    """Plays the steps of a script in the worker's own process."""

    def __init__(self, steps: Sequence[Step | Mapping[str, Json]] | Script, name: str = "scripted") -> None:
        self._script = steps if isinstance(steps, Script) else Script(steps)
        self._name = name

    @classmethod
    def load(cls, path: Path, name: str = "scripted") -> Self:
        """From a JSON file; see `Script.load`."""
        return cls(Script.load(path), name)

    @property
    def name(self) -> str:
        """What people are shown."""
        return self._name

    def assert_done(self) -> None:
        """Fail if any step was never played."""
        self._script.assert_done()

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """See `Model.reply`. An unexpected call is a `ModelError` that no retry mends."""
        try:
            played = self._script.play(_asked(request))
        except UnexpectedCall as error:
            raise ModelError(ModelFault.BAD_REQUEST, str(error), retryable=False) from None
        await asyncio.sleep(played.step.delay_seconds)
        if fault := played.error:
            raise ModelError(fault.fault, fault.message, fault.retryable, fault.retry_after_seconds)
        for piece in pieces(played.text, PIECE_CHARS):
            on_text(piece)
        usage = Usage(**played.step.usage.model_dump())
        return ModelReply(played.text, played.calls, played.finish, usage, provider="scripted")


def pieces(text: str, size: int) -> list[str]:
    """The text cut into pieces of `size` characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def _asked(request: ModelRequest) -> Asked:
    replies = [at for at, message in enumerate(request.messages) if isinstance(message, AssistantMessage)]
    fresh = request.messages[replies[-1] + 1 :] if replies else request.messages
    return Asked(
        replies=len(replies),
        said=tuple(message.text for message in fresh if not isinstance(message, SystemMessage)),
        tools=frozenset(spec.name for spec in request.tools),
        fingerprint=digest([repr(message) for message in request.messages]),
    )


def _check(expect: Expectation, number: int, asked: Asked) -> None:
    wanted = [expect.contains] if isinstance(expect.contains, str) else expect.contains
    for text in wanted:
        if not any(text in said for said in asked.said):
            heard = " | ".join(asked.said)[:500]
            raise UnexpectedCall(
                f"Step {number} of the script expects {text!r} in what it is told, but that is: {heard}"
            )
    if expect.tools is not None and set(expect.tools) != asked.tools:
        raise UnexpectedCall(
            f"Step {number} of the script expects the tools {sorted(expect.tools)}, "
            f"but {sorted(asked.tools)} are offered."
        )


def _protocol_calls(step: Step, number: int) -> Iterable[ProtocolCall]:
    for index, call in enumerate(step.calls, start=1):
        arguments = (
            call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
        )
        yield ProtocolCall(call.id or f"call_{number}_{index}", call.name, arguments)


def _checked(steps: Json, where: str) -> list[Step]:
    try:
        return TypeAdapter(list[Step]).validate_python(steps)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part + 1) if isinstance(part, int) else part for part in first["loc"])
        raise UsageError(f"In {where}, at step {place or '(the whole)'}: {first['msg']}.") from None
