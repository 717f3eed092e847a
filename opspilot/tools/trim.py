"""A result that is too long for a model becomes an excerpt with a way to read the rest.

Owns where the cut is made and what is said of it. Knows nothing of journals: whoever stores the whole text is given it.
"""

import json
from dataclasses import dataclass

from opspilot.core.messages import Json

__all__ = ["KEPT_CHARS", "Trimmed", "json_text", "trim"]

KEPT_CHARS = 2_000_000
"""Characters of one result that can be read on; what lies beyond is dropped, and the observation says so."""


@dataclass(frozen=True)
class Trimmed:
    """`data` is what the model is shown; `whole` is the text that `ref` pages through, empty when nothing was cut."""

    data: Json
    ref: str = ""
    whole: str = ""


def json_text(value: Json) -> str:
    """Compact JSON, keys in the order that the tool gave them: the first ones answer the question."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def trim(value: Json, ref: str, *, max_chars: int, kept_chars: int = KEPT_CHARS) -> Trimmed:
    """The value itself while its JSON text has at most `max_chars` characters, else the first two thirds of that text.

    The rest of the room is for the quotes of the excerpt, which are escaped when it is shown. With an empty `ref` the
    rest can't be read, and nothing is said of it.
    """
    text = json_text(value)
    if len(text) <= max_chars:
        return Trimmed(value)
    excerpt = text[: max_chars * 2 // 3]
    data: dict[str, Json] = {"excerpt": excerpt, "total_chars": len(text)}
    if ref:
        data["read_more"] = {"ref": ref, "offset": len(excerpt)}
        if len(text) > kept_chars:
            data["note"] = f"Only the first {kept_chars} characters can be read; ask the tool for less."
    return Trimmed(data, ref, text[:kept_chars] if ref else "")
