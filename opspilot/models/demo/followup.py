"""Several messages as one question: what later ones add, replace, or leave to those before them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from opspilot.models.demo.lexicon import Idea
from opspilot.models.demo.question import Question

_INSTEAD = re.compile(r"(?i)\binstead\b|\brather\b|\bnever mind\b|\bforget\b|改为|改成|不用了|算了|不要")


_ADDS = re.compile(
    r"(?i)^(?:and|also|plus|but|only|just|sorry|wait|ok|no|yes|then|please only)\b|\b(?:also|too|as well|only)\b"
    r"|^(?:还|再|另外|顺便|只|并|那|以及|对了|不)"
)
_ASKS = re.compile(
    r"(?i)[?？]\s*$|^(?:please )?(?:who|what|which|when|where|why|how|is|are|was|were|did|does|do|has|have|can|show"
    r"|list|look|find|check|tell|compare|restart)\b|谁|什么|哪|多少|几|怎么|如何|为什么|吗|查|看|列出|对照"
)
_ENOUGH_WORDS = 2


def separated(asked: Sequence[Question]) -> tuple[tuple[Question, ...], ...]:
    """Messages that wait for an answer, those that belong together in one group: a question of its own stands alone."""
    groups: list[list[Question]] = []
    for question in asked:
        if groups and not _stands_alone(question):
            groups[-1].append(question)
        else:
            groups.append([question])
    return tuple(tuple(group) for group in groups)


def _stands_alone(question: Question) -> bool:
    """Does it ask something by itself, rather than change or add to what was asked before?"""
    text = question.text.strip()
    leans = _INSTEAD.search(text) or _REFERS.search(text) or _ADDS.search(text)
    says = bool(question.subjects or question.sources or question.names) or len(question.keywords) >= _ENOUGH_WORDS
    return bool(_ASKS.search(text)) and says and not leans


def merged(asked: Sequence[Question], before: Sequence[Question] = ()) -> Question:
    """Several messages as one question, empty without any.

    Later ones add to or replace what stands before, and lean on earlier questions for what they don't say.
    """
    if not asked:
        return Question("", chinese=False, ideas=frozenset())
    current = asked[0]
    for later in asked[1:]:
        current = later if _INSTEAD.search(later.text) and later.ideas else _joined(current, later)
    if before and (not current.ideas - {Idea.RECENT, Idea.SERVICE} or not (current.subjects or current.sources)):
        return _leaning(current, before[-1])
    return current


def _joined(first: Question, later: Question) -> Question:
    return replace(
        later,
        text=f"{first.text}\n{later.text}",
        ideas=first.ideas | later.ideas,
        words=first.words + later.words,
        subjects=later.subjects or first.subjects,
        sources=later.sources or first.sources,
        names=tuple(dict.fromkeys(later.names + first.names)),
        phrases=tuple(dict.fromkeys(first.phrases + later.phrases)) if later.ideas else first.phrases,
        unknown=tuple(dict.fromkeys(later.unknown + first.unknown)),
        dimension=later.dimension or first.dimension,
        dimension_idea=later.dimension_idea or first.dimension_idea,
        extreme=later.extreme or first.extreme,
        starts=later.starts or first.starts,
        order=later.order or first.order,
        span=later.span or first.span,
    )


def _leaning(question: Question, before: Question) -> Question:
    """A follow-up such as "and since yesterday?" or "who owns it?" speaks of what the question before named."""
    bare = not question.ideas - {Idea.RECENT, Idea.SERVICE} and not question.order
    named = bool(question.subjects or question.sources or question.names or question.phrases)
    if not bare and (named or not _REFERS.search(question.text)):
        return question
    return replace(
        question,
        ideas=before.ideas | question.ideas if bare else question.ideas,
        words=before.words + question.words if bare else question.words,
        subjects=question.subjects or before.subjects,
        sources=question.sources or before.sources,
        names=question.names or before.names,
        phrases=before.phrases if bare and not named else question.phrases,
        unknown=question.unknown or before.unknown,
        dimension=question.dimension or (before.dimension if bare else ""),
        dimension_idea=question.dimension_idea or (before.dimension_idea if bare else None),
        extreme=question.extreme or (before.extreme if bare else None),
        starts=question.starts or (bare and before.starts),
        span=question.span or (before.span if bare else None),
    )


_REFERS = re.compile(r"(?i)\b(it|its|that|this|they|them|those|same|there)\b|它|其|这个|那个|该")
