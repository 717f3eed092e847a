"""Any result as tables: lists of objects, objects by name, counts by name, columns with rows, pairs, lines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from opspilot.core.messages import Json
from opspilot.models.demo.findings import JsonNumber, scalar
from opspilot.models.demo.inquiry.rows import ENVELOPE_FIELDS, IDS, MOMENT, NAMES, Grid, Row, is_moment, last, quantity
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.words import parts, singular

_DEEPEST = 7
_MOST_ROWS = 5000
_HEADERS = listed("header headers columns fields cols column names keys")
_PAIR_NAMES = (listed("key name k label tag field"), listed("value val v"))


def grids_of(data: Json) -> tuple[Grid, ...]:
    """All tables of a result, the outer before the inner."""
    found = list(_walk(data, "", {}, (), 0))
    if isinstance(data, dict) and not any(not grid.lines and grid.rows for grid in found):
        fields = _flat(data)
        if fields and not found:
            found.append(Grid((Row(fields),), single=True))
    return tuple(found)


def _plain(node: Mapping[str, Json]) -> dict[str, str]:
    return {name: scalar(v) for name, v in node.items() if not isinstance(v, dict | list) and scalar(v)}


def _walk(
    node: Json, key: str, above: Mapping[str, str], parents: tuple[Mapping[str, Json], ...], depth: int
) -> Iterator[Grid]:
    if depth > _DEEPEST:
        return
    if isinstance(node, list):
        yield from _list(node[:_MOST_ROWS], key, above, parents, depth)
    elif isinstance(node, dict):
        yield from _object(node, key, above, parents, depth)
    elif isinstance(node, str) and not isinstance(node, JsonNumber) and ("\n" in node or not depth) and node.strip():
        yield Grid(tuple(_line(line) for line in node.split("\n") if line.strip()), key, above, lines=True)


def _object(
    node: Mapping[str, Json], key: str, above: Mapping[str, str], parents: tuple[Mapping[str, Json], ...], depth: int
) -> Iterator[Grid]:
    here = {**above, **_plain(node)}
    numbers = {name: scalar(v) for name, v in node.items() if _is_number(v)}
    if depth and len(numbers) == len(node) > 1 and not any(last(name) in IDS | NAMES for name in node):
        yield Grid(tuple(Row({"label": n, "count": v}) for n, v in numbers.items()), key, above, counts=True)
    inner = [value for value in node.values() if isinstance(value, dict)]
    shape = set.intersection(*(set(value) for value in inner)) if len(inner) > 1 else set()
    if len(inner) == len(node) and shape:
        rows = tuple(Row({"name": name, **_flat(v)}) for name, v in node.items() if isinstance(v, dict))
        yield Grid(rows, key, above)
        return
    if (depth and not numbers) or (depth and len(numbers) < len(node)):
        if _is_thing(node) and not key.rpartition(".")[2].startswith("page"):
            yield Grid((Row(_flat(node)),), key, above, single=True)
    elif (
        not depth
        and _is_thing(node)
        and (
            not any(isinstance(v, list) and v and isinstance(v[0], dict) for v in node.values())
            or any(last(name) in IDS | NAMES for name in _plain(node))
            or len([name for name in _plain(node) if not set(parts(name)) & ENVELOPE_FIELDS]) > _FEW
        )
    ):
        yield Grid((Row(_flat(node)),), key, above, single=True)
    for name, value in node.items():
        yield from _walk(value, name, here, (node, *parents), depth + 1)


def _is_thing(node: Mapping[str, Json]) -> bool:
    """Has it enough plain values, its own or in objects of its own, to be one thing?"""
    own = [
        n
        for n, v in node.items()
        if not (isinstance(v, dict) or (isinstance(v, list) and v and isinstance(v[0], dict | list)))
    ]
    told = [name for name in _flat(node) if not set(parts(name)) & ENVELOPE_FIELDS]
    return len(told) > 1 and any(not set(parts(name)) & ENVELOPE_FIELDS for name in own)


def _list(
    node: Sequence[Json], key: str, above: Mapping[str, str], parents: tuple[Mapping[str, Json], ...], depth: int
) -> Iterator[Grid]:
    total = _total(parents, len(node))
    items = [_unwrapped(item) for item in node]
    objects = [item for item in items if isinstance(item, dict)]
    if objects and len(objects) == len(items):
        if inner := _in_one(objects):
            for name, value in inner:
                yield from _walk(value, name, {**above, **_plain(objects[0])}, (objects[0], *parents), depth + 1)
            return
        rows = tuple(Row(_flat(item)) for item in objects)
        yield Grid(rows, key, above, total)
        for item, row in zip(objects, rows, strict=True):
            own = {f"{singular(key)}.{n}" if n in above else n: v for n, v in row.fields.items()}
            for name, value in item.items():
                if isinstance(value, list) and value and isinstance(value[0], dict | list) and not _pairs_of(value):
                    inside = _walk(value, name, {**above, **own}, (), depth + 1)
                    yield from (_of_parent(grid, singular(key), item) for grid in inside)
    elif not items and (parents or key):
        yield Grid((), key, above, total)
    elif items and all(isinstance(item, list) for item in items):
        yield from _table([item for item in items if isinstance(item, list)], key, above, parents, total)
    elif items and all(isinstance(item, str) and not isinstance(item, JsonNumber) for item in items):
        texts = [str(item) for item in items]
        spoken = any(" " in text for text in texts)
        alone = depth <= 1 and not set(parts(key)) & _HEADERS and len(parents[0] if parents else ()) <= 2
        if spoken or alone:
            yield Grid(tuple(_line(t) if spoken else Row({"name": t}) for t in texts), key, above, total, lines=spoken)


def _of_parent(grid: Grid, key: str, parent: Mapping[str, Json]) -> Grid:
    """The inner rows, each with what the thing around them is called first: the version of a release's notes."""
    name, value = next(iter(_plain(parent).items()), ("", ""))
    if not name or not key or grid.counts or grid.lines or any(f"{key}.{name}" in row.fields for row in grid.rows):
        return grid
    return replace(grid, rows=tuple(Row({**row.fields, f"{key}.{name}": value}) for row in grid.rows))


