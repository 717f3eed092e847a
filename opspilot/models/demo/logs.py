"""Looking into logs: the first search, what to try when it finds nothing, and counting by what the lines speak of."""

import re
from collections.abc import Iterator
from dataclasses import replace

from opspilot.models.demo.arguments import Wish, fill, pattern_of, text_of
from opspilot.models.demo.case import Case, Proposal, identify, needs_lookup, suggestion
from opspilot.models.demo.findings import Tally
from opspilot.models.demo.glossary import TRANSLATION
from opspilot.models.demo.history import HUMAN_CODES, Done
from opspilot.models.demo.lexicon import CHINESE, ENGLISH, STOP_ENGLISH, Idea, listed
from opspilot.models.demo.needs import Kind, Need
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard
from opspilot.models.demo.words import CJK, ideas_in, parts

_MAX_SEARCHES = 4


def next_logs(need: Need, case: Case) -> Iterator[Proposal]:
    """The next search for one need, if one is called for."""
    done, tool = case.calls(need), need.tools[0]
    first = list(_made(need, tool, first_wish(need, tool, case)))
    if not done or case.asks_anew(first):
        only_name = bool(need.texts) and not _without(case.named, need.texts[0])
        if _waits_for_name(tool, case) or (only_name and sum(other.kind is Kind.LOGS for other in case.needs) > 1):
            return
        yield from first
        return
    last = done[-1]
    if len(done) >= _MAX_SEARCHES or last.code in HUMAN_CODES:
        return
    if last.useful:
        if wish := _counting(need, tool, case, done):
            yield from _made(need, tool, wish)
        return
    for wish in _alternatives(need, tool, case, last):
        for proposal in _made(need, tool, wish):
            if not case.made(proposal.key):
                yield proposal
                return
    for other in need.tools[1:2]:
        yield from _made(need, other, first_wish(need, other, case))


def _made(need: Need, tool: ToolCard, wish: Wish) -> Iterator[Proposal]:
    if (arguments := fill(tool, wish)) is not None:
        yield Proposal(need.id, tool.name, arguments)


def _target(tool: ToolCard) -> Parameter | None:
    return tool.with_role(Role.SUBJECT) or tool.with_role(Role.IDENTITY)


def _waits_for_name(tool: ToolCard, case: Case) -> bool:
    """A name that logs will hardly know is looked up first, where there is a catalogue."""
    target, question = _target(tool), case.question
    if target is None or case.need(Kind.CATALOG) is None or case.calls_of(Kind.CATALOG):
        return False
    if question.subjects:
        return needs_lookup(target, question.subjects[0])
    return bool(question.candidates or (question.sources and tool.with_role(Role.SOURCE) is None))


def first_wish(need: Need, tool: ToolCard, case: Case) -> Wish:
    """What the question asks of the logs, put to this tool."""
    question = case.question
    subject = name = need.subject or case.named
    source = question.sources[0] if question.sources else ""
    target = _target(tool)
    if subject and target is not None:
        subject = identify(target, subject, case) or subject
    if tool.with_role(Role.SOURCE) is None and not subject:
        subject = (identify(target, source, case) if target is not None and source else None) or source
    if target is None and not source:
        source = subject
    query = _without(name, need.texts[0]) if need.texts else ""
    if target is None and tool.with_role(Role.SOURCE) is None and not query:
        query = subject
    level = "error" if question.ideas & {Idea.ERRORS, Idea.ALERT} and not query else ""
    if query in _LEVELS and (leveled := tool.with_role(Role.LEVEL)) and _LEVELS[query] in leveled.choices:
        query, level = "", _LEVELS[query]
    return Wish(question.text, query, "", subject, source, level, _group(tool, case), question.span)


_LEVELS = {word: word for word in ("warning", "error", "critical", "fatal", "debug", "info", "notice")} | {
    "警告": "warning"
}


def _without(name: str, text: str) -> str:
    """The words to look for, without the name of the thing that is looked at."""
    return " ".join(text.replace(name, " ").split()) if name else text


