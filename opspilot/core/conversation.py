"""From the journal's entries to the conversation that a model is shown.

Provider differences are not known here. What is known: each call is answered once, right after the message that made
it, in the order in which it was proposed, whatever the order in which results landed.
"""

from collections.abc import Iterable, Sequence

from opspilot.core.calls import canonical_json
from opspilot.core.entries import Entry, Kind
from opspilot.core.errors import JournalBehind
from opspilot.core.messages import (
    AssistantMessage,
    Message,
    ProtocolCall,
    ToolMessage,
    UserMessage,
    unanswered,
)
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.room import shortened_to, stub


def conversation(entries: Sequence[Entry], up_to: int | None = None) -> tuple[Message, ...]:
    """All messages of a session, oldest first, without the system message.

    Observations with `seq <= up_to` are stubs; by default those that the session has shortened before.

    Raises:
        JournalBehind: a call has no result, so that no provider would take this conversation.
    """
    results = {(entry.run, entry.call): entry for entry in entries if entry.kind is Kind.TOOL_RESULT}
    up_to = shortened_to(entries) if up_to is None else up_to
    messages: list[Message] = []
    for entry in entries:
        if entry.kind is Kind.USER_MESSAGE:
            messages.append(UserMessage(entry.data["text"]))
        elif entry.kind is Kind.ASSISTANT_MESSAGE:
            messages.extend(_turn(entry, results, up_to))
    if missing := unanswered(tuple(messages)):
        raise JournalBehind(f"The journal has no result for {len(missing)} tool call(s) of this session.")
    return tuple(messages)


def _turn(entry: Entry, results: dict[tuple[str, str | None], Entry], up_to: int) -> Iterable[Message]:
    data = entry.data
    calls = tuple(ProtocolCall(call["id"], call["name"], call["arguments"]) for call in data["tool_calls"])
    if not calls and not data["text"]:
        return
    yield AssistantMessage(data["text"], calls, data.get("provider", ""), data.get("opaque", {}))
    for index, call in enumerate(calls, start=1):
        result = results.get((entry.run, f"{entry.step}.{index}"))
        if result is not None:
            observation = stub(result, observation_of(result), up_to)
            yield ToolMessage(call.id, call.name, canonical_json(observation.as_json()), observation.ok)


def observation_of(result: Entry) -> Observation:
    """The observation that a `tool.result` entry holds."""
    data = result.data
    if data["ok"]:
        return Observation(ok=True, data=data.get("data"))
    return Observation(ok=False, error_code=ErrorCode(data["errorCode"]), message=data.get("message", ""))
