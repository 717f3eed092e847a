"""How large a regular expression becomes when it is compiled, counted before that is done. Pure.

`regex.compile` writes `x{1000}` out a thousand times, and what is repeated inside of it a thousand times as often. It
does so without letting other threads run and can't be stopped, so that a short pattern could stop the whole process.
"""

import re

MAX_SIZE = 100_000
"""What compiles in a tenth of a second, and in some 50 MB."""

_TOKEN = re.compile(
    r"""
      (?P<skip>\(\?\#(?:\\.|[^\\)])*\))
    | (?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
    | (?P<verbose>\(\?[a-zA-Z0-9]*x[a-zA-Z0-9]*[-:)])
    | (?P<open>\()
    | (?P<close>\))
    | \{(?P<times>[0-9]+)(?:,[0-9]*)?\}
    | (?P<atom>\\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TIMES = re.compile(r"\{[^{}0-9]*([0-9]+)")


class NotCounted(Exception):
    """The pattern has the flag x: white space and comments between the digits of a count can't be told from others."""


def compiled_size(pattern: str) -> int:
    """How many single steps the pattern becomes: at least as many as it has, and seldom more. Raises `NotCounted`.

    Only the lower count of `{m,n}` is written out.
    """
    around: list[int] = []
    done = last = 0
    for token in _TOKEN.finditer(pattern):
        if token["verbose"]:
            raise NotCounted
        if token["set"] and "[" in token["set"][1:]:
            # Where sets are inside of sets, or classes such as [:alpha:], the end of it isn't certain.
            return _at_most(pattern)
        if token["skip"]:
            continue
        if token["times"]:
            last *= max(1, int(token["times"]))
        elif token["open"]:
            around.append(done + last)
            done = last = 0
        elif token["close"]:
            done, last = (around.pop() if around else 0), done + last + 1
        else:
            done, last = done + last, len(token[0])
    return sum(around) + done + last


def _at_most(pattern: str) -> int:
    """The size if each count were inside of all others."""
    size = len(pattern)
    for times in _TIMES.findall(pattern):
        size *= max(1, int(times))
    return size
