"""The tool `search_resource`: finds services and what belongs to them in a Backstage catalogue.

Owns what models see. How a catalogue is read, and what fits a query, is in `catalog`.
"""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode
from opspilot.tools.builtin.catalog.entities import Entity
from opspilot.tools.builtin.catalog.matching import FITS_WELL, NAMED_IN_QUERY, fit, reference, suggestions
from opspilot.tools.builtin.catalog.relations import RELATIONS, Graph, Relation, Step
from opspilot.tools.builtin.catalog.store import Catalog
from opspilot.tools.spec import Tool, ToolError, ToolPlace, tool

_MAX_LIMIT = 30
_NAMES_SHOWN = 40
_PROBLEMS_SHOWN = 20
_WORTH_SHOWING = 15
_MAX_DEPTH = 4
_RELATED_SHOWN = 25
_KINDS = {"service": "component", "team": "group", "person": "user", "database": "resource"}
"""What people call kinds, where Backstage has another word."""
_RELATIONS: dict[str, Relation] = {
    **dict.fromkeys(("dependencies", "depends", "needs"), "dependsOn"),
    **dict.fromkeys(("dependents", "neededby", "usedby"), "dependencyOf"),
    **dict.fromkeys(("owner", "owners"), "ownedBy"),
    "owns": "ownerOf",
    "members": "hasMember",
}


class Config(BaseModel):
    """Settings of `[tools.search_resource]`. `path` is a catalogue file, or a folder of `*.yaml` and `*.yml` files.

    Links that lead out of the folder are not followed.
    """

    model_config = ConfigDict(extra="forbid")

    path: Path


def build(name: str, config: Config, place: ToolPlace) -> Tool:
    """The tool for one catalogue. A path that isn't there is reported when the tool is called."""
    path = place.base / config.path.expanduser()
    catalog = Catalog(path)

    def search_resource(
        query: Annotated[
            str,
            Field(
                max_length=500,
                description="A name, title, alias, tag, owner, system or kind, or words about it, in any language. "
                "Leave out to list everything.",
            ),
        ] = "",
        kind: Annotated[
            str, Field(description="Only this kind: Component (a service), API, System, Resource, Group, User, Domain.")
        ] = "",
        relation: Annotated[
            str,
            Field(
                max_length=40,
                description="Follow only this relation of the best fitting resource: dependsOn (what it needs), "
                "dependencyOf (what needs it), ownedBy (its team), ownerOf (what a team owns), partOf, hasPart, "
                "providesApi, consumesApi, hasMember.",
            ),
        ] = "",
        depth: Annotated[
            int,
            Field(ge=1, le=_MAX_DEPTH, description="How many steps to follow relations: 2 also finds what those need."),
        ] = 1,
        limit: Annotated[int, Field(ge=1, le=_MAX_LIMIT, description="How many resources to return.")] = 5,
    ) -> dict[str, Json]:
        if not path.exists():
            raise ToolError(f"There is no catalogue: {path} does not exist. It is the setting path of [tools.{name}].")
        entities, problems = catalog.read()
        wanted_kind = _KINDS.get(kind.strip().lower(), kind.strip().lower())
        candidates = [entity for entity in entities if not wanted_kind or entity.kind.lower() == wanted_kind]
        result = _result(candidates, query.strip(), limit, Graph(entities), _relation(relation), depth)
        if not entities:
            result["notes"] = [f"There is no catalogue entity in {path}."]
        elif not candidates:
            kinds = ", ".join(sorted({entity.kind for entity in entities}))
            result["notes"] = [f"The catalogue has nothing of the kind {kind!r}; its kinds are {kinds}."]
        if problems:
            result["problems"] = problems[:_PROBLEMS_SHOWN]
        return result

    search_resource.__doc__ = (
        "Look up services, systems, databases, APIs, teams and people in the service catalogue: what something is "
        "called, who owns it, what it depends on, and who owns that. Use it to turn what a person calls a service, in "
        "any language, into its name; that name is what other tools expect.\n"
        "Returns the best fitting resources first, each with kind, name, title, description, owner, lifecycle, "
        "system, dependencies, file and line; and, for the best one, what it is related to, each with its relation, "
        "kind, name and owner."
    )
    return tool(name=name, effect="read", timeout_seconds=15.0)(search_resource)


