"""How a tool is declared: a typed function with a docstring becomes a frozen `Tool`.

Owns the decorator, the JSON Schema that models are shown, and the binding of a model's arguments to the function's
parameters. Knows nothing of who may call a tool, how it is run, or where tools come from.
"""

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, create_model
from pydantic.errors import PydanticUserError
from pydantic_core import CoreSchema

from opspilot.core.calls import Effect
from opspilot.core.errors import OpsPilotError
from opspilot.core.messages import Json, ToolSpec
from opspilot.core.observations import ErrorCode
from opspilot.core.ports import CallContext, Journal

__all__ = ["NAME_PATTERN", "Sensitive", "Tool", "ToolError", "ToolPlace", "tool"]

NAME_PATTERN = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
"""What both OpenAI and Anthropic accept as a function name."""


class ToolError(OpsPilotError):
    """Raised by a tool to fail with a sentence that the model and people may read.

    A write that surely did nothing says so with `ErrorCode.NOT_STARTED`.
    """

    def __init__(self, message: str, code: ErrorCode = ErrorCode.TOOL_FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.code = ErrorCode(code)


class Sensitive:
    """Marks a parameter whose value only the tool and the journal may have: `Annotated[str, Sensitive()]`.

    Its schema gets `writeOnly`, which pydantic's `SecretStr` has by itself.
    """

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Json]:
        """What it describes, marked."""
        return {**handler.resolve_ref_schema(handler(core)), "writeOnly": True}


@dataclass(frozen=True)
class ToolPlace:
    """Where a tool lives: `base` is what relative paths in opspilot.toml start from, `state` is ours to write in."""

    base: Path
    state: Path
    journal: Journal | None = None


