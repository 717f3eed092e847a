"""Declaring a tool: what models are shown of it, how arguments are bound, and what is refused at once."""

import enum
import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from opspilot.core.calls import Effect
from opspilot.core.messages import Json
from opspilot.core.ports import CallContext
from opspilot.tools.spec import Tool, ToolError, tool


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Filter(BaseModel):
    title: str
    level: Level = Level.LOW


class Node(BaseModel):
    children: list["Node"] = []


def word(name: Annotated[str, Field(description="Which one.", min_length=1)], limit: int = 20) -> None:
    """Find it."""


def odd_names(json: str, copy: int, _x: bool, model_config: str = "") -> None:
    """Parameters that pydantic models can't have as fields."""


def choices(kind: Literal["a", "b"], since: date | None = None) -> None:
    """Choose."""


def nested(filter: Filter) -> None:
    """Nested."""


def recursive(node: Node) -> None:
    """Recursive."""


def nothing() -> None:
    """No parameters."""


def with_context(context: CallContext, name: str) -> None:
    """With a context."""


def ordinary_context(context: int) -> None:
    """A parameter that is only called context."""


SCHEMAS: tuple[tuple[Callable[..., Any], dict[str, Json], list[str]], ...] = (
    (
        word,
        {
            "name": {"type": "string", "description": "Which one.", "minLength": 1},
            "limit": {"type": "integer", "default": 20},
        },
        ["name"],
    ),
    (
        odd_names,
        {
            "json": {"type": "string"},
            "copy": {"type": "integer"},
            "_x": {"type": "boolean"},
            "model_config": {"type": "string", "default": ""},
        },
        ["json", "copy", "_x"],
    ),
    (
        choices,
        {
            "kind": {"type": "string", "enum": ["a", "b"]},
            "since": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
        },
        ["kind"],
    ),
    (
        nested,
        {
            "filter": {
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "level": {"type": "string", "enum": ["low", "high"], "default": "low"},
                },
                "required": ["title"],
            }
        },
        ["filter"],
    ),
    (nothing, {}, []),
    (with_context, {"name": {"type": "string"}}, ["name"]),
    (ordinary_context, {"context": {"type": "integer"}}, ["context"]),
)


@pytest.mark.parametrize(("function", "properties", "required"), SCHEMAS)
def test_the_schema_is_plain_json_schema(
    function: Callable[..., Any], properties: dict[str, Json], required: list[str]
) -> None:
    schema = dict(tool()(function).input_schema)
    assert schema.pop("required", []) == required
    assert schema == {"type": "object", "properties": properties, "additionalProperties": False}


def test_a_type_that_contains_itself_keeps_its_definition() -> None:
    schema = tool()(recursive).input_schema
    node = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}, "default": []}},
    }
    assert schema["properties"] == {"node": {"$ref": "#/$defs/Node"}}
    assert schema["$defs"] == {"Node": node}


def test_the_docstring_is_the_description_without_its_indentation() -> None:
    @tool()
    def lookup() -> None:
        """First line.

        Second paragraph,
            indented.
        """

    assert lookup.description == "First line.\n\nSecond paragraph,\n    indented."
    assert lookup.spec.name == "lookup"
    assert lookup.spec.description == lookup.description


@pytest.mark.parametrize(
    ("declared", "effect", "concurrent"),
    [
        (tool()(word), Effect.WRITE, False),
        (tool(effect="read")(word), Effect.READ, True),
        (tool(effect=Effect.READ, concurrent=False)(word), Effect.READ, False),
        (tool(effect="write", concurrent=True)(word), Effect.WRITE, True),
    ],
)
def test_undeclared_means_write_and_only_reads_run_beside_others_unless_said(
    declared: Tool, effect: Effect, concurrent: bool
) -> None:
    assert (declared.effect, declared.concurrent) == (effect, concurrent)


GOOD_ARGUMENTS: tuple[tuple[Callable[..., Any], Mapping[str, Json], dict[str, Any]], ...] = (
    (word, {"name": "a"}, {"name": "a", "limit": 20}),
    (word, {"name": "a", "limit": "5"}, {"name": "a", "limit": 5}),
    (word, {"name": "a", "limit": 5.0}, {"name": "a", "limit": 5}),
    (choices, {"kind": "b", "since": "2026-11-30"}, {"kind": "b", "since": date(2026, 11, 30)}),
    (nested, {"filter": {"title": "t"}}, {"filter": Filter(title="t")}),
    (odd_names, {"json": "{}", "copy": 1, "_x": True}, {"json": "{}", "copy": 1, "_x": True, "model_config": ""}),
    (with_context, {"name": "a"}, {"name": "a"}),
)


