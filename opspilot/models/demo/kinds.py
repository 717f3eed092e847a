"""Kinds of tool, by what their names and descriptions speak of, and the words that tools bring with them.

Knows no question. Owns the weighing; what a kind is asked for is in `needs`.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

from opspilot.models.demo.glossary import READING
from opspilot.models.demo.lexicon import ENGLISH, Idea, listed
from opspilot.models.demo.toolbox import Role, ToolCard, first_sentence
from opspilot.models.demo.words import parts, singular


class Kind(StrEnum):
    """Kinds of tool, and of need."""

    CATALOG = "catalog"
    LOGS = "logs"
    DOCS = "docs"
    ACT = "act"
    OTHER = "other"
    DATA = "data"
    MORE = "more"


def kind_of(tool: ToolCard) -> Kind:
    """What a tool is for, by what its name and description speak of."""
    if tool.acts:
        return Kind.ACT
    if tool.with_role(Role.REFERENCE) and tool.with_role(Role.OFFSET):
        return Kind.MORE
    about = tool.about
    weights = {
        Kind.LOGS: about[Idea.LOGS] + 0.3 * about[Idea.ERRORS] + 0.6 * about[Idea.ALERT] + tool.records,
        Kind.DOCS: about[Idea.DOCS] + 0.3 * about[Idea.ADVICE] + (2.0 if _TELLS_HOW.search(tool.description) else 0.0),
        Kind.CATALOG: about[Idea.CATALOG] + about[Idea.OWNER] + 0.3 * about[Idea.SERVICE] + _card(tool) - tool.records,
    }
    kind = max(weights, key=lambda candidate: weights[candidate])
    return kind if weights[kind] >= 2.0 else Kind.OTHER


_TELLS_HOW = re.compile(
    r"(?i)\b(?:what (?:to|\w+ (?:must|should|can|have to)) do)\b"
    r"|\bhow (?:to|\w+) (?:handle|fix|resolve|deal|respond|react)\b"
    r"|怎么办|如何处理|处理方法"
)
_CARDS = listed("card map roster book profile registry directory who whois")


_CARD_OF = re.compile(
    r"(?i)\b(?:its|their) (?:own )?(?:id|ids|code|key|name|number|owner|slug|reference|contact)\b"
    r"|\b(?:resolve|details (?:of|about)|information (?:on|about)|profile of|look ?up an?)\b|按名称查"
)


def _card(tool: ToolCard) -> float:
    """Is it called what holds the cards of things, or does it say that it turns a name into an id?"""
    if tool.records >= 1:
        return 0.0
    single = len([parameter for parameter in tool.parameters if parameter.required]) == 1
    described = bool(_CARD_OF.search(tool.first_sentence)) and single
    return 2.0 if described or set(parts(tool.name)) & _CARDS else 0.0


_NOT_NOUNS = READING | {word for known in ENGLISH.values() for word in known} | {"tool", "tools", "by", "all", "info"}


def nouns_of(tools: Iterable[ToolCard]) -> frozenset[str]:
    """What the tools are about, from their names and those of their parameters: "vessel", "pump"."""
    found: set[str] = set()
    for tool in tools:
        kind = kind_of(tool)
        words = parts(tool.name) if kind in {Kind.CATALOG, Kind.ACT, Kind.OTHER} else ()
        words += tuple(w for p in tool.parameters if p.role in {Role.SUBJECT, Role.IDENTITY} for w in parts(p.name))
        found |= {singular(word) for word in words if len(word) > 2 and word not in _NOT_NOUNS}
        found |= {
            singular(w) for w in words if w in ENGLISH[Idea.CATALOG] and w not in {"catalog", "catalogue", "registry"}
        }
    return frozenset(found - _GENERAL)


def vocabulary_of(tools: Iterable[ToolCard]) -> frozenset[str]:
    """Words that are no names of things, since the tools themselves use them: allowed values, and what they measure."""
    found: set[str] = set()
    for tool in tools:
        found |= {word.lower() for word in re.findall(r"[\w-]+", first_sentence(tool.description))}
        for parameter in tool.parameters:
            if parameter.role not in {Role.SUBJECT, Role.IDENTITY, Role.SOURCE}:
                found |= {str(choice).lower() for choice in (*parameter.choices, *parameter.hints)}
    return frozenset(found)


_GENERAL = listed("name title status state check restart stop start number key code target subject label")
_FILE_NAME = re.compile(r"\b[A-Za-z0-9][\w.-]*\.(?:log|txt|json|jsonl|gz|csv|out|err)\b")


def names_offered(tools: Iterable[ToolCard]) -> tuple[str, ...]:
    """Names that log tools declare: files in their descriptions, values allowed for a service or a file."""
    found: list[str] = []
    for tool in tools:
        if kind_of(tool) is Kind.LOGS:
            found += _FILE_NAME.findall(tool.description)
            for parameter in tool.parameters:
                if parameter.role in {Role.SOURCE, Role.SUBJECT, Role.IDENTITY}:
                    found += [str(choice) for choice in parameter.choices]
                    found += _FILE_NAME.findall(parameter.description)
    return tuple(dict.fromkeys(found))
