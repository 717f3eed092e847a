"""The tools that there are beside those that the settings name. Whoever only says which there are builds none."""

from collections.abc import Iterable

ASK_HUMAN = "ask_human"
"""In every registry: what only a person knows must not be guessed."""
READ_MORE = "read_more"
"""In every registry with a journal: without it a trimmed result could not be read."""


def with_standing(named: Iterable[str]) -> tuple[str, ...]:
    """The names of all tools that a worker has whose settings name these."""
    return tuple(dict.fromkeys([*named, ASK_HUMAN, READ_MORE]))
