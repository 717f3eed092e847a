"""Superlatives: "the slowest", "the three biggest", 最新的, and which field or sort key measures what they ask for.

Owns the words for quantities and their units. Knows no tool and no result.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from opspilot.models.demo.glossary import TRANSLATION
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.words import Token, parts, stem, stems


class Measure(StrEnum):
    """What a superlative ranks by. `ANY` leaves it to the words beside it: "the highest load"."""

    DURATION = "duration"
    SIZE = "size"
    AMOUNT = "amount"
    TIME = "time"
    ANY = "any"


@dataclass(frozen=True)
class Superlative:
    """What to rank by and from which end. `beside`: stems of the question's other words. `many`: how many are asked."""

    said: str
    measure: Measure
    largest: bool = True
    beside: frozenset[str] = frozenset()
    many: int = 1


_WORDS: MappingProxyType[str, tuple[Measure, bool]] = MappingProxyType(
    {
        **dict.fromkeys(("slowest", "longest", "最慢", "最长", "最久"), (Measure.DURATION, True)),
        **dict.fromkeys(("fastest", "quickest", "shortest", "最快", "最短"), (Measure.DURATION, False)),
        **dict.fromkeys(("biggest", "largest", "heaviest", "fattest", "bulkiest", "最大"), (Measure.SIZE, True)),
        **dict.fromkeys(("smallest", "lightest", "tiniest", "最小"), (Measure.SIZE, False)),
        **dict.fromkeys(("costliest", "dearest", "priciest", "最贵"), (Measure.AMOUNT, True)),
        **dict.fromkeys(("cheapest", "最便宜"), (Measure.AMOUNT, False)),
        **dict.fromkeys(("newest", "youngest"), (Measure.TIME, True)),
        **dict.fromkeys(("oldest", "earliest", "最早", "最旧", "最老"), (Measure.TIME, False)),
        **dict.fromkeys(("highest", "greatest", "fullest", "hottest", "peak", "maximum", "最高"), (Measure.ANY, True)),
        **dict.fromkeys(("lowest", "least", "fewest", "minimum", "最低", "最少"), (Measure.ANY, False)),
    }
)
_TOP_BY = re.compile(r"(?i)\b(top)\b[\w ]*?\bby ((?:the )?[a-z][\w ]{2,30})")
_LAST_ONE = re.compile(
    r"(?i)\b(?:which|what|what's|who|when)\b[^?.]*\b(?:latest|last|most recent)\b"
    r"|(?:最新|最近一次|最后一次|上一次|最后)[^？。]*(?:哪|什么|谁|几|是)|(?:哪|什么|谁|何时)[^？。]*(?:最新|最近一次|最后一次|上一次)"
)
UNITS: MappingProxyType[Measure, frozenset[str]] = MappingProxyType(
    {
        Measure.DURATION: listed(
            "duration elapsed latency took runtime ms millis milliseconds s sec secs seconds minutes min mins hours us "
            "micros time spent wait waited age uptime 耗时 时长 延迟 秒 毫秒"
        ),
        Measure.SIZE: listed(
            "size bytes kb mb gb tb kib mib gib length len rss memory mem volume weight count total rows amount value "
            "eur usd gbp 大小 字节 内存"
        ),
        Measure.AMOUNT: listed("amount price cost costs eur usd gbp cny fee sum total value charge 金额 价格 费用"),
        Measure.TIME: listed(
            "at time ts timestamp date day when opened created submitted started updated since seen received closed "
            "finished on begin start datetime 时间 日期 时刻"
        ),
        Measure.ANY: frozenset(),
    }
)
_KIN = (
    listed("memory mem rss ram heap mb gb mib gib"),
    listed("disk storage space gb tb used"),
    listed("cpu load cores"),
    listed("time duration elapsed runtime seconds s ms latency"),
    listed("money cost amount price eur usd"),
)
_KIN_STEMS = tuple(frozenset(stem(word) for word in group) for group in _KIN)
_QUANTITIES = listed("memory time space disk cpu storage ram heap bytes money bandwidth")
_NUMBERS = {
    **dict(zip(("one", "two", "three", "four", "five", "ten"), (1, 2, 3, 4, 5, 10), strict=True)),
    **dict(zip("一两二三四五十", (1, 2, 2, 3, 4, 5, 10), strict=True)),
}
_MOST = 10
_SEVERAL = 3
_PLURAL = re.compile(r"(?i)\b(?:were|are)\b|哪些|哪几")


