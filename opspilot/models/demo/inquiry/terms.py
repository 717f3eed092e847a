"""The words of a question as data may spell them: each with its English forms and kin, and whether it is denied.

Pure text in, terms out. Knows no tool and no result.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache

from opspilot.models.demo.inquiry.dictionary import english_of, known_at
from opspilot.models.demo.inquiry.meanings import IRREGULAR, KIN, MEANINGS, NOISE_CHINESE, NOISE_ENGLISH
from opspilot.models.demo.words import CJK, parts, singular, stem


@dataclass(frozen=True)
class Term:
    """One word that carries meaning. `forms`: stems of what it may be called; `kin`: of what stands for the same.

    `name`: it looks like the name or the value of something. `denied`: "not ready", 未就绪. `at`: where it stands.
    `joined`: only a part of the noun that follows, and no state.
    """

    text: str
    forms: frozenset[str]
    kin: frozenset[str] = field(default_factory=frozenset)
    name: bool = False
    denied: bool = False
    at: int = 0
    joined: bool = False

    def meets(self, stems: frozenset[str]) -> float:
        """How well it fits words with these stems: 1 for its own, less for its kin's, 0 for none."""
        if self.forms & stems:
            return 1.0
        return (
            0.6
            if any(_compound(form, other) for form in self.forms for other in stems)
            else 0.45
            if self.kin & stems
            else 0.0
        )


_SHORTEST_PART = 4


_TURNING = ("re", "un", "in", "de", "dis")


def _compound(one: str, other: str) -> bool:
    """Is one the end or the beginning of the other, and no small part of it: `flow` and `workflow`, not `restart`?"""
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST_PART or 2 * len(short) < len(long) or any(long == f"{way}{short}" for way in _TURNING):
        return False
    return long.endswith(short) or long.startswith(short)


_PIECE = re.compile(
    r"\"(?P<a>[^\"\n]{1,120})\"|“(?P<b>[^”\n]{1,120})”|「(?P<c>[^」\n]{1,120})」|`(?P<d>[^`\n]{1,120})`"
    r"|(?<!\w)'(?P<e>[^'\n]{2,120})'(?!\w)"
    r"|(?P<lettered>[A-Z][a-z]+ [A-Z](?![\w'’-]))"
    r"|(?P<word>#?[A-Za-z0-9_](?:[A-Za-z0-9_./:@+\-]*[A-Za-z0-9_])?)(?:['’](?:s|t|re|ve|ll|d)\b)?"
    r"|(?P<cjk>[\u3400-\u4dbf\u4e00-\u9fff]+)"
)
_NAME_SHAPE = re.compile(r".*(\d|[_/@.:]|[a-z][A-Z]|[A-Za-z]-[A-Za-z0-9]).*|[A-Z][A-Z0-9-]+")
_DENIAL = re.compile(
    r"(?i)(?:\b(?:not|no|never|without|isn't|aren't|wasn't|doesn't|don't|hasn't|haven't|un)(?:\s+(?:yet|been|be))*|未|(?<!有)没有|(?<!有)没|(?<!是)不是|(?<![是要能])不|非)\s*$"
)


@cache
def _known() -> dict[str, int]:
    return {**dict.fromkeys(MEANINGS, 1), **dict.fromkeys(NOISE_CHINESE, 0)}


_LONGEST = 7
_REMEMBERED = 16384
_PARTING = frozenset("的了吗呢吧在和与或是被把从由有里上到对为")
"""Single characters that end an unknown word before them; others may be a part of it."""


def _cut(run: str) -> Iterator[tuple[str, int, int]]:
    """Words of a run of Chinese by the longest known one: text, kind (0 noise, 1 known, 2 unknown), offset."""
    known, position, start = _known(), 0, 0
    while position < len(run):
        size = next((n for n in range(_LONGEST, 0, -1) if run[position : position + n] in known), 0)
        if size == 1 and run[position] not in _PARTING and (longer := known_at(run, position)) > 1:
            position += longer
            continue
        if not size or (size == 1 and start < position and run[position] not in _PARTING):
            position += 1
            continue
        if start < position:
            yield run[start:position], 2, start
        yield run[position : position + size], known[run[position : position + size]], position
        position += size
        start = position
    if start < len(run):
        yield run[start:], 2, start


_UNKNOWN = 2


def _named(run: str) -> Iterator[tuple[str, int, int]]:
    """The words of a run, a known one together with the single unknown character behind it: most likely a name."""
    words = list(_cut(run))
    for at, (word, kind, offset) in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else None
        before = words[at - 1] if at else None
        if kind == 1 and after is not None and after[1] == _UNKNOWN and len(after[0]) == 1:
            yield word + after[0], _UNKNOWN, offset
        elif not (kind == _UNKNOWN and len(word) == 1 and before is not None and before[1] == 1):
            yield word, kind, offset


@lru_cache(maxsize=_REMEMBERED)
def word_stems(text: str) -> frozenset[str]:
    """Stems of all words of an identifier or a sentence, short ones too; of Chinese each pair of characters."""
    found: set[str] = set()
    for word in parts(text):
        if CJK.search(word):
            found |= {word[i : i + 2] for i in range(len(word) - 1)} or {word}
            found |= {stem(english) for chinese, english in _meanings_in(word)}
        else:
            found |= {stem(word), stem(singular(word)), stem(IRREGULAR.get(word, word))}
    return frozenset(found)


def _meanings_in(text: str) -> Iterator[tuple[str, str]]:
    for word, kind, _ in _cut(text):
        if kind == 1:
            yield from ((word, english) for english in MEANINGS[word].split())


def _term(text: str, english: str, at: int, before: str, *, name: bool) -> Term:
    forms = word_stems(english) | (word_stems(text) if english != text else frozenset())
    if name and len(parts(text)) > 1 and english == text:
        forms = frozenset({text.lower()})
    kin = frozenset(k for form in forms for k in KIN.get(form, ())) - forms
    return Term(text, forms, kin, name, bool(_DENIAL.search(before)), at)


@lru_cache(maxsize=64)
def terms_of(text: str) -> tuple[Term, ...]:
    """The words of a question that carry meaning, in order."""
    found: list[Term] = []
    chinese = bool(CJK.search(text))
    for match in _PIECE.finditer(text):
        kind, at = match.lastgroup or "", match.start()
        piece = match[kind] if kind else match[0]
        before = text[max(0, at - 14) : at]
        if kind == "cjk":
            for word, sort, offset in _named(piece):
                if sort:
                    meaning = MEANINGS.get(word) or " ".join((word, *english_of(word)))
                    prior = text[max(0, at + offset - 14) : at + offset]
                    found.append(_term(word, meaning, at + offset, prior, name=sort == _UNKNOWN and len(word) > 1))
        elif kind == "word":
            lowered = piece.lower()
            if lowered in NOISE_ENGLISH or (len(lowered) < 2 and not lowered.isdigit()):
                continue
            inner = at > 0 and piece[0].isupper() and text[:at].rstrip()[-1:] not in ".?!。？！"
            named = bool(_NAME_SHAPE.fullmatch(piece)) or inner or (chinese and lowered not in _PLAIN)
            found.append(_term(piece, piece, at, before, name=named))
        elif piece.strip():
            found.append(_term(piece.strip(), piece.strip(), at, before, name=True))
    return tuple(found)


_PLAIN = frozenset(word for english in MEANINGS.values() for word in english.split())
"""English words that a Chinese question may hold without naming anything."""
