"""Opening a run: written once however often it is tried, and nothing that earlier runs left stays open."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.journal import JournalActivities
from opspilot.core.contract import Mode, Opened
from opspilot.core.conversation import conversation
from opspilot.core.entries import Entry, Kind, NewEntry, tool_started_key
from opspilot.core.errors import ModelError, ModelFault
from opspilot.core.interrupts import Principal
from opspilot.core.limits import StopReason
from opspilot.core.messages import AssistantMessage, unanswered
from opspilot.core.observations import ErrorCode
from opspilot.core.ports import Model
from opspilot.journal.store import SqlJournal
from opspilot.models.scripted import ScriptedModel
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import ToolError
from tests.activities.desk import ME, NOON, Desk, Says, always, call, open_order


async def test_a_run_begins_with_what_it_is_and_what_was_asked(desk: Desk) -> None:
    opened = await desk.open("a", "b")
    assert opened == Opened(desk.journal.id, 2)
    started, *messages = desk.entries()
    assert (started.kind, started.at) == (Kind.RUN_STARTED, datetime.fromtimestamp(NOON, UTC))
    assert started.data["user"] == {"id": "tester", "name": "Tess", "roles": ["engineer"]}
    assert (started.data["model"], started.data["system"]) == ("scripted", "You are a test.")
    assert "look" in started.data["tools"]
    assert [(message.kind, message.data) for message in messages] == [
        (Kind.USER_MESSAGE, {"id": text, "text": text}) for text in ("a", "b")
    ]


@pytest.mark.parametrize(("asked", "recorded"), [("", "scripted"), ("tiny", "scripted"), ("huge", "huge")])
async def test_a_run_begins_with_the_model_that_thinks_in_it_or_with_what_was_asked_for(
    desk: Desk, asked: str, recorded: str
) -> None:
    def models(name: str) -> Model:
        if name == "huge":
            raise ModelError(ModelFault.BAD_REQUEST, "There is no such model.", retryable=False)
        return ScriptedModel([])

    keeping = JournalActivities(desk.journal, desk.tools, models, "You are a test.")
    await desk.do(keeping.open_run, replace(open_order("a"), mode=Mode(model=asked)))
    started = desk.only(Kind.RUN_STARTED)
    assert (started.data["model"], started.data["mode"]["model"]) == (recorded, asked)


async def test_an_opening_that_is_tried_again_writes_nothing_more_and_tells_the_same(desk: Desk) -> None:
    first = await desk.open("a")
    before = desk.entries()
    assert await desk.open("a") == first
    assert desk.entries() == before


async def test_a_worker_with_another_model_and_other_tools_leaves_the_recorded_start_as_it_stands(desk: Desk) -> None:
    await desk.open("a")
    before = desk.entries()
    redeployed = JournalActivities(desk.journal, ToolRuntime(Registry([])), always(Says()), "You are another.")
    assert (await desk.do(redeployed.open_run, open_order("a"), attempt=2)).new_messages == 1
    assert desk.entries() == before


async def test_two_attempts_on_workers_of_different_versions_open_the_run_together(desk: Desk) -> None:
    class Slow(SqlJournal):
        """Another worker opens the run between this one's look and its write."""

        def append(self, session: str, run: str, entries: Sequence[NewEntry], *a: Any, **k: Any) -> tuple[Entry, ...]:
            if not desk.entries():
                asyncio.run(desk.open("a"))
            return super().append(session, run, entries, *a, **k)

    slow = Slow(f"sqlite:///{desk.folder / 'journal.sqlite'}")
    old = JournalActivities(slow, ToolRuntime(Registry([])), always(Says()), "You are old.")
    with pytest.raises(ApplicationError, match="by another attempt"):
        await desk.do(old.open_run, open_order("a"))
    assert (await desk.do(old.open_run, open_order("a"), attempt=2)).new_messages == 1
    slow.close()
    assert desk.only(Kind.RUN_STARTED).data["model"] == "scripted"
    assert len(desk.entries()) == 2


