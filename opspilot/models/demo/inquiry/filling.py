"""Filling a tool's parameters for a question about data. Only what must be filled is: rows are chosen afterwards.

Nothing is made up: each value stands in the question, in a result, or in the schema.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from opspilot.core.messages import Json
from opspilot.models.demo.arguments import allowed
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.dictionary import senses_of
from opspilot.models.demo.inquiry.meanings import MEANINGS, PEOPLE
from opspilot.models.demo.inquiry.moments import moment_of
from opspilot.models.demo.inquiry.paging import turns
from opspilot.models.demo.inquiry.tables import Record, Table
from opspilot.models.demo.inquiry.words import Sort, Word, stems_of
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard
from opspilot.models.demo.words import CJK, parts, stem

_MOST_WAYS = 6
_UNITS = listed("ms s seconds sec percent pct bytes mb gb kb usd eur per second minute total count rate used")
_MOST_ROWS = 200
_PLAIN_PARTS = frozenset(
    stem(w)
    for w in (
        "id",
        "ids",
        "name",
        "names",
        "key",
        "code",
        "number",
        "no",
        "uid",
        "slug",
        "title",
        "exact",
        "or",
        "of",
        "the",
    )
)
_DAYS = listed("day date since until from to start end begin after before first last")


@dataclass(frozen=True, eq=False)
class Known:
    """What values may be taken from: rows of a table that the question is about so far."""

    table: Table
    records: tuple[Record, ...]


def ways(tool: ToolCard, question: Question, known: Sequence[Known] = (), query: str = "") -> list[dict[str, Json]]:
    """Arguments that the tool may be called with, the likeliest first; none when it needs what nobody knows."""
    columns: list[tuple[str, list[Json]]] = []
    for parameter in tool.parameters:
        values = _values(parameter, tool, question, known, query)
        if not values:
            if parameter.required:
                return []
            continue
        columns.append((parameter.name, [[v] if parameter.listed else v for v in values]))
    made = itertools.islice(itertools.product(*(values for _, values in columns)), _MOST_WAYS)
    return [dict(zip((name for name, _ in columns), values, strict=True)) for values in made]


def narrower(tool: ToolCard, question: Question, known: Sequence[Known] = ()) -> Iterator[dict[str, Json]]:
    """The same with optional filters that the question names, for when a list has more rows than can be read."""
    base = ways(tool, question, known)
    for arguments in base[:1]:
        extra: dict[str, Json] = {}
        for parameter in tool.parameters:
            if parameter.name in arguments or parameter.required or turns(parameter) or parameter.type == "boolean":
                continue
            said = said_of(parameter, question)
            said = said or (_from_question(parameter, tool, question, known) if parameter.type == "string" else [])
            if said and parameter.role not in SHAPING:
                extra[parameter.name] = [said[0]] if parameter.listed else said[0]
        if extra:
            yield {**arguments, **extra}
            for name, value in extra.items():
                yield {**arguments, name: value}


SHAPING = {Role.SORT, Role.DIRECTION, Role.GROUP, Role.QUERY, Role.REGEX, Role.SINCE, Role.UNTIL, Role.SPAN}


def _values(parameter: Parameter, tool: ToolCard, question: Question, known: Sequence[Known], query: str) -> list[Json]:
    way = turns(parameter)
    if way == "size":
        return [int(min(parameter.most or _MOST_ROWS, _MOST_ROWS))]
    if way:
        return [1 if way == "page" else 0] if parameter.required and way != "token" else []
    if _is_dated(parameter):
        if _is_monthly(parameter) and len(months := _months(question)) > 1:
            return [v for month in months if (v := allowed(parameter, month)) is not None]
        timed = _time(parameter, tool, question, known)
        return [] if timed is None else [timed]
    return _needed(parameter, tool, question, known, query) if parameter.required else []


def _needed(parameter: Parameter, tool: ToolCard, question: Question, known: Sequence[Known], query: str) -> list[Json]:
    """What a parameter that must be filled, and takes no time and no page, may be filled with."""
    if parameter.type == "boolean":
        return [False]
    if parameter.choices:
        return said_of(parameter, question) or _in_span(parameter, question) or list(parameter.choices)[:_MOST_WAYS]
    if is_query(parameter) and not _takes_a_name(parameter):
        return [value for value in (allowed(parameter, query or search_text(question, tool)),) if value is not None]
    if parameter.type in {"integer", "number"}:
        return _numbers(parameter, tool, question, known)
    return _texts(parameter, tool, question, known, query) if parameter.type == "string" else []


def _texts(parameter: Parameter, tool: ToolCard, question: Question, known: Sequence[Known], query: str) -> list[Json]:
    """Names of rows or of the question; free text where the parameter takes any."""
    rows = _from_rows(parameter, tool, known)
    asked = _from_question(parameter, tool, question, known)
    found = (rows if len(known) == 1 else []) or asked or rows
    if not found and query == BOLD:
        found = _guesses(parameter, tool, question)
    named = parameter.role in {Role.IDENTITY, Role.SUBJECT} or parts(parameter.name)[-1:] in {
        ("id",),
        ("name",),
        ("key",),
    }
    if (
        not found
        and not parameter.pattern
        and not named
        and query != BOLD
        and (_FREE.search(f"{parameter.name} {parameter.description}") or kind_of(tool) is Kind.DOCS)
    ):
        text = allowed(parameter, query or search_text(question, tool))
        return [] if text is None else [text]
    return found


BOLD = "\0"
"""In place of a query: any word of the question may be tried as a name."""


def _guesses(parameter: Parameter, tool: ToolCard, question: Question) -> list[Json]:
    """Words that the tool itself does not use, those beside its noun first: "the *baggage* shift"."""
    spoken, about = (
        stems_of(f"{tool.name} {tool.description} {parameter.name} {parameter.description}"),
        nouns(parameter, tool),
    )
    fresh = [w for w in question.content if w.text.isascii() and not w.text.isdigit() and not w.forms & spoken]
    fresh.sort(key=lambda w: -_near(w, about, question))
    return [v for w in fresh[:2] if (v := allowed(parameter, w.text)) is not None]


_FREE = re.compile(
    r"(?i)\b(?:in english|words?|keywords?|free text|describe|problem|question|topic|symptom|phrase)\b|关键词|问题"
)


def _in_span(parameter: Parameter, question: Question) -> list[Json]:
    """The allowed days or months that lie in the question's range."""
    moments = {choice: moment_of(str(choice)) for choice in parameter.choices}
    if question.span is None or not moments or any(m is None for m in moments.values()):
        return []
    span = question.span.within([m for m in moments.values() if m])
    return [choice for choice, moment in moments.items() if moment and span.holds(moment)]


