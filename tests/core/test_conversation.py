"""From journal entries to what a model is shown, and whether that is paired."""

from datetime import UTC, datetime
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.conversation import conversation
from opspilot.core.entries import Entry, Kind
from opspilot.core.errors import JournalBehind
from opspilot.core.messages import AssistantMessage, Json, Message, ProtocolCall, ToolMessage, UserMessage, unanswered
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.outcomes import result_entry

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
seqs = count(1)


def entry(
    kind: Kind, data: dict[str, Json], *, run: str = "run1", step: int | None = None, call: str | None = None
) -> Entry:
    seq = next(seqs)
    return Entry("session", seq, run, f"key-{seq}", kind, NOON, data, step, call)


def said(text: str, run: str = "run1") -> Entry:
    return entry(Kind.USER_MESSAGE, {"id": text, "text": text}, run=run)


def replied(step: int, text: str, *ids: str, run: str = "run1", **more: Json) -> Entry:
    calls = [{"id": name, "name": "look", "arguments": "{}"} for name in ids]
    return entry(Kind.ASSISTANT_MESSAGE, {"text": text, "tool_calls": calls, **more}, run=run, step=step)


def resulted(call: str, value: str, run: str = "run1") -> Entry:
    new = result_entry(run, call, 1, Observation(ok=True, data=value), NOON)
    return entry(Kind.TOOL_RESULT, dict(new.data), run=run, step=new.step, call=call)


def told(messages: tuple[Message, ...]) -> list[str]:
    """One line a message."""
    lines = []
    for message in messages:
        match message:
            case UserMessage(text):
                lines.append(f"user: {text}")
            case AssistantMessage(text, calls):
                lines.append(" ".join([f"assistant: {text}", *(call.id for call in calls)]))
            case ToolMessage(call_id, text=text):
                lines.append(f"{call_id}: {text}")
    return lines


@pytest.mark.parametrize(
    ("entries", "lines"),
    [
        pytest.param([], [], id="nothing was said"),
        pytest.param(
            [said("Why?"), replied(1, "Because.")], ["user: Why?", "assistant: Because."], id="question and answer"
        ),
        pytest.param(
            [said("Why?"), replied(1, "", "a", "b"), resulted("1.2", "two"), resulted("1.1", "one"), replied(2, "So.")],
            [
                "user: Why?",
                "assistant:  a b",
                'a: {"data":"one","ok":true}',
                'b: {"data":"two","ok":true}',
                "assistant: So.",
            ],
            id="parallel results stand in proposal order, whichever landed first",
        ),
        pytest.param(
            [said("Why?"), replied(1, "", "a"), said("Hurry."), resulted("1.1", "one")],
            ["user: Why?", "assistant:  a", 'a: {"data":"one","ok":true}', "user: Hurry."],
            id="a message that landed before a result stands behind it",
        ),
        pytest.param(
            [said("Why?"), replied(1, "", "same", "same"), resulted("1.1", "one"), resulted("1.2", "two")],
            ["user: Why?", "assistant:  same same", 'same: {"data":"one","ok":true}', 'same: {"data":"two","ok":true}'],
            id="a provider that gives two calls one id loses no result",
        ),
        pytest.param(
            [
                said("Why?"),
                replied(1, "", "a"),
                resulted("1.1", "first run"),
                said("And?", run="run2"),
                replied(1, "", "a", run="run2"),
                resulted("1.1", "second run", run="run2"),
            ],
            [
                "user: Why?",
                "assistant:  a",
                'a: {"data":"first run","ok":true}',
                "user: And?",
                "assistant:  a",
                'a: {"data":"second run","ok":true}',
            ],
            id="calls of two runs with the same name keep their own results",
        ),
        pytest.param(
            [
                said("Why?"),
                replied(1, "", "a"),
                said("And?", run="run2"),
                resulted("1.1", "repaired", run="run1"),
            ],
            ["user: Why?", "assistant:  a", 'a: {"data":"repaired","ok":true}', "user: And?"],
            id="a result that a repair wrote later stands where it belongs",
        ),
        pytest.param(
            [said("Why?"), replied(1, "", cancelled=True), said("Again.")],
            ["user: Why?", "user: Again."],
            id="a model call that was given up before it wrote anything is not there",
        ),
        pytest.param(
            [said("Why?"), replied(1, "I was about to", cancelled=True), said("Again.")],
            ["user: Why?", "assistant: I was about to", "user: Again."],
            id="what it had written until then is",
        ),
        pytest.param(
            [
                entry(Kind.RUN_STARTED, {}),
                said("Why?"),
                replied(1, "Because."),
                entry(Kind.RUN_STOPPED, {"stop_reason": "answered"}),
            ],
            ["user: Why?", "assistant: Because."],
            id="bookkeeping is not shown",
        ),
    ],
)
def test_the_conversation(entries: list[Entry], lines: list[str]) -> None:
    messages = conversation(entries)
    assert told(messages) == lines
    assert unanswered(messages) == ()


