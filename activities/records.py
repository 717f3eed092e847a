"""What several activities ask of the journal in the same words."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from opspilot.core.calls import round_name
from opspilot.core.contract import UserMessage
from opspilot.core.entries import (
    VOID,
    Entry,
    Kind,
    NewEntry,
    call_key,
    interrupt_key,
    message_key,
    result_key,
)
from opspilot.core.errors import JournalBehind
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.ports import Journal, OpenCall


def recorded_call(journal: Journal, session: str, run: str, call: str, round_: int) -> tuple[Entry, Entry | None]:
    """The entry of a call, and the entry that ended this round of it, if one did.

    Raises:
        JournalBehind: the journal has no such call.
    """
    keys = (call_key(run, call), result_key(run, call), interrupt_key(run, call, round_))
    found = journal.find(session, keys)
    proposed, result, asked = (found.get(key) for key in keys)
    if proposed is None:
        raise JournalBehind(f"The journal has no call {round_name(call, round_)} of run {run}.")
    return proposed, result or asked


def open_calls(entries: Iterable[Entry], run: str) -> list[OpenCall]:
    """Calls of a run that have no result, in proposal order, with what became of their rounds.

    An activity that comes back from the dead may write of a round behind its call's result, which changes nothing.
    """
    calls: dict[str, OpenCall] = {}
    for entry in entries:
        if entry.run != run or entry.call is None:
            continue
        if entry.kind is Kind.TOOL_CALL:
            calls[entry.call] = OpenCall(run, entry.call, entry.data["name"], entry.data["effect"], (), ())
        elif entry.kind is Kind.TOOL_RESULT:
            calls.pop(entry.call, None)
        elif (call := calls.get(entry.call)) is None:
            continue
        elif entry.kind is Kind.TOOL_STARTED and not entry.data.get(VOID):
            calls[entry.call] = replace(call, started_rounds=(*call.started_rounds, entry.data["round"]))
        elif entry.kind is Kind.INTERRUPT_OPENED:
            round_ = int(entry.data["interrupt"].partition("#")[2])
            calls[entry.call] = replace(call, interrupted_rounds=(*call.interrupted_rounds, round_))
    return list(calls.values())


def message_entries(journal: Journal, session: str, messages: Iterable[UserMessage], at: datetime) -> list[NewEntry]:
    """`user.message` entries of those that aren't in the journal yet.

    The key is the client's id, so a message that is sent again is the same entry. An id that was used for another text
    is its sender's mistake: it is left out, and must not cost the run or anybody else's message.
    """
    new = {message_key(message.id): message for message in reversed(tuple(messages))}
    known = journal.find(session, list(new))
    return [
        NewEntry(key, Kind.USER_MESSAGE, at, {"id": message.id, "text": message.text, **_by(message.sender)})
        for key, message in reversed(new.items())
        if key not in known
    ]


def _by(sender: Principal | None) -> dict[str, Json]:
    return {} if sender is None else {"by": sender.id, "name": sender.name, "method": sender.method}
