"""Plain text that is a table all the same: columns by bars, tabs, commas or wide gaps, or `name=value` on each line.

Turns lines into rows; text that is prose stays lines.
"""

import re
from collections.abc import Sequence
from functools import partial

from opspilot.models.demo.inquiry.rows import MOMENT, Grid, Row

_PAIR = re.compile(r"(?<![\w=])([A-Za-z\u4e00-\u9fff][\w.\-\u4e00-\u9fff]*)=(\"[^\"]*\"|'[^']*'|[^\s,;|]+)")
_COLON_PAIR = re.compile(r"^\s*(?:[-*•]\s*)?([A-Za-z\u4e00-\u9fff][\w .\-\u4e00-\u9fff]{0,30}?)\s*[:：]\s*(\S.*)$")
_RULE = re.compile(r"[\s|+:=-]{3,}")
_MOST_PARTS = 20
_MOSTLY = 0.8
_LABEL_WORDS = 4


def tables_in(lines: Sequence[str], described: str = "") -> list[Grid]:
    """The tables that these lines are; none when they are prose. `described`: what may name the columns."""
    held = [line.rstrip() for line in lines if line.strip() and not _RULE.fullmatch(line.strip())]
    for way in (_bars, _gaps, _pairs, partial(_aligned, described=described), _commas, _bullets, _card):
        if held and (grid := way(held)) is not None:
            return [grid]
    return []


def _bars(lines: Sequence[str]) -> Grid | None:
    barred = [line for line in lines if line.count("|") >= 1 or "\t" in line]
    mark = "|" if sum("|" in line for line in barred) >= sum("\t" in line for line in barred) else "\t"
    cells = [[cell.strip() for cell in line.strip().strip("|").split(mark)] for line in barred if mark in line]
    return _with_header(cells, len(lines))


def _gaps(lines: Sequence[str]) -> Grid | None:
    return _with_header([re.split(r"\s{2,}", line.strip()) for line in lines], len(lines))


def _commas(lines: Sequence[str]) -> Grid | None:
    return _with_header([[cell.strip() for cell in line.split(",")] for line in lines], len(lines))


def _with_header(cells: list[list[str]], lines: int) -> Grid | None:
    """Rows under a header: cells that are names, and as many in nearly each line."""
    start = next((i for i, row in enumerate(cells) if len(row) > 1), len(cells))
    cells = cells[start:]
    if len(cells) < 2 or lines - len(cells) > max(3, lines * (1 - _MOSTLY)):
        return None
    header = cells[0]
    width = len(header)
    fitting = [row for row in cells[1:] if len(row) == width]
    named = all(0 < len(name.split()) <= _LABEL_WORDS and not re.search(r"\d{2}|[.;]$", name) for name in header)
    if not (
        1 < width <= _MOST_PARTS and named and len(set(header)) == width and len(fitting) >= _MOSTLY * (len(cells) - 1)
    ):
        return None
    return Grid(
        tuple(Row({n: v for n, v in zip(header, row, strict=True) if v not in {"", "-", "—"}}) for row in fitting)
    )


def _pairs(lines: Sequence[str]) -> Grid | None:
    rows = []
    for line in lines:
        pairs = _PAIR.findall(line)
        if len(pairs) < 2:
            continue
        fields = {name: value.strip("\"'").rstrip(",;") for name, value in pairs}
        rest = _PAIR.sub(" ", line).strip(" ,;|-\t")
        stamp = re.match(rf"\W?(?P<time>{MOMENT.pattern})", rest)
        if stamp:
            fields = {"time": stamp["time"], **fields}
            rest = rest[stamp.end() :].strip(" ,;|-\t")
        rest = re.sub(r"\s+", " ", rest)
        lead = rest.rstrip(":")
        rows.append(Row({"name" if " " not in lead else "text": lead, **fields} if lead else fields))
    return Grid(tuple(rows)) if len(rows) >= max(1, _MOSTLY * len(lines)) else None


