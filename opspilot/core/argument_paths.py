"""What a tool's JSON Schema says of one argument, by the path with which rules name it, and whether a value fits there.

Knows as much of JSON Schema as tools declare; where it is not sure, something may be there.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from opspilot.core.messages import Json
from opspilot.core.policy import equals

Schema: TypeAlias = Mapping[str, Json]

_REF = "#/$defs/"
_MANY = ("anyOf", "oneOf", "allOf")
_MOST_REFS = 20
"""So many references one after the other are taken for a circle."""


def schemas_at(schema: Schema, path: str) -> tuple[Schema, ...]:
    """What may be said of the value at this path; empty when there can be none. `{}` says nothing: anything goes.

    A path may also be the one name of an argument that has dots in it.
    """
    return tuple(found for names in {(path,), tuple(path.split("."))} for found in _below(schema, names, schema))


def may_be(schemas: Sequence[Schema], value: Json) -> bool:
    """Whether a rule's value, which may be a pattern, fits any of these."""
    return any(_fits(schema, value) for schema in schemas)


def _below(schema: Schema, names: Sequence[str], root: Schema) -> Iterator[Schema]:
    for plain in _plain(schema, root):
        if not names:
            yield plain
            continue
        name, *rest = names
        properties: Mapping[str, Schema] = plain.get("properties", {})
        others = plain.get("additionalProperties", not properties)
        if name in properties:
            yield from _below(properties[name], rest, root)
        elif others and _may_be_object(plain):
            yield from _below(others if isinstance(others, Mapping) else {}, rest, root)


def _plain(schema: Schema, root: Schema, refs: int = 0) -> Iterator[Schema]:
    """The alternatives of a schema, with references followed."""
    ref = schema.get("$ref")
    if isinstance(ref, str):
        target = root.get("$defs", {}).get(ref.removeprefix(_REF))
        known = isinstance(target, Mapping) and refs < _MOST_REFS
        yield from _plain(target, root, refs + 1) if known else [{}]
    elif many := next((schema[key] for key in _MANY if key in schema), None):
        for one in many:
            yield from _plain(one, root, refs + 1)
    else:
        yield schema


def _may_be_object(schema: Schema) -> bool:
    return "object" in _types(schema) if "type" in schema else "enum" not in schema and "const" not in schema


def _types(schema: Schema) -> Sequence[str]:
    kinds = schema["type"]
    return [kinds] if isinstance(kinds, str) else kinds


def _fits(schema: Schema, value: Json) -> bool:
    if "const" in schema:
        return equals(schema["const"], value)
    if "enum" in schema:
        return any(equals(choice, value) for choice in schema["enum"])
    if "type" not in schema:
        return True
    if isinstance(value, bool):
        kinds = {"boolean"}
    elif isinstance(value, str):
        kinds = {"string"}
    else:
        kinds = {"number", "integer"} if float(value).is_integer() else {"number"}
    return not kinds.isdisjoint(_types(schema))
