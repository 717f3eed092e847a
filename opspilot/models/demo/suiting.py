"""Which reading tool suits a question best: by the words of its name, parameters, values and description.

Knows the shape of tools, no tool. Decides nothing about calls.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from opspilot.models.demo.arguments import choices_named
from opspilot.models.demo.glossary import READING, TRANSLATION
from opspilot.models.demo.lexicon import Idea
from opspilot.models.demo.ordering import sorts
from opspilot.models.demo.question import Question
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard, first_sentence
from opspilot.models.demo.words import parts, stem, stems


def question_stems(question: Question) -> frozenset[str]:
    """Stems of the question's words, the Chinese ones also as English content calls them."""
    english = " ".join(TRANSLATION.get(word.text, "") for word in question.words)
    return stems(" ".join(word.text for word in question.words if not word.stop)) | stems(english)


_ASKING = {Idea.COUNT, Idea.MOST, Idea.RECENT, Idea.COMPARE, Idea.EXTREME}


_FAILED = re.compile(r"(?i)\b(?:fail(?:s|ed|ing|ures?)?|broken|wrong)\b|失败|出错")


def failing(text: str) -> bool:
    """Does it speak of what failed?"""
    return _FAILED.search(text) is not None


def suiting(question: Question, tools: Iterable[ToolCard]) -> list[tuple[float, ToolCard]]:
    """The tools with their scores, the best first, of equals the earliest."""
    said = question_stems(replace(question, words=tuple(w for w in question.words if not w.ideas & _ASKING)))
    scored = [(_score(question, said, tool), -position, tool) for position, tool in enumerate(tools)]
    return [(score, tool) for score, _, tool in sorted(scored, key=lambda entry: (entry[0], entry[1]), reverse=True)]


def _score(question: Question, said: frozenset[str], tool: ToolCard) -> float:
    opening = first_sentence(tool.description)
    named = {stem(word) for word in parts(tool.name) if word not in READING}
    parameters = {stem(word) for parameter in tool.parameters for word in parts(parameter.name)}
    score = 3.0 * len(said & named) + 1.5 * len((said & stems(opening)) - named)
    score += 0.5 * len(said & (stems(tool.description[len(opening) :]) | parameters) - named - stems(opening))
    score += sum(1.0 for parameter in tool.parameters if choices_named(parameter, question.text))
    if question.extreme is not None and sorts(tool, question.extreme):
        score += 1.5
    if question.dimension and tool.with_role(Role.GROUP):
        score += 1.0
    score += sum(2.0 for parameter in tool.parameters if any(exemplified(parameter, n) for n in question.names))
    if Idea.ERRORS in question.ideas and tool.with_role(Role.LEVEL):
        score += 1.5
    score += 1.5 * any(idea in question.ideas and tool.about[idea] > 0 for idea in (Idea.ALERT, Idea.ERRORS))
    score += 1.5 * (failing(question.text) and tool.about[Idea.ERRORS] > 0)
    wants_logs = bool(question.ideas & {Idea.LOGS, Idea.ERRORS}) or bool(question.sources)
    return score + (2.0 if wants_logs and tool.about[Idea.LOGS] + tool.records > _IS_A_LOG else 0.0)


_IS_A_LOG = 1.0
_EXAMPLE = re.compile(r"(?i)(?:such as|like|e\.g\.|for example|例如|比如|如)\s*['\"`]?([\w.-]*\d[\w.-]*)")


def exemplified(parameter: Parameter, name: str) -> bool:
    """Does the name look like the example that the parameter's description gives: `n017`, for "such as n001"?"""
    found = _EXAMPLE.search(parameter.description)
    return found is not None and _shape(found[1]) == _shape(name)


def _shape(name: str) -> str:
    return re.sub(r"\d+", "0", name.rstrip(".,"))
