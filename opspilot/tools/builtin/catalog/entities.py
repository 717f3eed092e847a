"""Backstage catalogue files as entities: many documents a file, each read by itself. Pure: given text, knows no files.

Format: https://backstage.io/docs/features/software-catalog/descriptor-format
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opspilot.tools.builtin.yaml_text import UnreadableYaml, read_yaml

_SEPARATOR = re.compile(r"---(?:[ \t]|$)")
_KINDS = frozenset({"api", "component", "domain", "group", "location", "resource", "system", "template", "user"})
_LISTS = (
    *("dependsOn", "dependencyOf", "providesApis", "consumesApis", "memberOf", "members", "children", "hasParts"),
    *("domain", "parent", "subcomponentOf", "subdomainOf"),
)
_MAX_LIST = 30
_MAX_TEXT_CHARACTERS = 500
_MAX_ANNOTATIONS = 12


@dataclass(frozen=True)
class Entity:
    """One thing of the catalogue. `line` (from 1) is where its document begins in `file`."""

    kind: str
    name: str
    file: str
    line: int
    title: str = ""
    description: str = ""
    type: str = ""
    lifecycle: str = ""
    owner: str = ""
    system: str = ""
    namespace: str = "default"
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    """Files and addresses that a Location names."""


@dataclass(frozen=True)
class CatalogFile:
    """What one file holds: its entities, and a sentence for each document that can't be used."""

    entities: tuple[Entity, ...]
    problems: tuple[str, ...]


def read_catalog(text: str, file: str) -> CatalogFile:
    """The entities of a file. A document that is broken is reported and takes no other with it.

    Documents are parted at `---` at the start of a line, which YAML forbids inside a document (YAML 1.2, 9.1.2).
    """
    entities: list[Entity] = []
    problems: list[str] = []
    for line, document in _documents(text):
        try:
            value = read_yaml(document)
        except UnreadableYaml as error:
            problems.append(f"{file} line {line + error.line}: the document from line {line} is not YAML: {error}")
            continue
        if value is None:
            continue
        fault = _fault(value, file)
        if fault is None:
            entities.append(_entity(value, file, line))
        elif fault:
            problems.append(f"{file} line {line}: {fault}")
    return CatalogFile(tuple(entities), tuple(problems))


def _documents(text: str) -> list[tuple[int, str]]:
    """(first line with content, text) of each document."""
    found: list[tuple[int, str]] = []
    lines = text.replace("\r\n", "\n").split("\n")
    start = 0
    for number in range(len(lines) + 1):
        if number < len(lines) and not _SEPARATOR.match(lines[number]):
            continue
        part = lines[start:number]
        blank = next((index for index, line in enumerate(part) if line.strip() and line.strip()[0] not in "#%"), None)
        if blank is not None:
            found.append((start + blank + 1, "\n".join(part[blank:])))
        start = number + 1
    return found


def _fault(value: Any, file: str) -> str | None:
    """What is wrong with a document: None when it is an entity, empty when it is something else's YAML."""
    if not isinstance(value, dict):
        return "the document is not a list of named values" if _is_catalog(file) else ""
    api, kind, metadata = value.get("apiVersion"), value.get("kind"), value.get("metadata")
    backstage = isinstance(api, str) and "backstage.io/" in api
    if not backstage and not (api is None and isinstance(kind, str) and kind.lower() in _KINDS):
        return "the document has no apiVersion backstage.io/… and no kind" if _is_catalog(file) and not kind else ""
    if not isinstance(kind, str) or not kind:
        return "the document has no kind"
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), (str, int)):
        return f"the {kind} has no metadata.name"
    return None


def _is_catalog(file: str) -> bool:
    return file.rpartition("/")[2].startswith("catalog-info")


def _entity(value: Mapping[str, Any], file: str, line: int) -> Entity:
    metadata = value["metadata"]
    given = value.get("spec")
    spec: Mapping[str, Any] = given if isinstance(given, dict) else {}
    annotations = metadata.get("annotations")
    annotations = annotations if isinstance(annotations, dict) else {}
    links = metadata.get("links")
    links = links if isinstance(links, list) else []
    return Entity(
        kind=value["kind"],
        name=str(metadata["name"]),
        file=file,
        line=line,
        title=_text(metadata.get("title")) or _text(_mapping(spec.get("profile")).get("displayName")),
        description=_text(metadata.get("description")),
        type=_text(spec.get("type")),
        lifecycle=_text(spec.get("lifecycle")),
        owner=_text(spec.get("owner")),
        system=_text(spec.get("system")),
        namespace=_text(metadata.get("namespace")) or "default",
        tags=_list(metadata.get("tags")),
        aliases=_list(metadata.get("aliases"))
        + tuple(
            part.strip()
            for key, item in annotations.items()
            if str(key).endswith("/aliases")
            for part in re.split(r"[,，、]", _text(item))
            if part.strip()
        ),
        relations={key: items for key in _LISTS if (items := _list(spec.get(key)))},
        annotations={
            str(key): text for key, item in list(annotations.items())[:_MAX_ANNOTATIONS] if (text := _text(item))
        },
        targets=(*_list(spec.get("target")), *_list(spec.get("targets")))
        if value["kind"].lower() == "location"
        else (),
        links=tuple(url for link in links[:_MAX_LIST] if (url := _text(_mapping(link).get("url")))),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return str(value).strip()[:_MAX_TEXT_CHARACTERS] if isinstance(value, (str, int, float)) else ""


def _list(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(text for item in items[:_MAX_LIST] if (text := _text(item)))
