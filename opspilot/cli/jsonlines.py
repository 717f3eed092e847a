"""One JSON object a line, for programs that read what the command line prints."""

import json
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Any, TextIO

from opspilot.core.entries import Entry
from opspilot.core.ports import Draft


def json_line(value: Any, encoding: str | None = None) -> str:
    """A dataclass or JSON value on one line, times in ISO 8601; escaped where the encoding can't carry the text."""
    plain = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    line = json.dumps(plain, ensure_ascii=False, default=_plain)
    try:
        line.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(plain, default=_plain)
    return line


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


class JsonView:
    """Standard output for programs: one event a line, and nothing else. `outward` makes of an entry what may leave."""

    def __init__(self, output: TextIO, outward: Callable[[Entry], Entry]) -> None:
        self._output = output
        self._outward = outward

    def show(self, entry: Entry) -> None:
        """Print an entry as its event."""
        event = self._outward(entry).as_event()
        self._output.write(json_line(event, self._output.encoding) + "\n")
        self._output.flush()

    def recall(self, entry: Entry) -> None:
        """What was there before is not asked for."""

    def draft(self, drafts: tuple[Draft, ...]) -> None:
        """Unfinished text is no event."""

    def pause(self) -> None:
        """Nothing moves here."""
