"""A conversation in the order that every provider demands: each call followed by its one result, and no other results.

The core keeps conversations paired; this is the last look before the wire, where one stray message costs the whole
session (a 400 for ever). Provider formats are not known here.
"""

import json
from dataclasses import dataclass

from opspilot.core.messages import AssistantMessage, Message, ProtocolCall, ToolMessage
from opspilot.core.observations import ErrorCode, Observation


@dataclass(frozen=True)
class Turn:
    """One message, and, after an assistant message with calls, the result of each call in the calls' order."""

    message: Message
    results: tuple[ToolMessage, ...] = ()


def paired(messages: tuple[Message, ...]) -> tuple[Turn, ...]:
    """Put each result behind its call; drop results without a call; give calls without a result an honest one.

    Ids are reused by some servers, within a turn and over turns: a result belongs to the latest message with an
    unanswered call of its id, and there to the first.
    """
    kept = [message for message in messages if not isinstance(message, ToolMessage)]
    results: dict[tuple[int, int], ToolMessage] = {}
    unanswered: dict[str, list[tuple[int, int]]] = {}
    position = -1
    for message in messages:
        if isinstance(message, ToolMessage):
            places = unanswered.get(message.call_id)
            if places:
                place = min(place for place in places if place[0] == places[-1][0])
                places.remove(place)
                results[place] = message
            continue
        position += 1
        if isinstance(message, AssistantMessage):
            for index, call in enumerate(message.calls):
                unanswered.setdefault(call.id, []).append((position, index))
    return tuple(
        Turn(message, tuple(results.get((at, index)) or _unknown(call) for index, call in enumerate(message.calls)))
        if isinstance(message, AssistantMessage)
        else Turn(message)
        for at, message in enumerate(kept)
    )


def _unknown(call: ProtocolCall) -> ToolMessage:
    observation = Observation.failure(ErrorCode.OUTCOME_UNKNOWN)
    return ToolMessage(call.id, call.name, json.dumps(observation.as_json()), ok=False)
