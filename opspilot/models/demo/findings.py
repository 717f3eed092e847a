"""What a tool's result holds, whatever its shape: lines and passages with where they stand, counts, entities, options.

Reads any JSON by the general meaning of its keys. All of it is taken verbatim; nothing is computed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from opspilot.core.messages import Json
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.words import parts


@dataclass(frozen=True)
class Excerpt:
    """A piece of text with its place. `source`: a file, document or id; `line`: a number as the result gave it."""

    text: str
    source: str = ""
    line: str = ""
    heading: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def citation(self) -> str:
        """`file:line`, or what of it there is."""
        return f"{self.source}:{self.line}" if self.source and self.line else self.source or self.heading


@dataclass(frozen=True)
class Tally:
    """A value and how often it was seen. `group` is the key that the row stood under, such as `by_level`."""

    label: str
    count: str
    group: str
    fields: Mapping[str, str] = field(default_factory=dict)
    example: Excerpt | None = None


@dataclass(frozen=True)
class Entity:
    """A thing with properties, as a catalogue returns it. Nested values are flattened, lists stay lists."""

    fields: Mapping[str, tuple[str, ...]]

    @property
    def placing(self) -> tuple[str, ...]:
        """The fields that say where it is written, file first: empty when none does."""
        source = next((name for name in self.fields if "." not in name and _key_in(name, _SOURCE)), "")
        line = next((n for n, v in self.fields.items() if "." not in n and _key_in(n, _LINE) and v[0].isdigit()), "")
        return (source, line) if source and line else ()


@dataclass(frozen=True)
class Findings:
    """All that could be read from a result.

    `totals`: its top-level numbers, "" where it says that one is not known; `options`: names on offer, by key.
    """

    excerpts: tuple[Excerpt, ...] = ()
    tallies: tuple[Tally, ...] = ()
    entities: tuple[Entity, ...] = ()
    totals: Mapping[str, str] = field(default_factory=dict)
    options: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Nothing was found: the result says so in a total, or holds no text, no count above zero and no thing."""
        if any(value in {"0", ""} and set(parts(name)) & _TOTAL for name, value in self.totals.items()):
            return True
        return not (self.excerpts or self.entities or any(tally.count != "0" for tally in self.tallies))


_TEXT = listed(
    "text message msg said says snippet passage excerpt content body quote entry raw sample details "
    "内容 文本 正文 消息 原文"
)
_SOURCE = listed(
    "file filename src where path document doc source location url uri page article logfile book stream log "
    "文件 文档 出处 来源"
)
_LINE = listed("line lineno lno ln row pos position para paragraph 行 行号")
_HEADING = listed("heading section chapter headings 标题 章节")
_TITLE = listed("title name 名称")
_COUNT = listed("count hits n occurrences frequency times matches freq cnt events 次数 数量 计数")
_OPTION = listed(
    "available options suggestions suggestion known similar candidates choices did_you_mean files "
    "services sources names fields keys values unknown"
)
_NAME = listed("name id key title slug code 名称 编号")
_LABEL = listed("value shape template label pattern group bucket term signature")
_NOTE = listed("note notes hint hints warning warnings message problems")
_POSITION = re.compile(r"^(?P<source>[^\s:]+\.[A-Za-z0-9]{1,8}):(?P<line>\d+)(?::\s?|\s-\s|\s)(?P<text>.+)$")
_TOTAL = listed("matched matches total hits found count results value many 总数 命中 条数 总计")
_BARE_NUMBER = listed("value count total n")
_MAX_DEPTH = 12
_MAX_NODES = 20_000


def read_result(data: Json) -> Findings:
    """Read a tool's `data`. Of something that says nothing it makes empty findings; it never raises."""
    reader = _Reader()
    reader.visit(data, "", 0)
    totals = {key: scalar(value) for key, value in data.items() if _is_number(value)} if isinstance(data, dict) else {}
    totals |= reader.totals
    if isinstance(data, dict):
        totals |= {name: "" for name, value in data.items() if value is None and name in _TOTAL}
    if isinstance(data, dict) and not (reader.tallies or reader.entities):
        if _described(data) and not any(excerpt.source for excerpt in reader.excerpts):
            reader.excerpts.clear()
        if not reader.excerpts:
            reader.entities += _whole_thing(data)
    return Findings(
        tuple({(e.text, e.source, e.line): e for e in reversed(reader.excerpts)}.values())[::-1],
        tuple(reader.tallies),
        tuple(reader.entities),
        totals,
        tuple(dict.fromkeys(reader.options)),
        tuple(dict.fromkeys(reader.notes)),
    )


def scalar(value: Json) -> str:
    """A JSON scalar as the result spelled it."""
    return ("true" if value else "false") if isinstance(value, bool) else "" if value is None else str(value)


def _is_number(value: Json) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or isinstance(value, JsonNumber)


class JsonNumber(str):
    """A number with a fraction or exponent, kept as the characters that it was written with."""

    __slots__ = ()


