"""What a person agrees to is what runs, also what the model left out, whatever the tool's next version would add."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from opspilot.core.calls import Gate, digest
from opspilot.core.entries import Kind
from opspilot.core.interrupts import AnswerAction, Principal
from opspilot.core.policy import Policy, Rule
from opspilot.core.sensitive import masked
from opspilot.core.terms import Terms
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import tool
from tests.activities.desk import Desk, call

ENGINEER = Principal("me", roles=("engineer",))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, policy=Policy())


async def test_a_person_is_shown_the_defaults_and_the_call_runs_with_them(desk: Desk) -> None:
    outcome = await desk.propose(call("needs_place", name="x"))
    shown = desk.only(Kind.INTERRUPT_OPENED).data
    assert shown["arguments"] == {"name": "x", "place": ""}
    judged = await desk.judge(AnswerAction.APPROVE, "1.1#0", digest=outcome.calls[0].shown)
    assert judged.digest == digest({"name": "x", "place": ""})
    assert desk.only(Kind.INTERRUPT_ANSWERED).data["arguments"] == {"name": "x", "place": ""}


async def test_a_secret_that_somebody_agreed_to_unseen_is_what_the_tool_gets(tmp_path: Path) -> None:
    got: list[str] = []

    @tool()
    def log_in(password: SecretStr, user: str = "root") -> str:
        """Log in."""
        got.append(f"{user} {password.get_secret_value()}")
        return "in"

    desk = Desk(tmp_path, policy=Policy())
    desk.tools = ToolRuntime(Registry([log_in]), Policy())
    await desk.propose(call("log_in", password="hunter22"))
    shown = masked(desk.only(Kind.INTERRUPT_OPENED)).data["arguments"]
    assert shown == {"password": "[redacted:sensitive]", "user": "root"}
    judged = await desk.judge(AnswerAction.APPROVE, "1.1#0")
    await desk.act(digest=judged.digest)
    assert got == ["root hunter22"]


async def test_with_other_arguments_than_were_agreed_on_nothing_runs(desk: Desk) -> None:
    await desk.propose(call("change", name="x"))
    await desk.judge(AnswerAction.APPROVE, "1.1#0")
    with pytest.raises(Exception, match="agreed on with other arguments"):
        await desk.act(digest=digest({"name": "y"}))
    assert desk.done == []


async def test_a_held_call_that_nobody_agreed_to_never_runs(desk: Desk) -> None:
    await desk.propose(call("change", name="x"))
    with pytest.raises(Exception, match="needs a person's agreement"):
        await desk.act()
    assert desk.done == []


async def test_an_edit_that_is_asked_about_anew_never_runs_before_that_is_answered(tmp_path: Path) -> None:
    two_people = Policy((Rule("two", Gate.CONFIRM, terms=Terms(quorum=2)),))
    desk = Desk(tmp_path, policy=two_people)
    await desk.propose(call("change", name="x"))
    edited = await desk.judge(AnswerAction.PROVIDE, "1.1#0", principal=ENGINEER, values={"name": "y"})
    assert edited.asked is not None
    with pytest.raises(Exception, match="needs a person's agreement"):
        await desk.act(round_=2, digest=edited.digest)
    assert desk.done == []
    agreed = await desk.judge(AnswerAction.APPROVE, "1.1#1", "a-2", principal=Principal("boss"))
    await desk.act(round_=2, digest=agreed.digest)
    assert desk.done == ["change y"]


async def test_an_edit_is_shown_whole_to_whoever_has_to_agree_next(tmp_path: Path) -> None:
    desk = Desk(tmp_path, policy=Policy())
    await desk.propose(call("needs_place", name="x"))
    judged = await desk.judge(AnswerAction.PROVIDE, "1.1#0", values={"place": "there"})
    assert (judged.accepted, judged.asked) == (True, None)
    assert judged.digest == digest({"name": "x", "place": "there"})
