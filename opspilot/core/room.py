"""Making room in a conversation that no longer fits the model: old observations become one-line stubs.

A run does this once; where it happened is written down with the reply that it made possible, so that every later
request of the session leaves out the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opspilot.core.calls import canonical_json, digest
from opspilot.core.entries import Entry, Kind
from opspilot.core.messages import Json
from opspilot.core.observations import Observation

SHORT_CHARS = 400
"""An observation up to this long stays: its stub would hardly be shorter."""


@dataclass(frozen=True)
class Room:
    """Observations with `seq <= up_to` are shown as stubs; `overflow` holds, by reference, what `read_more` pages."""

    up_to: int
    overflow: Mapping[str, str]


def shortened_to(entries: Sequence[Entry]) -> int:
    """The last seq whose observation this session shows as a stub; 0 when it shows all."""
    return max((entry.data.get("shortened_to", 0) for entry in _replies(entries)), default=0)


def make_room(entries: Sequence[Entry], run: str) -> Room | None:
    """Shorten the oldest observations until half of their text is gone; the last one stays whole.

    None when this run has done so before, or when there is nothing to shorten.
    """
    if any(entry.run == run and "shortened_to" in entry.data for entry in _replies(entries)):
        return None
    before = shortened_to(entries)
    long = [entry for entry in entries if entry.kind is Kind.TOOL_RESULT and entry.seq > before and _is_long(entry)][
        :-1
    ]
    if not long:
        return None
    total = sum(len(_text(entry)) for entry in long)
    gone = 0
    overflow: dict[str, str] = {}
    for entry in long:
        gone += len(_text(entry))
        if not _follows(entry):
            overflow[_reference(entry)] = _text(entry)
        if gone * 2 >= total:
            return Room(entry.seq, overflow)
    raise AssertionError("half of the text is gone before the end")


def stub(result: Entry, observation: Observation, up_to: int) -> Observation:
    """What stands for an observation in a request: itself, or a line that says how to read it."""
    if result.seq > up_to or not _is_long(result):
        return observation
    follows = _follows(result) or {"ref": _reference(result), "offset": 0}
    omitted = f"{len(_text(result))} characters, left out to make room; read_more gives them back"
    return Observation(ok=True, data={"omitted": omitted, "read_more": follows})


def _replies(entries: Sequence[Entry]) -> Iterator[Entry]:
    return (entry for entry in entries if entry.kind is Kind.ASSISTANT_MESSAGE)


def _is_long(result: Entry) -> bool:
    return bool(result.data["ok"]) and len(_text(result)) > SHORT_CHARS


def _text(result: Entry) -> str:
    return canonical_json(result.data.get("data"))


def _follows(result: Entry) -> dict[str, Json] | None:
    """A result that was cut when it came can be read from its beginning already."""
    data = result.data.get("data")
    if isinstance(data, dict) and isinstance(read_more := data.get("read_more"), dict) and "ref" in read_more:
        return {"ref": read_more["ref"], "offset": 0}
    return None


def _reference(result: Entry) -> str:
    return f"whole-{digest([result.run, result.call])[:12]}"
