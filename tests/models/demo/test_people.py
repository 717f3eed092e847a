"""The planner looks; it asks nobody, unless it is made to."""

from pathlib import Path

import pytest

from opspilot.core.messages import ModelRequest, ToolSpec, UserMessage
from opspilot.models.demo.model import decide
from opspilot.tools.registry import build_registry
from opspilot.tools.spec import ToolPlace


def built_in() -> ToolSpec:
    return build_registry({}, ToolPlace(Path(), Path()))["ask_human"].spec


@pytest.mark.parametrize("question", ["ask a person", "Is anybody waiting for an answer?", "请问负责人是谁"])
def test_a_tool_that_asks_people_is_left_alone(question: str) -> None:
    other = ToolSpec("ask_someone", "Asks the colleague on duty.", built_in().input_schema)
    for tool in (built_in(), other):
        answer, calls = decide(ModelRequest((UserMessage(question),), (tool,)))
        assert calls == ()
        assert answer


def test_it_is_called_when_it_must_be() -> None:
    request = ModelRequest((UserMessage("Which region is meant?"),), (built_in(),), force="ask_human")
    ((call,)) = decide(request)[1]
    assert call.name == "ask_human"
