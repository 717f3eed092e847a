"""What the conversation brings besides results: people's decisions, later messages, serial mode, the last turn."""

import json

import pytest

from opspilot.core.messages import (
    AssistantMessage,
    Json,
    Message,
    ModelRequest,
    ProtocolCall,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from opspilot.models.demo import DemoModel
from tests.models.demo.harness import Refused, Toy, declared, reply_to, run
from tests.models.demo.toolsets import call_centre, fleet, warehouse

_FAILED = '{"ok": false, "errorCode": "tool_failed", "message": "No answer."}'
MAIN = "Look at the recent alarms of the vessel Aurora and compare them with the knowledge base"


def _specs(tools: list[Toy]) -> tuple[ToolSpec, ...]:
    return tuple(tool.spec for tool in tools)


def test_the_name_says_that_it_is_an_offline_demo() -> None:
    assert DemoModel().name == "demo (offline)"


@pytest.mark.parametrize(
    ("code", "message", "says"),
    [
        ("rejected_by_human", "Not during the regatta.", "a person rejected it"),
        ("rejected_by_human", "A person rejected this call; it did not run. They said: not today", "“not today”."),
        ("approval_expired", "Nobody decided in time.", "nobody decided in time"),
        ("denied_by_policy", "Only captains may.", "a rule forbids it"),
        ("outcome_unknown", "It may have happened.", "may or may not have happened"),
        ("tool_failed", "The unit does not answer.", "did not run"),
    ],
)
def test_an_action_that_did_not_come_about_is_reported_and_not_tried_again(code: str, message: str, says: str) -> None:
    refusing = [tool for tool in fleet() if tool.name != "reboot_unit"]
    reboot = next(tool for tool in fleet() if tool.name == "reboot_unit")

    def refuse(_: object) -> Json:
        raise Refused(message, code)

    done = run(
        "Reboot the radar of the vessel Borealis",
        [*refusing, Toy(reboot.name, reboot.description, reboot.arguments, refuse)],
    )
    assert len(done.called("reboot_unit")) == 1
    assert says in done.answer
    assert message.rpartition(" They said: ")[2] in done.answer
    assert done.answer.startswith("**Action**"), "what was looked up on the way is no part of the answer"


def test_what_an_action_returned_is_told_once_and_line_by_line() -> None:
    reboot = next(tool for tool in fleet() if tool.name == "reboot_unit")
    result = {"rebooted": "radar", "exit_status": 0, "seconds": 0.58, "output": "stopping radar\nradar is ready"}
    others = [tool for tool in fleet() if tool.name != "reboot_unit"]
    done = run(
        "Reboot the radar of the vessel Borealis",
        [*others, Toy(reboot.name, reboot.description, reboot.arguments, lambda _: result)],
    )
    lines = done.answer.split("\n")
    for line in ("- exit_status: 0", "- seconds: 0.58", "- output:", "  - stopping radar", "  - radar is ready"):
        assert lines.count(line) == 1, done.answer


def test_a_read_that_was_rejected_is_not_tried_in_another_way() -> None:
    def refuse(_: object) -> Json:
        raise Refused("Not this one.", "rejected_by_human")

    tools = [Toy(t.name, t.description, t.arguments, refuse) if t.name == "kb_lookup" else t for t in fleet()]
    done = run(MAIN, tools)
    assert len(done.called("kb_lookup")) == 1
    assert "Not this one." in done.answer


def test_a_failed_call_is_tried_once_more_under_the_name_that_its_error_suggests() -> None:
    def state(asked: object) -> Json:
        name = getattr(asked, "pump", "")
        if name != "ballast-1":
            raise Refused(f"There is no pump '{name}', did you mean 'ballast-1'?")
        return {"name": name, "running": False}

    pumps = Toy("pump_status", "Show the status of a pump.", declared("PumpStatus", pump=(str, ...)), state)
    done = run("What is the status of the ballast pump?", [pumps])
    assert [call["pump"] for call in done.called("pump_status")] == ["ballast", "ballast-1"]
    assert "running: false" in done.answer


def test_a_message_sent_while_it_works_is_heeded() -> None:
    tools = fleet()
    first = reply_to(ModelRequest((UserMessage(MAIN),), _specs(tools)))
    results = [ToolMessage(call.id, call.name, '{"ok": true, "data": {}}', ok=True) for call in first.calls]
    steered: tuple[Message, ...] = (
        UserMessage(MAIN),
        AssistantMessage(first.text, first.calls),
        *results,
        UserMessage("Sorry, the vessel Borealis instead: who operates it?"),
    )
    reply = reply_to(ModelRequest(steered, _specs(tools)))
    assert [(call.name, json.loads(call.arguments)) for call in reply.calls] == [("find_vessel", {"who": "Borealis"})]


def test_a_question_that_waits_behind_another_is_answered_by_itself() -> None:
    first = "Who operates the vessel Aurora?"
    done = run("Who operates the vessel Borealis?", fleet(), before=[UserMessage(first)])
    theirs, ours = done.answer.split("**Who operates the vessel Borealis?**")
    assert "North Line" in theirs.split("\n\n")[1]
    assert "Ice Pilots" not in theirs
    assert "Ice Pilots" in ours
    assert "North Line" not in ours


def test_a_follow_up_speaks_of_what_was_named_before() -> None:
    done = run("Who operates the vessel Aurora?", fleet())
    more = run("Look at its recent alarms", fleet(), before=done.messages)
    assert more.called("grep_events") == [{"vessel_id": "V-204", "grade": "alarm"}]
    assert "engine.txt:41" in more.answer


def test_the_last_turn_without_tools_says_what_was_found() -> None:
    done = run(MAIN, fleet())
    so_far = tuple(done.messages[:-1])
    reply = reply_to(ModelRequest(so_far))
    assert reply.calls == ()
    assert "engine.txt:41" in reply.text
    assert "KB-31:12" in reply.text


def test_the_last_turn_with_nothing_found_says_so() -> None:
    reply = reply_to(ModelRequest((UserMessage(MAIN),)))
    assert reply.calls == ()
    assert "can't answer" in reply.text


def test_no_more_than_one_call_where_parallel_calls_are_not_wanted() -> None:
    request = ModelRequest((UserMessage(MAIN),), _specs(fleet()), parallel=False)
    assert len(reply_to(request).calls) == 1


def test_a_forced_tool_is_called_even_if_the_question_would_not_lead_to_it() -> None:
    request = ModelRequest((UserMessage("看看一号传送带最近的报错"),), _specs(warehouse()), force="sop_reader")
    reply = reply_to(request)
    assert [call.name for call in reply.calls] == ["sop_reader"]


def test_an_empty_question_gets_a_sentence() -> None:
    for text in ("", "  ", "？？"):
        reply = reply_to(ModelRequest((SystemMessage("Be brief."), UserMessage(text)), _specs(call_centre())))
        assert reply.calls == ()
        assert reply.text


def test_a_trimmed_result_is_read_as_far_as_it_goes() -> None:
    whole = json.dumps({"total": 2, "entries": [{"src": "a.txt", "row": 3, "msg": "pump failed"}] * 2})
    trimmed = {"excerpt": whole[:-20], "total_chars": len(whole), "read_more": {"ref": "r1", "offset": len(whole) - 20}}
    tool = Toy("event_log", "Search the event log.", declared("EventLog", text=(str, "")), lambda _: trimmed)
    done = run('How many "pump failed" lines are in the log?', [tool])
    assert "total: 2" in done.answer
    assert "a.txt:3" in done.answer


def test_the_rest_of_a_result_that_says_nothing_yet_is_read() -> None:
    trimmed = {"excerpt": '{"padding": "' + "x" * 30, "total_chars": 900, "read_more": {"ref": "r1", "offset": 43}}
    tools = [
        Toy("event_log", "Search the event log.", declared("EventLog", text=(str, "")), lambda _: trimmed),
        Toy(
            "read_rest",
            "Read on in a result that was cut.",
            declared("ReadRest", ref=(str, ...), offset=(int, 0)),
            lambda asked: {"text": f"the rest of {asked.ref}", "next_offset": None},
        ),
    ]
    done = run('Are there "pump failed" lines in the log?', tools)
    assert {"ref": "r1", "offset": 43} in done.called("read_rest")


def test_calls_that_another_model_made_are_evidence_too() -> None:
    foreign = ProtocolCall("call_1", "grep_events", '{"vessel_id": "V-204"}')
    data = {"total": 1, "entries": [{"src": "deck.txt", "row": 5, "msg": "crane stuck"}]}
    messages: tuple[Message, ...] = (
        UserMessage("What do the event logs say?"),
        AssistantMessage("", (foreign,)),
        ToolMessage("call_1", "grep_events", json.dumps({"ok": True, "data": data}), ok=True),
    )
    reply = reply_to(ModelRequest(messages))
    assert "deck.txt:5" in reply.text


def test_tokens_are_estimated_and_grow_with_the_conversation() -> None:
    tools = _specs(fleet())
    short = reply_to(ModelRequest((UserMessage("Who owns Aurora?"),), tools))
    long = reply_to(ModelRequest((UserMessage("Who owns Aurora?" + " " * 4000),), tools))
    assert short.usage.input_tokens + 900 < long.usage.input_tokens
    assert short.usage.output_tokens > 0


def test_after_an_action_that_failed_no_other_thing_is_acted_on() -> None:
    tools = fleet()
    question = UserMessage("Reboot the radar of the vessel Aurora and of the vessel Borealis")
    messages: list[Message] = [question]
    rebooted: list[str] = []
    for _ in range(5):
        reply = reply_to(ModelRequest(tuple(messages), _specs(tools), parallel=False))
        messages.append(AssistantMessage(reply.text, reply.calls))
        for call in reply.calls:
            if call.name == "reboot_unit":
                rebooted.append(json.loads(call.arguments)["vessel_id"])
                messages.append(ToolMessage(call.id, call.name, _FAILED, ok=False))
            else:
                tool = next(tool for tool in tools if tool.name == call.name)
                data = tool.call(json.loads(call.arguments))
                messages.append(ToolMessage(call.id, call.name, json.dumps({"ok": True, "data": data}), ok=True))
        if not reply.calls:
            break
    assert rebooted == ["V-204"]
