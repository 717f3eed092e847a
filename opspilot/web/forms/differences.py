"""What an edit changes, from the old arguments to the new, in the order in which they are shown."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from opspilot.core.messages import Json

MOST_LINES = 2000
"""Longer texts are shown whole, old and new."""


class Sign(StrEnum):
    """What became of a line."""

    KEPT = " "
    GONE = "-"
    NEW = "+"


@dataclass(frozen=True)
class Change:
    """One value that is not what it was. `lines` is there for texts of several lines. `path`: `limits.cpu`."""

    path: str
    had: bool
    has: bool
    before: Json = None
    after: Json = None
    lines: tuple[tuple[Sign, str], ...] = ()


def changed(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, Json]:
    """The arguments that are new or have another value, as an answer gives them."""
    return {name: value for name, value in after.items() if name not in before or not _is_same(before[name], value)}


def left_out(before: Mapping[str, Json], after: Mapping[str, Json]) -> tuple[str, ...]:
    """The arguments that are not there any more."""
    return tuple(name for name in before if name not in after)


def differences(before: Mapping[str, Json], after: Mapping[str, Json]) -> tuple[Change, ...]:
    """Each value that differs, looked up as deep as both are objects."""
    return tuple(_differences(before, after, ""))


def _differences(before: Mapping[str, Json], after: Mapping[str, Json], above: str) -> Iterator[Change]:
    for name in [*after, *(name for name in before if name not in after)]:
        path = f"{above}{name}"
        old, new = before.get(name), after.get(name)
        had, has = name in before, name in after
        if had and has and _is_same(old, new):
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _differences(old, new, f"{path}.")
        else:
            yield Change(path, had, has, old, new, _lines(old, new))


def _lines(before: Json, after: Json) -> tuple[tuple[Sign, str], ...]:
    if not (isinstance(before, str) and isinstance(after, str) and "\n" in before + after):
        return ()
    old, new = before.split("\n"), after.split("\n")
    if max(len(old), len(new)) > MOST_LINES:
        return ()
    told: list[tuple[Sign, str]] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            told += [(Sign.KEPT, line) for line in old[i1:i2]]
            continue
        told += [(Sign.GONE, line) for line in old[i1:i2]]
        told += [(Sign.NEW, line) for line in new[j1:j2]]
    return tuple(told)


def _is_same(one: Json, other: Json) -> bool:
    """Equal as JSON: true is not 1, though Python says so."""
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(one == other)
