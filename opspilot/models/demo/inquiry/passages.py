"""Passages of documents that speak of a question: found among all that searches returned, by their rarer words."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from opspilot.models.demo.inquiry.aims import Want
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.tables import Record, Table
from opspilot.models.demo.inquiry.words import Word, stems_of
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.words import parts

_NOTHING = re.compile(r"(?i)^(?:no|nothing|none|not found|0 )\b|^(?:没有|未找到|无结果|找不到)")
_BOOK = re.compile(
    r"(?i)runbook|playbook|handbook|manual|guide|polic(?:y|ies)|procedure|instruction|advisor|knowledge|wiki"
    r"|\bdocs?\b|rules?\b|sop\b"
    r"|手册|指南|规程|制度|流程|文档"
)
_BAD = re.compile(
    r"(?i)\b(?:error|fatal|fail(?:ed|ure|s)?|exception|denied|refused|can(?:'t|not)|could not|panic|no space"
    r"|critical|aborted"
    r"|timed? ?out|unhealthy|corrupt\w*)\b|错误|失败|异常|拒绝|超时"
)
_SHORT = 80
_TITLE = 0.6
_NEAR = 0.6


@dataclass(frozen=True, eq=False)
class Passage:
    """A row that is text. `fit`: how much of the question it speaks of, each word by how rare it is."""

    table: Table
    record: Record
    text: str
    fit: float


def passages(tables: Sequence[Table], question: Question, extra: Sequence[str] = ()) -> list[Passage]:
    """The passages that fit best, the best first. `extra`: words that rows have brought up."""
    told = [table for table in tables if table.prose or (question.advice and table.texts)]
    found = [(table, record) for table in told for record in table.records]
    found = [(t, r) for t, r in found if not (len(t.records) == 1 and is_nothing(r))]
    texts = [stems_of(" ".join(v for n, v in record.fields.items() if ">" not in n)) for _, record in found]
    words = list(question.content)
    more = frozenset(s for word in extra for s in stems_of(word))

    def rare(word: Word) -> float:
        holding = sum(word.meets(stems) >= 0.6 for stems in texts)
        return math.log(1 + (1 + len(texts)) / (1 + holding))

    weights = {word: rare(word) for word in words}
    scored = []
    for (table, record), stems in zip(found, texts, strict=True):
        title = stems_of(" ".join((record.place, *(v for v in record.fields.values() if len(v) <= _SHORT))))
        fit = sum(weights[w] * (w.meets(stems) + _TITLE * w.meets(title)) for w in words)
        if question.advice and _BOOK.search(f"{table.tool.name} {table.tool.description}"):
            fit = 1.5 * fit + 0.3
        if Want.WHY in question.wants and not question.advice and table.lines:
            fit += 4.0 * bool(_BAD.search(text_of(record)))
        fit += 1.2 * len(more & stems) / max(1, len(more)) * max(1.0, len(words) / 3)
        scored.append(Passage(table, record, text_of(record), fit))
    scored.sort(key=lambda passage: -passage.fit)
    best = scored[0].fit if scored else 0.0
    return [passage for passage in scored if passage.fit > 0.3 and passage.fit >= _NEAR * best]


def cited(record: Record, text: str) -> str:
    """What a passage is cited by: its place, else its title."""
    if record.place and record.place != text and (" " in record.place or not _PLAIN.fullmatch(record.place)):
        return record.place
    own = {n: v for n, v in record.fields.items() if ">" not in n and v != text and len(v) <= _SHORT}
    titled = (v for n, v in own.items() if set(parts(n)) & _TITLES and v != record.place)
    return next(titled, record.place if record.place != text else "")


_PLAIN = re.compile(r"[A-Za-z]+")
_TITLES = listed(
    "id title heading page section topic article document doc name file source procedure subject 标题 名称"
)


def tells_of_fault(passage: Passage) -> bool:
    """Does it speak of something that went wrong?"""
    return bool(_BAD.search(passage.text))


def is_nothing(record: Record) -> bool:
    """Does this only say that nothing was found?"""
    text = text_of(record)
    return len(text) <= _SHORT and bool(_NOTHING.match(text)) and len(record.fields) <= 2


def text_of(record: Record) -> str:
    """The field that is its text: called so, else the one of most words."""
    own = {n: v for n, v in record.fields.items() if ">" not in n}
    return max(
        own.items(),
        key=lambda item: (bool(set(parts(item[0])) & _TEXT and " " in item[1]), _words(item[1])),
        default=("", ""),
    )[1]


def _words(text: str) -> int:
    return text.count(" ") + sum("\u4e00" <= character <= "\u9fff" for character in text)


_TEXT = listed("text content body advice passage snippet answer steps 内容 正文")
