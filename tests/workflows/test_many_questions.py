"""A run that asks about very many tools at once waits like any other: what it says of itself fits Temporal's limits."""

import uuid
from pathlib import Path

import pytest
from temporalio.client import Client

from opspilot import testing
from opspilot.core.contract import OpenQuestion, SearchAttribute
from opspilot.core.policy import Policy
from opspilot.tools.spec import Tool, tool
from tests.workflows.test_agent import DONE, call, calls
from workflows.details import WAITING_FOR_BYTES, waiting_for


def named(name: str) -> Tool:
    @tool(name=name)
    def change(what: str) -> str:
        """Change something."""
        return what

    return change


@pytest.mark.asyncio(loop_scope="session")
async def test_sixty_tools_with_the_longest_names_wait_for_people_together(client: Client, tmp_path: Path) -> None:
    tools = [named(f"change_{nth:02d}_".ljust(64, "x")) for nth in range(60)]
    desk = testing.Desk(client, f"q-{uuid.uuid4().hex[:8]}", tmp_path, tools, policy=Policy())
    async with desk.worker([calls(*(call(tool.name, what="x" * 500) for tool in tools)), DONE]):
        asked = await desk.ask()
        await desk.waiting(asked.session, questions=60)
        about = await desk.handle(asked.session).describe()
        named_there = about.search_attributes[SearchAttribute.WAITING_FOR]
        assert named_there[0] == tools[0].name
        await desk.opspilot.stop(asked.session)
        await desk.result(asked)
    assert set(desk.codes(asked.session).values()) == {"cancelled"}


@pytest.mark.parametrize("name", ["t", "change", "x" * 64, "改" * 60])
@pytest.mark.parametrize("many", [0, 1, 30, 128])
def test_names_are_listed_as_far_as_they_fit(name: str, many: int) -> None:
    questions = [OpenQuestion(f"1.{nth}#0", f"{name}{nth:03d}", "d") for nth in range(many)]
    listed = waiting_for(questions)
    assert listed == [question.tool for question in questions[: len(listed)]]
    assert sum(len(name.encode()) + 3 for name in listed) <= WAITING_FOR_BYTES
    assert bool(listed) == bool(many)
