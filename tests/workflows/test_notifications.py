"""People elsewhere are told what a run waits for; no receiver, dead or slow or broken, holds a run up."""

import json
import socket
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from opspilot.core.calls import Gate
from opspilot.core.contract import Notice, Notify
from opspilot.core.entries import Kind
from opspilot.core.interrupts import AnswerAction
from opspilot.core.limits import Limits, StopReason
from opspilot.core.policy import Policy, Rule
from opspilot.core.state import RunState
from opspilot.core.terms import Rung, RungKind, Terms
from opspilot.notifying.message import Wording
from opspilot.notifying.webhook import Webhook
from tests.notifying.receiver import SECRET_PATH, Receiver, receiving
from tests.workflows.desk import Desk, paired
from tests.workflows.test_agent import DONE, call, calls
from workflows.telling import Telling

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOUR = 3600.0
REMIND = Rung(RungKind.REMIND, HOUR)
ESCALATE = Rung(RungKind.ESCALATE, 4 * HOUR, role="lead")
EXPIRE = Rung(RungKind.EXPIRE, 24 * HOUR)
CHANGE = [calls(call("change", name="db")), DONE]
EXPIRING = [*CHANGE, DONE]

MakeDesk = Callable[..., Desk]


CACHED = pytest.mark.parametrize("make_desk", [100], indirect=True, ids=["cached"])
"""With workflows kept in memory; else they are replayed from history at every task."""


