"""`/api` lists what the API offers; nothing of it comes from another server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client

from tests.web.stand import Stand

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path) as stand:
        yield stand


async def test_every_endpoint_that_is_described_to_programs_is_listed(stand: Stand) -> None:
    client = await stand.program("ann", "viewer")
    html = (await client.get("/api", headers={"Accept": "text/html"})).text
    described = (await client.get("/api/openapi.json")).json()["paths"]
    assert {"/api/sessions", "/api/interrupts/{session}/{interrupt}/answer"} <= set(described)
    for path in described:
        assert f'<span class="mono">{path}</span>' in html
    assert html.count('<span class="mono strong">') == sum(len(methods) for methods in described.values())
    assert "http" not in html.partition("<main")[2].replace("HTTP", "")


async def test_who_has_not_signed_in_is_led_to_where_they_can(stand: Stand) -> None:
    stranger = await stand.anybody(Accept="text/html")
    assert (await stranger.get("/api")).status_code in {303, 401}
