"""Rows of a result as records: objects of a list, nodes of a connection, lines of a table, lines of text.

Owns what a row's place or id is, and which number says how many rows there are in all. Everything is verbatim.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from opspilot.core.messages import Json
from opspilot.models.demo.findings import JsonNumber, line_of, scalar, source_of
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.words import parts


@dataclass(frozen=True)
class Record:
    """One row: its fields as they were written, and those that are numbers as numbers, too."""

    fields: Mapping[str, str]
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """`file:line` where the row has both or one value of that form, else its id, else what it is called."""
        source, line = source_of(self.fields), line_of(self.fields)
        if source and line:
            return f"{source}:{line}"
        whole = next((value for value in self.fields.values() if _WHOLE_PLACE.fullmatch(value)), "")
        return whole or self.ident

    @property
    def ident(self) -> str:
        """The value by which the row is known."""
        named = (v for n, v in self.fields.items() if v and (_last(n) in _IDS or n.lower().endswith("id")))
        like = (v for v in self.fields.values() if _LIKE_ID.fullmatch(v))
        called = (v for n, v in self.fields.items() if v and _last(n) in _NAMES)
        texts = (v for n, v in self.fields.items() if v and n not in self.numbers and len(v) <= _LONGEST_ID)
        return next((found for source in (named, like, called, texts) for found in source), "")

    @property
    def text(self) -> str:
        """What the row says in words: its longest value of several words; empty when there is none."""
        spoken = [value for value in self.fields.values() if value.count(" ") > 1]
        return max(spoken, key=len, default="")

    @property
    def time(self) -> str:
        """When it happened, if the row says so: a field of that name or look, else a time in its text."""
        for name, value in self.fields.items():
            if _TIME.fullmatch(value) and not name.startswith("last"):
                return value
        return next((found[0] for value in self.fields.values() if (found := _TIME.search(value))), "")


@dataclass(frozen=True)
class Rows:
    """The records of one list. `total`: how many there are in all, as the result says it; empty when it doesn't."""

    records: tuple[Record, ...]
    total: str = ""
    group: str = ""


_WHOLE_PLACE = re.compile(r"[^\s:]+\.[A-Za-z]\w{0,7}[:#]\d+")
_LIKE_ID = re.compile(r"[A-Za-z]{1,8}[-_]?\d[\w-]*")
_IDS = listed("id key code uid uuid ref reference slug ident number 编号 代码")
_NAMES = listed("name title service host node label called 名称")
_LONGEST_ID = 40
_TIME = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d(?::\d\d)?\b"
)
_TOTALS = listed(
    "total matched matches matching number num hits found count results many of all lines 总数 命中 条数 总计 数量"
)
_HEADERS = listed("header headers columns fields cols column names keys")
_COUNTED_TEXT = re.compile(r"^\D{0,30}?(\d+)(?: of \d+)? (?:matching )?[a-z]+(?: match\w*| found)?\b")
_LINE = re.compile(r"^(?P<source>[^\s:]+\.[A-Za-z]\w{0,7}):(?P<line>\d+)[:\s-]\s*(?P<text>.+)$")
_DEEPEST = 8


def _last(name: str) -> str:
    return (parts(name.rpartition(".")[2]) or ("",))[-1]


def rows_of(data: Json) -> tuple[Rows, ...]:
    """All lists of rows in a result, the longest first; a thing that stands alone is a list of one."""
    found = list(_lists(data, "", (), 0))
    if isinstance(data, str):
        found += _text_rows(data)
    if not found and isinstance(data, dict) and data:
        if any(isinstance(value, list) for value in data.values()) and not _named(data):
            return ()
        inner = [value for value in data.values() if isinstance(value, dict)]
        found.append(Rows((_record(inner[0] if len(inner) == len(data) == 1 else data),)))
    return tuple(sorted(found, key=lambda rows: -len(rows.records)))


