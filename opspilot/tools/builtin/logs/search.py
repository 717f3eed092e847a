"""The search itself: which files are read how far, and what stopped it. What a line must be is the matcher's affair."""

import time
from collections.abc import Callable, Iterable
from datetime import tzinfo

from opspilot.tools.builtin.logs.chunks import UnreadableLog
from opspilot.tools.builtin.logs.files import LogFile
from opspilot.tools.builtin.logs.matching import PatternTooSlow, Query
from opspilot.tools.builtin.logs.scan import Scan
from opspilot.tools.builtin.logs.tally import Coverage, Tally

__all__ = ["PatternTooSlow", "Query", "search"]


def search(
    files: Iterable[LogFile],
    query: Query,
    zone: tzinfo,
    deadline: float,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    whole: bool = False,
) -> Tally:
    """Search files until `deadline` (of `time.monotonic`). Raises `PatternTooSlow`; what can't be read is a problem.

    `whole`: understand every line, also those that can't match, so that what there is instead can be said.
    """
    tally = Tally()

    def stopped() -> bool:
        return time.monotonic() > deadline or cancelled()

    for file in files:
        coverage = Coverage(file.name, "text", file.family)
        tally.files.append(coverage)
        if stopped():
            continue
        try:
            coverage.complete = Scan(query, tally, coverage, file, zone, deadline, whole=whole).run(stopped)
        except UnreadableLog as error:
            tally.problems.append(f"{file.name} {error}")
            coverage.complete = True
    return tally
