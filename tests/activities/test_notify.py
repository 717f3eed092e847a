"""Telling people: once, whatever is tried again; a dead channel is recorded; nothing of what is settled is said."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.notifying import ATTEMPTS, CHANNEL_SECONDS, NotifyingActivities
from opspilot.core.contract import Notice, Notify
from opspilot.core.entries import Kind, NewEntry, answered_key, climbed_key
from opspilot.core.errors import JournalError, NotificationError, StaleRun
from opspilot.core.interrupts import AnswerAction
from opspilot.core.limits import StopReason
from opspilot.core.ports import Channel, Notification
from opspilot.redaction import redact
from tests.activities.desk import NOON, Desk, call

ASKED = Notify("run-1", Notice.ASKED, "1.1#0")
LAST = ATTEMPTS


class Ear(Channel):
    """Hears, or fails as often as it is told to; `cause` is raised instead of our own error."""

    def __init__(self, name: str = "ear", fails: float = 0, cause: Exception | None = None) -> None:
        self._name = name
        self.fails = fails
        self.cause = cause
        self.heard: list[Notification] = []

    @property
    def name(self) -> str:
        return self._name

    async def send(self, notification: Notification) -> None:
        if self.fails:
            self.fails -= 1
            raise self.cause or NotificationError(f"The ear {self._name} is deaf.")
        self.heard.append(notification)


async def notify(desk: Desk, *channels: Channel, order: Notify = ASKED, attempt: int = 1) -> None:
    await desk.do(NotifyingActivities(desk.journal, channels, redact).notify, order, attempt=attempt)


async def ask(desk: Desk, **arguments: Any) -> None:
    """A question waits: 1.1#0 of run-1."""
    await desk.propose(call("change", name="db", **arguments))


def told(desk: Desk) -> list[tuple[str, str, str]]:
    """What the journal has: kind, channel, notice."""
    return [
        (entry.kind.value.partition(".")[2], entry.data["channel"], entry.data["notice"])
        for entry in desk.entries(Kind.NOTIFICATION_SENT, Kind.NOTIFICATION_FAILED)
    ]


async def test_every_channel_is_told_what_the_question_is_and_where(careful_desk: Desk) -> None:
    await ask(careful_desk)
    one, two = Ear("one"), Ear("two")
    await notify(careful_desk, one, two)
    (heard,) = one.heard
    assert [heard] == two.heard
    assert heard == Notification(
        id=heard.id,
        notice=Notice.ASKED,
        session="ops-test",
        interrupt="1.1#0",
        reason="A person must agree before this runs.",
        tool="change",
        risk="medium",
        requester="tester",
    )
    entry = careful_desk.entries(Kind.NOTIFICATION_SENT)[0]
    assert (entry.data, entry.call, entry.step) == (
        {"interrupt": "1.1#0", "notice": "asked", "channel": entry.data["channel"]}, "1.1", 1,
    )  # fmt: skip
    assert sorted(told(careful_desk)) == [("sent", "one", "asked"), ("sent", "two", "asked")]


async def test_who_was_told_is_not_told_again_however_often_it_is_tried(careful_desk: Desk) -> None:
    await ask(careful_desk)
    well, ill = Ear("well"), Ear("ill", fails=2)
    for attempt in (1, 2):
        with pytest.raises(ApplicationError, match=r"Not told yet\. The ear ill is deaf\.") as raised:
            await notify(careful_desk, ill, well, attempt=attempt)
        assert not raised.value.non_retryable
    await notify(careful_desk, ill, well, attempt=3)
    await notify(careful_desk, ill, well, attempt=4)
    assert (len(well.heard), len(ill.heard)) == (1, 1)
    assert well.heard[0].id == ill.heard[0].id
    assert told(careful_desk) == [("sent", "well", "asked"), ("sent", "ill", "asked")]


