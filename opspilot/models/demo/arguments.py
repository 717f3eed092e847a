"""Filling a tool's parameters: what is wished for, by role, put into values that the schema allows, or not at all.

No value is made up: each comes from the question, from a result, or from the schema itself.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opspilot.core.messages import Json
from opspilot.models.demo.glossary import TRANSLATION
from opspilot.models.demo.lexicon import Idea
from opspilot.models.demo.measures import Superlative
from opspilot.models.demo.ordering import direction, sort_key
from opspilot.models.demo.times import Span, relative
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard
from opspilot.models.demo.words import CJK, ideas_in, likeness, parts, stem, stems, tokens


@dataclass(frozen=True)
class Wish:
    """What a call should be about. Everything is optional; a tool takes what it has parameters for.

    `named` are values for parameters of that very name (found in results); `text` is the whole question. `codes`: all
    that the results call the thing that it is about. `failing`: only what went wrong. `most_rows`: as many as can be.
    """

    text: str
    query: str = ""
    regex: str = ""
    subject: str = ""
    source: str = ""
    level: str = ""
    group: str = ""
    order: Superlative | None = None
    codes: frozenset[str] = frozenset()
    failing: bool = False
    most_rows: bool = False
    span: Span | None = None
    reference: str = ""
    offset: int | None = None
    named: Mapping[str, str] = field(default_factory=dict)


def fill(tool: ToolCard, wish: Wish) -> dict[str, Json] | None:
    """Arguments for a tool; None when a required parameter can't be filled truthfully."""
    arguments: dict[str, Json] = {}
    used: set[str] = set()
    for parameter in sorted(tool.parameters, key=lambda p: not p.required):
        value = _value(parameter, wish, used)
        if value is None and parameter.required:
            value = _fallback(parameter, wish)
        if value is None:
            if parameter.required:
                return None
            continue
        arguments[parameter.name] = [value] if parameter.listed else value
    return {parameter.name: arguments[parameter.name] for parameter in tool.parameters if parameter.name in arguments}


def _value(parameter: Parameter, wish: Wish, used: set[str]) -> Json:
    """The wished value for one parameter. A text is given to one parameter only: filters would shut each other out."""
    if parameter.name in wish.named:
        return allowed(parameter, wish.named[parameter.name])
    role = parameter.role
    if role in _SHAPING or (parameter.limits and not parameter.required):
        return _shape(parameter, wish)
    coded = [choice for choice in parameter.choices if choice and choice in wish.codes] if role in _CODED else []
    if len(coded) == 1:
        return coded[0]
    wanted = _wanted(parameter, wish, used)
    if not wanted:
        return _said(parameter, wish)
    mark = "query" if role in {Role.QUERY, Role.REGEX} and wanted != wish.regex else f"{role}"
    mark = "subject" if role in {Role.SUBJECT, Role.IDENTITY} else mark
    if mark in used:
        return None
    value = allowed(parameter, wanted)
    if value is not None:
        used.add(mark)
    return value


_SHAPING = {Role.SPAN, Role.SINCE, Role.UNTIL, Role.OFFSET, Role.SORT, Role.DIRECTION}


def _shape(parameter: Parameter, wish: Wish) -> Json:
    """Which part of the rows, in which order, and how many of them."""
    if parameter.role in {Role.SPAN, Role.SINCE, Role.UNTIL}:
        return time_value(parameter, wish.span)
    if parameter.role is Role.OFFSET:
        return wish.offset if wish.offset is not None and parameter.type == "integer" else None
    if parameter.role in {Role.SORT, Role.DIRECTION}:
        if wish.order is None or (wish.most_rows and not wish.order.largest):
            return None
        return (sort_key if parameter.role is Role.SORT else direction)(parameter, wish.order)
    return int(min(parameter.most or _MANY_ROWS, _MANY_ROWS)) if wish.most_rows else None


def _wanted(parameter: Parameter, wish: Wish, used: set[str]) -> str:
    return {
        Role.QUERY: wish.query,
        Role.REGEX: wish.regex or ("" if "query" in used else pattern_of(wish.query)),
        Role.SOURCE: wish.source,
        Role.SUBJECT: wish.subject,
        Role.IDENTITY: wish.subject,
        Role.LEVEL: wish.level,
        Role.GROUP: wish.group,
        Role.REFERENCE: wish.reference,
        Role.REASON: wish.text if parameter.required else "",
    }.get(parameter.role, "")