def _relation(name: str) -> Relation | None:
    wanted = name.strip().replace("_", "").replace("-", "").lower()
    if not wanted:
        return None
    found = next((relation for relation in RELATIONS if relation.lower() == wanted), _RELATIONS.get(wanted))
    if found is None:
        raise ToolError(
            f"There is no relation {name!r}; there are {', '.join(RELATIONS)}.", ErrorCode.INVALID_ARGUMENTS
        )
    return found


def _result(
    entities: list[Entity], query: str, limit: int, graph: Graph, relation: Relation | None, depth: int
) -> dict[str, Json]:
    if not query:
        return {
            "found": len(entities),
            "resources": [_row(entity) for entity in entities[:limit]],
            "names": [reference(entity) for entity in entities[:_NAMES_SHOWN]],
        }
    fits = [(fit(entity, query), entity) for entity in entities]
    best = max((score for score, _ in fits), default=0)
    floor = FITS_WELL - 15 if best >= NAMED_IN_QUERY else _WORTH_SHOWING
    ranked = sorted((entry for entry in fits if entry[0] >= floor), key=lambda entry: -entry[0])
    result: dict[str, Json] = {"found": len(ranked), "resources": [_row(entity) for _, entity in ranked[:limit]]}
    if ranked and (best >= NAMED_IN_QUERY or len(ranked) == 1):
        steps = graph.related(ranked[0][1], relation, depth)
        result["related"] = [_step(step, graph, depth) for step in steps[:_RELATED_SHOWN]]
        if len(steps) > _RELATED_SHOWN:
            result["more_related"] = len(steps) - _RELATED_SHOWN
    if not ranked:
        near = suggestions(entities, query)
        meant = f" Did you mean {' or '.join(repr(entity.name) for entity in near)}?" if near else ""
        result["notes"] = [f"Nothing in the catalogue fits {query!r}.{meant}"]
        if near:
            result["did_you_mean"] = [{"name": entity.name, "title": entity.title} for entity in near]
        result["names"] = [reference(entity) for entity in entities[:_NAMES_SHOWN]]
    return result


def _step(step: Step, graph: Graph, depth: int) -> dict[str, Json]:
    row: dict[str, Json] = {"relation": step.relation}
    entity = step.entity
    if entity is None:
        row |= {"ref": step.ref, "note": "the catalogue names it but does not hold it"}
    else:
        owner = graph.named(entity.owner, "group", entity.namespace) if entity.owner else None
        row |= {"kind": entity.kind, "name": entity.name, "title": entity.title, "type": entity.type}
        row |= {"owner": owner.name if owner is not None else entity.owner}
        row |= {"owner_title": owner.title if owner is not None else "", "file": entity.file, "line": entity.line}
    if depth > 1:
        row |= {"of": step.source, "steps": step.distance}
    return {key: value for key, value in row.items() if value != ""}


def _row(entity: Entity) -> dict[str, Json]:
    row: dict[str, Json] = {
        "kind": entity.kind,
        "name": entity.name,
        "title": entity.title,
        "description": entity.description,
        "type": entity.type,
        "lifecycle": entity.lifecycle,
        "owner": entity.owner,
        "system": entity.system,
        "tags": list(entity.tags),
        "aliases": list(entity.aliases),
        **{key: list(items) for key, items in entity.relations.items()},
        "annotations": dict(entity.annotations),
        "links": list(entity.links),
        "file": entity.file,
        "line": entity.line,
    }
    return {key: value for key, value in row.items() if value not in ("", [], {})}
