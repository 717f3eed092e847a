"""Looking into logs: the first search, what to try when it finds nothing, and counting by what the lines speak of."""

import re
from collections.abc import Iterator
from dataclasses import replace

from opspilot.models.demo.arguments import Wish, fill, pattern_of
from opspilot.models.demo.case import Case, Proposal, needs_lookup, suggestion
from opspilot.models.demo.counts import (
    capture_for,
    coded_dimension,
    counted_rows,
    dimension_tallies,
    grouped_tallies,
    same_idea,
    witness,
)
from opspilot.models.demo.glossary import TRANSLATION
from opspilot.models.demo.history import HUMAN_CODES, Done
from opspilot.models.demo.kinds import Kind
from opspilot.models.demo.lexicon import STOP_ENGLISH, Idea
from opspilot.models.demo.needs import only_filters
from opspilot.models.demo.searches import Need
from opspilot.models.demo.suiting import exemplified
from opspilot.models.demo.toolbox import Role, ToolCard
from opspilot.models.demo.wishes import as_tried, first_wish, plain_name, target_of, without
from opspilot.models.demo.words import parts, stem

_MAX_SEARCHES = 4


def next_logs(need: Need, case: Case, *, patient: bool = True) -> Iterator[Proposal]:
    """The next search for one need, if one is called for. A `patient` one waits until a catalogue was asked."""
    done, tool = case.calls(need), need.tools[0]
    first = list(_made(need, tool, first_wish(need, tool, case)))
    if not done or case.asks_anew(first):
        only_name = bool(need.texts) and not need.subject and not without(case.named, need.texts[0])
        if (patient and _waits_for_name(tool, case)) or (
            only_name and sum(other.kind is Kind.LOGS for other in case.needs) > 1
        ):
            return
        yield from first
        return
    last = done[-1]
    if last.useful and (each := list(_each_choice(need, tool, case, done))):
        yield from each
        return
    if len(done) >= _MAX_SEARCHES or last.code in HUMAN_CODES:
        return
    if last.useful:
        if wish := _counting(need, tool, case, done):
            yield from _made(need, tool, wish)
        else:
            yield from _witnessing(need, tool, case, done)
        return
    for wish in _alternatives(need, tool, case, last):
        for proposal in _made(need, tool, wish):
            if not case.made(proposal.key):
                yield proposal
                return
    for other in need.tools[1:2] if not case.question.measured else ():
        yield from _made(need, other, first_wish(need, other, case))


def _made(need: Need, tool: ToolCard, wish: Wish) -> Iterator[Proposal]:
    if (arguments := fill(tool, wish)) is not None:
        yield Proposal(need.id, tool.name, arguments)


_ENOUGH_LOOKUPS = 2


def _looked_up(case: Case) -> bool:
    """Has the catalogue been asked for what the question names, with or without success?"""
    calls = case.calls_of(Kind.CATALOG)
    named = bool(case.question.candidates or case.question.sources)
    return len(calls) >= _ENOUGH_LOOKUPS or any(call.useful or named or not call.ok for call in calls)


def _waits_for_name(tool: ToolCard, case: Case) -> bool:
    """A name that logs will hardly know is looked up first, where there is a catalogue."""
    target, question = target_of(tool) or next(iter(tool.coded), None), case.question
    if target is None or case.need(Kind.CATALOG) is None or _looked_up(case):
        return False
    if any(exemplified(target, name) for name in question.names):
        return False
    if question.subjects:
        return needs_lookup(target, question.subjects[0])
    if question.measured and question.phrases and only_filters(tool):
        return True
    return bool(question.candidates or (question.sources and tool.with_role(Role.SOURCE) is None))


def _alternatives(need: Need, tool: ToolCard, case: Case, last: Done) -> Iterator[Wish]:
    """What else might find it, the closest to the question first. Each drops or changes one thing."""
    wish = as_tried(tool, first_wish(need, tool, case), last)
    renamed = list(_renamed(wish, tool, last))
    reworded = [replace(wish, query=without(need.subject or case.named, text)) for text in need.texts[1:]]
    words = [word for word in need.texts[0].split() if word not in STOP_ENGLISH] if need.texts else []
    if len(words) > 1 and tool.with_role(Role.REGEX):
        in_any_order = "(?i)" + "".join(f"(?=.*{re.escape(word)})" for word in words)
        reworded.insert(1, replace(wish, query="", regex=in_any_order))
    asked = without(need.subject or case.named, need.texts[0]) if need.texts else ""
    if asked.count(" ") > 1:
        shorter = [replace(wish, query=asked.rpartition(" ")[0]), replace(wish, query=asked.partition(" ")[2])]
        at = 0 if case.question.measured and not case.question.dimension else len(reworded)
        reworded[at:at] = shorter
    yield from (*reworded, *renamed) if last.ok else (*renamed, *reworded)
    if wish.group and last.code:
        yield replace(wish, group="")
    if wish.level:
        yield replace(wish, level="", query=wish.query or "error")
        yield replace(wish, level="", query="fail")
    if wish.span:
        yield replace(wish, span=None)
    if wish.query and (wish.source or wish.subject) and not case.question.measured:
        yield replace(wish, query="")
    known = case.question.measured and case.entity(need.subject or case.named) is not None
    for name in dict.fromkeys(value for value in (wish.subject, wish.source) if value and not known):
        yield replace(
            wish,
            subject="" if name == wish.subject else wish.subject,
            source="" if name == wish.source else wish.source,
            query=wish.query or name,
        )
    if " " in wish.query:
        yield replace(wish, query=max(wish.query.split(), key=len))


