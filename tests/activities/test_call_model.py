"""One model call: asked once, recorded whole or not at all, and told the same however often it is tried."""

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.model import ModelActivities
from opspilot.core.contract import CallModel, Mode, ModelOutcome, UserMessage
from opspilot.core.entries import Entry, Kind, NewEntry, assistant_key
from opspilot.core.errors import JournalError, ModelError, ModelFault
from opspilot.core.limits import StopReason
from opspilot.core.messages import (
    AssistantMessage,
    Finish,
    ModelReply,
    ModelRequest,
    SystemMessage,
    ToolMessage,
    Usage,
)
from opspilot.core.messages import UserMessage as Said
from opspilot.core.observations import ErrorCode
from opspilot.core.outcomes import MAX_ANSWER_CHARS
from opspilot.core.ports import Model
from opspilot.journal.store import SqlJournal
from opspilot.models.scripted import ScriptedModel
from tests.activities.desk import SESSION, Desk, Fails, Says, always, call, until


def texts(request: ModelRequest) -> list[tuple[type, str]]:
    return [(type(message), message.text) for message in request.messages]


def order(step: int = 1, **more: Any) -> CallModel:
    return CallModel("run-1", step, more.pop("mode", Mode()), **more)


async def test_the_reply_its_calls_and_what_can_be_said_of_them_at_once_are_recorded_together(desk: Desk) -> None:
    outcome = await desk.propose(call("look", topic="x"), call("nothing"), call("look", subject="y"), call("change"))
    assert [(each.name, each.code) for each in outcome.calls] == [
        ("look", None),
        ("nothing", ErrorCode.UNKNOWN_TOOL),
        ("look", ErrorCode.INVALID_ARGUMENTS),
        ("change", ErrorCode.INVALID_ARGUMENTS),
    ]
    assert [entry.kind for entry in desk.entries()[2:]] == [
        Kind.ASSISTANT_MESSAGE,
        Kind.TOOL_CALL,
        Kind.TOOL_CALL,
        Kind.TOOL_RESULT,
        Kind.TOOL_CALL,
        Kind.TOOL_RESULT,
        Kind.TOOL_CALL,
        Kind.TOOL_RESULT,
    ]


async def test_a_recorded_reply_is_returned_as_it_stands_and_the_model_is_not_asked_again(desk: Desk) -> None:
    first = await desk.propose(call("look", topic="x"), call("nothing"))
    before = desk.entries()
    again = Says("something else")
    assert await desk.think(again, attempt=2) == first
    assert (again.asked, desk.entries()) == ([], before)


async def test_a_held_call_tells_what_an_approval_must_carry_also_on_a_retry(careful_desk: Desk) -> None:
    first = await careful_desk.propose(call("change", name="x"))
    assert first.calls[0].shown == careful_desk.only(Kind.INTERRUPT_OPENED).data["digest"]
    assert await careful_desk.think(Says("else"), attempt=2) == first


@pytest.mark.parametrize("first_calls", [1, 3])
async def test_of_two_attempts_that_race_the_first_wins_whole(desk: Desk, first_calls: int) -> None:
    await desk.open("a")
    slow = Says(calls=[call("change", name=f"slow {n}") for n in range(4 - first_calls)], until=desk.go)
    losing = asyncio.create_task(desk.think(slow))
    await slow.said.wait()
    won = await desk.think(Says(calls=[call("look", topic=f"{n}") for n in range(first_calls)]), attempt=2)
    before = desk.entries()
    desk.go.set()
    assert await losing == won
    assert desk.entries() == before
    assert {entry.data["name"] for entry in desk.entries(Kind.TOOL_CALL)} == {"look"}


async def test_messages_are_recorded_before_the_model_is_asked_and_once(desk: Desk) -> None:
    await desk.open("a")
    steering = (UserMessage("m-1", "only today"),)
    busy = Fails(ModelError(ModelFault.OVERLOADED, "busy", retryable=True))
    for attempt in (1, 2):
        with pytest.raises(ApplicationError):
            await desk.think(busy, messages=steering, attempt=attempt)
        assert [entry.data["text"] for entry in desk.entries(Kind.USER_MESSAGE)] == ["a", "only today"]
    model = Says("Yes.")
    await desk.think(model, messages=steering, attempt=3)
    system = "You are a test.\nThis run began at 2027-01-15T08:00:00Z, a Friday."
    assert texts(model.asked[0]) == [(SystemMessage, system), (Said, "a"), (Said, "only today")]
    assert len(desk.entries(Kind.USER_MESSAGE)) == 2


