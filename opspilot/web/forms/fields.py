"""From a JSON Schema and what is there now to the fields of a form.

Text, numbers, yes or no, choices, lists of lines and objects of these have fields of their own; anything else is a
field that takes JSON. Knows nothing of requests or pages.
"""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from opspilot.core.messages import Json

Schema: TypeAlias = Mapping[str, Json]

DEEPEST = 4
"""Objects within objects beyond this depth are JSON."""
LONG_CHARACTERS = 80
MOST_OPTIONS = 200
INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""General categories of characters that an input would lose or not show."""


class Kind(StrEnum):
    """What a field takes. `lines` is a list with one item a line, `group` an object with fields of its own."""

    TEXT = "text"
    LONG = "long"
    HIDDEN = "hidden"
    INTEGER = "integer"
    NUMBER = "number"
    YES_NO = "yes_no"
    CHOICE = "choice"
    LINES = "lines"
    GROUP = "group"
    JSON = "json"


class Fault(StrEnum):
    """Why what was typed can't be meant."""

    NEEDED = "needed"
    NO_INTEGER = "no_integer"
    NO_NUMBER = "no_number"
    NO_CHOICE = "no_choice"
    NO_JSON = "no_json"
    STAYS = "stays"


@dataclass(frozen=True)
class Field:
    """One field. `raw` is what its input holds; `value` what is there now, if `known`; `default` if `has_default`.

    `options` are what may be chosen (the raw text is the number of one), with `free` beside text of one's own. `item`
    is the kind of each line, `fields` are those of a group.
    """

    path: tuple[str, ...]
    kind: Kind
    about: str = ""
    required: bool = False
    nullable: bool = False
    known: bool = False
    value: Json = None
    raw: str = ""
    has_default: bool = False
    default: Json = None
    options: tuple[Json, ...] = ()
    free: bool = False
    least: float | None = None
    most: float | None = None
    item: Kind = Kind.TEXT
    fields: tuple["Field", ...] = ()
    fault: Fault | None = None

    @property
    def label(self) -> str:
        """What the parameter is called."""
        return self.path[-1]

    @property
    def name(self) -> str:
        """What its input is called: `a/limits/cpu`, as in a JSON Pointer."""
        return "/".join(["a", *(part.replace("~", "~0").replace("/", "~1") for part in self.path)])


def fields_of(schema: Schema, current: Mapping[str, Json]) -> tuple[Field, ...]:
    """The fields of an object's schema, and one of JSON for each value that it says nothing of."""
    return _fields(_plain(schema, schema), current, (), schema)


def asked_fields(names: Sequence[str], schema: Schema, options: Json) -> tuple[Field, ...]:
    """The fields of a question that asks for these names, with what it offers to choose from, if anything.

    What is offered to a question without a schema is a suggestion: text of one's own is as good.
    """
    declared = _plain(schema, schema).get("properties", {})
    return tuple(_asked(name, declared.get(name), _offered(name, names, options), schema) for name in names)


def _asked(name: str, rule: Json, offered: tuple[Json, ...], root: Schema) -> Field:
    if isinstance(rule, Mapping):
        return _field(rule, (name,), root, required=True)
    if offered:
        return Field((name,), Kind.CHOICE, required=True, options=offered, free=True)
    return Field((name,), Kind.LONG, required=True)


def _offered(name: str, names: Sequence[str], options: Json) -> tuple[Json, ...]:
    of_name = options.get(name) if isinstance(options, Mapping) else options if len(names) == 1 else None
    return tuple(of_name[:MOST_OPTIONS]) if isinstance(of_name, list) else ()


def _fields(schema: Schema, current: Mapping[str, Json], above: tuple[str, ...], root: Schema) -> tuple[Field, ...]:
    properties = {str(name): rule for name, rule in schema.get("properties", {}).items()}
    required = schema.get("required", ())
    declared = [
        _field(
            rule if isinstance(rule, Mapping) else {},
            (*above, name),
            root,
            required=name in required,
            **({"known": True, "value": current[name]} if name in current else {}),
        )
        for name, rule in properties.items()
    ]
    others = [
        Field((*above, name), Kind.JSON, known=True, value=value, raw=as_json(value))
        for name, value in current.items()
        if name not in properties
    ]
    return (*declared, *others)


def _field(
    rule: Schema, path: tuple[str, ...], root: Schema, *, required: bool, known: bool = False, value: Json = None
) -> Field:
    nullable, plain = _without_null(_plain(rule, root), root)
    shared = {
        "about": str(rule.get("description") or plain.get("description") or ""),
        "required": required,
        "nullable": nullable,
        "known": known,
        "value": value,
        "has_default": "default" in rule,
        "default": rule.get("default"),
    }
    if plain.get("writeOnly") is True or plain.get("format") == "password" or rule.get("writeOnly") is True:
        if plain.get("type") == "string" and (value is None or isinstance(value, str)):
            return Field(path, Kind.HIDDEN, raw=value or "", **shared)
        return Field(path, Kind.JSON, raw=as_json(value) if known else "", **shared)
    options = _options(plain)
    if options:
        if known and value is not None and not any(_same(value, option) for option in options):
            options = (*options, value)
        raw = next((str(at) for at, option in enumerate(options) if known and _same(value, option)), "")
        return Field(path, Kind.CHOICE, raw=raw, options=options, **shared)
    if known and value is not None and not _fits(value, plain, root):
        return Field(path, Kind.JSON, raw=as_json(value), **shared)
    return _typed(plain, path, root, value, shared)


