"""Points and ranges of time: as results spell them, and as questions do, in English and Chinese.

A question's range may lack its year, or be relative: both are told by the data. Has no clock.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO = re.compile(
    r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ](\d{1,2}):(\d\d)(?::(\d\d))?(?:[.,]\d+)?\s?(?:Z|UTC"
    r"|([+-]\d\d):?(\d\d))?)?"
)
_MONTH_ISO = re.compile(r"((?:19|20)\d\d)-(0[1-9]|1[0-2])")


@lru_cache(maxsize=16384)
def moment_of(value: str) -> datetime | None:
    """A value as a point in time, without a zone, in UTC; None for any other."""
    found = _ISO.fullmatch(value.strip())
    if found is None:
        monthly = _MONTH_ISO.fullmatch(value.strip())
        return datetime(int(monthly[1]), int(monthly[2]), 1) if monthly else None  # noqa: DTZ001
    year, month, day, hour, minute, second, zone, zone_minutes = found.groups()
    try:
        moment = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))  # noqa: DTZ001
    except ValueError:
        return None
    if zone:
        offset = timedelta(hours=int(zone), minutes=int(zone_minutes) * (-1 if zone[0] == "-" else 1))
        moment -= offset
    return moment


_SECONDS, _MILLISECONDS = (9.0e8, 4.2e9), (9.0e11, 4.2e12)


def epoch_of(value: str) -> datetime | None:
    """A count of seconds or milliseconds since 1970 as a point in time; None where it is no such number."""
    try:
        number = float(value)
    except ValueError:
        return None
    for (least, most), unit in ((_SECONDS, 1.0), (_MILLISECONDS, 1000.0)):
        if least <= number <= most:
            return datetime.fromtimestamp(number / unit, UTC).replace(tzinfo=None)
    return None


@dataclass(frozen=True)
class Span:
    """A range of time of a question, `until` not included. `years` False: the year is whichever the data has.

    `hours`: so many back from now, whatever now is. `clock`: hours of any day, from and to, as `HH:MM`.
    `places`: where in the text it was said.
    """

    since: datetime | None = None
    until: datetime | None = None
    years: bool = True
    hours: float = 0.0
    clock: tuple[str, str] = ("", "")
    places: tuple[tuple[int, int], ...] = ()

    def within(self, moments: Iterable[datetime]) -> "Span":
        """The same range with what it lacks told by the data: its year, or now."""
        known = list(moments)
        if not known:
            return self
        latest = max(known)
        if self.hours:
            since = latest - timedelta(hours=self.hours) + timedelta(seconds=1)
            return replace(self, since=since, until=None, hours=0.0)
        if self.years:
            return self
        year = latest.year
        begin = self.since or self.until
        if (
            begin is not None
            and begin.replace(year=year) > latest
            and not any(m >= begin.replace(year=year) for m in known)
        ):
            year -= 1
        return replace(
            self,
            since=_in_year(self.since, self.since, year),
            until=_in_year(self.until, self.since or self.until, year),
            years=True,
        )

    def holds(self, moment: datetime) -> bool:
        """Is this moment in the range?"""
        return (self.since is None or moment >= self.since) and (self.until is None or moment < self.until)

    def covers(self, at: int, end: int) -> bool:
        """Was this part of the text one that said it?"""
        return any(first <= at and end <= last for first, last in self.places)


_ANY_YEAR = 1904


def _in_year(moment: datetime | None, first: datetime | None, year: int) -> datetime | None:
    if moment is None or first is None:
        return None
    return moment.replace(year=year + moment.year - first.year)


_NAME = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_POINTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            r"(?<![\d-])(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})"
            r"(?:[T ](?P<h>\d{1,2}):(?P<n>\d\d)(?::\d\d)?Z?)?(?![\d-])"
        ),
        r"(?<!\d)(?P<y>\d{4})\s*年\s*(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]?",
        r"(?<!\d)(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]?(?!\d)",
        r"(?<!\d)(?P<y>\d{4})\s*年\s*(?P<m>\d{1,2})\s*月(?:份)?",
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_NAME.format('name')}(?:,? (?P<y>\d{{4}}))?\b",
        rf"\b{_NAME.format('name')} (?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<y>\d{{4}}))?\b",
        rf"\b{_NAME.format('name')},? (?P<y>\d{{4}})\b",
        r"(?<![\d-])(?P<y>\d{4})-(?P<m>\d\d)(?![\d-])",
        rf"\b(?:in|of|during|for|since|before|after|by|until) {_NAME.format('name')}(?![a-z])",
        r"(?<![\d年])(?P<m>\d{1,2})\s*月份?(?!\s*\d)",
        r"(?<!\d)(?P<y>20\d\d)\s*年(?:底|末)?",
        r"\b(?:in|of|during|since|before|after|until|by|year) (?P<y>20\d\d)\b|\((?P<y2>20\d\d)\)",
    )
)
_JOINTS = re.compile(r"(?i)\s*(?:to|until|till|through|and|-|–|—|~|到|至|和|与)\s*(?:the )?")
_FROM_DAY = re.compile(
    r"(?i)(?:from|between|从)?\s*(?:the )?(?<!\d)(\d{1,2})(?:st|nd|rd|th|日|号)?\s*(?:to|and|-|–|~|到|至)\s*$"
)
_TO_DAY = re.compile(r"(?i)^\s*(?:to|until|and|-|–|~|到|至|、)\s*(?:the )?(\d{1,2})(?:st|nd|rd|th|日|号)?(?![\d:])")
_UNTIL = re.compile(
    r"(?i)\b(?:until|till|before|prior to|by|earlier than|up to)(?: the)?(?: end of)?(?: this year)?\s*\(?$|截至\s*$"
    r"|早于\s*$"
)
_SINCE = re.compile(r"(?i)\b(?:since|after|from|later than|newer than)\s*$|自\s*$|从\s*$|晚于\s*$")
_AFTERWARDS = re.compile(r"^\s*(?:以来|之后|以后|起|开始|后)")
_BEFOREHAND = re.compile(r"^\s*(?:之前|以前|前)")
_CLOCK = re.compile(
    r"(?<![\d:])(?P<h1>\d{1,2}):(?P<m1>\d\d)(?:\s*(?:UTC|Z))?(?:\s*(?:to|and|until|till|-|–|~|到|至)\s*(?:次日|第二天"
    r"|the next (?:day|morning) )?(?P<h2>\d{1,2}):(?P<m2>\d\d))?"
    r"|\b(?P<a1>\d{1,2})(?:\s*(?P<ap1>am|pm))?\s*(?:to|and|until|till|-|–)\s*(?P<a2>\d{1,2})\s*(?P<ap2>am|pm)\b"
    r"|\b(?P<w1>midnight|noon)\s*(?:to|and|until|till|-|–)\s*(?P<w2>\d{1,2})(?::\d\d|\s*am|\s*pm)?"
    r"|(?<!\d)(?P<c1>\d{1,2}|[零一二两三四五六七八九十]{1,3})\s*点(?:钟)?(?:\s*(?:到|至|和|-|~)\s*(?P<c2>\d{1,2}"
    r"|[零一二两三四五六七八九十]{1,3})\s*点)?",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"(?i)\b(?:last|past|previous)\s+(?:(?P<n>\d+|two|three|five|seven|ten)\s+)?(?P<u>hour|hr|day|week|month|minute"
    r"|min)s?\b"
    r"|(?:最近|过去|近)\s*(?P<n2>\d+|一|两|三|五|七|十)?\s*个?(?P<u2>小时|天|周|月|分钟)"
    r"|(?P<day>\byesterday\b|\btoday\b|昨天|今天)"
)
_NUMBERS = {
    "two": 2,
    "three": 3,
    "five": 5,
    "seven": 7,
    "ten": 10,
    "一": 1,
    "两": 2,
    "三": 3,
    "五": 5,
    "七": 7,
    "十": 10,
}
_UNIT_HOURS = {"hour": 1.0, "hr": 1.0, "day": 24.0, "week": 168.0, "month": 720.0, "minute": 1 / 60, "min": 1 / 60,
               "小时": 1.0, "天": 24.0, "周": 168.0, "月": 720.0, "分钟": 1 / 60}  # fmt: skip


@lru_cache(maxsize=256)
def span_of(text: str) -> Span | None:
    """The range of time that a question names; None when it names none."""
    points = _points(text)
    if not points:
        return _back_from_now(text) or _hours_of_day(text)
    if _same_day(points):
        day = next((point for point in points if point.years), points[0])
        return _clocked(text, replace(day, places=tuple(place for point in points for place in point.places)))
    first = points[0]
    second = next((p for p in points[1:2] if _JOINTS.fullmatch(text[first.places[0][1] : p.places[0][0]])), None)
    if second is not None:
        years = first.years and second.years
        since = first.since if first.years or not second.years else _with_year(first.since, second)
        return Span(since, second.until, years or second.years, places=first.places + second.places)
    first = _with_year_behind(text, first)
    return _to_other_end(text, first) or _half_open(text, first) or _clocked(text, first)


def _back_from_now(text: str) -> Span | None:
    """So long before now: "the last two days", 昨天."""
    found = _BACK.search(text)
    if found is None:
        return None
    if found["day"]:
        return Span(hours=24.0 if found["day"].lower() in {"today", "今天"} else 48.0, places=(found.span(),))
    said = found["n"] or found["n2"] or "1"
    number = int(said) if said.isdigit() else _NUMBERS[said.lower()]
    return Span(hours=number * _UNIT_HOURS[(found["u"] or found["u2"]).lower()], places=(found.span(),))


def _with_year_behind(text: str, first: Span) -> Span:
    """The same with the year that stands right behind it: "12 May (2025)"."""
    begin, end = first.places[0]
    year = _YEAR_BESIDE.match(text[end:])
    if first.years or first.since is None or year is None:
        return first
    shift = int(year[1]) - first.since.year
    return replace(
        first,
        since=first.since.replace(year=first.since.year + shift),
        until=first.until.replace(year=first.until.year + shift) if first.until else None,
        years=True,
        places=((begin, end + year.end()),),
    )


def _to_other_end(text: str, first: Span) -> Span | None:
    """A range whose other end is only an hour or a day of the month: "12 May 08:00 to 09:30", "3 to 5 May"."""
    begin, end = first.places[0]
    before, after = text[:begin], text[end:]
    if first.since and first.until and (first.since.hour or first.since.minute) and (clock := _TO_CLOCK.match(after)):
        until = first.since.replace(hour=int(clock[1]) % 24, minute=int(clock[2]))
        until += timedelta(days=1) if until <= first.since else timedelta()
        return replace(first, until=until, places=((begin, end + clock.end()),))
    if (day := _FROM_DAY.search(before)) and first.since:
        return replace(first, since=first.since.replace(day=int(day[1])), places=((day.start(), end),))
    if (day := _TO_DAY.search(after)) and first.until and first.since:
        until = first.since.replace(day=int(day[1])) + timedelta(days=1)
        return replace(first, until=until, places=((begin, end + day.end()),))
    return None


def _half_open(text: str, first: Span) -> Span | None:
    """A range that a word before or behind it opens on one side: "since May", 五月之前."""
    begin, end = first.places[0]
    said, after = text[begin:end], text[end:]
    whole_before = text[:begin] + (re.match(r"(?i)(?:by|before|until|since|after) ", said) or [""])[0]
    if said.endswith(("底", "末")) and _BEFOREHAND.match(after):
        return replace(first, since=None)
    if _UNTIL.search(whole_before):
        ends = first.until if re.search(r"(?i)end of|until|till|by\s*$|up to|截至", whole_before[-30:]) else first.since
        return replace(first, since=None, until=ends)
    if _BEFOREHAND.match(after):
        return replace(first, since=None, until=first.since)
    if _SINCE.search(whole_before) or _AFTERWARDS.match(after):
        return replace(first, until=None)
    return None


_YEAR_BESIDE = re.compile(r"\s*[（(，,]?\s*(20\d\d)(?:\s*年)?(?!\d)")
_TO_CLOCK = re.compile(r"(?i)\s*(?:UTC)?\s*(?:to|until|till|and|-|–|~|到|至)\s*(?:次日|第二天)?\s*(\d{1,2}):(\d\d)")


def _same_day(points: list[Span]) -> bool:
    """Is one day said twice, in two spellings?"""
    if len(points) < 2:
        return False
    days = {(p.since.month, p.since.day) for p in points if p.since and p.until}
    return len(days) == 1 and all(p.since and p.until and (p.until - p.since).days == 1 for p in points)


def _hours_of_day(text: str) -> Span | None:
    """Hours of no day in particular: "between 08:30 and 09:30"."""
    found = _CLOCK.search(text)
    if found is None or not found["h1"] or not found["h2"]:
        return None
    first, second = f"{int(found['h1']):02d}:{found['m1']}", f"{int(found['h2']):02d}:{found['m2']}"
    return Span(clock=(first, second), places=(found.span(),))


def _with_year(moment: datetime | None, other: Span) -> datetime | None:
    return moment.replace(year=other.since.year) if moment and other.since else moment


def _clocked(text: str, day: Span) -> Span:
    """Hours of that day, where the question says some."""
    begin, end = day.places[0]
    found = next((f for f in _CLOCK.finditer(text) if f.end() <= begin or f.start() >= end), None)
    if found is None or day.since is None:
        return day
    first = (
        found["h1"]
        or _digits(found["c1"])
        or found["a1"]
        or {"midnight": "0", "noon": "12"}.get((found["w1"] or "").lower(), "")
    )
    second = found["h2"] or _digits(found["c2"]) or found["a2"] or found["w2"]
    if found["a1"] and second:
        late = 12 if found["ap2"].lower() == "pm" and int(second) < 12 else 0
        early = 12 if (found["ap1"] or found["ap2"]).lower() == "pm" and int(first) < 12 else 0
        first, second = str(int(first) + early), str(int(second) + late)
    if not first or int(first) > 24 or not second or int(second) > 24:
        return day
    since = day.since + timedelta(hours=int(first), minutes=int(found["m1"] or 0))
    until = day.since + timedelta(hours=int(second), minutes=int(found["m2"] or 0))
    until += timedelta(days=1) if until <= since else timedelta()
    return replace(day, since=since, until=until, places=(*day.places, found.span()))


def _digits(said: str | None) -> str:
    """An hour in Chinese numerals, or digits, as digits."""
    if not said or said.isdigit():
        return said or ""
    tens, mark, ones = said.partition("十")
    values = {character: number for number, character in enumerate("零一二三四五六七八九")} | {"两": 2, "": 0}
    if not mark:
        return str(values.get(said, 0))
    return str((values.get(tens, 0) or 1) * 10 + values.get(ones, 0))


def _points(text: str) -> list[Span]:
    taken: list[Span] = []
    for pattern in _POINTS:
        for found in pattern.finditer(text):
            if any(first < found.end() and found.start() < last for span in taken for first, last in span.places):
                continue
            if (span := _point(found)) is not None:
                taken.append(span)
    return sorted(taken, key=lambda span: span.places[0])


def _point(found: re.Match[str]) -> Span | None:
    groups = found.groupdict()
    named = groups.get("name")
    year, years = int(groups.get("y") or groups.get("y2") or _ANY_YEAR), bool(groups.get("y") or groups.get("y2"))
    month = _MONTHS.index(named[:3].lower()) + 1 if named else int(groups.get("m") or 0)
    day, hour = int(groups.get("d") or 0), groups.get("h")
    try:
        since = datetime(year, month or 1, day or 1)  # noqa: DTZ001
    except ValueError:
        return None
    if hour:
        since = since.replace(hour=int(hour), minute=int(groups.get("n") or 0))
        until = since + timedelta(minutes=1)
    elif day:
        until = since + timedelta(days=1)
    elif month:
        until = since.replace(year=year + month // 12, month=month % 12 + 1)
    else:
        until = since.replace(year=year + 1)
    return Span(since, until, years, places=(found.span(),))