class _Reader:
    """One walk over a result."""

    def __init__(self) -> None:
        self.excerpts: list[Excerpt] = []
        self.tallies: list[Tally] = []
        self.entities: list[Entity] = []
        self.options: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.totals: dict[str, str] = {}
        self._nodes = 0

    def visit(self, node: Json, key: str, depth: int, source: str = "") -> None:
        self._nodes += 1
        if depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            return
        if isinstance(node, dict):
            self._visit_object(node, key, depth, source)
        elif isinstance(node, list):
            self._visit_list(node, key, depth, source)
        elif isinstance(node, str) and not isinstance(node, JsonNumber) and depth <= 1:
            self._visit_text(node, key)

    def _visit_text(self, text: str, key: str) -> None:
        if key == "" or _key_in(key, _TEXT):
            self.excerpts += [_positioned(line) for line in text.split("\n") if line.strip()] if key == "" else []
            if key and not _key_in(key, _NOTE):
                self.excerpts.append(Excerpt(text))
        elif _key_in(key, _NOTE):
            self.notes.append(text)

    def _visit_list(self, node: list[Json], key: str, depth: int, source: str) -> None:
        texts = [item for item in node if isinstance(item, str) and not isinstance(item, JsonNumber)]
        if texts and _key_in(key, _NOTE):
            self.notes += texts
            return
        if texts and _key_in(key, _OPTION):
            self.options += [(key, text) for text in texts]
            return
        if texts and depth <= 2 and len(texts) == len(node):
            self.excerpts += [_positioned(text) for text in texts]
            return
        if _key_in(key, _OPTION):
            self.options += [(key, text) for item in node if isinstance(item, dict) and (text := _own_name(item))]
        for item in node:
            if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and _is_number(item[1]):
                self.tallies.append(Tally(item[0], scalar(item[1]), key))
            else:
                self.visit(item, key, depth + 1, source)

    def _visit_object(self, node: Mapping[str, Json], key: str, depth: int, source: str) -> None:
        numbers = {name: scalar(value) for name, value in node.items() if _is_number(value)}
        if depth and len(numbers) == len(node) == 1 and set(numbers) & _BARE_NUMBER:
            self.totals[key] = next(iter(numbers.values()))
            return
        if depth and numbers and len(numbers) == len(node) and not _spoken(node):
            self.tallies += [Tally(name, count, key) for name, count in numbers.items()]
            return
        fields = _scalars(node)
        here = source_of(fields) or source
        inside = [value for value in node.values() if isinstance(value, dict) and _text(_scalars(value))]
        if inside:
            here = _place(fields, here)
        taken = self._as_tally(fields, node, key, depth, here) or self._as_excerpt(fields, depth, here)
        whole = not taken and not inside and self._as_entity(node, fields, depth)
        for name, value in node.items():
            if whole and not (isinstance(value, list) and any(isinstance(item, dict) for item in value)):
                continue
            if isinstance(value, dict | list) or (depth == 0 and not taken):
                self.visit(value, f"{key}.{name}" if key else name, depth + 1, here)

    def _as_tally(self, fields: Mapping[str, str], node: Mapping[str, Json], key: str, depth: int, here: str) -> bool:
        count = next((n for n in fields if _key_in(n, _COUNT) and _is_number(node[n])), None)
        if count is None or depth == 0:
            return False
        label = _first(fields, _LABEL) or _text(fields) or _first(fields, _NAME)
        label = label or next((v for n, v in fields.items() if n != count and v and not _key_in(n, _LINE)), "")
        if not label:
            return False
        self.tallies.append(Tally(label, fields[count], key, fields, _example(fields, node, here)))
        return True

    def _as_excerpt(self, fields: Mapping[str, str], depth: int, here: str) -> bool:
        text = _text(fields) or _sentence(fields)
        if not text or (depth == 0 and not _place(fields, here)):
            return False
        place, line = _place(fields, here), line_of(fields)
        if not line and (whole := next(filter(_WHOLE_PLACE.fullmatch, fields.values()), "")):
            place, _, line = whole.rpartition(":")
        self.excerpts.append(Excerpt(text, place, line, _heading(fields), fields))
        return True

    def _as_entity(self, node: Mapping[str, Json], fields: Mapping[str, str], depth: int) -> bool:
        told = sum(isinstance(value, str) and not isinstance(value, JsonNumber) for value in node.values())
        listed_thing = (depth > 1 or 2 * told >= len(node)) and len(dict(_flattened(node))) > 1
        if (depth == 0 and not _spoken(node)) or not (_first(fields, _NAME | _SOURCE) or listed_thing):
            return False
        self.entities.append(Entity(dict(_flattened(node))))
        return True


def _described(data: Mapping[str, Json]) -> bool:
    """Is it one thing with short texts beside lists of plain values, as a catalogue describes it?"""
    short = [v for v in data.values() if isinstance(v, str) and len(v) <= _SHORT_TEXT and not isinstance(v, JsonNumber)]
    nested = any(isinstance(item, dict | list) for value in data.values() if isinstance(value, list) for item in value)
    return len(short) >= _TOLD and not nested and not any(_key_in(name, _TEXT | _NOTE) for name in data)


_SHORT_TEXT = 60


