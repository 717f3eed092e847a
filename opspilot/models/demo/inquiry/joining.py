"""Joining tables: a value in one that is the name or id of a row in another brings that row's fields along.

Found by the values themselves, so that it holds for any names of columns.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from opspilot.models.demo.inquiry.moments import moment_of
from opspilot.models.demo.inquiry.rows import IDS, NAMES, last, quantity
from opspilot.models.demo.inquiry.tables import Record, Table
from opspilot.models.demo.inquiry.words import stems_of

_DEPTH = 2
_SMALL = 12
_ID = re.compile(r"(?=.*\d)(?=.*[a-z])[\w-]{4,}")
_SHARE = 0.5
_MOST_ROWS = 3000


@dataclass(frozen=True, eq=False)
class Link:
    """Values of `column` are those of `key` in `target`, where no two rows share one."""

    column: str
    target: Table
    key: str

    @cached_property
    def rows(self) -> dict[str, Record]:
        """The target's rows by what they are called, in lower case."""
        held = {
            record.fields[self.key].lower(): record
            for record in reversed(self.target.records)
            if self.key in record.fields
        }
        held.pop("", None)
        return held


def joined(tables: Sequence[Table]) -> list[Table]:
    """The same tables, each row with the fields of the rows that it leads to, two steps far."""
    links = {id(table): list(_links(table, tables)) for table in tables}
    return [replace(table, records=tuple(_wide(record, table, links) for record in table.records)) for table in tables]


def _wide(record: Record, table: Table, links: dict[int, list[Link]]) -> Record:
    return replace(record, fields=dict(_fields(record, table, links, _DEPTH, frozenset({id(table)}))))


def _fields(
    record: Record, table: Table, links: dict[int, list[Link]], depth: int, seen: frozenset[int]
) -> Iterator[tuple[str, str]]:
    yield from record.fields.items()
    if not depth:
        return
    for link in links[id(table)]:
        if id(link.target) in seen:
            continue
        found = link.rows.get(record.fields.get(link.column, "").lower())
        if found is None:
            continue
        for name, value in _fields(found, link.target, links, depth - 1, seen | {id(link.target)}):
            if name != link.key:
                yield f"{link.column}>{name}", value


def _links(table: Table, tables: Sequence[Table]) -> Iterator[Link]:
    if table.prose or len(table.records) > _MOST_ROWS:
        return
    for column, values in table.values.items():
        named = [v.lower() for v in values if _names(v)]
        if not named or len(named) < _SHARE * len(values):
            continue
        best: tuple[float, Link] | None = None
        for target in tables:
            if target is table or target.prose or target.counts:
                continue
            for key in _keys(target):
                held = {value.lower() for value in target.values.get(key, {})}
                shared = sum(value in held for value in named)
                close = bool(stems_of(column) & (stems_of(key) | target.nouns))
                ids = any(_ID.fullmatch(v) and v in held for v in named)
                if not shared or (shared < _SHARE * len(named) and not ((close or ids) and len(held) <= _SMALL)):
                    continue
                if all(quantity(v) is not None for v in named) and not close:
                    continue
                score = shared / len(named) + 0.5 * close
                if best is None or score > best[0]:
                    best = (score, Link(column, target, key))
        if best is not None:
            yield best[1]


def _names(value: str) -> bool:
    return (
        1 < len(value) <= 80
        and moment_of(value) is None
        and value.lower() not in {"true", "false", "none", "yes", "no"}
    )


def _keys(table: Table) -> list[str]:
    """Columns whose values no two rows share, and that name the row."""
    found = []
    for name in table.columns:
        if ">" in name:
            continue
        values = [record.fields[name] for record in table.records if name in record.fields]
        token = all(" " not in v and not v.isdigit() for v in values)
        if len(set(values)) == len(values) and (
            name == table.naming or last(name) in IDS | NAMES or (token and len(values) > 2)
        ):
            found.append(name)
    return found
