"""The seven levels that log lines are sorted into, and how each is recognised. Knows nothing of files or formats."""

import re
from typing import Literal, TypeAlias, get_args

Level: TypeAlias = Literal["trace", "debug", "info", "notice", "warning", "error", "critical"]

LEVELS: tuple[Level, ...] = get_args(Level)
"""From the mildest to the worst."""

RANK: dict[str, int] = {level: rank for rank, level in enumerate(LEVELS)}


def _spelled(level: Level, *names: str) -> dict[str, Level]:
    return dict.fromkeys(names, level)


_SPELLINGS: dict[str, Level] = {
    **{level: level for level in LEVELS},
    **_spelled("trace", "trc", "finest", "finer", "verbose", "silly"),
    **_spelled("debug", "dbg", "fine"),
    **_spelled("info", "information", "informational", "inf"),
    **_spelled("warning", "warn", "wrn"),
    **_spelled("error", "err", "severe", "failure"),
    **_spelled("critical", "crit", "fatal", "alert", "emerg", "emergency", "panic", "dpanic"),
}

_NUMBERED: dict[int, Level] = {10: "trace", 20: "debug", 30: "info", 40: "warning", 50: "error", 60: "critical"}
"""The numbers of pino and bunyan, which write JSON lines. Python's own (10 to 50) never reach a log as numbers."""

_MARKED = re.compile(
    r"(?<![A-Za-z])(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|CRIT(?:ICAL)?|FATAL|ALERT|EMERG(?:ENCY)?|PANIC)(?![A-Za-z])"
    r"|(?i:(?:^|[\s\[<(])(trace|debug|info|notice|warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal|alert|emerg|panic)"
    r"(?=[:\]>)]))"
)
"""A level that the writer marked as one: in capitals, before a colon, or in brackets."""

_WORD = re.compile(
    r"(?i)(?<![A-Za-z])(warning|error|critical|fatal|panic)(?![A-Za-z])|[A-Za-z](?:Exception|Error)(?![A-Za-z])"
)
"""A level as an ordinary word. `info`, `notice`, `alert`, `debug` and `trace` are too common in prose to mean one."""

_LETTER = re.compile(r"^[^A-Za-z]{0,40}(?:[\[<(](?P<a>[TDIWEFC])[\])>](?=[ \t:]|$)|\|[ ]?(?P<b>[TDIWEFC])[ ]?\|)")
"""A level of one letter in brackets or between bars, before any other word."""

LETTERS: dict[str, Level] = {
    "V": "trace",
    "T": "trace",
    "D": "debug",
    "I": "info",
    "W": "warning",
    "E": "error",
    "F": "critical",
    "C": "critical",
    "A": "critical",
}

_WORD_SEARCH_CHARACTERS = 1000


def level_named(value: str) -> Level | None:
    """The level that a level field's value stands for, in any usual spelling; None for anything else."""
    name = value.strip().lower()
    if name.isascii() and name.isdigit():
        return _NUMBERED.get(int(name[:4]))
    return _SPELLINGS.get(name)


def level_in_words(text: str) -> Level | None:
    """The level that a text without a level field speaks of. A marked level (`ERROR`, `error:`, `[error]`) wins."""
    head = text[:_WORD_SEARCH_CHARACTERS]
    marked = _MARKED.search(head)
    if marked is not None:
        return level_named(marked[1] or marked[2])
    lettered = _LETTER.match(head)
    if lettered is not None:
        return LETTERS[lettered["a"] or lettered["b"]]
    word = _WORD.search(head)
    if word is None:
        return None
    return level_named(word[1]) if word[1] else "error"
