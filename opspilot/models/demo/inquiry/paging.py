"""Pages of a list: which parameters of a tool turn them, whether a result says that more follows, and the next one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opspilot.core.messages import Json
from opspilot.models.demo.history import Done, Trim, parse, salvage
from opspilot.models.demo.inquiry.grids import grids_of
from opspilot.models.demo.inquiry.rows import IDS, Grid
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard
from opspilot.models.demo.words import parts

_TOKENS = listed("cursor token continue marker scroll bookmark next")
_OFFSETS = listed("offset skip startat start from")
_SIZES = listed("limit size per max top take rows first keep n count results")
_MORE = listed("more truncated incomplete partial")
_DEEPEST = 3
_PAGES_AT_ONCE = 4


@dataclass(frozen=True)
class Source:
    """All pages of one call: the tool, the arguments without those that turn pages, the results, the rows together.

    `more`: rows are missing, as far as the results tell.
    """

    tool: ToolCard
    arguments: Mapping[str, Json]
    calls: tuple[Done, ...]
    grids: tuple[Grid, ...]
    more: bool

    @property
    def sorted(self) -> bool:
        """Was the tool told in which order to return its rows?"""
        return any(p.role in {Role.SORT, Role.DIRECTION} and p.name in self.arguments for p in self.tool.parameters)


def turns(parameter: Parameter) -> str:
    """`token`, `page` or `offset` for a parameter that turns pages, `size` for how many rows are in one; else empty."""
    words = set(parts(parameter.name))
    if parameter.choices:
        return ""
    if parameter.type == "string" and words & _TOKENS:
        return "token"
    if parameter.type == "integer":
        if words & {"page"} and not words & {"size", "per", "limit"}:
            return "page"
        if words & _OFFSETS or "".join(parts(parameter.name)) in _OFFSETS:
            return "offset"
        if words & _SIZES:
            return "size"
    return ""


def sources_of(calls: tuple[Done, ...], tools: tuple[ToolCard, ...]) -> tuple[Source, ...]:
    """The calls that went well, page by page put together, in the order of their first page."""
    cards = {tool.name: tool for tool in tools if kind_of(tool) is not Kind.MORE}
    stretches = [call for call in calls if call.ok and call.tool not in cards]
    calls = tuple(joined(call, stretches) for call in calls)
    grouped: dict[str, list[Done]] = {}
    for call in calls:
        if call.ok and call.tool in cards:
            grouped.setdefault(f"{call.tool} {sorted(_base(call, cards[call.tool]).items())}", []).append(call)
    return tuple(_source(cards[pages[0].tool], tuple(pages)) for pages in grouped.values())


def joined(call: Done, stretches: Sequence[Done]) -> Done:
    """A result that was cut, together with the stretches of it that were read since."""
    whole = parse(call.text)
    shown = whole.get("data") if isinstance(whole, dict) else None
    if call.trim is None or not isinstance(shown, dict) or not isinstance(text := shown.get("excerpt"), str):
        return call
    trim: Trim | None = call.trim
    for stretch in stretches:
        more = stretch.data if isinstance(stretch.data, dict) else {}
        if trim and trim.ref in stretch.arguments.values() and isinstance(read := more.get("text"), str):
            text += read
            following = more.get("next_offset")
            trim = Trim(trim.ref, following) if isinstance(following, int) else None
    return replace(call, data=salvage(text), trim=trim)


def _base(call: Done, tool: ToolCard) -> dict[str, Json]:
    turning = {p.name for p in tool.parameters if turns(p) in {"token", "page", "offset"}}
    return {name: value for name, value in call.arguments.items() if name not in turning}


def _source(tool: ToolCard, pages: tuple[Done, ...]) -> Source:
    read = [grids_of(page.data) for page in pages]
    merged = list(read[0])
    for later in read[1:]:
        for position, grid in enumerate(merged):
            same = next((g for g in later if g.key == grid.key and g.single == grid.single), None)
            if same is not None and not grid.single:
                rows = tuple({tuple(row.fields.items()): row for row in (*grid.rows, *same.rows)}.values())
                merged[position] = Grid(rows, grid.key, grid.above, grid.total, grid.counts, grid.single, grid.lines)
    last = pages[-1]
    missing = bool(_following(last.data)) or _says_more(last.data) or last.trim is not None or _full(tool, pages, read)
    total = next((grid.total for grid in merged if grid.total), "")
    seen = max((len(grid.rows) for grid in merged if not grid.single and not grid.counts), default=0)
    missing = missing or (total.isdigit() and int(total) > seen > 0)
    asked = {str(value) for value in pages[0].arguments.values()}
    return Source(tool, _base(pages[0], tool), pages, tuple(_known(grid, asked) for grid in merged), missing)


def _known(grid: Grid, asked: set[str]) -> Grid:
    """One thing that was asked for by a value of its own is known by that."""
    if not grid.single or not grid.rows or (grid.naming.lower() in IDS):
        return grid
    return replace(grid, known_by=next((n for n, v in grid.rows[0].fields.items() if v in asked and "." not in n), ""))


def _full(tool: ToolCard, pages: Sequence[Done], read: Sequence[Sequence[Grid]]) -> bool:
    """Is the last page as full as one can be, and nothing said of what follows? Then there may be another."""
    turning = [p for p in tool.parameters if turns(p) in {"page", "offset"}]
    told = any(set(parts(name)) & (_MORE | _TOKENS | _TOTALS) for name, _ in _inner(pages[-1].data))
    if not turning or told:
        return False
    rows = [max((len(grid.rows) for grid in page if not grid.single), default=0) for page in read]
    asked = [v for p in tool.parameters if turns(p) == "size" and isinstance(v := pages[-1].arguments.get(p.name), int)]
    return rows[-1] >= min([*asked, rows[0]]) and rows[-1] >= _SMALLEST_PAGE


_TOTALS = listed("total count matched")
_SMALLEST_PAGE = 5


def next_pages(source: Source) -> Iterator[dict[str, Json]]:
    """The arguments of the pages to read next; none when there is nothing more, or no way to it."""
    if not source.more:
        return
    last = source.calls[-1]
    following = _following(last.data)
    for parameter in source.tool.parameters:
        way = turns(parameter)
        if way == "token" and isinstance(following, str) and following:
            yield {**source.arguments, parameter.name: following}
            return
        if way == "page":
            here = last.arguments.get(parameter.name, 1)
            number = following if isinstance(following, int) else (here if isinstance(here, int) else 1) + 1
            for ahead in range(_pages_left(source)):
                yield {**source.arguments, parameter.name: number + ahead}
            return
        if way == "offset":
            seen = max((len(grid.rows) for grid in source.grids if not grid.single), default=0)
            if seen:
                yield {**source.arguments, parameter.name: following if isinstance(following, int) else seen}
            return


def _pages_left(source: Source) -> int:
    """How many pages are known to follow, at least one."""
    total = next((grid.total for grid in source.grids if grid.total.isdigit()), "")
    seen = max((len(grid.rows) for grid in source.grids if not grid.single), default=0)
    if not total or not seen:
        return 1
    each = max(1, seen // len(source.calls))
    return min(_PAGES_AT_ONCE, max(1, -(-(int(total) - seen) // each)))


def _inner(data: Json, depth: int = 0) -> Iterator[tuple[str, Json]]:
    if isinstance(data, dict) and depth < _DEEPEST:
        for name, value in data.items():
            yield name, value
            yield from _inner(value, depth + 1)


def _following(data: Json) -> Json:
    """The token, number or address of the next page."""
    for name, value in _inner(data):
        words = set(parts(name))
        if words & _TOKENS and not words & {"previous", "prev"} and value and not isinstance(value, bool | dict | list):
            return value
    return None


def _says_more(data: Json) -> bool:
    for name, value in _inner(data):
        words = set(parts(name))
        if value is True and (words & _MORE or {"has", "next"} <= words):
            return True
        if (
            words & {"remaining"}
            and isinstance(value, int)
            and not isinstance(value, bool)
            and value > 0
            and "count" in words
        ):
            return True
    return False
