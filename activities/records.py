"""What several activities ask of the journal in the same words."""

from collections.abc import Iterable
from datetime import datetime

from opspilot.core.calls import round_name
from opspilot.core.contract import UserMessage
from opspilot.core.entries import (
    Entry,
    Kind,
    NewEntry,
    call_key,
    interrupt_key,
    message_key,
    result_key,
    tool_started_key,
)
from opspilot.core.errors import JournalBehind
from opspilot.core.ports import Journal

VOID = "void"
"""Marks a `tool.started` that was written to make sure that nobody starts that round any more."""


def recorded_call(journal: Journal, session: str, run: str, call: str, round_: int) -> tuple[Entry, Entry | None]:
    """The entry of a call, and the entry that ended this round of it, if one did.

    A question ended the round only if the tool asked it: one that held the call before it ran comes before the start.

    Raises:
        JournalBehind: the journal has no such call.
    """
    keys = (
        call_key(run, call),
        result_key(run, call),
        interrupt_key(run, call, round_),
        tool_started_key(run, call, round_),
    )
    found = journal.find(session, keys)
    proposed, result, asked, started = (found.get(key) for key in keys)
    if proposed is None:
        raise JournalBehind(f"The journal has no call {round_name(call, round_)} of run {run}.")
    asked_by_tool = asked is not None and started is not None and started.seq < asked.seq
    return proposed, result or (asked if asked_by_tool else None)


def unanswered_calls(entries: Iterable[Entry], run: str) -> list[str]:
    """Calls of a run that have no result, in proposal order."""
    calls: dict[str, None] = {}
    for entry in entries:
        if entry.run != run or entry.call is None:
            continue
        if entry.kind is Kind.TOOL_CALL:
            calls[entry.call] = None
        elif entry.kind is Kind.TOOL_RESULT:
            calls.pop(entry.call, None)
    return list(calls)


def message_entries(messages: Iterable[UserMessage], at: datetime) -> list[NewEntry]:
    """`user.message` entries; the key is the client's id, so a message that is sent again is the same entry."""
    return [
        NewEntry(message_key(message.id), Kind.USER_MESSAGE, at, {"id": message.id, "text": message.text})
        for message in messages
    ]
