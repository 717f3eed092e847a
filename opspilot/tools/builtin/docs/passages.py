"""A Markdown document as passages, one or more for each heading with text of its own. Pure: knows nothing of files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from opspilot.tools.builtin.yaml_text import UnreadableYaml, read_yaml

_MAX_FRONT_MATTER_CHARACTERS = 16_384
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<yaml>.*?\n|)(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_BLOCKS = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").disable("inline")
"""Headings and code blocks are told apart by the blocks alone; what stands inside a line is not looked at."""

PASSAGE_CHARACTERS = 1_200
_INTRODUCTION_CHARACTERS = 400
_WHOLE = frozenset({"fence", "code_block", "table_open", "html_block"})
_PARTED = frozenset({"heading_open", "bullet_list_open", "ordered_list_open"})


@dataclass(frozen=True, slots=True)
class Passage:
    """The text under one heading. Lines count from 1; `heading_line` is 0 for text before the first heading.

    `headings` leads from the document's outermost heading to this one. `whole`: a table or code in it can't be cut.
    """

    headings: tuple[str, ...]
    heading_line: int
    text_line: int
    text: str
    whole: bool = False


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
    """A passage for each heading, or several where there is much text: blocks (a table, a code block) stay whole."""
    tokens = _BLOCKS.parse("\n".join(lines[first:]))
    heads = _headings(tokens, first)
    blocks = _blocks(tokens, first)
    starts = [(first, first, 0, ""), *heads]
    passages: list[Passage] = []
    trail: list[tuple[int, str]] = []
    for position, (line, after, level, title) in enumerate(starts):
        end = starts[position + 1][0] if position + 1 < len(starts) else len(lines)
        if level:
            trail = [(outer, name) for outer, name in trail if outer < level] + [(level, title)]
        headings = tuple(name for _, name in trail)
        inside = [block for block in blocks if after <= block.start < end]
        for begin, stop, whole in _pieces(lines, after, end, inside):
            text = "\n".join(lines[begin:stop]).rstrip()
            passages.append(Passage(headings, line + 1 if level else 0, begin + 1, text, whole))
    return passages


def _headings(tokens: list[Token], first: int) -> list[tuple[int, int, int, str]]:
    """(line, line after, level, title) of each heading; a `#` in a code block is none."""
    found = []
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            title = tokens[position + 1].content.replace("\n", " ").strip()
            found.append((first + token.map[0], first + token.map[1], int(token.tag[1]), title))
    return found


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of lines that belong together; `whole`: it must not be cut, since half of it says something else."""

    start: int
    end: int
    whole: bool


def _blocks(tokens: list[Token], first: int) -> list[Block]:
    """What a document consists of below its headings; of a list each item."""
    found = []
    for token in tokens:
        top = token.level == 0 and token.type not in _PARTED
        item = token.level == 1 and token.type == "list_item_open"
        if token.map is not None and token.nesting >= 0 and (top or item):
            found.append(Block(first + token.map[0], first + token.map[1], token.type in _WHOLE))
    return found


def _pieces(lines: list[str], start: int, end: int, blocks: list[Block]) -> list[tuple[int, int, bool]]:
    """(first line, line after, whole) of each piece of a passage, none longer than 1,200 characters but by a block."""
    begin = start
    while begin < end and not lines[begin].strip():
        begin += 1
    sizes = [sum(len(line) + 1 for line in lines[block.start : block.end]) for block in blocks]
    cuts = [begin]
    size = 0
    for block, block_size in zip(blocks, sizes, strict=True):
        introduced = block.whole and size < _INTRODUCTION_CHARACTERS
        if size and size + block_size > PASSAGE_CHARACTERS and not introduced and block.start > cuts[-1]:
            cuts.append(block.start)
            size = 0
        size += block_size
    bounds = [*cuts, end]
    return [
        (one, other, any(block.whole for block in blocks if one <= block.start < other))
        for one, other in pairwise(bounds)
    ]
