"""Where a tool's code is found: among the built-ins, in an installed package, or in a module of one's own.

Owns what `use` may say and what a person is told when it leads nowhere. Knows nothing of a tool's settings, or of what
is made of the code that it finds.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from opspilot.core.errors import UsageError
from opspilot.tools import builtin
from opspilot.tools.public import exception_line

__all__ = ["ENTRY_POINTS", "find", "is_tool_module", "own_sources"]

ENTRY_POINTS = "opspilot.tools"
"""The entry point group in which an installed package offers tools."""


def find(where: str, use: str, base: Path) -> Any:
    """What `use` names: a built-in, else an entry point of that name; with a colon, `package.module:attribute`.

    Built-ins come first, so that installing a package never changes what their names mean. An entry point is loaded
    when it is named, never before. Modules beside opspilot.toml (in `base`) can be imported, after everything that is
    installed. `where` is the table, for errors. Raises `UsageError`.
    """
    if ":" in use:
        return _attribute(where, use, base)
    module = _builtin_module(use)
    if module is not None:
        return module
    offered = _offered(where, use)
    if offered is None:
        raise UsageError(_nothing_found(where, use))
    try:
        return offered.load()
    except Exception as error:
        raise UsageError(f"{where}: {use}, which {_offerer(offered)} offers, {_unloadable(error)}") from error


def is_tool_module(found: Any) -> bool:
    """Is this the module of a tool: one that has `Config` and `build`?"""
    return hasattr(found, "Config") and hasattr(found, "build")


def own_sources(tools: Mapping[str, Mapping[str, Any]], base: Path) -> list[Path]:
    """The files beside opspilot.toml that the `[tools]` tables name: when one changes, a worker has to restart."""
    uses = [str(table.get("use", "")) for table in tools.values()]
    tops = sorted({use.partition(":")[0].partition(".")[0] for use in uses if ":" in use})
    named = filter(str.isidentifier, tops)
    files = [file for top in named for file in [base / f"{top}.py", *sorted((base / top).rglob("*.py"))]]
    return [file for file in files if file.is_file()]


def _builtin_module(name: str) -> Any:
    """The module of that name when it is a tool. Folders hold parts of tools."""
    if not any(found.name == name and not found.ispkg for found in pkgutil.iter_modules(builtin.__path__)):
        return None
    module = importlib.import_module(f"{builtin.__name__}.{name}")
    return module if is_tool_module(module) else None


def _offered(where: str, name: str) -> EntryPoint | None:
    """The entry point of that name. Raises `UsageError` when packages disagree about it."""
    found = {offer.value: offer for offer in entry_points(group=ENTRY_POINTS, name=name)}
    if len(found) > 1:
        rivals = " and ".join(sorted(f"{_offerer(offer)} ({offer.value})" for offer in found.values()))
        raise UsageError(f'{where}: {name!r} is offered by {rivals}; say which by use = "package.module:attribute".')
    return next(iter(found.values()), None)


def _offerer(offer: EntryPoint) -> str:
    return f"the package {offer.dist.name}" if offer.dist is not None else "an installed package"


def _nothing_found(where: str, use: str) -> str:
    own = sorted(found.name for found in pkgutil.iter_modules(builtin.__path__) if _builtin_module(found.name))
    return (
        f"{where}: there is no built-in tool {use!r}, and no installed package offers one. "
        f"Built in are {_listed(own)}; installed packages offer {_listed(entry_points(group=ENTRY_POINTS).names)}; "
        f'a tool of your own is named by use = "package.module:attribute".'
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _unloadable(error: Exception) -> str:
    return f"can't be imported: {exception_line(error)}"


def _attribute(where: str, use: str, base: Path) -> Any:
    path, _, attribute = use.partition(":")
    folder = str(base.absolute())
    if folder not in sys.path:
        # At the end: a file that is called like an installed module must not take its place.
        sys.path.append(folder)
    try:
        module = importlib.import_module(path)
    except Exception as error:
        raise UsageError(f"{where}.use: {path} {_unloadable(error)}{_where_looked(path, base, error)}") from error
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        raise UsageError(
            f"{where}.use: {path} has no attribute {attribute!r}.{_shadowing(path, module, base)}"
        ) from error


def _where_looked(path: str, base: Path, error: Exception) -> str:
    missing = isinstance(error, ModuleNotFoundError) and error.name == path.partition(".")[0]
    return f". It was looked for among the installed packages and in {base}." if missing else ""


def _shadowing(path: str, module: Any, base: Path) -> str:
    """That another module of this name was found first."""
    beside = base / f"{path.partition('.')[0]}.py"
    if not beside.is_file() or beside == Path(getattr(module, "__file__", None) or "").absolute():
        return ""
    return f" An installed module of that name comes before {beside}: give the file another name."
