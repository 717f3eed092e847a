"""Message shapes: what remains of a log message when everything that varies is masked. Pure; knows no log format."""

import re

MAX_SHAPE_CHARACTERS = 200

_VARIABLE = re.compile(
    r"""
      (?P<str>"(?:[^"\\]|\\.){0,500}" | (?<!\w)'[^'\n]{0,200}'(?!\w))
    | (?P<id>\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b)
    | (?P<time>\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?
        | \b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\ [A-Z][a-z]{2}\ +\d+\ \d\d:\d\d:\d\d(?:\ \d{4})?)
    | (?P<ip>(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.]*\d)
        | (?<![\w:])(?=[a-fA-F:]*\d)(?:[0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F]{1,4}(?![\w:])
        | (?<![\w:])(?=[a-fA-F:]*\d)[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,5}::
          (?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,5})?(?![\w:]))
    | (?P<hex>\b0[xX][0-9a-fA-F]+\b | \b(?=[0-9a-fA-F]*\d)(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{7,}\b)
    | (?P<n>(?<![A-Za-z_\d])\d+(?:[.,]\d+)* | (?<=_)-?\d{3,} | \d{3,})
    """,
    re.VERBOSE,
)


def shape_of(message: str) -> str:
    """The message with quoted strings, ids, times, addresses, hex and numbers masked, at most 200 characters.

    Digits inside a name stay (`jk2_init`), unless there are three or more of them (`order8812`).
    """
    head = message[: 5 * MAX_SHAPE_CHARACTERS]
    # What a digit is makes no difference, but for those that stay; most messages differ in digits alone.
    alike = head.translate(_ANY_DIGIT)
    known = _KNOWN.get(alike)
    if known is not None:
        return known
    masked = _VARIABLE.sub(_mask, head)
    shape = " ".join(masked.split())
    shape = shape if len(shape) <= MAX_SHAPE_CHARACTERS else shape[: MAX_SHAPE_CHARACTERS - 1] + "…"
    if not _DIGIT.search(shape):
        if len(_KNOWN) >= _MAX_KNOWN:
            _KNOWN.clear()
        _KNOWN[alike] = shape
    return shape


_ANY_DIGIT = str.maketrans("123456789", "0" * 9)
_DIGIT = re.compile(r"\d")
_MAX_KNOWN = 10_000
_KNOWN: dict[str, str] = {}
"""Shapes without digits by messages whose digits are all 0: pure memory."""


def _mask(match: re.Match[str]) -> str:
    return f"<{match.lastgroup}>"