def read_superlative(text: str, words: tuple[Token, ...]) -> Superlative | None:
    """The superlative of a question; None when it has none. "most" counts only beside a quantity: "most memory"."""
    for index, word in enumerate(words):
        found = _WORDS.get(word.text.lower()) or _at_end(word)
        if found is None and word.text.lower() in {"most", "least", "最多", "最少"}:
            near = words[index + 1 : index + 2] if not word.chinese else words[max(0, index - 2) : index]
            if any(_english(w) in _QUANTITIES for w in near):
                found = Measure.ANY, word.text.lower() in {"most", "最多"}
        if found is not None:
            measure = found[0]
            if word.chinese and measure is Measure.SIZE and any("金额" in w.text for w in words[:index]):
                measure = Measure.AMOUNT
            return Superlative(word.text, measure, found[1], _beside(words, index), _many(text))
    if ranked := _TOP_BY.search(text):
        measure = next((m for m, units in UNITS.items() if set(ranked[2].lower().split()) & units), Measure.ANY)
        return Superlative(ranked[0], measure, beside=stems(ranked[2]), many=_many(text))
    if found_last := _LAST_ONE.search(text):
        return Superlative(found_last[0], Measure.TIME, largest=True, beside=_beside(words, -1))
    return None


def _at_end(word: Token) -> tuple[Measure, bool] | None:
    """A Chinese word that the lexicon keeps whole, such as 耗时最长."""
    if not word.chinese or word.quoted:
        return None
    return next((found for known, found in _WORDS.items() if word.text.endswith(known)), None)


def _english(word: Token) -> str:
    return TRANSLATION.get(word.text, word.text).lower()


def _beside(words: tuple[Token, ...], at: int) -> frozenset[str]:
    return stems(" ".join(_english(word) for index, word in enumerate(words) if index != at and not word.stop))


def _many(text: str) -> int:
    number = "|".join((*_NUMBERS, r"\d{1,2}"))
    ways = (
        rf"\b(?:top|first|which|what) ({number})\b",
        rf"\bthe ({number}) \w+",
        rf"前({number})",
        rf"的({number})[个条单台次起]",
    )
    found = re.search("|".join(ways), text, re.IGNORECASE)
    if found is None:
        return _SEVERAL if _PLURAL.search(text) else 1
    said = next(group for group in found.groups() if group)
    return min(int(said) if said.isdigit() else _NUMBERS[said.lower()], _MOST)


def fitness(superlative: Superlative, name: str, described: str = "") -> float:
    """How well a field or sort key of this name measures what is asked: 0 when not at all.

    `described`: what a tool says of it, which counts half.
    """
    words = set(parts(name))
    own = {stem(word) for word in words}
    score = 2.0 * len(own & superlative.beside)
    score += 2.0 * sum(bool(kin & own and kin & superlative.beside) for kin in _KIN_STEMS)
    measures = bool(words & UNITS[superlative.measure])
    if superlative.measure in {Measure.DURATION, Measure.AMOUNT, Measure.TIME} and not measures:
        return 0.0
    score += 1.5 * measures
    score += 0.5 * len(stems(described) & superlative.beside)
    return score


def best_of(superlative: Superlative, names: Iterable[str]) -> str | None:
    """The name that measures it best, the first of equals; None when none does."""
    scored = [(fitness(superlative, name), -position, name) for position, name in enumerate(names)]
    best = max(scored, default=(0.0, 0, ""))
    return best[2] if best[0] > 0 else None


def is_time(name: str) -> bool:
    """Is this the name of a point in time?"""
    return bool(set(parts(name)) & UNITS[Measure.TIME])
