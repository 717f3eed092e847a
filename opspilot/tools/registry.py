"""Which tools there are: built from the `[tools.NAME]` tables of opspilot.toml, then never changed.

Owns what is made of a table's code and settings, and what a person is told of settings that are wrong. Reads no files
itself: settings have been read before, and each tool opens its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from opspilot.core.errors import UsageError
from opspilot.standing_tools import ASK_HUMAN, READ_MORE
from opspilot.tools.finding import find, is_tool_module
from opspilot.tools.public import complaint, exception_line, public_line
from opspilot.tools.spec import NAME_PATTERN, Tool, ToolPlace

__all__ = ["Registry", "build_registry"]


class Registry(Mapping[str, Tool]):
    """Tools by name, in the order in which they were given. Raises `UsageError` when two have one name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        by_name: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in by_name:
                raise UsageError(f"There are two tools named {tool.name!r}; each needs a name of its own.")
            by_name[tool.name] = tool
        self._tools = MappingProxyType(by_name)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def build_registry(tools: Mapping[str, Mapping[str, Any]], place: ToolPlace) -> Registry:
    """The registry for the `[tools]` part of the settings. Raises `UsageError` naming `tools.NAME.key`.

    `use` (default: NAME itself) names code as `finding.find` says: a `Tool` (it gets the name NAME), a callable
    `(name, config, place)` that returns one or several, or a module with `Config`, a pydantic model, and `build(name,
    config, place)`. `ask_human` is always there, `read_more` whenever a journal is.
    """
    built = [tool for name, table in tools.items() for tool in _build(name, table, place)]
    always = [ASK_HUMAN] if place.journal is None else [ASK_HUMAN, READ_MORE]
    built += [tool for name in always if name not in tools for tool in _build(name, {}, place)]
    return Registry(built)


def _build(name: str, table: Mapping[str, Any], place: ToolPlace) -> Sequence[Tool]:
    where = f"tools.{name}"
    if not NAME_PATTERN.fullmatch(name):
        raise UsageError(f"{where}: a tool's name must match {NAME_PATTERN.pattern}.")
    if not isinstance(table, Mapping):
        raise UsageError(f"{where}: must be a table of settings, not {table!r}.")
    use = table.get("use", name)
    if not isinstance(use, str) or not use:
        raise UsageError(f"{where}.use: must be the name of a tool or package.module:attribute, not {use!r}.")
    config = {key: value for key, value in table.items() if key != "use"}
    found = find(where, use, place.base)
    if isinstance(found, Tool):
        if config:
            raise UsageError(f"{where}.{next(iter(config))}: {use} takes no settings; allowed is only use.")
        return [replace(found, name=name)]
    if not is_tool_module(found) and not callable(found):
        raise UsageError(
            f"{where}.use: {use} is neither a tool, nor a function that makes one, nor a module with Config and build."
        )
    made = _made(where, name, use, found, config, place)
    several = [made] if isinstance(made, Tool) else made
    if not isinstance(several, Sequence) or not all(isinstance(tool, Tool) for tool in several):
        raise UsageError(f"{where}.use: {use} must return a tool or a sequence of tools, not {type(made).__name__}.")
    return several


def _made(where: str, name: str, use: str, found: Any, config: dict[str, Any], place: ToolPlace) -> Any:
    """What the code makes of its settings. Whatever it raises becomes a sentence for a person."""
    settings = found.Config if is_tool_module(found) else None
    try:
        if settings is None:
            return found(name, config, place)
        return found.build(name, settings.model_validate(config), place)
    except UsageError:
        raise
    except ValidationError as error:
        raise UsageError(_wrong_settings(where, error, settings)) from error
    except Exception as error:
        raise UsageError(f"{where}: {use} failed: {exception_line(error)}") from error


def _wrong_settings(where: str, error: ValidationError, config: type[BaseModel] | None) -> str:
    """Each wrong key with what is wrong; values aren't repeated, since some are secrets."""
    lines = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        key = ".".join([where, *(str(part) for part in item["loc"])])
        what = "there is no such setting" if item["type"] == "extra_forbidden" else public_line(complaint(item))
        lines.append(f"{key}: {what}")
    allowed = "" if config is None else f" Allowed are {', '.join(['use', *config.model_fields])}."
    return f"{'; '.join(lines)}.{allowed}"
