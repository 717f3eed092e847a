"""Sensitive arguments: which ones a tool's schema marks, where they are in a call, and the mask that others see.

The journal alone has their values. Each entry that holds some names their places, so that `masked` needs no tool to
hide them. Knows nothing of what secrets look like: that is for redaction.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeAlias

from opspilot.core.entries import Entry, Kind
from opspilot.core.messages import Json

MASK = "[redacted:sensitive]"
"""Stands for a sensitive value. As an answer to a question it says that the value stays what it is."""

SHORTEST = 4
"""A sensitive text of fewer characters isn't looked for in other texts: it would be found in every other word."""

Schema: TypeAlias = Mapping[str, Json]

_UNIONS = ("anyOf", "oneOf", "allOf")
_MOST_REFERENCES = 1000


def pointers(schema: Schema, value: Json) -> list[str]:
    """Where sensitive values stand in what was given to a tool with this schema, as JSON Pointers (RFC 6901).

    The schema marks them with `writeOnly: true` or `format: password`. Where it marks any, what it doesn't expect is
    taken for one as well: a name that it doesn't know may be a misspelt one. A value of null hides nothing.
    """
    return list(_found(schema, value))


def mask(value: Json, places: Iterable[str]) -> Json:
    """A copy with `MASK` at these JSON Pointers; those that lead nowhere are passed over."""
    return _masked(value, [[_unescaped(name) for name in place.split("/")[1:]] for place in places])


def has_mask(value: Json) -> bool:
    """Does `MASK` stand for a value anywhere in it?"""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if part == MASK:
            return True
        waiting += part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ()
    return False


def unmasked(value: Json, before: Json) -> Json:
    """A copy in which each `MASK` is what stands in its place in `before`, if anything does: it stays what it was."""
    if value == MASK and before is not None:
        return before
    if isinstance(value, Mapping):
        known = before if isinstance(before, Mapping) else {}
        return {name: unmasked(item, known.get(name)) for name, item in value.items()}
    if isinstance(value, list):
        listed = before if isinstance(before, list) else []
        return [unmasked(item, old) for item, old in zip_longest(value, listed[: len(value)])]
    return value


def texts(value: Json, places: Iterable[str]) -> list[str]:
    """The sensitive texts at these JSON Pointers, longest first, but for the shortest."""
    known = {text for place in places for text in _texts(_at(value, place.split("/")[1:])) if len(text) >= SHORTEST}
    return sorted(known, key=lambda text: (-len(text), text))


def without(value: Json, secrets: Sequence[str]) -> Json:
    """A copy in which `MASK` stands for each of these texts, wherever they occur in texts and keys."""
    if not secrets:
        return value
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, list):
        return [without(item, secrets) for item in value]
    if isinstance(value, dict):
        return {without(name, secrets): without(item, secrets) for name, item in value.items()}
    return value


def in_answer(question: Mapping[str, Json], values: Mapping[str, Json]) -> list[str]:
    """Where sensitive values stand in what somebody answers to a question: the data of an `interrupt.opened` entry."""
    payload = question.get("payload") or {}
    form = payload.get("schema") if isinstance(payload, Mapping) else None
    schemas = [schema for schema in (question.get("schema"), form) if isinstance(schema, Mapping)]
    return sorted({place for schema in schemas for place in pointers(schema, dict(values))})


def masked(entry: Entry) -> Entry:
    """The entry as it may leave the journal: with a mask for each sensitive value."""
    if entry.kind is Kind.ASSISTANT_MESSAGE:
        return _masked_reply(entry)
    places = entry.data.get("sensitive")
    if not places:
        return entry
    hidden = {name: mask(entry.data[name], places) for name in ("arguments", "values") if name in entry.data}
    return replace(entry, data={**entry.data, **hidden})


def _masked_reply(entry: Entry) -> Entry:
    """The model's own words go back to it as they were; outside, its calls are masked, and what is opaque is left out.

    What stands in sentences stays: nobody can tell it from other words.
    """
    calls = entry.data.get("tool_calls") or []
    if not any(call.get("sensitive") for call in calls):
        return entry
    shown = [
        {**call, "arguments": _masked_text(call["arguments"], call["sensitive"])} if call.get("sensitive") else call
        for call in calls
    ]
    return replace(entry, data={**entry.data, "tool_calls": shown, "opaque": {}})


