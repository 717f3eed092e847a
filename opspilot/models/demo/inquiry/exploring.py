"""Which tools to call next about a question: the best fitting first, then pages, and what rows and unmet words lead to.

A pure function of what is understood so far. Writes no answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opspilot.core.messages import Json
from opspilot.models.demo.glossary import READING
from opspilot.models.demo.history import HUMAN_CODES, Done, call_key
from opspilot.models.demo.inquiry.aims import Aim, Want
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.columns import REASONS
from opspilot.models.demo.inquiry.filling import (
    BOLD,
    SHAPING,
    Known,
    narrower,
    nouns,
    said_of,
    search_text,
    ways,
)
from opspilot.models.demo.inquiry.paging import Source, next_pages
from opspilot.models.demo.inquiry.ranking import is_search, ranked
from opspilot.models.demo.inquiry.tables import Table
from opspilot.models.demo.inquiry.understanding import Understanding
from opspilot.models.demo.inquiry.words import Sort, Word, stems_of
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.toolbox import Role, ToolCard
from opspilot.models.demo.words import parts

_MOST_CALLS = 16
_AT_ONCE = 4
_MOST_PAGES = 10
_CLOSE = 0.55
_LIKELY = 3
_FEW_ROWS = 4
_MOST_SEARCHES = 4


@dataclass(frozen=True)
class Call:
    """A tool and its arguments."""

    tool: str
    arguments: dict[str, Json]

    @property
    def key(self) -> str:
        """The same for the same call."""
        return call_key(self.tool, self.arguments)


def next_calls(state: Understanding, tools: Sequence[ToolCard]) -> list[Call]:
    """What to call now, side by side; nothing when it is time to answer."""
    if len(state.calls) >= _MOST_CALLS or any(call.code in HUMAN_CODES for call in state.calls):
        return []
    made = {call.key for call in state.calls}
    reading = [tool for tool in tools if not tool.acts and kind_of(tool) is not Kind.MORE]
    for stage in _stages(state, reading, tools):
        fresh = list({call.key: call for call in stage if call.key not in made}.values())
        if fresh:
            return fresh[: min(_AT_ONCE, _MOST_CALLS - len(state.calls))]
    return []


def _stages(state: Understanding, reading: list[ToolCard], tools: Sequence[ToolCard]) -> Iterator[list[Call]]:
    question = state.question
    order = ranked(reading, question)
    if not state.calls:
        yield list(_first(order, question))
        yield [Call(t.name, w) for t, _ in order for w in ways(t, question)[:1]][:_LIKELY]
    known = _known(state)
    best = state.best
    yield list(_repaired(state, reading))
    if best is not None and best.score > 0:
        yield _pages(best.table, state)
    yield list(_rest(state, tools))
    if best is not None and not best.table.whole:
        yield list(_narrower(state, known))
    missing = _missing(state)
    yield list(_filtered(state))
    yield list(_referred(state, reading))
    if best is not None and best.records and _unexplained(state):
        yield list(_causes(state, reading, known))
    if best is None or missing or not best.sure:
        yield _lost_pages(state)
        yield list(_narrower(state, known))
        yield list(_leads(state, reading, known, missing))
        yield list(_telling(state, order, known, missing))
    lacking = [
        w for w in missing if w.plain and (w in question.which or w in question.stressed or w in question.counted)
    ]
    if (state.unknown or lacking or _nobody(state)) and not question.advice:
        yield list(_lists(state, order, known))
    if question.advice or not (best and best.sure):
        yield list(_searches(state, order))
    unsure = best is None or not best.sure or best.score < 1.0
    if state.unknown or (unsure and not (question.advice and state.passages)):
        yield list(_others(state, order, known))


def _first(order: list[tuple[ToolCard, float]], question: Question) -> Iterator[Call]:
    top = order[0][1] if order else 0.0
    taken = 0
    if not question.advice:
        order = sorted(order, key=lambda entry: is_search(entry[0]))
    if question.advice:
        top = max((score for tool, score in order if not is_search(tool)), default=0.0)
    for tool, score in order:
        if question.advice and is_search(tool):
            guessed = _guesses(tool, question)
            yield from (Call(tool.name, arguments) for arguments in ways(tool, question)[: _AT_ONCE if guessed else 1])
            continue
        searched = is_search(tool) and bool(taken)
        if score <= 0 or searched or (taken and score < _CLOSE * top) or taken >= _LIKELY:
            continue
        for arguments in ways(tool, question):
            yield Call(tool.name, arguments)
        taken += bool(ways(tool, question))


# ---------------------------------------------------------------- further pages


def _pages(table: Table, state: Understanding) -> list[Call]:
    """The rest of a list that the answer rests on, and of the lists that it is joined with."""
    best = state.best
    assert best is not None
    found: list[Call] = []
    for one in (
        table,
        *(t for t in state.tables if t is not table and _is_joined(t, best.table) and len(t.records) > 1),
    ):
        for source in one.sources:
            found += [Call(source.tool.name, arguments) for arguments in _following(source)]
    return found


def _is_joined(table: Table, base: Table) -> bool:
    own = {name for name in table.columns if ">" not in name}
    return any(name.rpartition(">")[2] in own for name in base.columns if ">" in name) and not table.whole


def _following(source: Source) -> Iterator[dict[str, Json]]:
    if source.more and len(source.calls) < _MOST_PAGES:
        yield from next_pages(source)


def _lost_pages(state: Understanding) -> list[Call]:
    return [
        Call(source.tool.name, arguments)
        for table in state.tables
        if not table.prose
        for source in table.sources
        for arguments in _following(source)
    ]


def _rest(state: Understanding, tools: Sequence[ToolCard]) -> Iterator[Call]:
    """The rest of a result that was cut, where there is a tool to read on with."""
    reader = next((tool for tool in tools if kind_of(tool) is Kind.MORE), None)
    for table in state.tables:
        for source in table.sources:
            trim = source.calls[-1].trim
            if reader is not None and trim is not None:
                by_role = {p.role: p.name for p in reader.parameters}
                if Role.REFERENCE in by_role:
                    arguments: dict[str, Json] = {by_role[Role.REFERENCE]: trim.ref}
                    if Role.OFFSET in by_role:
                        arguments[by_role[Role.OFFSET]] = trim.offset
                    yield Call(reader.name, arguments)


def _narrower(state: Understanding, known: list[Known]) -> Iterator[Call]:
    """The same tool asked for less, when it has more rows than it returns."""
    for table in state.tables:
        for source in table.sources:
            if source.more and not table.prose:
                for arguments in narrower(source.tool, state.question, known):
                    yield Call(source.tool.name, arguments)
                    return


# ---------------------------------------------------------------- where rows and words lead


def _missing(state: Understanding) -> list[Word]:
    """Words of the question that the best reading does not account for by its values, columns or nouns."""
    best = state.best
    if best is None:
        return list(state.question.content)
    shown = {w for w in best.met if _accounted(w, best.table, {w for hit in best.by for w in hit.words})}
    return [w for w in state.question.content if w not in shown]


def _accounted(word: Word, table: Table, by: set[Word]) -> bool:
    return (
        word in by or word.meets(table.nouns) >= 0.6 or any(word.meets(label) >= 0.6 for label in table.labels.values())
    )


def _known(state: Understanding) -> list[Known]:
    """Rows that further calls may be about: those that are chosen, of the best reading first."""
    found = []
    for reading in state.readings:
        rows = (reading.outcome.records if reading.outcome else ()) or reading.records
        few = rows if (reading.named or reading is state.best or reading.timed) and len(rows) <= _FEW_ROWS else ()
        found.append(Known(reading.table, tuple(few)))
    return found


def _leads(state: Understanding, reading: list[ToolCard], known: list[Known], missing: list[Word]) -> Iterator[Call]:
    """Tools that need something which a chosen row has, and that speak of what is missing."""
    scored: list[tuple[float, Call]] = []
    called = {call.tool for call in state.calls}
    for tool in reading:
        needs = [p for p in tool.parameters if p.required]
        if not needs or is_search(tool):
            continue
        gain = _gain(tool, missing)
        unseen = tool.name not in called
        if gain <= 0 and not unseen:
            continue
        for one in known:
            if not one.records:
                continue
            for arguments in ways(tool, state.question, [one]):
                if any(str(v) in set(r.fields.values()) for v in arguments.values() for r in one.records):
                    score = gain + 0.5 * unseen + 0.5 * (state.best is not None and one.table is state.best.table)
                    score += 1.5 * (state.question.advice and kind_of(tool) is Kind.DOCS) - 0.6 * _guesses(
                        tool, state.question
                    )
                    scored.append((score, Call(tool.name, arguments)))
    scored.sort(key=lambda entry: -entry[0])
    made = {call.key for call in state.calls}
    fresh = [(score, call) for score, call in scored if call.key not in made]
    best = fresh[0] if fresh else None
    if best is not None and best[0] > 0.4:
        yield from (call for score, call in fresh if call.tool == best[1].tool)


def _unexplained(state: Understanding) -> bool:
    """Is it asked why, and no column of the answer says so?"""
    best = state.best
    if Want.WHY not in state.question.wants or best is None or not best.named or len(best.records) > _FEW_ROWS:
        return False
    shown = best.outcome.columns if best.outcome else ()
    return not any(set(parts(name.rpartition(">")[2])) & REASONS for name in shown)


def _causes(state: Understanding, reading: list[ToolCard], known: list[Known]) -> Iterator[Call]:
    """Tools that tell of causes, about the rows in question."""
    for tool in reading:
        if not _CAUSES.search(f"{tool.name} {tool.description}") or not any(p.required for p in tool.parameters):
            continue
        for one in known[:1]:
            for arguments in ways(tool, state.question, [one]):
                if any(str(v) in set(r.fields.values()) for v in arguments.values() for r in one.records):
                    yield Call(tool.name, arguments)


_CAUSES = re.compile(
    r"(?i)\b(?:logs?|reasons?|causes?|why|errors?|explains?|failures?|trace|output|events?|detail)|日志|原因"
)


def _guesses(tool: ToolCard, question: Question) -> bool:
    """Would it have to be called with each of several allowed values, of which the question says none?"""
    return any(p.required and len(p.choices) > 1 and not said_of(p, question) for p in tool.parameters)


def _nobody(state: Understanding) -> bool:
    """Is it asked who, and does the answer so far name nobody?"""
    best = state.best
    if (
        Want.WHO not in state.question.wants
        or best is None
        or best.outcome is None
        or best.outcome.aim is not Aim.FIELD
    ):
        return False
    return not best.outcome.columns


def _filtered(state: Understanding) -> Iterator[Call]:
    """A list asked for anew with a filter that the question says and that no column of its rows would tell."""
    for table in state.tables:
        for source in table.sources[:1]:
            held = {value.lower() for values in table.values.values() for value in values}
            for parameter in source.tool.parameters:
                if parameter.required or not parameter.choices or parameter.name in source.arguments:
                    continue
                said = [v for v in said_of(parameter, state.question) if isinstance(v, str)]
                if len(said) == 1 and said[0].lower() not in held and parameter.role not in SHAPING:
                    yield Call(source.tool.name, {**source.arguments, parameter.name: said[0]})


def _referred(state: Understanding, reading: list[ToolCard]) -> Iterator[Call]:
    """The list of what a row only refers to, when the question is about that: a charger that a ticket names."""
    best = state.best
    if best is None or state.question.aims[0] is not Aim.FIELD:
        return
    called = {call.tool for call in state.calls}
    for hit in best.by:
        is_own = any(hit.column == t.naming and hit.values <= set(t.values.get(hit.column, {})) for t in state.tables)
        if not hit.exact or is_own or not any(w.sort is Sort.ID for w in hit.words):
            continue
        about = stems_of(hit.column.rpartition(">")[2]) - stems_of("id key code no number")
        for tool in reading:
            named = about & stems_of(" ".join(w for w in parts(tool.name) if w not in READING))
            if tool.name not in called and named and not any(p.required for p in tool.parameters):
                yield from (Call(tool.name, arguments) for arguments in ways(tool, state.question)[:1])


def _gain(tool: ToolCard, missing: list[Word]) -> float:
    text = stems_of(f"{tool.name} {tool.description} {' '.join(p.name for p in tool.parameters)}")
    return sum(w.meets(text) for w in missing)


def _telling(
    state: Understanding, order: list[tuple[ToolCard, float]], known: list[Known], missing: list[Word]
) -> Iterator[Call]:
    """Tools not called yet that speak of what is missing, the most telling first."""
    called = {call.tool for call in state.calls}
    scored = [
        (_gain(tool, missing) + 0.2 * score, tool)
        for tool, score in order
        if tool.name not in called and not is_search(tool)
    ]
    scored = [(score, tool) for score, tool in scored if _gain(tool, missing) > 0.4]
    scored.sort(key=lambda entry: -entry[0])
    for _, tool in scored[:2]:
        made = ways(tool, state.question, known)
        for arguments in made:
            yield Call(tool.name, arguments)
        if not made:
            yield from _listing_for(tool, state, order)
            for arguments in ways(tool, state.question, known, BOLD):
                yield Call(tool.name, arguments)


def _listing_for(tool: ToolCard, state: Understanding, order: list[tuple[ToolCard, float]]) -> Iterator[Call]:
    """A list of what a tool needs one of, where nobody knows which."""
    needed = frozenset(s for p in tool.parameters if p.required and not p.choices for s in nouns(p, tool))
    for other, _ in order:
        text = stems_of(f"{other.name} {other.description} {' '.join(p.name for p in other.parameters)}")
        if other is not tool and needed & text:
            for arguments in ways(other, state.question)[:2]:
                yield Call(other.name, arguments)


def _searches(state: Understanding, order: list[tuple[ToolCard, float]]) -> Iterator[Call]:
    """Searches of texts: by the question's words, then by what rows have brought up, then by single words."""
    question = state.question
    for tool, _ in order:
        if not is_search(tool):
            continue
        made = [call for call in state.calls if call.tool == tool.name]
        if len(made) >= _MOST_SEARCHES:
            continue
        queries = [search_text(question, tool)]
        if state.brought_up:
            queries.append(" ".join(state.brought_up)[:200])
            queries.append(search_text(question, tool, dict.fromkeys(state.brought_up)))
        if not state.passages:
            queries += sorted(queries[0].split(), key=len, reverse=True)[:3]
        for query in queries:
            for arguments in ways(tool, question, _known(state), query)[:1]:
                call = Call(tool.name, arguments)
                if call.key not in {one.key for one in made}:
                    yield call
                    break
            else:
                continue
            break


