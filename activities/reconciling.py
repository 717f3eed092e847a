"""Asking a tool what became of a write whose result was lost, within what the activity that asks may take."""

import asyncio

from activities.heartbeat import own_limit_seconds
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.ports import Tools


async def what_happened(tools: Tools, tool: str, idempotency_key: str) -> Observation:
    """What the tool knows of it, else `outcome_unknown`.

    A tool that takes longer to answer than the activity has is not waited for: it would be asked anew in each attempt,
    and the run would never go on.
    """
    try:
        async with asyncio.timeout(own_limit_seconds()):
            known = await tools.reconcile(tool, idempotency_key)
    except TimeoutError:
        known = None
    return known or Observation.failure(ErrorCode.OUTCOME_UNKNOWN)
