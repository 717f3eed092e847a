"""A real Temporal dev server that skips time: what waits for hours in production is waited for in milliseconds."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.testing import WorkflowEnvironment

from opspilot.core.contract import SEARCH_ATTRIBUTE_TYPES
from opspilot.embedded import server_binary
from opspilot.temporal import PASSED_THROUGH, plugin

_KEYS: dict[str, Callable[[str], SearchAttributeKey[Any]]] = {
    "Keyword": SearchAttributeKey.for_keyword,
    "Datetime": SearchAttributeKey.for_datetime,
    "KeywordList": SearchAttributeKey.for_keyword_list,
}
ATTRIBUTES: list[SearchAttributeKey[Any]] = [_KEYS[kind](name) for name, kind in SEARCH_ATTRIBUTE_TYPES.items()]

DYNAMIC_CONFIG = {"frontend.WorkflowTimeSkippingEnabled": "true", "history.transferProcessorMaxPollRPS": "5000"}


@asynccontextmanager
async def skipping_server(
    passed_through: tuple[str, ...] = PASSED_THROUGH, dynamic_config: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[Client]:
    """Start a server, and give a client of it. Any number of harnesses can use it; starting takes a second or two.

    `passed_through` names the modules that workflows take from outside their sandbox, `dynamic_config` is Temporal's.
    """
    settings = {**DYNAMIC_CONFIG, **dynamic_config}
    environment = await WorkflowEnvironment.start_time_skipping_v2(
        dev_server_existing_path=str(server_binary()),
        search_attributes=ATTRIBUTES,
        plugins=[plugin(passed_through)],
        dev_server_extra_args=[
            *(f"--dynamic-config-value={name}={value}" for name, value in settings.items()),
            "--log-level=error",
        ],
    )
    async with environment:
        yield environment.client