async def test_the_conversation_grows_by_what_was_done_also_in_a_worker_that_remembers_it(desk: Desk) -> None:
    await desk.open("a")
    model = Says(calls=[call("look", topic="x")])
    thinking = ModelActivities(desk.journal, desk.tools, always(model))
    await desk.do(thinking.call_model, order())
    await desk.act()
    await desk.do(thinking.call_model, order(2))
    fresh = Says("Yes.")
    await desk.think(fresh, 2)
    assert fresh.asked == []
    kinds = [type(message) for message in model.asked[1].messages]
    assert kinds == [SystemMessage, Said, AssistantMessage, ToolMessage]


# ---------------------------------------------------------------- which model


def named(**models: Model) -> Callable[[str], Model]:
    """These models, the first of which is the default."""

    def model(name: str) -> Model:
        if name and name not in models:
            raise ModelError(ModelFault.BAD_REQUEST, f"There are: {', '.join(models)}.", retryable=False)
        return models[name or next(iter(models))]

    return model


@pytest.mark.parametrize(("name", "answer"), [("", "large"), ("large", "large"), ("small", "small")])
async def test_the_model_that_the_run_asks_for_thinks_and_is_recorded(desk: Desk, name: str, answer: str) -> None:
    await desk.open("a")
    models = {"large": Says("large"), "small": ScriptedModel([{"text": "small"}], "tiny-1")}
    thinking = ModelActivities(desk.journal, desk.tools, named(**models))
    outcome = await desk.do(thinking.call_model, order(mode=Mode(model=name)))
    assert outcome.answer == answer
    assert desk.only(Kind.ASSISTANT_MESSAGE).data["model"] == models[answer].name


async def test_a_model_that_is_not_there_ends_the_run_with_those_that_are(desk: Desk) -> None:
    await desk.open("a")
    large = Says("Yes.")
    thinking = ModelActivities(desk.journal, desk.tools, named(large=large))
    outcome = await desk.do(thinking.call_model, order(mode=Mode(model="huge")))
    assert (outcome.stop, outcome.detail) == (StopReason.MODEL_FAILED, "There are: large.")
    assert large.asked == []
    assert "model" not in desk.only(Kind.ASSISTANT_MESSAGE).data


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize(("asked", "wait"), [(7.5, timedelta(seconds=7.5)), (1e15, timedelta(days=1))])
async def test_a_passing_failure_is_raised_with_the_wait_that_the_provider_asked_for(
    desk: Desk, asked: float, wait: timedelta
) -> None:
    await desk.open("a")
    with pytest.raises(ApplicationError, match="slow down") as failed:
        await desk.think(Fails(ModelError(ModelFault.RATE_LIMIT, "slow down", True, asked)))
    assert (failed.value.type, failed.value.non_retryable) == ("rate_limit", False)
    assert failed.value.next_retry_delay == wait
    assert desk.entries(Kind.ASSISTANT_MESSAGE) == []


async def test_a_passing_failure_without_a_wait_leaves_the_delay_to_the_policy(desk: Desk) -> None:
    await desk.open("a")
    with pytest.raises(ApplicationError) as failed:
        await desk.think(Fails(ModelError(ModelFault.SERVER, "oops", retryable=True)), attempt=50)
    assert failed.value.next_retry_delay is None


@pytest.mark.parametrize(
    ("fault", "stop"),
    [
        (ModelFault.AUTH, StopReason.MODEL_FAILED),
        (ModelFault.QUOTA, StopReason.MODEL_FAILED),
        (ModelFault.CONTEXT_LENGTH, StopReason.CONTEXT_TOO_LONG),
    ],
)
async def test_a_lasting_failure_is_this_steps_reply(desk: Desk, fault: ModelFault, stop: StopReason) -> None:
    await desk.open("a")
    outcome = await desk.think(Fails(ModelError(fault, "It can't be.", retryable=False, text="so far")))
    assert (outcome.stop, outcome.detail, outcome.calls) == (stop, "It can't be.", ())
    assert desk.only(Kind.ASSISTANT_MESSAGE).data["text"] == "so far"
    again = Says("something else")
    assert await desk.think(again, attempt=2) == outcome
    assert again.asked == []