def _masked_text(arguments: str, places: Sequence[str]) -> str:
    try:
        return json.dumps(mask(json.loads(arguments), places), ensure_ascii=False)
    except (ValueError, RecursionError):
        return MASK


# ---------------------------------------------------------------- finding


def _found(root: Schema, value: Json) -> Iterator[str]:
    waiting: deque[tuple[Sequence[Schema], Json, str]] = deque([([root], value, "")])
    while waiting:
        schemas, value, place = waiting.popleft()
        known = _alternatives(schemas, root)
        if value is None:
            continue
        if any(_is_marked(schema) for schema in known):
            yield place
        elif isinstance(value, Mapping | list):
            for name, item, said in _items(known, value):
                below = f"{place}/{_escaped(name)}"
                if said is not None:
                    waiting.append((said, item, below))
                elif item is not None and _marks(known, root):
                    yield below
        elif any(schema.get("type") in ("object", "array") for schema in known) and _marks(known, root):
            yield place


def _items(
    known: Sequence[Schema], value: Mapping[str, Json] | list[Json]
) -> Iterator[tuple[str, Json, list[Schema] | None]]:
    """Name, value and schemas of each item; None when nothing is said of such an item."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name), item, _of_name(known, str(name))
    else:
        for index, item in enumerate(value):
            yield str(index), item, _of_index(known, index)


def _alternatives(schemas: Sequence[Schema], root: Schema) -> list[Schema]:
    """The schemas without references and unions: everything that one of them may say of a value."""
    flat: list[Schema] = []
    waiting = list(schemas)
    followed: set[str] = set()
    while waiting:
        schema = waiting.pop(0)
        flat.append(schema)
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in followed and len(followed) < _MOST_REFERENCES:
            followed.add(reference)
            target = _at(root, reference.removeprefix("#").split("/")[1:])
            waiting += [target] if isinstance(target, Mapping) else []
        for union in _UNIONS:
            waiting += [branch for branch in schema.get(union, ()) if isinstance(branch, Mapping)]
    return flat


def _of_name(known: Sequence[Schema], name: str) -> list[Schema] | None:
    named = [schema["properties"][name] for schema in known if name in schema.get("properties", {})]
    others = [schema.get("additionalProperties") for schema in known]
    return named or [schema for schema in others if isinstance(schema, Mapping)] or None


def _of_index(known: Sequence[Schema], index: int) -> list[Schema] | None:
    first = [schema["prefixItems"][index] for schema in known if index < len(schema.get("prefixItems", ()))]
    others = [schema.get("items") for schema in known]
    return first or [schema for schema in others if isinstance(schema, Mapping)] or None


def _is_marked(schema: Schema) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def _marks(schemas: Sequence[Schema], root: Schema) -> bool:
    """Is anything in these schemas, however deep, sensitive?"""
    waiting: list[Json] = list(schemas)
    followed: set[str] = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, Mapping):
            if _is_marked(part):
                return True
            reference = part.get("$ref")
            if isinstance(reference, str) and reference not in followed:
                followed.add(reference)
                waiting.append(_at(root, reference.removeprefix("#").split("/")[1:]))
            waiting += [item for name, item in part.items() if name != "$defs"]
    return False


# ---------------------------------------------------------------- pointers


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _unescaped(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")


def _at(value: Json, names: Sequence[str]) -> Json:
    """What is there, None where nothing is."""
    for name in map(_unescaped, names):
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _masked(value: Json, paths: Sequence[Sequence[str]]) -> Json:
    if not paths:
        return value
    if any(not path for path in paths):
        return MASK
    if isinstance(value, Mapping):
        return {name: _masked(item, _after(paths, str(name))) for name, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, _after(paths, str(index))) for index, item in enumerate(value)]
    return value


def _after(paths: Sequence[Sequence[str]], name: str) -> list[Sequence[str]]:
    return [path[1:] for path in paths if path[0] == name]


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
