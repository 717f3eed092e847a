"""What people are asked: a form of just the missing fields, and a tool's own sentence for a call that is held."""

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from opspilot.core.calls import Gate
from opspilot.core.interrupts import Interrupt, InterruptType, Principal
from opspilot.core.messages import Json
from opspilot.core.policy import Policy, Rule
from opspilot.core.ports import CallContext
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Sensitive, Tool, tool

ANN = Principal("ann")


class Node(BaseModel):
    name: str
    inner: "Node | None" = None


def asking(kind: InterruptType, payload: Mapping[str, Json]) -> Tool:
    @tool()
    def deploy(
        service: str,
        count: Annotated[int, Field(ge=1, description="How many.")] = 1,
        environment: Annotated[Literal["staging", "production"] | None, Field(description="Where to.")] = None,
        zone: Annotated[str | int | None, Field(description="In which zone.")] = None,
        token: Annotated[str, Sensitive(), Field(description="Of the registry.")] = "",
    ) -> Interrupt:
        """Deploy."""
        return Interrupt(kind, "What is missing?", payload)

    return deploy


async def asked(kind: InterruptType, payload: Mapping[str, Json]) -> dict[str, Any]:
    runtime = ToolRuntime(Registry([asking(kind, payload)]))
    returned = await runtime.run("deploy", {"service": "a"}, CallContext("s", "r", "1.1", 1, "k", ANN))
    assert returned.interrupt is not None
    return dict(returned.interrupt.payload)


COUNT = {"description": "How many.", "minimum": 1, "type": "integer"}
ENVIRONMENT = {"description": "Where to.", "enum": ["staging", "production"], "type": "string"}
FORMS: tuple[tuple[dict[str, Json], dict[str, Json]], ...] = (
    ({"fields": ["count"]}, {"count": COUNT}),
    ({"fields": ["environment"]}, {"environment": ENVIRONMENT}),
    (
        {"fields": ["zone"]},
        {"zone": {"description": "In which zone.", "anyOf": [{"type": "string"}, {"type": "integer"}]}},
    ),
    ({"fields": ["ticket", "count"]}, {"ticket": {"type": "string"}, "count": COUNT}),
    (
        {"fields": [{"name": "ticket", "description": "Which one?"}, {"name": "count", "description": "Of what?"}]},
        {"ticket": {"type": "string", "description": "Which one?"}, "count": {**COUNT, "description": "Of what?"}},
    ),
    (
        {"fields": ["environment", "count"], "options": {"environment": ["staging"]}},
        {"environment": {"description": "Where to.", "enum": ["staging"]}, "count": COUNT},
    ),
    ({"fields": ["ticket"], "options": ["A-1", 2]}, {"ticket": {"enum": ["A-1", 2]}}),
    ({"fields": ["ticket", "count"], "options": ["A-1"]}, {"ticket": {"type": "string"}, "count": COUNT}),
    (
        {"fields": ["token"], "options": {"token": []}},
        {"token": {"description": "Of the registry.", "type": "string", "writeOnly": True}},
    ),
)


@pytest.mark.parametrize(("payload", "properties"), FORMS)
async def test_a_question_about_missing_fields_comes_with_a_form_of_just_these(
    payload: dict[str, Json], properties: dict[str, Json]
) -> None:
    shown = await asked(InterruptType.PARAMS_REQUIRED, payload)
    assert shown["schema"] == {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    assert shown["fields"] == list(properties)


@pytest.mark.parametrize("fields", [[], None, "count", [None, 5, {"description": "no name"}]])
async def test_a_question_that_names_no_field_has_no_form(fields: Json) -> None:
    shown = await asked(InterruptType.PARAMS_REQUIRED, {"fields": fields})
    assert shown == {"fields": fields}


async def test_a_tools_own_form_is_kept_to_the_letter() -> None:
    form = {"type": "object", "properties": {"password": {"type": "string", "description": "for a@example.com"}}}
    shown = await asked(InterruptType.PARAMS_REQUIRED, {"fields": ["password"], "schema": form, "password": "hunter2"})
    assert shown == {"fields": ["password"], "schema": form, "password": "[redacted:secret]"}


async def test_other_questions_have_no_form_but_names_for_their_fields() -> None:
    payload = {"fields": [{"name": "answer"}], "options": {"answer": ["yes"]}}
    assert await asked(InterruptType.QUESTION, payload) == {"fields": ["answer"], "options": {"answer": ["yes"]}}


async def test_a_form_brings_the_definitions_that_it_refers_to() -> None:
    @tool()
    def graft(node: Node) -> Interrupt:
        """Graft."""
        return Interrupt(InterruptType.PARAMS_REQUIRED, "Which?", {"fields": ["node"]})

    context = CallContext("s", "r", "1.1", 1, "k", ANN)
    returned = await ToolRuntime(Registry([graft])).run("graft", {"node": {"name": "a"}}, context)
    assert returned.interrupt is not None
    form = returned.interrupt.payload["schema"]
    assert form["properties"] == {"node": {"$ref": "#/$defs/Node"}}
    assert form["$defs"] == graft.input_schema["$defs"]


# ---------------------------------------------------------------- a tool's own sentence


class Colour(Enum):
    RED = "red"


def reason_of(question: Any, policy: Policy = Policy()) -> str:
    @tool(question=question)
    def paint(colour: Colour, code: Annotated[str, Sensitive()] = "hunter22", coats: int = 2) -> None:
        """Paint."""

    verdict = ToolRuntime(Registry([paint]), policy).judge("paint", {"colour": "red"}, ANN)
    assert verdict.gate is Gate.CONFIRM
    return verdict.message


def broken(**_: Any) -> str:
    raise SystemError("password=hunter2")


SENTENCES: tuple[tuple[Any, str], ...] = (
    ("Paint the town?", "Paint the town?"),
    (lambda colour, coats, **_: f"Paint it {colour.value}, {coats} times?", "Paint it red, 2 times?"),
    (lambda **_: "Tell a@example.com\n to wait?", "Tell [redacted:email] to wait?"),
    (lambda **_: "x" * 1000, "x" * 299 + "…"),
    (lambda **_: None, ""),
    (lambda **_: 5, "5"),
    (broken, ""),
    ("", ""),
)


@pytest.mark.parametrize(("question", "said"), SENTENCES)
def test_a_held_call_asks_what_its_tool_says_on_one_redacted_line_whatever_that_does(question: Any, said: str) -> None:
    assert reason_of(question) == said


def test_the_rules_own_reason_goes_first() -> None:
    rules = Policy((Rule("frozen", Gate.CONFIRM, reason="There is a freeze."),))
    assert reason_of("Paint?", rules) == "There is a freeze."


def test_a_call_that_nobody_is_asked_about_is_not_put_into_words() -> None:
    said: list[str] = []

    def now() -> str:
        said.append("asked")
        return "Now?"

    @tool(question=now)
    def ring() -> None:
        """Ring."""

    runtime = ToolRuntime(Registry([ring]), Policy((Rule("free", Gate.RUN),)))
    assert (runtime.judge("ring", {}, ANN).message, said) == ("", [])


async def later(colour: str) -> str:
    return colour


@pytest.mark.parametrize(
    ("question", "says"),
    [(lambda: "?", "must take the tool's parameters"), (lambda a, b: "?", "colour"), (later, "plain function")],
)
def test_a_sentence_that_could_never_be_made_is_refused_at_declaration(question: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):

        @tool(question=question)
        def paint(colour: str) -> None:
            """Paint."""
