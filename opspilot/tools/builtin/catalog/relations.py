"""How entities of a catalogue belong together: who owns what, what depends on what, both ways. Pure.

Relations are named as Backstage names them: https://backstage.io/docs/features/software-catalog/well-known-relations
"""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from opspilot.tools.builtin.catalog.entities import Entity
from opspilot.tools.builtin.catalog.matching import reference

Relation: TypeAlias = Literal[
    "dependsOn",
    "dependencyOf",
    "ownedBy",
    "ownerOf",
    "partOf",
    "hasPart",
    "providesApi",
    "apiProvidedBy",
    "consumesApi",
    "apiConsumedBy",
    "memberOf",
    "hasMember",
    "childOf",
    "parentOf",
]

RELATIONS: tuple[Relation, ...] = get_args(Relation)

_PAIRS: tuple[tuple[Relation, Relation], ...] = (
    ("dependsOn", "dependencyOf"),
    ("ownedBy", "ownerOf"),
    ("partOf", "hasPart"),
    ("providesApi", "apiProvidedBy"),
    ("consumesApi", "apiConsumedBy"),
    ("memberOf", "hasMember"),
    ("childOf", "parentOf"),
)
_BACK: dict[Relation, Relation] = {**dict(_PAIRS), **{back: there for there, back in _PAIRS}}

_FIELDS: dict[str, tuple[Relation, str]] = {
    "dependsOn": ("dependsOn", "component"),
    "dependencyOf": ("dependencyOf", "component"),
    "owner": ("ownedBy", "group"),
    "system": ("partOf", "system"),
    "domain": ("partOf", "domain"),
    "subcomponentOf": ("partOf", "component"),
    "subdomainOf": ("partOf", "domain"),
    "hasParts": ("hasPart", "component"),
    "providesApis": ("providesApi", "api"),
    "consumesApis": ("consumesApi", "api"),
    "memberOf": ("memberOf", "group"),
    "members": ("hasMember", "user"),
    "parent": ("childOf", "group"),
    "children": ("parentOf", "group"),
}
"""What each field of a spec says, and the kind that it means where it names none."""

_REF = re.compile(r"(?:(?P<kind>[^:/]+):)?(?:(?P<namespace>[^:/]+)/)?(?P<name>[^:/]+)$")


@dataclass(frozen=True)
class Step:
    """An entity reached from another. `entity` None: the catalogue names it but doesn't hold it; `ref` is its name."""

    relation: Relation
    ref: str
    entity: Entity | None
    source: str
    distance: int


class Graph:
    """All relations of a catalogue."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._entities = {reference(entity).lower(): entity for entity in entities}
        self._names: dict[str, str] = {}
        self._edges: dict[str, dict[Relation, dict[str, None]]] = {}
        for ref, entity in self._entities.items():
            for relation, target in _said(entity):
                self._names.setdefault(target.lower(), target)
                self._add(ref, relation, target.lower())
                self._add(target.lower(), _BACK[relation], ref)

    def _add(self, ref: str, relation: Relation, target: str) -> None:
        self._edges.setdefault(ref, {}).setdefault(relation, {})[target] = None

    def related(self, start: Entity, only: Relation | None, depth: int) -> list[Step]:
        """What is reached from an entity in at most `depth` steps, by all relations or by one; the nearest first."""
        begin = reference(start).lower()
        seen = {begin}
        found: list[Step] = []
        queue = deque([(begin, 0)])
        while queue:
            ref, distance = queue.popleft()
            if distance >= depth:
                continue
            edges = self._edges.get(ref, {})
            for relation in sorted(edges, key=RELATIONS.index):
                if only is not None and relation != only:
                    continue
                for target in edges[relation]:
                    again = target in seen
                    if again and (distance or target == begin):
                        continue
                    entity = self._entities.get(target)
                    name = reference(entity) if entity is not None else self._names[target]
                    found.append(Step(relation, name, entity, self._name(ref), distance + 1))
                    if not again:
                        seen.add(target)
                        queue.append((target, distance + 1))
        return found

    def named(self, ref: str, kind: str, namespace: str) -> Entity | None:
        """The entity that a reference means, seen from a namespace; None when the catalogue doesn't hold it."""
        return self._entities.get(whole_reference(ref, kind, namespace).lower())

    def _name(self, ref: str) -> str:
        entity = self._entities.get(ref)
        return entity.name if entity is not None else ref


def whole_reference(ref: str, kind: str, namespace: str) -> str:
    """`component:default/payment` for `payment`, `component:payment`, `default/payment`."""
    match = _REF.match(ref.strip())
    if match is None:
        return ref.strip()
    return f"{(match['kind'] or kind).lower()}:{match['namespace'] or namespace}/{match['name']}"


def _said(entity: Entity) -> list[tuple[Relation, str]]:
    fields: dict[str, tuple[str, ...]] = {**entity.relations}
    fields |= {"owner": (entity.owner,) if entity.owner else (), "system": (entity.system,) if entity.system else ()}
    return [
        (relation, whole_reference(ref, kind, entity.namespace))
        for name, (relation, kind) in _FIELDS.items()
        for ref in fields.get(name, ())
    ]
