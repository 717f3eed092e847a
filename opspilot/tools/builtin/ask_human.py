"""`ask_human`: what only a person knows or may decide is asked, and the run waits for the answer.

Whether a write may run is no question of this tool: the policy asks that, and shows what would run.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.messages import Json
from opspilot.core.ports import CallContext
from opspilot.tools.spec import Tool, ToolPlace, tool

FIELD = "answer"
"""What the reply is called."""

_Question = Annotated[
    str, Field(min_length=1, max_length=1000, description="One question, with all that is needed to understand it.")
]
_Option = Annotated[str, Field(min_length=1, max_length=200)]
_Options = Annotated[
    list[_Option], Field(max_length=20, description="Replies to choose from, if there are only a few good ones.")
]
_Context = Annotated[
    str, Field(max_length=4000, description="What you found so far that helps to decide. Short, facts only.")
]


class Config(BaseModel):
    """Nothing can be set."""

    model_config = ConfigDict(extra="forbid")


def build(name: str, _config: Config, _place: ToolPlace) -> Tool:
    """The tool; it needs nothing of its place."""

    @tool(name=name, effect="read")
    def ask_human(
        call: CallContext, question: _Question, options: _Options | None = None, context: _Context = ""
    ) -> dict[str, Json] | Interrupt:
        """Ask a person for a decision or a fact that no other tool can give you: a preference, a date, what was meant.

        The run waits until somebody answers, maybe for hours: look first, and ask only what you can't find out.
        Don't ask whether a change may be made: propose the change, and a person is asked to agree automatically.
        Returns {"answer": what the person said}.
        """
        if FIELD in call.answers:
            return {FIELD: call.answers[FIELD]}
        payload: dict[str, Json] = {"fields": [FIELD]}
        if options:
            payload["options"] = {FIELD: options}
        if context:
            payload["context"] = context
        return Interrupt(InterruptType.QUESTION, question, payload)

    return ask_human
