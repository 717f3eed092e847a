"""What is left out of a conversation that no longer fits, and what stays."""

import json

from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.conversation import conversation
from opspilot.core.entries import Entry
from opspilot.core.messages import ToolMessage, unanswered
from opspilot.core.room import SHORT_CHARS, make_room, shortened_to
from tests.core.test_conversation import replied, resulted, said

LONG = "x" * 2000


def grown(*results: str) -> list[Entry]:
    """A question, and one step with one call for each result."""
    entries = [said("What is going on?")]
    for step, result in enumerate(results, start=1):
        entries += [replied(step, "", f"id-{step}"), resulted(f"{step}.1", result)]
    return entries


def observed(entries: list[Entry], up_to: int | None = None) -> list[str]:
    return [message.text for message in conversation(entries, up_to) if isinstance(message, ToolMessage)]


def test_the_oldest_long_observations_become_stubs_that_can_be_followed_and_the_last_one_stays() -> None:
    entries = grown(LONG, "short", LONG, LONG)
    room = make_room(entries, "run1")
    assert room is not None
    first, short, third, last = observed(entries, room.up_to)
    data = json.loads(first)["data"]
    assert "2002 characters" in data["omitted"]
    assert room.overflow[data["read_more"]["ref"]] == f'"{LONG}"'
    assert "short" in short
    assert LONG in third
    assert LONG in last


def test_what_was_left_out_stays_out_and_a_run_makes_room_once() -> None:
    entries = grown(LONG, LONG, LONG)
    room = make_room(entries, "run1")
    assert room is not None
    entries.append(replied(4, "So far so good.", shortened_to=room.up_to))
    assert shortened_to(entries) == room.up_to
    assert observed(entries) == observed(entries, room.up_to)
    assert make_room(entries, "run1") is None
    assert make_room(entries, "run2") is not None


def test_a_conversation_without_long_observations_has_no_room_to_make() -> None:
    assert make_room(grown("a", "b", "c"), "run1") is None
    assert make_room(grown(LONG), "run1") is None


@given(st.lists(st.integers(0, 3 * SHORT_CHARS).map(lambda size: "y" * size), max_size=8))
def test_room_never_unpairs_a_conversation_nor_makes_it_longer(results: list[str]) -> None:
    entries = grown(*results)
    room = make_room(entries, "run1")
    if room is not None:
        shorter = conversation(entries, room.up_to)
        assert unanswered(shorter) == ()
        assert len(shorter) == len(conversation(entries))
        assert sum(map(len, observed(entries, room.up_to))) < sum(map(len, observed(entries)))