@pytest.mark.parametrize(("function", "arguments", "values"), GOOD_ARGUMENTS)
def test_good_arguments_become_typed_values(
    function: Callable[..., Any], arguments: Mapping[str, Json], values: dict[str, Any]
) -> None:
    assert tool()(function).bind(arguments) == values


BAD_ARGUMENTS: tuple[tuple[Callable[..., Any], Mapping[str, Json]], ...] = (
    (word, {}),
    (word, {"name": ""}),
    (word, {"name": 5}),
    (word, {"name": "a", "limit": "five"}),
    (word, {"name": "a", "limit": 5.5}),
    (word, {"name": "a", "other": 1}),
    (word, {"field_0": "a"}),
    (choices, {"kind": "c"}),
    (choices, {"kind": "a", "since": "yesterday"}),
    (nested, {"filter": {}}),
    (with_context, {"name": "a", "context": {}}),
)


@pytest.mark.parametrize(("function", "arguments"), BAD_ARGUMENTS)
def test_bad_arguments_do_not_validate(function: Callable[..., Any], arguments: Mapping[str, Json]) -> None:
    with pytest.raises(ValidationError):
        tool()(function).bind(arguments)


def test_a_default_list_is_not_shared_between_calls() -> None:
    @tool()
    def tagged(tags: list[str] = []) -> None:  # noqa: B006 - what is tested
        """Tagged."""

    tagged.bind({})["tags"].append("x")
    assert tagged.bind({}) == {"tags": []}


def without_docstring(name: str) -> None: ...


def unannotated(name) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """No annotation."""


def any_number(*names: str) -> None:
    """Any number."""


def by_position(name: str, /) -> None:
    """By position."""


def late_context(name: str, context: CallContext) -> None:
    """Late."""


def unreadable(name: Callable[[], int]) -> None:
    """No JSON is a function."""


def unknown_name(name: "Unheard") -> None:  # type: ignore[name-defined]  # noqa: F821
    """An annotation that names nothing."""


def yields() -> Iterator[int]:
    """Yields."""
    yield 1


async def yields_later() -> AsyncIterator[int]:
    """Yields."""
    yield 1


REFUSED: tuple[tuple[Callable[..., Any], dict[str, Any], str], ...] = (
    (without_docstring, {}, "docstring"),
    (unannotated, {}, "'name' has no annotation"),
    (any_number, {}, "'names' must be one that can be given by name"),
    (by_position, {}, "'name' must be one that can be given by name"),
    (late_context, {}, "only the first parameter"),
    (unreadable, {}, "JSON Schema"),
    (unknown_name, {}, "Unheard"),
    (yields, {}, "yield"),
    (yields_later, {}, "yield"),
    (functools.partial(word, limit=3), {}, "name must match"),
    (word, {"name": "two words"}, "name must match"),
    (word, {"name": "1st"}, "name must match"),
    (word, {"name": "x" * 65}, "name must match"),
    (word, {"name": ""}, "name must match"),
    (word, {"effect": "erase"}, "'read' or 'write'"),
    (word, {"timeout_seconds": 0}, "timeout_seconds"),
    (word, {"timeout_seconds": float("inf")}, "timeout_seconds"),
    (word, {"roles": "admin"}, "roles"),
)


@pytest.mark.parametrize(("function", "options", "says"), REFUSED)
def test_what_could_not_work_is_refused_at_declaration(
    function: Callable[..., Any], options: dict[str, Any], says: str
) -> None:
    with pytest.raises(TypeError, match=says):
        tool(**options)(function)


def test_a_bound_method_is_a_tool_like_any_function(tmp_path: Path) -> None:
    class Catalogue:
        def find(self, context: CallContext, name: str) -> str:
            """Find."""
            return name

    find = tool(name="find_it")(Catalogue().find)
    assert find.context_parameter == "context"
    assert find.parameters == ("name",)
    assert find.function(context=None, name="x") == "x"


def test_a_tool_error_carries_its_sentence_and_refuses_codes_outside_the_vocabulary() -> None:
    assert str(ToolError("It is away.")) == "It is away."
    with pytest.raises(ValueError, match="nonsense"):
        ToolError("It is away.", "nonsense")  # type: ignore[arg-type]
