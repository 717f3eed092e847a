"""A form shows a mask for what is sensitive, and sends it back: wherever it stands, it leaves the value as it is."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from opspilot.core.contract import AnswerJudged, JudgeAnswer
from opspilot.core.entries import Kind
from opspilot.core.interrupts import Answer, AnswerAction
from opspilot.core.policy import Policy
from opspilot.core.sensitive import MASK
from opspilot.keeping import keep
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Sensitive, tool
from tests.activities.desk import ME, Desk, call

pytestmark = pytest.mark.asyncio


class Login(BaseModel):
    user: str
    password: Annotated[str, Sensitive()] = ""


PROPOSED = {"login": {"user": "root", "password": "hunter22"}, "more": [{"user": "a", "password": "swordfish"}]}


@pytest.fixture
async def desk(tmp_path: Path) -> Desk:
    """With a question about `PROPOSED`."""

    @tool()
    def log_in(login: Login, more: list[Login] = []) -> str:  # noqa: B006 a default that nobody changes
        """Log in."""
        return f"{login}{more}"

    desk = Desk(tmp_path, policy=Policy())
    desk.tools = ToolRuntime(Registry([log_in]), Policy())
    await desk.propose(call("log_in", **PROPOSED))
    return desk


async def edited(desk: Desk, values: dict[str, Any]) -> AnswerJudged:
    """As a client sends it and a worker judges it."""
    answer = Answer("a-1", "1.1#0", AnswerAction.PROVIDE, ME, values)
    sent = keep(desk.journal, desk.session, "run-1", answer, datetime.now(UTC))
    assert "hunter" not in str(sent)
    return await desk.do(desk.judging.judge, JudgeAnswer("run-1", sent))


@pytest.mark.parametrize(
    ("values", "agreed"),
    [
        (
            {"login": {"user": "ann", "password": MASK}},
            {**PROPOSED, "login": {"user": "ann", "password": "hunter22"}},
        ),
        (
            {"login": MASK, "more": [{"user": "b", "password": MASK}]},
            {**PROPOSED, "more": [{"user": "b", "password": "swordfish"}]},
        ),
        (
            {"login": {"user": "ann", "password": "hunter33"}, "more": []},
            {"login": {"user": "ann", "password": "hunter33"}, "more": []},
        ),
        (
            {"more": [{"user": "a", "password": MASK}, {"user": "b", "password": "new"}]},
            {**PROPOSED, "more": [{"user": "a", "password": "swordfish"}, {"user": "b", "password": "new"}]},
        ),
    ],
)
async def test_a_mask_leaves_the_value_that_it_stands_for(
    desk: Desk, values: dict[str, Any], agreed: dict[str, Any]
) -> None:
    assert (await edited(desk, values)).accepted
    assert desk.only(Kind.INTERRUPT_ANSWERED).data["arguments"] == agreed


async def test_a_mask_that_stands_for_nothing_is_no_value(desk: Desk) -> None:
    values = {"more": [{"user": "a", "password": "new"}, {"user": "b", "password": MASK}]}
    judged = await edited(desk, values)
    assert (judged.accepted, "not kept" in judged.detail) == (False, True)
    assert len(desk.journal.open_interrupts()) == 1
