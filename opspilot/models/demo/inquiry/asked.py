"""What a question wants: which operation on which rows, told by its own words. Knows no tool and no result."""

import re
from dataclasses import dataclass
from functools import lru_cache

from opspilot.models.demo.inquiry.aims import Aim, Sought, Want, read_sought
from opspilot.models.demo.inquiry.moments import Span, span_of
from opspilot.models.demo.inquiry.words import Sort, Word, stems_of, words_of
from opspilot.models.demo.measures import Measure
from opspilot.models.demo.words import is_chinese

_ADVICE = re.compile(
    r"(?i)\b(?:runbooks?|playbooks?|handbooks?|manuals?|guid(?:e|es|elines?|ance)|polic(?:y|ies)|docs?|documentation"
    r"|procedures?|instructions?|knowledge base|wiki|rules? sa(?:y|ys)|supposed to|should (?:i|we|one|be done)"
    r"|what to do|how (?:do|to|should|can) (?:i|we|one)?"
    r"|recommend(?:ed|s)?|steps|what (?:do|should|must|can) (?:i|we|you|one) (?:have to |need to )?do"
    r"|(?:the|our) notes? sa(?:y|id)|notes sa(?:y|id)|notes tell|anything (?:i|we) (?:have|need"
    r"|should) (?:to )?(?:do)?"
    r"|whose approval|approval do (?:i|we) need|(?:do|to) first|(?:am|are) (?:i|we) allowed)\b"
    r"|手册|指南|规程|规定|制度|流程|文档|说明书|怎么办|怎么处理|如何处理|怎样处理|应该怎么|该怎么|该如何|应该如何"
    r"|预案|步骤|要怎么|建议|第一步|要做什么|该做什么|先做什么"
)
_COUNTED = re.compile(
    r"(?i)\bhow many (?:of (?:the|our|them)?)?|\bnumber of"
    r"|多少\s*[个台条次笔张名位家件起份项只辆间人单封部种场块处批套艘列座]?|几\s*[个台条次笔张名位家件起份项只]"
)
_SMALLER = re.compile(
    r"(?i)\b(?:least|fewest|fewer|lower|smaller|shorter|cheaper|faster|quicker|less|weakest)\b|更[少小低短快]"
    r"|最[少小低短快弱]"
)
_EST = re.compile(
    r"\b(?!(?:latest|test|request|interest|guest|rest|west|best|invest|harvest|forest|manifest|digest|earnest"
    r"|honest|nest|pest|vest|contest|protest|suggest|ingest|chest|quest|arrest|crest|zest|modest|conquest|northwest"
    r"|southwest|budapest)\b)[a-z]{3,}est\b"
)
_EITHER = re.compile(
    r"(?i)\bor\b|还是|哪边|哪一边|和[^，。？]*(?:比|相比|谁|哪)|跟[^，。？]*(?:比|相比)|\bversus\b|\bvs\.?\b|\bcompare"
)
_ANY = re.compile(
    r"(?i)^\W*(?:(?:and|so|hi|hey|morning|quick one)[,:.]? )?(?:are|is|do|does|did|has|have|was|were)\b|\bany\b|是否"
    r"|有没有|是不是|吗"
)


@dataclass(frozen=True)
class Question:
    """A question taken apart. `counted`: the words after "how many", `also_counted`: after a second one.

    `which`: the words after "which". `counts`: it speaks of a number of things. `largest`: which end of an order it
    asks for. `advice`: it asks what documents say. `included`: words of what is to be counted in, and so chooses
    nothing. `stressed`: those beside a superlative.
    `hint`: stems of what its superlative measures: weight for "the heaviest".
    """

    text: str
    chinese: bool
    words: tuple[Word, ...]
    aims: tuple[Aim, ...]
    wants: frozenset[Want]
    which: tuple[Word, ...]
    counted: tuple[Word, ...]
    measure: Measure
    largest: bool
    many: int
    bounds: tuple[tuple[bool, float], ...]
    span: Span | None
    advice: bool
    either: bool
    yes_no: bool
    counts: bool
    also_counted: tuple[tuple[Word, ...], ...] = ()
    included: frozenset[Word] = frozenset()
    stressed: frozenset[Word] = frozenset()
    hint: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[Word, ...]:
        """Words that look like names of things."""
        return tuple(word for word in self.words if word.sort in {Sort.ID, Sort.NAME})

    @property
    def full_names(self) -> tuple[str, ...]:
        """Names of several capitalised words."""
        return tuple(
            m[0]
            for m in _FULL_NAME.finditer(self.text)
            if self.chinese or (m.start() and self.text[: m.start()].rstrip()[-1:] not in ".?!")
        )

    @property
    def content(self) -> tuple[Word, ...]:
        """All words but those that say when."""
        return tuple(w for w in self.words if not (self.span and self.span.covers(w.at, w.end)))