async def test_a_message_of_an_earlier_run_is_not_new(desk: Desk) -> None:
    await desk.open("a")
    assert (await desk.open("a", run="run-2", at=NOON + 9)).new_messages == 0
    assert (await desk.open("a", "b", "b", run="run-3", at=NOON + 19)).new_messages == 1
    assert [entry.data["text"] for entry in desk.entries(Kind.USER_MESSAGE)] == ["a", "b"]


async def test_somebody_else_is_refused_and_leaves_no_trace(desk: Desk) -> None:
    await desk.open("a")
    before = desk.entries()
    opened = await desk.open("let me in", run="run-2", at=NOON + 9, user=Principal("stranger"))
    assert (opened.new_messages, "belongs to tester" in opened.refused) == (0, True)
    assert desk.entries() == before
    await desk.open("b", run="run-1")


async def test_an_admin_may_go_on_in_a_session_which_stays_its_owners(desk: Desk) -> None:
    await desk.open("a")
    opened = await desk.open("b", run="run-2", at=NOON + 9, user=Principal("root", roles=("admin",)))
    assert (opened.new_messages, opened.refused) == (1, "")
    assert desk.journal.owner(desk.session) == "tester"


async def test_an_older_run_is_refused_for_good(desk: Desk) -> None:
    await desk.open("a", run="run-2", at=NOON + 9)
    with pytest.raises(ApplicationError, match="replaced by run run-2") as refused:
        await desk.open("b", run="run-1", at=NOON)
    assert (refused.value.type, refused.value.non_retryable) == ("StaleRun", True)
    assert [entry.run for entry in desk.entries()] == ["run-2", "run-2"]


async def test_a_message_id_used_for_another_text_costs_nobody_elses_message(desk: Desk) -> None:
    await desk.open("a")
    order = open_order("a", "b", run="run-2", at=NOON + 9)
    crossed = (replace(order.messages[0], text="something else"), order.messages[1])
    opened = await desk.do(desk.keeping.open_run, replace(order, messages=crossed))
    assert opened.new_messages == 1
    assert [entry.data["text"] for entry in desk.entries(Kind.USER_MESSAGE)] == ["a", "b"]


# ---------------------------------------------------------------- what earlier runs left


def no(key: str) -> Any:
    raise ToolError(f"{key} never came", ErrorCode.NOT_STARTED)


def odd(key: str) -> Any:
    raise RuntimeError("password=hunter2")


LEFT: list[Any] = [
    pytest.param("change", "proposed", None, "not_started", id="proposed and never started"),
    pytest.param("look", "proposed", None, "not_started", id="a read never started"),
    pytest.param("look", "started", None, "cancelled", id="a read under way"),
    pytest.param("change", "started", None, "outcome_unknown", id="a write under way"),
    pytest.param("change", "void", None, "not_started", id="a write declared never to start"),
    pytest.param("risky", "asked", None, "cancelled", id="a write that asked"),
    pytest.param("risky", "agreed and started", None, "outcome_unknown", id="a write that asked, agreed on, under way"),
    pytest.param("ship", "started", lambda key: f"came: {key}", "ok", id="a write whose tool knows"),
    pytest.param("ship", "started", lambda key: None, "outcome_unknown", id="a write whose tool doesn't know"),
    pytest.param("ship", "started", no, "not_started", id="a write whose tool knows that it didn't happen"),
    pytest.param("ship", "started", odd, "outcome_unknown", id="a write whose tool breaks when asked"),
]


