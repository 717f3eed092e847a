"""The tool `search_docs`: finds passages in a folder of documents. Owns what models see; the index is in `docs`."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from opspilot.core.messages import Json
from opspilot.tools.builtin.docs.index import DocsIndex, Hit, IndexBusy
from opspilot.tools.spec import Tool, ToolError, ToolPlace, tool

_TEXT_CHARACTERS = 1_200
_WHOLE_CHARACTERS = 3_000
_PER_DOCUMENT = 3
_PATHS_DESCRIBED = 15
_PROBLEMS_SHOWN = 20
_MAX_LIMIT = 20


class Config(BaseModel):
    """Settings of `[tools.search_docs]`. `path` is a folder of Markdown, HTML and text, with all below it.

    Links that lead out of it are not followed.
    """

    model_config = ConfigDict(extra="forbid")

    path: Path
    about: str = Field(default="", max_length=500)
    """A sentence that tells models what these documents are, added to the tool's description."""


def build(name: str, config: Config, place: ToolPlace) -> Tool:
    """The tool for one folder. A folder that isn't there is reported when the tool is called."""
    folder = place.base / config.path.expanduser()
    index = DocsIndex(folder, place.state)

    def search_docs(
        query: Annotated[
            str,
            Field(min_length=1, max_length=1000, description="What is looked for, in any words, in any language."),
        ],
        path: Annotated[str, Field(description="Only documents whose path contains this (in any case).")] = "",
        limit: Annotated[int, Field(ge=1, le=_MAX_LIMIT, description="How many passages to return.")] = 5,
    ) -> dict[str, Json]:
        if not folder.is_dir():
            raise ToolError(
                f"There are no documents: {folder} is not a folder. It is the setting path of [tools.{name}]."
            )
        try:
            found = index.search(query, path, limit, limit if path else _PER_DOCUMENT)
        except IndexBusy as error:
            raise ToolError(f"The index of the documents is busy ({error}); try again in a moment.") from error
        result: dict[str, Json] = {"passages": [_passage(hit) for hit in found.hits]}
        result["documents"] = found.documents
        notes = []
        if not found.hits:
            notes.append("No passage was found." if found.documents else f"There is no document in {folder}.")
            result["titles"] = dict(found.titles)
        if found.unknown_words:
            notes.append(f"No document contains: {', '.join(found.unknown_words)}.")
        if notes:
            result["notes"] = notes
        if found.problems:
            result["problems"] = found.problems[:_PROBLEMS_SHOWN]
        return result

    search_docs.__doc__ = _description(config.about, index)
    return tool(name=name, effect="read", timeout_seconds=30.0)(search_docs)


def _description(about: str, index: DocsIndex) -> str:
    text = (
        "Search the documentation and runbooks: find the passages that say what an alert or error means, what its "
        "impact is and how to handle it. Use it for advice, procedures, explanations and background.\n"
        "Returns the best passages first, each with its document's title, heading, file, line and text."
    )
    if about:
        text += f"\n{about}"
    paths = index.paths()
    if paths:
        more = f" and {len(paths) - _PATHS_DESCRIBED} more" if len(paths) > _PATHS_DESCRIBED else ""
        text += f"\nDocuments: {', '.join(paths[:_PATHS_DESCRIBED])}{more}."
    return text


def _passage(hit: Hit) -> dict[str, Json]:
    passage = hit.passage
    row: dict[str, Json] = {
        "file": hit.path,
        "line": passage.text_line,
        "title": hit.title or hit.path,
        "heading": " > ".join(passage.headings),
        "heading_line": passage.heading_line,
    }
    if hit.tags:
        row["tags"] = list(hit.tags)
    most = _WHOLE_CHARACTERS if passage.whole else _TEXT_CHARACTERS
    row["text"] = passage.text
    if len(passage.text) > most:
        end = passage.text.rfind("\n", most // 2, most)
        row["text"] = passage.text[: end if end > 0 else most]
        row["cut"] = f"{len(passage.text) - len(row['text']):,} more characters in the file"
    return row