@pytest.fixture
def make_desk(request: pytest.FixtureRequest, client: Client, tmp_path: Path) -> MakeDesk:
    """A desk whose writes need agreement, with this ladder, and that tells these addresses."""
    cached_workflows = getattr(request, "param", 0)

    def make(*urls: str, ladder: tuple[Rung, ...] = ()) -> Desk:
        rule = Rule("writes", Gate.CONFIRM, tools=("change",), terms=Terms(ladder=ladder))
        channels = [Webhook(f"hook{nth}", url, Wording("https://ops.example")) for nth, url in enumerate(urls, 1)]
        queue = f"q-{uuid.uuid4().hex[:8]}"
        policy = Policy((rule, Rule("others", Gate.RUN)))
        return Desk(client, queue, tmp_path, cached_workflows, policy=policy, channels=channels)

    return make


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def dead() -> Iterator[str]:
    """An address at which nobody answers, ever."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}{SECRET_PATH}"


def held_until_closing(handler: BaseHTTPRequestHandler) -> None:
    """A receiver that takes its time: the answer comes when the test says so."""
    handler.server.closing.wait(10)  # type: ignore[attr-defined]
    handler.send_response(200)
    handler.send_header("content-length", "0")
    handler.end_headers()


def heard(receiver: Receiver) -> list[str]:
    return [json.loads(got.body)["metadata"]["event_payload"]["notice"] for got in receiver.got]


def recorded(desk: Desk, session: str) -> list[tuple[str, str, str]]:
    return [
        (entry.data["channel"], entry.data["notice"], entry.kind.value.partition(".")[2])
        for entry in desk.entries(session, Kind.NOTIFICATION_SENT, Kind.NOTIFICATION_FAILED)
    ]


async def test_people_are_told_at_each_rung_of_the_ladder(make_desk: MakeDesk, receiver: Receiver) -> None:
    desk = make_desk(receiver.url, ladder=(REMIND, ESCALATE, EXPIRE))
    async with desk.worker(EXPIRING):
        asked = await desk.ask()
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.ANSWERED
    assert heard(receiver) == ["asked", "reminded", "escalated", "expired"]
    assert recorded(desk, asked.session) == [("hook1", notice, "sent") for notice in heard(receiver)]
    bodies = [json.loads(got.body) for got in receiver.got]
    assert [body["metadata"]["event_payload"].get("role", "") for body in bodies] == ["", "", "lead", ""]
    assert all(f"https://ops.example/sessions/{asked.session}#1.1%230" in body["text"] for body in bodies)
    assert len({got.headers["webhook-id"] for got in receiver.got}) == 4
    paired(desk, asked.session)


async def test_a_dead_webhook_holds_no_run_up_and_keeps_no_other_from_being_told(
    make_desk: MakeDesk, receiver: Receiver, dead: str
) -> None:
    desk = make_desk(dead, receiver.url)
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        status = await desk.waiting(asked.session)
        sent = await desk.until(asked.session, Kind.NOTIFICATION_SENT)
        await desk.answer(asked.session, "1.1#0", AnswerAction.APPROVE, digest=status.questions[0].digest)
        result = await desk.result(asked)
    assert (result.stop_reason, desk.done, heard(receiver)) == (StopReason.ANSWERED, ["change db"], ["asked"])
    assert sent.data["channel"] == "hook2"
    paired(desk, asked.session)


async def test_what_a_dead_webhook_was_not_told_is_in_the_journal_and_its_secret_nowhere(
    make_desk: MakeDesk, dead: str, caplog: pytest.LogCaptureFixture
) -> None:
    desk = make_desk(dead)
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        failed = await desk.until(asked.session, Kind.NOTIFICATION_FAILED)
        status = await desk.waiting(asked.session)
        await desk.answer(asked.session, "1.1#0", AnswerAction.APPROVE, digest=status.questions[0].digest)
        result = await desk.result(asked)
        history = await desk.handle(asked.session).fetch_history()
    assert (result.stop_reason, desk.done) == (StopReason.ANSWERED, ["change db"])
    assert recorded(desk, asked.session) == [("hook1", "asked", "failed")]
    assert failed.data["message"].startswith(
        f"The webhook hook1 at {dead.removesuffix(SECRET_PATH)} can't be reached ("
    )
    for written in (str(desk.entries(asked.session)), history.to_json(), caplog.text):
        assert "tHeSecretPart" not in written
    paired(desk, asked.session)


async def test_news_of_the_end_reaches_people_although_the_run_is_over(make_desk: MakeDesk, receiver: Receiver) -> None:
    receiver.answers = [200, 503, 503, 200]
    desk = make_desk(receiver.url, ladder=(replace(EXPIRE, stops=True),))
    async with desk.worker(CHANGE[:1]):
        asked = await desk.ask()
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.EXPIRED
    assert heard(receiver) == ["asked", "expired", "expired", "expired"]
    assert recorded(desk, asked.session) == [("hook1", "asked", "sent"), ("hook1", "expired", "sent")]
    followed = [entry.kind async for entry in desk.opspilot.follow(asked.session)]
    assert followed[-2:] == [Kind.RUN_STOPPED, Kind.NOTIFICATION_SENT]
    assert len({got.headers["webhook-id"] for got in receiver.got[1:]}) == 1


@CACHED
async def test_a_message_to_a_run_that_is_over_but_for_its_news_is_answered_at_once(
    make_desk: MakeDesk, receiver: Receiver
) -> None:
    receiver.answers = [200, held_until_closing]
    desk = make_desk(receiver.url, ladder=(replace(EXPIRE, stops=True),))
    async with desk.worker([*CHANGE[:1], {"text": "Later."}]):
        asked = await desk.ask()
        await desk.until(asked.session, Kind.RUN_STOPPED)
        assert [entry.kind async for entry in desk.opspilot.follow(asked.session)][-1] is Kind.RUN_STOPPED
        await desk.ask("And now?", asked.session)
        await desk.until(asked.session, Kind.RUN_STOPPED, count=2)
        assert recorded(desk, asked.session) == [("hook1", "asked", "sent")]
        receiver.closing.set()
        await desk.result(asked)
    assert recorded(desk, asked.session) == [("hook1", "asked", "sent"), ("hook1", "expired", "sent")]
    assert len({entry.run for entry in desk.entries(asked.session)}) == 1


async def test_what_is_on_its_way_goes_along_when_a_run_continues_as_new(
    make_desk: MakeDesk, receiver: Receiver
) -> None:
    receiver.answers = [200, 503, 200]
    desk = make_desk(receiver.url, ladder=(EXPIRE,))
    async with desk.worker([*CHANGE[:1], calls(call("look", topic="x")), DONE]):
        asked = await desk.ask(limits=Limits(continue_as_new_steps=1))
        result = await desk.result(asked)
        history = await desk.handle(asked.session).fetch_history()
    assert history.events[0].workflow_execution_started_event_attributes.continued_execution_run_id
    assert result.stop_reason is StopReason.ANSWERED
    assert recorded(desk, asked.session) == [("hook1", "asked", "sent"), ("hook1", "expired", "sent")]
    assert heard(receiver) == ["asked", "expired", "expired"]


async def test_a_run_that_is_stopped_does_not_wait_until_people_know(make_desk: MakeDesk, receiver: Receiver) -> None:
    desk = make_desk(receiver.url)
    async with desk.worker(CHANGE):
        asked = await desk.ask()
        await desk.waiting(asked.session)
        await desk.opspilot.stop(asked.session)
        result = await desk.result(asked)
    assert result.stop_reason is StopReason.CANCELLED
    assert set(heard(receiver)) <= {"asked"}
    paired(desk, asked.session)


PENDING: list[Any] = [
    pytest.param((), RunState(), True, id="nothing"),
    pytest.param((Notice.ASKED, Notice.REMINDED, Notice.ESCALATED), RunState(), True, id="open questions"),
    pytest.param((Notice.ASKED, Notice.EXPIRED), RunState(), False, id="an expiry"),
    pytest.param((Notice.BUDGET,), RunState(stop=StopReason.ANSWERED), False, id="a budget"),
    pytest.param((Notice.EXPIRED,), RunState(stop=StopReason.CANCELLED), True, id="an expiry, stopped"),
    pytest.param((Notice.EXPIRED,), RunState(cancelled_by_temporal=True), True, id="an expiry, cancelled"),
]


@pytest.mark.parametrize(("pending", "state", "lets_go"), PENDING)
async def test_a_run_stays_for_news_that_mean_something_when_it_is_over(
    pending: tuple[Notice, ...], state: RunState, lets_go: bool
) -> None:
    telling = Telling()
    for notice in pending:
        telling._pending[Notify("run", notice)] = None  # type: ignore[assignment]
    assert telling.lets_go(state) is lets_go
    assert [order.notice for order in telling.pending] == list(pending)
