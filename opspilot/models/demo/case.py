"""What the planner has in hand when it decides: question, tools, needs, and the calls made so far, filed by need."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from opspilot.core.messages import Json
from opspilot.models.demo.arguments import Wish
from opspilot.models.demo.findings import Entity
from opspilot.models.demo.history import Done, call_key
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.question import Question
from opspilot.models.demo.searches import Need
from opspilot.models.demo.toolbox import Parameter, Role, ToolCard
from opspilot.models.demo.words import CJK, likeness, most_like, parts, plain, stem


@dataclass(frozen=True)
class Proposal:
    """A call to make, and the need that it serves."""

    need: str
    tool: str
    arguments: dict[str, Json]

    @property
    def key(self) -> str:
        """The same for the same call."""
        return call_key(self.tool, self.arguments)


@dataclass(frozen=True)
class Filed:
    """A call that was made, filed under the need that it served."""

    need: str
    call: Done


@dataclass(frozen=True)
class Case:
    """Everything that a decision rests on. `known` are results of earlier questions: good for names only.

    `steered`: the question was changed by a message that came after calls had been made for it.
    """

    question: Question
    tools: tuple[ToolCard, ...]
    needs: tuple[Need, ...]
    filed: tuple[Filed, ...] = ()
    known: tuple[Done, ...] = ()
    steered: bool = False

    def asks_anew(self, first: Sequence[Proposal]) -> bool:
        """Did a later message change what is looked for, so that even the first call for it is still to be made?"""
        return self.steered and bool(first) and not any(self.made(proposal.key) for proposal in first)

    def calls(self, need: Need) -> tuple[Done, ...]:
        """The calls made for one need."""
        return tuple(filed.call for filed in self.filed if filed.need == need.id)

    def calls_of(self, kind: Kind) -> tuple[Done, ...]:
        """The calls made for all needs of a kind."""
        return tuple(filed.call for filed in self.filed if filed.need.startswith(f"{kind}."))

    def need(self, kind: Kind) -> Need | None:
        """The first need of a kind."""
        return next((need for need in self.needs if need.kind is kind), None)

    def made(self, key: str) -> bool:
        """Was this very call made before?"""
        return any(filed.call.key == key for filed in self.filed)

    def after(self, filed: Iterable[Filed]) -> "Case":
        """The same case some calls later."""
        return replace(self, filed=(*self.filed, *filed))

    @property
    def subject(self) -> str:
        """The thing that the question is about, as the question names it."""
        return self.named or next(iter(self.question.names), "")

    @property
    def named(self) -> str:
        """What surely names a thing: because of the words beside it, or because the results know it by that name."""
        known = (candidate for candidate in self.question.candidates if self.entity(candidate))
        called = {plain(value) for entity in self.entities for value in names_in(entity)}
        words = (word.text for word in self.question.words if word.content and plain(word.text) in called)
        phrases = (text[0] for text in self.question.phrases if plain(text[0]) in called)
        return next(iter(self.question.subjects), "") or next(known, "") or next(phrases, "") or next(words, "")

    def wish(self) -> Wish:
        """What every call of this case is about."""
        question = self.question
        source = question.sources[0] if question.sources else ""
        return Wish(question.text, subject=self.subject, source=source, span=question.span)

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The things in the results so far. What documents and logs return are no things with names."""
        talk = {tool.name for tool in self.tools if kind_of(tool) in {Kind.DOCS, Kind.LOGS}}
        about = (filed.call for filed in self.filed if not filed.need.startswith((f"{Kind.LOGS}.", f"{Kind.DOCS}.")))
        calls = (*about, *self.known)
        return tuple(entity for call in calls if call.tool not in talk for entity in call.findings.entities)

    def entity(self, name: str) -> Entity | None:
        """The thing in the results so far that a name means; None when nothing there is like it."""
        entities = self.entities
        scored = [(max(_alike(name, entity), default=0.0), -position) for position, entity in enumerate(entities)]
        best = max(scored, default=(0.0, 0))
        return entities[-best[1]] if best[0] >= 0.5 else None

    def is_clear(self, name: str) -> bool:
        """Does the name mean one thing only? What acts must not choose between things that fit equally well."""
        unique: list[Entity] = []
        for entity in self.entities:
            if entity not in unique:
                unique.append(entity)
        fits = sorted((max(_alike(name, entity), default=0.0) for entity in unique), reverse=True)
        return bool(fits) and fits[0] >= 0.5 and (len(fits) == 1 or fits[0] > fits[1])


_NAMING = listed("name title id key slug code label alias aliases display displayname 名称 标题 编号 别名")


_RELATIONS = {
    stem(word)
    for word in listed(
        "depend depends dependencies upstream upstreams uses needs requires supplied fed feeds parents relies consumes "
        "backends providers inputs"
    )
}


