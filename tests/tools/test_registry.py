"""From `[tools.NAME]` tables to tools, and what a person is told of a table that is wrong."""

import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from opspilot.core.errors import UsageError
from opspilot.core.messages import Json
from opspilot.core.ports import Journal
from opspilot.tools.registry import Registry, build_registry
from opspilot.tools.spec import Tool, ToolPlace, tool


@tool(effect="read")
def ping() -> str:
    """Say pong."""
    return "pong"


class Settings(BaseModel):
    level: int


def make(name: str, config: Mapping[str, Json], place: ToolPlace) -> Tool:
    @tool(name=name)
    def made() -> Json:
        """Say how it was made."""
        return [dict(config), place.base.name]

    return made


def make_two(name: str, config: Mapping[str, Json], place: ToolPlace) -> list[Tool]:
    return [make(f"{name}_a", config, place), make(f"{name}_b", config, place)]


def make_checked(name: str, config: Mapping[str, Json], place: ToolPlace) -> Tool:
    Settings.model_validate(config)
    return make(name, config, place)


def make_broken(name: str, config: Mapping[str, Json], place: ToolPlace) -> Tool:
    raise OSError("the token=hunter2 was not accepted")


def make_refused(name: str, config: Mapping[str, Json], place: ToolPlace) -> Tool:
    raise UsageError("Only on Mondays.")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToolPlace:
    module = types.ModuleType("company_tools")
    module.__dict__.update(
        ping=ping,
        make=make,
        make_two=make_two,
        make_checked=make_checked,
        make_broken=make_broken,
        make_refused=make_refused,
        make_none=lambda name, config, place: None,
        number=5,
    )
    monkeypatch.setitem(sys.modules, "company_tools", module)
    return ToolPlace(base=tmp_path, state=tmp_path / "state")


class EmptyJournal(Journal):
    @property
    def id(self) -> str:
        return "empty"


def test_a_registry_keeps_order_and_can_not_be_changed() -> None:
    registry = Registry([make("b", {}, ToolPlace(Path(), Path())), ping])
    assert list(registry) == ["b", "ping"]
    assert registry["ping"] is ping
    with pytest.raises(TypeError):
        registry["x"] = ping  # type: ignore[index]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two tools named 'ping'"):
        Registry([ping, ping])


def test_a_built_in_is_found_by_its_own_name_and_under_another(place: ToolPlace) -> None:
    (place.base / "logs").mkdir()
    tables = {"search_logs": {"path": "logs"}, "audit_logs": {"use": "search_logs", "path": "logs"}}
    registry = build_registry(tables, place)
    assert list(registry) == ["search_logs", "audit_logs", "ask_human"]
    assert [tool.name for tool in registry.values()] == ["search_logs", "audit_logs", "ask_human"]


def test_ask_human_is_always_there_and_read_more_whenever_a_journal_is(place: ToolPlace) -> None:
    with_journal = ToolPlace(place.base, place.state, EmptyJournal())  # type: ignore[abstract]
    assert list(build_registry({}, with_journal)) == ["ask_human", "read_more"]
    assert list(build_registry({"read_more": {}}, with_journal)) == ["read_more", "ask_human"]
    assert list(build_registry({"ask_human": {}}, place)) == ["ask_human"]
    assert list(build_registry({}, place)) == ["ask_human"]


def test_tools_of_ones_own_are_named_by_module_and_attribute(place: ToolPlace) -> None:
    registry = build_registry(
        {
            "pong": {"use": "company_tools:ping"},
            "made": {"use": "company_tools:make", "level": 3},
            "two": {"use": "company_tools:make_two"},
        },
        place,
    )
    assert list(registry) == ["pong", "made", "two_a", "two_b", "ask_human"]
    assert registry["pong"].name == "pong"
    assert registry["made"].function() == [{"level": 3}, place.base.name]


WRONG: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = (
    ({"serch_logs": {}}, ("tools.serch_logs", "search_logs", "read_more")),
    ({"x": {"use": "registry"}}, ("tools.x", "no built-in tool 'registry', and no installed package offers one")),
    ({"x": {"use": "../search_logs"}}, ("tools.x", "no built-in tool")),
    ({"x": {"use": 5}}, ("tools.x.use", "package.module:attribute")),
    ({"x": 5}, ("tools.x: must be a table",)),
    ({"two words": {}}, ("tools.two words", "must match")),
    (
        {"search_logs": {"path": "logs", "pth": 1}},
        ("tools.search_logs.pth: there is no such setting", "Allowed are use, path"),
    ),
    ({"search_logs": {}}, ("tools.search_logs.path: is required",)),
    (
        {"search_logs": {"path": "logs", "timezone": "Mars"}},
        ("tools.search_logs.timezone: there is no time zone 'Mars'; write it like",),
    ),
    ({"x": {"use": "no_such_module:ping"}}, ("tools.x.use: no_such_module can't be imported", "No module named")),
    ({"x": {"use": "company_tools:pong"}}, ("tools.x.use: company_tools has no attribute 'pong'",)),
    ({"x": {"use": "company_tools:number"}}, ("tools.x.use", "neither a tool, nor a function")),
    ({"x": {"use": "company_tools:ping", "level": 1}}, ("tools.x.level", "takes no settings")),
    ({"x": {"use": "company_tools:make_none"}}, ("tools.x.use", "must return a tool", "NoneType")),
    ({"x": {"use": "company_tools:make_checked", "level": "low"}}, ("tools.x.level: should be a valid integer",)),
    ({"x": {"use": "company_tools:make_broken"}}, ("tools.x: company_tools:make_broken failed: OSError", "redacted")),
    ({"x": {"use": "company_tools:make_refused"}}, ("Only on Mondays.",)),
    ({"ping": {"use": "company_tools:ping"}, "x": {"use": "company_tools:make_ping"}}, ("tools.x.use",)),
    ({"b_a": {"use": "company_tools:ping"}, "b": {"use": "company_tools:make_two"}}, ("two tools named 'b_a'",)),
)


@pytest.mark.parametrize(("tables", "says"), WRONG, ids=[says[0] for _, says in WRONG])
def test_a_wrong_table_is_refused_naming_the_key_and_what_is_allowed(
    tables: dict[str, Any], says: tuple[str, ...], place: ToolPlace
) -> None:
    with pytest.raises(UsageError) as caught:
        build_registry(tables, place)
    for part in says:
        assert part in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "https://" not in str(caught.value)


def test_a_module_that_breaks_while_importing_says_so(place: ToolPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    (place.base / "company_broken.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(place.base))
    with pytest.raises(UsageError, match=r"tools\.x\.use: company_broken can't be imported: ZeroDivisionError"):
        build_registry({"x": {"use": "company_broken:ping"}}, place)