async def test_a_reply_that_can_not_be_read_is_tried_three_times(desk: Desk) -> None:
    await desk.open("a")
    empty = Fails(ModelError(ModelFault.BAD_REPLY, "It wrote nothing.", retryable=True))
    for attempt in (1, 2):
        with pytest.raises(ApplicationError):
            await desk.think(empty, attempt=attempt)
    outcome = await desk.think(empty, attempt=3)
    assert (outcome.stop, outcome.detail) == (StopReason.MODEL_FAILED, "It wrote nothing.")


class Narrow(Model):
    """A model whose context holds so many characters of observations."""

    def __init__(self, characters: int) -> None:
        self._characters = characters
        self.asked: list[ModelRequest] = []

    @property
    def name(self) -> str:
        return "narrow"

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        self.asked.append(request)
        observed = [message.text for message in request.messages if isinstance(message, ToolMessage)]
        if sum(map(len, observed)) > self._characters:
            raise ModelError(ModelFault.CONTEXT_LENGTH, "Too long.", retryable=False)
        return ModelReply("It fits.")


@pytest.mark.parametrize(("characters", "stop"), [(9_000, None), (100, StopReason.CONTEXT_TOO_LONG)])
async def test_a_conversation_that_no_longer_fits_is_shortened_once(
    desk: Desk, characters: int, stop: StopReason | None
) -> None:
    await desk.propose(call("enormous", characters=6_000), call("enormous", characters=6_001))
    for name in ("1.1", "1.2"):
        await desk.act(name)
    narrow = Narrow(characters)
    outcome = await desk.think(narrow, 2)
    assert (outcome.stop, len(narrow.asked)) == (stop, 2)
    left_out = next(message for message in narrow.asked[1].messages if isinstance(message, ToolMessage))
    ref = json.loads(left_out.text)["data"]["read_more"]["ref"]
    assert desk.journal.overflow(SESSION, ref, 1, 5) == ("xxxxx", 6_002)
    again = Narrow(characters)
    await desk.think(again, 3)
    assert len(again.asked) == 1


async def test_a_fault_of_an_adapter_is_tried_three_times_and_shows_no_secret(desk: Desk) -> None:
    await desk.open("a")
    faulty = Fails(ValueError("Bearer sk-secret-token"))
    for attempt in (1, 2):
        with pytest.raises(ApplicationError) as failed:
            await desk.think(faulty, attempt=attempt)
        assert "secret" not in str(failed.value)
    outcome = await desk.think(faulty, attempt=3)
    assert outcome.stop is StopReason.MODEL_FAILED
    assert "ValueError" in outcome.detail
    assert "secret" not in outcome.detail


async def test_a_reply_with_more_calls_than_any_plan_is_a_bad_reply(desk: Desk) -> None:
    await desk.open("a")
    wild = Says(calls=[call("look", topic=f"t{n}") for n in range(500)])
    with pytest.raises(ApplicationError, match="500 calls"):
        await desk.think(wild)
    outcome = await desk.think(wild, attempt=3)
    assert (outcome.stop, outcome.calls) == (StopReason.MODEL_FAILED, ())


async def test_a_model_that_takes_too_long_ends_the_run_with_what_it_had_said(desk: Desk) -> None:
    await desk.open("a")
    outcome = await desk.think(Says("The disk is", until=desk.go), seconds=10.2)
    assert outcome.stop is StopReason.TIMEOUT
    assert "time" in outcome.detail
    assert 0.15 < outcome.active_seconds < 5
    assert desk.only(Kind.ASSISTANT_MESSAGE).data["text"] == "The disk is"
    assert await desk.think(Says("else"), attempt=2) == outcome


