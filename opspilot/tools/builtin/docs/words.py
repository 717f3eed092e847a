"""Words for full-text search: how texts are prepared for SQLite's FTS5, and how any question becomes a query. Pure.

FTS5's own tokenizers find no ordinary Chinese word: `unicode61` takes a whole run of characters for one word, `trigram`
misses words of two. So runs of Chinese, Japanese and Korean characters are indexed, and asked for, as pairs (bigrams).
"""

import re

MAX_QUERY_WORDS = 40

_CJK = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_RUN = re.compile(f"[{_CJK}\U00020000-\U0003ffff]+")
_WORD = re.compile(rf"[^\W_{_CJK}]+")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CAMEL = re.compile(r"\b(?=\w*[a-z][A-Z]|\w*[A-Z]{2}[a-z])[A-Za-z][A-Za-z0-9]{3,80}\b")

_STOP_TEXT = """
a about an and any are as at be been but by can could do does did for from had has have how i if in into is it its look
me my of on or our please show should some tell than that the their them then there these they this those to us was we
were what when where which who why will with would you your
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())
"""Words that say nothing about what is looked for."""

_ADVICE = ("mitigation", "remediation", "resolution", "handling", "fix", "recovery"), ("处理", "解决", "恢复", "建议")
_CAUSE = ("meaning", "cause", "diagnosis"), ("含义", "原因", "诊断", "排查")
_INTENTS = (
    (
        re.compile(
            r"(?i)\b(?:handl\w*|fix\w*|resolv\w*|solv\w*|mitigat\w*|remed\w*|recover\w*|advice|runbook|procedure"
            r"|what (?:can|should|to)|to do|do about)\b|处理|解决|怎么办|恢复|建议|应对|修复"
        ),
        _ADVICE,
    ),
    (re.compile(r"(?i)\b(?:mean\w*|why|cause\w*|reason\w*|diagnos\w*)\b|含义|原因|为什么|诊断|排查"), _CAUSE),
)
"""What a question wants to know, and the headings under which documents of operations say it."""


def prepare(text: str) -> str:
    """A text as it is indexed: names written in camel case also in parts, CJK runs as pairs."""
    with_parts = _CAMEL.sub(lambda match: f"{match[0]} {' '.join(_HUMPS.findall(match[0]))}", text)
    return _CJK_RUN.sub(lambda match: f" {' '.join(_pairs(match[0]))} ", with_parts.replace("_", " "))


def query_words(question: str) -> list[str]:
    """The words to look for, each once, at most 40: without stop words, unless there is nothing else."""
    words: dict[str, None] = {}
    rest = _CJK_RUN.sub(" ", question)
    for match in _WORD.finditer(rest):
        word = match[0]
        words[word.lower()] = None
        humps = _HUMPS.findall(word) if _CAMEL.fullmatch(word) else []
        words.update((hump.lower(), None) for hump in humps if len(hump) > 1)
    for match in _CJK_RUN.finditer(question):
        words.update((pair, None) for pair in _pairs(match[0]))
    telling = [word for word in words if word not in STOP_WORDS]
    return (telling or list(words))[:MAX_QUERY_WORDS]


def heading_words(question: str) -> list[str]:
    """Words of headings under which the kind of answer stands that is asked for, in either language."""
    return [word for intent, words in _INTENTS if intent.search(question) for part in words for word in part]


def is_pair(word: str) -> bool:
    """Is this a pair of characters rather than a word?"""
    return _CJK_RUN.fullmatch(word) is not None


def match_expression(words: list[str], headings: list[str]) -> str:
    """An FTS5 query for passages with any of the words; `headings` find nothing, but count in the ranking.

    Each word is quoted, so that none can be an operator.
    """
    any_word = " OR ".join(_quoted(word) for word in words)
    if not headings:
        return any_word
    any_heading = " OR ".join(_quoted(prepare(word).strip()) for word in headings)
    return f"({any_word}) AND ({any_word} OR heading : ({any_heading}))"


def _quoted(word: str) -> str:
    star = "*" if len(word) == 1 and _CJK_RUN.fullmatch(word) else ""
    return '"' + word.replace('"', '""') + '"' + star


def _pairs(run: str) -> list[str]:
    return [run[index : index + 2] for index in range(len(run) - 1)] or [run]
