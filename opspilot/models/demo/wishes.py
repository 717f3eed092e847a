"""What a question asks of a tool that lists what happened: text, filters, order and counting, put to its parameters.

Owns the first wish for a search; what to try after it is in `logs`.
"""

import re
from dataclasses import replace

from opspilot.models.demo.arguments import Wish, choices_named, text_of
from opspilot.models.demo.case import Case, identify, is_relation
from opspilot.models.demo.counts import (
    same_idea,
)
from opspilot.models.demo.glossary import TRANSLATION
from opspilot.models.demo.history import Done
from opspilot.models.demo.lexicon import STOP_ENGLISH, Idea, listed
from opspilot.models.demo.measures import Measure, Superlative, best_of
from opspilot.models.demo.ordering import sorts
from opspilot.models.demo.question import Question
from opspilot.models.demo.searches import Need
from opspilot.models.demo.suiting import exemplified, failing, question_stems
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard
from opspilot.models.demo.words import parts, stem


def target_of(tool: ToolCard) -> Parameter | None:
    """The parameter that takes the thing which is looked at."""
    return tool.with_role(Role.SUBJECT) or tool.with_role(Role.IDENTITY)


def first_wish(need: Need, tool: ToolCard, case: Case) -> Wish:
    """What the question asks of the logs, put to this tool."""
    question = case.question
    subject = name = need.subject or case.named
    source = question.sources[0] if question.sources else ""
    target = target_of(tool)
    if need.subject in question.sources and tool.with_role(Role.SOURCE) is not None:
        source, subject = need.subject, ""
    elif not subject and target is not None:
        subject = next((name for name in question.names if exemplified(target, name)), "")
        name = name or subject
    if subject and target is not None:
        subject = identify(target, subject, case) or subject
    if tool.with_role(Role.SOURCE) is None and not subject:
        subject = (identify(target, source, case) if target is not None and source else None) or source
    if target is None and not source:
        source = subject
    query = without(name, need.texts[0]) if need.texts else ""
    codes = _codes(case, subject, need.subject or name)
    coded = any(choice in codes for parameter in tool.coded for choice in parameter.choices)
    if target is None and tool.with_role(Role.SOURCE) is None and not query and not coded:
        query = subject
    level = "error" if question.ideas & {Idea.ERRORS, Idea.ALERT} and not query else ""
    if query in _LEVELS and (leveled := tool.with_role(Role.LEVEL)) and _LEVELS[query] in leveled.choices:
        query, level = "", _LEVELS[query]
    if question.measured:
        query = _telling(query, tool, question)
    if question.extreme is None and Idea.MOST in question.ideas:
        question = replace(question, extreme=ranking_of(question, tool))
    order = question.extreme or (Superlative("", Measure.TIME, largest=False) if question.starts else None)
    return Wish(
        question.text,
        query,
        _requests(tool, question, query),
        subject,
        source,
        level,
        _group(tool, case),
        order,
        codes,
        failing=bool(question.ideas & {Idea.ERRORS, Idea.ALERT}) or failing(question.text),
        most_rows=order is not None and not sorts(tool, order),
        span=question.span,
    )


def ranking_of(question: Question, tool: ToolCard) -> Superlative | None:
    """How a tool that can sort ranks "the most customers"; None when it can't, or can count by what is asked."""
    by = tool.with_role(Role.SORT)
    dimension = TRANSLATION.get(question.dimension, question.dimension)
    beside = question_stems(question) - {stem(dimension)}
    order = Superlative("most", Measure.ANY, beside=beside)
    names = [str(choice) for choice in by.choices or by.hints] if by is not None else []
    fits = best_of(order, [name for name in names if {stem(word) for word in parts(name)} & beside])
    return order if fits and tool.with_role(Role.GROUP) is None else None


_MESSAGES = listed("message msg text shape template signature body content summary reason 内容 消息")
_REQUEST = re.compile(r"(?i)\brequests?\b|请求")
_HTTP = r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /"


def _requests(tool: ToolCard, question: Question, query: str) -> str:
    """A line of a log is a request when it has the method and path of one: what else took long is none."""
    wanted = question.extreme is not None and _REQUEST.search(question.text) and not query
    return _HTTP if wanted and tool.with_role(Role.REGEX) is not None else ""


