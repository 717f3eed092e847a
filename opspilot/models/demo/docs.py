"""Looking into documents: the first search, a second one by what the logs said, and the passage with the advice."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from opspilot.models.demo.arguments import Wish, fill
from opspilot.models.demo.case import Case, Proposal
from opspilot.models.demo.counts import message_tallies
from opspilot.models.demo.findings import Excerpt
from opspilot.models.demo.history import HUMAN_CODES, Done
from opspilot.models.demo.kinds import Kind
from opspilot.models.demo.lexicon import STOP_ENGLISH, Idea, listed
from opspilot.models.demo.needs import asks_how
from opspilot.models.demo.records import rows_of
from opspilot.models.demo.searches import Need
from opspilot.models.demo.suiting import question_stems
from opspilot.models.demo.toolbox import Role, ToolCard
from opspilot.models.demo.words import CJK, parts, stems, tokens, translated

_MAX_SEARCHES = 4
_ERROR_WORDS = 8


def next_docs(need: Need, case: Case) -> Iterator[Proposal]:
    """The next look into the documents, if one is called for."""
    done = case.calls(need)
    wish = replace(case.wish(), query=first_query(case), source="", subject="")
    searched = [one for one in need.tools if one.with_role(Role.QUERY)][:2] or need.tools[:1]
    first = [proposal for one in searched for proposal in _made(need, one, wish)]
    if not done or case.asks_anew(first):
        yield from first
        return
    if len(done) >= _MAX_SEARCHES or any(call.code in HUMAN_CODES for call in done):
        return
    for further, one in _further(need, case, done):
        for proposal in _made(need, one, further):
            if not case.made(proposal.key):
                yield proposal
                return


def _made(need: Need, tool: ToolCard, wish: Wish) -> Iterator[Proposal]:
    if (arguments := fill(tool, wish)) is not None:
        yield Proposal(need.id, tool.name, arguments)


def first_query(case: Case) -> str:
    """The question's own words; Chinese ones also as English documents call them."""
    question = case.question
    told = (word for word in question.words if word.chinese and (word.content or Idea.ALERT in word.ideas))
    english = [found for word in told if (found := translated(word))]
    return " ".join(dict.fromkeys([*question.keywords, *english])) or case.subject or question.text[:200]


def _further(need: Need, case: Case, done: tuple[Done, ...]) -> Iterator[tuple[Wish, ToolCard]]:
    tool = need.tools[0]
    wish = replace(case.wish(), source="", subject="")
    excerpts = [excerpt for call in done for excerpt in call.findings.excerpts]
    error = top_error(case)
    if error and not _met(error, excerpts):
        yield replace(wish, query=terms_of(error)), tool
    waiting = case.need(Kind.LOGS) is not None and not case.calls_of(Kind.LOGS) and len(case.filed) == len(done)
    if not any(call.useful for call in done) and not waiting:
        words = first_query(case).split()
        english = [word for word in words if not CJK.search(word)]
        chinese = [word for word in words if CJK.search(word)]
        for query in (
            " ".join(english) if chinese else "",
            " ".join(chinese) if english else "",
            *longest_first(words),
        ):
            if query:
                yield replace(wish, query=query), tool
        return
    if waiting:
        return
    best = next(iter(ranked(excerpts, case)), None)
    if best is not None and best.source:
        yield from _whole_document(need, best, wish)
        if case.question.ideas & {Idea.ADVICE, Idea.ALERT} or asks_how(case.question):
            yield from _advice(need, best, excerpts, wish, case)


def _met(error: str, excerpts: list[Excerpt]) -> bool:
    """Do the passages speak of this error, as far as shared words tell?"""
    return len(stems(error) & stems(" ".join(excerpt.text for excerpt in excerpts))) >= min(2, len(stems(error)))


def _whole_document(need: Need, best: Excerpt, wish: Wish) -> Iterator[tuple[Wish, ToolCard]]:
    """The best document in full, where there is a tool that reads one by its name or id."""
    for tool in need.tools:
        where = tool.with_role(Role.SOURCE) or tool.with_role(Role.IDENTITY)
        if where is not None and where.required and tool.with_role(Role.QUERY) is None:
            yield replace(wish, source=best.source, subject=best.source, query=""), tool


