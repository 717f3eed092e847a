"""Which tool speaks of what a question asks, by the words of its name, description and parameters. Knows no result."""

import math
import re
from collections.abc import Sequence

from opspilot.models.demo.glossary import READING
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.filling import (
    is_query,
)
from opspilot.models.demo.inquiry.words import Word, stems_of
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.toolbox import ToolCard, first_sentence
from opspilot.models.demo.words import parts


def ranked(tools: Sequence[ToolCard], question: Question) -> list[tuple[ToolCard, float]]:
    """Tools by how much of the question their names, descriptions and parameters speak of; rarer words say more."""
    texts = {tool.name: stems_of(f"{tool.name} {tool.description}") for tool in tools}

    def rare(word: Word) -> float:
        holding = sum(word.meets(stems) >= 0.6 for stems in texts.values())
        return math.log(1 + (1 + len(tools)) / (1 + holding))

    scored = [(tool, sum(rare(w) * _fit(w, tool, question) for w in question.content)) for tool in tools]
    scored = [(tool, score + (2.0 if question.advice and is_search(tool) else 0.0)) for tool, score in scored]
    scored = [(tool, score + (3.0 if _fits_an_id(tool, question) else 0.0)) for tool, score in scored]
    return sorted(scored, key=lambda entry: -entry[1])


def _fits_an_id(tool: ToolCard, question: Question) -> bool:
    """Does it ask for an id of a form that the question holds?"""
    return any(
        p.required and p.pattern and re.fullmatch(p.pattern, word.text)
        for p in tool.parameters
        for word in question.names
    )


def _fit(word: Word, tool: ToolCard, question: Question) -> float:
    name = stems_of(" ".join(w for w in parts(tool.name) if w not in READING))
    choices = " ".join(str(choice) for p in tool.parameters for choice in (*p.choices, *p.hints))
    named = word.meets(name)
    fit = max(
        3.0 * named,
        1.7 * word.meets(stems_of(first_sentence(tool.description))),
        1.0 * word.meets(stems_of(tool.description)),
        1.2 * word.meets(stems_of(choices)),
        0.8 * word.meets(stems_of(" ".join(p.name for p in tool.parameters))),
    )
    fit += 0.5 * (word.text.lower() in parts(tool.name))
    return (
        fit
        * (1.0 if word.plain or named else 0.5)
        * (1.3 if word in question.which or word in question.counted else 1.0)
    )


def is_search(tool: ToolCard) -> bool:
    """Does it search texts by words?"""
    by_id = any(p.required and not is_query(p) and not p.choices for p in tool.parameters)
    return (kind_of(tool) is Kind.DOCS and not by_id) or any(p.required and is_query(p) for p in tool.parameters)
