"""What may have been meant by a name that there isn't."""

import difflib
from collections.abc import Sequence

from opspilot.texts.language import text


def guess(name: str, known: Sequence[str], likeness: float = 0.6) -> str:
    """A sentence with the closest of the known names, to stand behind another; empty when none is close enough.

    `likeness` is the least that counts, from 0 to 1.
    """
    close = difflib.get_close_matches(name, known, cutoff=likeness)
    return text("tools.guess", names=", ".join(close)) if close else ""
