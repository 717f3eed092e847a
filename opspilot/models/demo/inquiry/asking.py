"""Which tool to ask next about data, and with what: the best fitting first, then repairs, pages, and what ids lead to.

A pure function of the case, as every strategy is. Writes no answer.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from opspilot.core.messages import Json
from opspilot.models.demo.arguments import Wish, fill
from opspilot.models.demo.case import Case, Proposal, offered
from opspilot.models.demo.glossary import READING
from opspilot.models.demo.history import HUMAN_CODES
from opspilot.models.demo.inquiry.aims import Sought, read_sought
from opspilot.models.demo.inquiry.comparing import compared, rival_calls, rivals_of, value_calls
from opspilot.models.demo.inquiry.paging import Source, next_pages, sources_of
from opspilot.models.demo.inquiry.ranking import among, ranked
from opspilot.models.demo.inquiry.readings import Reading, readings_of
from opspilot.models.demo.inquiry.rows import NAMING, Row, is_moment
from opspilot.models.demo.inquiry.slots import fillings, nouns
from opspilot.models.demo.inquiry.terms import Term, word_stems
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.searches import Need
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard
from opspilot.models.demo.words import likeness, parts

_MAX_CALLS = 12
_MAX_PAGES = 8
_CLOSE = 0.8
_LIKELY_TOOLS = 2


def best_reading(case: Case, need: Need, sought: Sought) -> Reading | None:
    """What answers best of all that was returned for this need."""
    found = []
    for source in sources_of(case.calls(need), case.tools):
        clear = next(fillings(source.tool, sought), None)
        guessed = clear is None or clear.arguments != source.arguments
        for reading in readings_of(source, sought):
            if _searched(reading, sought):
                found.append(replace(reading, sure=False, fits=False, score=reading.score - 10.0))
            elif guessed and not reading.choice.rows:
                found.append(replace(reading, sure=False, fits=False, score=reading.score - 5.0))
            else:
                found.append(_about_this(reading, sought, case.tools))
    if (side_by_side := compared(sources_of(case.calls(need), case.tools), sought)) is not None:
        found.append(side_by_side)
    return max(found, key=lambda reading: (reading.sure, _weight(reading)), default=None)


def _searched(reading: Reading, sought: Sought) -> bool:
    """Are these texts that a search found, where things are to be counted or ranked, and not texts?"""
    tool = reading.source.tool
    texts = kind_of(tool) is Kind.DOCS and any(p.role is Role.QUERY and p.required for p in tool.parameters)
    asked = word_stems(f"{' '.join(w for w in parts(tool.name) if w not in READING)} {reading.grid.key}")
    return texts and sought.whole and not any(term.forms & asked for term in sought.terms)


def _weight(reading: Reading) -> float:
    """A reading that says something is better than one that only was asked for the right thing."""
    return reading.score - reading.source.more - (0.0 if reading.choice.rows else _NO_ROWS)


_NO_ROWS = 4.0


def _about_this(reading: Reading, sought: Sought, tools: tuple[ToolCard, ...]) -> Reading:
    """Less sure where the question speaks of what another tool is called after, and this one says nothing of it."""
    topic = word_stems(f"{reading.source.tool.name} {reading.source.tool.description} {reading.grid.key}")
    shown = topic | word_stems(" ".join((*reading.grid.names, *map(str, reading.source.arguments.values()))))
    others = word_stems(" ".join(" ".join(w for w in parts(t.name) if w not in READING) for t in tools))
    strange = [
        term
        for term in sought.terms
        if not term.name and term not in reading.choice.met and term.forms & (others - shown) and not term.kin & shown
    ]
    return replace(reading, sure=False, score=reading.score - 1.5 * len(strange)) if strange else reading


def sought_of(case: Case, need: Need) -> Sought:
    """The case's question, read as one about data, with what the results so far call the things that it names."""
    sought = among(read_sought(need.texts[0] if need.texts else case.question.text), case.tools)
    aliases: dict[Term, frozenset[str]] = {}
    for source in sources_of(case.calls(need), case.tools):
        for grid in source.grids:
            for row in () if grid.counts or grid.lines else grid.rows:
                for term in sought.names:
                    if _is_called(row, term):
                        called = {v for v in grid.called(row) if v and v.lower() != term.text.lower()}
                        aliases[term] = aliases.get(term, frozenset()) | called
    return replace(sought, aliases=tuple((term, values) for term, values in aliases.items() if values))


def _is_called(row: Row, term: Term) -> bool:
    """Is the row itself called so, rather than having to do with a thing of that name?"""
    return any(
        value.lower() == term.text.lower() and "." not in name and not is_moment(value) and (set(parts(name)) & NAMING)
        for name, value in row.fields.items()
    )


