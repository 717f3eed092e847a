"""Whether what somebody filled in is what the schema asks for, said beside the field that is wrong.

The tool has the last word, when the answer is judged; this is to say it sooner. What was not touched is not judged: it
is what the call was proposed with.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, UnknownType, ValidationError, best_match
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from opspilot.core.messages import Json
from opspilot.web.forms.differences import changed, left_out
from opspilot.web.forms.fields import Fault, Field, Kind
from opspilot.web.forms.reading import Filled
from opspilot.web.forms.schemas import Schema

FAULTS: Final[Mapping[str, Fault]] = {
    "minimum": Fault.TOO_LOW,
    "exclusiveMinimum": Fault.NOT_ABOVE,
    "maximum": Fault.TOO_HIGH,
    "exclusiveMaximum": Fault.NOT_BELOW,
    "multipleOf": Fault.NO_MULTIPLE,
    "minLength": Fault.TOO_SHORT,
    "maxLength": Fault.TOO_LONG,
    "minItems": Fault.TOO_FEW,
    "minProperties": Fault.TOO_FEW,
    "maxItems": Fault.TOO_MANY,
    "maxProperties": Fault.TOO_MANY,
    "uniqueItems": Fault.TWICE,
    "required": Fault.LACKS,
    "additionalProperties": Fault.STRANGE,
    "type": Fault.OTHER_TYPE,
}


def checked(filled: Filled, schema: Schema, before: Mapping[str, Json]) -> Filled:
    """With a fault at each field whose new value is not as its schema wants it. `before`: what there was."""
    touched = {*changed(before, filled.values), *left_out(before, filled.values)}
    fields = filled.fields
    for error in _errors(schema, filled.values):
        place = [str(part) for part in error.absolute_path]
        if place and place[0] in touched:
            fields = tuple(_marked(field, place, error) for field in fields)
    return replace(filled, fields=fields)


def _marked(field: Field, place: Sequence[str], error: ValidationError) -> Field:
    """The field, or the one of those within it, with the first fault that it has."""
    depth = len(field.path)
    if list(field.path) != list(place[:depth]) or field.fault is not None:
        return field
    within = place[depth:]
    if field.kind is Kind.GROUP and within:
        return replace(field, fields=tuple(_marked(inner, place, error) for inner in field.fields))
    fault = FAULTS.get(str(error.validator), Fault.NOT_TAKEN)
    return replace(field, fault=fault, measure=_measure(error), where=_path(within))


def _errors(schema: Schema, values: Mapping[str, Json]) -> Iterator[ValidationError]:
    """What is wrong, the most telling of each union; nothing when the schema itself can't be used."""
    try:
        for error in Validator(dict(schema), registry=Registry()).iter_errors(dict(values)):
            yield best_match([error]) or error
    except (Unresolvable, SchemaError, UnknownType, re.error, RecursionError, ArithmeticError, *ILL_FORMED):
        return


ILL_FORMED: Final = (AttributeError, KeyError, TypeError, ValueError)
"""What a schema makes jsonschema raise that was never one."""


def _measure(error: ValidationError) -> Json:
    wanted: Json = error.validator_value
    found: Json = error.instance
    rule: Json = error.schema
    match error.validator:
        case "required":
            return ", ".join(name for name in wanted if name not in found)
        case "additionalProperties":
            return ", ".join(str(name) for name in found if name not in rule.get("properties", {}))
        case "type":
            return " / ".join(wanted) if isinstance(wanted, list) else wanted
    return wanted


def _path(parts: Sequence[str]) -> str:
    """`[0].size`, as one would write it."""
    return "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts).removeprefix(".")


def _no_check(*_: Any) -> Iterator[ValidationError]:
    """Patterns are the tool's: its engine reads them in linear time, and the one of this language may never end."""
    return iter(())


def _no_more(validator: Any, others: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if "patternProperties" not in schema:
        yield from Draft202012Validator.VALIDATORS["additionalProperties"](validator, others, instance, schema)


Validator: Final[Any] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {"pattern": _no_check, "patternProperties": _no_check, "additionalProperties": _no_more},
)
