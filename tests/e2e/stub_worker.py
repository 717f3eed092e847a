"""A stand-in for `worker.py` that only polls, so that tests of the local stack need no model, tools or journal.

`STUB_SAYS` makes it print a line and give up, as a worker does that finds a fault in its settings.
"""

import asyncio
import os
import sys

from temporalio.api.enums.v1 import TaskQueueKind
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import PollWorkflowTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError


async def main() -> None:
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])
    queue = TaskQueue(name="opspilot", kind=TaskQueueKind.TASK_QUEUE_KIND_NORMAL)
    request = PollWorkflowTaskQueueRequest(
        namespace=os.environ["TEMPORAL_NAMESPACE"], task_queue=queue, identity=f"stub {os.getpid()}"
    )
    while True:
        try:
            await client.workflow_service.poll_workflow_task_queue(request)
        except RPCError:
            await asyncio.sleep(0.1)


if __name__ == "__main__":
    if says := os.environ.get("STUB_SAYS"):
        print(says, file=sys.stderr)
        sys.exit(2)
    if sys.argv[1:] == ["--check"]:
        sys.exit()
    asyncio.run(main())
