"""Filling a tool's parameters: what is wished for, by role, put into values that the schema allows, or not at all.

No value is made up: each comes from the question, from a result, or from the schema itself.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opspilot.core.messages import Json
from opspilot.models.demo.glossary import TRANSLATION
from opspilot.models.demo.lexicon import Idea
from opspilot.models.demo.times import Span, relative
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard
from opspilot.models.demo.words import ideas_in, likeness, parts, stems, tokens


@dataclass(frozen=True)
class Wish:
    """What a call should be about. Everything is optional; a tool takes what it has parameters for.

    `named` are values for parameters of that very name (found in results); `text` is the whole question.
    """

    text: str
    query: str = ""
    regex: str = ""
    subject: str = ""
    source: str = ""
    level: str = ""
    group: str = ""
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
    if role is Role.SPAN or role in {Role.SINCE, Role.UNTIL}:
        return _time(parameter, wish.span)
    if role is Role.OFFSET:
        return wish.offset if wish.offset is not None and parameter.type == "integer" else None
    wanted = {
        Role.QUERY: wish.query,
        Role.REGEX: wish.regex or ("" if "query" in used else pattern_of(wish.query)),
        Role.SOURCE: wish.source,
        Role.SUBJECT: wish.subject,
        Role.IDENTITY: wish.subject,
        Role.LEVEL: wish.level,
        Role.GROUP: wish.group,
        Role.REFERENCE: wish.reference,
        Role.REASON: wish.text if parameter.required else "",
    }.get(role, "")
    if not wanted:
        return (
            _chosen(parameter, wish.text)
            if parameter.choices and role in {Role.OTHER, Role.ENVIRONMENT}
            else (_environment(parameter, wish.text) if role is Role.ENVIRONMENT else None)
        )
    mark = "query" if role in {Role.QUERY, Role.REGEX} and wanted != wish.regex else f"{role}"
    mark = "subject" if role in {Role.SUBJECT, Role.IDENTITY} else mark
    if mark in used:
        return None
    value = allowed(parameter, wanted)
    if value is not None:
        used.add(mark)
    return value


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


_SEVERE = ("error", "err", "errors", "severe", "critical", "fatal", "failure", "alarm", "high")


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


def _chosen(parameter: Parameter, text: str) -> Json:
    """The one choice that the question names, in either language; None when it names none or several."""
    said = {token.text.lower() for token in tokens(text)}
    said |= {TRANSLATION[word] for word in said if word in TRANSLATION}
    said |= {english for chinese, english in _ENVIRONMENTS.items() if chinese in text}
    named = [
        choice
        for choice in parameter.choices
        if isinstance(choice, str)
        and (
            choice.lower() in said
            or (len(parts(choice)) > 1 and set(parts(choice)) <= said)
            or any(word.startswith(choice.lower()) for word in said if len(choice) >= 3)
        )
    ]
    return named[0] if len(named) == 1 else None


_ENVIRONMENTS = {"生产": "production", "线上": "production", "测试": "test", "预发": "staging", "开发": "development"}
_ENVIRONMENT = re.compile(r"(?i)\b(prod(?:uction)?|staging|stage|test|dev(?:elopment)?|live|uat|qa)\b")


def _environment(parameter: Parameter, text: str) -> Json:
    if found := _ENVIRONMENT.search(text):
        return allowed(parameter, found[0].lower())
    return next((allowed(parameter, english) for chinese, english in _ENVIRONMENTS.items() if chinese in text), None)


def _time(parameter: Parameter, span: Span | None) -> Json:
    if span is None:
        return None
    unit = next((word for word in parts(parameter.name) if word in _UNIT_HOURS), "")
    if parameter.type in {"integer", "number"}:
        if span.hours is None or not unit:
            return None
        return allowed(parameter, str(max(1, round(span.hours / _UNIT_HOURS[unit]))))
    if parameter.role is Role.UNTIL:
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
