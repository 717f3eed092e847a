"""What a JSON Schema says of a value, in the shapes in which tools have them: references, unions with null, choices.

And an example of a value, for who has to type it as JSON. Knows nothing of fields.
"""

from collections.abc import Mapping
from typing import TypeAlias

from opspilot.core.messages import Json

Schema: TypeAlias = Mapping[str, Json]

MOST_OPTIONS = 200
DEEPEST_EXAMPLE = 5


def plain_of(rule: Schema, root: Schema) -> Schema:
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


def without_null(rule: Schema, root: Schema) -> tuple[bool, Schema]:
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
                return nullable, {**plain_of(others[0], root), **rest}
            return nullable, {**rule, union: others}
    return False, rule


def options_of(rule: Schema) -> tuple[Json, ...]:
    """What may be chosen, if that is said; null goes without saying."""
    if rule.get("const") is not None:
        return (rule["const"],)
    offered = rule.get("enum")
    if isinstance(offered, list) and 0 < len(offered) <= MOST_OPTIONS:
        return tuple(each for each in offered if each is not None)
    for union in ("anyOf", "oneOf"):
        branches = rule.get(union)
        if isinstance(branches, list) and branches and all("const" in each for each in branches):
            return tuple(each["const"] for each in branches[:MOST_OPTIONS])
    return ()


def takes_null(rule: Schema, root: Schema) -> bool:
    """Whether null is one of the choices."""
    offered = plain_of(rule, root).get("enum")
    return isinstance(offered, list) and None in offered


def example(rule: Schema, root: Schema, depth: int = 0) -> Json:
    """A value of the shape that is asked for: names as they are, texts as dots."""
    _, plain = without_null(plain_of(rule, root), root)
    if options := options_of(plain):
        return options[0]
    for name in ("const", "default"):
        if plain.get(name) is not None:
            return plain[name]
    for union in ("anyOf", "oneOf", "allOf"):
        branches = plain.get(union)
        if isinstance(branches, list) and branches and isinstance(branches[0], Mapping):
            return example(branches[0], root, depth + 1) if depth < DEEPEST_EXAMPLE else "…"
    return "…" if depth >= DEEPEST_EXAMPLE else _typical(plain, root, depth + 1)


def _typical(plain: Schema, root: Schema, depth: int) -> Json:
    match plain.get("type"):
        case "integer" | "number":
            return plain.get("minimum", 0)
        case "boolean":
            return False
        case "array":
            firsts, items = plain.get("prefixItems"), plain.get("items")
            if isinstance(firsts, list):
                return [example(each, root, depth) for each in firsts if isinstance(each, Mapping)]
            return [example(items, root, depth) if isinstance(items, Mapping) else "…"]
        case "object":
            properties, others = plain.get("properties"), plain.get("additionalProperties")
            if isinstance(properties, Mapping) and properties:
                return {
                    name: example(each, root, depth) for name, each in properties.items() if isinstance(each, Mapping)
                }
            return {"…": example(others, root, depth)} if isinstance(others, Mapping) else {}
    return "…"
