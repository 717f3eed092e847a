"""Filling a tool's parameters from a question about data: by the nouns beside names, by patterns, examples and choices.

Nothing is made up: each value stands in the question, in a result, or in the schema.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opspilot.core.messages import Json
from opspilot.models.demo.arguments import allowed, time_value
from opspilot.models.demo.inquiry.aims import Aim, Sought, Want
from opspilot.models.demo.inquiry.meanings import IRREGULAR, NOISE_ENGLISH, PEOPLE
from opspilot.models.demo.inquiry.paging import page_sizes, turns
from opspilot.models.demo.inquiry.terms import Term, word_stems
from opspilot.models.demo.measures import Measure, Superlative
from opspilot.models.demo.ordering import direction, sort_key
from opspilot.models.demo.suiting import exemplified
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard
from opspilot.models.demo.words import CJK, parts, stem


@dataclass(frozen=True)
class Filled:
    """Arguments for a tool. `sureness`: how well the question's own words speak for them; below 0 they are guesses."""

    arguments: dict[str, Json]
    sureness: float
    placed: frozenset[Term] = frozenset()


_PLAIN_PARTS = {
    stem(word) for word in ("id", "ids", "name", "key", "code", "number", "no", "uid", "slug", "title", "exact")
}
_SURE, _LIKELY, _BARE = 2.0, 1.0, -2.0


def nouns(parameter: Parameter, tool: ToolCard) -> frozenset[str]:
    """Stems of what a parameter holds: `pipeline_id` a pipeline; a bare `name` what the tool is about."""
    own = (word_stems(parameter.name) | word_stems(" ".join(parameter.hints))) - _PLAIN_PARTS
    return own or word_stems(tool.name) - _PLAIN_PARTS


def fillings(tool: ToolCard, sought: Sought, known: Mapping[str, str] | None = None) -> Iterator[Filled]:
    """Ways to fill a tool, the surest first: only what is clear, then also what the words may mean.

    `known`: values for parameters by their names, found in earlier results.
    """
    seen: list[dict[str, Json]] = []
    for bold in (False, True):
        filled = _filled(tool, sought, known or {}, bold=bold)
        if filled is not None and filled.arguments not in seen:
            seen.append(filled.arguments)
            yield filled
    if seen and not known and not any(p.required for p in tool.parameters) and (sizes := page_sizes(tool)) not in seen:
        yield Filled(sizes, _BARE)


def _filled(tool: ToolCard, sought: Sought, known: Mapping[str, str], *, bold: bool) -> Filled | None:
    arguments: dict[str, Json] = {}
    used: set[Term] = set()
    sureness = 0.0
    for parameter in sorted(
        tool.parameters, key=lambda p: (not p.required, not p.pattern, not p.choices, -_takes_names(p))
    ):
        value, fit, terms = _value(parameter, tool, sought, known, used, bold=bold)
        if value is None and parameter.required:
            return None
        if value is not None:
            arguments[parameter.name] = [value] if parameter.listed else value
            used |= terms
            sureness += fit
    if sought.whole and not _sorted(tool, arguments):
        arguments |= page_sizes(tool)
    in_order = {p.name: arguments[p.name] for p in tool.parameters if p.name in arguments}
    return Filled(in_order, min(sureness, 0.0) - 3.0 if bold else sureness, frozenset(used))


_NAMED = re.compile(r"(?i)\b(?:name|id|identifier)s? of\b|\b(?:full|exact) name\b|名称|名字|编号")


def _takes_names(parameter: Parameter) -> float:
    """How likely a name without a noun beside it is meant for this parameter."""
    named = 1.0 if _NAMED.search(parameter.description) else 0.0
    return named + (0.5 if parameter.role in {Role.IDENTITY, Role.SUBJECT} else 0.0)


def _sorted(tool: ToolCard, arguments: Mapping[str, Json]) -> bool:
    return any(p.role is Role.SORT and p.name in arguments for p in tool.parameters)


