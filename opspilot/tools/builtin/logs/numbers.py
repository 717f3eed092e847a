"""Numbers in log lines: how one is read with its unit, where a duration or a size stands, and what many come to."""

import array
import math
import random
import re
from dataclasses import dataclass, field

from opspilot.tools.builtin.logs.fields import TIME_KEYS
from opspilot.tools.builtin.logs.values import Found, field_of, group_of, pairs_in

_NUMBER = re.compile(
    r"\s*(?P<number>[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?|[-+]?\.\d+)\s*(?P<unit>[A-Za-zµμ%]*)\s*$"
)
_SECONDS = {
    **dict.fromkeys(("ns", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "µs", "μs", "usec", "usecs", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
}
_BYTES = {
    **dict.fromkeys(("b", "byte", "bytes"), 1.0),
    **dict.fromkeys(("kb", "kib", "k"), 1024.0),
    **dict.fromkeys(("mb", "mib"), 1024.0**2),
    **dict.fromkeys(("gb", "gib"), 1024.0**3),
}
_DURATION_TEXT = """
duration latency elapsed took time timetaken requesttime responsetime upstreamresponsetime processingtime exectime
executiontime querytime rt durationtime elapsedtime cost timeelapsed totaltime
"""
_SIZE_TEXT = "bytes size len length bodybytes bytessent bodybytessent contentlength responsesize"
_DURATION_NAMES = frozenset(_DURATION_TEXT.split())
_SIZE_NAMES = frozenset(_SIZE_TEXT.split())
_SUFFIX = re.compile(
    r"[_.-](?P<part>(?i:ns|us|ms|s|secs?|seconds|millis|nanos|micros))$"
    r"|(?<=[a-z])(?P<hump>Ns|Us|Ms|Sec|Seconds|Millis)$"
    r"|^(?P<whole>(?i:ns|us|ms|seconds|millis))$"
)
_PHRASE = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?)\s?(ns|nanoseconds|us|µs|μs|usecs?|microseconds|ms|msecs?|milliseconds?|s|secs?|seconds?"
    r"|mins?|minutes?)(?![\w])"
)
_KEPT = 1_000_000
_EPOCH_SECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Number:
    """A value; `unit` is `seconds` or `bytes` when the line says a unit of time or size, else as it stands there."""

    value: float
    unit: str = ""


def read_number(text: str, unit: str = "") -> Number | None:
    """`0.25`, `1,234`, `12ms` (0.012 seconds), `1.5 MB` (1,572,864 bytes), `37%`; None for anything else."""
    match = _NUMBER.match(text[:80])
    if match is None:
        return None
    value = float(match["number"].replace(",", ""))
    said = match["unit"] or unit
    if said.lower() in _SECONDS:
        return Number(value * _SECONDS[said.lower()], "seconds")
    if said.lower() in _BYTES:
        return Number(value * _BYTES[said.lower()], "bytes")
    return Number(value, said) if math.isfinite(value) else None


def number_of(found: Found, name: str) -> Number | None:
    """The number called `name` in a line: a group of the pattern, a field, `name=…` or `name: …` in the text.

    `duration` and `size` stand for whatever the line calls the time that something took, and a number of bytes.
    """
    wanted = name.lower()
    for text in (group_of(found.groups, name), field_of(found.line, name), *_called(found, wanted)):
        number = read_number(text, _unit_of(name)) if text else None
        if number is not None:
            return number
    if wanted == "duration":
        return _duration(found)
    if wanted in {"size", "bytes"}:
        return _by_kind(found, _SIZE_NAMES)
    return None


def _called(found: Found, wanted: str) -> list[str]:
    return [value for key, value in pairs_in(found.text) if key.lower() == wanted]


def _unit_of(name: str) -> str:
    suffix = _SUFFIX.search(name)
    if suffix is None:
        return ""
    unit = (suffix["part"] or suffix["hump"] or suffix["whole"]).lower()
    return {"millis": "ms", "nanos": "ns", "micros": "us"}.get(unit, unit)


def _kind(name: str) -> str:
    return re.sub(r"[_.\-]", "", _SUFFIX.sub("", name)).lower()


def _by_kind(found: Found, names: frozenset[str]) -> Number | None:
    for key, value in [*found.line.fields.items(), *pairs_in(found.line.message)]:
        if _kind(key) not in names:
            continue
        number = read_number(value, _unit_of(key))
        # A field called `time` mostly says when, not for how long.
        if number is not None and not (key in TIME_KEYS and number.value >= _EPOCH_SECONDS):
            return number
    return None


def _duration(found: Found) -> Number | None:
    number = _by_kind(found, _DURATION_NAMES)
    if number is not None:
        return number
    phrase = _PHRASE.search(found.line.message[:4000])
    return read_number(phrase[1], phrase[2]) if phrase is not None else None


def numeric_names(found: Found) -> list[str]:
    """What in a line could be asked for as a number."""
    names = [
        key
        for key, value in [*found.line.fields.items(), *pairs_in(found.line.message)]
        if read_number(value) is not None
    ]
    return [*names, *(["duration"] if _duration(found) is not None else [])]


@dataclass
class Numbers:
    """What many numbers come to, in bounded memory: of more than a million, median and percentile are of a sample."""

    count: int = 0
    total: float = 0.0
    smallest: float = float("inf")
    largest: float = float("-inf")
    units: dict[str, int] = field(default_factory=dict)
    _kept: "array.array[float]" = field(default_factory=lambda: array.array("d"))
    _random: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311 - a sample, no secret

    def add(self, number: Number) -> None:
        """One more."""
        self.count += 1
        self.total += number.value
        self.smallest = min(self.smallest, number.value)
        self.largest = max(self.largest, number.value)
        if number.unit in self.units or len(self.units) < 20:
            self.units[number.unit] = self.units.get(number.unit, 0) + 1
        if len(self._kept) < _KEPT:
            self._kept.append(number.value)
        elif (place := self._random.randrange(self.count)) < _KEPT:
            self._kept[place] = number.value

    @property
    def sampled(self) -> bool:
        """Are the percentiles those of a sample?"""
        return self.count > _KEPT

    def percentiles(self, *percents: int) -> list[float]:
        """The smallest number that so many per cent don't exceed, for each; the median is 50."""
        ranked = sorted(self._kept)
        return [ranked[max(0, -(-len(ranked) * percent // 100) - 1)] for percent in percents]
