"""Rows and tables of a result: what a row is called, how a value with a unit compares, what is a point in time.

Every text is kept as the result spelled it. How results become tables is in `grids`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.words import parts, singular

IDS = listed("id key uid uuid ref reference slug ident identifier number code no 编号 代码")
NAMES = listed("name title hostname label 名称 标题")
ENVELOPE_FIELDS = listed(
    "truncated more note notes hint hints page next previous limit offset total count matched ok took"
)
"""Words of fields that speak of the result rather than of the thing."""
ENVELOPES = listed("data rows result results response items body payload")


@dataclass(frozen=True)
class Row:
    """One row: its fields as they were written, nested ones under dotted names."""

    fields: Mapping[str, str]

    @cached_property
    def numbers(self) -> Mapping[str, float]:
        """The fields that are numbers, with or without a unit, comparable within one field."""
        return {name: n for name, value in self.fields.items() if (n := quantity(value)) is not None}


@dataclass(frozen=True)
class Grid:
    """Rows of one list. `key`: what the list is called; `above`: plain values beside and above it.

    `total`: how many rows there are in all, as the result says. `counts`: each row is a value and how often it occurs.
    `single`: one thing, no list. `lines`: rows are lines of text.
    `known_by`: the field that the call asked for it by.
    """

    rows: tuple[Row, ...]
    key: str = ""
    above: Mapping[str, str] = field(default_factory=dict)
    total: str = ""
    counts: bool = False
    single: bool = False
    lines: bool = False
    known_by: str = ""

    @cached_property
    def naming(self) -> str:
        """The field by which its rows are known: an id or a name that no two rows share."""
        return self.known_by or _naming(self)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names of fields, in order."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.fields))

    def place(self, row: Row) -> str:
        """How a row is cited: `file:line` where it has both, else its own name."""
        return (
            _file_line(row.fields)
            or row.fields.get(self.naming, "")
            or next((v for n, v in row.fields.items() if last(n) in IDS | NAMES and v), "")
        )

    def called(self, row: Row) -> tuple[str, ...]:
        """Everything that a row itself is called: its id, its name."""
        own = [v for n, v in row.fields.items() if last(n) in IDS | NAMES and n.count(".") <= _own_depth(n) and v]
        return tuple(dict.fromkeys([self.place(row), *own]))


def last(name: str) -> str:
    """The last word of a dotted name: `metadata.podName` is a `name`."""
    return (parts(name.rpartition(".")[2]) or ("",))[-1]


def _own_depth(name: str) -> int:
    return 1 if name.partition(".")[0].lower() in {"metadata", "meta", "node", "attributes", "properties"} else 0


_FILE = re.compile(r"[^\s:]*\w\.[A-Za-z]\w{0,6}|[^\s:]+/[^\s:]+")
_WHOLE_PLACE = re.compile(r"[^\s:]+\.[A-Za-z]\w{0,7}[:#]\d+")


def _file_line(fields: Mapping[str, str]) -> str:
    lines = [v for n, v in fields.items() if last(n) in {"line", "lineno", "pos", "ln", "行", "行号"} and v.isdigit()]
    files = [v for n, v in fields.items() if _FILE.fullmatch(v)]
    if lines and files:
        return f"{files[0]}:{lines[0]}"
    return next((v for v in fields.values() if _WHOLE_PLACE.fullmatch(v)), "")


def _naming(grid: Grid) -> str:
    """Ids and names of the rows' own before references to other things; unique values before shared ones."""
    own = {singular(word) for word in parts(grid.key)} - ENVELOPES

    def rank(name: str) -> tuple[bool, int, int]:
        words = parts(name.rpartition(".")[2])
        plain = name.count(".") <= _own_depth(name)
        values = [row.fields[name] for row in grid.rows if row.fields.get(name)]
        shared = len(set(values)) < len(grid.rows)
        about = set(words) & own
        if len(words) == 1 and words[0] in IDS and plain:
            kind = 0
        elif plain and words[-1:] and words[-1] in IDS | NAMES and (about or len(words) == 1):
            kind = 1
        elif about and plain and len(words) == 1 and values and quantity(values[0]) is None:
            kind = 2
        elif plain and words[-1:] and words[-1] in IDS and not about:
            kind = 2 if grid.single else 1 if name == grid.names[0] else 4
        elif (
            plain
            and values
            and quantity(values[0]) is None
            and not is_moment(values[0])
            and len(values[0]) <= _NAME_LENGTH
        ):
            kind = 3
        else:
            kind = 9
        return shared, kind, grid.names.index(name)

    return min((n for n in grid.names if not set(parts(n)) & ENVELOPE_FIELDS), key=rank, default="")


_NAME_LENGTH = 60
MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?|\d\d:\d\d(?::\d\d)?"
)


def is_moment(value: str) -> bool:
    """Is this a point in time, in the order of its characters?"""
    return bool(MOMENT.fullmatch(value))


_QUANTITY = re.compile(r"[~≈$€£¥]?\s?(-?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s?(%|[A-Za-zµ°/]{0,12})")
_UNITS = {
    "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15, "kib": 2.0**10, "mib": 2.0**20,
    "gib": 2.0**30, "tib": 2.0**40, "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30, "ti": 2.0**40, "us": 1e-6, "µs": 1e-6,
    "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0, "m": 60.0, "min": 60.0, "minutes": 60.0, "h": 3600.0,
    "hours": 3600.0, "d": 86400.0, "days": 86400.0, "w": 604800.0,
}  # fmt: skip
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?\s?(?:d|h|m|min|s|ms)\s?){2,5}")


def quantity(value: str) -> float | None:
    """A number with or without a unit as a number; None for any other text. Days and bytes become seconds and bytes."""
    if _SPAN.fullmatch(value):
        pieces = re.findall(r"(\d+(?:\.\d+)?)\s?(ms|min|[dhms])", value)
        return sum(float(number) * _UNITS[unit] for number, unit in pieces)
    found = _QUANTITY.fullmatch(value)
    if found is None:
        return None
    return float(found[1].replace(",", "")) * _UNITS.get(found[2].lower(), 1.0)
