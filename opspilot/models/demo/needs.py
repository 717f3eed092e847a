"""What a question needs of the tools at hand: which kinds of reading, which action, and by which tools.

Sorts tools into kinds by what they are about. Decides nothing about arguments or order.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from opspilot.models.demo.glossary import ACTIONS, READING
from opspilot.models.demo.lexicon import ENGLISH, STOP_ENGLISH, Idea, listed
from opspilot.models.demo.orders import order_verbs
from opspilot.models.demo.question import Question, happened
from opspilot.models.demo.suiting import question_stems, suiting
from opspilot.models.demo.toolbox import Role, ToolCard, first_sentence
from opspilot.models.demo.words import CJK, parts, singular, stem, stems


class Kind(StrEnum):
    """Kinds of tool, and of need."""

    CATALOG = "catalog"
    LOGS = "logs"
    DOCS = "docs"
    ACT = "act"
    OTHER = "other"
    MORE = "more"


@dataclass(frozen=True)
class Need:
    """One thing to find out or do, with the tools that may serve it, the best first.

    `texts`: spellings to look for. `subject`: the one of several things that it is about. `aside`: not asked for, a
    step on the way to something else.
    """

    kind: Kind
    tools: tuple[ToolCard, ...]
    texts: tuple[str, ...] = ()
    number: int = 0
    aside: bool = False
    subject: str = ""

    @property
    def id(self) -> str:
        """Names the need within its question."""
        return f"{self.kind}.{self.number}"


def kind_of(tool: ToolCard) -> Kind:
    """What a tool is for, by what its name and description speak of."""
    if tool.acts:
        return Kind.ACT
    if tool.with_role(Role.REFERENCE) and tool.with_role(Role.OFFSET):
        return Kind.MORE
    about = tool.about
    weights = {
        Kind.LOGS: about[Idea.LOGS] + 0.3 * about[Idea.ERRORS] + 0.6 * about[Idea.ALERT] + tool.records,
        Kind.DOCS: about[Idea.DOCS] + 0.3 * about[Idea.ADVICE] + (2.0 if _TELLS_HOW.search(tool.description) else 0.0),
        Kind.CATALOG: about[Idea.CATALOG] + about[Idea.OWNER] + 0.3 * about[Idea.SERVICE] + _card(tool) - tool.records,
    }
    kind = max(weights, key=lambda candidate: weights[candidate])
    return kind if weights[kind] >= 2.0 else Kind.OTHER


_TELLS_HOW = re.compile(
    r"(?i)\b(?:what (?:to|\w+ (?:must|should|can|have to)) do|how (?:to|\w+) (?:handle|fix|resolve|deal|respond|react))\b"
    r"|怎么办|如何处理|处理方法"
)
_CARDS = listed("card map roster book profile registry directory who whois")


_CARD_OF = re.compile(
    r"(?i)\b(?:its|their) (?:own )?(?:id|ids|code|key|name|number|owner|slug|reference|contact)\b"
    r"|\b(?:resolve|details (?:of|about)|information (?:on|about)|profile of|look ?up an?)\b|按名称查"
)


def _card(tool: ToolCard) -> float:
    """Is it called what holds the cards of things, or does it say that it turns a name into an id?"""
    if tool.records >= 1:
        return 0.0
    single = len([parameter for parameter in tool.parameters if parameter.required]) == 1
    described = bool(_CARD_OF.search(tool.first_sentence)) and single
    return 2.0 if described or set(parts(tool.name)) & _CARDS else 0.0


_NOT_NOUNS = READING | {word for known in ENGLISH.values() for word in known} | {"tool", "tools", "by", "all", "info"}


def nouns_of(tools: Iterable[ToolCard]) -> frozenset[str]:
    """What the tools are about, from their names and those of their parameters: "vessel", "pump"."""
    found: set[str] = set()
    for tool in tools:
        kind = kind_of(tool)
        words = parts(tool.name) if kind in {Kind.CATALOG, Kind.ACT, Kind.OTHER} else ()
        words += tuple(w for p in tool.parameters if p.role in {Role.SUBJECT, Role.IDENTITY} for w in parts(p.name))
        found |= {singular(word) for word in words if len(word) > 2 and word not in _NOT_NOUNS}
        found |= {
            singular(w) for w in words if w in ENGLISH[Idea.CATALOG] and w not in {"catalog", "catalogue", "registry"}
        }
    return frozenset(found - _GENERAL)


def vocabulary_of(tools: Iterable[ToolCard]) -> frozenset[str]:
    """Words that are no names of things, since the tools themselves use them: allowed values, and what they measure."""
    found: set[str] = set()
    for tool in tools:
        found |= {word.lower() for word in re.findall(r"[\w-]+", first_sentence(tool.description))}
        for parameter in tool.parameters:
            if parameter.role not in {Role.SUBJECT, Role.IDENTITY, Role.SOURCE}:
                found |= {str(choice).lower() for choice in (*parameter.choices, *parameter.hints)}
    return frozenset(found)


_GENERAL = listed("name title status state check restart stop start number key code target subject label")
_FILE_NAME = re.compile(r"\b[A-Za-z0-9][\w.-]*\.(?:log|txt|json|jsonl|gz|csv|out|err)\b")


def names_offered(tools: Iterable[ToolCard]) -> tuple[str, ...]:
    """Names that log tools declare: files in their descriptions, values allowed for a service or a file."""
    found: list[str] = []
    for tool in tools:
        if kind_of(tool) is Kind.LOGS:
            found += _FILE_NAME.findall(tool.description)
            for parameter in tool.parameters:
                if parameter.role in {Role.SOURCE, Role.SUBJECT, Role.IDENTITY}:
                    found += [str(choice) for choice in parameter.choices]
                    found += _FILE_NAME.findall(parameter.description)
    return tuple(dict.fromkeys(found))


_HOW = re.compile(
    r"(?i)\bhow (?:do|to|can|should|would)\b|\bwhat (?:should|can|do|must) (?:i|we|one) do\b|\bwhat to do\b"
    r"|怎么(?!了|回事)|如何|该做什么"
)


def asks_how(question: Question) -> bool:
    """Does it ask what to do?"""
    return bool(_HOW.search(question.text))


_WHO_WHAT = re.compile(r"(?i)\bwho\b|\bwhat (?:is|are) (?!the (?:most|top|number|count))|谁|是什么|哪个团队")


def needs_of(question: Question, tools: tuple[ToolCard, ...]) -> tuple[Need, ...]:
    """The needs of a question that the tools can serve, in the order in which an answer tells them."""
    by_kind = {kind: _ranked(question, [tool for tool in tools if kind_of(tool) is kind]) for kind in Kind}
    wanted = _wanted(question, act=bool(acting := _acting(question, by_kind[Kind.ACT])))
    needs: list[Need] = []
    if acting:
        needs.append(Need(Kind.ACT, acting))
    data = _data_tools(question, tools, by_kind[Kind.LOGS]) if not acting else ()
    if data is None:
        wanted.discard(Kind.LOGS)
        if question.measured and by_kind[Kind.CATALOG] and not _others(question, tools):
            wanted.add(Kind.CATALOG)
    measured = question.measured and bool(data) and not wanted & {Kind.CATALOG}
    if measured or (Kind.LOGS in wanted and by_kind[Kind.LOGS]):
        needs += _log_needs(question, data or by_kind[Kind.LOGS], documented=Kind.DOCS in wanted)
    if Kind.DOCS in wanted and by_kind[Kind.DOCS]:
        needs.append(Need(Kind.DOCS, by_kind[Kind.DOCS]))
    taken = {need.tools[0].name for need in needs if need.kind is Kind.LOGS}
    others = tuple(tool for tool in _others(question, tools) if tool.name not in taken) if not acting else ()
    if measured:
        others = ()
    needs += [Need(Kind.OTHER, (tool,), (), n) for n, tool in enumerate(others[: 2 if not needs else 1])]
    if by_kind[Kind.CATALOG] and (Kind.CATALOG in wanted or _takes_names(question, needs)):
        needs.insert(0, Need(Kind.CATALOG, by_kind[Kind.CATALOG], aside=Kind.CATALOG not in wanted))
    return tuple(needs) or _last_resort(question, by_kind)


_SIDE_BY_SIDE = 3


def _besides(spellings: tuple[str, ...], things: tuple[str, ...]) -> tuple[str, ...]:
    """What is looked for, without the names of the things that it is looked for in."""
    kept = []
    for spelling in spellings:
        words = re.sub("|".join(map(re.escape, things)), " ", spelling, flags=re.IGNORECASE).split()
        while words and words[-1].lower() in STOP_ENGLISH:
            words.pop()
        while words and words[0].lower() in STOP_ENGLISH:
            words.pop(0)
        kept.append(" ".join(words))
    return tuple(dict.fromkeys(filter(None, kept)))


_SUITS = 1.5
_LISTS = 1.4


def _data_tools(
    question: Question, tools: tuple[ToolCard, ...], logs: tuple[ToolCard, ...]
) -> tuple[ToolCard, ...] | None:
    """Tools whose rows may hold the answer, the best first: logs, and others that list things of one sort.

    None when a tool that tells about one named thing suits better than all of them.
    """
    single = [tool for tool in tools if kind_of(tool) is Kind.OTHER and _needs_a_name(tool)]
    others = [tool for tool in tools if kind_of(tool) is Kind.OTHER and tool not in single]
    ranked = suiting(question, [*logs, *others, *single])
    best = [tool for score, tool in ranked if score >= _SUITS]
    if best and best[0] in single and not question.ideas & {Idea.LOGS, Idea.ERRORS}:
        return None
    if len(ranked) > 1 and len(logs) > 1 and not question.measured and ranked[0][1] in logs:
        return (ranked[0][1], *(tool for tool in logs if tool is not ranked[0][1]))
    if (
        not (best or question.starts or question.extreme)
        and question.candidates
        and not question.ideas & {Idea.LOGS, Idea.ERRORS, Idea.ALERT}
    ):
        return None
    if best and question.measured:
        return (best[0], *(tool for tool in logs if tool is not best[0]))
    listing = [tool for tool in others if tool.records >= _LISTS or (question.extreme and len(others) == 1)]
    return logs or tuple(listing[:1] if question.measured else ())


def _needs_a_name(tool: ToolCard) -> bool:
    """Does it tell about one thing only, which must be named?"""
    target = tool.with_role(Role.SUBJECT) or tool.with_role(Role.IDENTITY)
    return target is not None and target.required and not target.choices


def _log_needs(question: Question, tools: tuple[ToolCard, ...], *, documented: bool) -> list[Need]:
    """One search for each thing that the question names, or for each phrase that it looks for."""
    things, texts = question.subjects[:_SIDE_BY_SIDE], question.phrases[:_SIDE_BY_SIDE]
    takes = bool(tools[0].with_role(Role.SUBJECT) or tools[0].with_role(Role.IDENTITY) or tools[0].coded)
    if question.compares and not documented and len(things) < 2 and (pair := _pair(question, tools[0])):
        things, takes = pair, True
    if question.measured and texts and not question.dimension:
        texts = (_together(question, texts),)
    if len(things) > 1 and takes:
        text = next(filter(None, (_besides(text, things) for text in texts)), ())
        return [Need(Kind.LOGS, tools, text, number, subject=thing) for number, thing in enumerate(things)]
    if documented and not question.counts:
        texts = texts[:1]
    return [Need(Kind.LOGS, tools, text, number) for number, text in enumerate(texts or ((),))]


def _pair(question: Question, tool: ToolCard) -> tuple[str, ...]:
    """The two or three things that are set against each other, when they aren't called services."""
    sources = question.sources if tool.with_role(Role.SOURCE) else ()
    for things in (sources, _apart(question.candidates), question.rivals):
        if len(things) > 1:
            return tuple(things[:_SIDE_BY_SIDE])
    return ()


def _apart(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names without those that are part of another."""
    return tuple(name for name in names if not any(name != other and name in other for other in names))


def _together(question: Question, texts: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """All phrases as spellings of one search: a quoted one alone, else the longest first."""
    quoted = {word.text for word in question.words if word.quoted}
    named = {name.lower() for name in question.candidates} - {
        word.text.lower() for word in question.words if word.quoted
    }
    texts = tuple(text for text in texts if text[0].lower() not in named)
    spellings = [spelling for text in texts for spelling in text]
    exact = [spelling for spelling in spellings if spelling in quoted]
    first = [text[0] for text in texts]
    faults = [f"{text} {found[1]}" for text in first if (found := _erring(text).search(question.text))]
    first = [*faults, *first]
    return tuple(dict.fromkeys(exact or [*sorted(first, key=len, reverse=True), *spellings]))


def _erring(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?i){re.escape(text)}s? (error|exception|warning|alarm)")


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
    phrased = question.measured and bool(question.phrases) and all(_only_filters(need.tools[0]) for need in needs)
    return bool(question.candidates or phrased) and takes


def _only_filters(tool: ToolCard) -> bool:
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
