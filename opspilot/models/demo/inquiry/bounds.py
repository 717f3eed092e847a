"""Numbers that bound rows: which column "more than 5" is about, and columns set against each other."""

import re

from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.evidence import distance
from opspilot.models.demo.inquiry.tables import Table
from opspilot.models.demo.inquiry.words import Sort, Word


def compared(table: Table, question: Question, words: tuple[Word, ...]) -> tuple[str, str, bool] | None:
    """Two numeric columns that the question sets against each other, "stock below its reorder point": below or not."""
    for pattern, below in ((_UNDER, True), (_OVER, False)):
        found = pattern.search(question.text)
        if found is None:
            continue
        after = [w for w in words if w.at >= found.end()][:3]
        if not after or after[0].sort is Sort.NUMBER:
            continue
        right = _best(table, after)
        left = _best(table, [w for w in words if w.at < found.start() and w not in after], without=right)
        if right and not left:
            siblings = [n for n in table.columns if n in table.numeric and n != right and ">" not in n]
            at = table.columns.index(right)
            left = min(siblings, key=lambda n: abs(table.columns.index(n) - at), default="")
        if left and right:
            return left, right, below
    return None


_UNDER = re.compile(r"(?i)\b(?:below|under|less than|lower than|beneath|short of)\b|低于|少于|小于|不足")
_OVER = re.compile(r"(?i)\b(?:above|over|more than|beyond|exceed(?:s|ed|ing)?)\b|高于|超过|大于|超出")


def _best(table: Table, words: list[Word], without: str = "") -> str:
    scored = [
        (sum(w.meets(table.labels[name]) for w in words) - distance(name), -at, name)
        for at, name in enumerate(table.columns)
        if name in table.numeric and name != without
    ]
    fit, _, name = max(scored, default=(0.0, 0, ""))
    return name if fit >= 0.6 else ""


def bounded(table: Table, words: tuple[Word, ...]) -> str:
    """The numeric column that a bound such as "more than 5" is about."""
    return _best(table, [w for w in words if w.sort is not Sort.NUMBER])