def is_query(parameter: Parameter) -> bool:
    """Does it take words to search for?"""
    return parameter.role in {Role.QUERY, Role.REGEX} and parts(parameter.name)[-1:] not in _MARKS


_MARKS = {("id",), ("ids",), ("key",), ("no",), ("number",), ("ref",)}


def _takes_a_name(parameter: Parameter) -> bool:
    return bool(
        re.search(r"(?i)\b(?:exact|full) name\b|\bname or\b|\bid or\b", parameter.description)
    ) and not re.search(r"(?i)\bwords?\b|keyword|free text|search", f"{parameter.name} {parameter.description}")


def said_of(parameter: Parameter, question: Question) -> list[Json]:
    """The allowed values that the question says."""
    text = question.text.lower()
    found: list[tuple[float, int, Json]] = []
    for at, choice in enumerate(parameter.choices or parameter.hints):
        if not isinstance(choice, str) or not choice:
            continue
        lowered = choice.lower()
        words = [w for w in parts(choice) if len(w) > 1 or w.isdigit()]
        met = [next((q for q in question.words if stem(w) in q.forms), None) for w in words]
        told = [m for m, w in zip(met, words, strict=True) if w not in _UNITS]
        if re.search(rf"(?<![a-z0-9-]){re.escape(lowered)}(?![a-z0-9-])", text) or (
            CJK.search(choice) and lowered in text
        ):
            found.append((2.0 + len(words), -at, choice))
        elif told and all(m is not None and not m.denied for m in told):
            found.append((1.0 + len(told), -at, choice))
        elif parameter.required and 2 * (some := sum(m is not None for m in told)) >= len(told) > 0:
            found.append((0.5 * some, -at, choice))
    best = max((score for score, _, _ in found), default=0.0)
    return [choice for score, _, choice in sorted(found, key=lambda f: (-f[0], -f[1])) if score >= best - 0.5]


# ---------------------------------------------------------------- times


def _months(question: Question) -> list[str]:
    """The months of the question's range, when it says from which to which, a few."""
    span = question.span
    if span is None or span.since is None or span.until is None or not span.years:
        return []
    number = (span.until.year - span.since.year) * 12 + span.until.month - span.since.month
    start = span.since.year * 12 + span.since.month - 1
    return [f"{m // 12}-{m % 12 + 1:02d}" for m in range(start, start + number)] if 1 < number <= _MOST_WAYS else []


def _is_monthly(parameter: Parameter) -> bool:
    return "month" in parts(parameter.name) or re.search(r"YYYY-MM(?!-)", f"{parameter.description}") is not None


