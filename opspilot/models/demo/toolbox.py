"""Reading a declared tool: what it is about, whether it changes the world, and what each of its parameters is for.

All it goes by is the tool's own name, description and JSON schema. No tool is known by name.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from opspilot.core.messages import Json, ToolSpec
from opspilot.models.demo.glossary import ACTIONS, DETERMINERS, READING, READING_CHINESE, VAGUE_ACTIONS
from opspilot.models.demo.lexicon import STOP_ENGLISH, Idea, listed
from opspilot.models.demo.words import ideas_in, parts, stems


class Role(StrEnum):
    """What a parameter is for, as far as its name and description tell."""

    QUERY = "query"
    REGEX = "regex"
    SOURCE = "source"
    SUBJECT = "subject"
    IDENTITY = "identity"
    LEVEL = "level"
    SINCE = "since"
    UNTIL = "until"
    SPAN = "span"
    GROUP = "group"
    SORT = "sort"
    DIRECTION = "direction"
    ENVIRONMENT = "environment"
    REASON = "reason"
    REFERENCE = "reference"
    OFFSET = "offset"
    OTHER = "other"


@dataclass(frozen=True)
class Parameter:
    """One parameter. `choices` are the only values allowed, when there are any; `listed` wants a list of the value.

    `hints` are values that its description lists, such as "open, closed or waiting".
    """

    name: str
    description: str
    type: str
    role: Role
    required: bool = False
    choices: tuple[Json, ...] = ()
    listed: bool = False
    pattern: str = ""
    format: str = ""
    least: float | None = None
    most: float | None = None
    shortest: int = 0
    longest: int | None = None
    hints: tuple[str, ...] = ()

    @property
    def limits(self) -> bool:
        """Does it say how many rows to return at most?"""
        words = set(parts(self.name))
        turning = "page" in words and not words & {"size", "per", "limit"}
        return self.type == "integer" and self.role is Role.OTHER and bool(words & _LIMIT_NAMES) and not turning

    @property
    def words(self) -> frozenset[str]:
        """Stems of its name and description."""
        return stems(self.name) | stems(self.description)


@dataclass(frozen=True)
class ToolCard:
    """A tool as the planner sees it. `about` weighs the ideas that its name (heavily) and its description speak of.

    `records` weighs how much it looks like one that lists what happened: by its words, and by what it can filter by.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    about: Mapping[Idea, float]
    acts: bool
    records: float = 0.0

    def with_role(self, role: Role) -> Parameter | None:
        """The parameter of this role: a required one before an optional one."""
        fitting = [parameter for parameter in self.parameters if parameter.role is role]
        return min(fitting, key=lambda parameter: not parameter.required, default=None)

    @property
    def coded(self) -> tuple[Parameter, ...]:
        """Parameters that take one of a few names of things, such as the codes of places."""
        return tuple(p for p in self.parameters if p.choices and p.role in _CODED and p.type == "string")

    @property
    def first_sentence(self) -> str:
        """The description up to its first full stop."""
        return first_sentence(self.description)


_CODED = {Role.OTHER, Role.SUBJECT, Role.IDENTITY, Role.SOURCE}


def first_sentence(text: str) -> str:
    """A text up to its first full stop or blank line."""
    return re.split(r"(?<=[.。!?！？])\s|(?<=[。！？])|\n\s*\n", text.strip(), maxsplit=1)[0].strip()


