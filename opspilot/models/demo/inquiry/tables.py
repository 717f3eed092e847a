"""Everything that the calls returned as tables: one for each list of each tool, over all its pages and calls.

A table's rows know the arguments that they were asked for with. How tables are joined is in `joining`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from opspilot.models.demo.glossary import READING
from opspilot.models.demo.history import Done
from opspilot.models.demo.inquiry.moments import epoch_of, moment_of
from opspilot.models.demo.inquiry.paging import Source, sources_of, turns
from opspilot.models.demo.inquiry.rows import ENVELOPE_FIELDS, ENVELOPES, IDS, NAMES, Grid, Row, last, quantity
from opspilot.models.demo.inquiry.text_tables import tables_in
from opspilot.models.demo.inquiry.words import stems_of
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.toolbox import Role, ToolCard
from opspilot.models.demo.words import parts, singular

_PROSE_WORDS = 6
_VALUE_CHARACTERS = 400
_CLOCKS = listed(
    "time timestamp ts epoch at on date day ms created updated started finished opened closed placed launched "
    "since until"
)
_IDLE = READING | listed("by all for of the and with in at to details detail info data tool records record entries")


@dataclass(frozen=True, eq=False)
class Record:
    """One row: `fields` its own, and under `link>name` those of the rows that it is joined with.

    `place`: how it is cited.
    """

    fields: Mapping[str, str]
    place: str
    own: Row

    def number(self, column: str) -> float | None:
        """The value of a column as a number, with or without a unit."""
        value = self.fields.get(column)
        return None if value is None else quantity(value)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of one list. `nouns`: stems of what one row is; `described`: of what its tool says of itself.

    `asked_by`: values, and `given`: names, of the arguments that it was asked for with. `whole` False: there are more
    rows than these. `prose`: its rows are passages of text; `texts`: they have some.
    """

    tool: ToolCard
    key: str
    records: tuple[Record, ...]
    naming: str
    nouns: frozenset[str]
    described: frozenset[str]
    sources: tuple[Source, ...]
    whole: bool = True
    prose: bool = False
    texts: bool = False
    single: bool = False
    lines: bool = False
    counts: bool = False
    total: str = ""
    asked_by: frozenset[str] = field(default_factory=frozenset)
    given: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, its own first."""
        names = dict.fromkeys(name for record in self.records for name in record.fields)
        return tuple(sorted(names, key=lambda name: name.count(">")))

    @cached_property
    def labels(self) -> Mapping[str, frozenset[str]]:
        """Stems of what each column is called."""
        return {name: self._label(name) for name in self.columns}

    def _label(self, name: str) -> frozenset[str]:
        bare = name.rpartition(">")[2]
        path = bare.split(".")
        own = stems_of(" ".join(path[-2:]) if len(path) > 1 else bare)
        if ">" in name and last(bare) in NAMES:
            own |= stems_of(name.rpartition(">")[0].rpartition(">")[2].rpartition(".")[2]) - _MARKS
        return own | (stems_of(self.key) if bare == "label" and self.counts else frozenset())

    @cached_property
    def values(self) -> Mapping[str, Mapping[str, None]]:
        """The distinct short values of each column, in order."""
        found: dict[str, dict[str, None]] = {}
        for record in self.records:
            for name, value in record.fields.items():
                if len(value) <= _VALUE_CHARACTERS:
                    found.setdefault(name, {})[value] = None
        return found

    @cached_property
    def times(self) -> Mapping[str, bool]:
        """The columns that hold points in time; True where they count seconds since 1970."""
        found = {}
        for name, values in self.values.items():
            some = [value for value in list(values)[:6] if value]
            if some and all(moment_of(value) for value in some):
                found[name] = False
            elif some and set(parts(name.rpartition(">")[2])) & _CLOCKS and all(epoch_of(value) for value in some):
                found[name] = True
        return found

    @cached_property
    def numeric(self) -> frozenset[str]:
        """The columns whose values are numbers, with or without units."""
        return frozenset(
            name
            for name, values in self.values.items()
            if values and name not in self.times and sum(quantity(v) is not None for v in values) >= _MOST * len(values)
        )

    def moment(self, record: Record, column: str) -> datetime | None:
        """The point in time in a column; None when it holds none."""
        value = record.fields.get(column, "")
        return epoch_of(value) if self.times.get(column) else moment_of(value)


_MOST = 0.7
_MARKS = stems_of("id ids no number key code ref uid")


def tables_of(calls: Sequence[Done], tools: Sequence[ToolCard]) -> list[Table]:
    """All tables that the calls returned."""
    found: dict[tuple[str, str, bool], list[tuple[Grid, Source]]] = {}
    for source in sources_of(tuple(calls), tuple(tools)):
        lists = any(not (grid.single or grid.lines or grid.counts) and len(grid.rows) > 1 for grid in source.grids)
        told = {name for grid in source.grids if grid.single for row in grid.rows for name in row.fields}
        for grid in source.grids:
            if (lists and grid.single and _mostly_inner(grid)) or (not lists and _is_told(grid, told)):
                continue
            for each in _untangled(grid, source.tool):
                found.setdefault((source.tool.name, each.key, each.single or each.lines), []).append((each, source))
    return [table for held in found.values() if (table := _table(held)) is not None]


def _mostly_inner(grid: Grid) -> bool:
    """Is this one thing made of the rows of a list, all in one?"""
    names = [name for row in grid.rows for name in row.fields]
    return sum("." in name for name in names) > len(names) / 2


def _is_told(grid: Grid, told: set[str]) -> bool:
    """Are these counts fields of the one thing that the result is about?"""
    return grid.counts and bool(grid.rows) and all(f"{grid.key}.{row.fields['label']}" in told for row in grid.rows)


def _untangled(grid: Grid, tool: ToolCard) -> Iterable[Grid]:
    if not grid.lines:
        return (grid,)
    made = tables_in([row.fields.get("text", "") for row in grid.rows], tool.description)
    if made and not any("source" in row.fields for row in grid.rows):
        return [replace(each, key=grid.key, above=grid.above) for each in made]
    return (grid,)


def _table(held: Sequence[tuple[Grid, Source]]) -> Table | None:
    first, source = held[0]
    rows: dict[tuple[tuple[str, str], ...], tuple[Row, str]] = {}
    asked: set[str] = set()
    for grid, one in held:
        beside = _beside(grid, one)
        asked |= {str(value) for value in one.arguments.values()}
        for row in grid.rows:
            fields = {name: value for name, value in row.fields.items() if value}
            fields |= {n: v for n, v in beside.items() if not any(last(k) == last(n) and "." not in k for k in fields)}
            place = _asked_for(one) if grid.lines and "source" not in fields else grid.place(row)
            rows.setdefault((("", place if grid.lines else ""), *fields.items()), (Row(fields), place))
    merged = replace(
        first, rows=tuple(row for row, _ in rows.values()), known_by="" if len(rows) > 1 else first.known_by
    )
    if not rows and not any(not grid.lines and not grid.single for grid, _ in held):
        return None
    naming = _first_id(merged) or merged.naming
    merged = replace(merged, known_by=naming)
    records = tuple(
        Record(row.fields, place if first.lines else merged.place(row) or place, row) for row, place in rows.values()
    )
    return Table(
        tool=source.tool,
        key=first.key,
        records=records,
        naming=naming,
        nouns=_nouns(first.key, source.tool),
        described=stems_of(source.tool.description),
        sources=tuple(one for _, one in held),
        whole=not any(one.more for _, one in held),
        prose=_is_prose(records, first, source.tool),
        texts=_has_texts(records),
        single=first.single and len(records) == 1,
        lines=first.lines,
        counts=first.counts,
        total=first.total if len(held) == 1 else "",
        asked_by=frozenset(asked),
        given=frozenset(name for _, one in held for name in one.arguments),
    )


_ID = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w./#-]{3,}")


def _first_id(grid: Grid) -> str:
    """The first field, when it is an id that no two rows share."""
    first = grid.names[0] if grid.names else ""
    values = [row.fields.get(first, "") for row in grid.rows]
    unique = len(set(values)) == len(values) > 1
    return first if unique and all(_ID.fullmatch(value) and moment_of(value) is None for value in values) else ""


def _asked_for(source: Source) -> str:
    """The thing that a call asked for by a name or an id of its own."""
    shaping = {p.name for p in source.tool.parameters if p.role in _SHAPING and not p.choices}
    named = [v for n, v in source.arguments.items() if isinstance(v, str) and n not in shaping]
    return named[0] if named else ""


def _beside(grid: Grid, source: Source) -> dict[str, str]:
    """What holds for all rows of a list: the call's own arguments, and plain values that stand beside the list."""
    shaping = {p.name for p in source.tool.parameters if turns(p) or p.role in _SHAPING}
    said = {
        n: str(v) for n, v in source.arguments.items() if n not in shaping and not isinstance(v, bool | list | dict)
    }
    above = {
        name: value
        for name, value in grid.above.items()
        if not set(parts(name)) & ENVELOPE_FIELDS and len(value) <= 80 and not grid.single and not grid.counts
    }
    if grid.lines:
        return {}
    return {**above, **said}