def _group(tool: ToolCard, case: Case) -> str:
    """What to count by, where the tool itself names the thing that is asked for."""
    parameter, question = tool.with_role(Role.GROUP), case.question
    if parameter is None or not question.dimension or question.dimension_idea is Idea.ERRORS:
        return ""
    offered = [str(choice) for choice in parameter.choices] or re.findall(r"[A-Za-z_]+", parameter.description)
    english = TRANSLATION.get(question.dimension, question.dimension)
    for name in (english, *sorted(_same_idea(question.dimension_idea))):
        if name in offered:
            return name
    return "" if tool.with_role(Role.REGEX) else _plain_name(question.dimension_idea, english)


def _plain_name(idea: Idea | None, dimension: str) -> str:
    return dimension if dimension.isascii() else {Idea.HOST: "host", Idea.USER: "user"}.get(idea or Idea.COUNT, "")


def _same_idea(idea: Idea | None) -> frozenset[str]:
    return ENGLISH[idea] if idea in {Idea.HOST, Idea.USER, Idea.SERVICE} else frozenset()


def _alternatives(need: Need, tool: ToolCard, case: Case, last: Done) -> Iterator[Wish]:
    """What else might find it, the closest to the question first. Each drops or changes one thing."""
    wish = _as_tried(tool, first_wish(need, tool, case), last)
    renamed = list(_renamed(wish, tool, last))
    reworded = [replace(wish, query=_without(case.named, text)) for text in need.texts[1:]]
    words = [word for word in need.texts[0].split() if word not in STOP_ENGLISH] if need.texts else []
    if len(words) > 1 and tool.with_role(Role.REGEX):
        in_any_order = "(?i)" + "".join(f"(?=.*{re.escape(word)})" for word in words)
        reworded.insert(1, replace(wish, query="", regex=in_any_order))
    yield from (*reworded, *renamed) if last.ok else (*renamed, *reworded)
    if wish.group and last.code:
        yield replace(wish, group="")
    if wish.level:
        yield replace(wish, level="", query=wish.query or "error")
        yield replace(wish, level="", query="fail")
    if wish.span:
        yield replace(wish, span=None)
    if wish.query and (wish.source or wish.subject) and not case.question.counts:
        yield replace(wish, query="")
    for name in dict.fromkeys(value for value in (wish.subject, wish.source) if value):
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
    for attribute, parameter in (("subject", _target(tool)), ("source", tool.with_role(Role.SOURCE))):
        if attribute == "source" and last.ok:
            continue  # the file was found, and what it was searched for wasn't in it
        name = str(getattr(wish, attribute))
        if name and parameter is not None and (better := suggestion(last, name, parameter.name)):
            yield replace(wish, subject=better) if attribute == "subject" else replace(wish, source=better)


def _as_tried(tool: ToolCard, wish: Wish, last: Done) -> Wish:
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


# ---------------------------------------------------------------- counting by what the lines show


def _counting(need: Need, tool: ToolCard, case: Case, done: tuple[Done, ...]) -> Wish | None:
    """A second look that counts by the thing asked for, when the first showed lines but no such counts."""
    question = case.question
    group, regex = tool.with_role(Role.GROUP), tool.with_role(Role.REGEX)
    if not question.dimension or question.dimension_idea is Idea.ERRORS or group is None:
        return None
    last = done[-1]
    if dimension_tallies(last.findings.tallies, question.dimension, question.dimension_idea):
        return None
    tried = [call.arguments[group.name] for call in done if call.arguments.get(group.name)]
    if last.arguments.get(group.name) and (grouped_tallies(last.findings.tallies) or len(tried) > 1):
        return None
    wish = _as_tried(tool, first_wish(need, tool, case), last)
    idea_words = _same_idea(question.dimension_idea) | {question.dimension}
    for excerpt in last.findings.excerpts:
        field = next((name for name, value in excerpt.fields.items() if value and set(parts(name)) & idea_words), None)
        if field:
            return replace(wish, group=field)
    texts = [excerpt.text for excerpt in last.findings.excerpts]
    if regex is None or regex.name == getattr(tool.with_role(Role.QUERY), "name", None):
        return replace(wish, group=_plain_name(question.dimension_idea, question.dimension) or question.dimension)
    capture = capture_for(question.dimension, question.dimension_idea, texts)
    if capture is None:
        return replace(wish, group=question.dimension)
    name, pattern = capture
    if wish.query and tool.with_role(Role.QUERY) is None:
        words = pattern_of(wish.query).removeprefix("(?i)")
        follows = any(re.search(f"(?i){words}.*?{pattern}", text) for text in texts)
        pattern = f"{words}.*?{pattern}" if follows else f"{pattern}.*?{words}"
    return replace(wish, regex=f"(?i){pattern}", group=name)


