"""What a question needs of the tools at hand: which kinds of reading, which action, and by which tools.

Sorts tools into kinds by what they are about. Decides nothing about arguments or order.
"""

import re
from dataclasses import replace

from opspilot.models.demo.glossary import ACTIONS, READING
from opspilot.models.demo.inquiry.aims import Aim
from opspilot.models.demo.inquiry.asked import read_question as read_inquiry
from opspilot.models.demo.inquiry.ranking import ranked
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.lexicon import Idea
from opspilot.models.demo.orders import order_verbs
from opspilot.models.demo.question import Question, happened, read_question
from opspilot.models.demo.searches import Need, data_tools, log_needs
from opspilot.models.demo.suiting import question_stems
from opspilot.models.demo.toolbox import Role, ToolCard, first_sentence
from opspilot.models.demo.words import CJK, parts, stem, stems

_HOW = re.compile(
    r"(?i)\bhow (?:do|to|can|should|would)\b"
    r"|\bwhat (?:should|can|do|must) (?:i|we|one) (?:(?:have|need) to )?do\b|\bwhat to do\b"
    r"|怎么(?!了|回事)|如何|该做什么"
)


_INTERROGATIVE = re.compile(
    r"(?i)^\W*(?:(?:and|so|hi|hey|ok|morning)[,.!]? )?(?:which|who|whose|what|when|where|why|how|is|are|was|were|do"
    r"|does|did|has|have|list|any)\b"
    r"|\b(?:which|who|how many|how much)\b[^.!]*\?|哪|谁|多少|几[个台条次张]|什么时候|为什么|有没有|是不是"
)
_REQUEST = re.compile(r"(?i)\bplease\b|\b(?:can|could|would|will) you\b|请|帮我|把|麻烦")


def asks_how(question: Question) -> bool:
    """Does it ask what to do?"""
    return bool(_HOW.search(question.text))


_WHO_WHAT = re.compile(r"(?i)\bwho\b|\bwhat (?:is|are) (?!the (?:most|top|number|count))|谁|是什么|哪个团队")


def needs_of(question: Question, tools: tuple[ToolCard, ...]) -> tuple[Need, ...]:
    """The needs of a question that the tools can serve, in the order in which an answer tells them."""
    by_kind = {kind: _ranked(question, [tool for tool in tools if kind_of(tool) is kind]) for kind in Kind}
    acting = _acting(question, by_kind[Kind.ACT])
    reading = tuple(tool for tool in tools if not tool.acts and kind_of(tool) is not Kind.MORE)
    if reading and _INTERROGATIVE.search(question.text) and not _REQUEST.search(question.text):
        acting = ()
    if not acting and (of_data := _of_data(question, tools, reading, by_kind[Kind.DOCS])):
        return of_data
    wanted = _wanted(question, act=bool(acting))
    if not acting and _names_one(question, by_kind[Kind.DOCS]):
        wanted.add(Kind.DOCS)
    needs: list[Need] = []
    if acting:
        needs.append(Need(Kind.ACT, acting))
    data = data_tools(question, tools, by_kind[Kind.LOGS]) if not acting else ()
    if data is None:
        wanted.discard(Kind.LOGS)
        if question.measured and by_kind[Kind.CATALOG] and not _others(question, tools):
            wanted.add(Kind.CATALOG)
    measured = question.measured and bool(data) and not wanted & {Kind.CATALOG}
    if measured or (Kind.LOGS in wanted and by_kind[Kind.LOGS]):
        needs += log_needs(question, data or by_kind[Kind.LOGS], documented=Kind.DOCS in wanted)
    if Kind.DOCS in wanted and by_kind[Kind.DOCS]:
        needs.append(Need(Kind.DOCS, by_kind[Kind.DOCS]))
    taken = {need.tools[0].name for need in needs if need.kind is Kind.LOGS}
    others = tuple(tool for tool in _others(question, tools) if tool.name not in taken) if not acting else ()
    if measured:
        others = ()
    needs += [Need(Kind.OTHER, (tool,), (), n) for n, tool in enumerate(others[: 2 if not needs else 1])]
    if by_kind[Kind.CATALOG] and (Kind.CATALOG in wanted or _takes_names(question, needs)):
        needs.insert(0, Need(Kind.CATALOG, by_kind[Kind.CATALOG], aside=Kind.CATALOG not in wanted))
    return tuple(needs) or _last_resort(question, by_kind) or (() if acting else _spoken_of(question, tools))


