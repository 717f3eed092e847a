"""One reply's text as it is streamed: from drafts, of which each holds all so far, to what is new in each.

A reply that is tried again, or whose text turns out otherwise, takes back what was streamed of it: the message is
ended, all messages are restated without it, and it begins anew under another name. So nobody reads anything twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ag_ui.core import BaseEvent, TextMessageContentEvent, TextMessageEndEvent, TextMessageStartEvent


@dataclass
class _Streamed:
    reply: str
    attempt: int
    id: str
    text: str
    begun: int


class Writing:
    """At most one text at a time. `restate` gives all messages but the one that is being written."""

    def __init__(self, restate: Callable[[], BaseEvent]) -> None:
        self._restate = restate
        self._now: _Streamed | None = None

    def goes_on(self, reply: str, attempt: int, text: str) -> list[BaseEvent]:
        """A draft of a reply: all of its text so far. One of an earlier attempt comes too late."""
        now = self._now
        if now is None or now.reply != reply:
            return [*self.close(), *self._begin(reply, attempt, text, 1)]
        if attempt < now.attempt:
            return []
        now.attempt = attempt
        if now.text.startswith(text):
            # Another attempt, which is not as far yet; or nothing new.
            return []
        if text.startswith(now.text):
            more, now.text = text[len(now.text) :], text
            return content(now.id, more)
        return [*self._take_back(now), *self._begin(reply, attempt, text, now.begun + 1)]

    def land(self, reply: str, text: str) -> tuple[str, list[BaseEvent]]:
        """The reply is there, with this text: the name of its message, and what is missing of it."""
        now = self._now
        if now is None or now.reply != reply:
            return reply, [*self.close(), *(whole(reply, "assistant", text) if text else [])]
        if text.startswith(now.text):
            self._now = None
            return now.id, [*content(now.id, text[len(now.text) :]), TextMessageEndEvent(message_id=now.id)]
        events = self._take_back(now)
        id_ = _name(reply, now.begun + 1)
        return id_, [*events, *(whole(id_, "assistant", text) if text else [])]

    def close(self) -> list[BaseEvent]:
        """Nothing stays open."""
        now, self._now = self._now, None
        return [] if now is None else [TextMessageEndEvent(message_id=now.id)]

    def _begin(self, reply: str, attempt: int, text: str, begun: int) -> list[BaseEvent]:
        self._now = _Streamed(reply, attempt, _name(reply, begun), text, begun)
        return [TextMessageStartEvent(message_id=self._now.id, role="assistant"), *content(self._now.id, text)]

    def _take_back(self, now: _Streamed) -> list[BaseEvent]:
        self._now = None
        return [TextMessageEndEvent(message_id=now.id), self._restate()]


def whole(id_: str, role: Literal["assistant", "user"], text: str) -> list[BaseEvent]:
    """A message that comes at once."""
    start = TextMessageStartEvent(message_id=id_, role=role)
    return [start, *content(id_, text), TextMessageEndEvent(message_id=id_)]


def content(id_: str, text: str) -> list[BaseEvent]:
    """A piece of a message; an empty one is none."""
    return [TextMessageContentEvent(message_id=id_, delta=text)] if text else []


def _name(reply: str, begun: int) -> str:
    return reply if begun == 1 else f"{reply}/{begun}"