async def test_what_fails_at_the_last_attempt_is_recorded_and_given_up(careful_desk: Desk) -> None:
    await ask(careful_desk)
    dead, well = Ear("dead", fails=99), Ear("well")
    await notify(careful_desk, dead, well, attempt=LAST)
    assert sorted(told(careful_desk)) == [("failed", "dead", "asked"), ("sent", "well", "asked")]
    assert careful_desk.only(Kind.NOTIFICATION_FAILED).data["message"] == "The ear dead is deaf."
    dead.fails = 0
    await notify(careful_desk, dead, well)
    assert (dead.heard, len(well.heard)) == ([], 1)


async def test_a_channel_that_breaks_any_rule_keeps_nobody_else_from_being_told(
    careful_desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    await ask(careful_desk)
    broken, well = Ear("broken", 99, ZeroDivisionError("password=hunter2")), Ear("well")
    await notify(careful_desk, broken, well, attempt=LAST)
    assert len(well.heard) == 1
    failed = careful_desk.only(Kind.NOTIFICATION_FAILED).data["message"]
    assert failed == "The channel broken failed (ZeroDivisionError); the worker's log says more."
    assert "a channel failed" in caplog.text


class Sleeper(Ear):
    async def send(self, notification: Notification) -> None:
        await asyncio.Event().wait()


async def test_a_channel_that_never_returns_is_given_up_before_the_activity_is(
    careful_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CHANNEL_SECONDS < 60
    monkeypatch.setattr("activities.notifying.CHANNEL_SECONDS", 0.05)
    await ask(careful_desk)
    well = Ear("well")
    await notify(careful_desk, Sleeper("asleep"), well, attempt=LAST)
    assert sorted(told(careful_desk)) == [("failed", "asleep", "asked"), ("sent", "well", "asked")]


class Meeting(Ear):
    """Hears when all have come."""

    def __init__(self, name: str, barrier: asyncio.Barrier) -> None:
        super().__init__(name)
        self._barrier = barrier

    async def send(self, notification: Notification) -> None:
        await self._barrier.wait()
        await super().send(notification)


async def test_channels_are_told_side_by_side(careful_desk: Desk) -> None:
    await ask(careful_desk)
    barrier = asyncio.Barrier(3)
    channels = [Meeting(f"ear{number}", barrier) for number in range(3)]
    async with asyncio.timeout(10):
        await notify(careful_desk, *channels)
    assert [len(channel.heard) for channel in channels] == [1, 1, 1]


# ---------------------------------------------------------------- what is said


async def test_no_argument_and_no_secret_is_told(careful_desk: Desk) -> None:
    await ask(careful_desk)
    question = careful_desk.only(Kind.INTERRUPT_OPENED)
    spoken = {
        **question.data,
        "interrupt": "1.1#1",
        "reason": "Use correct-horse for db with password=hunter2?",
        "arguments": {"name": "db", "pin": "correct-horse"},
        "sensitive": ["/pin"],
    }
    entry = NewEntry("run-1/1.1#1/interrupt", Kind.INTERRUPT_OPENED, datetime.now(UTC), spoken, 1, "1.1")
    careful_desk.journal.append("ops-test", "run-1", [entry])
    ear = Ear()
    await notify(careful_desk, ear, order=replace(ASKED, interrupt="1.1#1"))
    assert ear.heard[0].reason == "Use [redacted:sensitive] for db with password=[redacted:secret]"
    assert "correct-horse" not in str(ear.heard)


async def test_an_escalation_names_who_is_asked_now(careful_desk: Desk) -> None:
    await ask(careful_desk)
    key = climbed_key("run-1", "1.1#0", Kind.INTERRUPT_ESCALATED)
    data = {"interrupt": "1.1#0", "role": "lead"}
    entry = NewEntry(key, Kind.INTERRUPT_ESCALATED, datetime.now(UTC), data, 1, "1.1")
    careful_desk.journal.append("ops-test", "run-1", [entry])
    ear = Ear()
    for notice in (Notice.ESCALATED, Notice.ASKED):
        await notify(careful_desk, ear, order=replace(ASKED, notice=notice))
    assert [heard.role for heard in ear.heard] == ["lead", ""]
    assert len({heard.id for heard in ear.heard}) == 2


async def test_two_warnings_that_begin_alike_are_two_and_the_same_one_is_one(desk: Desk) -> None:
    await desk.open("Hello?")
    ear = Ear()
    start = "Session ops-test has used 80 % of its budget of "
    orders = [Notify("run-1", Notice.BUDGET, text=start + what) for what in ("tokens.", "money.", "tokens.")]
    for order in orders:
        await notify(desk, ear, order=order)
    assert [heard.reason for heard in ear.heard] == [start + "tokens.", start + "money."]
    assert told(desk) == [("sent", "ear", "budget")] * 2


# ---------------------------------------------------------------- what is not said any more


@pytest.mark.parametrize("notice", [Notice.ASKED, Notice.REMINDED, Notice.ESCALATED])
@pytest.mark.parametrize("end", ["answered", "stopped"])
async def test_nobody_is_told_of_a_question_that_is_settled(careful_desk: Desk, notice: Notice, end: str) -> None:
    await ask(careful_desk)
    if end == "answered":
        assert (await careful_desk.judge(AnswerAction.APPROVE, "1.1#0")).accepted
    else:
        await careful_desk.close(StopReason.CANCELLED)
    ear = Ear(fails=9)
    await notify(careful_desk, ear, order=replace(ASKED, notice=notice))
    assert (ear.fails, told(careful_desk)) == (9, [])


async def test_an_expiry_is_told_when_the_question_really_expired(careful_desk: Desk) -> None:
    await ask(careful_desk)
    ear = Ear()
    expired = replace(ASKED, notice=Notice.EXPIRED)
    await notify(careful_desk, ear, order=expired)
    assert ear.heard == []
    key = answered_key("run-1", "1.1#0")
    data = {"interrupt": "1.1#0", "stops": False}
    entry = NewEntry(key, Kind.INTERRUPT_EXPIRED, datetime.now(UTC), data, 1, "1.1")
    careful_desk.journal.append("ops-test", "run-1", [entry])
    await notify(careful_desk, ear, order=expired)
    assert [heard.notice for heard in ear.heard] == [Notice.EXPIRED]


async def test_an_expiry_that_an_answer_forestalled_is_told_to_nobody(careful_desk: Desk) -> None:
    await ask(careful_desk)
    await careful_desk.judge(AnswerAction.REJECT, "1.1#0")
    ear = Ear()
    await notify(careful_desk, ear, order=replace(ASKED, notice=Notice.EXPIRED))
    assert ear.heard == []


async def test_a_run_that_is_over_makes_no_noise(careful_desk: Desk) -> None:
    await ask(careful_desk)
    await careful_desk.open("And now?", run="run-2", at=NOON + 60)
    ear = Ear(fails=9)
    for attempt in (1, LAST):
        await notify(careful_desk, ear, attempt=attempt)
    assert (ear.fails, told(careful_desk)) == (9, [])


class Overtaken(Ear):
    """While this one is told, the next run begins."""

    def __init__(self, desk: Desk) -> None:
        super().__init__("overtaken")
        self._desk = desk

    async def send(self, notification: Notification) -> None:
        await super().send(notification)
        await self._desk.open("And now?", run="run-2", at=NOON + 60)


async def test_a_run_that_ends_while_people_are_told_is_not_tried_again(careful_desk: Desk) -> None:
    await ask(careful_desk)
    ear = Overtaken(careful_desk)
    await notify(careful_desk, ear)
    assert (len(ear.heard), told(careful_desk)) == (1, [])
    with pytest.raises(StaleRun):
        careful_desk.journal.append("ops-test", "run-1", [])


async def test_a_journal_that_is_away_is_tried_again(careful_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    await ask(careful_desk)

    def away(*_: object) -> None:
        raise JournalError("The journal is away.")

    ear = Ear()
    with monkeypatch.context() as patched:
        patched.setattr(careful_desk.journal, "find", away)
        with pytest.raises(ApplicationError, match="is away") as raised:
            await notify(careful_desk, ear)
    assert not raised.value.non_retryable
    assert ear.heard == []
    await notify(careful_desk, ear, attempt=2)
    assert len(ear.heard) == 1