def _renamed(wish: Wish, tool: ToolCard, last: Done) -> Iterator[Wish]:
    """The same search under the name that the result or the error offers instead."""
    for attribute, parameter in (("subject", target_of(tool)), ("source", tool.with_role(Role.SOURCE))):
        if attribute == "source" and last.ok:
            continue  # the file was found, and what it was searched for wasn't in it
        name = str(getattr(wish, attribute))
        if name and parameter is not None and (better := suggestion(last, name, parameter.name)):
            yield replace(wish, subject=better) if attribute == "subject" else replace(wish, source=better)


# ---------------------------------------------------------------- counting by what the lines show


def _counting(need: Need, tool: ToolCard, case: Case, done: tuple[Done, ...]) -> Wish | None:
    """A second look that counts by the thing asked for, when the first showed lines but no such counts."""
    question = case.question
    group, regex = tool.with_role(Role.GROUP), tool.with_role(Role.REGEX)
    if not question.dimension or question.dimension_idea is Idea.ERRORS or group is None:
        return None
    last = done[-1]
    english = TRANSLATION.get(question.dimension, question.dimension)
    if dimension_tallies(last.findings.tallies, question.dimension, question.dimension_idea):
        return None
    tried = [call.arguments[group.name] for call in done if call.arguments.get(group.name)]
    if last.arguments.get(group.name) and (grouped_tallies(last.findings.tallies) or len(tried) > 1):
        return None
    wish = as_tried(tool, first_wish(need, tool, case), last)
    idea_words = same_idea(question.dimension_idea) | {question.dimension}
    for excerpt in last.findings.excerpts:
        field = next((name for name, value in excerpt.fields.items() if value and set(parts(name)) & idea_words), None)
        if field:
            return replace(wish, group=field)
    texts = [excerpt.text for excerpt in last.findings.excerpts]
    if regex is None or regex.name == getattr(tool.with_role(Role.QUERY), "name", None):
        return replace(wish, group=plain_name(question.dimension_idea, english) or english)
    capture = capture_for(question.dimension, question.dimension_idea, texts)
    if capture is None:
        return replace(wish, group=english)
    name, pattern = capture
    if wish.query and tool.with_role(Role.QUERY) is None:
        words = pattern_of(wish.query).removeprefix("(?i)")
        follows = any(re.search(f"(?i){words}.*?{pattern}", text) for text in texts)
        pattern = f"{words}.*?{pattern}" if follows else f"{pattern}.*?{words}"
    return replace(wish, regex=f"(?i){pattern}", group=name)


_MOST_CHOICES = 8


def _each_choice(need: Need, tool: ToolCard, case: Case, done: tuple[Done, ...]) -> Iterator[Proposal]:
    """For "which depot …" of a tool that can't count by depot, but be asked for each of a few: one search for each."""
    question = case.question
    if not question.dimension or question.dimension_idea is Idea.ERRORS or tool.with_role(Role.GROUP):
        return
    parameter = coded_dimension(tool, question.dimension)
    if parameter is None or counted_rows(done[0], case):
        return
    wish = as_tried(tool, first_wish(need, tool, case), done[0])
    choices = [str(choice) for choice in parameter.choices if choice not in {"", None}]
    if 1 < len(choices) <= _MOST_CHOICES:
        for choice in choices:
            named = replace(wish, named={parameter.name: choice}, subject="")
            yield from (p for p in _made(need, tool, named) if not case.made(p.key))


def _witnessing(need: Need, tool: ToolCard, case: Case, done: tuple[Done, ...]) -> Iterator[Proposal]:
    """A row of what was counted most, when the counts came without one."""
    question = case.question
    if not question.dimension or question.dimension_idea is Idea.ERRORS:
        return
    rows = counted_rows(done[-1], case)
    if (
        not rows
        or witness(rows[0], done)
        or (len(done) > 1 and any(rows[0].label in c.arguments.values() for c in done))
    ):
        return
    words = {stem(word) for word in (*same_idea(question.dimension_idea), question.dimension, *parts(rows[0].group))}
    wish = as_tried(tool, first_wish(need, tool, case), done[-1])
    for parameter in tool.parameters:
        fits = parameter.role not in {Role.GROUP, Role.SORT, Role.DIRECTION, Role.QUERY, Role.REGEX}
        if fits and parameter.type == "string" and {stem(word) for word in parts(parameter.name)} & words:
            named = replace(wish, group="", subject="", named={parameter.name: rows[0].label})
            yield from (p for p in _made(need, tool, named) if not case.made(p.key))
            return
