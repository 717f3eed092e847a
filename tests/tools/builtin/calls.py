"""The types of the fixtures that build and call built-in tools."""

from collections.abc import Callable
from typing import Any, TypeAlias

from opspilot.tools.spec import Tool

CallTool: TypeAlias = Callable[..., Any]
"""`run_tool(tool, arguments, **context)`: the tool's result, after a trip through JSON."""

BuildTool: TypeAlias = Callable[..., Tool]
"""`build_tool("search_logs", path="logs")`."""
