"""Values that JSON and UTF-8 can carry, whatever a model or a tool made.

JSON escapes let half a character (a lone surrogate) into a string, and Python lets NaN into a number. One of them in
one tool result makes every later request of its session a 400, and no store takes it either.
"""

import math

from opspilot.core.messages import Json


def mend(value: Json) -> Json:
    """A copy with `mend_text` in all strings, keys too, and null for numbers that aren't finite."""
    if isinstance(value, str):
        return mend_text(value)
    if isinstance(value, dict):
        return {mend_text(str(key)): mend(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mend(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def mend_text(text: str) -> str:
    """Surrogate halves that meet become one character again, lone ones U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def ends_in_half(text: str) -> bool:
    """Does the text stop between the two halves of a character? Some servers cut their pieces there."""
    return bool(text) and "\ud800" <= text[-1] <= "\udbff"