def _lists(state: Understanding, order: list[tuple[ToolCard, float]], known: list[Known]) -> Iterator[Call]:
    """Lists not read yet, where a name of the question may stand."""
    called = {call.tool for call in state.calls if call.ok}
    for tool, _ in order:
        if tool.name not in called and not any(p.required and not p.choices for p in tool.parameters):
            for arguments in ways(tool, state.question, known)[:3]:
                yield Call(tool.name, arguments)


def _others(state: Understanding, order: list[tuple[ToolCard, float]], known: list[Known]) -> Iterator[Call]:
    """Lists that can be had without a guess, for when no description speaks of what is asked: rows may."""
    called = {call.tool for call in state.calls}
    for tool, _ in order:
        if tool.name not in called and not any(p.required for p in tool.parameters):
            for arguments in ways(tool, state.question, known)[:1]:
                yield Call(tool.name, arguments)
    for tool, _ in order:
        if tool.name not in called:
            for arguments in ways(tool, state.question, known)[:2]:
                yield Call(tool.name, arguments)


# ---------------------------------------------------------------- refusals


def _repaired(state: Understanding, reading: list[ToolCard]) -> Iterator[Call]:
    """The same call under a name that the refusal offers, if the question says that one."""
    for call in state.calls:
        if call.ok or not call.arguments or not call.message:
            continue
        tool = next((t for t in reading if t.name == call.tool), None)
        tried = {n: v for n, v in call.arguments.items() if isinstance(v, str) and v in call.message}
        if tool is None or not tried:
            continue
        best = max(
            ((_said(name, state.question), -at, name) for at, name in enumerate(_offered(call))), default=(0.0, 0, "")
        )
        if best[0] >= 0.5 and best[2] not in tried.values():
            yield Call(call.tool, {**call.arguments, next(iter(tried)): best[2]})


_LISTING = re.compile(r"[:：;；]\s*([^:：;；]+?)[.。?？]?\s*$|\bare\s+([^.:;]+)|did you mean '?([^?']+)'?\?")


def _offered(call: Done) -> list[str]:
    found = _LISTING.search(call.message)
    listed = re.split(r",|，|、|\bor\b|\band\b", next(g for g in found.groups() if g)) if found else []
    return [name.strip(" '\"`.") for name in listed if 0 < len(name.strip(" '\"`.")) < 60]


def _said(name: str, question: Question) -> float:
    stems = stems_of(name)
    said = {form for word in question.content for form in word.forms}
    return len(stems & said) / max(1, len(stems))