@pytest.mark.parametrize(("tool", "state", "truth", "code"), LEFT)
async def test_the_next_run_gives_every_open_call_its_observation(
    desk: Desk, tool: str, state: str, truth: Callable[[str], Any], code: str
) -> None:
    await desk.propose(call(tool, **({"topic": "x"} if tool == "look" else {"name": "x"})))
    if state in ("asked", "agreed and started"):
        await desk.act()
    if state in ("started", "agreed and started", "void"):
        round_ = 2 if state == "agreed and started" else 1
        data = {"round": round_, **({"void": True} if state == "void" else {"nonce": "n"})}
        key = tool_started_key("run-1", "1.1", round_)
        at = datetime.fromtimestamp(NOON, UTC)
        desk.journal.append(desk.session, "run-1", [NewEntry(key, Kind.TOOL_STARTED, at, data, 1, "1.1")])
    desk.truth = truth
    await desk.open("go on", run="run-2", at=NOON + 9)
    assert desk.codes() == {"1.1": code}
    assert "hunter2" not in str([entry.data for entry in desk.entries()])
    if code == "ok":
        assert desk.only(Kind.TOOL_RESULT).data["data"] == "came: run-1/1.1#1"
    assert desk.journal.open_interrupts() == ()
    assert desk.journal.begin_run(desk.session, "run-2", datetime.fromtimestamp(NOON + 9, UTC), ME).calls == ()
    assert unanswered(conversation(desk.entries())) == ()
    assert [entry.data["stop_reason"] for entry in desk.entries(Kind.RUN_STOPPED)] == ["internal_error"]


async def test_repairs_stand_before_the_new_run_and_are_made_once(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"), call("change", name="x"))
    await desk.open("go on", run="run-2", at=NOON + 9)
    after = desk.entries()
    await desk.open("go on", run="run-2", at=NOON + 9)
    assert desk.entries() == after
    assert [(entry.run, entry.kind) for entry in after[-5:]] == [
        ("run-1", Kind.TOOL_RESULT),
        ("run-1", Kind.TOOL_RESULT),
        ("run-1", Kind.RUN_STOPPED),
        ("run-2", Kind.RUN_STARTED),
        ("run-2", Kind.USER_MESSAGE),
    ]
    assert isinstance(conversation(after)[1], AssistantMessage)


async def test_a_run_that_closed_itself_is_not_closed_again(desk: Desk) -> None:
    await desk.propose(call("look", topic="x"))
    await desk.close(StopReason.CANCELLED)
    await desk.open("go on", run="run-2", at=NOON + 99)
    assert desk.only(Kind.RUN_STOPPED).data["stop_reason"] == "cancelled"


async def test_a_run_that_went_on_after_its_stop_and_was_terminated_then_is_closed_once(desk: Desk) -> None:
    await desk.open("a")
    await desk.think([{"text": "Yes."}])
    await desk.close(StopReason.ANSWERED)
    await desk.think([{"text": "Yes."}, {"text": "No."}], 2, messages=open_order("b").messages)
    await desk.open("c", run="run-2", at=NOON + 99)
    await desk.open("d", run="run-3", at=NOON + 199)
    reasons = [(entry.run, entry.data["stop_reason"]) for entry in desk.entries(Kind.RUN_STOPPED)]
    assert reasons == [("run-1", "answered"), ("run-1", "internal_error"), ("run-2", "internal_error")]


async def test_a_tool_that_takes_for_ever_to_say_what_happened_does_not_keep_the_session_shut(desk: Desk) -> None:
    go = threading.Event()
    desk.truth = lambda key: go.wait(20)
    await desk.propose(call("ship", name="x"))
    start = NewEntry(
        tool_started_key("run-1", "1.1", 1),
        Kind.TOOL_STARTED,
        datetime.fromtimestamp(NOON, UTC),
        {"round": 1, "nonce": "n"},
        1,
        "1.1",
    )
    desk.journal.append(desk.session, "run-1", [start])
    try:
        async with asyncio.timeout(5):
            await desk.do(desk.keeping.open_run, open_order("go on", run="run-2", at=NOON + 9), seconds=10.2)
    finally:
        go.set()
    assert desk.codes() == {"1.1": "outcome_unknown"}
