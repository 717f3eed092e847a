"""AG-UI over HTTP: runs, interrupts and their answers, who may do what, and that nothing happens twice."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.client import Asked
from opspilot.core.calls import Gate
from opspilot.core.entries import Kind
from opspilot.core.errors import ModelFault
from opspilot.core.interrupts import AnswerAction, Interrupt, InterruptType
from opspilot.core.policy import Policy, Rule
from opspilot.core.terms import Terms
from opspilot.models.scripted import ScriptedError
from opspilot.testing import Step, call
from opspilot.tools.spec import Tool, tool
from opspilot.web import asking
from opspilot.web.agui import route
from tests.web.stand import Stand, answer, question

pytestmark = pytest.mark.asyncio(loop_scope="session")

DONE = Step(text="That is all.")
CHANGE = [Step(text="It has to be changed.", calls=[call("look", topic="db"), call("change", name="db")]), DONE]


def tools(done: list[str]) -> list[Tool]:
    @tool(effect="read")
    def look(topic: str) -> str:
        """Say what is known."""
        return f"{topic}: password=hunter22"

    @tool()
    def change(name: str, by: int = 1) -> str:
        """Change something."""
        done.append(f"change {name} {by}")
        return "changed"

    @tool(effect="read")
    def wonder(topic: str) -> str | Interrupt:
        """Ask a person."""
        return Interrupt(InterruptType.QUESTION, "Which window?", {"fields": ["answer"], "options": {"answer": ["a"]}})

    return [look, change, wonder]


@pytest.fixture
def talk() -> str:
    """A thread of this test alone."""
    return f"talk-{uuid4().hex[:8]}"


@pytest.fixture
def done() -> list[str]:
    """What really happened, in order."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path, done: list[str]) -> AsyncIterator[Stand]:
    policy = Policy((Rule("changes", Gate.CONFIRM, tools=("change",), terms=Terms(role="sre")), Rule("rest", Gate.RUN)))
    async with Stand(temporal, tmp_path, tools(done), policy=policy) as stand:
        yield stand


def said(text: str, id_: str = "") -> dict[str, Any]:
    return {"id": id_ or uuid4().hex, "role": "user", "content": text}


def body(thread: str, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"threadId": thread, "runId": uuid4().hex, "messages": list(messages), **more}


