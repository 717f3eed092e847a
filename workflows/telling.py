"""Which notifications are on their way. A run doesn't wait for them to go on, and doesn't lose them when it goes on.

Temporal forgets the activities of a run that ends or continues as new. So what is still on its way is handed over, and
a run that is over stays a little, for news that still means something then.
"""

import asyncio
from functools import partial

from temporalio import workflow

from activities.notifying import OF_AN_OPEN_QUESTION, NotifyingActivities
from opspilot.core.contract import Done, Notify
from opspilot.core.limits import StopReason
from opspilot.core.state import RunState
from workflows import bounds


class Telling:
    """Has people told, of each thing once. What becomes of a notification is in the journal."""

    def __init__(self) -> None:
        self._said: set[Notify] = set()
        self._pending: dict[Notify, asyncio.Task[Done]] = {}

    @property
    def pending(self) -> tuple[Notify, ...]:
        """What is on its way, in the order in which it was said."""
        return tuple(self._pending)

    def tell(self, order: Notify) -> None:
        """Have people told, unless that was said already."""
        if order in self._said:
            return
        self._said.add(order)
        summary = f"{order.notice} {order.interrupt}".strip()
        handle = workflow.start_activity_method(NotifyingActivities.notify, order, **bounds.notification(summary))
        self._pending[order] = handle
        handle.add_done_callback(partial(self._told, order))

    def lets_go(self, state: RunState) -> bool:
        """Whether a run that is over may end. News of it may be on its way, as opposed to that of an open question.

        Nobody waits for that when the run was stopped, or cancelled by Temporal.
        """
        stopped = state.stop is StopReason.CANCELLED or state.cancelled_by_temporal
        return stopped or all(order.notice in OF_AN_OPEN_QUESTION for order in self._pending)

    def _told(self, order: Notify, handle: "asyncio.Task[Done]") -> None:
        del self._pending[order]
        # A task whose error nobody looks at complains when it is forgotten.
        if not handle.cancelled():
            handle.exception()