@pytest.mark.parametrize(
    ("finish", "stop", "detail"),
    [
        (Finish.STOP, None, ""),
        (Finish.LENGTH, None, "The answer was cut off at the model's output limit."),
        (Finish.REFUSAL, StopReason.MODEL_REFUSED, ""),
        (Finish.CONTENT_FILTER, StopReason.MODEL_REFUSED, ""),
    ],
)
async def test_how_a_reply_ended_says_whether_it_is_an_answer(
    desk: Desk, finish: Finish, stop: StopReason | None, detail: str
) -> None:
    await desk.open("a")
    outcome = await desk.think(Says("Well.", finish=finish, usage=Usage(5, 6)))
    assert (outcome.stop, outcome.detail, outcome.answer) == (stop, detail, "Well.")
    assert outcome.usage == Usage(5, 6)
    assert await desk.think(Says("else"), attempt=2) == outcome


@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.CONTENT_FILTER, Finish.REFUSAL])
async def test_calls_of_a_reply_that_was_cut_off_never_run_and_do_not_end_the_run(desk: Desk, finish: Finish) -> None:
    await desk.open("a")
    outcome = await desk.think(Says(calls=[call("look", topic="x"), call("change", name="y")], finish=finish))
    assert [each.code for each in outcome.calls] == [ErrorCode.INVALID_JSON] * 2
    assert (outcome.stop, outcome.answer) == (None, "")


async def test_a_long_answer_is_cut_on_its_way_through_the_workflow_and_whole_in_the_journal(desk: Desk) -> None:
    await desk.open("a")
    outcome = await desk.think(Says("é" * (MAX_ANSWER_CHARS + 1)))
    assert outcome.answer.startswith("é" * MAX_ANSWER_CHARS + " … (")
    assert desk.only(Kind.ASSISTANT_MESSAGE).data["text"] == "é" * (MAX_ANSWER_CHARS + 1)


async def test_an_answer_of_just_the_limit_is_not_cut(desk: Desk) -> None:
    await desk.open("a")
    assert (await desk.think(Says("é" * MAX_ANSWER_CHARS))).answer == "é" * MAX_ANSWER_CHARS


# ---------------------------------------------------------------- last words and serial mode


