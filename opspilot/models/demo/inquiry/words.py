"""The words of a question as names of fields, values and tools may spell them. Pure text in, words out.

Chinese is cut by the fewest known words; each is known by its English meanings, and by itself.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache

from opspilot.models.demo.inquiry.dictionary import entries, senses_of
from opspilot.models.demo.inquiry.meanings import IRREGULAR, KIN, MEANINGS, NOISE_CHINESE, NOISE_ENGLISH
from opspilot.models.demo.words import CJK, parts, singular, stem


class Sort(StrEnum):
    """What a word looks like. `ID`: it has digits or joints of a name; `NAME`: it may well be a name."""

    ID = "id"
    NAME = "name"
    NUMBER = "number"
    PLAIN = "plain"


@dataclass(frozen=True)
class Word:
    """A word that carries meaning. `forms`: stems of what it may be called; `kin`: of what may stand for the same.

    `denied`: "not ready", 未就绪; `doubted`: a denial or a lack stands somewhere before it. `at`: where it begins.
    """

    text: str
    at: int
    forms: frozenset[str]
    kin: frozenset[str] = field(default_factory=frozenset)
    sort: Sort = Sort.PLAIN
    denied: bool = False
    doubted: bool = False

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.at + len(self.text)

    @property
    def plain(self) -> bool:
        """Does it speak of things in general?"""
        return self.sort is Sort.PLAIN

    def meets(self, stems: frozenset[str]) -> float:
        """How well it fits words with these stems: 1 for its own, less for its kin's, 0 for none."""
        if self.forms & stems:
            return 1.0
        if any(_compound(form, other) for form in self.forms for other in stems):
            return 0.6
        return 0.5 if self.kin & stems else 0.0


_SHORTEST_PART = 4
_TURNING = ("re", "un", "in", "de", "dis")


@lru_cache(maxsize=65536)
def _compound(one: str, other: str) -> bool:
    """Is one the end or the beginning of the other, and no small part of it: `flow` and `workflow`, not `restart`?"""
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST_PART or 2 * len(short) < len(long) or any(long == f"{way}{short}" for way in _TURNING):
        return False
    return long.endswith(short) or long.startswith(short)