def next_data(need: Need, case: Case) -> Iterator[Proposal]:
    """The next calls for a question about data; none when it is answered, or nothing is left to try."""
    sought = sought_of(case, need)
    done = case.calls(need)
    if len(done) >= _MAX_CALLS or any(call.code in HUMAN_CODES for call in done):
        return
    best = best_reading(case, need, sought)
    for ways in _stages(need, case, sought, best):
        if fresh := [way for way in ways if not case.made(way.key)]:
            yield from fresh
            return


def _stages(need: Need, case: Case, sought: Sought, best: Reading | None) -> Iterator[list[Proposal]]:
    """What may be done next, the first with anything new wins: all of it is called side by side."""
    if rivals_of(sought) and not (best and best.sure):
        for tool, _ in ranked(need.tools, sought)[:_LIKELY_TOOLS]:
            calls = [Proposal(need.id, tool.name, arguments) for arguments in rival_calls(tool, sought)]
            yield calls if len(calls) > 1 else []
    if best is not None:
        name = best.source.tool.name
        yield [Proposal(need.id, name, arguments) for arguments in value_calls(best, sought)]
        astray = bool(best.choice.rows) and not best.fits
        if (astray or (best.sure and sought.whole)) and len(best.source.calls) < _MAX_PAGES:
            yield [Proposal(need.id, name, arguments) for arguments in next_pages(best.source)]
        if best.sure or best.choice.met:
            yield list(_rest(need, case, best, sought))
            yield list(_narrower(need, case, best, sought))
        if best.sure:
            return
    yield list(_more_pages(need, case, sought))
    for proposal in (*_repaired(need, case, sought), *_onwards(need, case, sought, best)):
        yield [proposal]
    yield list(_fresh(need, case, sought))


def _more_pages(need: Need, case: Case, sought: Sought) -> Iterator[Proposal]:
    """Further pages of a list that fits the question's words, when no row so far has the thing that it names."""
    sources = [source for source in sources_of(case.calls(need), case.tools) if source.more]
    order = [tool.name for tool, score in ranked(need.tools, sought) if score > 0 or len(sources) == 1]
    for source in sorted(sources, key=lambda s: order.index(s.tool.name) if s.tool.name in order else len(order)):
        if sought.names and len(source.calls) < _MAX_PAGES and not _seen(source, sought):
            pages = [Proposal(need.id, source.tool.name, arguments) for arguments in next_pages(source)]
            if fresh := [page for page in pages if not case.made(page.key)]:
                yield from fresh
                return


def _seen(source: Source, sought: Sought) -> bool:
    """Does a row have one of the names?"""
    names = {term.text.lower() for term in sought.names}
    return any(v.lower() in names for grid in source.grids for row in grid.rows for v in row.fields.values())


def _rest(need: Need, case: Case, best: Reading, sought: Sought) -> Iterator[Proposal]:
    """The rest of a result that was cut, where there is a tool to read on with."""
    reader = next((tool for tool in case.tools if kind_of(tool) is Kind.MORE), None)
    trim = best.source.calls[-1].trim
    if reader is None or trim is None or (best.sure and not sought.whole):
        return
    if (arguments := fill(reader, Wish(sought.text, reference=trim.ref, offset=trim.offset))) is not None:
        yield Proposal(need.id, reader.name, arguments)


def _narrower(need: Need, case: Case, best: Reading, sought: Sought) -> Iterator[Proposal]:
    """The same tool asked for less, when it had more rows than it returned."""
    for filled in fillings(best.source.tool, sought) if best.source.more else ():
        way = Proposal(need.id, best.source.tool.name, filled.arguments)
        if set(filled.arguments.items()) > set(best.source.arguments.items()) and not case.made(way.key):
            yield way
            return


def _fresh(need: Need, case: Case, sought: Sought) -> Iterator[Proposal]:
    """The best call not made yet, and beside it one of another tool that fits about as well."""
    tried = [call.tool for call in case.calls(need)]
    ways = [
        (score - 1.5 * tried.count(tool.name), Proposal(need.id, tool.name, filled.arguments))
        for tool, score in ranked(need.tools, sought)
        for filled, score in ((f, score + 0.6 * f.sureness) for f in fillings(tool, sought))
    ]
    ways = [(score, way) for score, way in ways if not case.made(way.key)]
    ways.sort(key=lambda entry: -entry[0])
    telling = [(score, way) for score, way in ways if score > 0]
    if not telling:
        yield from _exploring(need, case, sought)
        return
    yield telling[0][1]
    others = [way for score, way in telling[1:] if way.tool != telling[0][1].tool and score >= _CLOSE * telling[0][0]]
    yield from others[:1]


