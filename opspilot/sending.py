"""How a message gets to a session's run, or starts one: offered under its id until it is accepted or the time is up.

Knows nothing of who may say what; sentences for people are made elsewhere.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeAlias

from temporalio.client import (
    Client,
    RPCError,
    WithStartWorkflowOperation,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)

from opspilot import refusals
from opspilot.core.contract import (
    AGENT_WORKFLOW,
    SEND_MESSAGE,
    WORKFLOW_TASK_TIMEOUT,
    MessageReceipt,
    RunRequest,
    SearchAttribute,
    Status,
    UserMessage,
)

Operation: TypeAlias = WithStartWorkflowOperation[object, object]

RPC_SECONDS = 15.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0


class NotAccepted(Exception):
    """Nobody took the message in time. `trouble` is what Temporal said last, if it said anything."""

    def __init__(self, trouble: RPCError | None) -> None:
        super().__init__()
        self.trouble = trouble


def starting(session: str, request: RunRequest, task_queue: str, summary: str) -> Operation:
    """What starts a run of this session unless one is open. Good for one call."""
    attributes = [
        SearchAttributePair(SearchAttributeKey.for_keyword(SearchAttribute.STATUS), Status.RUNNING.value),
        SearchAttributePair(SearchAttributeKey.for_keyword(SearchAttribute.USER), request.user.id[:255]),
    ]
    return WithStartWorkflowOperation(
        AGENT_WORKFLOW,
        request,
        id=session,
        task_queue=task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        task_timeout=WORKFLOW_TASK_TIMEOUT,
        search_attributes=TypedSearchAttributes(attributes),
        static_summary=summary,
    )


async def send(
    temporal: Client, message: UserMessage, start: Callable[[], Operation], deadline_seconds: float
) -> MessageReceipt:
    """Offer a message until a run has it. `start` makes the operation that starts one, anew for each try.

    Raises `NotAccepted`, or the error of Temporal's that no further try would change.
    """
    deadline = time.monotonic() + deadline_seconds
    pause = FIRST_PAUSE_SECONDS
    trouble: RPCError | None = None
    while (left := deadline - time.monotonic()) > 0:
        operation = start()
        started = asyncio.create_task(operation.workflow_handle())
        # The operation keeps its error for whoever wants the handle, and complains when nobody does.
        started.add_done_callback(lambda task: task.cancelled() or task.exception())
        try:
            async with asyncio.timeout(left):
                receipt: MessageReceipt = await temporal.execute_update_with_start_workflow(
                    SEND_MESSAGE,
                    message,
                    start_workflow_operation=operation,
                    id=message.id,
                    result_type=MessageReceipt,
                    rpc_timeout=timedelta(seconds=min(left, RPC_SECONDS)),
                )
                return receipt
        except (WorkflowUpdateRPCTimeoutOrCancelledError, TimeoutError):
            refusals.let_cancel_through()
        except (RPCError, WorkflowUpdateFailedError) as error:
            if not refusals.may_pass(error):
                raise
            trouble = error if isinstance(error, RPCError) else None
        finally:
            started.cancel()
        await asyncio.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
    raise NotAccepted(trouble)