async def run(client: httpx.AsyncClient, thread: str, *messages: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    response = await client.post("/agui", json=body(thread, *messages, **more))
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    assert "\r" not in response.text
    return [json.loads(frame.removeprefix("data: ")) for frame in response.text.strip("\n").split("\n\n")]


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def of(events: list[dict[str, Any]], type_: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == type_]


def resolved(asked: dict[str, Any], payload: Any) -> list[dict[str, Any]]:
    return [{"interruptId": asked["id"], "status": "resolved", "payload": payload}]


def asked_in(events: list[dict[str, Any]]) -> dict[str, Any]:
    outcome = events[-1]["outcome"]
    assert outcome["type"] == "interrupt"
    (interrupt,) = outcome["interrupts"]
    assert isinstance(interrupt, dict)
    return interrupt


async def test_a_question_is_told_from_run_started_to_run_finished(stand: Stand, talk: str) -> None:
    ann = await stand.program("ann", "operator")
    script = [Step(text="I look.", calls=[call("look", topic="db")]), DONE]
    async with stand.desk.worker(script):
        events = await run(ann, talk, said("How is the database?", "first"), state={"theme": "dark"})
    assert (events[0]["type"], events[0]["threadId"], events[0]["protocolVersion"]) == ("RUN_STARTED", talk, "1.0")
    assert events[1]["snapshot"]["theme"] == "dark"
    assert events[2]["messages"] == [{"id": "first", "role": "user", "content": "How is the database?"}]
    assert [event["delta"] for event in of(events, "TEXT_MESSAGE_CONTENT")] == ["I look.", "That is all."]
    (started,) = of(events, "TOOL_CALL_START")
    (result,) = of(events, "TOOL_CALL_RESULT")
    assert (started["toolCallName"], result["toolCallId"]) == ("look", started["toolCallId"])
    assert started["parentMessageId"] == of(events, "TEXT_MESSAGE_START")[0]["messageId"]
    assert json.loads(of(events, "TOOL_CALL_ARGS")[0]["delta"]) == {"topic": "db"}
    assert json.loads(result["content"])["ok"] is True
    assert "hunter22" not in json.dumps(events)
    assert [event["stepName"] for event in of(events, "STEP_FINISHED")] == ["step 1", "step 2"]
    assert events[-1]["type"] == "RUN_FINISHED"
    assert events[-1]["outcome"] == {"type": "success"}
    assert events[-1]["result"] == {"stopReason": "answered", "message": "Answered."}


async def test_a_request_that_is_sent_again_asks_nothing_again_and_is_told_the_same(stand: Stand, talk: str) -> None:
    ann = await stand.program("ann", "operator")
    async with stand.desk.worker([DONE]):
        first = await run(ann, talk, said("Why?", "m1"))
        again = await run(ann, talk, said("Why?", "m1"))
        other = await ann.post("/agui", json=body(talk, said("Why not?", "m1")))
    assert [event for event in types(again) if event != "STATE_DELTA"] == [
        event for event in types(first) if event != "STATE_DELTA"
    ]
    assert len(stand.desk.entries(talk, Kind.USER_MESSAGE)) == 1
    assert other.status_code == 200
    assert "Why not?" not in str([entry.data for entry in stand.desk.entries(talk)])


async def test_a_run_that_waits_ends_as_interrupted_and_an_approval_resumes_it(
    stand: Stand, talk: str, done: list[str]
) -> None:
    ann, sue = await stand.program("ann", "operator"), await stand.program("sue", "operator", "sre")
    async with stand.desk.worker(CHANGE):
        events = await run(ann, talk, said("Change it.", "m1"))
        asked = asked_in(events)
        (changing,) = [one for one in of(events, "TOOL_CALL_START") if one["toolCallName"] == "change"]
        assert (asked["reason"], asked["toolCallId"]) == ("tool_call", changing["toolCallId"])
        assert asked["metadata"]["opspilot"]["arguments"] == {"name": "db", "by": 1}
        assert asked["responseSchema"]["required"] == ["approved"]
        # The read beside it has run; the change has not.
        assert [one["toolCallId"] for one in of(events, "TOOL_CALL_RESULT")] != []
        assert done == []
        resumed = await run(sue, talk, said("Change it.", "m1"), resume=resolved(asked, {"approved": True}))
    (told,) = of(resumed, "CUSTOM")
    assert (told["name"], told["value"]["outcome"]) == ("opspilot.answer", "settled")
    assert "TOOL_CALL_START" not in types(resumed)
    assert [one["toolCallId"] for one in of(resumed, "TOOL_CALL_RESULT")] == [changing["toolCallId"]]
    assert resumed[-1]["outcome"] == {"type": "success"}
    assert done == ["change db 1"]
    answered = stand.desk.entries(talk, Kind.INTERRUPT_ANSWERED)[-1]
    assert (answered.data["by"], answered.data["method"]) == ("sue", "token")
    assert len(stand.desk.entries(talk, Kind.USER_MESSAGE)) == 1


@pytest.mark.parametrize(
    ("payload", "happened", "action"),
    [
        ({"approved": True, "editedArgs": {"name": "db", "by": 2}}, ["change db 2"], "provide"),
        ({"approved": True, "editedArgs": {"name": "db", "by": 1}, "comment": "Go."}, ["change db 1"], "approve"),
        (True, ["change db 1"], "approve"),
        ({"approved": False, "comment": "Not now."}, [], "reject"),
    ],
)
async def test_what_an_answer_says_is_what_happens(
    stand: Stand, talk: str, done: list[str], payload: Any, happened: list[str], action: str
) -> None:
    sue = await stand.program("sue", "operator", "sre")
    async with stand.desk.worker(CHANGE):
        asked = asked_in(await run(sue, talk, said("Change it.")))
        resumed = await run(sue, talk, resume=resolved(asked, payload))
        assert resumed[-1]["outcome"] == {"type": "success"}
        again = await run(sue, talk, resume=resolved(asked, payload))
    assert done == happened
    answered = stand.desk.entries(talk, Kind.INTERRUPT_ANSWERED)
    assert [entry.data["action"] for entry in answered] == [action]
    assert again[-1]["outcome"] == {"type": "success"}


async def test_an_abandoned_interrupt_is_a_rejection(stand: Stand, talk: str, done: list[str]) -> None:
    sue = await stand.program("sue", "operator", "sre")
    async with stand.desk.worker(CHANGE):
        asked = asked_in(await run(sue, talk, said("Change it.")))
        resumed = await run(sue, talk, resume=[{"interruptId": asked["id"], "status": "cancelled"}])
    (result,) = of(resumed, "TOOL_CALL_RESULT")
    assert json.loads(result["content"])["errorCode"] == "rejected_by_human"
    assert done == []


@pytest.mark.parametrize("payload", [{"answer": "a"}, "a"])
async def test_a_question_for_information_is_answered_by_its_fields(stand: Stand, talk: str, payload: Any) -> None:
    ann = await stand.program("ann", "operator")
    async with stand.desk.worker([Step(calls=[call("wonder", topic="db")]), DONE]):
        asked = asked_in(await run(ann, talk, said("When?")))
        assert asked["reason"] == "input_required"
        assert list(asked["responseSchema"]["properties"]) == ["answer"]
        await run(ann, talk, resume=resolved(asked, payload))
    (answered,) = stand.desk.entries(talk, Kind.INTERRUPT_ANSWERED)
    assert answered.data["values"] == {"answer": "a"}


UNCLEAR = [None, "yes", {"approved": "true"}, {"approved": 1}, {}, {"approved": True, "editedArgs": {"by": 2}}, [True]]


async def test_what_is_no_clear_agreement_is_refused_before_anything_happens(
    stand: Stand, talk: str, done: list[str]
) -> None:
    sue = await stand.program("sue", "operator", "sre")
    async with stand.desk.worker(CHANGE):
        asked = asked_in(await run(sue, talk, said("Change it.")))
        for payload in UNCLEAR:
            refused = await sue.post("/agui", json=body(talk, resume=resolved(asked, payload)))
            assert (refused.status_code, refused.json()["code"]) == (422, "not_understood"), payload
        assert asked_in(await run(sue, talk)) == asked
    assert (done, stand.desk.entries(talk, Kind.INTERRUPT_ANSWERED)) == ([], [])


async def test_an_agreement_is_for_what_was_shown(stand: Stand, talk: str, done: list[str]) -> None:
    sue = await stand.program("sue", "operator", "sre")
    async with stand.desk.worker(CHANGE):
        asked = asked_in(await run(sue, talk, said("Change it.")))
        other = {**asked, "id": asked["id"].rpartition("/")[0] + "/" + "0" * 32}
        events = await run(sue, talk, resume=resolved(other, {"approved": True}))
        assert of(events, "CUSTOM")[0]["value"]["outcome"] == "changed"
        assert asked_in(events) == asked
        strange = {**asked, "id": "int-1"}
        events = await run(sue, talk, resume=resolved(strange, {"approved": True}))
        assert of(events, "CUSTOM")[0]["value"]["outcome"] == "unknown"
        assert asked_in(events) == asked
    assert done == []


async def test_who_may_not_agree_is_told_so_and_the_question_stays_open(
    stand: Stand, talk: str, done: list[str]
) -> None:
    ann, vic = await stand.program("ann", "operator"), await stand.program("vic", "viewer")
    async with stand.desk.worker(CHANGE):
        asked = asked_in(await run(ann, talk, said("Change it.")))
        events = await run(ann, talk, resume=resolved(asked, {"approved": True}))
        assert of(events, "CUSTOM")[0]["value"]["outcome"] == "not_allowed"
        assert asked_in(events)["id"] == asked["id"]
        for more in ({"resume": resolved(asked, {"approved": True})}, {"messages": [said("Do it!")]}):
            refused = await vic.post("/agui", json={**body(talk), **more})
            assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")
        looked = await run(vic, talk)
        assert asked_in(looked)["metadata"]["opspilot"]["answers"] == []
    assert done == []


async def test_a_question_that_somebody_else_just_settled_is_told_of_and_the_run_goes_on(
    stand: Stand, talk: str
) -> None:
    sue, bob = await stand.program("sue", "operator", "sre"), await stand.program("bob", "sre")
    async with stand.desk.worker(CHANGE):
        asked = asked_in(await run(sue, talk, said("Change it.")))
        assert (await answer(bob, await question(bob, talk), "approve")).status_code == 200
        events = await run(sue, talk, resume=resolved(asked, {"approved": True}))
    value = of(events, "CUSTOM")[0]["value"]
    assert (value["outcome"], "bob has approved this already" in value["message"]) == ("settled", True)
    assert events[-1]["outcome"] == {"type": "success"}


async def test_a_message_to_a_run_that_waits_is_kept_and_read_when_it_goes_on(
    stand: Stand, talk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "SILENCE_SECONDS", 0.2)
    sue = await stand.program("sue", "operator", "sre")
    async with stand.desk.worker([*CHANGE, DONE]):
        asked = asked_in(await run(sue, talk, said("Change it.")))
        more = await run(sue, talk, said("And be careful.", "m2"))
        assert asked_in(more)["id"] == asked["id"]
        assert more[2]["messages"][-1]["content"] == "And be careful."
        await run(sue, talk, resume=resolved(asked, {"approved": True}))
    assert [entry.data["text"] for entry in stand.desk.entries(talk, Kind.USER_MESSAGE)][-1] == "And be careful."


async def test_whoever_connects_to_a_thread_is_told_what_was_said_before_as_it_stands(stand: Stand, talk: str) -> None:
    ann, bob = await stand.program("ann", "operator"), await stand.program("bob", "viewer")
    async with stand.desk.worker(CHANGE):
        await run(ann, talk, said("Change it.", "m1"))
        looked = await run(bob, talk)
        roles = [message["role"] for message in of(looked, "MESSAGES_SNAPSHOT")[0]["messages"]]
        assert roles == ["user", "assistant", "tool"]
        assert "TEXT_MESSAGE_START" not in types(looked)
        await stand.desk.answer(talk, "1.2#0", AnswerAction.REJECT)
        await stand.desk.until(talk, Kind.RUN_STOPPED)
    over = await run(bob, talk)
    assert over[-1]["outcome"] == {"type": "success"}
    assert of(over, "MESSAGES_SNAPSHOT")[0]["messages"][-1]["content"] == "That is all."


@pytest.mark.slow
async def test_a_stopped_run_is_cancelled_and_one_at_its_limit_says_so(stand: Stand, talk: str) -> None:
    ann = await stand.program("ann", "operator")
    async with stand.desk.worker([Step(calls=[call("look", topic="db")]), Step(text="No more.")]):
        limited = await run(ann, f"{talk}-short", said("Look."), forwardedProps={"opspilot": {"limits": {"steps": 1}}})
        assert limited[-1]["result"]["stopReason"] == "max_steps"
        assert of(limited, "TEXT_MESSAGE_CONTENT")[-1]["delta"].startswith("Stopped after 1 steps")
    async with stand.desk.worker(CHANGE):
        asked_in(await run(ann, talk, said("Change it.")))
        telling = asyncio.ensure_future(run(ann, talk, said("Well?", "m2")))
        await stand.desk.opspilot.stop(talk)
        await stand.desk.until(talk, Kind.RUN_STOPPED)
        await telling
        over = await run(ann, talk)
    assert over[-1]["outcome"] == {"type": "cancelled"}


async def test_a_run_that_failed_ends_in_an_error_with_its_sentence(stand: Stand, talk: str) -> None:
    ann = await stand.program("ann", "operator")
    async with stand.desk.worker([Step(error=ScriptedError(fault=ModelFault.BAD_REQUEST, message="No such model."))]):
        events = await run(ann, talk, said("Why?"))
    assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", "model_failed")
    assert "The model could not be used." in events[-1]["message"]


async def test_leaving_does_not_stop_the_run(stand: Stand, talk: str) -> None:
    ann = await stand.program("ann", "operator")
    leaving = asyncio.ensure_future(run(ann, talk, said("Why?", "m1")))
    async with stand.desk.worker([Step(text="Slowly.", delay_seconds=0.5, calls=[call("look", topic="db")]), DONE]):
        await stand.desk.until(talk, Kind.USER_MESSAGE)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        stopped = await stand.desk.until(talk, Kind.RUN_STOPPED)
    assert stopped.data["stop_reason"] == "answered"


async def test_a_browser_has_to_mean_it(stand: Stand, talk: str) -> None:
    ann = await stand.browser("ann", "operator")
    token = ann.headers.pop("X-CSRF-Token")
    refused = await ann.post("/agui", json=body(talk, said("Why?")))
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf")
    forged = await ann.post(
        "/agui", json=body(talk, said("Why?")), headers={"X-CSRF-Token": token, "Origin": "https://evil.test"}
    )
    assert (forged.status_code, forged.json()["code"]) == (403, "origin")
    stranger = await stand.anybody()
    assert (await stranger.post("/agui", json=body(talk, said("Why?")))).status_code == 401
    assert (await stranger.post("/agui", content=b"x" * 5_000_000)).status_code == 401
    assert stand.desk.journal.sessions() == ()


WRONG: list[tuple[dict[str, Any], int]] = [
    ({"threadId": "talk"}, 422),
    (body("../talk", said("Why?")), 400),
    (body("talk", said("Why?", "an id with spaces")), 422),
    (body("talk", said("  ")), 400),
    (body("talk", said("")), 422),
    (body("no-such-talk"), 404),
    (body("talk", said("Why?"), forwardedProps={"opspilot": {"limits": {"steps": 0}}}), 422),
    (body("talk", said("Why?"), forwardedProps={"opspilot": {"force": True}}), 400),
]


async def test_what_can_not_be_asked_is_refused_as_any_other_request(stand: Stand) -> None:
    ann = await stand.program("ann", "operator")
    for wrong, status in WRONG:
        response = await ann.post("/agui", json=wrong)
        assert (response.status_code, set(response.json())) == (status, {"code", "message"}), response.text


async def test_a_long_conversation_is_taken_and_an_endless_one_is_not(
    stand: Stand, talk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await stand.program("ann", "operator")
    long = [said("x" * 100_000) for _ in range(20)]
    async with stand.desk.worker([DONE]):
        assert (await run(ann, talk, *long, said("Why?")))[-1]["outcome"] == {"type": "success"}
    monkeypatch.setattr("opspilot.web.protecting.MOST_CONVERSATION_BYTES", 1000)
    assert (await ann.post("/agui", json=body(talk, *long))).status_code == 413


async def test_a_run_that_is_lost_is_told_as_an_error_and_not_waited_for(
    stand: Stand, talk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "SILENCE_SECONDS", 0.2)
    ann = await stand.program("ann", "operator")
    async with stand.desk.worker([DONE]):
        await run(ann, talk, said("Why?"))

    async def swallow(*_: object) -> Asked:
        return Asked(talk, "m2", 1, 0)

    monkeypatch.setattr(asking, "ask", swallow)
    monkeypatch.setattr(route, "LOST_SECONDS", 0.4)
    assert types(await run(ann, talk, said("And now?", "m2")))[-1] == "RUN_ERROR"
