"""From a JSON Schema and what is there now to the fields of a form.

Text, dates, numbers, yes or no, one choice or several, lists of lines and objects of these have fields of their own;
anything else is a field that takes JSON. Knows nothing of requests or pages.
"""

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from opspilot.core.messages import Json
from opspilot.web.forms.schemas import MOST_OPTIONS, Schema, example, options_of, plain_of, takes_null, without_null

DEEPEST = 4
"""Objects within objects beyond this depth are JSON."""
LONG_CHARACTERS = 80
LONG_AT_MOST = 500
"""A text that may have so many characters may have several lines."""
MOST_BOXES = 30
EXAMPLE_CHARACTERS = 300
TOLD_FORMS = frozenset({"date-time", "time", "duration"})
"""Formats that people are told how to write."""
LONG_FORMS = frozenset({"markdown", "multiline", "textarea"})
INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""General categories of characters that an input would lose or not show."""


class Kind(StrEnum):
    """What a field takes. `lines` is a list with one item a line, `group` an object with fields of its own.

    `choices` are any number of options, each once, in their order.
    """

    TEXT = "text"
    LONG = "long"
    DATE = "date"
    HIDDEN = "hidden"
    INTEGER = "integer"
    NUMBER = "number"
    YES_NO = "yes_no"
    CHOICE = "choice"
    CHOICES = "choices"
    LINES = "lines"
    GROUP = "group"
    JSON = "json"


class Fault(StrEnum):
    """Why what was typed can't be meant."""

    NEEDED = "needed"
    NO_INTEGER = "no_integer"
    NO_NUMBER = "no_number"
    NO_CHOICE = "no_choice"
    NO_DATE = "no_date"
    NO_JSON = "no_json"
    TOO_LOW = "too_low"
    NOT_ABOVE = "not_above"
    TOO_HIGH = "too_high"
    NOT_BELOW = "not_below"
    NO_MULTIPLE = "no_multiple"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    TOO_FEW = "too_few"
    TOO_MANY = "too_many"
    TWICE = "twice"
    LACKS = "lacks"
    STRANGE = "strange"
    OTHER_TYPE = "other_type"
    NOT_TAKEN = "not_taken"


