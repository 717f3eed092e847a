"""Runs that were recorded with earlier versions still replay: a new version never breaks a run that is open."""

import asyncio
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from opspilot.temporal import plugin
from workflows.agent import AgentWorkflow

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))


@pytest.mark.parametrize("file", HISTORIES, ids=lambda file: file.stem)
async def test_a_recorded_history_replays(file: Path) -> None:
    text = await asyncio.to_thread(file.read_text, encoding="utf-8")
    replayer = Replayer(workflows=[AgentWorkflow], plugins=[plugin(passed_through=())])
    replayed = await replayer.replay_workflow(WorkflowHistory.from_json("recorded", text))
    assert replayed.replay_failure is None


def test_there_are_histories_to_replay() -> None:
    assert len(HISTORIES) >= 6