_FEW = 2
_PLACED = re.compile(r"(?P<source>[^\s:]+\.[A-Za-z]\w{0,7}):(?P<line>\d+)[:\s-]\s*(?P<text>.+)")
_STAMPED = re.compile(rf"\W?(?P<time>{MOMENT.pattern})")


def _line(text: str) -> Row:
    """A line of text: where it stands and when it was written, as far as it says that at its beginning."""
    placed = _PLACED.match(text.strip())
    fields = placed.groupdict() if placed else {"text": text.strip()}
    stamped = _STAMPED.match(fields["text"])
    return Row({**fields, "time": stamped["time"]} if stamped else fields)


def _in_one(objects: Sequence[Mapping[str, Json]]) -> list[tuple[str, Json]]:
    """A list of one wrapper that holds the list proper: its lists."""
    if len(objects) != 1:
        return []
    lists = [(n, v) for n, v in objects[0].items() if isinstance(v, list) and v and isinstance(v[0], dict)]
    return lists if lists and len(_plain(objects[0])) <= 2 and not _pairs_of(lists[0][1]) else []


def _unwrapped(item: Json) -> Json:
    if isinstance(item, dict):
        inner = [value for value in item.values() if isinstance(value, dict)]
        plain = _plain(item)
        if len(inner) == 1 and len(plain) <= 2 and len(item) == len(plain) + 1 and len(inner[0]) > len(plain):
            return {**plain, **inner[0]}
    return item


def _table(
    items: Sequence[Sequence[Json]],
    key: str,
    above: Mapping[str, str],
    parents: Sequence[Mapping[str, Json]],
    total: str,
) -> Iterator[Grid]:
    for name, header in parents[0].items() if parents else ():
        if set(parts(name)) & _HEADERS and isinstance(header, list) and len(header) == len(items[0]):
            names = [str(h.get("name", "")) if isinstance(h, dict) else str(h) for h in header]
            rows = (dict(zip(names, item, strict=False)) for item in items)
            yield Grid(tuple(Row(_flat(row)) for row in rows), key, above, total)
            return
    if all(len(item) == 2 and not isinstance(item[0], dict | list) for item in items):
        first, second = (
            ("time", "value") if is_moment(scalar(items[0][0])) or _is_number(items[0][0]) else ("label", "count")
        )
        rows_of_pairs = (Row({first: scalar(item[0]), second: scalar(item[1])}) for item in items)
        yield Grid(tuple(rows_of_pairs), key, above, total, counts=second == "count")


def _is_number(value: Json) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or isinstance(value, JsonNumber)


def _pairs_of(value: Sequence[Json]) -> dict[str, str]:
    """`[{"Key": "team", "Value": "search"}]` as what it means."""
    found: dict[str, str] = {}
    for item in value:
        if not isinstance(item, dict) or len(item) != 2:
            return {}
        names = {n.lower(): scalar(v) for n, v in item.items() if not isinstance(v, dict | list)}
        name = next((v for n, v in names.items() if n in _PAIR_NAMES[0]), None)
        held = next((v for n, v in names.items() if n in _PAIR_NAMES[1]), None)
        if name is None or held is None:
            return {}
        found[name] = held
    return found


def _flat(node: Mapping[str, Json], prefix: str = "", depth: int = 0) -> dict[str, str]:
    fields: dict[str, str] = {}
    for name, value in node.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict):
            fields |= _flat(value, f"{path}.", depth + 1) if depth < 3 else {}
        elif isinstance(value, list):
            if paired := _pairs_of(value):
                fields |= {f"{path}.{n}": v for n, v in paired.items() if v}
            elif sample := _sample(value):
                fields |= {f"{path}.time": sample[0], path: sample[1]}
            elif plain := [scalar(entry) for entry in value if not isinstance(entry, dict | list) and scalar(entry)]:
                fields[path] = ", ".join(plain)
        elif scalar(value):
            fields[path] = scalar(value)
    return fields


_EPOCH = 1e9


def _sample(value: Sequence[Json]) -> tuple[str, str] | None:
    """A time and what was measured then, as stores of metrics return the two."""
    if len(value) != 2 or any(isinstance(entry, dict | list) for entry in value):
        return None
    when, measured = scalar(value[0]), scalar(value[1])
    number = quantity(when)
    timed = is_moment(when) or (_is_number(value[0]) and number is not None and number >= _EPOCH)
    return (when, measured) if timed and quantity(measured) is not None else None


_ABOUT = listed("meta metadata page pagination paging info summary pageinfo")
_TOTALS = listed("total matched matches matching hits found count results all 总数 命中 条数 总计 数量")


def _total(parents: Sequence[Mapping[str, Json]], least: int) -> str:
    """A whole number beside the list, or further up, that is called a total and can be the number of all rows."""
    for node in parents[:3]:
        for name, value in node.items():
            known = bool(set(parts(name)) & _TOTALS) and not set(parts(name)) & {"pages", "page", "per", "time"}
            inner = value.get("value") if isinstance(value, dict) else value
            if isinstance(value, dict) and set(parts(name)) & _ABOUT and (found := _total([value], least)):
                return found
            if known and isinstance(inner, int) and not isinstance(inner, bool) and inner >= least:
                return scalar(inner)
    return ""
