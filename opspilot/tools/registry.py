"""Which tools there are: built from the `[tools.NAME]` tables of opspilot.toml, then never changed.

Owns how a table finds its code (`use`) and what a person is told when it doesn't. Reads no files itself: settings have
been read before, and each tool opens its own.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType, ModuleType
from typing import Any

from pydantic import BaseModel, ValidationError

from opspilot.core.errors import UsageError
from opspilot.tools import builtin
from opspilot.tools.public import exception_line, public_line
from opspilot.tools.spec import NAME_PATTERN, Tool, ToolPlace

__all__ = ["Registry", "build_registry"]

READ_MORE = "read_more"
"""The built-in that every registry with a journal has: without it a trimmed result could not be read."""


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

    `use` names a built-in (default: NAME itself) or `package.module:attribute`, which is a `Tool` (it gets the name
    NAME) or a callable `(name, config, place)` that returns one or several. `read_more` is there whenever a journal is.
    """
    built = [tool for name, table in tools.items() for tool in _build(name, table, place)]
    if place.journal is not None and READ_MORE not in tools:
        built += _build(READ_MORE, {}, place)
    return Registry(built)


def _build(name: str, table: Mapping[str, Any], place: ToolPlace) -> Sequence[Tool]:
    where = f"tools.{name}"
    if not NAME_PATTERN.fullmatch(name):
        raise UsageError(f"{where}: a tool's name must match {NAME_PATTERN.pattern}.")
    if not isinstance(table, Mapping):
        raise UsageError(f"{where}: must be a table of settings, not {table!r}.")
    use = table.get("use", name)
    if not isinstance(use, str) or not use:
        raise UsageError(f"{where}.use: must be the name of a built-in tool or package.module:attribute, not {use!r}.")
    config = {key: value for key, value in table.items() if key != "use"}
    if ":" in use:
        return _custom(where, name, use, config, place)
    return [_builtin(where, name, use, config, place)]


def _builtin(where: str, name: str, use: str, config: Mapping[str, Any], place: ToolPlace) -> Tool:
    module = _builtin_module(use)
    if module is None:
        known = sorted(found.name for found in pkgutil.iter_modules(builtin.__path__) if _builtin_module(found.name))
        raise UsageError(
            f"{where}: there is no built-in tool {use!r}. Built in are {', '.join(known)}; "
            f'a tool of your own is named by use = "package.module:attribute".'
        )
    try:
        settings = module.Config.model_validate(config)
    except ValidationError as error:
        raise UsageError(_wrong_settings(where, error, module.Config)) from error
    tool: Tool = module.build(name, settings, place)
    return tool


def _builtin_module(name: str) -> Any:
    """The module of that name when it is a tool: a file with `Config` and `build`. Folders hold parts of tools."""
    if not any(found.name == name and not found.ispkg for found in pkgutil.iter_modules(builtin.__path__)):
        return None
    module = importlib.import_module(f"{builtin.__name__}.{name}")
    return module if hasattr(module, "Config") and hasattr(module, "build") else None


def _custom(where: str, name: str, use: str, config: dict[str, Any], place: ToolPlace) -> Sequence[Tool]:
    found = _attribute(where, use)
    if isinstance(found, Tool):
        if config:
            raise UsageError(f"{where}.{next(iter(config))}: {use} takes no settings; allowed is only use.")
        return [replace(found, name=name)]
    if not callable(found):
        raise UsageError(f"{where}.use: {use} is neither a tool nor a function that makes one.")
    try:
        made = found(name, config, place)
    except UsageError:
        raise
    except ValidationError as error:
        raise UsageError(_wrong_settings(where, error, None)) from error
    except Exception as error:
        raise UsageError(f"{where}: {use} failed: {exception_line(error)}") from error
    several = [made] if isinstance(made, Tool) else made
    if not isinstance(several, Sequence) or not all(isinstance(tool, Tool) for tool in several):
        raise UsageError(f"{where}.use: {use} must return a tool or a sequence of tools, not {type(made).__name__}.")
    return several


def _attribute(where: str, use: str) -> Any:
    path, _, attribute = use.partition(":")
    try:
        module: ModuleType = importlib.import_module(path)
    except Exception as error:
        raise UsageError(f"{where}.use: {path} can't be imported: {exception_line(error)}") from error
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        raise UsageError(f"{where}.use: {path} has no attribute {attribute!r}.") from error


def _wrong_settings(where: str, error: ValidationError, config: type[BaseModel] | None) -> str:
    """Each wrong key with what is wrong; values aren't repeated, since some are secrets."""
    lines = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        key = ".".join([where, *(str(part) for part in item["loc"])])
        what = "there is no such setting" if item["type"] == "extra_forbidden" else public_line(item["msg"])
        lines.append(f"{key}: {what}")
    allowed = "" if config is None else f" Allowed are {', '.join(['use', *config.model_fields])}."
    return f"{'; '.join(lines)}.{allowed}"