def _whole_thing(data: Mapping[str, Json]) -> list[Entity]:
    """A result that is itself one thing, such as the status of something; none if it says that a list is empty."""
    said = {name: value for name, value in data.items() if not _key_in(name, _NOTE | _OPTION)}
    fields = dict(_flattened(said))
    told = sum(isinstance(value, str) for value in said.values())
    empty = any(value == [] for value in data.values()) and told < _TOLD
    return [] if empty or not fields else [Entity(fields)]


_TOLD = 2
"""With so many texts a result is a thing, also when a list of it is empty."""


def _scalars(node: Mapping[str, Json]) -> dict[str, str]:
    return {name: scalar(value) for name, value in node.items() if not isinstance(value, dict | list)}


def _spoken(node: Mapping[str, Json]) -> bool:
    """Do its keys speak of a thing, as against the keys of a table of counts?"""
    return any(_key_in(name, _NAME) for name in node)


def _key_in(name: str, known: frozenset[str]) -> bool:
    """Is this key one of those? `line_no`, `lineNumber` and `Line` all are `line`; `example_line` is one, too."""
    name = name.rpartition(".")[2]
    lowered = name.lower()
    if lowered in known:
        return True
    words = parts(name)
    return bool(words) and (words[-1] in known or (words[0] in known and words[-1] in {"no", "number", "num", "path"}))


def _first(fields: Mapping[str, str], known: frozenset[str]) -> str:
    exact = next((v for n, v in fields.items() if n.lower() in known and v), "")
    return exact or next((v for n, v in fields.items() if v and _key_in(n, known)), "")


_WHOLE_PLACE = re.compile(r"[^\s:]+\.[A-Za-z]\w{0,7}:\d+")
_FILE_LIKE = re.compile(r"[^\s:]*\w\.[A-Za-z]\w{0,5}(?::\d+)?")


def source_of(fields: Mapping[str, str]) -> str:
    """The file or document of a record: by its key, or, beside a line number, because the value looks like a file."""
    looks = (value for value in fields.values() if line_of(fields) and _FILE_LIKE.fullmatch(value))
    return _first(fields, _SOURCE) or next(looks, "")


def _place(fields: Mapping[str, str], here: str) -> str:
    return here or _first(fields, frozenset({"id", "key", "ref", "code"}))


def _heading(fields: Mapping[str, str]) -> str:
    return _first(fields, _HEADING) or _first(fields, _TITLE)


def _own_name(item: Mapping[str, Json]) -> str:
    fields = {name: value for name, value in item.items() if isinstance(value, str)}
    return _first(fields, _NAME) or _first(fields, _SOURCE) or next(iter(fields.values()), "")


def line_of(fields: Mapping[str, str]) -> str:
    """The line's number. `line` itself is meant before `heading_line`, whichever comes first."""
    numbered = {name: value for name, value in fields.items() if _key_in(name, _LINE) and value.isdigit()}
    return next((value for name, value in numbered.items() if name.lower() in _LINE), "") or next(
        iter(numbered.values()), ""
    )


def _text(fields: Mapping[str, str]) -> str:
    """The text of a record; a key such as `line` holds a number in one tool and the text itself in another."""
    spoken = (value for name, value in fields.items() if _key_in(name, _LINE | {"event", "log"}) and " " in value)
    return _first(fields, _TEXT) or next(spoken, "")


def _sentence(fields: Mapping[str, str]) -> str:
    """The longest sentence of a record that has a place and no name: its text, whatever the key is called."""
    named = any(parts(name)[-1:] and parts(name)[-1] in _NAME for name in fields)
    sentences = (value for value in fields.values() if value.count(" ") > 1)
    return "" if named or not source_of(fields) else max(sentences, key=len, default="")


def _positioned(line: str) -> Excerpt:
    """`file.log:12: text`, as grep prints it, is a citation and a text."""
    match = _POSITION.match(line)
    return Excerpt(match["text"], match["source"], match["line"]) if match else Excerpt(line)


def _example(fields: Mapping[str, str], node: Mapping[str, Json], here: str) -> Excerpt | None:
    """The line that a counted row names as its example: nested, or beside the count."""
    for value in node.values():
        inner = _scalars(value) if isinstance(value, dict) else {}
        if text := _text(inner):
            return Excerpt(text, source_of(inner) or here, line_of(inner), _heading(inner), inner)
    beside = (v for n, v in fields.items() if "example" in parts(n) and parts(n)[-1] not in _SOURCE | _LINE)
    text = next(beside, "") or _text(fields)
    return Excerpt(text, here, line_of(fields)) if here and (text or line_of(fields)) else None


def _flattened(node: Mapping[str, Json], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, value in node.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict) and depth < 3:
            yield from _flattened(value, f"{path}.", depth + 1)
        elif isinstance(value, list):
            items = tuple(scalar(item) for item in value if not isinstance(item, dict | list) and item is not None)
            named = tuple(
                _first({n: scalar(v) for n, v in item.items() if not isinstance(v, dict | list)}, _NAME)
                for item in value
                if isinstance(item, dict)
            )
            if kept := tuple(item for item in items + named if item):
                yield path, kept
        elif scalar(value):
            yield path, (scalar(value),)
