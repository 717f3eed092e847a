"""The test kit's desk with the tools of `toolbox`, and what must hold at the end of any run."""

from pathlib import Path
from typing import Any

from temporalio.client import Client

from opspilot import testing
from opspilot.core.entries import Kind
from opspilot.testing.trial import TESTER as ME
from tests.workflows.toolbox import toolbox

__all__ = ["ME", "Desk", "paired"]


class Desk(testing.Desk):
    """`done` gets a line for each effect that really happened, in order."""

    def __init__(self, client: Client, queue: str, folder: Path, cached_workflows: int, **more: Any) -> None:
        self.done: list[str] = []
        super().__init__(client, queue, folder, toolbox(self.done), cached_workflows=cached_workflows, **more)


def paired(desk: Desk, session: str) -> None:
    """Every proposed call has exactly one result, and every run that started has stopped."""
    calls = [(entry.run, entry.call) for entry in desk.entries(session, Kind.TOOL_CALL)]
    results = [(entry.run, entry.call) for entry in desk.entries(session, Kind.TOOL_RESULT)]
    assert sorted(calls) == sorted(results)
    started = {entry.run for entry in desk.entries(session, Kind.RUN_STARTED)}
    assert started == {entry.run for entry in desk.entries(session, Kind.RUN_STOPPED)}
