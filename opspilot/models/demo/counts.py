"""Counts in results: which rows count what is asked for, which count messages, and a line that one of them counts.

Reads findings; makes no calls.
"""

import re
from collections.abc import Sequence

from opspilot.models.demo.case import Case
from opspilot.models.demo.findings import Tally
from opspilot.models.demo.glossary import TRANSLATION
from opspilot.models.demo.history import Done
from opspilot.models.demo.lexicon import CHINESE, ENGLISH, Idea, listed
from opspilot.models.demo.records import rows_of
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard
from opspilot.models.demo.words import CJK, ideas_in, parts, stem


def same_idea(idea: Idea | None) -> frozenset[str]:
    """Words for hosts, users or services, whichever is meant."""
    return ENGLISH[idea] if idea in {Idea.HOST, Idea.USER, Idea.SERVICE} else frozenset()


_ADDRESS = r"\d+\.\d+\.\d+\.\d+"


def capture_for(dimension: str, idea: Idea | None, texts: list[str]) -> tuple[str, str] | None:
    """A group's name and the pattern that captures the wanted thing in most of these lines; None when none shows it."""
    words = sorted(word for word in same_idea(idea) | {dimension} if word.isascii())
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
    words = same_idea(idea) | {dimension} | set(CHINESE.get(idea, ()) if idea else ())

    def fits(tally: Tally) -> bool:
        return bool(set(parts(tally.group)) & words) or any(set(parts(name)) & words for name in tally.fields)

    return tuple(tally for tally in tallies if fits(tally))


def counted_rows(call: Done, case: Case) -> list[Tally]:
    """The rows that count what "which … most" asks for, the highest first as far as they are numbers."""
    question, findings = case.question, call.findings
    rows = dimension_tallies(findings.tallies, question.dimension, question.dimension_idea)
    if not rows and _grouped(call, case):
        rows = grouped_tallies(findings.tallies)
    return sorted(rows, key=lambda row: -int(row.count) if row.count.isdigit() else 0)


def _grouped(call: Done, case: Case) -> bool:
    card = next((tool for tool in case.tools if tool.name == call.tool), None)
    group = card.with_role(Role.GROUP) if card else None
    return bool(call.arguments.get(group.name)) if group else card is None


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


def witness(top: Tally, calls: Sequence[Done]) -> str:
    """The place of a row that a count counts: its own example, else one that holds its value. Empty when none shows."""
    if top.example is not None and top.example.line:
        return top.example.citation
    for call in reversed(calls):
        if top.label in call.arguments.values():
            places = (record.place for rows in rows_of(call.data) for record in rows.records)
            if place := next((place for place in places if place not in {"", top.label}), ""):
                return place
        for record in (record for rows in rows_of(call.data) for record in rows.records):
            values = record.fields.values()
            if top.label in values and top.count not in values and record.place not in {"", top.label}:
                return record.place
    return ""


def coded_dimension(tool: ToolCard, dimension: str) -> Parameter | None:
    """The parameter with a few values that are what "which …" asks for; of a word not known, the only one there is."""
    english = TRANSLATION.get(dimension, dimension)
    said = {stem(word) for word in parts(english)}
    for parameter in tool.coded:
        if {stem(word) for word in parts(parameter.name)} & said:
            return parameter
    return tool.coded[0] if CJK.search(english) and len(tool.coded) == 1 else None
