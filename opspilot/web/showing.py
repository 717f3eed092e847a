"""How times and values look on a page: what every template may use beside the catalogue. Knows nothing of any page.

What somebody is to agree to is shown whole and as it is: characters that can't be seen, or that change how others are
read, stand as escapes, and text that could be taken for another value in quotes.
"""

import json
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime

from markupsafe import Markup

from opspilot.core.messages import Json
from opspilot.texts.folding import compact, printable, seconds
from opspilot.texts.language import text

UNITS = (("d", 86_400), ("h", 3600), ("min", 60))
SHORT_CHARACTERS = 72
HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""General categories of Unicode whose characters can't be seen."""


def exactly(at: datetime) -> str:
    """`2026-11-30 19:03:25 UTC`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def ago(at: datetime) -> str:
    """`5 min ago`."""
    return text("ui.ago", age=_age((datetime.now(UTC) - at).total_seconds()))


def until(due: datetime) -> str:
    """`5 min left`; when nothing is left, that it is late."""
    left = (due - datetime.now(UTC)).total_seconds()
    return text("ui.left", left=_age(left)) if left > 0 else text("ui.late")


def _age(elapsed_seconds: float) -> str:
    for unit, length in UNITS:
        if elapsed_seconds >= length:
            return text(f"ui.age.{unit}", count=int(elapsed_seconds // length))
    return text("ui.age.s", count=int(max(elapsed_seconds, 0)))


def readable(value: Json) -> str:
    """A value as text, whole: strings bare where that can't be mistaken, all else as JSON, on several lines if long."""
    if isinstance(value, str):
        edges = value.strip() if "\n" not in value.strip() else value.lstrip("\n")
        bare = value == edges and not _reads_as_another(value)
        return value if bare and not _has_hidden(value) else _escaped(json.dumps(value, ensure_ascii=False))
    line = json.dumps(value, ensure_ascii=False, default=str)
    return _escaped(
        line if len(line) <= SHORT_CHARACTERS else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    )


def legible(value: Json) -> str:
    """A value to be read, not agreed to: text as it is, everything else as `readable` has it."""
    return value if isinstance(value, str) else readable(value)


def beginning(long: str, characters: int) -> str:
    """The first characters, on one line."""
    return compact(long[: characters * 4], characters)


def finished(value: object) -> object:
    """What a template is about to print: text without what could turn the direction of reading, or be no text."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value).encode("utf-8", "replace").decode()


def _reads_as_another(value: str) -> bool:
    if value[:1] not in '-0123456789tfn"[{':
        return False
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True


def _has_hidden(value: str) -> bool:
    return any(unicodedata.category(character) in HIDDEN for character in value if character not in "\n\t")


def _escaped(line: str) -> str:
    if line.isascii() or not _has_hidden(line):
        return line
    return "".join(_escape(each) if _has_hidden(each) else each for each in line)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


FOR_TEMPLATES: Mapping[str, object] = {
    "ago": ago,
    "beginning": beginning,
    "exactly": exactly,
    "legible": legible,
    "printable": printable,
    "readable": readable,
    "took": seconds,
    "until": until,
}