def _typed(plain: Schema, path: tuple[str, ...], root: Schema, value: Json, shared: dict[str, Json]) -> Field:
    is_there = shared["known"] and value is not None
    match plain.get("type"):
        case "string":
            is_long = is_there and ("\n" in value or len(value) > LONG_CHARACTERS)
            return Field(path, Kind.LONG if is_long else Kind.TEXT, raw=value if is_there else "", **shared)
        case "integer" | "number" as type_:
            raw = json.dumps(value) if is_there else ""
            least, most = _bound(plain, "minimum"), _bound(plain, "maximum")
            return Field(path, Kind(type_), raw=raw, least=least, most=most, **shared)
        case "boolean":
            return Field(path, Kind.YES_NO, raw=json.dumps(value) if is_there else "", **shared)
        case "array" if (item := _line(plain, root)) is not None:
            raw = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in value or ())
            return Field(path, Kind.LINES, raw=raw, item=item, **shared)
        case "object" if _is_group(plain, path):
            inner = value if isinstance(value, Mapping) else {}
            return Field(path, Kind.GROUP, fields=_fields(plain, inner, path, root), **shared)
    return Field(path, Kind.JSON, raw=as_json(value) if shared["known"] else "", **shared)


def as_json(value: Json) -> str:
    """A value as JSON that can be read and typed: what can't be seen stands as escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return json.dumps(value, indent=2) if _has_invisible(text) else text


# ---------------------------------------------------------------- reading schemas


def _plain(rule: Schema, root: Schema) -> Schema:
    """Without a reference, and with what a lone `allOf` says."""
    for _ in range(10):
        reference, whole = rule.get("$ref"), rule.get("allOf")
        rest = {key: value for key, value in rule.items() if key not in {"$ref", "allOf"}}
        if isinstance(reference, str):
            rule = {**_referred(reference, root), **rest}
        elif isinstance(whole, list) and len(whole) == 1 and isinstance(whole[0], Mapping):
            rule = {**whole[0], **rest}
        else:
            break
    return rule


def _referred(reference: str, root: Schema) -> Schema:
    found: Json = root
    for part in reference.removeprefix("#").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _without_null(rule: Schema, root: Schema) -> tuple[bool, Schema]:
    """Whether null is good, too, and the rule for everything else."""
    types = rule.get("type")
    if isinstance(types, list):
        others = [type_ for type_ in types if type_ != "null"]
        return "null" in types, {**rule, "type": others[0] if len(others) == 1 else others}
    for union in ("anyOf", "oneOf"):
        branches = rule.get(union)
        if isinstance(branches, list):
            others = [each for each in branches if isinstance(each, Mapping) and each.get("type") != "null"]
            nullable = len(others) < len(branches)
            if len(others) == 1:
                rest = {key: value for key, value in rule.items() if key != union}
                return nullable, {**_plain(others[0], root), **rest}
            return nullable, {**rule, union: others}
    return False, rule


def _options(rule: Schema) -> tuple[Json, ...]:
    offered = rule.get("enum")
    if isinstance(offered, list) and 0 < len(offered) <= MOST_OPTIONS:
        return tuple(each for each in offered if each is not None)
    for union in ("anyOf", "oneOf"):
        branches = rule.get(union)
        if isinstance(branches, list) and branches and all("const" in each for each in branches):
            return tuple(each["const"] for each in branches[:MOST_OPTIONS])
    return ()


def _line(rule: Schema, root: Schema) -> Kind | None:
    """The kind of the items, if each fits on a line."""
    items = rule.get("items")
    if not isinstance(items, Mapping) or "prefixItems" in rule:
        return None
    plain = _plain(items, root)
    type_ = plain.get("type")
    if _options(plain) or type_ not in {"string", "integer", "number"}:
        return None
    return Kind.TEXT if type_ == "string" else Kind(type_)


def _is_group(rule: Schema, path: tuple[str, ...]) -> bool:
    others = rule.get("additionalProperties")
    return bool(rule.get("properties")) and not isinstance(others, Mapping) and len(path) < DEEPEST


def _fits(value: Json, rule: Schema, root: Schema) -> bool:
    """Whether an input of this rule's kind can show this value without changing it."""
    match rule.get("type"):
        case "string":
            return isinstance(value, str) and not _has_invisible(value) and "\r" not in value
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list) and all(_fits_line(each, _line(rule, root)) for each in value)
        case "object":
            return isinstance(value, Mapping)
    return True


def _fits_line(value: Json, kind: Kind | None) -> bool:
    match kind:
        case Kind.TEXT:
            return isinstance(value, str) and value == value.strip() != "" and value.isprintable()
        case Kind.INTEGER | Kind.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
    return True


def _has_invisible(text: str) -> bool:
    return any(unicodedata.category(each) in INVISIBLE for each in text if each not in "\n\t")


def _bound(rule: Schema, name: str) -> float | None:
    bound = rule.get(name)
    return bound if isinstance(bound, int | float) and not isinstance(bound, bool) else None


def _same(one: Json, other: Json) -> bool:
    """Equal as JSON: true is not 1."""
    return type(one) is type(other) and bool(one == other)