def test_what_an_adapter_needs_back_comes_back_as_it_was() -> None:
    (_, message) = conversation([said("Why?"), replied(1, "x", provider="some", opaque={"blocks": [1, {"a": None}]})])
    assert message == AssistantMessage("x", (), "some", {"blocks": [1, {"a": None}]})


def test_a_failed_call_is_shown_with_its_code_and_sentence() -> None:
    new = result_entry("run1", "1.1", 0, Observation.failure(ErrorCode.NOT_STARTED), NOON)
    entries = [replied(1, "", "a"), entry(Kind.TOOL_RESULT, dict(new.data), step=1, call="1.1")]
    assert conversation(entries)[1] == ToolMessage(
        "a",
        "look",
        '{"errorCode":"not_started","message":"This call never started; nothing happened.","ok":false}',
        ok=False,
    )


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([replied(1, "", "a")], id="no result"),
        pytest.param([replied(1, "", "a", "b"), resulted("1.1", "one")], id="one of two"),
        pytest.param([replied(1, "", "a"), resulted("1.1", "one", run="run2")], id="only another run's"),
    ],
)
def test_a_journal_without_a_result_is_refused_before_a_provider_would(entries: list[Entry]) -> None:
    with pytest.raises(JournalBehind, match=r"no result for 1 tool call\(s\)"):
        conversation(entries)


def assistant(*ids: str) -> AssistantMessage:
    return AssistantMessage("", tuple(ProtocolCall(name, "look", "{}") for name in ids))


def result(name: str) -> ToolMessage:
    return ToolMessage(name, "look", "{}", ok=True)


@pytest.mark.parametrize(
    ("messages", "wrong"),
    [
        pytest.param((assistant("a"), result("a")), (), id="one call, one result"),
        pytest.param((assistant("a", "b"), result("a"), result("b")), (), id="two calls, two results"),
        pytest.param((assistant("a", "a"), result("a"), result("a")), (), id="one id twice, two results"),
        pytest.param((assistant("a"),), ("a",), id="no result"),
        pytest.param((assistant("a"), UserMessage("x"), result("a")), ("a", "a"), id="somebody spoke in between"),
        pytest.param((assistant("a", "b"), result("b"), result("a")), ("a", "a"), id="results in another order"),
        pytest.param((assistant("a"), result("a"), result("a")), ("a",), id="one result too many"),
        pytest.param((UserMessage("x"), result("a")), ("a",), id="a result that nobody asked for"),
        pytest.param((assistant("a"), assistant("b"), result("b")), ("a",), id="the model spoke twice"),
        pytest.param((), (), id="nothing"),
    ],
)
def test_unanswered_names_what_no_provider_would_take(messages: tuple[Message, ...], wrong: tuple[str, ...]) -> None:
    assert unanswered(messages) == wrong


@given(st.data())
def test_in_whatever_order_results_land_the_conversation_is_the_same(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    lines: list[Entry] = []
    for step, size in enumerate(sizes, start=1):
        results = [resulted(f"{step}.{index}", f"{step}.{index}") for index in range(1, size + 1)]
        lines += [replied(step, "", *(f"id{index}" for index in range(size))), *data.draw(st.permutations(results))]
    messages = conversation(lines)
    assert unanswered(messages) == ()
    assert [message.text for message in messages if isinstance(message, ToolMessage)] == [
        f'{{"data":"{step}.{index}","ok":true}}'
        for step, size in enumerate(sizes, start=1)
        for index in range(1, size + 1)
    ]