@lru_cache(maxsize=256)
def read_question(text: str) -> Question:
    """Take a question apart."""
    sought, words, span = read_sought(text), words_of(text), span_of(text)
    words = tuple(w for w in words if not _is_superlative(w))
    dimension = {term.at for term in sought.dimension} or _asked_before(text, words)
    aims, largest, measure = _aims(text, sought)
    counted = _COUNTED.search(text)
    return Question(
        text,
        is_chinese(text),
        words,
        aims,
        sought.wants,
        tuple(word for word in words if word.at in dimension),
        (_after(text, words, counted.end() - 2) or _times(text, words, counted)) if counted else (),
        measure,
        largest,
        1 if aims[0] is Aim.EXTREME and not _SO_MANY.search(text) else sought.many,
        sought.bounds,
        span,
        bool(_ADVICE.search(text)),
        bool(_EITHER.search(text)),
        bool(_ANY.search(text)),
        bool(_COUNTED.search(text) or re.search(r"数量|次数|个数", text)),
        tuple(
            _after(text, words, m.end() - 2)
            for m in list(_COUNTED.finditer(text))[1:]
            if _after(text, words, m.end() - 2)
        )
        if counted
        else (),
        _included(text, words),
        _stressed(text, words),
        frozenset(stem for pattern, stems in _HINTS if pattern.search(text) for stem in stems),
    )


_HINTS = tuple(
    (re.compile(f"(?i){pattern}"), stems_of(words))
    for pattern, words in (
        (r"\b(?:heav|light)(?:iest|est|ier|er)\b|[最更][重轻]|\bweigh", "weight mass kg grams"),
        (r"\b(?:expensive|costliest|dear|cheap)\w*|[最更][贵便]", "cost price amount fee rate"),
        (r"\b(?:tall|high)(?:est|er)\b", "height"),
        (r"\b(?:old|young)(?:est|er)\b|[最更]老", "age"),
        (r"\b(?:hot|cold|warm)\w*(?:est|er)\b|[最更][热冷]", "temperature temp"),
        (r"\b(?:full|empti)(?:est|er)\b|[最更]满", "used percent fill usage utilization free"),
        (r"\b(?:fast|quick)(?:est|er)\b|[最更]快", "speed duration latency"),
        (r"\b(?:deep)(?:est|er)\b", "depth"),
        (r"\b(?:big|small|larg)(?:gest|lest|est|ger|ler|er)\b", "size bytes gb mb capacity"),
    )
)


def _after(text: str, words: tuple[Word, ...], at: int) -> tuple[Word, ...]:
    """The words that stand together from here on, three at most."""
    found: list[Word] = []
    for word in words:
        if word.at < at:
            continue
        gap = text[found[-1].end : word.at] if found else text[at : word.at]
        if found and (gap.strip(" 的-") or len(found) == _TOGETHER):
            break
        found.append(word)
    return tuple(found)


def _times(text: str, words: tuple[Word, ...], counted: re.Match[str]) -> tuple[Word, ...]:
    """What is asked how often: the verb before 多少次."""
    before = [w for w in words if w.end <= counted.start()]
    often = counted[0].endswith(("次", "回", "遍"))
    return (
        tuple(before[-1:]) if often and before and not text[before[-1].end : counted.start()].strip("了过的 ") else ()
    )


_TOGETHER = 3
_BEFORE = re.compile(r"(?:都|分别|一共|总共)?(?:有|是|在|为)(?:哪|谁|什么)")


def _asked_before(text: str, words: tuple[Word, ...]) -> set[int]:
    """The noun right before 有哪些 or 是哪个, where none stands behind."""
    found = _BEFORE.search(text)
    before = [w for w in words if found and w.end <= found.start()]
    near = before[-1:] if before and found and not text[before[-1].end : found.start()].strip("的都，, ") else []
    return {w.at for w in near if not w.text.isascii()}


