"""From a reply to the entries that record it. There are three tools: a read, a write, one that needs approval."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from opspilot.core.calls import Effect, Gate, Verdict, digest
from opspilot.core.contract import CallModel, Mode, ModelOutcome
from opspilot.core.entries import Entry, Kind, NewEntry
from opspilot.core.interrupts import InterruptType, Principal, shown_digest
from opspilot.core.limits import StopReason
from opspilot.core.messages import Finish, Json, ModelReply, ProtocolCall, ToolSpec, Usage
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.outcomes import MAX_ANSWER_CHARS, model_outcome, result_entry, tool_outcome
from opspilot.core.ports import CallContext, ToolReturn, Tools
from opspilot.core.terms import Terms
from opspilot.core.verdicts import CUT_OFF, Asking, interrupt_data, reply_entries

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
ANN = Principal("ann")


class ThreeTools(Tools):
    """`look` reads, `change` writes if `target` is given, `restart` writes after a person agreed."""

    def specs(self, principal: Principal, only: str | None = None) -> tuple[ToolSpec, ...]:
        return ()

    def judge(self, name: str, arguments: Mapping[str, Json], principal: Principal) -> Verdict:
        match name:
            case "look":
                return Verdict(Gate.RUN, Effect.READ, "default", concurrent=True, timeout_seconds=5.0)
            case "change" if "target" not in arguments:
                message = "target is missing"
                return Verdict(Gate.INVALID, rule="schema", code=ErrorCode.INVALID_ARGUMENTS, message=message)
            case "change":
                return Verdict(Gate.RUN, rule="default", idempotent=True)
            case "restart":
                return Verdict(Gate.CONFIRM, rule="risky", message="Restarting interrupts customers.")
        return Verdict(Gate.INVALID, rule="registry", code=ErrorCode.UNKNOWN_TOOL, message=f"There is no tool {name}.")

    def summary(self, name: str, arguments: Mapping[str, Json]) -> str:
        return " ".join([name, *(f"{key}={value}" for key, value in arguments.items())])[:120]

    def schema(self, name: str) -> Mapping[str, Json]:
        return {"type": "object", "title": name}

    async def run(self, name: str, arguments: Mapping[str, Json], context: CallContext) -> ToolReturn:
        return ToolReturn(Observation(ok=True))

    async def reconcile(self, name: str, idempotency_key: str) -> Observation | None:
        return None

    def redact(self, value: Json) -> Json:
        return value


def proposed(name: str, arguments: str = "{}") -> ProtocolCall:
    return ProtocolCall(f"id of {name}", name, arguments)


def recorded(
    *calls: ProtocolCall,
    text: str = "",
    finish: Finish = Finish.TOOL_CALLS,
    mode: Mode = Mode(),
    final: StopReason | None = None,
    **more: Json,
) -> list[NewEntry]:
    """The entries of step 3 of run1."""
    reply = ModelReply(text, calls, finish, Usage(10, 2, 4), "some", {"blocks": [1]})
    order = CallModel("run1", 3, mode, final=final)
    return reply_entries(order, "key", reply, ANN, ThreeTools(), NOON, {"model": "m", "latency_ms": 1500, **more})


def codes(entries: list[NewEntry]) -> dict[str, str]:
    """What is settled already, by call."""
    return {str(entry.call): entry.data["errorCode"] for entry in entries if entry.kind is Kind.TOOL_RESULT}


def landed(entries: list[NewEntry]) -> list[Entry]:
    """As the journal gives them back: through JSON, with their place in the sequence."""
    return [
        Entry("s", seq, "run1", new.key, new.kind, new.at, json.loads(json.dumps(dict(new.data))), new.step, new.call)
        for seq, new in enumerate(entries, start=1)
    ]


def outcome(entries: list[NewEntry]) -> ModelOutcome:
    return model_outcome(landed(entries))


# ---------------------------------------------------------------- what is settled by the reply alone


@pytest.mark.parametrize(
    ("calls", "settled"),
    [
        pytest.param([proposed("look")], {}, id="a good read has yet to run"),
        pytest.param([proposed("change", '{"target": 1}')], {}, id="a good write, too"),
        pytest.param([proposed("restart")], {}, id="a call that waits for a person is open"),
        pytest.param([proposed("change")], {"3.1": "invalid_arguments"}, id="arguments that don't validate"),
        pytest.param([proposed("look", "{")], {"3.1": "invalid_json"}, id="arguments that aren't JSON"),
        pytest.param([proposed("look", "[]")], {"3.1": "invalid_json"}, id="arguments that aren't an object"),
        pytest.param([proposed("nope")], {"3.1": "unknown_tool"}, id="a tool that isn't there"),
        pytest.param([proposed("nope", "{")], {"3.1": "unknown_tool"}, id="whatever its arguments"),
        pytest.param([proposed("")], {"3.1": "unknown_tool"}, id="a call without a name"),
        pytest.param(
            [proposed("look"), proposed("look", "{"), proposed("nope"), proposed("look")],
            {"3.2": "invalid_json", "3.3": "unknown_tool"},
            id="one call's fault never harms its siblings",
        ),
    ],
)
def test_what_a_reply_settles_at_once(calls: list[ProtocolCall], settled: dict[str, str]) -> None:
    assert codes(recorded(*calls)) == settled


@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.CONTENT_FILTER, Finish.REFUSAL])
def test_a_reply_that_was_cut_off_runs_nothing(finish: Finish) -> None:
    entries = recorded(proposed("look"), proposed("restart"), proposed("change", '{"tar'), finish=finish)
    assert codes(entries) == {"3.1": "invalid_json", "3.2": "invalid_json", "3.3": "invalid_json"}
    assert {entry.data["message"] for entry in entries if entry.kind is Kind.TOOL_RESULT} == {CUT_OFF}
    assert all(call.code is ErrorCode.INVALID_JSON for call in outcome(entries).calls)


@pytest.mark.parametrize(
    ("calls", "settled"),
    [
        pytest.param([proposed("look")], {}, id="the one tool, once"),
        pytest.param([proposed("look"), proposed("look")], {"3.2": "skipped_in_serial_step"}, id="the second call"),
        pytest.param([proposed("restart")], {"3.1": "skipped_in_serial_step"}, id="another tool"),
        pytest.param(
            [proposed("restart"), proposed("look")],
            {"3.1": "skipped_in_serial_step", "3.2": "skipped_in_serial_step"},
            id="the one tool behind another",
        ),
        pytest.param([proposed("nope")], {"3.1": "skipped_in_serial_step"}, id="a tool that isn't there"),
        pytest.param([proposed("look", "{")], {"3.1": "invalid_json"}, id="bad arguments are still told"),
    ],
)
def test_serial_mode_is_enforced_whatever_the_provider_does(calls: list[ProtocolCall], settled: dict[str, str]) -> None:
    assert codes(recorded(*calls, mode=Mode(only="look"))) == settled


def test_a_last_turn_has_no_calls_even_if_the_model_makes_some() -> None:
    entries = recorded(proposed("look"), text="So far", final=StopReason.MAX_STEPS)
    assert [entry.kind for entry in entries] == [Kind.ASSISTANT_MESSAGE]
    assert entries[0].data["tool_calls"] == []
    assert entries[0].data["final"] == "max_steps"
    assert outcome(entries).answer == "So far"


def test_what_goes_back_verbatim_to_a_provider_holds_no_call_that_was_dropped() -> None:
    (entry,) = recorded(proposed("look"), final=StopReason.MAX_STEPS)
    assert entry.data["opaque"] == {}
    (entry,) = recorded(text="So far", final=StopReason.MAX_STEPS)
    assert entry.data["opaque"] == {"blocks": [1]}


# ---------------------------------------------------------------- what is recorded


def test_a_reply_is_recorded_with_each_call_right_behind_it() -> None:
    entries = recorded(proposed("look"), proposed("nope"), proposed("restart"))
    assert [(entry.kind.value, entry.key, entry.step, entry.call) for entry in entries] == [
        ("assistant.message", "key", 3, None),
        ("tool.call", "run1/3.1/call", 3, "3.1"),
        ("tool.call", "run1/3.2/call", 3, "3.2"),
        ("tool.result", "run1/3.2/result", 3, "3.2"),
        ("tool.call", "run1/3.3/call", 3, "3.3"),
        ("interrupt.opened", "run1/3.3#0/interrupt", 3, "3.3"),
    ]
    assert {entry.at for entry in entries} == {NOON}


def test_the_model_gets_its_own_text_back_and_the_tool_gets_the_parsed_arguments() -> None:
    raw = '{ "target":1e2, "target" : 7 }'
    assistant, call = recorded(proposed("change", raw), text="I will")
    assert assistant.data["tool_calls"] == [{"id": "id of change", "name": "change", "arguments": raw}]
    assert (assistant.data["text"], assistant.data["provider"]) == ("I will", "some")
    assert call.data["arguments"] == {"target": 7}
    assert call.data["summary"] == "change target=7"
    assert (call.data["gate"], call.data["rule"], call.data["effect"]) == ("run", "default", "write")


def test_arguments_that_could_not_be_read_are_recorded_as_they_came() -> None:
    entries = recorded(proposed("look", '{"a": NaN}'))
    assert entries[1].data["arguments"] == '{"a": NaN}'
    assert entries[1].data["gate"] == "invalid"
    assert "NaN is not JSON" in entries[2].data["message"]


def test_a_call_that_waits_for_a_person_says_what_an_approval_is_for() -> None:
    *_, question = recorded(proposed("restart", '{"service": "payment"}'))
    shown = shown_digest("run1", "3.1#0", "restart", {"service": "payment"})
    assert question.kind is Kind.INTERRUPT_OPENED
    assert question.data["digest"] == shown
    assert question.data["interrupt"] == "3.1#0"
    assert (question.data["kind"], question.data["reason"]) == ("confirm_risky", "Restarting interrupts customers.")


@pytest.mark.parametrize(
    "other",
    [
        ("run2", "3.1#0", "restart", {"service": "payment"}),
        ("run1", "3.1#2", "restart", {"service": "payment"}),
        ("run1", "3.1#0", "change", {"service": "payment"}),
        ("run1", "3.1#0", "restart", {"service": "cart"}),
    ],
)
def test_an_approval_is_for_one_run_one_round_one_tool_and_one_set_of_arguments(
    other: tuple[str, str, str, Json],
) -> None:
    assert shown_digest(*other) != shown_digest("run1", "3.1#1", "restart", {"service": "payment"})


# ---------------------------------------------------------------- outcomes


def test_what_the_workflow_learns_of_a_reply() -> None:
    entries = recorded(proposed("look", '{"a": 1}'), proposed("nope"), proposed("restart"))
    learned = outcome(entries)
    assert (learned.usage, learned.active_seconds) == (Usage(10, 2, 4), 1.5)
    assert (learned.answer, learned.stop, learned.detail) == ("", None, "")
    look, nope, restart = learned.calls
    assert (look.name, look.gate, look.effect, look.concurrent) == ("look", Gate.RUN, Effect.READ, True)
    assert (look.digest, look.summary, look.seconds) == (digest({"a": 1}), "look a=1", 5.0)
    assert (look.code, look.shown) == (None, "")
    assert (nope.gate, nope.code) == (Gate.INVALID, ErrorCode.UNKNOWN_TOOL)
    assert (restart.gate, restart.code) == (Gate.CONFIRM, None)
    assert restart.shown == entries[-1].data["digest"]


def test_an_answer_goes_through_history_cut_to_size() -> None:
    learned = outcome(recorded(text="x" * (MAX_ANSWER_CHARS + 1), finish=Finish.STOP))
    assert learned.answer == "x" * MAX_ANSWER_CHARS + " … (the whole answer is in the journal)"
    assert outcome(recorded(text="x" * MAX_ANSWER_CHARS)).answer == "x" * MAX_ANSWER_CHARS


def test_text_beside_calls_is_no_answer() -> None:
    assert outcome(recorded(proposed("look"), text="Let me look.")).answer == ""


def test_a_reply_that_ends_the_run_says_why() -> None:
    learned = outcome(recorded(stop="model_failed", detail="The key was refused."))
    assert (learned.stop, learned.detail) == (StopReason.MODEL_FAILED, "The key was refused.")


@pytest.mark.parametrize("code", list(ErrorCode))
def test_a_failed_call_comes_back_from_its_entry_with_its_code(code: ErrorCode) -> None:
    (entry,) = landed([result_entry("run1", "3.1", 2, Observation.failure(code, "why"), NOON, 0.25)])
    learned = tool_outcome(entry)
    assert (learned.ok, learned.code, learned.active_seconds, learned.interrupted) == (False, code, 0.25, False)


def test_equal_results_have_equal_digests_whatever_they_cost() -> None:
    def learned(data: Json, seconds: float) -> str:
        (entry,) = landed([result_entry("run1", "3.1", 1, Observation(ok=True, data=data), NOON, seconds)])
        return tool_outcome(entry).digest

    assert learned({"a": 1, "b": [2]}, 0.1) == learned({"b": [2], "a": 1}, 9.9)
    assert learned({"a": 1}, 0.1) != learned({"a": 2}, 0.1)


def test_a_question_comes_back_from_its_entry_with_what_was_shown() -> None:
    *_, question = recorded(proposed("restart"))
    (entry,) = landed([question])
    learned = tool_outcome(entry)
    assert (learned.interrupted, learned.ok, learned.code) == (True, False, None)
    assert learned.digest == question.data["digest"]


def test_the_time_until_a_tool_asked_counts_as_its_time() -> None:
    asking = Asking("any", Terms(), "ann", NOON)
    data = interrupt_data("run1", "3.1#1", "look", {}, kind=InterruptType.QUESTION, reason="Which?", asking=asking)
    data["duration_ms"] = 1250
    (entry,) = landed([NewEntry("key", Kind.INTERRUPT_OPENED, NOON, data, 3, "3.1")])
    assert tool_outcome(entry).active_seconds == 1.25
