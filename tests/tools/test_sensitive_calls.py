"""A sensitive argument reaches its tool, and nothing that is said of the call repeats it."""

from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, SecretStr
from structlog.testing import capture_logs

from opspilot.core.calls import Gate
from opspilot.core.interrupts import Interrupt, InterruptType, Principal
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode
from opspilot.core.ports import CallContext, ToolReturn
from opspilot.core.sensitive import MASK
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Sensitive, Tool, ToolError, tool

ANN = Principal("ann")
WORD = "open sesame"


def not_shouted(value: str) -> str:
    if value.isupper():
        raise ValueError(f"{value} is shouted")
    if "!" in value:
        raise KeyError(value)
    return value


Code = Annotated[str, Sensitive(), Field(max_length=20), AfterValidator(not_shouted)]


class Login(BaseModel):
    user: str
    code: Code


def door(does: Any) -> Tool:
    @tool(name="door", question=lambda name, code, login, key: f"Open {name} with {code}?")
    def door(name: str, code: Code = "", login: Login | None = None, key: SecretStr | None = None) -> Any:
        """Open a door."""
        return does(name, code)

    return door


async def run(does: Any, arguments: dict[str, Json]) -> ToolReturn:
    return await ToolRuntime(Registry([door(does)])).run("door", arguments, CallContext("s", "r", "1.1", 1, "k", ANN))


def echo(name: str, code: str) -> Json:
    return {"opened": name, "with": f"<{code}>", code: [code]}


async def test_the_tool_gets_the_value_and_its_result_repeats_a_mask() -> None:
    returned = await run(echo, {"name": "a", "code": WORD})
    assert returned.observation is not None
    assert returned.observation.data == {"opened": "a", "with": f"<{MASK}>", MASK: [MASK]}


async def test_a_question_of_the_tool_repeats_a_mask() -> None:
    def ask(name: str, code: str) -> Interrupt:
        return Interrupt(InterruptType.CONFIRM_RISKY, f"Use {code}?", {"code": code})

    returned = await run(ask, {"name": "a", "code": WORD})
    assert returned.interrupt == Interrupt(InterruptType.CONFIRM_RISKY, f"Use {MASK}?", {"code": MASK})


@pytest.mark.parametrize("kind", [ToolError, ValueError])
async def test_a_failure_repeats_it_neither_to_the_model_nor_in_the_log(kind: type[Exception]) -> None:
    def fail(name: str, code: str) -> None:
        raise kind(f"{'x' * 280} {code} does not fit")

    with capture_logs() as logs:
        returned = await run(fail, {"name": "a", "code": WORD})
    assert returned.observation is not None
    assert "x [redac" in returned.observation.message
    assert "sesame" not in f"{returned} {logs}"


def test_a_held_call_asks_without_it() -> None:
    verdict = ToolRuntime(Registry([door(echo)])).judge("door", {"name": "a", "code": WORD}, ANN)
    assert (verdict.gate, verdict.message) == (Gate.CONFIRM, f"Open a with {MASK}?")


WRONG: tuple[dict[str, Json], ...] = (
    {"name": "a", "code": WORD * 2},
    {"name": "a", "code": WORD.upper()},
    {"name": "a", "code": f"{WORD}!"},
    {"name": "a", "code": [WORD]},
    {"name": "a", "kode": WORD},
    {"name": "a", "login": {"user": "u", "code": WORD * 2}},
    {"name": "a", "login": {"user": 5, "code": WORD}},
    {"name": "a", "login": {"user": "u", "kode": WORD}},
    {"name": "a", "login": f"u:{WORD}"},
    {"name": "a", "key": {"secret": WORD}},
)


@pytest.mark.parametrize("arguments", WRONG)
async def test_what_is_wrong_with_arguments_is_said_without_it(arguments: dict[str, Json]) -> None:
    runtime = ToolRuntime(Registry([door(echo)]))
    verdict = runtime.judge("door", arguments, ANN)
    assert verdict.code is ErrorCode.INVALID_ARGUMENTS
    assert WORD not in verdict.message.lower()
    assert "got 5" in runtime.judge("door", {"name": 5}, ANN).message
    assert WORD not in runtime.summary("door", arguments).lower()


def test_a_summary_shows_a_mask() -> None:
    runtime = ToolRuntime(Registry([door(echo)]))
    login = {"user": "u", "code": WORD}
    line = runtime.summary("door", {"name": "a", "code": WORD, "key": WORD, "login": login})
    assert line == f'door name=a code={MASK} key={MASK} login={{"user":"u","code":"[redacted:sensitive…'
    assert runtime.summary("window", {"code": "x"}) == "window code=x"


def test_the_schema_marks_what_the_declaration_marked() -> None:
    properties = door(echo).input_schema["properties"]
    assert properties["code"] == {"default": "", "maxLength": 20, "type": "string", "writeOnly": True}
    assert properties["login"]["anyOf"][0]["properties"]["code"]["writeOnly"] is True
    assert "writeOnly" not in properties["login"]["anyOf"][0]["properties"]["user"]
    assert "writeOnly" not in properties["name"]