_Found = tuple[Json, float, set[Term]]
_NOTHING: _Found = (None, 0.0, set())


def _value(
    parameter: Parameter, tool: ToolCard, sought: Sought, known: Mapping[str, str], used: set[Term], *, bold: bool
) -> _Found:
    if parameter.name in known:
        return allowed(parameter, known[parameter.name]), 1.0, set()
    way = turns(parameter)
    if way:
        return _turning(parameter, way)
    if parameter.role in {Role.SORT, Role.DIRECTION, Role.GROUP}:
        return _shaping(parameter, sought)
    if (timed := _moment(parameter, sought))[0] is not None:
        return timed
    if parameter.type == "boolean":
        said = [t for t in sought.terms if t.forms & word_stems(parameter.name)]
        return (not said[0].denied, 1.0, set(said)) if said else (False if parameter.required else None, 0.0, set())
    if parameter.choices or parameter.type in {"integer", "number"}:
        return _choice(parameter, tool, sought) if parameter.choices else _number_for(parameter, tool, sought, used)
    if parameter.type != "string" or parameter.role in _TIMES:
        return _NOTHING
    if parameter.role in {Role.QUERY, Role.REGEX}:
        return _topic(parameter, tool, sought, used) if parameter.required or bold else _NOTHING
    named = _name_for(parameter, tool, sought, used, bold=bold)
    if parameter.hints and named[1] <= _SURE and (hinted := _choice(parameter, tool, sought))[0] is not None:
        return hinted
    return named


_TIMES = {Role.SINCE, Role.UNTIL, Role.SPAN}


def _turning(parameter: Parameter, way: str) -> _Found:
    """A page's size where it must be given; which page is told by the results."""
    if way != "size" or not parameter.required:
        return (1, 0.0, set()) if way == "page" and parameter.required else _NOTHING
    return allowed(parameter, str(int(parameter.most or 100))), 0.0, set()


def _moment(parameter: Parameter, sought: Sought) -> _Found:
    """A range of time, or a month."""
    if parameter.role in _TIMES:
        return time_value(parameter, sought.span), 1.0, set()
    monthly = parameter.type == "string" and ("month" in parts(parameter.name) or _fits(parameter, sought.month))
    if sought.month and monthly:
        return allowed(parameter, sought.month), _SURE, {t for t in sought.terms if t.text in sought.month}
    return _NOTHING


def _fits(parameter: Parameter, text: str) -> bool:
    return bool(parameter.pattern) and re.fullmatch(parameter.pattern, text) is not None


def _shaping(parameter: Parameter, sought: Sought) -> _Found:
    """Order and grouping, as far as the tool takes what is asked for."""
    if parameter.role is Role.GROUP:
        if Aim.MOST not in sought.aims and not sought.dimension:
            return _NOTHING
        fitting = [
            c
            for c in parameter.choices or parameter.hints
            if any(t.forms & word_stems(str(c)) for t in sought.dimension)
        ]
        return (fitting[0], _LIKELY, set()) if fitting else _NOTHING
    if not {Aim.EXTREME, Aim.MOST} & set(sought.aims):
        return _NOTHING
    beside = frozenset(form for term in sought.terms for form in term.forms)
    order = Superlative("", sought.measure, sought.largest, beside)
    if parameter.role is Role.SORT:
        value = sort_key(parameter, order)
        return (value, _LIKELY, set()) if value is not None and sought.largest else _NOTHING
    return (direction(parameter, order), 0.0, set()) if sought.measure is Measure.TIME else _NOTHING


_UNIT_WORDS = {
    stem(w) for w in ("ms", "s", "seconds", "percent", "bytes", "mb", "gb", "per", "second", "total", "count", "used")
}