def _is_dated(parameter: Parameter) -> bool:
    """Does it take a day, a moment or a month?"""
    if parameter.type != "string" or parameter.choices:
        return False
    words = set(parts(parameter.name))
    dated = re.search(
        r"(?i)YYYY-MM-DD|\bISO\b|\bdate\b|\bday\b|日期|\d{4}-\d\d-\d\d|\btime\b|\bUTC\b",
        f"{parameter.name} {parameter.description}",
    )
    timed = parameter.role in {Role.SINCE, Role.UNTIL} or bool(words & (_DAYS | {"on", "at"}))
    return parameter.format in {"date", "date-time"} or _is_monthly(parameter) or (timed and dated is not None)


def _time(parameter: Parameter, tool: ToolCard, question: Question, known: Sequence[Known]) -> Json:
    """A day, a moment or a month of the question's range, as the parameter wants it."""
    span = question.span
    if span is None:
        return None
    words = set(parts(parameter.name))
    text = " ".join(p.description for p in tool.parameters if _is_dated(p))
    monthly = _is_monthly(parameter)
    moments = [m for one in known for r in one.table.records for c in one.table.times if (m := one.table.moment(r, c))]
    span = span.within(moments)
    if not span.years or (span.since is None and span.until is None):
        return None
    ends = parameter.role is Role.UNTIL or bool(words & {"to", "until", "end", "before", "last"})
    moment = span.until if ends else span.since or span.until
    if moment is None:
        return None
    if monthly:
        return allowed(parameter, (span.since or moment).strftime("%Y-%m"))
    whole = moment.hour == moment.minute == 0
    exact = re.search(r"T\d\d:|HH:MM|date-?time", text) is not None or parameter.format == "date-time"
    if ends and whole and not exact:
        moment -= timedelta(days=1)
    if words & {"day", "date"} or parameter.format == "date":
        moment -= timedelta(days=1) if ends and whole and exact else timedelta()
        return allowed(parameter, moment.strftime("%Y-%m-%d"))
    shapes = (
        ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M", "%Y-%m-%d"]
        if exact or not whole
        else ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"]
    )
    if exact and not re.search(r"Z\b|UTC|zone|offset|date-time", text):
        shapes = ["%Y-%m-%dT%H:%M", *shapes]
    return next((v for shape in shapes if (v := allowed(parameter, moment.strftime(shape))) is not None), None)


# ---------------------------------------------------------------- names and numbers


def nouns(parameter: Parameter, tool: ToolCard) -> frozenset[str]:
    """Stems of what a parameter holds: `pipeline_id` a pipeline; a bare `name` what the tool is about."""
    return (stems_of(parameter.name) - _PLAIN_PARTS) or (stems_of(tool.name) - _PLAIN_PARTS)


def _numbers(parameter: Parameter, tool: ToolCard, question: Question, known: Sequence[Known]) -> list[Json]:
    about = nouns(parameter, tool)
    said = [w for w in question.content if w.sort is Sort.NUMBER or re.fullmatch(r"#?\d+", w.text)]
    said.sort(key=lambda w: -_near(w, about, question))
    values = [v for w in said if (v := allowed(parameter, w.text.lstrip("#"))) is not None]
    return values[:2] or _from_rows(parameter, tool, known)


def _near(word: Word, about: frozenset[str], question: Question) -> float:
    at = question.words.index(word)
    return float(any(w.forms & about for w in question.words[max(0, at - 1) : at + 2] if w is not word))


