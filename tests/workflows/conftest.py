"""One real dev server with skipped time for all workflow tests; each test has a journal, queue and tools of its own."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.testing import TimeSkipper, TimeSkippingConfig

from opspilot.testing import skipping_server
from tests.workflows.desk import Desk


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client() -> AsyncIterator[Client]:
    """A client whose workflows skip time; nothing is passed through the sandbox, so that impurity is caught."""
    async with skipping_server(passed_through=()) as client:
        yield client


@pytest.fixture(scope="session")
def clock(client: Client) -> TimeSkipper:
    """Workflows that are started through its client wait in earnest, until their time is moved on by hand."""
    return TimeSkipper(client, config=TimeSkippingConfig(enabled=False))


@pytest.fixture(params=[pytest.param(100, id="cached"), pytest.param(0, id="uncached")])
def desk(request: pytest.FixtureRequest, client: Client, tmp_path: Path) -> Desk:
    """Once with workflows kept in memory, once replayed from history at every task."""
    return Desk(client, f"q-{uuid.uuid4().hex[:8]}", tmp_path, request.param)
