"""Text that UTF-8 can carry. JSON escapes let half a character (a lone surrogate) into a string, and UTF-8 doesn't.

One such half in one tool result makes every later request of its session a 400, and no store takes it.
"""

from opspilot.core.messages import Json


def mend(value: Json) -> Json:
    """A copy in which surrogate halves that meet are one character again, and lone ones are U+FFFD. Keys too."""
    if isinstance(value, str):
        return mend_text(value)
    if isinstance(value, dict):
        return {mend_text(str(key)): mend(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mend(item) for item in value]
    return value


def mend_text(text: str) -> str:
    """`mend` for one string."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def ends_in_half(text: str) -> bool:
    """Does the text stop between the two halves of a character? Some servers cut their pieces there."""
    return bool(text) and "\ud800" <= text[-1] <= "\udbff"
