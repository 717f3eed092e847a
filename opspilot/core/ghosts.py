"""The end of a run that nobody wrote: Temporal ended it (terminated or timed out), so it could not close itself."""

from dataclasses import asdict
from datetime import datetime

from opspilot.core.entries import Kind, NewEntry, stopped_key
from opspilot.core.limits import StopReason
from opspilot.core.messages import Usage

OUTSIDE = "This run ended outside OpsPilot (terminated or timed out in Temporal)."


def ghost_key(run: str) -> str:
    """The key of such an end. Runs that stop by themselves count their ends from 1."""
    return stopped_key(run, 0)


def ended_behind_our_back(run: str, at: datetime) -> NewEntry:
    """The `run.stopped` of such a run, the same whoever writes it: the next run, or somebody who has asked Temporal."""
    return NewEntry(
        key=ghost_key(run),
        kind=Kind.RUN_STOPPED,
        at=at,
        data={
            "stop_reason": StopReason.INTERNAL_ERROR.value,
            "answer": "",
            "message": OUTSIDE,
            "steps": 0,
            "usage": asdict(Usage()),
        },
        run=run,
    )