def _of_data(
    question: Question, tools: tuple[ToolCard, ...], reading: tuple[ToolCard, ...], documents: tuple[ToolCard, ...]
) -> tuple[Need, ...]:
    """The needs of a question that rows of data answer, all of it or its first half; none of any other."""
    searched, logged = any(_searches_text(tool) for tool in tools), _about_logs(question, tools)
    if reading and not searched and not logged:
        return (Need(Kind.DATA, reading),)
    if (searched or not logged) and (about := _about_data(question, tools)):
        return (Need(Kind.DATA, about),)
    if documents and (data_part := _data_before_advice(question, tools)):
        return (data_part, Need(Kind.DOCS, documents))
    return ()


def _about_data(question: Question, tools: tuple[ToolCard, ...]) -> tuple[ToolCard, ...]:
    """The tools for a question that rows of data answer; none for advice, and for logs that are searched by text."""
    asked = read_inquiry(question.text)
    asks = asked.aims[0] is not Aim.FIELD or bool(asked.names)
    logged = bool(question.ideas & {Idea.LOGS, Idea.ERRORS, Idea.ALERT})
    held = bool(question.ideas & {Idea.DEPENDS, Idea.OWNER}) and asked.aims[0] is Aim.FIELD
    related = held and any(kind_of(tool) is Kind.CATALOG for tool in tools)
    advised = related or Idea.DOCS in question.ideas or (Idea.ADVICE in question.ideas and not asks)
    if advised or asks_how(question) or question.of_relatives or (Idea.COMPARE in question.ideas and logged):
        return ()
    if question.ideas & _FAULTS and question.dimension_idea in {Idea.HOST, Idea.USER}:
        return ()
    order = _by_words(question, tools)
    if not order or _searches_text(order[0][0]):
        return ()
    if kind_of(order[0][0]) is Kind.DOCS and (not asks or any(_searches_text(tool) for tool, _ in order)):
        return ()
    if order[0][1] < _SPEAKS_OF_IT and any(_searches_text(tool) for tool, _ in order):
        return ()
    return tuple(tool for tool, _ in order)


def _by_words(question: Question, tools: tuple[ToolCard, ...]) -> list[tuple[ToolCard, float]]:
    """The reading tools by how much of the question they speak of, the best first; none when no word means anything."""
    reading = [tool for tool in tools if not tool.acts and kind_of(tool) is not Kind.MORE]
    order = ranked(reading, read_inquiry(question.text))
    return order if order and order[0][1] > 0 else []


_CLAUSES = re.compile(r"(?i)[，。？?！;；]\s*|,?\s+and (?=what|how)|,\s+(?=what|how)|，?(?:并且?|同时|顺便)")


def _spoken_of(question: Question, tools: tuple[ToolCard, ...]) -> tuple[Need, ...]:
    """What no kind of question is, but a tool speaks of."""
    rows = _by_words(question, tools)
    return (Need(Kind.DATA, tuple(tool for tool, _ in rows)),) if rows and rows[0][1] >= _SPEAKS_OF_IT else ()


_GUIDED = re.compile(r"(?i)\bto do\b|\bprocedures?\b|\binstructions?\b|流程|规程|步骤|预案")


