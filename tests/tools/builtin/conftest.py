"""Calling a built-in tool as the runtime does: built from settings, arguments bound by its schema."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from opspilot.core.interrupts import Principal
from opspilot.core.ports import CallContext
from opspilot.tools.spec import Tool, ToolPlace
from tests.tools.builtin.calls import BuildTool, CallTool

REAL_DATA = Path(__file__).parents[4] / "shared" / "real-data"


@pytest.fixture
def build_tool(tmp_path: Path) -> BuildTool:
    """Builds a built-in from its settings; relative paths start at the test's folder."""

    def build(module: str, **settings: Any) -> Tool:
        source = importlib.import_module(f"opspilot.tools.builtin.{module}")
        tool: Tool = source.build(module, source.Config(**settings), ToolPlace(tmp_path, tmp_path / "state"))
        return tool

    return build


@pytest.fixture
def run_tool() -> CallTool:
    """Calls a tool. Its result must survive the trip through JSON that every result makes."""

    def run(tool: Tool, arguments: dict[str, Any] | None = None, **context: Any) -> Any:
        values = tool.bind(arguments or {})
        if tool.context_parameter is not None:
            defaults: dict[str, Any] = {
                "session": "ops-1",
                "run": "run-1",
                "call": "1.1",
                "round": 1,
                "idempotency_key": "run-1/1.1#1",
                "principal": Principal("somebody"),
            }
            values[tool.context_parameter] = CallContext(**(defaults | context))
        result = tool.function(**values)
        if isinstance(result, dict):
            assert json.loads(json.dumps(result, ensure_ascii=False, allow_nan=False).encode()) == result
        return result

    return run


@pytest.fixture
def real_data() -> Path:
    """Data that nobody here wrote; it is not part of the project."""
    if not REAL_DATA.is_dir():
        pytest.skip("there is no ../shared/real-data here")
    return REAL_DATA
