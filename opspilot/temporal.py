"""Everything that is said to Temporal in one place: types on the wire, the sandbox, search attributes, a connection."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.plugin import SimplePlugin
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from opspilot.core.contract import SEARCH_ATTRIBUTE_TYPES
from opspilot.core.errors import Unreachable, UsageError

CONNECT_SECONDS = 5.0

PASSED_THROUGH = (
    "opspilot.core",  # pure by rule and by test; imported again for each workflow it costs 170 ms of CPU
)
"""Modules that the workflow sandbox takes from outside, each with its reason. Tests and replays pass none."""

VALUE_TYPES = {
    "Keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "Datetime": IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
    "KeywordList": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
}


def plugin(passed_through: tuple[str, ...] = PASSED_THROUGH) -> SimplePlugin:
    """The one plugin of clients, workers and replayers: pydantic on the wire, `passed_through` out of the sandbox."""

    def runner(existing: WorkflowRunner | None) -> WorkflowRunner:
        sandbox = existing if isinstance(existing, SandboxedWorkflowRunner) else SandboxedWorkflowRunner()
        return replace(sandbox, restrictions=sandbox.restrictions.with_passthrough_modules(*passed_through))

    return SimplePlugin("opspilot", data_converter=pydantic_data_converter, workflow_runner=runner)


async def connect(address: str | None = None, namespace: str | None = None, *, lazy: bool = False) -> Client:
    """A client for `address`, or for what `temporalio.envconfig` names (environment, profile; else localhost:7233).

    A `lazy` one connects when it is first used, so this succeeds always; `reach` says whether it can be.

    Raises:
        Unreachable: nothing answers there within a few seconds.
    """
    config = ClientConfig.load_client_connect_config()
    if address is not None:
        config = ClientConnectConfig(target_host=address, namespace=namespace or "default")
    where = config.setdefault("target_host", "localhost:7233")
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            client = await Client.connect(**config, plugins=[plugin()], lazy=lazy)
    except (RuntimeError, RPCError, TimeoutError, OSError):
        raise _silent(where) from None
    return client


async def reach(client: Client) -> None:
    """Connect a lazy client, if it isn't. Raises `Unreachable` when nothing answers within a few seconds."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await client.workflow_service.get_system_info(GetSystemInfoRequest())
    except RPCError as error:
        # A server that knows no system information is one that answers.
        if error.status is RPCStatusCode.UNAVAILABLE:
            raise _silent(client.service_client.config.target_host) from None
    except (RuntimeError, TimeoutError, OSError):
        raise _silent(client.service_client.config.target_host) from None


def _silent(where: str) -> Unreachable:
    return Unreachable(
        f"No Temporal server answers at {where}. Start the local one with --local, or name yours in TEMPORAL_ADDRESS."
    )


async def missing_search_attributes(client: Client) -> dict[str, str]:
    """Name -> type of the search attributes that the namespace lacks."""
    present = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    known = set(present.custom_attributes)
    return {name: kind for name, kind in SEARCH_ATTRIBUTE_TYPES.items() if name not in known}


async def register_search_attributes(client: Client) -> tuple[str, ...]:
    """Register what is missing, and wait until the server lists it; the names that were added."""
    missing = await missing_search_attributes(client)
    if not missing:
        return ()
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=client.namespace,
            search_attributes={name: VALUE_TYPES[kind] for name, kind in missing.items()},
        )
    )
    while await missing_search_attributes(client):  # noqa: ASYNC110 only the server knows when they are there
        await asyncio.sleep(timedelta(milliseconds=200).total_seconds())
    return tuple(missing)


async def require_search_attributes(client: Client) -> None:
    """Raises UsageError when one is missing: a run would otherwise be refused, or hang for ever without a word."""
    if missing := await missing_search_attributes(client):
        commands = " ".join(f"--name {name} --type {kind}" for name, kind in missing.items())
        raise UsageError(
            f"The Temporal namespace {client.namespace!r} lacks the search attributes {', '.join(missing)}. "
            f"Register them: temporal operator search-attribute create --namespace {client.namespace} {commands}"
        )