def _codes(case: Case, *names: str) -> frozenset[str]:
    """What the results call the things of these names, each in one word, and the names themselves."""
    entities = [entity for name in names if name and (entity := case.entity(name))]
    fields = ((name, values) for entity in entities for name, values in entity.fields.items())
    called = (values[0] for name, values in fields if len(values) == 1 and not is_relation(name))
    return frozenset((*filter(None, names), *called))


def _telling(query: str, tool: ToolCard, question: Question) -> str:
    """What is left to look for once the words for the tool's own rows, its filters and the ranking are taken away."""
    if any(word.quoted and word.text == query for word in question.words):
        return query
    if question.extreme is not None:
        return ""
    taken = {stem(word) for word in parts(tool.name)} | {stem(question.dimension)}
    for parameter in tool.parameters:
        for choice in choices_named(parameter, question.text):
            taken |= {stem(word) for word in parts(str(choice))}
        if parameter.role in {Role.SUBJECT, Role.IDENTITY, Role.SOURCE} or parameter.choices:
            taken |= {stem(word) for word in parts(parameter.name)}
        if parameter.choices and parameter.role is Role.OTHER:
            taken |= {stem(word) for word in _FAILURES} if _has_failed(parameter) else set()
    kept = [word for word in query.split() if stem(word) not in taken]
    while kept and (kept[0].lower() in STOP_ENGLISH or kept[0].lower() in _VERBS):
        kept.pop(0)
    while kept and (kept[-1].lower() in STOP_ENGLISH or kept[-1].lower() in _VERBS):
        kept.pop()
    return " ".join(kept)


_FAILURES = listed("failed failure failing fail error fault broken 失败")
_VERBS = listed("ran run runs running log logged logs logging had have open opened have")


def _has_failed(parameter: Parameter) -> bool:
    return any(str(choice).lower() in _FAILURES for choice in parameter.choices)


_LEVELS = {word: word for word in ("warning", "error", "critical", "fatal", "debug", "info", "notice")} | {
    "警告": "warning"
}


def without(name: str, text: str) -> str:
    """The words to look for, without the name of the thing that is looked at."""
    return " ".join(text.replace(name, " ").split()) if name else text


def _group(tool: ToolCard, case: Case) -> str:
    """What to count by, where the tool itself names the thing that is asked for."""
    parameter, question = tool.with_role(Role.GROUP), case.question
    if parameter is None or not question.dimension:
        return ""
    if question.dimension_idea is Idea.ERRORS:
        return next((str(choice) for choice in parameter.choices if str(choice).lower() in _MESSAGES), "")
    offered = [str(choice) for choice in parameter.choices] or re.findall(r"[A-Za-z_]+", parameter.description)
    english = TRANSLATION.get(question.dimension, question.dimension)
    for name in (english, *sorted(same_idea(question.dimension_idea))):
        if name in offered:
            return name
    return "" if tool.with_role(Role.REGEX) else plain_name(question.dimension_idea, english)


def plain_name(idea: Idea | None, dimension: str) -> str:
    """What most tools call the thing that is counted by; empty when it is only known in Chinese."""
    return dimension if dimension.isascii() else {Idea.HOST: "host", Idea.USER: "user"}.get(idea or Idea.COUNT, "")


def as_tried(tool: ToolCard, wish: Wish, last: Done) -> Wish:
    """The wish as the last call had it: what it left out stays out."""
    values = {role: str(last.arguments.get(parameter.name, "")) for role in Role if (parameter := tool.with_role(role))}
    pattern = values.get(Role.REGEX) or ""
    query = values.get(Role.QUERY) or (wish.query if "(?=" in pattern else text_of(pattern))
    subject = values.get(Role.SUBJECT) or values.get(Role.IDENTITY) or ""
    span = wish.span if any(values.get(role) for role in (Role.SINCE, Role.SPAN)) else None
    return replace(
        wish,
        query=query,
        subject=subject,
        source=values.get(Role.SOURCE, ""),
        level=wish.level if values.get(Role.LEVEL) else "",
        group=values.get(Role.GROUP, ""),
        span=span,
    )