_ADDRESS = r"\d+\.\d+\.\d+\.\d+"


def capture_for(dimension: str, idea: Idea | None, texts: list[str]) -> tuple[str, str] | None:
    """A group's name and the pattern that captures the wanted thing in most of these lines; None when none shows it."""
    words = sorted(word for word in _same_idea(idea) | {dimension} if word.isascii())
    name = "address" if idea is Idea.HOST else "user" if idea is Idea.USER else "value"
    said = "|".join(map(re.escape, words))
    patterns = [rf"\b\w*(?:{said})=(?P<{name}>[^\s,;]+)", rf"\b(?:{said})[ :]+(?P<{name}>[^\s,;]+)"] if said else []
    if idea is Idea.HOST:
        patterns += [rf"(?P<{name}>{_ADDRESS})", rf"\bfrom (?P<{name}>[\w.-]+)"]
    if idea is Idea.USER:
        patterns.insert(0, rf"\b(?:for|user) (?:\w+ user )?(?P<{name}>[^\s:,;]+)")
    matched = {pattern: sum(bool(re.search(f"(?i){pattern}", text)) for text in texts) for pattern in patterns}
    best = max(patterns, key=lambda pattern: matched[pattern], default=None)
    return (name, best) if best is not None and matched[best] else None


def dimension_tallies(tallies: tuple[Tally, ...], dimension: str, idea: Idea | None) -> tuple[Tally, ...]:
    """The rows that count the wanted thing: their group, or a column of theirs, carries its name."""
    words = _same_idea(idea) | {dimension} | set(CHINESE.get(idea, ()) if idea else ())

    def fits(tally: Tally) -> bool:
        return bool(set(parts(tally.group)) & words) or any(set(parts(name)) & words for name in tally.fields)

    return tuple(tally for tally in tallies if fits(tally))


_CHINESE_MESSAGES = re.compile("消息|报错|错误|内容|信息|模板")


_OTHER_GROUPS = listed(
    "level levels severity shape shapes template templates message messages other others file files format formats "
    "coverage pattern patterns"
)


def grouped_tallies(tallies: tuple[Tally, ...]) -> tuple[Tally, ...]:
    """The rows of the counts that a call asked for: the first group that isn't what such a tool always counts."""
    groups = dict.fromkeys(row.group for row in tallies if not set(parts(row.group)) & _OTHER_GROUPS)
    group = next(iter(groups), None)
    return tuple(row for row in tallies if row.group == group)


def message_tallies(tallies: tuple[Tally, ...]) -> tuple[Tally, ...]:
    """The rows that count messages: their group speaks of shapes, messages or errors, or their labels are sentences."""
    if chinese := tuple(tally for tally in tallies if _CHINESE_MESSAGES.search(tally.group)):
        return chinese
    spoken = listed("shape shapes template templates message messages signature signatures cluster clusters")
    named = tuple(tally for tally in tallies if set(parts(tally.group)) & spoken)
    if named:
        return named
    erring = tuple(t for t in tallies if Idea.ERRORS in ideas_in(t.group) and " " in t.label)
    return erring or tuple(t for t in tallies if t.label.count(" ") >= 2 or (CJK.search(t.label) and len(t.label) > 5))
