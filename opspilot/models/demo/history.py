"""Reading the conversation: what is being asked now, and what was done about it so far.

The state of the planner is this and nothing else, derived anew for each request: asked again, it replies the same.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from opspilot.core.calls import canonical_json
from opspilot.core.messages import AssistantMessage, Json, Message, ModelRequest, ProtocolCall, ToolMessage, UserMessage
from opspilot.models.demo.findings import Findings, JsonNumber, read_result

HUMAN_CODES = frozenset({"rejected_by_human", "approval_expired", "denied_by_policy"})
"""People or rules said no: asking again would be asking the same people the same question."""


@dataclass(frozen=True)
class Trim:
    """A result that was cut: where the rest is read."""

    ref: str
    offset: int


@dataclass(frozen=True)
class Done:
    """A call that was made, with its observation. `text` is the observation as it came."""

    tool: str
    arguments: Mapping[str, Json]
    ok: bool
    findings: Findings
    text: str
    code: str = ""
    message: str = ""
    trim: Trim | None = None
    data: Json = None
    hint: str = ""
    """The need that the call's id names, where it is one of ours: all there is to go by in a turn without tools."""

    @property
    def key(self) -> str:
        """The same for the same call."""
        return call_key(self.tool, self.arguments)

    @property
    def useful(self) -> bool:
        """Did it return anything to work with?"""
        return self.ok and not self.findings.empty


def call_key(tool: str, arguments: Mapping[str, Json]) -> str:
    """Two calls with this key in common are the same call."""
    return f"{tool} {canonical_json(dict(arguments))}"


@dataclass(frozen=True)
class Dialogue:
    """`asked`: messages since the last answer, newest last. `before`: earlier ones. `steps`: calls since then, by step.

    `known` are calls of earlier questions of the session: they may tell names, but they are not evidence for this one.
    """

    asked: tuple[str, ...]
    before: tuple[str, ...] = ()
    steps: tuple[tuple[Done, ...], ...] = ()
    known: tuple[Done, ...] = ()

    @property
    def done(self) -> tuple[Done, ...]:
        """All calls about this question, in order."""
        return tuple(call for step in self.steps for call in step)


def read_dialogue(request: ModelRequest) -> Dialogue:
    """Take the conversation apart. An answer is an assistant message without calls; it closes what was asked before."""
    answered = max(
        (i for i, m in enumerate(request.messages) if isinstance(m, AssistantMessage) and not m.calls), default=-1
    )
    past, present = request.messages[: answered + 1], request.messages[answered + 1 :]
    asked = tuple(message.text for message in present if isinstance(message, UserMessage))
    before = tuple(message.text for message in past if isinstance(message, UserMessage))
    if not asked:
        asked, before = before[-1:], before[:-1]
    steps = _steps(present)
    return Dialogue(asked, before, steps, tuple(call for step in _steps(past) for call in step))


def _steps(messages: tuple[Message, ...]) -> tuple[tuple[Done, ...], ...]:
    steps: list[tuple[Done, ...]] = []
    for position, message in enumerate(messages):
        if not isinstance(message, AssistantMessage) or not message.calls:
            continue
        results: dict[str, ToolMessage] = {}
        for later in messages[position + 1 :]:
            if not isinstance(later, ToolMessage):
                break
            results.setdefault(later.call_id, later)
        steps.append(tuple(_done(call, results[call.id]) for call in message.calls if call.id in results))
    return tuple(step for step in steps if step)


_OWN_ID = re.compile(r"demo_\d+_\d+_([a-z]+)_(\d+)")


def _done(call: ProtocolCall, result: ToolMessage) -> Done:
    name, own = call.name, _OWN_ID.fullmatch(call.id)
    hint = f"{own[1]}.{own[2]}" if own else ""
    try:
        arguments = json.loads(call.arguments or "{}", parse_constant=str)
    except (ValueError, RecursionError):
        arguments = {}
    arguments = arguments if isinstance(arguments, dict) else {}
    observed = parse(result.text)
    if not isinstance(observed, dict) or "ok" not in observed:
        observed = {"ok": result.ok, "data": observed, "message": result.text[:300] if not result.ok else ""}
    if observed["ok"] is not True:
        code, message = str(observed.get("errorCode", "")), str(observed.get("message", ""))
        return Done(name, arguments, False, Findings(), result.text, code, message, hint=hint)
    data, trim = _untrimmed(observed.get("data"))
    return Done(name, arguments, True, read_result(data), result.text, trim=trim, data=data, hint=hint)


def parse(text: str) -> Json:
    """JSON with its fractions kept as they were written; text that is no JSON stays text."""
    try:
        return json.loads(text, parse_float=JsonNumber, parse_constant=str)
    except (ValueError, RecursionError):
        return text


def _untrimmed(data: Json) -> tuple[Json, Trim | None]:
    """What can be read of a trimmed result, whose excerpt is the beginning of a JSON text."""
    if not isinstance(data, dict) or not isinstance(data.get("excerpt"), str) or "read_more" not in data:
        return data, None
    more = data["read_more"]
    trim = None
    if isinstance(more, dict) and isinstance(more.get("ref"), str):
        offset = more.get("offset")
        trim = Trim(more["ref"], offset if isinstance(offset, int) and not isinstance(offset, bool) else 0)
    return salvage(data["excerpt"]), trim


_DEEPEST = 60


def salvage(beginning: str) -> Json:
    """The longest whole part of a JSON text whose end is missing: unfinished values are dropped, brackets closed."""
    closers: list[str] = []
    good: tuple[int, str] | None = None
    in_string = escaped = False
    for position, character in enumerate(beginning):
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in "[{" and len(closers) < _DEEPEST:
            closers.append("]" if character == "[" else "}")
            good = (position + 1, "".join(reversed(closers)))
        elif character in "]}" and closers:
            closers.pop()
            good = (position + 1, "".join(reversed(closers)))
        elif character == "," and closers:
            good = (position, "".join(reversed(closers)))
    if good is None:
        return parse(beginning)
    return parse(beginning[: good[0]] + good[1])