async def test_last_words_have_no_tools_an_instruction_in_the_system_message_and_never_calls(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"))
    await desk.act()
    model = Says("I found x.", calls=[call("change", name="x")])
    outcome = await desk.think(model, final=StopReason.MAX_STEPS)
    assert (outcome.answer, outcome.calls) == ("I found x.", ())
    (request,) = model.asked
    assert (request.tools, request.force) == ((), None)
    instructions, _, last_words = texts(request)[0][1].partition("\n\n")
    assert instructions.startswith("You are a test.")
    assert last_words.startswith("This run is at a limit (max steps)")
    assert [message.text for message in request.messages if isinstance(message, Said)] == ["What is going on?"]
    final = desk.entries(Kind.ASSISTANT_MESSAGE)[-1]
    assert (final.key, final.data["final"], final.data["tool_calls"]) == ("run-1/1/final", "max_steps", [])
    assert await desk.think(Says("else"), attempt=2, final=StopReason.MAX_STEPS) == outcome


async def test_serial_mode_shows_one_tool_and_forces_it_once(desk: Desk) -> None:
    mode = Mode("count", force=True)
    await desk.open("a")
    first = Says(calls=[call("count", topic="x")])
    await desk.think(first, mode=mode)
    assert ([spec.name for spec in first.asked[0].tools], first.asked[0].force) == (["count"], "count")
    assert first.asked[0].parallel is False
    await desk.act()
    second = Says("Yes.")
    await desk.think(second, 2, mode=mode)
    assert (second.asked[0].force, len(second.asked[0].tools)) == (None, 1)


# ---------------------------------------------------------------- drafts and cancelling


async def test_a_draft_is_shown_while_the_model_speaks_and_gone_when_it_has_spoken(desk: Desk) -> None:
    await desk.open("a")
    thinking = asyncio.create_task(desk.think(Says("The disk is", until=desk.go), attempt=3))
    await until(lambda: bool(desk.journal.drafts(desk.session)))
    (draft,) = desk.journal.drafts(desk.session)
    assert (draft.run, draft.step, draft.attempt, draft.text) == ("run-1", 1, 3, "The disk is")
    assert desk.entries(Kind.ASSISTANT_MESSAGE) == []
    desk.go.set()
    await thinking
    assert desk.journal.drafts(desk.session) == ()


async def test_a_cancel_while_the_model_speaks_records_nothing_but_leaves_the_draft(desk: Desk) -> None:
    await desk.open("a")
    model = Says("The disk is", until=desk.go)
    environment = desk.environment()
    thinking = asyncio.create_task(
        environment.run(ModelActivities(desk.journal, desk.tools, always(model)).call_model, order())
    )
    await until(lambda: bool(desk.journal.drafts(desk.session)))
    before = desk.entries()
    environment.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking
    assert desk.entries() == before
    assert [draft.text for draft in desk.journal.drafts(desk.session)] == ["The disk is"]


async def test_a_model_that_is_silent_heartbeats_by_timer(desk: Desk) -> None:
    await desk.open("a")
    beats: list[object] = []
    environment = desk.environment()
    environment.on_heartbeat = lambda *details: beats.append(details)
    model = Says("", until=desk.go)
    thinking = asyncio.create_task(
        environment.run(ModelActivities(desk.journal, desk.tools, always(model)).call_model, order())
    )
    await until(lambda: len(beats) >= 2)
    desk.go.set()
    await thinking
    after = len(beats)
    await asyncio.sleep(0.6)
    assert len(beats) == after


async def test_a_slow_journal_does_not_make_a_reply_that_is_there_count_as_lost(desk: Desk) -> None:
    writing, go = threading.Event(), threading.Event()

    class SlowAtTheEnd(SqlJournal):
        def append(self, session: str, run: str, entries: Sequence[NewEntry], *a: Any, **k: Any) -> tuple[Entry, ...]:
            writing.set()
            assert go.wait(10)
            return super().append(session, run, entries, *a, **k)

    await desk.open("a")
    journal = SlowAtTheEnd(f"sqlite:///{desk.folder / 'journal.sqlite'}")
    beats: list[object] = []
    environment = desk.environment()
    environment.on_heartbeat = lambda *details: beats.append(details)
    thinking = asyncio.create_task(
        environment.run(ModelActivities(journal, desk.tools, always(Says("Yes."))).call_model, order())
    )
    await until(writing.is_set)
    heard = len(beats)
    await until(lambda: len(beats) > heard)
    go.set()
    assert (await thinking).answer == "Yes."
    journal.close()


async def test_a_draft_that_can_not_be_shown_does_not_harm_the_reply(desk: Desk) -> None:
    class NoDrafts(SqlJournal):
        tried = 0

        def put_draft(self, session: str, draft: Any) -> None:
            self.tried += 1
            raise JournalError("The journal is busy.")

    journal = NoDrafts(f"sqlite:///{desk.folder / 'journal.sqlite'}")
    await desk.open("a")
    thinking = asyncio.create_task(
        desk.do(ModelActivities(journal, desk.tools, always(Says("Yes.", until=desk.go))).call_model, order())
    )
    await until(lambda: journal.tried > 0)
    desk.go.set()
    assert (await thinking).answer == "Yes."
    journal.close()


# ---------------------------------------------------------------- a journal that lacks or has more than expected


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(order(1), id="the run's start"),
        pytest.param(order(1, final=StopReason.MAX_STEPS), id="the start, for last words"),
    ],
)
async def test_a_journal_without_the_runs_start_is_refused_for_good(desk: Desk, late: CallModel) -> None:
    model = Says("Yes.")
    with pytest.raises(ApplicationError, match="lacks earlier entries") as refused:
        await desk.do(ModelActivities(desk.journal, desk.tools, always(model)).call_model, late)
    assert (refused.value.type, refused.value.non_retryable, model.asked) == ("JournalBehind", True, [])


@pytest.mark.parametrize(("step", "final"), [(3, None), (2, StopReason.MAX_STEPS)])
async def test_a_journal_without_the_step_before_is_refused_for_good(
    desk: Desk, step: int, final: StopReason | None
) -> None:
    await desk.open("a")
    await desk.think(Says("Yes."))
    model = Says("No.")
    with pytest.raises(ApplicationError, match="lacks earlier entries") as refused:
        await desk.think(model, step, final=final)
    assert (refused.value.type, refused.value.non_retryable, model.asked) == ("JournalBehind", True, [])