def _choices_in_part(parameter: Parameter, sought: Sought) -> list[tuple[int, Json, set[Term]]]:
    """Values of which the question says what they measure, if not in which unit: "latency" for `latency_ms`."""
    found: list[tuple[int, Json, set[Term]]] = []
    for choice in parameter.choices:
        words = {stem(word) for word in parts(str(choice))} - _UNIT_WORDS
        met = {term for term in sought.terms if not term.name and (term.forms | term.kin) & words}
        exact = sum(bool(term.forms & words) for term in met)
        if met:
            found.append((2 * exact + len(met), choice, met))
    return found


def says(value: str, sought: Sought, tool: ToolCard | None = None) -> bool:
    """Does the question say all words of a value? "opened" does not say `open`: it tells when, not how it is now.

    Nor does the noun that a tool is about: "runs" does not say `running`.
    """
    topic = word_stems(tool.name) if tool is not None else frozenset()
    telling = (
        term
        for term in sought.terms
        if not (term.denied or term.joined or _is_event(term, sought) or _only_tells_when(term, value))
        and not (term.forms & topic and term.text.lower() != value.lower())
    )
    said = frozenset(form for term in telling for form in term.forms)
    heard = {stem(word) for word in re.findall(r"[a-z]+", sought.text.lower()) if word in NOISE_ENGLISH}
    words = [word for word in parts(value) if word not in _SMALL]
    return {stem(word) for word in words} <= said | heard and not set(words) <= NOISE_ENGLISH


_SMALL = frozenset({"in", "of", "to", "at", "the", "on", "for"})


def _is_event(term: Term, sought: Sought) -> bool:
    """What "when was it …" ends with is what happened, no state: "reported" in "when was the last leak reported"."""
    participle = term.text.lower().endswith("ed") or not term.text.isascii()
    return Want.WHEN in sought.wants and participle and term == sought.terms[-1]


def _only_tells_when(term: Term, value: str) -> bool:
    word, state = term.text.lower(), value.lower()
    return (word.endswith("ed") and state == word.removesuffix("ed")) or (word in IRREGULAR and state.endswith("ing"))


def _choice(parameter: Parameter, tool: ToolCard, sought: Sought) -> _Found:
    """The one allowed value that the question says, in either language."""
    plain = sought.text.lower()
    found: list[tuple[int, Json, set[Term]]] = []
    for choice in parameter.choices or parameter.hints:
        if not isinstance(choice, str) or not choice:
            continue
        words = {stem(word) for word in parts(choice)}
        named = choice in plain if CJK.search(choice) else says(choice, sought, tool) or choice in sought.also
        own = not parameter.choices and {stem(word) for word in parts(choice)} & word_stems(tool.description)
        if named and not own:
            found.append((len(words), choice, {t for t in sought.terms if t.forms & words}))
    if not found and parameter.required:
        found = _choices_in_part(parameter, sought)
    longest = max((size for size, _, _ in found), default=0)
    best = [(choice, terms) for size, choice, terms in found if size == longest]
    if len(best) == 1:
        return best[0][0], 1.5, best[0][1]
    if not best and Want.WHY in sought.wants and parameter.role is Role.LEVEL:
        return _NOTHING
    return _NOTHING


def _number_for(parameter: Parameter, tool: ToolCard, sought: Sought, used: set[Term]) -> _Found:
    """A number of the question that stands beside the parameter's noun, or the only one for a required id."""
    numbers = [t for t in sought.terms if t.text.lstrip("#").isdigit() and t not in used]
    scored = [(_beside(t, nouns(parameter, tool), sought), t) for t in numbers]
    scored = [(fit, t) for fit, t in scored if fit > 0 or (parameter.required and fit == 0)]
    if not scored:
        return _NOTHING
    fit, term = max(scored, key=lambda entry: entry[0])
    value = allowed(parameter, term.text.lstrip("#"))
    return (value, 1.0 + fit, {term}) if value is not None else _NOTHING


_GAP = re.compile(r"(?i)[\s:：\"'`]*(?:(?:of|in|on|for|called|named|the|这个|那个|的)\s*){0,2}")