def _named(data: Mapping[str, Json]) -> bool:
    return any(_last(name) in _IDS | _NAMES and isinstance(value, str) for name, value in data.items())


def _lists(node: Json, key: str, above: tuple[Mapping[str, Json], ...], depth: int) -> Iterator[Rows]:
    if depth > _DEEPEST:
        return
    if isinstance(node, list):
        items = [_unwrapped(item) for item in node]
        if items and all(isinstance(item, dict) for item in items):
            yield Rows(tuple(_record(item) for item in items), _total(above, len(items)), key)
        elif items and all(isinstance(item, str) and not isinstance(item, JsonNumber) for item in items):
            placed = [match for item in items if (match := _LINE.match(str(item)))]
            if placed:
                yield Rows(tuple(Record(match.groupdict()) for match in placed), _total(above, len(items)), key)
        elif not items and key and above:
            yield Rows((), _total(above, 0), key)
        elif items and all(isinstance(item, list) for item in items) and above:
            yield from _table(items, above, key)
    elif isinstance(node, dict):
        for name, value in node.items():
            yield from _lists(value, name, (node, *above), depth + 1)


def _unwrapped(item: Json) -> Json:
    """The node of an edge, the source of a hit: an object that is all that an object holds of substance."""
    if isinstance(item, dict):
        inner = [value for value in item.values() if isinstance(value, dict)]
        plain = {name: value for name, value in item.items() if not isinstance(value, dict | list)}
        if len(inner) == 1 and len(plain) <= 2 and len(inner[0]) > len(plain):
            return {**plain, **inner[0]}
    return item


def _table(items: Sequence[Json], above: tuple[Mapping[str, Json], ...], key: str) -> Iterator[Rows]:
    for name, header in above[0].items():
        if set(parts(name)) & _HEADERS and isinstance(header, list) and all(isinstance(h, str) for h in header):
            whole = [dict(zip(header, item, strict=False)) for item in items if isinstance(item, list)]
            yield Rows(tuple(_record(row) for row in whole), _total(above, len(items)), key)
            return


def _record(item: Mapping[str, Json], prefix: str = "") -> Record:
    fields: dict[str, str] = {}
    numbers: dict[str, float] = {}
    for name, value in item.items():
        if isinstance(value, dict) and prefix.count(".") < 2:
            inner = _record(value, f"{prefix}{name}.")
            fields |= inner.fields
            numbers |= inner.numbers
        elif isinstance(value, list):
            plain = [scalar(entry) for entry in value if not isinstance(entry, dict | list)]
            if plain:
                fields[f"{prefix}{name}"] = ", ".join(plain)
        elif not isinstance(value, dict) and scalar(value):
            fields[f"{prefix}{name}"] = scalar(value)
            if isinstance(value, int | JsonNumber) and not isinstance(value, bool):
                numbers[f"{prefix}{name}"] = float(value)
    return Record(fields, numbers)


def _total(above: Sequence[Mapping[str, Json]], least: int) -> str:
    """A whole number beside the list, or further up, that can be the number of all rows."""
    for node in above:
        numbers = {n: v for n, v in node.items() if isinstance(v, int) and not isinstance(v, bool) and v >= least}
        named = [v for n, v in numbers.items() if set(parts(n)) & _TOTALS or n.lower() in _TOTALS]
        nested = [
            v["value"]
            for n, v in node.items()
            if isinstance(v, dict) and set(parts(n)) & _TOTALS and isinstance(v.get("value"), int)
        ]
        if found := [*named, *nested]:
            return scalar(found[0])
    return ""


def _text_rows(text: str) -> Iterator[Rows]:
    lines = [line for line in text.split("\n") if line.strip()]
    placed = [match for line in lines if (match := _LINE.match(line))]
    head = next((line for line in lines[:2] if not _LINE.match(line)), "")
    counted = _COUNTED_TEXT.match(head)
    if placed or counted:
        yield Rows(tuple(Record(match.groupdict()) for match in placed), counted[1] if counted else "", "text")
