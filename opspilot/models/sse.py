"""Server-sent events: bytes in, events out, cut anywhere.

Follows the WHATWG grammar (html.spec.whatwg.org, 9.2.6 "Interpreting an event stream"). Knows nothing of models. Lines
end at CR, LF or CRLF only: `str.splitlines` and httpx's `aiter_lines` also split at U+2028, U+2029 and U+0085, which
are legal inside JSON (florimondmanca/httpx-sse#34).
"""

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Event:
    """One event. `name` is empty for the default, `message`. `complete` is False when the stream ended inside it."""

    name: str
    data: str
    complete: bool = True


class EventReader:
    """An incremental reader: `feed` it packets as they come, `close` it at the end of the stream.

    Two deviations from the grammar: an event that the stream ends in is handed on, marked incomplete, not dropped
    (servers forget the last blank line: agentjido/req_llm#462); and a field `error`, which llama.cpp wrote until 2025
    (ggml-org/llama.cpp#16104), is read as the data of an event of that name.
    """

    def __init__(self) -> None:
        self._partial = bytearray()
        self._after_cr = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, packet: bytes) -> list[Event]:
        """The events that this packet completes."""
        if not packet:
            return []
        rest = packet[1:] if self._after_cr and packet.startswith(b"\n") else packet
        self._after_cr = packet.endswith(b"\r")
        *ended, tail = _LINE_END.split(rest)
        events = []
        for piece in ended:
            self._partial += piece
            event = self._line(bytes(self._partial))
            self._partial.clear()
            if event is not None:
                events.append(event)
        self._partial += tail
        return events

    def close(self) -> list[Event]:
        """What was still open: nothing, or one event that lacks its blank line."""
        if self._partial:
            self._line(bytes(self._partial))
            self._partial.clear()
        event = self._dispatch(complete=False)
        return [] if event is None else [event]

    def _line(self, raw: bytes) -> Event | None:
        if self._at_start:
            raw = raw.removeprefix(_BOM)
            self._at_start = False
        if not raw:
            return self._dispatch(complete=True)
        # Whole lines are decoded, so that no character can be split; bad bytes become U+FFFD as the grammar says.
        field, _, value = raw.decode(errors="replace").partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "error":
            self._name = "error"
            self._data.append(value)
        return None

    def _dispatch(self, *, complete: bool) -> Event | None:
        event = Event(self._name, "\n".join(self._data), complete)
        self._name = ""
        self._data.clear()
        return event if event.data else None