@dataclass(frozen=True)
class Field:
    """One field. `raw` is what its input holds; `value` what is there now, if `known`; `default` if `has_default`.

    `options` are what may be chosen (the raw text is the number of one, or of several), with `free` beside text of
    one's own. `item` is the kind of each line, `fields` are those of a group. `form` is the format of a text, `shape`
    an example of what is to be typed as JSON. `gone`: it was taken away. What is wrong is a `fault`, with what it is
    measured by and, inside of JSON, `where` it is.
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
    form: str = ""
    shape: str = ""
    fields: tuple["Field", ...] = ()
    gone: bool = False
    fault: Fault | None = None
    measure: Json = None
    where: str = ""

    @property
    def may_be_empty(self) -> bool:
        """Whether an empty input says an empty text. Within an object it says that there is none."""
        return self.kind in {Kind.TEXT, Kind.LONG} and not self.form and len(self.path) == 1

    @property
    def may_go(self) -> bool:
        """Whether it takes a word of its own to take it away, since an empty input says something else."""
        if not self.known or self.value is None or self.value == "" or (self.has_default and self.default in ("", [])):
            return False
        if self.may_be_empty:
            return not (self.required or self.nullable)
        return self.kind in {Kind.LINES, Kind.CHOICES, Kind.GROUP} and (self.nullable or not self.required)

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
    return _fields(plain_of(schema, schema), current, (), schema)


def taken_away(fields: Sequence[Field], names: Sequence[str]) -> tuple[Field, ...]:
    """The fields, those of these names as if somebody had taken their values away."""
    gone = [replace(field, gone=True) if field.may_go else replace(field, raw="") for field in fields]
    return tuple(away if field.label in names else field for field, away in zip(fields, gone, strict=True))


def asked_fields(names: Sequence[str], schema: Schema, options: Json) -> tuple[Field, ...]:
    """The fields of a question that asks for these names, with what it offers to choose from, if anything.

    What is offered to a question without a schema is a suggestion: text of one's own is as good.
    """
    declared = plain_of(schema, schema).get("properties", {})
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
    nullable, plain = without_null(plain_of(rule, root), root)
    nullable = nullable or takes_null(plain, root)
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
    options = options_of(plain)
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
            kind, form = _text_kind(plain, value if is_there else None), str(plain.get("format") or "")
            raw = value if is_there else ""
            return Field(path, kind, raw=raw, form=form if form in TOLD_FORMS else "", **shared)
        case "integer" | "number" as type_:
            raw = json.dumps(value) if is_there else ""
            least, most = _bounds(plain, Kind(type_))
            return Field(path, Kind(type_), raw=raw, least=least, most=most, **shared)
        case "boolean":
            return Field(path, Kind.YES_NO, raw=json.dumps(value) if is_there else "", **shared)
        case "array" if options := _boxes(plain, root):
            numbers = [at for at, option in enumerate(options) if any(_same(option, each) for each in value or ())]
            return Field(path, Kind.CHOICES, raw=",".join(map(str, numbers)), options=options, **shared)
        case "array" if (item := _line(plain, root)) is not None:
            raw = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in value or ())
            return Field(path, Kind.LINES, raw=raw, item=item, **shared)
        case "object" if _is_group(plain, path):
            inner = value if isinstance(value, Mapping) else {}
            return Field(path, Kind.GROUP, fields=_fields(plain, inner, path, root), **shared)
    shape = json.dumps(example(plain, root), ensure_ascii=False)
    shows = shared["value"] in (None, [], {}) and plain.get("type") and len(shape) <= EXAMPLE_CHARACTERS
    shape = shape if shows else ""
    return Field(path, Kind.JSON, raw=as_json(value) if shared["known"] else "", shape=shape, **shared)


def _text_kind(plain: Schema, value: str | None) -> Kind:
    if plain.get("format") == "date" and (value is None or _is_date(value)):
        return Kind.DATE
    known = value if value is not None else str(plain.get("default") or "")
    roomy = plain.get("format") in LONG_FORMS or (_bound(plain, "maxLength") or 0) >= LONG_AT_MOST
    return Kind.LONG if roomy or "\n" in known or len(known) > LONG_CHARACTERS else Kind.TEXT


def _is_date(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _boxes(plain: Schema, root: Schema) -> tuple[Json, ...]:
    """The options that each item is one of, if they are few."""
    items = plain.get("items")
    if not isinstance(items, Mapping) or "prefixItems" in plain:
        return ()
    options = options_of(plain_of(items, root))
    return options if len(options) <= MOST_BOXES else ()


def as_json(value: Json) -> str:
    """A value as JSON that can be read and typed: what can't be seen stands as escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return json.dumps(value, indent=2) if _has_invisible(text) else text


# ---------------------------------------------------------------- what an input can show


def _line(rule: Schema, root: Schema) -> Kind | None:
    """The kind of the items, if each fits on a line."""
    items = rule.get("items")
    if not isinstance(items, Mapping) or "prefixItems" in rule:
        return None
    plain = plain_of(items, root)
    type_ = plain.get("type")
    if options_of(plain) or type_ not in {"string", "integer", "number"}:
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
            if isinstance(value, list) and (options := _boxes(rule, root)):
                places = [next((at for at, option in enumerate(options) if _same(option, each)), -1) for each in value]
                return places == sorted(set(places)) and -1 not in places
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


def _bounds(rule: Schema, kind: Kind) -> tuple[float | None, float | None]:
    """The least and the most that a number may be, as far as they are numbers that it may be."""
    least, most = _bound(rule, "minimum"), _bound(rule, "maximum")
    if kind is Kind.INTEGER:
        above, below = _bound(rule, "exclusiveMinimum"), _bound(rule, "exclusiveMaximum")
        least = least if above is None else max(math.floor(above) + 1, -math.inf if least is None else least)
        most = most if below is None else min(math.ceil(below) - 1, math.inf if most is None else most)
    return least, most


def _same(one: Json, other: Json) -> bool:
    """Equal as JSON: true is not 1."""
    return type(one) is type(other) and bool(one == other)