def _said(parameter: Parameter, wish: Wish) -> Json:
    """The value that the question itself says, where nothing was wished for."""
    if parameter.role is Role.LEVEL:
        named = [choice for choice in choices_named(parameter, wish.text) if Idea.ERRORS not in ideas_in(str(choice))]
        return named[0] if len(named) == 1 else None
    if parameter.role not in {Role.OTHER, Role.ENVIRONMENT}:
        return None
    if parameter.choices or parameter.hints:
        return _chosen(parameter, wish.text, failing=wish.failing)
    return _environment(parameter, wish.text) if parameter.role is Role.ENVIRONMENT else None


_MANY_ROWS = 100
_CODED = {Role.OTHER, Role.SUBJECT, Role.IDENTITY, Role.SOURCE, Role.ENVIRONMENT}


def pattern_of(text: str) -> str:
    """A regular expression that finds a text in any case; empty for an empty text."""
    return "(?i)" + re.escape(text).replace("\\ ", " ").replace("\\-", "-") if text else ""


def text_of(pattern: str) -> str:
    """The text that `pattern_of` made a pattern of."""
    return re.sub(r"\\(.)", r"\1", pattern.removeprefix("(?i)"))


def _fallback(parameter: Parameter, wish: Wish) -> Json:
    """For a required parameter without a value of its own: the best phrase there is, or what the schema says."""
    if parameter.choices:
        return _chosen(parameter, wish.text)
    if parameter.type == "boolean":
        return False
    if parameter.type in {"integer", "number"}:
        return _required_number(parameter, wish.text)
    if parameter.type != "string" or parameter.role in {Role.REFERENCE, Role.ENVIRONMENT, Role.SINCE, Role.UNTIL}:
        return None
    texts = (wish.query, wish.subject, wish.source)
    if parameter.role in {Role.SUBJECT, Role.SOURCE}:
        texts = (wish.subject, wish.source, wish.query)
    if parameter.role is Role.IDENTITY:
        texts = (wish.subject, wish.source, "")
    return next((value for text in texts if text and (value := allowed(parameter, text)) is not None), None)


def _required_number(parameter: Parameter, text: str) -> Json:
    for digits in re.findall(r"(?<![\w.])\d{1,9}(?![\w.])", text):
        if (value := allowed(parameter, digits)) is not None:
            return value
    if parameter.least is not None and set(parts(parameter.name)) & {
        "limit",
        "max",
        "top",
        "size",
        "count",
        "offset",
        "page",
    }:
        return allowed(parameter, str(int(parameter.least) + 1)) or allowed(parameter, str(int(parameter.least)))
    return None


def allowed(parameter: Parameter, wanted: str) -> Json:
    """The value as this parameter's schema takes it; None when it doesn't."""
    if parameter.choices:
        return _closest(parameter, wanted)
    if parameter.type in {"integer", "number"}:
        try:
            number = float(wanted)
        except ValueError:
            return None
        if (parameter.least is not None and number <= parameter.least - 1e-9) or (
            parameter.most is not None and number > parameter.most
        ):
            return None
        return int(number) if number == int(number) else number if parameter.type == "number" else None
    if parameter.type != "string" or len(wanted) < parameter.shortest:
        return None
    if parameter.longest is not None and len(wanted) > parameter.longest:
        return None
    if parameter.pattern and not _matches(parameter.pattern, wanted):
        return None
    return None if parameter.format in {"date-time", "date", "uuid", "uri", "email"} and " " in wanted else wanted


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def _described(parameter: Parameter) -> Json:
    """The choice that the description explains as the one for errors: `E 为报错`, `E = error`."""
    for choice in parameter.choices:
        found = re.search(
            rf"(?<!\w){re.escape(str(choice))}\s*(?:=|:|：|为|是|means|for|表示|\()\s*(\w+)", parameter.description
        )
        if found and Idea.ERRORS in ideas_in(found[1]):
            return choice
    return None


_SEVERE = (
    "error",
    "err",
    "errors",
    "severe",
    "critical",
    "fatal",
    "failure",
    "alarm",
    "high",
    "fault",
    "faults",
    "错误",
    "严重",
    "故障",
    "异常",
)
_FAILED = frozenset((*_SEVERE, "failed", "fail", "failing", "unsuccessful", "ko", "nok", "bad", "down", "失败", "异常"))