_INCLUDED = re.compile(
    r"(?i)(?:[\w-]+ )?[\w-]+ included\b|\bincluding (?:the |all )?[\w-]+(?: [\w-]+)?|(?:包括|包含"
    r"|含)[^，。？！、；)）]{1,8}"
)
_ORDERED = re.compile(
    r"(?i)\b(?:most|least|fewest|more|fewer|less|highest|lowest|largest|biggest|smallest|longest|shortest|furthest"
    r"|max(?:imum)?|min(?:imum)?)\b"
    r"|最[多大高长慢贵久少小低短快]|更[多大高长慢贵久少小低短快]"
)


def _included(text: str, words: tuple[Word, ...]) -> frozenset[Word]:
    places = [found.span() for found in _INCLUDED.finditer(text)]
    return frozenset(w for w in words for begin, end in places if begin <= w.at and w.end <= end)


def _stressed(text: str, words: tuple[Word, ...]) -> frozenset[Word]:
    """The words right beside a superlative: "the most connections", 延迟最大."""
    found: set[Word] = set()
    for order in _ORDERED.finditer(text):
        before = [w for w in words if w.end <= order.start() and not text[w.end : order.start()].strip("的是 ")]
        after = [w for w in words if w.at >= order.end() and not text[order.end() : w.at].strip("的 ")]
        near = before[-1:] if not order[0].isascii() else after[:1]
        if near and not order[0].isascii():
            near += [w for w in words if w.end <= near[0].at and not text[w.end : near[0].at].strip("的")][-1:]
        elif near:
            beside = [w for w in words if w.at > near[0].at and not text[near[0].end : w.at].strip()]
            near += [w for w in beside if w.text.lower().endswith("ed") or near[0].text.lower().endswith("ed")]
        found |= set(near)
    return frozenset(found)


_FULL_NAME = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)+")
_RECENT = re.compile(r"(?i)\b(?:most recent(?:ly)?|latest|newest)\b|最近新|最新")
_MEAN = re.compile(r"(?i)\b(?:on average|average|mean)\b|平均")
_SO_MANY = re.compile(
    r"(?i)\b(?:top|first|last|which|what|the) (?:two|three|four|five|ten|\d{1,2})\b|前\s*(?:[两三四五十]|\d)"
    r"|[的哪][两三四五][个台条次笔张]"
)
_HOW_HIGH = re.compile(
    r"(?i)\bhow (?P<way>high|low|far|bad|big|slow|long|hot|full|deep|much) (?:did|does|has|have)\b.*?\b(?:get|go"
    r"|gone|reach\w*|climb\w*|rise|drop|fall|peak\w*)\b"
)


def _is_superlative(word: Word) -> bool:
    return bool(_EST.fullmatch(word.text)) or word.text in {"贵", "更多", "相比", "更贵"}


def _aims(text: str, sought: Sought) -> tuple[tuple[Aim, ...], bool, Measure]:
    aims, largest, measure = sought.aims, sought.largest, sought.measure
    if _MEAN.search(text) and not ({Aim.EXTREME, Aim.MOST} & set(sought.aims)):
        return (Aim.MEAN,), largest, measure
    either = _EITHER.search(text)
    comparative = re.search(
        r"(?i)\b(?:more|higher|larger|longer|bigger|greater|slower|faster|older|newer|fewer|lower|smaller|shorter"
        r"|cheaper|less|busier|worse|better)\b"
        r"|\bmost\b|更|谁.*最|(?:谁|哪[个边家台])[^，。？]*[多大高少低贵快慢长短]|谁的[^，。？]*[多少]|[多少大高]还是",
        text,
    )
    if either and comparative and Aim.COUNT not in aims:
        return (Aim.COMPARE,), not _SMALLER.search(text), measure
    if either and comparative and aims[0] is Aim.COUNT:
        return (Aim.COMPARE,), not _SMALLER.search(text), measure
    if aims == (Aim.FIELD,) and (high := _HOW_HIGH.search(text)):
        return (Aim.EXTREME,), (high["way"] or "").lower() not in {"low", "little", "few"}, measure
    if _RECENT.search(text) and aims[0] is not Aim.COUNT:
        return (Aim.EXTREME,), True, Measure.TIME
    if aims in {(Aim.FIELD,), (Aim.COUNT,)} and _EST.search(text) and not sought.bounds:
        return (Aim.EXTREME,), not _SMALLER.search(text), measure
    return aims, largest, measure