_PIECE = re.compile(
    r"\"(?P<a>[^\"\n]{1,120})\"|“(?P<b>[^”\n]{1,120})”|「(?P<c>[^」\n]{1,120})」|`(?P<d>[^`\n]{1,120})`"
    r"|《(?P<f>[^》\n]{1,120})》|(?<!\w)'(?P<e>[^'\n]{2,120})'(?!\w)"
    r"|(?P<word>#?[A-Za-z0-9_](?:[A-Za-z0-9_./:@+\-]*[A-Za-z0-9_])?)(?:['’](?:s|t|re|ve|ll|d)\b)?"
    r"|(?P<cjk>[\u3400-\u4dbf\u4e00-\u9fff]+)"
)
_ID = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[#\w./:@+-]+|\d+(?:[-.:/]\d+)+|\w+(?:[_/@.:]\w+)+")
_NAME = re.compile(r"[A-Z][a-z]+[A-Z]\w*|[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+|[A-Z][A-Z0-9]+")
_COMPOUND = re.compile(
    r"(?i)(?:check|follow|on|off|up|day|set|roll|start|log|sign|back|over|re|pre|non|in|out|end|real|long|short"
    r"|high|low"
    r"|first|last|full|half|one|two|three|four|self|cross|well|add|drop|pick|hand|tear|clean|build|run|stand|work|read"
    r"|write|e|year|month|week|hour|half|multi|semi|sub|co|ex|anti|mid|part|all|by|per|so|no|top|best"
    r"|most)-[a-z]+(?:-[a-z]+)?"
    r"|[a-z]+-(?:ups?|downs?|ins?|outs?|offs?|on|time|level|based|related|term|side|day|hour|date|by|free|wide|rate"
    r"|to|of|the|and)"
)
_DENIAL = re.compile(
    r"(?i)(?:\b(?:not|no|never|without|isn't|aren't|wasn't|weren't|doesn't|don't|hasn't|haven't|lacks?|lacking|un"
    r"|missing)(?:\s+(?:yet|been|be|a|an|any|have|had))*"
    r"|\b(?:not|\w+n['’]t)(?:\s+yet)?(?:\s+(?:be|been))?\s+(?:on|at|in|from|using|running|part of|with"
    r"|set to)(?:\s+(?:the|build|version|release|state))*"
    r"|(?:还?没有?|未|不)(?:升级?到|更新到|装上?|用上?|处于|运行在|属于)"
    r"|还?未|(?<!有)没有|(?<!有)没|(?<!是)不是|(?<![是要能])不|非|尚未|缺少|无)\s*(?:被|在|有)?$"
)
_ACRONYM = 5
_BOUNDS = frozenset({"minimum", "maximum"})
_TERM = re.compile(
    r"(?i)ipv[46]|https?[123]?|oauth2|s3|ec2|k8s|x86(?:_64)?|sha\d+|md5|utf-?8|h26[45]|p\d{2,3}|q[1-4]|[1-5]xx"
    r"|l[2-7]|tls1?\.?\d?"
    r"|i18n|b2[bc]|24/7|n/a|and/or|i/o|co2|ph|web2|mp[34]|e2e|\d+(?:st|nd|rd|th)|\d+(?:ms|s|m|h|d|gb|mb|kb|tb|k|kwh"
    r"|kw|km|kg)"
)
_DOUBT = re.compile(
    r"(?i)(?:\b(?:not|never|cannot|without|no longer|\w+n['’]t|no|needs?|needing|awaits?|awaiting|lacks?|missing"
    r"|pending)\b[^,.;:?!，。；]{0,28}"
    r"|(?:不能|不会|不可以|无法|尚未|从未|从来没有?|还没有?|没有?|未|不)[^，。；？,]{0,5})$"
)
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?Z?")


def words_of(text: str) -> tuple[Word, ...]:
    """The words of a question that carry meaning, in order."""
    return _words(text)


@lru_cache(maxsize=256)
def _words(text: str) -> tuple[Word, ...]:
    found: list[Word] = []
    chinese = bool(CJK.search(text))
    for match in _PIECE.finditer(text):
        kind = match.lastgroup or ""
        piece, at = match[kind], match.start(kind)
        if kind == "cjk":
            found += _chinese(piece, at, text)
        elif kind == "word":
            if (word := _english(piece, at, text, chinese=chinese)) is not None:
                found.append(word)
        elif piece.strip():
            found.append(_made(piece, at, piece, Sort.NAME, text))
    return tuple(found)


def _english(piece: str, at: int, text: str, *, chinese: bool) -> Word | None:
    lowered = piece.lower()
    if piece.isdigit() or _CLOCK.fullmatch(piece):
        return _made(piece, at, piece, Sort.NUMBER, text)
    if (lowered in NOISE_ENGLISH and lowered not in _BOUNDS) or len(lowered) < 2:
        return None
    return _made(piece, at, piece, _sort_of(piece, at, text, chinese=chinese), text)


def _sort_of(piece: str, at: int, text: str, *, chinese: bool) -> Sort:
    """What a word looks like, by its letters and by where it stands."""
    if _ID.fullmatch(piece) and not _TERM.fullmatch(piece):
        return Sort.ID
    acronym = piece.isupper() and len(piece) <= _ACRONYM
    if _NAME.fullmatch(piece) and not _COMPOUND.fullmatch(piece) and not acronym:
        return Sort.NAME
    capital = piece[:1].isupper() and not piece.isupper()
    inside = bool(at) and text[:at].rstrip()[-1:] not in ".?!。？！:："
    return Sort.NAME if capital and (chinese or inside) else Sort.PLAIN


def _made(piece: str, at: int, english: str, sort: Sort, text: str, kin: frozenset[str] = frozenset()) -> Word:
    forms = stems_of(english) | (stems_of(piece) if english != piece else frozenset())
    if sort is Sort.ID:
        forms = frozenset({piece.lower(), *(stems_of(piece) if piece.isalpha() else ())})
    kin = (kin | frozenset(k for form in forms for k in KIN.get(form, ()))) - forms
    denied = bool(_DENIAL.search(text[max(0, at - 36) : at]))
    doubted = denied or bool(_DOUBT.search(text[max(0, at - 40) : at]))
    return Word(piece, at, forms, kin, sort, denied, doubted)


def _chinese(run: str, at: int, text: str) -> Iterator[Word]:
    for word, offset in cut(run):
        if word in NOISE_CHINESE and word not in MEANINGS:
            continue
        meaning, glosses = MEANINGS.get(word, ""), senses_of(word)
        if not meaning and not glosses and len(word) < 2:
            continue
        weak = frozenset(stem(gloss) for gloss in (glosses if meaning else glosses[_USUAL:]))
        english = meaning or " ".join(glosses[:_USUAL])
        yield _made(word, at + offset, english or word, Sort.PLAIN, text, weak)


_USUAL = 2
"""So many of the dictionary's meanings are likely enough to be meant."""
_LONGEST = 8
_REMEMBERED = 16384
_COST_OURS, _COST_KNOWN, _COST_UNKNOWN, _COST_MORE = 1.0, 1.1, 1.6, 1.05


@cache
def _ours() -> frozenset[str]:
    return frozenset((*MEANINGS, *NOISE_CHINESE))


@lru_cache(maxsize=_REMEMBERED)
def cut(run: str) -> tuple[tuple[str, int], ...]:
    """A run of Chinese as the fewest known words, with their offsets; unknown characters beside each other are one."""
    known, listed = entries(), _ours()
    best: list[tuple[float, int, bool]] = [(0.0, 0, True)]
    for end in range(1, len(run) + 1):
        ways = []
        for start in range(max(0, end - _LONGEST), end):
            word = run[start:end]
            price = _COST_OURS if word in listed else _COST_KNOWN if word in known else 0.0
            if price:
                ways.append((best[start][0] + price, start, True))
            elif end - start == 1:
                more = not best[start][2] and start
                ways.append((best[start][0] + (_COST_MORE if more else _COST_UNKNOWN), start, False))
        best.append(min(ways))
    pieces: list[tuple[str, int, bool]] = []
    end = len(run)
    while end:
        _, start, is_known = best[end]
        pieces.append((run[start:end], start, is_known))
        end = start
    pieces.reverse()
    joined: list[tuple[str, int, bool]] = []
    for word, start, is_known in pieces:
        if joined and not is_known and not joined[-1][2]:
            joined[-1] = (joined[-1][0] + word, joined[-1][1], False)
        else:
            joined.append((word, start, is_known))
    return tuple((word, start) for word, start, _ in joined)


@lru_cache(maxsize=_REMEMBERED)
def stems_of(text: str) -> frozenset[str]:
    """Stems of all words of an identifier or a sentence, short ones too; of Chinese its words and their meanings."""
    found: set[str] = set()
    for word in parts(text):
        if CJK.search(word):
            for piece, _ in cut(word):
                found.add(piece)
                if meaning := MEANINGS.get(piece) or (" ".join(senses_of(piece)[:3]) if len(piece) > 1 else ""):
                    found |= {stem(english) for english in meaning.split()}
        else:
            found |= {stem(word), stem(singular(word)), stem(IRREGULAR.get(word, _one_man(word)))}
    return frozenset(found)


def _one_man(word: str) -> str:
    """`foremen` and `foreman` are one word."""
    return f"{word[:-2]}an" if word.endswith("men") and len(word) > len("women") else word


def matching(words: tuple[Word, ...], stems: frozenset[str]) -> float:
    """How many of the words fit these stems, each by how well."""
    return sum(word.meets(stems) for word in words)
