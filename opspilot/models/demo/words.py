"""Cutting text into words, in English and Chinese, and telling how alike two texts are. Pure; knows no tools.

Chinese is cut by the longest known word; what lies between known words stays whole. A segmenter with a dictionary of
its own was left out: it cuts unknown names (which matter most) into syllables, and known words are few enough to list.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from opspilot.models.demo.glossary import TRANSLATION
from opspilot.models.demo.lexicon import CHINESE, ENGLISH, STOP_CHINESE, STOP_ENGLISH, Idea

CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")

_TOKEN = re.compile(
    r"\"(?P<double>[^\"\n]{1,200})\"|“(?P<curly>[^”\n]{1,200})”|「(?P<corner>[^」\n]{1,200})」|`(?P<tick>[^`\n]{1,200})`"
    r"|《(?P<book>[^》\n]{1,200})》|『(?P<corner2>[^』\n]{1,200})』|‘(?P<single>[^’\n]{1,200})’"
    r"|(?<!\w)'(?P<plain>[^'\n]{2,200})'(?!\w)"
    r"|(?P<word>[A-Za-z0-9_](?:[A-Za-z0-9_./:@+\-]*[A-Za-z0-9_])?(?:['’](?:s|t|re|ve|ll|d)\b)?)"
    r"|(?P<cjk>[\u3400-\u4dbf\u4e00-\u9fff]+)|(?P<gap>[^\sA-Za-z0-9_])"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9\u3400-\u9fff]+")


_REMEMBERED = 8192


@dataclass(frozen=True)
class Token:
    """One word of a question. `broken` says that punctuation stands between it and the word before."""

    text: str
    ideas: frozenset[Idea] = frozenset()
    stop: bool = False
    quoted: bool = False
    chinese: bool = False
    broken: bool = False

    @property
    def content(self) -> bool:
        """Does the word speak of the matter itself, rather than of the asking?"""
        return self.quoted or not (self.stop or self.ideas)


@cache
def _chinese_words() -> dict[str, tuple[frozenset[Idea], bool]]:
    words: dict[str, tuple[set[Idea], bool]] = {word: (set(), False) for word in TRANSLATION}
    words |= {word: (set(), True) for word in STOP_CHINESE}
    for idea, known in CHINESE.items():
        for word in known:
            ideas, _ = words.get(word, (set(), False))
            words[word] = (ideas | {idea}, False)
    return {word: (frozenset(ideas), stop) for word, (ideas, stop) in words.items()}


_LONGEST_CHINESE = 6


@lru_cache(maxsize=_REMEMBERED)
def english_ideas(word: str) -> frozenset[Idea]:
    """The ideas that an English word stands for."""
    lowered = word.lower()
    return frozenset(idea for idea, known in ENGLISH.items() if lowered in known)


def tokens(text: str) -> tuple[Token, ...]:
    """The words of a text in order, quoted phrases whole."""
    found: list[Token] = []
    broken = False
    for match in _TOKEN.finditer(text):
        kind, piece = match.lastgroup, match[match.lastgroup or 0]
        if kind == "gap":
            broken = True
            continue
        if kind == "cjk":
            found += _cut_chinese(piece, broken=broken)
        elif kind == "word":
            word = re.sub(r"['’](?:s|t|re|ve|ll|d)$", "", piece)
            found.append(Token(word, english_ideas(word), word.lower() in STOP_ENGLISH, broken=broken))
        elif piece.strip():
            found.append(Token(piece.strip(), quoted=True, chinese=bool(CJK.search(piece)), broken=broken))
        broken = False
    return tuple(found)


def _cut_chinese(run: str, *, broken: bool) -> Iterator[Token]:
    known = _chinese_words()
    position = start = 0
    while position < len(run):
        size = next((n for n in range(_LONGEST_CHINESE, 0, -1) if run[position : position + n] in known), 0)
        if not size:
            position += 1
            continue
        if start < position:
            yield Token(run[start:position], chinese=True, broken=broken)
            broken = False
        word = run[position : position + size]
        ideas, stop = known[word]
        yield Token(word, ideas, stop, chinese=True, broken=broken)
        broken = False
        position += size
        start = position
    if start < len(run):
        yield Token(run[start:], chinese=True, broken=broken)


def ideas_in(text: str) -> frozenset[Idea]:
    """All ideas that the words of a text stand for; identifiers are cut into their words first."""
    return frozenset(idea for token in tokens(" ".join(parts(text))) for idea in token.ideas)


def parts(identifier: str) -> tuple[str, ...]:
    """`countBy`, `count_by` and `count-by` are all `count`, `by`."""
    return tuple(part.lower() for part in _CAMEL.split(identifier) if part)


def is_chinese(text: str) -> bool:
    """Is this asked in Chinese? Names in it may be English, and an English question may hold a Chinese name."""
    english = sum(token.stop and not token.chinese for token in tokens(text))
    chinese = sum(len(token.text) for token in tokens(text) if token.chinese and not token.quoted)
    return chinese > 2 * english if english else bool(CJK.search(text))


def singular(word: str) -> str:
    """`passwords` -> `password`: as a substring it then finds both."""
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-2] if word.endswith(("sses", "xes", "ches", "shes")) else word[:-1]
    return word


_ENDINGS = (
    "ational",
    "ations",
    "ation",
    "ings",
    "ing",
    "edly",
    "ments",
    "ment",
    "ies",
    "ied",
    "ers",
    "er",
    "ors",
    "or",
    "ed",
    "es",
    "ly",
    "s",
    "e",
    "y",
)


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """What `handling`, `handled` and `handles` have in common. Rough: meant only to compare words with each other."""
    word = word.lower()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+|[\u3400-\u4dbf\u4e00-\u9fff]+")


def stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning; of Chinese, each pair of neighbouring characters."""
    found: set[str] = set()
    for piece in _CAMEL.sub(" ", text).split():
        for word in _PLAIN_WORD.findall(piece):
            if CJK.match(word):
                found |= {word[i : i + 2] for i in range(len(word) - 1)}
            elif word.lower() not in STOP_ENGLISH and len(word) > 2:
                found.add(stem(word))
    return frozenset(found)


def plain(text: str) -> str:
    """Letters and digits only, lower case: what two spellings of one name have in common."""
    return "".join(character for character in text.lower() if character.isalnum())


def likeness(wanted: str, offered: str) -> float:
    """How well an offered name fits a wanted one: 1 if the same, above 0.5 if one is in the other, else by words."""
    left, right = plain(wanted), plain(offered)
    if not left or not right:
        return 0.0
    if left == right:
        return 1.0
    shorter, longer = sorted((left, right), key=len)
    if len(shorter) >= 2 and shorter in longer:
        return 0.5 + 0.5 * len(shorter) / len(longer)
    shared = stems(wanted) & stems(offered)
    return 0.5 * len(shared) / max(len(stems(wanted)), 1)


def most_like(wanted: str, offered: Iterable[str], least: float = 0.25) -> str | None:
    """The best fitting offered name, the earliest of equals; None when none fits."""
    best, found = 0.0, None
    for name in offered:
        score = likeness(wanted, name)
        if score > best and score >= least:
            best, found = score, name
    return found


def translated(token: Token) -> str | None:
    """What English content calls this Chinese word; the word itself when it isn't Chinese; None when not known."""
    return TRANSLATION.get(token.text) if token.chinese else token.text
