"""What a question wants of data: a count, the most, the highest, the latest, a sum, or what a thing's field says.

Reads the question alone. Owns the words of asking in English and Chinese; knows no tool and no result.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from opspilot.models.demo.inquiry.words import Word, words_of
from opspilot.models.demo.measures import Measure
from opspilot.models.demo.question import COMPARING
from opspilot.models.demo.times import read_span


class Aim(StrEnum):
    """What is to be done with the rows."""

    COUNT = "count"
    MOST = "most"
    EXTREME = "extreme"
    COMPARE = "compare"
    SUM = "sum"
    MEAN = "mean"
    FIELD = "field"


class Want(StrEnum):
    """Which sort of value is asked for."""

    WHO = "who"
    WHEN = "when"
    WHERE = "where"
    WHY = "why"
    LONG = "long"
    MUCH = "much"


@dataclass(frozen=True)
class Sought:
    """What a question about data asks for. `dimension`: the words after "which"; `many`: how many rows are asked for.

    `measure` and `largest` belong to a superlative; `bounds` are "more than 5": above or below, and the number.
    """

    aims: tuple[Aim, ...]
    wants: frozenset[Want]
    dimension: tuple[Word, ...] = ()
    measure: Measure = Measure.ANY
    largest: bool = True
    many: int = 1
    bounds: tuple[tuple[bool, float], ...] = ()


_CLASSIFIERS = "个台条次笔张名位家件起份项只辆间人单封部种场支块处批套架艘列座层栋"
_QUANTITY = (
    "欧元|美元|人民币|英镑|日元|欧|美金|元|块|[GMTK]i?B|毫秒|公里|千米|米|吨|公斤|千克|度|瓦|千瓦|升|钱|内存|空间"
    "|磁盘|流量|费用|成本|时间|天|小时|分钟|秒|钟|存储|容量|带宽|电|%"
    "|的?(?:CPU|cpu)"
)
_COUNTING = re.compile(
    r"(?i)\bhow many\b|\bhow often\b|\bnumber of\b|\bcount (?:of|the)\b"
    r"|\b(?:is|are) (?:there )?any\b|有没有(?!人)"
    rf"|(?<!百分之)多少\s*[{_CLASSIFIERS}]|几\s*[{_CLASSIFIERS}]"
    rf"|(?<!百分之)多少(?!{_QUANTITY})\s*[A-Za-z\u4e00-\u9fff]|的?数量|总数"
)
_SUMMING = re.compile(
    r"(?i)\b(?:total|altogether|overall|in all|together|sum of|add up to|combined)\b|总共|一共|合计|总计|加起来"
    r"|加在一起|总[费成花金用耗]|总和"
)
_MEANING = re.compile(r"(?i)\b(?:average|mean)\b|平均")
_MOST = re.compile(
    r"(?i)\b(?:most|busiest|noisiest|most often|highest number|"
    r"(?:main|commonest|usual|predominant) (?=\w+ ?\w* (?:of|for|why)\b))"
    r"|最多|最频繁|最常|最忙|最?主要的?(?=原因|问题|类型|来源)"
)
_LEAST = re.compile(r"(?i)\b(?:fewest|least)\b|最少")
_GOOD = (
    r"(?:(?:on-?time|success|hit|pass|availab|uptime|health|satisf|accura|complet|score|rating|coverage|yield"
    r"|compliance)\w*"
    r"|准时|准点|成功|命中|通过|可用|健康|满意|准确|完成|评分|得分|覆盖|良率|达标)"
)
"""What is better the more there is of it: the worst of it is the least."""
_SUPERLATIVES: tuple[tuple[re.Pattern[str], Measure, bool], ...] = tuple(
    (re.compile(f"(?i){pattern}"), measure, largest)
    for pattern, measure, largest in (
        (r"\bleast recent(?:ly)?\b|\blongest (?:ago|since|without)\b|最久(?:没有?|未)", Measure.TIME, False),
        (r"\b(?:most expensive|costliest|priciest|dearest)\b|最贵|花费最[多高大]|花钱最多", Measure.AMOUNT, True),
        (r"\b(?:cheapest|least expensive)\b|最便宜", Measure.AMOUNT, False),
        (r"\b(?:slowest|longest)\b|最慢|最长|最久", Measure.DURATION, True),
        (r"\b(?:fastest|quickest|shortest)\b|最快|最短", Measure.DURATION, False),
        (r"\b(?:biggest|largest|heaviest|bulkiest)\b|最大|最重", Measure.SIZE, True),
        (r"\b(?:smallest|lightest)\b|最小|最轻", Measure.SIZE, False),
        (
            (
                r"\b(?:latest|newest|youngest|most recent(?:ly)?|last)\b"
                r"(?! \d| (?:few |couple )?(?:hour|day|week|month|minute|line|log))"
                r"|最新|最近(?:一次|一个|一条|一台)|最近(?=[^，。？]{0,12}(?:是|的?哪|谁|什么时候))"
                r"|最后(?:一[次个条台])?|最晚|上一次"
            ),
            Measure.TIME,
            True,
        ),
        (
            (
                r"\b(?:oldest|earliest|(?:very )?first|next|soonest)\b"
                r"|下一[次个台条]|最早|最先|第一[次个条]|首次|最旧|最老|最初"
            ),
            Measure.TIME,
            False,
        ),
        (rf"(?:\bworst\b|最差).*?{_GOOD}|{_GOOD}[^，。,.]*?(?:\bworst\b|最差)", Measure.ANY, False),
        (
            (
                r"\b(?:highest|greatest|hottest|fullest|peak|max(?:imum)?|worst|top)\b|最高|峰值|最大值|最严重|最满"
                r"|最热|最差"
            ),
            Measure.ANY,
            True,
        ),
        (rf"(?:\bbest\b|最好).*?{_GOOD}|{_GOOD}[^，。,.]*?(?:\bbest\b|最好)", Measure.ANY, True),
        (r"\b(?:lowest|min(?:imum)?|emptiest|coldest|best)\b|最低|最小值|最冷|最空|最好", Measure.ANY, False),
    )
)
_WANTS: tuple[tuple[Want, re.Pattern[str]], ...] = (
    (Want.WHO, re.compile(r"(?i)\bwho(?:m|se|'s)?\b|谁|哪位|负责人|什么人")),
    (
        Want.WHEN,
        re.compile(r"(?i)\bwhen\b|\bwhat (?:time|date|day)\b|什么时候|何时|几点|哪天|哪一天|什么时间|几号|多久前"),
    ),
    (Want.WHERE, re.compile(r"(?i)\bwhere\b|哪里|哪儿|在哪|什么地方")),
    (
        Want.WHY,
        re.compile(
            r"(?i)\bwhy\b|\breasons?\b|\bcauses?d?\b|\bwhat(?:'s| is| was| went)? wrong\b|\bwhat happened\b"
            r"|\bwhat \w*\s?errors?\b"
            r"|\bwhich error\b|为什么|为何|原因|怎么回事|怎么了|什么问题|什么错|什么异常|什么故障|起不来"
        ),
    ),
    (Want.LONG, re.compile(r"(?i)\bhow long\b|多久(?!前)|多长时间|耗时|用时|时长")),
    (
        Want.MUCH,
        re.compile(
            r"(?i)\bhow (?:much|big|large|full|high|old|far|fast|hot|busy|heavy)\b|多少|多大|多高|多快|多满|多重"
        ),
    ),
)
_WHICH = re.compile(
    r"(?i)\b(?:which|what|whose|per|each|every|(?:most )?(?:common(?:est)?|frequent|usual)|main)\b"
    r"(?! (?:is|are|was|were|did|does|do|has|have|went|happened)\b)"
    r"|最常见的?|最常|最频繁的?|主要的?|最[多少]的(?=[^是，。？]{1,8}是)"
    r"|哪一?[个台条张种次家位款类份项只辆间些部场处笔批套架艘列名件座层栋]|哪几[个台条张种次家位]|哪"
    r"|(?<!为)什么(?!时候|时间|人)|每[个台条]|各[个]?|按"
)
_NUMBERS = {
    **dict(zip(("two", "three", "four", "five", "ten"), (2, 3, 4, 5, 10), strict=True)),
    **dict(zip("两三四五十", (2, 3, 4, 5, 10), strict=True)),
}
_MANY = re.compile(
    rf"(?i)\b(?:top|which|what|the|first|last) ({'|'.join(n for n in _NUMBERS if n.isascii())}|\d{{1,2}})\b"
    r"(?!\s*(?:hour|day|week|min))"
    rf"|前\s*([两三四五十]|\d{{1,2}})|[的哪]([两三四五十])[{_CLASSIFIERS}]"
)
_PLURAL = re.compile(r"(?i)\bwhich \w+s (?:are|were|have)\b|\blist\b|\ball (?:the )?|哪些|哪几|列出|有哪")
_LISTED = 5
_BOUND = re.compile(
    r"(?i)(?P<above>more than|over|above|greater than|at least|exceed(?:s|ed|ing)?|longer than|higher than|larger than"
    r"|超过|大于|高于|多于|长于)\s*(?P<a>\d+(?:\.\d+)?)"
    r"|(?P<below>less than|under|below|fewer than|at most|shorter than|lower than|within|少于|小于|低于|不足|不到)"
    r"\s*(?P<b>\d+(?:\.\d+)?)"
)


def read_sought(text: str) -> Sought:
    """Read a question about data."""
    span = read_span(text)
    timeless = text.replace(span.said, " ") if span and not span.since else text
    words = words_of(timeless)
    aims: list[Aim] = []
    measure, largest = Measure.ANY, True
    if _COUNTING.search(timeless):
        aims.append(Aim.COUNT)
    superlative = next(((m, end) for pattern, m, end in _SUPERLATIVES if pattern.search(timeless)), None)
    most = _MOST.search(timeless) or _LEAST.search(timeless)
    if superlative is not None and not (most and superlative[0] is Measure.TIME and superlative[1]):
        measure, largest = superlative
        aims.append(Aim.EXTREME)
    elif COMPARING.search(timeless):
        aims = [Aim.COMPARE]
    elif most:
        largest = _MOST.search(timeless) is not None
        aims.append(Aim.MOST)
    elif _SUMMING.search(timeless) and Aim.COUNT not in aims:
        aims.append(Aim.SUM)
    elif _MEANING.search(timeless) and Aim.COUNT not in aims:
        aims.append(Aim.MEAN)
    return Sought(
        tuple(aims) or (Aim.FIELD,),
        frozenset(want for want, pattern in _WANTS if pattern.search(timeless)),
        _dimension(timeless, words),
        measure,
        largest,
        _many(timeless),
        tuple((bool(m["above"]), float(m["a"] or m["b"])) for m in _BOUND.finditer(timeless)),
    )


_WHOLE_NOUN = ("最", "主要")
"""What stands between one of these and 是 is a noun, of two words maybe; after 哪个 the second one is a verb."""


def _many(text: str) -> int:
    if found := _MANY.search(text):
        said = next(group for group in found.groups() if group)
        return min(int(said) if said.isdigit() else _NUMBERS[said.lower()], 10)
    return _LISTED if _PLURAL.search(text) else 1


def _dimension(text: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words right after "which" up to the next small word, or the one after 哪个."""
    for found in _WHICH.finditer(text):
        kept: list[Word] = []
        at = found.end()
        for word in words:
            if word.at < at:
                continue
            verb = kept and not (kept[-1].text.isascii() or word.text.isascii() or found[0].startswith(_WHOLE_NOUN))
            if text[at : word.at].strip(" 个台") or len(kept) > 2 or verb:
                break
            kept.append(word)
            at = word.end
        if kept:
            return tuple(kept)
    return ()
