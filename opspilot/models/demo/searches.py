"""What to search in tools that list things: which of them suits, and one search for each thing or phrase.

Owns the choice among logs and other listings, and what is left of a question as text to look for.
"""

import re
from dataclasses import dataclass

from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.lexicon import STOP_ENGLISH, Idea
from opspilot.models.demo.question import Question
from opspilot.models.demo.suiting import suiting
from opspilot.models.demo.toolbox import Role, ToolCard
from opspilot.models.demo.words import CJK


@dataclass(frozen=True)
class Need:
    """One thing to find out or do, with the tools that may serve it, the best first.

    `texts`: spellings to look for. `subject`: the one of several things that it is about. `aside`: not asked for, a
    step on the way to something else.
    """

    kind: Kind
    tools: tuple[ToolCard, ...]
    texts: tuple[str, ...] = ()
    number: int = 0
    aside: bool = False
    subject: str = ""

    @property
    def id(self) -> str:
        """Names the need within its question."""
        return f"{self.kind}.{self.number}"


_SIDE_BY_SIDE = 3


def _besides(spellings: tuple[str, ...], things: tuple[str, ...]) -> tuple[str, ...]:
    """What is looked for, without the names of the things that it is looked for in."""
    kept = []
    for spelling in spellings:
        words = re.sub("|".join(map(re.escape, things)), " ", spelling, flags=re.IGNORECASE).split()
        while words and words[-1].lower() in STOP_ENGLISH:
            words.pop()
        while words and words[0].lower() in STOP_ENGLISH:
            words.pop(0)
        kept.append(" ".join(words))
    return tuple(dict.fromkeys(filter(None, kept)))


_OFTEN = re.compile(r"(?i)\bhow often\b|\bhow many times\b|多少次|几次|次数")
_SUITS = 1.5
_LISTS = 1.4


def data_tools(
    question: Question, tools: tuple[ToolCard, ...], logs: tuple[ToolCard, ...]
) -> tuple[ToolCard, ...] | None:
    """Tools whose rows may hold the answer, the best first: logs, and others that list things of one sort.

    None when a tool that tells about one named thing suits better than all of them.
    """
    single = [tool for tool in tools if kind_of(tool) is Kind.OTHER and _needs_a_name(tool)]
    others = [tool for tool in tools if kind_of(tool) is Kind.OTHER and tool not in single]
    ranked = suiting(question, [*logs, *others, *single])
    best = [tool for score, tool in ranked if score >= _SUITS]
    if best and best[0] in single and not question.ideas & {Idea.LOGS, Idea.ERRORS}:
        return None
    if len(ranked) > 1 and len(logs) > 1 and not question.measured and ranked[0][1] in logs:
        return (ranked[0][1], *(tool for tool in logs if tool is not ranked[0][1]))
    if (
        not (best or question.starts or question.extreme or _OFTEN.search(question.text))
        and question.candidates
        and not question.ideas & {Idea.LOGS, Idea.ERRORS, Idea.ALERT}
    ):
        return None
    if best and question.measured:
        return (best[0], *(tool for tool in logs if tool is not best[0]))
    listing = [tool for tool in others if tool.records >= _LISTS or (question.extreme and len(others) == 1)]
    return logs or tuple(listing[:1] if question.measured else ())


def _needs_a_name(tool: ToolCard) -> bool:
    """Does it tell about one thing only, which must be named?"""
    target = tool.with_role(Role.SUBJECT) or tool.with_role(Role.IDENTITY)
    return target is not None and target.required and not target.choices


def log_needs(question: Question, tools: tuple[ToolCard, ...], *, documented: bool) -> list[Need]:
    """One search for each thing that the question names, or for each phrase that it looks for."""
    things, texts = question.subjects[:_SIDE_BY_SIDE], question.phrases[:_SIDE_BY_SIDE]
    takes = bool(tools[0].with_role(Role.SUBJECT) or tools[0].with_role(Role.IDENTITY) or tools[0].coded)
    if question.compares and not documented and len(things) < 2 and (pair := _pair(question, tools[0])):
        things, takes = pair, True
    if question.measured and texts and not question.dimension:
        texts = (_together(question, texts),)
    if len(things) > 1 and takes:
        text = next(filter(None, (_besides(text, things) for text in texts)), ())
        return [Need(Kind.LOGS, tools, text, number, subject=thing) for number, thing in enumerate(things)]
    if documented and not question.counts:
        texts = texts[:1]
    return [Need(Kind.LOGS, tools, text, number) for number, text in enumerate(texts or ((),))]


def _pair(question: Question, tool: ToolCard) -> tuple[str, ...]:
    """The two or three things that are set against each other, when they aren't called services."""
    sources = question.sources if tool.with_role(Role.SOURCE) else ()
    for things in (sources, _apart(question.candidates), question.rivals):
        if len(things) > 1:
            return tuple(things[:_SIDE_BY_SIDE])
    return ()


def _apart(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names without those that are part of another."""
    return tuple(name for name in names if not any(name != other and name in other for other in names))


def _together(question: Question, texts: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """All phrases as spellings of one search: a quoted one alone, else the longest first."""
    quoted = {word.text for word in question.words if word.quoted}
    strange = [name for name in question.unknown if CJK.search(name)]
    named = {*question.subjects, *question.names, *strange} - quoted
    others = tuple(text for text in texts if text[0] not in named)
    texts = others or (texts if _OFTEN.search(question.text) else ())
    spellings = [spelling for text in texts for spelling in text]
    exact = [spelling for spelling in spellings if spelling in quoted]
    first = [text[0] for text in texts]
    faults = [f"{text} {found[1]}" for text in first if (found := _erring(text).search(question.text))]
    first = [*faults, *first]
    return tuple(dict.fromkeys(exact or sorted(first, key=len, reverse=True)[:1] + spellings))


def _erring(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?i){re.escape(text)}s? (error|exception|warning|alarm)")