def _from_question(parameter: Parameter, tool: ToolCard, question: Question, known: Sequence[Known]) -> list[Json]:
    """Names in the question that a parameter takes, the likeliest first."""
    about = nouns(parameter, tool)
    scored: dict[str, float] = {}
    shapes = {
        _shape(example) for example in _EXAMPLE.findall(parameter.description) if any(c.isdigit() for c in example)
    }
    vocabulary = stems_of(f"{tool.name} {tool.description} {parameter.name} {parameter.description}")
    choices = " ".join(str(c) for p in tool.parameters for c in (*p.choices, *p.hints))
    spoken = stems_of(f"{tool.name} {parameter.name} {choices}") | {
        part for c in choices.lower().split() for part in parts(c)
    }
    for text, word in _candidates(question):
        beside = (
            word.sort is Sort.PLAIN and text.isascii() and _near(word, about, question) and not word.forms & vocabulary
        )
        if word.sort in {Sort.PLAIN, Sort.NUMBER} and text == word.text and not parameter.pattern and not beside:
            continue
        if allowed(parameter, text) is None or (parameter.pattern and not re.search(parameter.pattern, text)):
            continue
        fit = 2.0 if parameter.pattern else 0.0
        fit += 2.0 if _shape(text) in shapes else -1.0 if shapes and not parameter.pattern else 0.0
        fit += 1.5 * _near(word, about, question) + (0.6 if word.sort is Sort.ID else 0.4)
        fit -= 2.0 * bool(word.forms <= spoken)
        for one in known:
            held = [c for c, values in one.table.values.items() if any(text.lower() == v.lower() for v in values)]
            if held:
                fit += (
                    2.0
                    if any(one.table.labels[c] & about for c in held)
                    or (one.table.naming in held and one.table.nouns & about)
                    else -1.0
                )
                break
        scored[text] = max(scored.get(text, 0.0), fit)
    for one in known:
        for column, values in one.table.values.items():
            if not (one.table.labels[column] & about or (column == one.table.naming and one.table.nouns & about)):
                continue
            for value in values:
                if (
                    1 < len(value) <= 60
                    and value.lower() in question.text.lower()
                    and allowed(parameter, value) is not None
                ):
                    scored[value] = max(scored.get(value, 0.0), 2.5 + 0.01 * len(value))
    good = sorted((text for text, fit in scored.items() if fit >= 0.4), key=lambda text: -scored[text])
    best = scored[good[0]] if good else 0.0
    return [v for text in good[:3] if scored[text] >= best - 1.0 and (v := allowed(parameter, text)) is not None]


_EXAMPLE = re.compile(r"[A-Za-z0-9][\w./:-]*\d[\w./:-]*")


def _shape(text: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[A-Z]+", "A", re.sub(r"[a-z]+", "a", text)))


_PERSON = re.compile(r"[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)+")


_SUBJECT = re.compile(r"(?:^|[，。？\s])([\u4e00-\u9fff]{2,8}?)(?:归|由谁|属于|的负责人|谁负责|是谁的|现在|的状态)")


def _candidates(question: Question) -> Iterator[tuple[str, Word]]:
    for said in _SUBJECT.finditer(question.text):
        inside = [w for w in question.content if said.start(1) <= w.at and w.end <= said.end(1)]
        if inside:
            yield said[1], inside[0]
    for found in _PERSON.finditer(question.text):
        inside = [w for w in question.content if found.start() <= w.at and w.end <= found.end()]
        if len(inside) > 1:
            begin = inside[0].at
            yield question.text[begin : found.end()], inside[0]
    for word in question.content:
        yield word.text.lstrip("#"), word


def _from_rows(parameter: Parameter, tool: ToolCard, known: Sequence[Known]) -> list[Json]:
    """Values in rows that a parameter takes: of a column of its name, else the row's own name if it is of that sort."""
    about = nouns(parameter, tool)
    found: dict[str, float] = {}
    people = bool(set(parts(parameter.name)) & (PEOPLE | {"who", "login", "handle", "employee"}))
    for one in known:
        for record in one.records:
            for column, value in record.fields.items():
                label = stems_of(column.rpartition(">")[2].rpartition(".")[2])
                same = label - _PLAIN_PARTS
                fit = 0.0
                if same and about and (about <= label or same == about):
                    fit = 2.0
                elif column == one.table.naming and one.table.nouns & about:
                    fit = 1.5
                elif people and set(parts(column.rpartition(">")[2])) & PEOPLE and column not in one.table.numeric:
                    fit = 1.3
                elif parameter.pattern and re.fullmatch(parameter.pattern, value) and len(parameter.pattern) > 4:
                    fit = 1.4
                elif same & about:
                    fit = 0.8
                if fit and allowed(parameter, value) is not None:
                    fit -= 0.2 * column.count(">") + (
                        0.5 if parameter.pattern and not re.search(parameter.pattern, value) else 0.0
                    )
                    found[value] = max(found.get(value, 0.0), fit)
    ordered = sorted(found, key=lambda value: -found[value])
    best = found[ordered[0]] if ordered else 0.0
    return [allowed(parameter, value) for value in ordered[:4] if found[value] >= best - 0.1]


# ---------------------------------------------------------------- text searches


def search_text(question: Question, tool: ToolCard, more: Mapping[str, None] | None = None) -> str:
    """The words to search texts with, in English where the tool speaks no Chinese."""
    chinese = bool(CJK.search(f"{tool.description} {' '.join(p.description for p in tool.parameters)}"))
    chinese = chinese and not re.search("英文|英语", tool.description)
    words = [] if more is None else list(more)
    for word in question.content:
        if CJK.search(word.text) and not chinese:
            words += MEANINGS.get(word.text, "").split() or list(senses_of(word.text)[:3])
        elif word.sort is not Sort.NUMBER:
            words.append(word.text)
    return " ".join(dict.fromkeys(words))[:300] or question.text[:200]
