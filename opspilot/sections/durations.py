"""How long something lasts, as people write it: `90s`, `30m`, `1h`, `2d`, or a number of seconds."""

import math
import re
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from opspilot.bounds import MOST_SECONDS

_WRITTEN = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?([smhd]?)", re.ASCII)
_UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def as_seconds(written: Any, *, most_seconds: float = MOST_SECONDS) -> float:
    """The seconds that are meant, above 0 and at most so many. Raises pydantic's error `duration` for others."""
    seconds = math.nan
    if isinstance(written, str):
        if read := _WRITTEN.fullmatch(written.strip()):
            seconds = float(read[1]) * _UNIT_SECONDS[read[2]]
    elif isinstance(written, int | float) and not isinstance(written, bool):
        seconds = written
    if not 0 < seconds <= most_seconds:
        raise PydanticCustomError("duration", "not a duration", {"days": round(most_seconds / 86_400)})
    return float(seconds)


Duration: TypeAlias = Annotated[float, BeforeValidator(as_seconds)]
"""A setting in seconds that may be written with a unit."""