_EXPLORED_AT_ONCE = 3


def _exploring(need: Need, case: Case, sought: Sought) -> Iterator[Proposal]:
    """Lists that can be had without a guess, for when no description speaks of what is asked: rows may."""
    tried = {call.tool for call in case.calls(need)}
    found: list[Proposal] = []
    for tool, _ in ranked(need.tools, sought):
        clear = next(fillings(tool, sought), None)
        if tool.name not in tried and clear is not None and not any(p.required for p in tool.parameters):
            found.append(Proposal(need.id, tool.name, clear.arguments))
    if not found:
        ways = ((t, f) for t, _ in ranked(need.tools, sought) for f in fillings(t, sought))
        found = [Proposal(need.id, t.name, f.arguments) for t, f in ways if f.placed and any(x.name for x in f.placed)]
        found = [way for way in found if not case.made(way.key)][:1]
    yield from found[:_EXPLORED_AT_ONCE]


# ---------------------------------------------------------------- what a result leads to


def _repaired(need: Need, case: Case, sought: Sought) -> Iterator[Proposal]:
    """The same call under a name that the refusal offers, if the question says that one."""
    done = case.calls(need)
    for call in reversed(done):
        if call.ok or not call.arguments:
            continue
        tried = {
            name: value for name, value in call.arguments.items() if isinstance(value, str) and value in call.message
        }
        names = [name for name in dict.fromkeys((*offered(call), *_listed(call.message))) if len(name) < _LONGEST_NAME]
        names = [name for name in names if name not in tried.values()]
        scored = [(_said(name, sought, tried), -at, name) for at, name in enumerate(names)]
        best = max(scored, default=(0.0, 0, ""))
        if best[0] >= _LIKE and tried:
            arguments: dict[str, Json] = {**call.arguments, next(iter(tried)): best[2]}
            yield Proposal(need.id, call.tool, arguments)


_LISTING = re.compile(r"[:：;；]\s*([^:：;；]+?)[.。]?\s*$|\bare\s+([^.:;]+)")


def _listed(message: str) -> list[str]:
    """The names that a message lists at its end, or after "are"."""
    found = _LISTING.search(message)
    names = re.split(r",|，|、|\bor\b|\band\b", found[1] or found[2]) if found else []
    return [name.strip(" '\"`.") for name in names if name.strip(" '\"`.")]


_LONGEST_NAME = 60
_LIKE = 0.45


def _said(name: str, sought: Sought, tried: dict[str, Json]) -> float:
    stems = word_stems(name)
    by_words = max((len(term.forms & stems) / max(1, len(stems)) for term in sought.terms), default=0.0)
    all_words = len({form for term in sought.terms for form in term.forms} & stems) / max(1, len(stems))
    alike = max((likeness(term.text, name) for term in sought.terms), default=0.0)
    return max(by_words, all_words, alike, *(likeness(str(value), name) for value in tried.values()))


def _onwards(need: Need, case: Case, sought: Sought, best: Reading | None) -> Iterator[Proposal]:
    """What ids in the rows lead to: a tool that needs one of them and tells more about what is asked."""
    if best is None or (not best.choice.met and not best.parts):
        return
    rows = best.parts[0].rows if best.parts else best.choice.rows
    if not rows or len(rows) > _MOST_LEADS:
        return
    asked = {call.tool for call in case.calls(need)}
    for tool, score in ranked(need.tools, sought):
        targets = [p for p in tool.parameters if p.required and p.type in {"string", "integer"} and not p.choices]
        if score <= 0 or len(targets) != 1 or (tool.name in asked and best.source.tool.name == tool.name):
            continue
        value = _lead(targets[0], tool, best, best.grid.rows.index(rows[0]) if rows[0] in best.grid.rows else 0)
        if value:
            for filled in fillings(tool, sought, {targets[0].name: value}):
                yield Proposal(need.id, tool.name, filled.arguments)
                break


_MOST_LEADS = 3


def _lead(parameter: Parameter, tool: ToolCard, best: Reading, at: int) -> str:
    """The value in a row that a parameter takes: a field of its name, else the row's own id if it is of that sort."""
    row, grid = best.grid.rows[at], best.grid
    about = nouns(parameter, tool)
    own = word_stems(grid.key) | word_stems(best.source.tool.name)
    for name, value in row.fields.items():
        if (
            name != grid.naming
            and about <= word_stems(name)
            and word_stems(parameter.name) & word_stems(name.rpartition(".")[2])
        ):
            return value
    return row.fields.get(grid.naming, "") if about & own else ""