def _advice(
    need: Need, best: Excerpt, excerpts: list[Excerpt], wish: Wish, case: Case
) -> Iterator[tuple[Wish, ToolCard]]:
    """The best document's own advice, or what it says that a thing means, when what was found of it doesn't."""
    stem = best.source.rpartition("/")[2].rpartition(".")[0] or best.source
    if asks_meaning(case.question.text):
        if not any(excerpt.source == best.source and gives_meaning(excerpt) for excerpt in excerpts):
            yield replace(wish, query=f"{stem} {'含义 说明' if CJK.search(best.text) else 'meaning'}"), need.tools[0]
        return
    if any(excerpt.source == best.source and gives_advice(excerpt) for excerpt in excerpts):
        return
    words = "处理 处置 步骤" if CJK.search(best.text) else "mitigation resolution"
    yield replace(wish, query=f"{stem} {words}", source=best.source), need.tools[0]


_ADVISING = listed(
    "mitigation mitigate resolution resolve fix remedy remediation steps action actions handling recovery recover do "
    "solution solutions response procedure workaround treatment"
)
_ADVISING_CHINESE = ("处理", "处置", "步骤", "建议", "缓解", "解决", "应对", "恢复", "修复", "措施")


_MEANS = re.compile(r"(?i)\bwhat (?:does|do|is|are)\b.*\b(?:mean|meaning)\b|\bmeaning of\b|什么意思|含义|意味着")
_MEANING = listed("meaning overview definition about 含义 说明 概述")


def asks_meaning(text: str) -> bool:
    """Does it ask what something means, rather than what to do about it?"""
    return bool(_MEANS.search(text))


def gives_meaning(excerpt: Excerpt) -> bool:
    """Does the passage's heading say that it explains?"""
    return bool(set(parts(excerpt.heading)) & _MEANING)


def gives_advice(excerpt: Excerpt) -> bool:
    """Does the passage's heading, or a line of it, announce what to do?"""
    opening = f"{excerpt.heading} " + " ".join(
        line for line in excerpt.text.split("\n") if line.startswith("#") or line.rstrip().endswith((":", "："))
    )
    return bool(set(parts(opening)) & _ADVISING) or any(word in opening for word in _ADVISING_CHINESE)


def top_error(case: Case) -> str:
    """The most frequent message that the logs showed, as they wrote it."""
    for call in case.calls_of(Kind.LOGS):
        if call.useful:
            rows = message_tallies(call.findings.tallies)
            if rows:
                return max(rows, key=lambda row: int(row.count) if row.count.isdigit() else 0).label
            if call.findings.excerpts:
                return call.findings.excerpts[0].text
            told = (record.text for rows in rows_of(call.data) for record in rows.records)
            if text := next(filter(None, told), ""):
                return text
    return ""


def terms_of(error: str) -> str:
    """The words of a message without its numbers, ids and marks, at most eight."""
    kept = [
        token.text
        for token in tokens(error.replace("<", " <").replace("=", " "))
        if token.text.lower() not in STOP_ENGLISH and not any(c.isdigit() for c in token.text) and len(token.text) > 2
    ]
    return " ".join(list(dict.fromkeys(kept))[:_ERROR_WORDS])


def longest_first(words: Sequence[str]) -> list[str]:
    """Single words to try, the most telling first."""
    return sorted(dict.fromkeys(words), key=len, reverse=True)[:2]


_PER_POSITION = 0.5
"""The tool's own order counts, too: a place further down outweighs half a shared word."""


def ranked(excerpts: Sequence[Excerpt], case: Case) -> list[Excerpt]:
    """Passages by how much they share with the question and with what the logs said; order found breaks ties."""
    asked, erring = question_stems(case.question), stems(top_error(case))
    listed = list(dict.fromkeys((e.text, e.source, e.line) for e in excerpts))
    first = {(e.text, e.source, e.line): e for e in reversed(excerpts)}

    def score(key: tuple[str, str, str]) -> tuple[float, int]:
        excerpt, position = first[key], listed.index(key)
        told = stems(f"{excerpt.source} {excerpt.heading} {excerpt.text}")
        named = stems(f"{excerpt.source} {excerpt.heading}")
        return (_PER_POSITION * position - len(told & asked) - len(named & asked) - 2 * len(told & erring), position)

    return [first[key] for key in sorted(listed, key=score)]
