"""The activity that tells people, wherever they are, that a run waits for them. Nothing that it meets stops a run.

Each channel is told once, as far as anybody can know: a worker that dies between telling and recording tells again,
under the same id. What the last attempt can't deliver is recorded as failed.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from opspilot.core.calls import INTERRUPT, digest
from opspilot.core.contract import Done, Notice, Notify
from opspilot.core.entries import (
    Entry,
    Kind,
    NewEntry,
    answered_key,
    climbed_key,
    interrupt_key,
    notified_key,
    result_key,
)
from opspilot.core.errors import JournalError, NotificationError, StaleRun
from opspilot.core.messages import Json
from opspilot.core.ports import Channel, Journal, Notification
from opspilot.core.sensitive import texts, without

ATTEMPTS = 5
"""How often a channel is tried before it is given up, which the journal then says."""

CHANNEL_SECONDS = 45.0
"""Channels have shorter limits of their own; this is for one that forgets. Less than the activity has."""

OF_AN_OPEN_QUESTION = (Notice.ASKED, Notice.REMINDED, Notice.ESCALATED)


class NotifyingActivities:
    """Holds the journal, the channels, and what takes secrets out of a text."""

    def __init__(self, journal: Journal, channels: Sequence[Channel], redact: Callable[[Json], Json]) -> None:
        self._journal = journal
        self._channels = channels
        self._redact = redact

    @activity.defn
    async def notify(self, order: Notify) -> Done:
        """Tell every channel, side by side, and record for each that it was told, or that it could not be.

        Says nothing of a question that is settled, or of a run that is over: nobody could do anything about it.
        """
        session = activity.info().workflow_id
        assert session is not None
        try:
            entries = await asyncio.to_thread(self._entries, session, order)
            if _is_moot(order, entries):
                return Done()
            notification = self._notification(session, order, entries)
            waiting = [channel for channel in self._channels if _key(order, channel.name) not in entries]
            told = (self._tell(session, order, channel, notification) for channel in waiting)
            whys = await asyncio.gather(*told, return_exceptions=True)
            for why in whys:
                if isinstance(why, BaseException):
                    raise why
        except StaleRun:
            return Done()
        except JournalError as error:
            raise ApplicationError(str(error), type=JournalError.__name__) from None
        if failed := [why for why in whys if why]:
            why = f"Not told yet. {' '.join(map(str, failed))}"
            # Benign, since it is logged already, in one line.
            raise ApplicationError(why, type=NotificationError.__name__, category=ApplicationErrorCategory.BENIGN)
        return Done()

    def _entries(self, session: str, order: Notify) -> dict[str, Entry]:
        """What the journal has of this notification and its question. Raises `StaleRun` when the run is over."""
        self._journal.append(session, order.run, ())
        keys = [_key(order, channel.name) for channel in self._channels]
        return self._journal.find(session, [*keys, *_question_keys(order)])

    def _notification(self, session: str, order: Notify, entries: Mapping[str, Entry]) -> Notification:
        question = next((entry.data for entry in entries.values() if entry.kind is Kind.INTERRUPT_OPENED), {})
        escalated = next((entry.data for entry in entries.values() if entry.kind is Kind.INTERRUPT_ESCALATED), {})
        role = escalated.get("role") if order.notice is Notice.ESCALATED else None
        sensitive = texts(question.get("arguments"), question.get("sensitive") or ())
        return Notification(
            id=digest([order.run, _about(order), order.notice.value]),
            notice=order.notice,
            session=session,
            interrupt=order.interrupt,
            reason=str(self._redact(without(order.text or str(question.get("reason", "")), sensitive))),
            tool=str(question.get("tool", "")),
            risk=str(question.get("risk", "")),
            role=str(role or question.get("role", "")),
            requester=str(question.get("requester", "")),
            due=str(question.get("due") or ""),
        )

    async def _tell(self, session: str, order: Notify, channel: Channel, notification: Notification) -> str:
        """Why it failed, if that isn't the end of it."""
        why = await _send(channel, notification)
        if why and activity.info().attempt < ATTEMPTS:
            activity.logger.warning("notification failed", extra={"channel": channel.name, "why": why})
            return why
        name = INTERRUPT.fullmatch(order.interrupt)
        call = name[1] if name and "." in name[1] else None
        data: dict[str, Json] = {"interrupt": order.interrupt, "notice": order.notice.value, "channel": channel.name}
        if why:
            data["message"] = why
        kind = Kind.NOTIFICATION_FAILED if why else Kind.NOTIFICATION_SENT
        step = int(call.partition(".")[0]) if call else None
        entry = NewEntry(_key(order, channel.name), kind, datetime.now(UTC), data, step, call)
        await asyncio.to_thread(self._journal.append, session, order.run, [entry])
        return ""


async def _send(channel: Channel, notification: Notification) -> str:
    """Why it failed, in a sentence; empty when they were told."""
    try:
        async with asyncio.timeout(CHANNEL_SECONDS):
            await channel.send(notification)
    except NotificationError as error:
        return str(error)
    except TimeoutError:
        return f"The channel {channel.name} took longer than {CHANNEL_SECONDS:g} seconds."
    except Exception as error:  # noqa: BLE001 whatever a channel does, the others are told and the run goes on
        activity.logger.exception("a channel failed")
        return f"The channel {channel.name} failed ({type(error).__name__}); the worker's log says more."
    return ""


def _about(order: Notify) -> str:
    """The question, or what else it is about: the same words twice in a run are the same news."""
    return order.interrupt or digest(order.text)


def _key(order: Notify, channel: str) -> str:
    return notified_key(order.run, _about(order), order.notice.value, channel)


def _question_keys(order: Notify) -> list[str]:
    """How the question was asked, who else is, and what settles it."""
    name = INTERRUPT.fullmatch(order.interrupt)
    if name is None:
        return []
    return [
        interrupt_key(order.run, name[1], int(name[2])),
        climbed_key(order.run, order.interrupt, Kind.INTERRUPT_ESCALATED),
        answered_key(order.run, order.interrupt),
        result_key(order.run, name[1]),
    ]


def _is_moot(order: Notify, entries: Mapping[str, Entry]) -> bool:
    """Is the question settled, or did it not expire after all? The call of a run that was stopped has a result, too."""
    settled = [entry.kind for entry in entries.values() if entry.key in _question_keys(order)[2:]]
    if order.notice is Notice.EXPIRED:
        return Kind.INTERRUPT_EXPIRED not in settled
    return order.notice in OF_AN_OPEN_QUESTION and bool(settled)