def _closest(parameter: Parameter, wanted: str) -> Json:
    names = {str(choice): choice for choice in parameter.choices}
    lowered = {name.lower(): name for name in names}
    if wanted.lower() in lowered:
        return names[lowered[wanted.lower()]]
    if parameter.role is Role.LEVEL:
        severe = next((names[lowered[word]] for word in _SEVERE if word in lowered), None)
        return severe if severe is not None else _described(parameter)
    best = max(names, key=lambda name: likeness(wanted, name), default=None)
    return names[best] if best is not None and likeness(wanted, best) >= 0.5 else None


def _chosen(parameter: Parameter, text: str, *, failing: bool = False) -> Json:
    """The one choice that the question names, in either language; None when it names none or several."""
    named = choices_named(parameter, text)
    if not named and failing:
        named = [choice for choice in parameter.choices if str(choice).lower() in _FAILED]
    return named[0] if len(named) == 1 else None


def choices_named(parameter: Parameter, text: str) -> list[Json]:
    """The allowed values that a text speaks of; a longer one hides those that are part of it."""
    said = {word.lower() for token in tokens(text) for word in re.findall(r"[\w-]+", token.text)}
    said |= {word for known in list(said) if known in TRANSLATION for word in TRANSLATION[known].split()}
    said |= {english for chinese, english in _ENVIRONMENTS.items() if chinese in text}
    said |= {"timeout"} if _TIMED_OUT.search(text) else set()
    found = [
        choice
        for choice in parameter.choices or parameter.hints
        if isinstance(choice, str) and _is_said(choice, said, text)
    ]
    whole = {choice: set(parts(choice)) for choice in found}
    return [choice for choice in found if not any(whole[choice] < other for other in whole.values())]


def _is_said(choice: str, said: set[str], text: str) -> bool:
    if CJK.search(choice):
        return choice in text
    lowered, words = choice.lower(), set(parts(choice))
    if lowered in said or (len(words) > 1 and words <= said):
        return True
    if len(lowered) < _SHORTEST_CHOICE or len(words) > 1:
        return False
    participle = lowered.endswith(("ed", "ing"))
    return any(word in {f"{lowered}s", f"{lowered}es"} or (participle and stem(word) == stem(lowered)) for word in said)


_SHORTEST_CHOICE = 3
_TIMED_OUT = re.compile(r"(?i)\btim(?:ed|es|e|ing) out\b|\btimeouts?\b")


_ENVIRONMENTS = {"生产": "production", "线上": "production", "测试": "test", "预发": "staging", "开发": "development"}
_ENVIRONMENT = re.compile(r"(?i)\b(prod(?:uction)?|staging|stage|test|dev(?:elopment)?|live|uat|qa)\b")


def _environment(parameter: Parameter, text: str) -> Json:
    if found := _ENVIRONMENT.search(text):
        return allowed(parameter, found[0].lower())
    return next((allowed(parameter, english) for chinese, english in _ENVIRONMENTS.items() if chinese in text), None)


def time_value(parameter: Parameter, span: Span | None) -> Json:
    """The span as this parameter takes it; None when it doesn't."""
    if span is None:
        return None
    unit = next((word for word in parts(parameter.name) if word in _UNIT_HOURS), "")
    if parameter.type in {"integer", "number"}:
        if span.hours is None or not unit:
            return None
        return allowed(parameter, str(max(1, round(span.hours / _UNIT_HOURS[unit]))))
    if parameter.role is Role.UNTIL:
        return allowed(parameter, span.until) if span.until else None
    if span.until and not span.since:
        return None
    if span.since:
        return allowed(parameter, span.since)
    if parameter.format in {"date-time", "date"} or span.hours is None:
        return None
    if re.search(r"(?<![\w-])-\d+[smhd]\b", parameter.description):
        return allowed(parameter, f"-{relative(span.hours)}")
    if re.search(r"\b\d+ ?[smhdw]\b|(?i:relative|ago|相对)", parameter.description):
        suffix = " ago" if re.search(r"\d+ ?[smhdw] ago", parameter.description) else ""
        return allowed(parameter, f"{relative(span.hours)}{suffix}")
    return allowed(parameter, span.said) if stems(span.said) & parameter.words else None


_UNIT_HOURS = {
    "hours": 1.0,
    "hour": 1.0,
    "minutes": 1 / 60,
    "minute": 1 / 60,
    "days": 24.0,
    "day": 24.0,
    "seconds": 1 / 3600,
    "weeks": 168.0,
}


def unfilled(tool: ToolCard, wish: Wish) -> Iterable[Parameter]:
    """Required parameters that can't be filled from this wish."""
    for parameter in tool.parameters:
        if parameter.required and _value(parameter, wish, set()) is None and _fallback(parameter, wish) is None:
            yield parameter