_ROLE_NAMES: tuple[tuple[Role, frozenset[str]], ...] = (
    (Role.REFERENCE, listed("ref reference cursor token handle")),
    (Role.OFFSET, frozenset({"offset"})),
    (Role.GROUP, listed("group facet aggregate dimension breakdown by tally bucket groupby countby")),
    (Role.LEVEL, listed("level severity priority loglevel grade")),
    (Role.SINCE, listed("since start begin from after earliest")),
    (Role.UNTIL, listed("until end before to latest")),
    (Role.SPAN, listed("hours minutes days seconds window lookback period duration timeframe")),
    (Role.REASON, listed("reason comment note justification why explanation")),
    (Role.ENVIRONMENT, listed("environment env stage")),
    (Role.REGEX, listed("regex regexp pattern re")),
    (
        Role.QUERY,
        listed(
            "query q text keyword keywords search term terms phrase contains containing question needle "
            "words topic message substring find about grep match like"
        ),
    ),
    (Role.SOURCE, listed("file path filename logfile source stream log document doc folder")),
)
_SORT_NAMES = listed("sort order sortby orderby rank ranking sorted ordered 排序")
_LIMIT_NAMES = listed("limit top take rows first keep lines size count n max most results page entries number")
ASCENDING = listed("asc ascending oldest earliest smallest lowest forward up increasing 升序")
DESCENDING = listed("desc descending newest latest largest highest reverse reversed backward down decreasing 降序")
_IDENTITY_NAMES = listed("id ids key code uid uuid number no slug")
_IDENTIFIER = re.compile(r"(?i)^(?:the )?(?:\w+ )?(?:id|identifier|code|key)(?: of|[.,;]|$)|^\w{0,6}编号")
_SUBJECT_NAMES = listed("name title subject target host user label")
_REGEX_WORDS = re.compile(r"(?i)regular expression|\bregexp?\b|正则")
_GROUP_WORDS = re.compile(r"(?i)\b(count|group|tally|aggregate|break down)\w* (\w+ )?(by|per)\b|分组|按.{0,6}统计")


def read_tool(spec: ToolSpec) -> ToolCard:
    """Understand one tool. A schema that can't be read gives a tool without parameters."""
    schema: Mapping[str, Json] = spec.input_schema
    properties = schema.get("properties")
    required = schema.get("required")
    names = set(required) if isinstance(required, list | tuple) else set()
    parameters = tuple(
        _parameter(str(name), value, schema, required=name in names)
        for name, value in (properties.items() if isinstance(properties, Mapping) else ())
        if isinstance(value, Mapping)
    )
    if not any(parameter.role is Role.OFFSET for parameter in parameters):
        parameters = tuple(
            replace(parameter, role=Role.IDENTITY) if parameter.role is Role.REFERENCE else parameter
            for parameter in parameters
        )
    return ToolCard(
        spec.name, spec.description, parameters, _about(spec, parameters), _acts(spec), _records(spec, parameters)
    )


_RECORDING = listed("history trail records messages stream accounting transactions activity audit requests")
_FILTERS = {Role.SINCE, Role.UNTIL, Role.SPAN, Role.LEVEL, Role.GROUP, Role.SORT, Role.DIRECTION}


def _records(spec: ToolSpec, parameters: Iterable[Parameter]) -> float:
    said = set(parts(spec.name)) | set(parts(first_sentence(spec.description)))
    given = list(parameters)
    if len(given) == 1 and given[0].required:
        return 0.0
    roles = {parameter.role for parameter in given}
    return (1.9 if said & _RECORDING else 0.0) + 0.75 * min(len(roles & _FILTERS), 2)


def _parameter(name: str, raw: Mapping[str, Json], schema: Mapping[str, Json], *, required: bool) -> Parameter:
    description = str(raw.get("description", ""))
    value = _narrowed(raw, schema)
    listed = value.get("type") == "array"
    if listed:
        items = value.get("items")
        value = _narrowed(items, schema) if isinstance(items, Mapping) else {"type": "string"}
    role = _role_by_choices(value.get("enum")) or _role(name, description, str(value.get("type", "string")))
    if role is Role.GROUP and required and not _GROUP_WORDS.search(f"{' '.join(parts(name))} {description}"):
        role = Role.SUBJECT
    choices = value.get("enum", [value["const"]] if "const" in value else [])
    kind = value.get("type", "string" if not choices or isinstance(choices[0], str) else "number")
    return Parameter(
        name,
        description or str(value.get("description", "")),
        str(kind),
        role,
        required=required,
        choices=tuple(choices) if isinstance(choices, list | tuple) else (),
        listed=listed,
        hints=() if choices else _hints(description or str(value.get("description", ""))),
        pattern=str(value.get("pattern", "")),
        format=str(value.get("format", "")),
        least=_number(value.get("minimum", value.get("exclusiveMinimum"))),
        most=_number(value.get("maximum", value.get("exclusiveMaximum"))),
        shortest=int(_number(value.get("minLength")) or 0),
        longest=None if (longest := _number(value.get("maxLength"))) is None else int(longest),
    )