def _aligned(lines: Sequence[str], described: str) -> Grid | None:
    """Columns apart by wide gaps, without a header: each is called after what it holds."""
    cells = [re.split(r"\s{2,}|\t", line.strip()) for line in lines]
    width = max((len(row) for row in cells), key=[len(row) for row in cells].count, default=0)
    fitting = [row for row in cells if len(row) == width]
    if width < 3 or len(fitting) < max(1, _MOSTLY * len(lines)):
        return None
    names = _named_by(described, width)
    for at in range(len(names), width):
        kind = _kind([row[at] for row in fitting])
        names.append(kind if kind not in names else f"{kind} {at + 1}")
    return Grid(tuple(Row({name: value for name, value in zip(names, row, strict=True)}) for row in fitting))  # noqa: C416


_ITEMS = re.compile(r"[:：(（—]\s*([\w /-]+(?:[,，、]\s*(?:and )?[\w /-]+)+)")


def _named_by(described: str, width: int) -> list[str]:
    """Names for so many columns from a description that lists them: "one a line: run, start, job, state"."""
    for found in _ITEMS.finditer(described):
        names = [
            re.sub(r"^(?:and|the) ", "", name.strip()) for name in re.split(r"[,，、]| and ", found[1]) if name.strip()
        ]
        if len(names) == width == len(set(names)) and all(len(name.split()) <= _LABEL_WORDS for name in names):
            return names
    return []


def _kind(values: Sequence[str]) -> str:
    for kind, pattern in _KINDS:
        if all(re.fullmatch(pattern, value) for value in values):
            return kind
    few = len(set(values)) <= min(6, max(2, len(values) // 4))
    return "state" if few and all(re.fullmatch(r"[A-Z_]+|[a-z]+", value) for value in values) else "name"


_KINDS = (
    ("time", MOMENT.pattern),
    ("duration", r"\d+(?:\.\d+)? ?(?:ms|s|sec|min|m|h)"),
    ("percent", r"\d+(?:\.\d+)? ?%"),
    ("size", r"\d+(?:\.\d+)? ?[KMGT]i?B"),
    ("value", r"-?\d+(?:\.\d+)?"),
    ("id", r"(?=.*\d)(?=.*[A-Za-z])[\w./#-]+"),
)
_BULLET = re.compile(
    r"^\s*(?:[-*•]\s*)?(?P<name>[^\s:：,，(]{2,60}(?: [A-Z][\w-]*)?)\s*(?:[:：]|\s-\s|\s—\s|\()\s*(?P<rest>.+)$"
)


def _bullets(lines: Sequence[str]) -> Grid | None:
    """`name: label value, label value` on each of several lines, with the same labels."""
    rows = []
    for line in lines:
        found = _BULLET.match(line)
        pieces = re.split(r"[,;，；]\s*", found["rest"].rstrip(").。 ")) if found else []
        fields: dict[str, str] = {}
        for piece in pieces:
            label, _, value = (
                piece.partition(":") if ":" in piece and not re.search(r"\d:\d", piece) else piece.partition(" ")
            )
            if label and value.strip():
                fields[label.strip()] = value.strip()
        if found and fields and re.search(r"[^\W\d]", found["name"]) and not re.match(rf"\W?{MOMENT.pattern}", line):
            rows.append(Row({"name": found["name"], **fields}))
    shapes = {tuple(row.fields) for row in rows}
    return (
        Grid(tuple(rows))
        if len(rows) >= max(2, _MOSTLY * len(lines)) and len(shapes) <= 2 and len(next(iter(shapes))) > 1
        else None
    )


def _card(lines: Sequence[str]) -> Grid | None:
    """`Label: value` on each line: one thing."""
    pairs = [(found[1], found[2]) for line in lines if (found := _COLON_PAIR.match(line))]
    names = [name for name, _ in pairs]
    if len(pairs) < 2 or len(pairs) < _MOSTLY * len(lines) or len(set(names)) < len(names):
        return None
    return Grid((Row(dict(pairs)),), single=True)