@dataclass(frozen=True)
class Tool:
    """A declared tool. Two tools with the same function may differ in name, roles or limits (`dataclasses.replace`).

    `timeout_seconds` None means the runtime's default. `roles`: whoever has one of them may call; none means everyone.
    `reconcile(idempotency_key)` says what became of a write whose result was lost: it returns what the call would have
    returned, None when it can't say, or raises `ToolError` (with `NOT_STARTED` when it surely did not happen).
    `question` is what a person is asked who must agree to a call. `prepared` says that results are pieces of ones that
    were redacted and trimmed before, and must stay as they are.
    """

    name: str
    description: str
    input_schema: Mapping[str, Json]
    function: Callable[..., Any]
    arguments: type[BaseModel]
    parameters: tuple[str, ...]
    context_parameter: str | None = None
    effect: Effect = Effect.WRITE
    concurrent: bool = False
    polling: bool = False
    idempotent: bool = False
    timeout_seconds: float | None = None
    roles: tuple[str, ...] = ()
    reconcile: Callable[[str], Any] | None = None
    question: str | Callable[..., str] = ""
    prepared: bool = False

    @property
    def spec(self) -> ToolSpec:
        """The tool as models are shown it."""
        return ToolSpec(self.name, self.description, self.input_schema)

    def bind(self, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """Validated values for the function's parameters, by name. Raises `pydantic.ValidationError`."""
        model = self.arguments.model_validate(dict(arguments))
        return {name: getattr(model, _field(index)) for index, name in enumerate(self.parameters)}

    def understood(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """The arguments as the function gets them, in JSON's shape: what was left out is there, and `"3"` may be 3.

        What doesn't read the same again as it is written, such as a secret, is there as it was given. Raises
        `pydantic.ValidationError`, and whatever a type of the tool's own raises.
        """
        model = self.arguments.model_validate(dict(arguments))
        written = model.model_dump(mode="json", by_alias=True, fallback=str, warnings=False)
        for index, name in enumerate(self.parameters):
            if not self._reads_the_same({**arguments, name: written[name]}, model, _field(index)):
                del written[name]
        return {**arguments, **written}

    def _reads_the_same(self, arguments: Mapping[str, Json], model: BaseModel, field: str) -> bool:
        try:
            again = self.arguments.model_validate(dict(arguments))
            return bool(getattr(again, field) == getattr(model, field))
        except Exception:  # noqa: BLE001 a type of the tool's own may raise anything
            return False


def tool(  # noqa: PLR0913 options are parameters
    *,
    name: str | None = None,
    effect: Effect | Literal["read", "write"] = Effect.WRITE,
    concurrent: bool | None = None,
    polling: bool = False,
    idempotent: bool = False,
    timeout_seconds: float | None = None,
    roles: Sequence[str] = (),
    reconcile: Callable[[str], Any] | None = None,
    question: str | Callable[..., str] = "",
) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function. Raises `TypeError`, at declaration, for what could not work later.

    The docstring is the description that models read. A first parameter annotated `CallContext` is given the call's
    context and isn't shown to models; all others must be annotated, and are described by `Annotated[…, Field(…)]`.
    `concurrent` says whether the tool may run beside others; left open, reads may and writes may not. `question` is the
    sentence for a person who must agree before the tool runs: a text, or a function of the tool's parameters, which
    must be quick and change nothing.
    """

    def declare(function: Callable[..., Any]) -> Tool:
        own_name = name if name is not None else getattr(function, "__name__", "")
        _check(own_name, function, timeout_seconds, roles)
        kind = _effect(own_name, effect)
        context_parameter, parameters = _parameters(own_name, function)
        _check_question(own_name, question, parameters)
        arguments = _arguments_model(own_name, parameters)
        return Tool(
            name=own_name,
            description=inspect.cleandoc(function.__doc__ or ""),
            input_schema=_schema(own_name, arguments),
            function=function,
            arguments=arguments,
            parameters=tuple(parameters),
            context_parameter=context_parameter,
            effect=kind,
            concurrent=kind is Effect.READ if concurrent is None else concurrent,
            polling=polling,
            idempotent=idempotent,
            timeout_seconds=timeout_seconds,
            roles=tuple(roles),
            reconcile=reconcile,
            question=question,
        )

    return declare


def _check(name: str, function: Callable[..., Any], timeout_seconds: float | None, roles: Sequence[str]) -> None:
    if not NAME_PATTERN.fullmatch(name):
        raise TypeError(f"A tool's name must match {NAME_PATTERN.pattern}, and {name!r} does not.")
    if not (function.__doc__ or "").strip():
        raise TypeError(f"Tool {name!r} needs a docstring: it is the description that the model reads.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"Tool {name!r} must return its result, not yield it.")
    if timeout_seconds is not None and not (timeout_seconds > 0 and math.isfinite(timeout_seconds)):
        raise TypeError(f"Tool {name!r}: timeout_seconds must be above 0, not {timeout_seconds!r}.")
    if isinstance(roles, str) or not all(roles):
        raise TypeError(f"Tool {name!r}: roles must be a sequence of names, not {roles!r}.")


def _check_question(name: str, question: str | Callable[..., str], parameters: Mapping[str, Any]) -> None:
    if inspect.iscoroutinefunction(question):
        raise TypeError(f"Tool {name!r}: question must be a plain function.")
    if callable(question):
        try:
            inspect.signature(question).bind(**dict.fromkeys(parameters))
        except (TypeError, ValueError) as error:
            known = ", ".join(parameters) or "none"
            raise TypeError(f"Tool {name!r}: question must take the tool's parameters ({known}): {error}") from error


def _effect(name: str, effect: Effect | str) -> Effect:
    try:
        return Effect(effect)
    except ValueError:
        raise TypeError(f"Tool {name!r}: effect must be 'read' or 'write', not {effect!r}.") from None


def _parameters(name: str, function: Callable[..., Any]) -> tuple[str | None, dict[str, tuple[Any, Any]]]:
    """The name of the context parameter, if there is one, and (annotation, default) of each other parameter."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except (NameError, TypeError, ValueError, SyntaxError, AttributeError) as error:
        raise TypeError(f"Tool {name!r}: its annotations can't be read: {error}") from error
    context_parameter: str | None = None
    parameters: dict[str, tuple[Any, Any]] = {}
    for position, parameter in enumerate(signature.parameters.values()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"Tool {name!r}: parameter {parameter.name!r} must be one that can be given by name.")
        if parameter.annotation is parameter.empty:
            raise TypeError(f"Tool {name!r}: parameter {parameter.name!r} has no annotation.")
        if parameter.annotation is not CallContext:
            parameters[parameter.name] = (parameter.annotation, parameter.default)
        elif position == 0:
            context_parameter = parameter.name
        else:
            raise TypeError(f"Tool {name!r}: only the first parameter may be the call's context.")
    return context_parameter, parameters


def _field(index: int) -> str:
    """Fields are numbered and known by alias, so that a parameter may be called `json`, `copy` or `_x`."""
    return f"field_{index}"


def _arguments_model(name: str, parameters: Mapping[str, tuple[Any, Any]]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for index, (parameter, (annotation, default)) in enumerate(parameters.items()):
        aliased: Any = Annotated[annotation, Field(alias=parameter)]
        fields[_field(index)] = aliased if default is inspect.Parameter.empty else (aliased, default)
    try:
        return create_model("Arguments", __config__=ConfigDict(extra="forbid", allow_inf_nan=False), **fields)
    except (PydanticUserError, TypeError) as error:
        raise TypeError(f"Tool {name!r}: a parameter's type can't be read from JSON: {error}") from error


def _schema(name: str, arguments: type[BaseModel]) -> dict[str, Json]:
    try:
        with_titles = arguments.model_json_schema()
    except PydanticUserError as error:
        raise TypeError(f"Tool {name!r}: a parameter can't be described as JSON Schema: {error}") from error
    definitions = with_titles.pop("$defs", {})
    inline = definitions if not _recursive(definitions) else {}
    schema: dict[str, Json] = _tidy(with_titles, inline)
    schema.setdefault("properties", {})
    schema["additionalProperties"] = False
    if definitions and not inline:
        schema["$defs"] = {key: _tidy(value, {}) for key, value in definitions.items()}
    return schema


_REF = "#/$defs/"
_NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_DATA = frozenset({"default", "const", "enum", "examples", "required"})


def _recursive(definitions: Mapping[str, Json]) -> bool:
    """Does any definition reach itself?"""

    def reaches(value: Json, path: frozenset[str]) -> bool:
        if isinstance(value, list):
            return any(reaches(item, path) for item in value)
        if not isinstance(value, dict):
            return False
        ref = value.get("$ref")
        if isinstance(ref, str):
            target = ref.removeprefix(_REF)
            if target in path or reaches(definitions.get(target), path | {target}):
                return True
        return any(reaches(item, path) for item in value.values())

    return any(reaches(definitions[key], frozenset({key})) for key in definitions)


def _tidy(schema: Json, definitions: Mapping[str, Json]) -> Json:
    """A schema without the titles that pydantic makes of names, and with the given definitions put in place."""
    if isinstance(schema, list):
        return [_tidy(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    ref = schema.get("$ref")
    if isinstance(ref, str) and ref.removeprefix(_REF) in definitions:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _tidy({**definitions[ref.removeprefix(_REF)], **beside}, definitions)
    tidy: dict[str, Json] = {}
    for key, value in schema.items():
        if key == "title" or (key == "discriminator" and definitions):
            continue
        if key in _NAMED_SCHEMAS:
            tidy[key] = {name: _tidy(item, definitions) for name, item in value.items()}
        else:
            tidy[key] = value if key in _DATA else _tidy(value, definitions)
    return tidy