def _data_before_advice(question: Question, tools: tuple[ToolCard, ...]) -> Need | None:
    """The first half of "which … most, and what does the manual say to do": a question about data of its own."""
    clauses = [clause for clause in _CLAUSES.split(question.text) if clause.strip()]
    asked = read_inquiry(clauses[0]) if len(clauses) > 1 else None
    if asked is None or not (asked.aims[0] is not Aim.FIELD or asked.which):
        return None
    first, after = (replace(question, text=text, ideas=read_question(text).ideas) for text in clauses[:2])
    advised = bool(after.ideas & {Idea.DOCS, Idea.ADVICE}) or asks_how(after) or _GUIDED.search(after.text)
    about = _about_data(first, tools) if advised and not first.ideas & {Idea.LOGS, Idea.DOCS} else ()
    return Need(Kind.DATA, about, (clauses[0],)) if about else None


_SPEAKS_OF_IT = 1.5
"""With less, what a question speaks of may as well stand in a log that is searched by text."""


def _searches_text(tool: ToolCard) -> bool:
    """Is this a log that is searched by text or pattern, which has strategies of its own?"""
    one = any(p.required and p.role in {Role.SUBJECT, Role.IDENTITY} for p in tool.parameters)
    return kind_of(tool) is Kind.LOGS and not one and bool(tool.with_role(Role.REGEX) or tool.with_role(Role.QUERY))


def _about_logs(question: Question, tools: tuple[ToolCard, ...]) -> bool:
    """Is it for the strategies that search logs by text and hold what they find against documents?"""
    said = question_stems(question)
    logs = [tool for tool in tools if kind_of(tool) is Kind.LOGS and _text_of(tool)]
    named = any(said & {stem(w) for w in parts(tool.name) if w not in READING} for tool in logs)
    return bool(logs) and (named or bool(question.ideas & _FAULTS))


_FAULTS = frozenset({Idea.LOGS, Idea.ERRORS, Idea.ALERT})


def _text_of(tool: ToolCard) -> bool:
    """Does it take a text that lines must hold?"""
    return any(re.search(r"(?i)\btext\b|pattern|contain", p.description) for p in tool.parameters) or bool(
        tool.with_role(Role.REGEX) or tool.with_role(Role.QUERY)
    )


def _names_one(question: Question, tools: tuple[ToolCard, ...]) -> bool:
    """Does the question speak of one of these tools by its name?"""
    said = question_stems(question)
    return any(stem(word) in said for tool in tools for word in parts(tool.name) if word not in READING)


def _takes_names(question: Question, needs: list[Need]) -> bool:
    """Does something that is needed take a name which a catalogue may know better?"""
    if question.subjects:
        return bool(needs)
    log_tools = [need.tools[0] for need in needs if need.kind is Kind.LOGS]
    if question.sources and log_tools and log_tools[0].with_role(Role.SOURCE) is None:
        return bool(log_tools[0].with_role(Role.SUBJECT) or log_tools[0].with_role(Role.IDENTITY))
    takes = any(
        need.kind is not Kind.DOCS
        and (need.tools[0].with_role(Role.SUBJECT) or need.tools[0].with_role(Role.IDENTITY) or need.tools[0].coded)
        for need in needs
    )
    phrased = question.measured and bool(question.phrases) and all(only_filters(need.tools[0]) for need in needs)
    return bool(question.candidates or phrased) and takes


def only_filters(tool: ToolCard) -> bool:
    """Is there no parameter that takes any text?"""
    return tool.with_role(Role.QUERY) is None and tool.with_role(Role.REGEX) is None


