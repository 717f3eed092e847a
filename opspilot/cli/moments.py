"""Reads a moment as people write it: `2h`, `yesterday`, `2026-11-30`, `2026-11-30T15:00+01:00`."""

import re
from datetime import datetime, timedelta

from opspilot.core.errors import UsageError
from opspilot.texts.language import text

_AGO = re.compile(r"(\d{1,6}) ?(s|min|m|h|d|w)(?: ago)?")
_UNIT_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}


def moment(written: str, now: datetime) -> datetime:
    """The moment that is meant; without a zone it is in that of `now`. Raises `UsageError` for what is none."""
    word = written.strip().lower()
    if word in {"today", "yesterday"}:
        return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=word == "yesterday")
    try:
        if ago := _AGO.fullmatch(word):
            return now - timedelta(seconds=int(ago[1]) * _UNIT_SECONDS[ago[2]])
        meant = datetime.fromisoformat(written.strip())
        return meant if meant.tzinfo else meant.replace(tzinfo=now.tzinfo)
    except (ValueError, OverflowError):
        raise UsageError(text("refused.moment", written=repr(written[:60]))) from None
