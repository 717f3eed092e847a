"""Which tools speak of what a question asks, by their names, descriptions and parameters; rarer words say more.

Makes no calls and looks at no result.
"""

import math
from dataclasses import replace

from opspilot.models.demo.inquiry.aims import Sought, Want
from opspilot.models.demo.inquiry.slots import fillings
from opspilot.models.demo.inquiry.terms import Term, word_stems
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.toolbox import Role, ToolCard, first_sentence
from opspilot.models.demo.words import parts


def among(sought: Sought, tools: tuple[ToolCard, ...]) -> Sought:
    """The question with words that the tools themselves use no longer taken for names."""
    texts = (f"{t.name} {t.description} {' '.join(f'{p.name} {p.choices}' for p in t.parameters)}" for t in tools)
    spoken = word_stems(" ".join(texts))

    def plain(term: Term) -> Term:
        if not term.name:
            return term
        if "-" in term.text and term.text.replace("-", "").isalpha() and term.text.islower():
            forms = word_stems(term.text)
            return replace(term, name=False, forms=forms) if forms <= spoken else term
        return replace(term, name=False) if term.text.isalpha() and term.forms & spoken else term

    return replace(
        sought,
        spoken=spoken,
        terms=tuple(plain(term) for term in sought.terms),
        dimension=tuple(plain(term) for term in sought.dimension),
    )


def ranked(tools: tuple[ToolCard, ...], sought: Sought) -> list[tuple[ToolCard, float]]:
    """Tools by how much of the question their names, descriptions and parameters speak of; rarer words say more."""
    texts = {tool.name: word_stems(f"{tool.name} {tool.description}") for tool in tools}

    def rare(term: Term) -> float:
        holding = sum(bool(term.forms & stems) for stems in texts.values())
        return math.log(1 + (1 + len(tools)) / (1 + holding))

    scored = [
        (tool, sum(rare(term) * _fit(term, tool, sought) for term in sought.terms) + _suits(tool, sought))
        for tool in tools
    ]
    return sorted(scored, key=lambda entry: -entry[1])


def _fit(term: Term, tool: ToolCard, sought: Sought) -> float:
    opening = first_sentence(tool.description)
    named = term.meets(word_stems(tool.name))
    choices = " ".join(str(choice) for p in tool.parameters for choice in (*p.choices, *p.hints))
    inside = max(
        3.0 * named,
        1.7 * term.meets(word_stems(opening)),
        1.0 * term.meets(word_stems(tool.description)),
        1.2 * term.meets(word_stems(choices)),
        0.8 * term.meets(word_stems(" ".join(p.name for p in tool.parameters))),
    )
    inside += _SAME_WORD * (term.text.lower() in parts(tool.name))
    return inside * (0.4 if term.name and not named else 1.0) * (1.3 if term in sought.dimension else 1.0)


_SAME_WORD = 0.5
"""For a word that is in the name as it stands, since `screenings` and `screens` have one stem."""
_HINTS = {
    Want.WHO: frozenset({"who", "owner", "by", "person", "team", "call"}),
    Want.WHY: word_stems("why reason cause error event log trace message root failure"),
    Want.WHEN: word_stems("when time history"),
}


def _suits(tool: ToolCard, sought: Sought) -> float:
    stems = word_stems(tool.description) | word_stems(tool.name)
    score = sum(0.8 for want, hints in _HINTS.items() if want in sought.wants and hints & stems)
    asks_one = any(p.required and p.role in {Role.IDENTITY, Role.SUBJECT} and not p.choices for p in tool.parameters)
    if asks_one:
        score += 0.5 if sought.names else -0.7 if sought.whole else 0.0
    return score


def asks_data(sought: Sought, tools: tuple[ToolCard, ...]) -> list[tuple[ToolCard, float]]:
    """The reading tools with how well they fit, the best first; none when no word of the question means anything."""
    reading = tuple(tool for tool in tools if not tool.acts and kind_of(tool) is not Kind.MORE)
    order = ranked(reading, sought) if sought.terms else []
    order = [(tool, score - (0.0 if _can(tool, sought) else _OUT_OF_REACH)) for tool, score in order]
    order.sort(key=lambda entry: -entry[1])
    return order if order and (order[0][1] > 0 or any(_can(tool, sought) for tool, _ in order)) else []


_OUT_OF_REACH = 2.0


def _can(tool: ToolCard, sought: Sought) -> bool:
    """Can it be called with what the question says, without guessing?"""
    filled = next(fillings(tool, sought), None)
    return filled is not None and filled.sureness >= 0