def _beside(term: Term, about: frozenset[str], sought: Sought) -> float:
    """2.5 where the noun stands right beside the name, below 0 where another noun does, else 0."""
    terms = sought.terms
    at = terms.index(term)
    best = 0.0
    for other in terms[max(0, at - 1) : at + 2]:
        if other is term or (other.name and not other.forms & about) or (other in sought.dimension and not term.name):
            continue
        first, second = sorted((term, other), key=lambda t: t.at)
        gap = sought.text[first.at + len(first.text) : second.at].strip("\"'`“”「」")
        if len(gap) > _WIDEST or not _GAP.fullmatch(gap):
            continue
        if other.forms & about:
            best = max(best, 2.5)
        elif not gap.strip() and first is other and best == 0:
            best = -0.5
    return best


_WIDEST = 14


def _name_for(parameter: Parameter, tool: ToolCard, sought: Sought, used: set[Term], *, bold: bool) -> _Found:
    """The name in the question that this parameter takes."""
    about = nouns(parameter, tool)
    if Want.WHO in sought.wants and set(parts(parameter.name)) & PEOPLE and not parameter.required:
        return _NOTHING
    vocabulary = word_stems(tool.name) | word_stems(parameter.name)
    scored: list[tuple[float, int, Term]] = []
    if aliases := [value for value in sought.also if exemplified(parameter, value) or _fits(parameter, value)]:
        return allowed(parameter, aliases[0]), _SURE, set()
    for at, term in enumerate(sought.terms):
        if (
            term in used
            or (term.text.isdigit() and not parameter.pattern)
            or (not term.name and term.forms & vocabulary)
        ):
            continue
        if _has_digits(parameter) and not any(character.isdigit() for character in term.text):
            continue
        if not term.name and term.forms & sought.spoken:
            continue
        if allowed(parameter, term.text) is None or (parameter.pattern and not _fits(parameter, term.text)):
            continue
        fit = _beside(term, about, sought)
        fit += 2.0 * bool(parameter.pattern) + 2.0 * exemplified(parameter, term.text)
        fit += _LIKELY if term.name else 0.0
        scored.append((fit, -at, term))
    if not scored:
        return _NOTHING
    fit, _, term = max(scored, key=lambda entry: entry[:2])
    if fit < (_SURE if not bold and not parameter.required else _LIKELY) and not parameter.required:
        return _NOTHING
    if not parameter.required and not term.name and fit < _SURE:
        return _NOTHING
    text = _whole_name(term, sought) if not parameter.pattern else term.text
    sure = fit if term.name or fit >= _SURE else fit - _SURE
    return allowed(parameter, text), sure, {t for t in sought.terms if t.text in text}


_WITH_DIGITS = re.compile(r"(?i)(?:such as|like|e\.g\.|for example|例如|比如|如)\s*['\"`]?[\w.-]*\d")


def _has_digits(parameter: Parameter) -> bool:
    """Does its example show that its values hold digits?"""
    return _WITH_DIGITS.search(parameter.description) is not None


def _whole_name(term: Term, sought: Sought) -> str:
    """A name of several capitalised words, such as a person's."""
    found = re.search(rf"(?:[A-Z][\w-]*\s)*{re.escape(term.text)}(?:\s[A-Z][\w-]*)*", sought.text)
    return found[0] if found and term.text[:1].isupper() and term.text.isalpha() else term.text


def _topic(parameter: Parameter, tool: ToolCard, sought: Sought, used: set[Term]) -> _Found:
    """Words to look for: those that the tool itself doesn't use, in English for Chinese ones that are known."""
    vocabulary = word_stems(tool.name)
    kept: list[str] = []
    terms: set[Term] = set()
    for term in sought.terms:
        if term in used or (not term.name and term.forms & vocabulary):
            continue
        terms.add(term)
        kept.append(term.text)
    text = " ".join(dict.fromkeys(kept))
    value = allowed(parameter, text) if text else None
    return (value, 0.5, terms) if value is not None else _NOTHING
