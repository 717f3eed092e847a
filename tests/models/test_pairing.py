"""Whatever the conversation, a provider gets each call followed by its one result."""

import json

from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.messages import (
    AssistantMessage,
    Message,
    ProtocolCall,
    SystemMessage,
    ToolMessage,
    UserMessage,
    unanswered,
)
from opspilot.models.pairing import paired


def call(id_: str) -> ProtocolCall:
    return ProtocolCall(id_, "look", "{}")


def result(id_: str, text: str = "") -> ToolMessage:
    return ToolMessage(id_, "look", text or f"result of {id_}", ok=True)


def flat(messages: tuple[Message, ...]) -> list[Message]:
    return [part for turn in paired(messages) for part in (turn.message, *turn.results)]


def test_a_paired_conversation_passes_unchanged() -> None:
    messages = (
        SystemMessage("s"),
        UserMessage("q"),
        AssistantMessage("", (call("a"), call("b"))),
        result("a"),
        result("b"),
        AssistantMessage("done"),
    )
    assert flat(messages) == list(messages)


def test_a_message_between_results_moves_behind_them() -> None:
    asked = AssistantMessage("", (call("a"), call("b")))
    steering = UserMessage("wait")
    assert flat((asked, result("b"), steering, result("a"))) == [asked, result("a"), result("b"), steering]


def test_a_result_without_its_call_is_dropped() -> None:
    assert flat((UserMessage("q"), result("gone"))) == [UserMessage("q")]


def test_the_second_result_of_a_call_is_dropped() -> None:
    asked = AssistantMessage("", (call("a"),))
    assert flat((asked, result("a", "first"), result("a", "second"))) == [asked, result("a", "first")]


def test_a_call_without_a_result_gets_one_that_admits_it() -> None:
    (turn,) = paired((AssistantMessage("", (call("a"),)),))
    observation = json.loads(turn.results[0].text)
    assert observation["ok"] is False
    assert observation["errorCode"] == "outcome_unknown"


def test_ids_that_come_again_in_a_later_turn_find_their_own_results() -> None:
    asked = AssistantMessage("", (call("a"),))
    messages = (asked, result("a", "one"), asked, result("a", "two"))
    assert flat(messages) == list(messages)


MESSAGES = st.lists(
    st.one_of(
        st.just(UserMessage("u")),
        st.lists(st.sampled_from("abc").map(call), max_size=3).map(lambda calls: AssistantMessage("t", tuple(calls))),
        st.sampled_from("abcd").map(result),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_any_conversation_becomes_a_paired_one(messages: list[Message]) -> None:
    sent = flat(tuple(messages))
    assert unanswered(tuple(sent)) == ()
    others = [message for message in messages if not isinstance(message, ToolMessage)]
    assert [message for message in sent if not isinstance(message, ToolMessage)] == others
