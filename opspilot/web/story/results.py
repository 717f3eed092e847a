"""What of a call's result a page shows at first, and the stretches in which the rest can be read on.

Results are shown as they are: values of an object one under the other, anything else as text.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from opspilot.core.messages import Json
from opspilot.texts.endings import failure
from opspilot.web.showing import legible

SHOWN_CHARACTERS = 6_000
"""A longer result is cut, and read on in stretches."""
REST_CHARACTERS = 1_000
"""Not for so little more."""
STRETCH_CHARACTERS = 20_000


@dataclass(frozen=True)
class Shown:
    """A result. One that failed has a `code` and a `sentence`; otherwise `values` or `text` of `total` characters.

    `rest` is where what isn't shown begins, 0 when everything is.
    """

    code: str = ""
    sentence: str = ""
    values: Mapping[str, Json] | None = None
    text: str = ""
    total: int = 0
    rest: int = 0


def shown(result: Mapping[str, Json]) -> Shown:
    """The data of a `tool.result` entry, as it may leave the journal."""
    if not result.get("ok"):
        return Shown(code=str(result.get("errorCode") or ""), sentence=failure(result))
    data = result.get("data")
    if (trimmed := trimmed_of(data)) is not None:
        # What was kept is paged by its own characters, which redaction may have changed in the excerpt.
        return Shown(text=trimmed.excerpt, total=trimmed.total, rest=trimmed.offset)
    whole = legible(data)
    if len(whole) > SHOWN_CHARACTERS + REST_CHARACTERS:
        return Shown(text=whole[:SHOWN_CHARACTERS], total=len(whole), rest=SHOWN_CHARACTERS)
    if isinstance(data, Mapping) and data:
        return Shown(values=data)
    return Shown(text="" if data is None else whole, total=len(whole))


@dataclass(frozen=True)
class Trimmed:
    """What a trimmed result says of itself; `ref` is empty when the rest was not kept."""

    excerpt: str
    total: int
    ref: str
    offset: int


def trimmed_of(data: Json) -> Trimmed | None:
    """None for a result that is whole."""
    if not isinstance(data, Mapping) or not isinstance(data.get("excerpt"), str):
        return None
    total, more = data.get("total_chars"), data.get("read_more")
    if not isinstance(total, int):
        return None
    ref, offset = (more.get("ref"), more.get("offset")) if isinstance(more, Mapping) else (None, None)
    if isinstance(ref, str) and isinstance(offset, int):
        return Trimmed(data["excerpt"], total, ref, offset)
    return Trimmed(data["excerpt"], total, "", 0)
