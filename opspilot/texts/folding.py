"""How values become lines for people: without control characters, on one line, cut to a length."""

import json
import re
from collections.abc import Mapping

from opspilot.core.messages import Json
from opspilot.texts.language import text

RESULT_LINES = 5
RESULT_CHARACTERS = 160
ARGUMENT_CHARACTERS = 200
APPROVED_CHARACTERS = 2000
"""How much of one value is shown to whoever is to approve it; what is left out is counted."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(value: str) -> str:
    """Text without what could move the cursor, change colours, or turn the direction of writing."""
    return _CONTROL.sub("", value.replace("\r\n", "\n"))


def compact(value: Json, characters: int) -> str:
    """A value as JSON on one line, cut to a length; text stands without quotes."""
    line = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = " ".join(printable(line).split())
    return line if len(line) <= characters else f"{line[: characters - 1]}…"


def arguments_line(arguments: Json) -> str:
    """`service="payment" level="error"`; arguments that aren't an object are shown as they came."""
    if not isinstance(arguments, Mapping):
        return compact(arguments, ARGUMENT_CHARACTERS)
    pairs = (f"{name}={json.dumps(value, ensure_ascii=False, default=str)}" for name, value in arguments.items())
    return compact(" ".join(pairs), ARGUMENT_CHARACTERS)


def to_approve(value: Json, session: str, *, quoted: bool = False) -> str:
    """A value as somebody has to see it who approves it, on one line: as JSON wherever that says more than the text.

    Nothing is collapsed or dropped. Beyond `APPROVED_CHARACTERS` it says how much more there is, and where all is.
    """
    line = json.dumps(value, ensure_ascii=False, default=str)
    if printable(line) != line:
        line = json.dumps(value, default=str)
    if isinstance(value, str) and not quoted and compact(value, len(value) + 1) == value:
        line = value
    line = printable(line)
    if len(line) <= APPROVED_CHARACTERS:
        return line
    more = len(line) - APPROVED_CHARACTERS
    return line[:APPROVED_CHARACTERS] + text("approve.more", count=f"{more:,}", session=session)


def arguments_to_approve(arguments: Json, session: str) -> str:
    """`service="payment" level="error"`, each value whole."""
    if not isinstance(arguments, Mapping):
        return to_approve(arguments, session)
    return " ".join(
        f"{compact(name, ARGUMENT_CHARACTERS)}={to_approve(value, session, quoted=True)}"
        for name, value in arguments.items()
    )


def result_lines(data: Json, characters: int = RESULT_CHARACTERS) -> list[str]:
    """The first keys of a result, one a line, each cut; they answer the question, by convention of the tools."""
    if not isinstance(data, Mapping):
        return [compact(data, characters)] if data not in (None, "") else []
    lines = [f"{name}: {compact(value, characters)}" for name, value in data.items()]
    if len(lines) <= RESULT_LINES:
        return lines
    return [*lines[:RESULT_LINES], text("result.more", count=len(lines) - RESULT_LINES)]


def seconds(duration_ms: float) -> str:
    """`34 ms`, `2.1 s`, `3 min 20 s`, `12 h 5 min`: who waits for people may wait for long."""
    if duration_ms < 1000:
        return f"{duration_ms:.0f} ms"
    if duration_ms < 60_000:
        return f"{duration_ms / 1000:.1f} s"
    minutes, rest = divmod(round(duration_ms / 1000), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def age(elapsed_seconds: float) -> str:
    """`12 s`, `5 min`, `3 h`, `8 d`: how long ago, for a table."""
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if elapsed_seconds >= length:
            return text(f"ui.age.{unit}", count=int(elapsed_seconds // length))
    return text("ui.age.s", count=round(max(elapsed_seconds, 0)))
