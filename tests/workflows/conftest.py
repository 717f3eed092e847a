"""One real dev server with skipped time for all workflow tests; each test has a journal, queue and tools of its own."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.testing import WorkflowEnvironment

from opspilot.core.contract import SearchAttribute
from opspilot.embedded import server_binary
from opspilot.temporal import plugin
from tests.workflows.desk import Desk

ATTRIBUTES: list[SearchAttributeKey[Any]] = [
    SearchAttributeKey.for_keyword(SearchAttribute.STATUS),
    SearchAttributeKey.for_keyword(SearchAttribute.STOP_REASON),
    SearchAttributeKey.for_keyword(SearchAttribute.USER),
    SearchAttributeKey.for_datetime(SearchAttribute.DUE_AT),
    SearchAttributeKey.for_keyword_list(SearchAttribute.WAITING_FOR),
]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client() -> AsyncIterator[Client]:
    """A client whose workflows skip time; nothing is passed through the sandbox, so that impurity is caught."""
    environment = await WorkflowEnvironment.start_time_skipping_v2(
        dev_server_existing_path=str(server_binary()),
        search_attributes=ATTRIBUTES,
        plugins=[plugin(passed_through=())],
        dev_server_extra_args=[
            "--dynamic-config-value",
            "frontend.WorkflowTimeSkippingEnabled=true",
            "--dynamic-config-value",
            "history.transferProcessorMaxPollRPS=5000",
            "--log-level",
            "error",
        ],
    )
    yield environment.client
    await environment.shutdown()


@pytest.fixture(params=[pytest.param(100, id="cached"), pytest.param(0, id="uncached")])
def desk(request: pytest.FixtureRequest, client: Client, tmp_path: Path) -> Desk:
    """Once with workflows kept in memory, once replayed from history at every task."""
    return Desk(client, f"q-{uuid.uuid4().hex[:8]}", tmp_path, request.param)