async def test_a_conversation_with_an_open_call_is_not_sent(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"))
    model = Says("Yes.")
    with pytest.raises(ApplicationError, match="no result for 1") as refused:
        await desk.think(model, 2)
    assert (refused.value.type, model.asked) == ("JournalBehind", [])


async def test_a_run_that_was_replaced_can_not_record_its_reply(desk: Desk) -> None:
    await desk.open("a")
    model = Says(calls=[call("change", name="x")], until=desk.go)
    thinking = asyncio.create_task(desk.think(model))
    await model.said.wait()
    await desk.open("b", run="run-2", at=2_000_000_000.0)
    before = desk.entries()
    desk.go.set()
    with pytest.raises(ApplicationError) as refused:
        await thinking
    assert (refused.value.type, refused.value.non_retryable) == ("StaleRun", True)
    assert desk.entries() == before


@pytest.mark.parametrize("final", [None, StopReason.MAX_STEPS], ids=["step", "last words"])
async def test_an_attempt_that_lands_after_the_run_has_closed_changes_nothing(
    desk: Desk, final: StopReason | None
) -> None:
    await desk.open("a")
    if final:
        await desk.think(Says(calls=[call("look", topic="x")]))
        await desk.act()
    model = Says("The disk is", calls=[call("change", name="x")], until=desk.go)
    late = asyncio.create_task(desk.think(model, final=final))
    await until(lambda: bool(desk.journal.drafts(desk.session)))
    await desk.close(StopReason.CANCELLED)
    before = desk.entries()
    desk.go.set()
    outcome = await late
    assert outcome == ModelOutcome(Usage(), 0.0, answer="The disk is")
    assert desk.entries() == before
    session = desk.journal.session(desk.session)
    assert session is not None
    assert session.status == "done"


async def test_a_reply_is_recorded_in_one_transaction_or_not_at_all(desk: Desk) -> None:
    class Breaks(SqlJournal):
        """Loses the connection at the first reply."""

        broken = False

        def append(self, session: str, run: str, entries: Sequence[NewEntry], *a: Any, **k: Any) -> tuple[Entry, ...]:
            if not self.broken and entries[0].key == assistant_key(run, 1):
                self.broken = True
                bad = replace(entries[-1], key="bad", data={"value": float("nan")})
                return super().append(session, run, [*entries, bad], *a, **k)
            return super().append(session, run, entries, *a, **k)

    journal = Breaks(f"sqlite:///{desk.folder / 'journal.sqlite'}")
    await desk.open("a")
    before = desk.entries()
    thinking = ModelActivities(journal, desk.tools, always(Says(calls=[call("look", topic="x")])))
    with pytest.raises(ApplicationError, match="isn't JSON") as failed:
        await desk.do(thinking.call_model, order())
    assert failed.value.__cause__ is None
    assert desk.entries() == before
    assert len((await desk.do(thinking.call_model, order(), attempt=2)).calls) == 1
    journal.close()


# ---------------------------------------------------------------- an attempt that was taken for dead


@pytest.mark.parametrize("operation", range(2))
async def test_an_attempt_that_was_taken_for_dead_may_write_its_reply_at_any_moment_of_the_next(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, operation: int
) -> None:
    """Between any two looks at the journal: the next attempt finds it, and takes it for its own."""
    await desk.open("What is going on?")
    late: list[tuple[Any, dict[str, Any]]] = []
    with monkeypatch.context() as dying:
        dying.setattr(desk.journal, "append", lambda *args, **named: late.append((args, named)))
        with pytest.raises(AssertionError):
            await desk.think(Says(calls=[call("look", topic="x")]))
    (args, named), reads = late.pop(), 0

    def land(method: str) -> None:
        real = getattr(desk.journal, method)

        def looked(*arguments: Any, **more: Any) -> Any:
            nonlocal reads
            if reads == operation:
                desk.journal.append(*args, **named)
            reads += 1
            return real(*arguments, **more)

        monkeypatch.setattr(desk.journal, method, looked)

    land("find")
    land("read")
    outcome = await desk.think(Says(calls=[call("look", topic="other")]), attempt=2)
    assert [each.summary for each in outcome.calls] == ["look topic=x"]
    assert [entry.kind for entry in desk.entries()[2:]] == [Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL]