def is_relation(key: str) -> bool:
    """Does a field of this name say what a thing needs?"""
    return "依赖" in key or bool({stem(word) for word in parts(key)} & _RELATIONS)


def names_in(entity: Entity) -> Iterable[str]:
    """What a thing is called: the values of its naming fields."""
    return (value for key, values in entity.fields.items() if set(parts(key)) & _NAMING for value in values)


def _alike(name: str, entity: Entity) -> Iterable[float]:
    for key, values in entity.fields.items():
        weight = 1.0 if set(parts(key)) & _NAMING or key in _NAMING else 0.6
        for value in values:
            yield weight * likeness(name, value)


def identify(parameter: Parameter, name: str, case: Case) -> str | None:
    """The value by which a parameter knows a thing: what the results call it under the parameter's name, or its id.

    None when the results know no such thing.
    """
    entity = case.entity(name)
    if entity is None:
        return None
    wanted = parts(parameter.name)
    fields: dict[str, str] = {}
    for key, values in entity.fields.items():
        fields.setdefault(key.rpartition(".")[2] or key, values[0])
    for key, value in fields.items():
        if parts(key) == wanted:
            return value
    ids, names = ("id", "key", "code", "编号"), ("name", "名称")
    spoken = f"{' '.join(wanted)} {parameter.description}"
    by_id = parameter.role is Role.IDENTITY or re.search(r"(?i)\bids?\b|编号", spoken)
    for ending in (*ids, *names) if by_id else (*names, *ids):
        for key, value in fields.items():
            if parts(key)[-1:] == (ending,):
                return value
    return next(iter(fields.values()), None)


def acted_on(tool: ToolCard) -> Parameter | None:
    """The parameter that takes the thing on which a tool acts."""
    named = (p for p in tool.parameters if p.role in {Role.SUBJECT, Role.IDENTITY})
    texts = (p for p in tool.parameters if p.required and p.role is Role.OTHER and p.type == "string" and not p.choices)
    return next(named, None) or next(texts, None)


def needs_lookup(parameter: Parameter, name: str) -> bool:
    """Is this name unlikely to be what the parameter wants, before a catalogue was asked?"""
    if not name:
        return parameter.required
    if CJK.search(name):
        return True
    return parameter.role is Role.IDENTITY and not re.search(r"\d", name)


_ASKING = re.compile(
    r"(?i)did you mean|available|\bknown|one of|there are|exist|try|perhaps|是不是|是否指|可用|可选|已有|现有|有：|有:"
)
_QUOTED = re.compile(r"['\"`‘’“”「」]([^'\"`‘’“”「」\n]{1,80})['\"`‘’“”「」]")


_OFFERING = listed(
    "available options suggestions suggestion known similar candidates choices did you mean names values"
)


def offered(call: Done, parameter: str = "") -> tuple[str, ...]:
    """Names that a result or an error offers instead: its lists of options, and what its message quotes or lists.

    A list that is named after something else than the parameter ("files", for a service) is no offer for it.
    """
    wanted = {form for word in parts(parameter) for form in (word, f"{word}s", f"{word}es")}
    names = [name for group, name in call.findings.options if not wanted or set(parts(group)) & (wanted | _OFFERING)]
    for text in (call.message, *call.findings.notes):
        if found := _ASKING.search(text):
            tail = text[found.start() :]
            names += _QUOTED.findall(tail)
            listing = re.split(r"[:：]|\bmean\b|\bof\b", tail, maxsplit=1)[-1]
            names += [
                piece.strip(" '\"`“”「」.。?？)(") for piece in re.split(r"[,，、;；]|\bor\b|\band\b|或", listing)
            ]
    tried = [str(value) for value in call.arguments.values() if str(value)]
    fresh = (name for name in names if 0 < len(name) <= 80 and name not in tried)
    return tuple(dict.fromkeys(name for name in fresh if not any(value in name and " " in name for value in tried)))


def suggestion(call: Done, wanted: str, parameter: str = "") -> str | None:
    """The offered name that fits best."""
    return most_like(wanted, offered(call, parameter), 0.3) if wanted else None


def meant(call: Done) -> tuple[Entity, ...]:
    """The thing that a look-up's arguments mean; all of its things when none is like them."""
    scored = [
        (
            max((score for value in call.arguments.values() for score in _alike(str(value), entity)), default=0.0),
            -position,
        )
        for position, entity in enumerate(call.findings.entities)
    ]
    best = max(scored, default=(0.0, 0))
    return (call.findings.entities[-best[1]],) if best[0] >= 0.5 else call.findings.entities


def catalog_of(case: Case) -> ToolCard | None:
    """A tool that can tell what a name means."""
    return next((tool for tool in case.tools if kind_of(tool) is Kind.CATALOG), None)