def _wanted(question: Question, *, act: bool) -> set[Kind]:
    ideas, wanted = question.ideas, set[Kind]()
    told = bool(ideas & {Idea.LOGS, Idea.RECENT, Idea.COMPARE, Idea.MOST, Idea.COUNT})
    alarmed = Idea.ALERT in ideas and bool(ideas & {Idea.RECENT, Idea.COMPARE, Idea.MOST, Idea.COUNT})
    advised = bool(ideas & {Idea.DOCS, Idea.ADVICE}) or asks_how(question)
    placed = bool(question.subjects or question.sources or (question.names and happened(question.text)))
    counted = question.counts and (
        question.dimension_idea in {Idea.HOST, Idea.USER} or (question.phrases and not advised)
    )
    if (
        alarmed
        or counted
        or question.sources
        or Idea.LOGS in ideas
        or (Idea.ERRORS in ideas and not act and (told or placed or not advised))
    ):
        wanted.add(Kind.LOGS)
    if advised or (Idea.ALERT in ideas and Kind.LOGS not in wanted):
        wanted.add(Kind.DOCS)
    lists = question.lists and not wanted and Idea.SERVICE in ideas
    if (
        ideas & {Idea.OWNER, Idea.DEPENDS}
        or lists
        or (not wanted and (Idea.CATALOG in ideas or (question.subjects and _WHO_WHAT.search(question.text))))
    ):
        wanted.add(Kind.CATALOG)
    if act and not told:
        wanted.discard(Kind.DOCS)
    if ideas & {Idea.OWNER, Idea.DEPENDS} and not told and not ideas & {Idea.DOCS, Idea.ERRORS, Idea.ADVICE}:
        wanted -= {Kind.DOCS, Kind.LOGS}
    return wanted


def _acting(question: Question, tools: tuple[ToolCard, ...]) -> tuple[ToolCard, ...]:
    """Tools that do what is ordered: by a word of their name, else by the first word of their description."""
    if not question.order:
        return ()
    verbs = order_verbs(question.order)
    named = tuple(tool for tool in tools if verbs & set(parts(tool.name)))
    described = tuple(
        tool
        for tool in tools
        if verbs & {form for word in parts(tool.description)[:1] for form in (word, word.removesuffix("s"))}
        or any(word in first_sentence(tool.description) for word in ACTIONS.get(question.order, ((), ()))[1])
    )
    return named or described


def _ranked(question: Question, tools: list[ToolCard]) -> tuple[ToolCard, ...]:
    """The tools of one kind: those that take a text first, then by how much they share with the question."""
    said = question_stems(question)

    def rank(tool: ToolCard) -> tuple[bool, bool, int]:
        searchable = bool(tool.with_role(Role.QUERY) or tool.with_role(Role.REGEX) or tool.with_role(Role.SUBJECT))
        groups = question.counts and bool(tool.with_role(Role.GROUP))
        return (not searchable, not groups, -len(said & (stems(tool.name) | stems(tool.description))))

    return tuple(sorted(tools, key=rank))


def _others(question: Question, tools: tuple[ToolCard, ...]) -> tuple[ToolCard, ...]:
    """Reading tools of no known kind whose name the question speaks of."""
    said = question_stems(question)
    scored: list[tuple[int, int, ToolCard]] = []
    for position, tool in enumerate(tools):
        if kind_of(tool) is not Kind.OTHER:
            continue
        name = {stem(word) for word in parts(tool.name) if word not in READING or word == "status"}
        described = stems(first_sentence(tool.description))
        name |= {word for p in tool.parameters for choice in p.choices for word in stems(str(choice))}
        chinese = any(CJK.search(word) for word in said & described)
        score = 3 * len(said & name) + len(said & described)
        if said & name or len(said & described) >= 2 or chinese:
            scored.append((-score, position, tool))
    return tuple(tool for _, _, tool in sorted(scored, key=lambda entry: entry[:2]))


def _last_resort(question: Question, by_kind: dict[Kind, tuple[ToolCard, ...]]) -> tuple[Need, ...]:
    """A question that says nothing of its kind, but has words that can be looked up."""
    if not question.keywords:
        return ()
    needs = [Need(kind, by_kind[kind]) for kind in (Kind.CATALOG, Kind.DOCS) if by_kind[kind]]
    if not needs and by_kind[Kind.LOGS] and question.names and question.phrases:
        needs = [Need(Kind.LOGS, by_kind[Kind.LOGS], question.phrases[0])]
    return tuple(needs)
