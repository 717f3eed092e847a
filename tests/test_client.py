"""The client: one message however often it is sent, sentences instead of exceptions, and no waiting for ever."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import (
    Client,
    RPCError,
    WorkflowExecutionStatus,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCStatusCode

from opspilot import client as client_module
from opspilot.client import OpsPilot
from opspilot.core.contract import (
    ANSWER_SIGNAL,
    MAX_MESSAGE_BYTES,
    NOT_OWNER,
    AnswerReceipt,
    MessageReceipt,
    RunStatus,
    Status,
)
from opspilot.core.entries import Entry, Kind, NewEntry, message_key, started_key, stopped_key
from opspilot.core.errors import OpsPilotError, Unreachable, UsageError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.messages import Usage
from opspilot.journal.store import SqlJournal

DANA = Principal("dana")
NOW = datetime(2030, 1, 1, tzinfo=UTC)


def rpc(status: RPCStatusCode, text: str = "no") -> RPCError:
    return RPCError(text, status, b"")


def update_failed(kind: str, text: str = "no") -> WorkflowUpdateFailedError:
    return WorkflowUpdateFailedError(ApplicationError(text, type=kind))


class FakeTemporal:
    """Stands in for `temporalio.client.Client` and for the handle of every workflow."""

    def __init__(self) -> None:
        self.outcomes: list[Any] = []
        self.sent: list[Any] = []
        self.signals: list[tuple[str, Any]] = []
        self.descriptions: list[Any] = []
        self.status: RunStatus | None = None
        self.pollers: list[Any] = []
        self.namespace = "default"
        self.service_client = SimpleNamespace(config=SimpleNamespace(target_host="temporal.example:7233"))
        self.workflow_service = self

    def get_workflow_handle(self, _session: str, **_: Any) -> "FakeTemporal":
        return self

    async def _next(self, outcomes: list[Any]) -> Any:
        outcome = outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
        if callable(outcome):
            outcome = await outcome()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def execute_update_with_start_workflow(self, _name: str, message: Any, **options: Any) -> Any:
        self.sent.append((message, options))
        return await self._next(self.outcomes)

    async def execute_update(self, _name: str, argument: Any, **options: Any) -> Any:
        self.sent.append((argument, options))
        return await self._next(self.outcomes)

    async def signal(self, name: str, argument: Any, **_: Any) -> None:
        self.signals.append((name, argument))

    async def query(self, _name: str, **_: Any) -> RunStatus:
        if self.status is None:
            raise rpc(RPCStatusCode.DEADLINE_EXCEEDED)
        return self.status

    async def describe(self, **_: Any) -> Any:
        return await self._next(self.descriptions)

    async def result(self) -> Any:
        raise rpc(RPCStatusCode.NOT_FOUND)

    async def describe_task_queue(self, _request: Any, **_: Any) -> Any:
        return SimpleNamespace(pollers=self.pollers)


OPEN = SimpleNamespace(status=WorkflowExecutionStatus.RUNNING)
CLOSED = SimpleNamespace(status=WorkflowExecutionStatus.TERMINATED)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqlJournal]:
    journal = SqlJournal(f"sqlite:///{tmp_path / 'journal.sqlite'}")
    yield journal
    journal.close()


@pytest.fixture
def temporal() -> FakeTemporal:
    return FakeTemporal()


@pytest.fixture
def pilot(temporal: FakeTemporal, journal: SqlJournal) -> OpsPilot:
    return OpsPilot(cast("Client", temporal), journal, DANA)


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SILENCE_SECONDS", "POLL_SECONDS", "IDLE_POLL_SECONDS"):
        monkeypatch.setattr(client_module, name, 0.005)


def write(journal: SqlJournal, run: str, *entries: tuple[str, Kind, dict[str, Any]]) -> None:
    journal.append("talk", run, [NewEntry(key, kind, NOW, data) for key, kind, data in entries])


def begin(journal: SqlJournal, run: str = "r1", owner: Principal = DANA) -> None:
    journal.begin_run("talk", run, NOW, owner)
    write(journal, run, (started_key(run), Kind.RUN_STARTED, {}))


def say(journal: SqlJournal, message: str, run: str = "r1") -> None:
    write(journal, run, (message_key(message), Kind.USER_MESSAGE, {"id": message, "text": "?"}))


def stop(journal: SqlJournal, nth: int = 1, run: str = "r1") -> None:
    write(journal, run, (stopped_key(run, nth), Kind.RUN_STOPPED, {"stop_reason": "answered", "steps": 1}))


async def followed(pilot: OpsPilot, message: str | None, after: int = 0) -> list[Entry]:
    async with asyncio.timeout(10):
        return [entry async for entry in pilot.follow("talk", message, after)]


# ---------------------------------------------------------------- asking


@pytest.mark.parametrize(
    "trouble",
    [
        WorkflowUpdateRPCTimeoutOrCancelledError(),
        rpc(RPCStatusCode.RESOURCE_EXHAUSTED),
        rpc(RPCStatusCode.UNAVAILABLE),
        rpc(RPCStatusCode.NOT_FOUND, "workflow execution already completed"),
        update_failed("AcceptedUpdateCompletedWorkflow"),
    ],
)
async def test_a_message_is_sent_again_under_its_id_until_it_is_accepted(
    pilot: OpsPilot, temporal: FakeTemporal, trouble: Exception
) -> None:
    temporal.outcomes = [trouble, trouble, MessageReceipt(1)]

    asked = await pilot.ask("Why?", "talk")

    assert len(temporal.sent) == 3
    assert {(message.id, options["id"]) for message, options in temporal.sent} == {(asked.message_id, asked.message_id)}
    assert len({id(options["start_workflow_operation"]) for _, options in temporal.sent}) == 3


async def test_a_refusal_is_not_repeated(pilot: OpsPilot, temporal: FakeTemporal) -> None:
    temporal.outcomes = [update_failed("MessageRefused", "A message needs a text.")]

    with pytest.raises(UsageError, match=r"^A message needs a text\.$"):
        await pilot.ask("Why?")

    assert len(temporal.sent) == 1


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        (WorkflowUpdateRPCTimeoutOrCancelledError(), "No worker is running"),
        (rpc(RPCStatusCode.UNAVAILABLE, "connection refused"), "does not answer: connection refused"),
        (rpc(RPCStatusCode.INVALID_ARGUMENT, "no search attribute X"), "lacks a search attribute"),
        (rpc(RPCStatusCode.NOT_FOUND, "Namespace x is not found."), "Namespace x is not found"),
        (rpc(RPCStatusCode.PERMISSION_DENIED, "no"), "refused"),
    ],
)
async def test_what_nobody_accepts_ends_in_a_sentence_that_says_where(
    pilot: OpsPilot, temporal: FakeTemporal, trouble: Exception, sentence: str
) -> None:
    temporal.outcomes = [trouble]

    with pytest.raises(OpsPilotError, match=sentence) as caught:
        await pilot.ask("Why?", deadline_seconds=0.3)

    assert "temporal.example:7233" in str(caught.value)


async def test_giving_up_the_question_is_not_taken_for_a_time_out(pilot: OpsPilot, temporal: FakeTemporal) -> None:
    waiting = asyncio.Event()

    async def as_the_sdk_does() -> Exception:
        waiting.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError as error:
            raise WorkflowUpdateRPCTimeoutOrCancelledError from error
        raise AssertionError

    temporal.outcomes = [as_the_sdk_does]
    asking = asyncio.create_task(pilot.ask("Why?"))
    await waiting.wait()
    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
    assert len(temporal.sent) == 1


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\ud800", "x" * (MAX_MESSAGE_BYTES + 1), "é" * (MAX_MESSAGE_BYTES // 2 + 1)]
)
async def test_what_is_no_question_is_refused_before_it_is_sent(
    pilot: OpsPilot, temporal: FakeTemporal, text: str
) -> None:
    with pytest.raises(UsageError):
        await pilot.ask(text)
    assert temporal.sent == []


@pytest.mark.parametrize("session", ["-x", "a b", "a/b", "x" * 101, "é", "a\n"])
async def test_a_session_has_a_name_that_shells_and_paths_can_bear(pilot: OpsPilot, session: str) -> None:
    with pytest.raises(UsageError, match="can't be a session's name"):
        await pilot.ask("Why?", session)


async def test_another_persons_session_is_closed_except_to_an_admin(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal
) -> None:
    begin(journal, owner=Principal("eve"))
    temporal.outcomes = [MessageReceipt(1)]

    with pytest.raises(UsageError, match="belongs to eve"):
        await pilot.ask("Why?", "talk")

    admin = OpsPilot(cast("Client", temporal), journal, Principal("root", roles=("admin",)))
    assert (await admin.ask("Why?", "talk")).position == 1


async def test_the_summary_in_the_console_is_one_short_line_without_secrets(
    temporal: FakeTemporal, journal: SqlJournal
) -> None:
    temporal.outcomes = [MessageReceipt(1)]
    pilot = OpsPilot(cast("Client", temporal), journal, DANA, redact=lambda text: text.replace("hunter2", "[redacted]"))

    await pilot.ask(f"\nIs hunter2 valid? {'x' * 500}\nsecond line")

    summary = temporal.sent[0][1]["start_workflow_operation"]._start_workflow_input.static_summary
    assert summary.startswith("Is [redacted] valid? xxx")
    assert len(summary) == client_module.SUMMARY_CHARACTERS
    assert summary.endswith("…")


# ---------------------------------------------------------------- answering


REPLY = Answer("a1", "1.1#1", AnswerAction.APPROVE, DANA)


async def test_an_answer_without_a_worker_is_left_as_a_signal_with_the_same_id(
    pilot: OpsPilot, temporal: FakeTemporal
) -> None:
    temporal.outcomes = [WorkflowUpdateRPCTimeoutOrCancelledError()]

    receipt = await pilot.answer("talk", REPLY)

    assert temporal.signals == [(ANSWER_SIGNAL, REPLY)]
    assert temporal.sent[0][1]["id"] == REPLY.id
    assert "kept" in receipt.message


async def test_a_refused_answer_is_not_delivered_by_another_way(pilot: OpsPilot, temporal: FakeTemporal) -> None:
    temporal.outcomes = [update_failed("AnswerRefused", "Question 1.1#1 is not open (any more).")]

    with pytest.raises(UsageError, match="is not open"):
        await pilot.answer("talk", REPLY)
    assert temporal.signals == []


async def test_who_begins_a_session_that_somebody_else_began_a_moment_before_is_told_whose_it_is(
    pilot: OpsPilot, temporal: FakeTemporal
) -> None:
    refusal = ApplicationError("This session belongs to eve.", "eve", type=NOT_OWNER)
    temporal.outcomes = [WorkflowUpdateFailedError(refusal)]

    with pytest.raises(UsageError, match="eve"):
        await pilot.ask("Why?", "talk")

    ((message, _),) = temporal.sent
    assert message.sender is not None


async def test_an_answer_to_nothing_says_so(pilot: OpsPilot, temporal: FakeTemporal) -> None:
    temporal.outcomes = [rpc(RPCStatusCode.NOT_FOUND)]
    with pytest.raises(UsageError, match="Session talk has no open run"):
        await pilot.answer("talk", REPLY)


async def test_an_accepted_answer_returns_its_receipt(pilot: OpsPilot, temporal: FakeTemporal) -> None:
    temporal.outcomes = [AnswerReceipt("Accepted, being checked.")]
    assert (await pilot.answer("talk", REPLY)).message == "Accepted, being checked."


# ---------------------------------------------------------------- saying something instead


def ask_people(journal: SqlJournal, *interrupts: str) -> None:
    for name in interrupts:
        data = {"interrupt": name, "kind": "confirm_risky", "tool": "x", "digest": f"shown {name}", "arguments": {}}
        write(journal, "r1", (name, Kind.INTERRUPT_OPENED, data))


async def test_what_is_said_instead_is_sent_first_and_then_all_that_is_open_is_rejected_with_it_from_the_end(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal
) -> None:
    begin(journal)
    ask_people(journal, "1.2#0", "1.10#0", "1.9#1")
    temporal.outcomes = [MessageReceipt(1), *[AnswerReceipt("Accepted.")] * 3]

    asked = await pilot.ask_instead("No, staging.", "talk")

    message, *rejections = [sent for sent, _ in temporal.sent]
    assert (message.id, message.text) == (asked.message_id, "No, staging.")
    assert [(each.interrupt, each.action, each.comment, each.digest) for each in rejections] == [
        (name, AnswerAction.REJECT, "No, staging.", f"shown {name}") for name in ("1.10#0", "1.9#1", "1.2#0")
    ]
    assert len({each.id for each in rejections}) == 3


async def test_a_long_text_is_cut_where_it_is_the_comment_and_a_faster_answer_of_somebody_else_is_no_failure(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal
) -> None:
    begin(journal)
    ask_people(journal, "1.1#0", "1.2#0")

    async def too_late() -> Exception:
        settled = {"interrupt": "1.2#0", "answer_id": "theirs", "action": "approve", "by": "ann"}
        write(journal, "r1", ("1.2#0/answered", Kind.INTERRUPT_ANSWERED, settled))
        return update_failed("AnswerRefused", "Question 1.2#0 is not open (any more).")

    temporal.outcomes = [MessageReceipt(1), too_late, AnswerReceipt("Accepted.")]

    await pilot.ask_instead("x" * 50_000, "talk")

    message, *rejections = [sent for sent, _ in temporal.sent]
    assert len(message.text) == 50_000
    assert [len(each.comment) for each in rejections] == [client_module.COMMENT_CHARACTERS] * 2


async def test_when_what_is_open_may_not_be_rejected_whoever_says_something_instead_is_told(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal
) -> None:
    begin(journal)
    ask_people(journal, "1.1#0")
    temporal.outcomes = [MessageReceipt(1), update_failed("AnswerRefused", "Too many answers are being checked.")]

    with pytest.raises(UsageError, match="Too many answers"):
        await pilot.ask_instead("No.", "talk")


async def test_where_nothing_is_open_there_is_nothing_to_say_something_instead_of(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal
) -> None:
    begin(journal)

    with pytest.raises(UsageError, match="Session talk waits for nobody"):
        await pilot.ask_instead("No.", "talk")

    assert temporal.sent == []


# ---------------------------------------------------------------- following


async def test_following_ends_at_the_stop_that_answers_the_message_and_at_no_earlier_one(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal
) -> None:
    temporal.descriptions = [OPEN]
    begin(journal)
    say(journal, "first")
    stop(journal, 1)

    following = asyncio.create_task(followed(pilot, "second"))
    await asyncio.sleep(0.05)
    assert not following.done()
    say(journal, "second")
    stop(journal, 2)

    assert [entry.seq for entry in await following] == [1, 2, 3, 4, 5]


async def test_following_a_message_that_is_answered_already_ends_at_once(pilot: OpsPilot, journal: SqlJournal) -> None:
    begin(journal)
    say(journal, "first")
    stop(journal, 1)
    say(journal, "second")

    assert [entry.seq for entry in await followed(pilot, "first")] == [1, 2, 3]


async def test_an_answer_that_was_written_while_temporal_was_asked_is_not_missed(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal
) -> None:
    begin(journal)
    say(journal, "first")

    async def closing() -> Any:
        stop(journal)
        return CLOSED

    temporal.descriptions = [closing]

    assert (await followed(pilot, "first"))[-1].kind is Kind.RUN_STOPPED


async def test_a_run_that_is_gone_without_a_word_is_not_waited_for(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal
) -> None:
    temporal.descriptions = [OPEN, CLOSED]
    begin(journal)
    say(journal, "first")

    with pytest.raises(OpsPilotError, match="ended without closing"):
        await followed(pilot, "first")


async def test_temporal_may_be_away_for_a_while_but_not_for_ever(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(journal)
    say(journal, "first")
    temporal.descriptions = [rpc(RPCStatusCode.UNAVAILABLE), rpc(RPCStatusCode.UNAVAILABLE), CLOSED]
    with pytest.raises(OpsPilotError, match="ended without closing"):
        await followed(pilot, "first")

    monkeypatch.setattr(client_module, "LOST_SECONDS", 0.05)
    temporal.descriptions = [rpc(RPCStatusCode.UNAVAILABLE, "connection refused")]
    with pytest.raises(Unreachable, match="does not answer: connection refused"):
        await followed(pilot, "first")


async def test_a_worker_that_writes_another_journal_is_named_instead_of_waited_for(
    pilot: OpsPilot, temporal: FakeTemporal
) -> None:
    temporal.descriptions = [OPEN]
    temporal.status = RunStatus(Status.RUNNING, "r1", "another", 1, "Think", (), Usage(), 0.0, 1, 1)

    with pytest.raises(UsageError, match="another journal"):
        await followed(pilot, "first")


async def test_watching_a_whole_session_ends_when_its_last_run_has_stopped(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal
) -> None:
    begin(journal, "r1")
    stop(journal, 1, "r1")
    begin(journal, "r2")
    stop(journal, 1, "r2")
    temporal.descriptions = [CLOSED]

    assert [entry.kind for entry in await followed(pilot, None)] == [Kind.RUN_STARTED, Kind.RUN_STOPPED] * 2


async def test_a_message_that_was_sent_before_is_followed_from_where_it_stands(
    pilot: OpsPilot, temporal: FakeTemporal, journal: SqlJournal
) -> None:
    temporal.outcomes = [MessageReceipt(1)]
    begin(journal)
    say(journal, "first")
    stop(journal)

    asked = await pilot.ask("?", "talk", message_id="first")

    assert [entry.seq for entry in await followed(pilot, asked.message_id, asked.after)] == [2, 3]


@pytest.mark.parametrize(
    ("workers", "pending", "sentence"),
    [
        (False, [], "No worker is running"),
        (True, [("call_model", 1, "")], ""),
        (True, [("call_model", 3, "rate limited\nmore")], "The model call failed and is tried again: rate limited"),
        (True, [("run_tool", 2, "lost")], "A tool call failed and is tried again: lost"),
    ],
)
async def test_what_holds_a_run_up_is_told(
    pilot: OpsPilot, temporal: FakeTemporal, workers: bool, pending: list[tuple[str, int, str]], sentence: str
) -> None:
    moment = SimpleNamespace(ToDatetime=lambda _: datetime.now(UTC))
    temporal.pollers = [SimpleNamespace(last_access_time=moment)] if workers else []
    activities = [
        SimpleNamespace(
            activity_type=SimpleNamespace(name=name), attempt=attempt, last_failure=SimpleNamespace(message=message)
        )
        for name, attempt, message in pending
    ]
    temporal.descriptions = [SimpleNamespace(raw_description=SimpleNamespace(pending_activities=activities))]

    assert (await pilot.hindrance("talk")).split(";")[0] == sentence
