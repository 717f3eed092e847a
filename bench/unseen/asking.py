"""What is asked of a toolset, and how an answer is judged. Owns no toolset; knows nothing of the planner's insides."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opspilot.tools.spec import Tool

Fact = str | tuple[str, ...]
"""What must be said; of several spellings, one."""


@dataclass(frozen=True)
class Asked:
    """One question in both languages, and what plain code knows of its answer.

    `facts` must stand in the first paragraph, the direct answer; `told` anywhere. `evidence`: of each set of places,
    one must be cited.
    """

    english: str
    chinese: str
    facts: tuple[Fact, ...] = ()
    told: tuple[Fact, ...] = ()
    evidence: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True)
class Toolset:
    """`places`: everything that can be cited, a `file:line` or an id, with the text that stands there."""

    name: str
    tools: Sequence[Tool]
    questions: Sequence[Asked]
    places: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """`missing` is what keeps it from counting as answered; `invented` what stands in no result."""

    missing: tuple[str, ...]
    invented: tuple[str, ...]

    @property
    def answered(self) -> bool:
        """All facts are there, with a true citation each."""
        return not self.missing and not self.invented


def judge(
    answer: str, asked: Asked, places: Mapping[str, str], known: Iterable[str], results: Sequence[str]
) -> Verdict:
    """Judge an answer by its text, by the places' own texts and by what the tools returned.

    `known`: the question, the calls, the tools' names and descriptions.
    """
    first = answer.strip().split("\n\n", 1)[0]
    missing = [f"{fact} (in the direct answer)" for fact in asked.facts if not _says(first, fact)]
    missing += [str(fact) for fact in asked.told if not _says(answer, fact)]
    cited = set(_cited(answer, places))
    missing += [f"one of {sorted(wanted)[:3]} cited" for wanted in asked.evidence if not wanted & cited]
    return Verdict(tuple(missing), tuple(_invented(answer, asked, places, known, results)))


def _says(text: str, fact: Fact) -> bool:
    spellings = (fact,) if isinstance(fact, str) else fact
    return any(re.search(rf"(?ai)(?<![\w.]){re.escape(s)}(?!\w|\.\d)", text) for s in spellings if s)


def _cited(answer: str, places: Mapping[str, str]) -> Iterable[str]:
    return (place for place in re.findall(r"`([^`\n]+)`", answer) if place in places)


_QUOTES = (r"“([^”\n]+)”", r"(?m)^> (.*)$")
_LIKE_A_PLACE = re.compile(r"`([^`\s]+\.\w+:\d+)`")


def _invented(
    answer: str, asked: Asked, places: Mapping[str, str], known: Iterable[str], results: Sequence[str]
) -> Iterable[str]:
    """Numbers and quotes that no result holds, places that don't exist, and texts that don't stand where it says."""
    source = _flat(" ".join((*(" ".join(_scalars(json.loads(r, parse_float=str))) for r in results), *known)))
    figures = set(re.findall(r"\d+", source))
    figures |= {digits for fact in (*asked.facts, *asked.told) for digits in re.findall(r"\d+", str(fact))}
    yield from (f"the number {digits}" for digits in re.findall(r"\d+", answer) if digits not in figures)
    for pattern in _QUOTES:
        for quote in re.findall(pattern, answer):
            if _flat(quote.removesuffix("…")).strip() not in source:
                yield f"the quote {quote[:60]!r}"
    yield from (f"the place {place}" for place in _LIKE_A_PLACE.findall(answer) if place not in places)
    for place, text in re.findall(r"(?m)^- `([^`\n]+)`[:：] ?(.+)$", answer):
        if place in places and re.match(r".*:\d+$", place) and not _stands(text, places[place]):
            yield f"at {place}: {text[:60]!r}"


def _stands(quoted: str, text: str) -> bool:
    return _flat(quoted.removeprefix("…").removesuffix("…")).strip() in _flat(text)


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace('\\"', '"'))


def _scalars(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif value is not None:
        yield str(value)
