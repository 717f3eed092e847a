"""Spans of time as people say them, and as a tool's parameter wants them. Has no clock: what is relative stays so."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """A time range as asked: `hours` back from now, or absolute from `since` to `until`. `words` said it."""

    said: str
    hours: float | None = None
    since: str = ""
    until: str = ""
    words: tuple[str, ...] = ()


_HOURS: dict[str, float] = {"s": 1 / 3600, "m": 1 / 60, "h": 1.0, "d": 24.0, "w": 168.0}
_UNIT = {
    "sec": "s",
    "min": "m",
    "hour": "h",
    "hr": "h",
    "day": "d",
    "week": "w",
    "秒": "s",
    "分": "m",
    "小": "h",
    "钟": "h",
    "天": "d",
    "日": "d",
    "周": "w",
    "星": "w",
    "个": "h",
}
_ENGLISH = re.compile(r"(?i)\b(?:last|past|previous)\s+(?:(\d+|few|couple of)\s+)?(sec|min|hour|hr|day|week)\w*")
_CHINESE = re.compile(
    r"(?:最近|过去|近|前)\s*(\d+|一|两|二|三|五|七|十|半)\s*(?:个)?\s*(秒|分|小时|钟头|天|日|周|星期)钟?(?:内|里|来)?"
)
_DIGITS = {"一": 1.0, "两": 2.0, "二": 2.0, "三": 3.0, "五": 5.0, "七": 7.0, "十": 10.0, "半": 0.5}
_ABSOLUTE = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?")
_BETWEEN = re.compile(
    rf"(?:(?i:between|from)\s+)?(?P<since>{_ABSOLUTE.pattern})\s*(?i:and|to|until|till|-|–|—|到|至|和|与)\s*"
    rf"(?P<until>{_ABSOLUTE.pattern})(?:\s*之间)?"
)
_SINCE = re.compile(r"(?i)\b(?:since|after|from)\s*$|自\s*$|从\s*$")
_AFTER = re.compile(r"\s*(?:以来|之后|以后|起|开始)")
_UNTIL = re.compile(r"(?i)\b(?:until|till|before|up to)\s*$")
_DAY_LENGTH = len("2026-01-31")


def _begin(moment: str) -> str:
    return f"{moment}T00:00:00Z" if len(moment) == _DAY_LENGTH else moment


def _end(moment: str) -> str:
    """A day ends with its last second: an end that a tool takes as "before" or as "up to" then means the same."""
    return f"{moment}T23:59:59Z" if len(moment) == _DAY_LENGTH else moment


_NAMED = (
    ("since yesterday", 48.0),
    ("yesterday", 48.0),
    ("today", 24.0),
    ("this week", 168.0),
    ("昨天", 48.0),
    ("今天", 24.0),
    ("今日", 24.0),
    ("本周", 168.0),
    ("这周", 168.0),
)


def read_span(text: str) -> Span | None:
    """The time range that a question names; None when it names none. A bare "recent" names none."""
    if found := _BETWEEN.search(text):
        return Span(found[0], since=_begin(found["since"]), until=_end(found["until"]), words=(found[0].lower(),))
    if found := _ABSOLUTE.search(text):
        before, after = text[: found.start()], text[found.end() :]
        day = len(found[0]) == _DAY_LENGTH and not (
            _SINCE.search(before) or _UNTIL.search(before) or _AFTER.match(after)
        )
        until = _UNTIL.search(before)
        earlier = until is not None and until[0].strip().lower() == "before"
        ends = _begin(found[0]) if earlier else _end(found[0]) if day or until else ""
        begins = "" if ends and not day else _begin(found[0]) if day else found[0]
        return Span(found[0], since=begins, until=ends, words=(found[0].lower(),))
    if found := _ENGLISH.search(text):
        number = 1.0 if found[1] is None else float(found[1]) if found[1].isdigit() else None
        if number is not None:
            unit = _UNIT[found[2].lower()]
            return Span(found[0], number * _HOURS[unit], words=tuple(found[0].lower().split()))
    if found := _CHINESE.search(text):
        number = float(found[1]) if found[1].isdigit() else _DIGITS[found[1]]
        return Span(found[0], number * _HOURS[_UNIT[found[2][0]]], words=(found[0],))
    for words, hours in _NAMED:
        if words in text.lower():
            return Span(words, hours, words=tuple(words.split()))
    return None


def relative(hours: float) -> str:
    """`90m`, `24h`, `7d`: the spelling that most tools take."""
    minutes = hours * 60
    if minutes < 1:
        return f"{round(hours * 3600)}s"
    if hours < 1 or hours != int(hours):
        return f"{round(minutes)}m"
    return f"{int(hours)}h" if hours < 72 or hours % 24 else f"{int(hours // 24)}d"
