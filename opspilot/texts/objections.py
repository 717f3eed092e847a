"""Why an answer was not taken, said again in the language of the person who reads.

A run says it in English, for the record. What a rule, a tool or its schema says of changed arguments stays as it is.
"""

import re

from opspilot.texts.language import text

_SAID = {
    f"objection.{name}": re.compile(pattern, re.DOTALL)
    for name, pattern in {
        "other": r"This answer is for something else than what is asked\.",
        "other_now": r"This answer is for something else than what is asked now\.",
        "unsigned": r"Nobody vouches for who sent this answer: it is not signed by the server that people sign in to\.",
        "signature": r"Its signature is not that of this answer to this question\.",
        "needs_values": r"This question needs values, not an approval\.",
        "other_values": r"An approval is for what is shown; other values are given as an edit\.",
        "twice": r"You have agreed already; somebody else has to agree as well\.",
        "no_values": r"No values were given\.",
        "yes_or_no": r"This question takes an approval or a rejection\.",
        "unasked": r"Nobody asked for (?P<names>.+)\.",
        "not_shown": r"Only an argument that is shown can be left out\.",
        "own": r"Who asked for this may not agree to it; somebody else has to\.",
        "role": r"Only people with the role (?P<roles>.+) may decide this\.",
        "no_question": r"There is no such question in this run\.",
        "settled": r"This question is settled already\.",
        "no_json": r"The values hold what JSON can't carry\.",
        "not_kept": r"The sensitive values that it speaks of were not kept for it\.",
        "rounds": r"This call was changed (?P<most>\d+) times; approve or reject it as it is\.",
        "not_open": r"Question (?P<interrupt>\S+) is not open \(any more\)\.",
        "expired": r"Question (?P<interrupt>\S+) has expired; nobody decided in time\.",
        "too_long": r"An answer may have 16 KiB at most\.",
        "too_many": r"Too many answers are being checked; try again in a moment\.",
    }.items()
}


def objection(message: str) -> str:
    """The same as `message` says, as far as it is ours."""
    for key, pattern in _SAID.items():
        if found := pattern.fullmatch(message):
            return text(key, **found.groupdict())
    return message
