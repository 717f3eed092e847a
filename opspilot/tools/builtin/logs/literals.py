"""A text that is in everything that a regular expression finds. Pure.

Only what is plainly written is understood. Whatever might change the meaning of the rest (alternatives, flags,
look-around) makes the answer empty, which means that nothing is certain.
"""

import re

_TOKEN = re.compile(
    r"""
      (?P<literal>[^\\.^$*+?{}()\[\]|] | \\[^a-zA-Z0-9])
    | (?P<other>\\[dDwWsSbB] | [.^$] | \[\^?\]?(?:\\.|[^\]\[\\])*\])
    | (?P<group>\((?:\?P<\w+>|\?:)?(?![?*]))
    | (?P<end>\))
    """,
    re.VERBOSE | re.DOTALL,
)
_QUANTIFIER = re.compile(r"(?:[*?]|\{[^}]*\}|(?P<once>\+))[?+]?")


def literal_of(pattern: str) -> str:
    """The longest such text outside of groups, empty when none is certain."""
    runs = [""]
    depth = 0
    position = 0
    while position < len(pattern):
        token = _TOKEN.match(pattern, position)
        if token is None:
            # Alternatives inside a group concern the group alone, and what is in groups isn't used.
            if pattern[position] == "|" and depth:
                position += 1
                continue
            return ""
        position = token.end()
        depth += (token["group"] is not None) - (token["end"] is not None)
        quantifier = _QUANTIFIER.match(pattern, position) if token["group"] is None else None
        if quantifier is not None:
            position = quantifier.end()
        if token["literal"] is None or depth:
            runs.append("")
            continue
        if quantifier is None or quantifier["once"]:
            runs[-1] += token["literal"].removeprefix("\\") if len(token["literal"]) > 1 else token["literal"]
        if quantifier is not None:
            runs.append("")
    return max(runs, key=len) if depth == 0 else ""