_LIST_OF_VALUES = re.compile(r"[\w-]+(?:,\s*[\w-]+)*,?\s+or\s+[\w-]+(?=\s*[.;(),]|\s*$)|[\w-]+(?:\s*[|/]\s*[\w-]+)+")


def _hints(description: str) -> tuple[str, ...]:
    found = _LIST_OF_VALUES.search(re.sub(r"['\"`]", "", description))
    words = [word for word in re.findall(r"[\w-]+", found[0]) if word != "or"] if found else []
    return () if any(word.lower() in STOP_ENGLISH for word in words) else tuple(words)


_GRADES = listed(
    "low medium moderate high severe critical fatal error err warning warn info notice debug alarm minor major "
    "信息 提示 警告 告警 错误 严重 致命 调试 一般 故障 异常"
)


def _grades(choices: Json) -> bool:
    """Are these the steps of a scale of severity?"""
    names = choices if isinstance(choices, list) else []
    return sum(isinstance(name, str) and name.lower() in _GRADES for name in names) > 1


def _role_by_choices(choices: Json) -> Role | None:
    """What the values allowed tell: a scale of severity, or the two ends of an order."""
    names = {name.lower() for name in choices if isinstance(name, str)} if isinstance(choices, list) else set()
    if len(names) > 1 and names <= ASCENDING | DESCENDING:
        return Role.DIRECTION
    return Role.LEVEL if _grades(choices) else None


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _narrowed(raw: Mapping[str, Json], schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """One plain schema: references followed, and of alternatives the first that isn't null."""
    value: Mapping[str, Json] = raw
    for _ in range(8):
        reference = value.get("$ref")
        options = value.get("anyOf") or value.get("oneOf") or value.get("allOf")
        if isinstance(reference, str):
            target = _pointed(schema, reference)
        elif isinstance(options, list):
            mappings = [option for option in options if isinstance(option, Mapping) and option.get("type") != "null"]
            target = mappings[0] if mappings else {}
        elif isinstance(value.get("type"), list):
            kinds = [kind for kind in value["type"] if kind != "null"]
            return {**value, "type": kinds[0] if kinds else "string"}
        else:
            return value
        value = {**{k: v for k, v in value.items() if k not in {"$ref", "anyOf", "oneOf", "allOf"}}, **target}
    return {}


def _pointed(schema: Mapping[str, Json], reference: str) -> Mapping[str, Json]:
    node: Json = schema
    for step in reference.removeprefix("#/").split("/"):
        node = node.get(step) if isinstance(node, Mapping) else None
    return node if isinstance(node, Mapping) else {}


def _role(name: str, description: str, kind: str) -> Role:
    words = parts(name)
    if kind == "boolean":
        return Role.DIRECTION if set(words) & (ASCENDING | DESCENDING) else Role.OTHER
    if kind == "string" and set(words) & _SORT_NAMES:
        return Role.SORT
    if kind == "string" and _GROUP_WORDS.search(f"{' '.join(words)} {description}") and not _is_query(words):
        return Role.GROUP
    for role, names in _ROLE_NAMES:
        if names & set(words):
            fits = kind == "string" or role in {Role.SPAN, Role.OFFSET}
            if fits and not (role is Role.SOURCE and set(words) & _IDENTITY_NAMES):
                plain = role is Role.REGEX and not _REGEX_WORDS.search(f"{name} {description}")
                return Role.QUERY if plain else role
    if kind in {"integer", "number"}:
        return Role.IDENTITY if set(words) & {"id", "uid"} else Role.OTHER
    if kind != "string":
        return Role.OTHER
    if set(words) & _IDENTITY_NAMES or _IDENTIFIER.search(description):
        return Role.IDENTITY
    if set(words) & _SUBJECT_NAMES or ideas_in(name) & {Idea.SERVICE, Idea.CATALOG, Idea.HOST, Idea.USER}:
        return Role.SUBJECT
    return Role.REGEX if _REGEX_WORDS.search(description) else Role.OTHER


def _is_query(words: Iterable[str]) -> bool:
    queries = next(names for role, names in _ROLE_NAMES if role is Role.QUERY)
    return bool(queries & set(words))


_TOPICS = (Idea.LOGS, Idea.DOCS, Idea.CATALOG, Idea.OWNER, Idea.ERRORS, Idea.ADVICE, Idea.SERVICE, Idea.ALERT)


def _about(spec: ToolSpec, parameters: Iterable[Parameter]) -> dict[Idea, float]:
    """How much a tool is about each idea. A name says more than a first sentence, that more than the rest."""
    weights = dict.fromkeys(_TOPICS, 0.0)
    opening = first_sentence(spec.description)
    texts = [(spec.name, 3.0), (opening, 2.0), (spec.description[len(opening) :], 0.5)]
    texts += [(f"{parameter.name} {parameter.description}", 0.25) for parameter in parameters]
    for text, weight in texts:
        for idea in ideas_in(text):
            if idea in weights:
                weights[idea] += weight
    return weights


ACTION_WORDS = frozenset(word for words, _ in ACTIONS.values() for word in words)
ACTION_WORDS_CHINESE = tuple(word for _, words in ACTIONS.values() for word in words)


_RECORDS = listed("history log logs report reports events journal list records")
"""What was done is kept in these: `restart_history` reads."""


_DOCUMENTS = listed(
    "runbook runbooks playbook document documents doc page article manual file report handbook guide wiki"
)
"""What is opened to be read."""


_PLURAL = re.compile(r"(?<!s)s$")
"""`restart_requests` lists what was asked for, unless its description begins with a deed."""


def _must_justify(spec: ToolSpec) -> bool:
    """Must a call give its reason? Nobody has to give one for reading."""
    required = spec.input_schema.get("required")
    names = (
        {word for name in required if isinstance(name, str) for word in parts(name)}
        if isinstance(required, list)
        else set()
    )
    return bool(names & {"reason", "justification"}) and not {"code", "filter"} & names


def _acts(spec: ToolSpec) -> bool:
    """Does the tool change something? Said by the first verb of its name, else by that of its description."""
    words = parts(spec.name)
    if words[-1:] and words[-1] in _RECORDS:
        return False
    if words[:1] == ("open",) and words[-1] in _DOCUMENTS:
        return False
    verb = next((word for word in words if word in READING or word in ACTION_WORDS), "")
    if verb in READING or (verb in VAGUE_ACTIONS and READING & set(words)):
        return False
    if _must_justify(spec):
        return True
    described = parts(" ".join(spec.description.split()[:2]))
    vague = bool(set(described[:1]) & VAGUE_ACTIONS) and not set(described[1:]) & DETERMINERS
    deed = {form for word in described[:1] for form in (word, word.removesuffix("s"), word.removesuffix("es"))}
    deed = set() if vague else deed
    if verb and words[0] == verb and words[-1] != verb and _PLURAL.search(words[-1]) and not deed & ACTION_WORDS:
        return False
    if verb and words[0] == verb:
        return True
    if spec.description.startswith(READING_CHINESE):
        return False
    if spec.description.startswith(ACTION_WORDS_CHINESE):
        return True
    opening = parts(" ".join(spec.description.split()[:2]))
    forms = {form for word in opening[:1] for form in (word, word.removesuffix("s"), word.removesuffix("es"))}
    vague = bool(set(opening[:1]) & VAGUE_ACTIONS and set(opening[1:]) & DETERMINERS)
    return not forms & READING and bool(forms & (ACTION_WORDS - VAGUE_ACTIONS) or vague or verb)
