"""A Markdown document as passages, one for each heading with text of its own. Pure: knows nothing of files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt

from opspilot.tools.builtin.yaml_text import UnreadableYaml, read_yaml

_MAX_FRONT_MATTER_CHARACTERS = 16_384
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<yaml>.*?\n|)(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_BLOCKS = MarkdownIt("commonmark", {"maxNesting": 20}).disable("inline")
"""Headings and code blocks are told apart by the blocks alone; what stands inside a line is not looked at."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The text under one heading. Lines count from 1; `heading_line` is 0 for text before the first heading.

    `headings` leads from the document's outermost heading to this one.
    """

    headings: tuple[str, ...]
    heading_line: int
    text_line: int
    text: str


@dataclass(frozen=True)
class Document:
    """A document. `title`: that of the front matter, else the first heading, else empty. `problem`: what is wrong."""

    title: str
    tags: tuple[str, ...]
    passages: tuple[Passage, ...]
    problem: str = ""


def read_document(text: str) -> Document:
    """The document's passages. Unusable front matter is said in `problem`, and the text is served all the same."""
    text = text.replace("\r\n", "\n")
    front: Mapping[str, Any] = {}
    problem = ""
    start = 0
    match = _FRONT_MATTER.match(text)
    if match is not None:
        start = match.end()
        front, problem = _front_matter(match["yaml"])
    lines = text.split("\n")
    first = text.count("\n", 0, start)
    passages = _passages(lines, first)
    title = front.get("title")
    if not isinstance(title, str) or not title.strip():
        title = next((passage.headings[0] for passage in passages if passage.headings), "")
    return Document(title.strip(), _words(front), tuple(passage for passage in passages if passage.text), problem)


def _front_matter(text: str) -> tuple[Mapping[str, Any], str]:
    if len(text) > _MAX_FRONT_MATTER_CHARACTERS:
        return {}, "its front matter is too long"
    try:
        value = read_yaml(text)
    except UnreadableYaml as error:
        return {}, f"its front matter is not valid YAML at line {error.line + 2}: {error}"
    if value is None:
        return {}, ""
    return (value, "") if isinstance(value, dict) else ({}, "its front matter is not a list of named values")


def _words(front: Mapping[str, Any]) -> tuple[str, ...]:
    found: list[str] = []
    for key in ("tags", "keywords", "aliases", "services", "service", "categories"):
        value = front.get(key)
        items = value if isinstance(value, list) else [value]
        found += [str(item) for item in items if isinstance(item, (str, int, float)) and item != ""]
    return tuple(dict.fromkeys(found))


def _passages(lines: list[str], first: int) -> list[Passage]:
    heads = _headings(lines, first)
    starts = [(first, first, 0, ""), *heads]
    passages: list[Passage] = []
    trail: list[tuple[int, str]] = []
    for position, (line, after, level, title) in enumerate(starts):
        end = starts[position + 1][0] if position + 1 < len(starts) else len(lines)
        if level:
            trail = [(outer, name) for outer, name in trail if outer < level] + [(level, title)]
        begin = after
        while begin < end and not lines[begin].strip():
            begin += 1
        text = "\n".join(lines[begin:end]).rstrip()
        headings = tuple(name for _, name in trail)
        passages.append(Passage(headings, line + 1 if level else 0, begin + 1, text))
    return passages


def _headings(lines: list[str], first: int) -> list[tuple[int, int, int, str]]:
    """(line, line after, level, title) of each heading; a `#` in a code block is none."""
    found = []
    tokens = _BLOCKS.parse("\n".join(lines[first:]))
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            title = tokens[position + 1].content.replace("\n", " ").strip()
            found.append((first + token.map[0], first + token.map[1], int(token.tag[1]), title))
    return found
