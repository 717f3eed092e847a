"""What to do next: a pure function of the case. Each need says what call would serve it now, and all are made together.

Owns the order of things: names before what needs them, reads beside each other, an action alone and last.
"""

from collections.abc import Iterator
from dataclasses import replace

from opspilot.models.demo.arguments import Wish, fill
from opspilot.models.demo.case import (
    Case,
    Filed,
    Proposal,
    acted_on,
    catalog_of,
    identify,
    is_relation,
    meant,
    needs_lookup,
    suggestion,
)
from opspilot.models.demo.docs import next_docs
from opspilot.models.demo.history import HUMAN_CODES, Dialogue, Done
from opspilot.models.demo.inquiry.asking import next_data
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.logs import next_logs
from opspilot.models.demo.searches import Need
from opspilot.models.demo.toolbox import Role, ToolCard

MAX_STEPS = 8
"""Steps with calls for one question. What isn't found by then is said not to be found."""

_MAX_CALLS = 4
_MAX_LOOKUPS = 3
_MAX_NAMES = 3


def replay(case: Case, dialogue: Dialogue, *, own: bool = False) -> Case:
    """File the calls of the conversation under the needs that proposed them, by deciding each step again.

    With `own`, calls that this case has not proposed are left to the other questions that wait.
    """
    for step in dialogue.steps:
        proposed = {proposal.key: proposal.need for proposal in propose(case)}
        kept = [call for call in step if call.key in proposed] if own else step
        filed = [Filed(proposed.get(call.key) or call.hint or _kind_by_tool(case, call), call) for call in kept]
        case = case.after(filed)
    return case


def _kind_by_tool(case: Case, call: Done) -> str:
    card = next((tool for tool in case.tools if tool.name == call.tool), None)
    return f"{kind_of(card)}.0" if card else f"{Kind.OTHER}.0"


def propose(case: Case) -> tuple[Proposal, ...]:
    """The calls to make now, all of them new and able to run beside each other; none when it is time to answer."""
    reads: dict[str, Proposal] = {}
    for need in case.needs:
        if need.kind is not Kind.ACT:
            for proposal in _STRATEGIES[need.kind](need, case):
                if not case.made(proposal.key):
                    reads.setdefault(proposal.key, proposal)
    reads |= {p.key: p for p in _rest_of_results(case) if not case.made(p.key)}
    if not reads:
        unasked = (need for need in case.needs if need.kind is Kind.LOGS and not case.calls(need))
        reads = {p.key: p for need in unasked for p in next_logs(need, case, patient=False) if not case.made(p.key)}
    if reads:
        return tuple(reads.values())[:_MAX_CALLS]
    act = case.need(Kind.ACT)
    return tuple(p for p in _next_act(act, case) if not case.made(p.key)) if act else ()


def propose_forced(case: Case, name: str) -> tuple[Proposal, ...]:
    """The one call that must be made: as a need would make it, else with what the question says."""
    tool = next((tool for tool in case.tools if tool.name == name), None)
    if tool is None or any(filed.call.tool == name for filed in case.filed):
        return ()
    made = [proposal for proposal in propose(case) if proposal.tool == name]
    wish = replace(case.wish(), query=" ".join(case.question.keywords) or case.question.text[:200])
    made += _filled(Need(kind_of(tool), (tool,)), tool, wish)
    return tuple(made[:1])


def _next_catalog(need: Need, case: Case) -> Iterator[Proposal]:
    done = case.calls(need)
    question = case.question
    values = {str(value).lower() for tool in case.tools for p in tool.parameters for value in (*p.choices, *p.hints)}
    phrases = tuple(text[0] for text in question.phrases if text[0].lower() not in values)
    names = question.candidates or question.sources or phrases or (" ".join(question.keywords),)
    if question.lists and not question.candidates and not done:
        yield from _filled(need, need.tools[0], Wish(question.text))
        return
    tried = {str(value) for call in done for value in call.arguments.values()}
    found = any(call.useful for call in done)
    if any(call.code in HUMAN_CODES for call in done):
        return
    if fresh := [name for name in names[:_MAX_NAMES] if name not in tried and (case.steered or not found)]:
        for name in fresh:
            yield from _filled(need, need.tools[0], replace(case.wish(), query=name, subject=name))
        return
    last = done[-1]
    if len(done) > _MAX_LOOKUPS:
        return
    if found:
        yield from _relatives(need, case)
        return
    wanted = names[0]
    words = () if case.question.subjects or len(case.needs) > 1 else _single_words(case)
    for name in (suggestion(last, wanted) or "", _bare(wanted), *words):
        if name:
            made = list(_filled(need, need.tools[0], replace(case.wish(), query=name, subject=name)))
            if made and not case.made(made[0].key):
                yield made[0]
                return
    for tool in need.tools[1:2]:
        yield from _filled(need, tool, replace(case.wish(), query=wanted, subject=wanted))