_SHAPING = {Role.QUERY, Role.REGEX, Role.SORT, Role.DIRECTION, Role.GROUP, Role.SINCE, Role.UNTIL, Role.SPAN}


def _nouns(key: str, tool: ToolCard) -> frozenset[str]:
    words = [w for w in parts(key) if singular(w) not in ENVELOPES and w not in ENVELOPES and w not in ENVELOPE_FIELDS]
    named = [w for w in parts(tool.name) if w not in _IDLE]
    return stems_of(" ".join((*words, *named)))


def _is_prose(records: Sequence[Record], grid: Grid, tool: ToolCard) -> bool:
    if grid.lines:
        return True
    if grid.single and tool.with_role(Role.QUERY) is None and len(records) and len(records[0].fields) > 4:
        return False
    texts = [max(record.fields.values(), key=len, default="") for record in records]
    spoken = [text for text in texts if _words_in(text) >= _PROSE_WORDS]
    asks = tool.with_role(Role.QUERY) is not None
    fields = {name for record in records for name in record.fields}
    few = len(fields) <= 5 or asks
    return bool(records) and len(spoken) >= 0.6 * len(texts) and few and (asks or _average(texts) > 60)


def _has_texts(records: Sequence[Record]) -> bool:
    texts = [max(record.fields.values(), key=len, default="") for record in records]
    return bool(texts) and sum(_words_in(text) >= _PROSE_WORDS for text in texts) >= 0.6 * len(texts)


def _average(texts: Sequence[str]) -> float:
    return sum(map(len, texts)) / max(1, len(texts))


def _words_in(text: str) -> int:
    return text.count(" ") + sum("\u4e00" <= character <= "\u9fff" for character in text) // 2


def is_named(column: str) -> bool:
    """Does a column hold what things are called?"""
    return last(column.rpartition(">")[2]) in IDS | NAMES
