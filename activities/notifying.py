"""The activity that tells people, wherever they are, that a run waits for them. Nothing that it meets stops a run."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from temporalio import activity
from temporalio.exceptions import ApplicationError

from opspilot.core.calls import INTERRUPT
from opspilot.core.contract import Done, Notify
from opspilot.core.entries import Entry, Kind, NewEntry, interrupt_key, notified_key
from opspilot.core.errors import JournalError, NotificationError
from opspilot.core.messages import Json
from opspilot.core.ports import Channel, Journal, Notification

ATTEMPTS = 5
"""How often a channel is tried before it is given up, which the journal then says."""


class NotifyingActivities:
    """Holds the journal and the channels. A channel that has been told once isn't told again."""

    def __init__(self, journal: Journal, channels: Sequence[Channel]) -> None:
        self._journal = journal
        self._channels = channels

    @activity.defn
    async def notify(self, order: Notify) -> Done:
        """Tell every channel, and record for each that it was told, or that it could not be."""
        session = activity.info().workflow_id
        assert session is not None
        try:
            notification, told = await asyncio.to_thread(self._notification, session, order)
            failed = [
                channel.name
                for channel in self._channels
                if channel.name not in told and not await self._tell(session, order, channel, notification)
            ]
        except JournalError as error:
            raise ApplicationError(str(error), type=JournalError.__name__) from None
        if failed and activity.info().attempt < ATTEMPTS:
            raise ApplicationError(f"Not told yet: {', '.join(failed)}.", type=NotificationError.__name__)
        return Done()

    def _notification(self, session: str, order: Notify) -> tuple[Notification, set[str]]:
        name = INTERRUPT.fullmatch(order.interrupt)
        question = interrupt_key(order.run, name[1], int(name[2])) if name else ""
        keys = {_key(order, channel): channel.name for channel in self._channels}
        found = self._journal.find(session, [question, *keys])
        told = {channel for key, channel in keys.items() if key in found}
        return _about(session, order, found.get(question)), told

    async def _tell(self, session: str, order: Notify, channel: Channel, notification: Notification) -> bool:
        data: dict[str, Json] = {"interrupt": order.interrupt, "notice": order.notice.value, "channel": channel.name}
        kind = Kind.NOTIFICATION_SENT
        try:
            await channel.send(notification)
        except NotificationError as error:
            if activity.info().attempt < ATTEMPTS:
                activity.logger.warning("notification failed", extra={"channel": channel.name, "why": str(error)})
                return False
            kind = Kind.NOTIFICATION_FAILED
            data["message"] = str(error)
        name = INTERRUPT.fullmatch(order.interrupt)
        call = name[1] if name and "." in name[1] else None
        entry = NewEntry(_key(order, channel), kind, datetime.now(UTC), data, call=call)
        await asyncio.to_thread(self._journal.append, session, order.run, [entry])
        return True


def _key(order: Notify, channel: Channel) -> str:
    return notified_key(order.run, order.interrupt or order.text[:40], order.notice.value, channel.name)


def _about(session: str, order: Notify, question: Entry | None) -> Notification:
    data = question.data if question is not None else {}
    return Notification(
        notice=order.notice,
        session=session,
        interrupt=order.interrupt,
        reason=order.text or str(data.get("reason", "")),
        tool=str(data.get("tool", "")),
        risk=str(data.get("risk", "")),
        role=str(data.get("role", "")),
        requester=str(data.get("requester", "")),
        due=str(data["due"]) if data.get("due") else "",
    )