def _single_words(case: Case) -> tuple[str, ...]:
    """Single content words of the question, for a tool that takes one word."""
    return tuple(word.text for word in case.question.words if word.content)[:2]


def _bare(name: str) -> str:
    """「结算服务」 without its noun."""
    for noun in ("服务", "系统", "应用", "模块", "平台", "集群"):
        if name.endswith(noun) and len(name) > len(noun):
            return name.removesuffix(noun)
    return ""


def _relatives(need: Need, case: Case) -> Iterator[Proposal]:
    """The things that the found one depends on, when the question asks about those: "who owns what … depends on"."""
    if not case.question.of_relatives:
        return
    found = next((meant(call) for call in case.calls(need) if call.useful), ())
    entity = case.entity(case.subject) or next(iter(found), None)
    for key, values in entity.fields.items() if entity else ():
        if is_relation(key):
            for value in values[:_MAX_LOOKUPS]:
                name = value.rpartition(":")[2].rpartition("/")[2]
                yield from _filled(need, need.tools[0], replace(case.wish(), query=name, subject=name))


def _next_other(need: Need, case: Case) -> Iterator[Proposal]:
    done, tool = case.calls(need), need.tools[0]
    wish = replace(case.wish(), query=case.subject or " ".join(case.question.keywords))
    target = next((p for p in tool.parameters if p.role in {Role.IDENTITY, Role.SUBJECT, Role.QUERY}), None)
    if not done:
        waits = target is not None and target.role is not Role.QUERY and needs_lookup(target, wish.subject)
        if waits and catalog_of(case) and not case.calls_of(Kind.CATALOG):
            yield from _look_up_first(case)
            return
        if target is not None and wish.subject and (value := identify(target, wish.subject, case)):
            wish = replace(wish, subject=value)
        yield from _filled(need, tool, wish)
        return
    tried = {str(value) for call in done for value in call.arguments.values()}
    other = next((name for name in case.question.candidates if name not in tried), None)
    better = suggestion(done[-1], wish.subject or wish.query) or other
    if better and not done[-1].useful and len(done) < _MAX_LOOKUPS - 1 and done[-1].code not in HUMAN_CODES:
        yield from _filled(need, tool, replace(wish, subject=better, query=better))


def _look_up_first(case: Case) -> Iterator[Proposal]:
    """Ask a catalogue what a name means, for a tool that wants its id."""
    if case.need(Kind.CATALOG) is None and (tool := catalog_of(case)):
        yield from _next_catalog(Need(Kind.CATALOG, (tool,)), case)


def _next_act(need: Need, case: Case) -> Iterator[Proposal]:
    """The action, once for each thing named, as the catalogue calls it. What that doesn't know is left alone."""
    if not all(call.ok for call in case.calls(need)):
        return
    tool = need.tools[0]
    target = acted_on(tool)
    names = case.question.subjects or ((case.subject,) if case.subject else ())
    if target is None or not names:
        if target is None or not target.required:
            yield from _filled(need, tool, case.wish())
        return
    if catalog_of(case) and not case.calls_of(Kind.CATALOG):
        yield from _look_up_first(case)
        return
    for name in names[:_MAX_NAMES]:
        value = identify(target, name, case) if case.is_clear(name) else None
        if value is None and not catalog_of(case):
            value = name
        if value is not None:
            yield from _filled(need, tool, replace(case.wish(), subject=value, named={target.name: value}))


def _rest_of_results(case: Case) -> Iterator[Proposal]:
    """The rest of a result whose beginning says nothing yet."""
    reader = next((tool for tool in case.tools if kind_of(tool) is Kind.MORE), None)
    for filed in case.filed:
        if reader and filed.call.trim and filed.call.findings.empty:
            wish = Wish(case.question.text, reference=filed.call.trim.ref, offset=filed.call.trim.offset)
            if (arguments := fill(reader, wish)) is not None:
                yield Proposal(filed.need, reader.name, arguments)


def _filled(need: Need, tool: ToolCard, wish: Wish) -> Iterator[Proposal]:
    if (arguments := fill(tool, wish)) is not None:
        yield Proposal(need.id, tool.name, arguments)


_STRATEGIES = {
    Kind.CATALOG: _next_catalog,
    Kind.LOGS: next_logs,
    Kind.DOCS: next_docs,
    Kind.OTHER: _next_other,
    Kind.DATA: next_data,
}
