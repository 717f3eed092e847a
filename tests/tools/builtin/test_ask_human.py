"""The tool `ask_human`: it asks once, in the model's words, and hands on what was said."""

import asyncio
from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from opspilot.core.calls import Effect, Gate
from opspilot.core.interrupts import Interrupt, InterruptType, Principal
from opspilot.core.messages import Json
from opspilot.core.ports import CallContext, ToolReturn
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Tool
from tests.tools.builtin.calls import BuildTool

ANN = Principal("ann")


@pytest.fixture
def tool(build_tool: BuildTool) -> Tool:
    return build_tool("ask_human")


def ask(tool: Tool, arguments: dict[str, Json], answers: Mapping[str, Json] | None = None) -> ToolReturn:
    context = CallContext("s", "r", "1.1", 1, "k", ANN, answers=answers or {})
    return asyncio.run(ToolRuntime(Registry([tool])).run("ask_human", arguments, context))


def test_it_is_a_read_beside_others_that_needs_nobodys_agreement(tool: Tool) -> None:
    assert (tool.effect, tool.concurrent) == (Effect.READ, True)
    assert ToolRuntime(Registry([tool])).judge("ask_human", {"question": "Which?"}, ANN).gate is Gate.RUN


def test_it_asks_with_options_and_context_when_there_are_some(tool: Tool) -> None:
    bare = ask(tool, {"question": "Which region?"})
    assert bare.interrupt == Interrupt(InterruptType.QUESTION, "Which region?", {"fields": ["answer"]})
    full = ask(tool, {"question": "Which region?", "options": ["eu", "us"], "context": "Both are up."})
    assert full.interrupt is not None
    assert full.interrupt.payload == {
        "fields": ["answer"],
        "options": {"answer": ["eu", "us"]},
        "context": "Both are up.",
    }


@pytest.mark.parametrize("answer", ["eu", "", None, False, ["eu", "us"]])
def test_it_hands_on_what_was_said(tool: Tool, answer: Json) -> None:
    returned = ask(tool, {"question": "Which region?"}, {"answer": answer})
    assert returned.observation is not None
    assert returned.observation.data == {"answer": answer}


def test_an_answer_under_another_name_is_no_answer(tool: Tool) -> None:
    assert ask(tool, {"question": "Which region?"}, {"region": "eu"}).interrupt is not None


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"question": ""},
        {"question": "x" * 1001},
        {"question": "?", "options": ["x"] * 21},
        {"question": "?", "to": 1},
    ],
)
def test_what_nobody_could_be_asked_is_refused(tool: Tool, arguments: dict[str, Json]) -> None:
    with pytest.raises(ValidationError):
        tool.bind(arguments)
