"""What AG-UI is told of a session, without a server: whatever happens, it conforms, and nobody reads anything twice."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from ag_ui.core import BaseEvent, UserMessage
from ag_ui_validate import create_validator
from hypothesis import given, settings
from hypothesis import strategies as st

from opspilot.core.entries import Entry, Kind, assistant_key
from opspilot.core.ports import Draft
from opspilot.web.agui.telling import Telling
from opspilot.web.agui.writing import Writing
from opspilot.web.live import Happening

NOW = datetime(2026, 3, 1, tzinfo=UTC)
RUN = "run-1"


@dataclass
class Pen:
    """Writes a run as a worker does."""

    happened: list[Happening] = field(default_factory=list)
    seq: int = 0

    def entry(self, kind: Kind, data: dict[str, Any], step: int | None = None, call: str | None = None) -> None:
        self.seq += 1
        key = assistant_key(RUN, step or 0, final="final" in data) if kind is Kind.ASSISTANT_MESSAGE else f"k{self.seq}"
        self.happened.append(Entry("talk", self.seq, RUN, key, kind, NOW, data, step, call))

    def begins(self, text: str = "Why?") -> None:
        self.entry(Kind.RUN_STARTED, {"user": {"id": "ann"}})
        self.entry(Kind.USER_MESSAGE, {"id": "m1", "text": text})

    def drafts(self, step: int, attempt: int, text: str, cuts: Iterable[int]) -> None:
        for cut in cuts:
            self.happened.append(Draft(RUN, step, attempt, text[:cut]))

    def replies(self, step: int, text: str, calls: int = 0, **more: Any) -> None:
        proposed = [{"id": str(index), "name": "look", "arguments": "{}"} for index in range(calls)]
        usage = {"input_tokens": 10, "output_tokens": 2, "cached_tokens": 4}
        data = {"text": text, "tool_calls": proposed, "usage": usage, "model": "m", "provider": "p", **more}
        self.entry(Kind.ASSISTANT_MESSAGE, data, step)

    def calls(self, step: int, index: int, effect: str = "read", gate: str = "run") -> str:
        name = f"{step}.{index}"
        data = {"name": "look", "arguments": {"of": index}, "effect": effect, "gate": gate}
        self.entry(Kind.TOOL_CALL, data, step, name)
        return name

    def results(self, call: str) -> None:
        self.entry(Kind.TOOL_RESULT, {"ok": True, "data": call}, int(call[0]), call)

    def asks(self, call: str, nth: int = 0) -> None:
        self.entry(Kind.INTERRUPT_OPENED, {"interrupt": f"{call}#{nth}", "kind": "confirm_risky"}, 1, call)

    def answers(self, call: str, nth: int = 0) -> None:
        self.entry(Kind.INTERRUPT_ANSWERED, {"interrupt": f"{call}#{nth}"}, 1, call)

    def stops(self, reason: str = "answered", message: str = "Answered.") -> None:
        self.entry(Kind.RUN_STOPPED, {"stop_reason": reason, "message": message, "answer": ""})


class Reader:
    """What a client makes of the events: messages by id, the state, and which step it is in."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = {message["id"]: dict(message) for message in messages}
        self.state: Any = None

    def read(self, events: Sequence[BaseEvent]) -> None:
        for event in (event.model_dump(mode="json", by_alias=True) for event in events):
            match event["type"]:
                case "MESSAGES_SNAPSHOT":
                    self.messages = {message["id"]: message for message in event["messages"]}
                case "TEXT_MESSAGE_START":
                    self.messages[event["messageId"]] = {"role": event["role"], "content": ""}
                case "TEXT_MESSAGE_CONTENT":
                    self.messages[event["messageId"]]["content"] += event["delta"]
                case "TOOL_CALL_START":
                    parent = self.messages.setdefault(event["parentMessageId"], {"role": "assistant", "content": ""})
                    parent.setdefault("toolCalls", []).append({"id": event["toolCallId"]})
                case "TOOL_CALL_RESULT":
                    self.messages[event["messageId"]] = {"role": "tool", "content": event["content"]}
                case "STATE_SNAPSHOT":
                    self.state = event["snapshot"]
                case "STATE_DELTA":
                    for change in event["delta"]:
                        self.state[change["path"].split("/")[1]][change["path"].split("/")[2]] = change["value"]
                case _:
                    pass

    @property
    def texts(self) -> list[tuple[str, str]]:
        return [(message["role"], message["content"]) for message in self.messages.values() if message.get("content")]


def faults(events: Sequence[BaseEvent]) -> list[str]:
    """What the validator, which nobody here wrote, finds."""
    validator = create_validator()
    for event in events:
        validator.feed(json.dumps(event.model_dump(mode="json", by_alias=True)))
    validator.finalize()
    report = validator.report()
    assert report.internal_errors == []
    return [f"{found.rule} {found.message}" for found in report.diagnostics if found.severity != "info"]


def told(happened: Sequence[Happening], after: int = 0, **more: Any) -> tuple[list[BaseEvent], Telling]:
    telling = Telling("talk", "r", **more)
    rest = list(happened)
    while rest and isinstance(rest[0], Entry) and rest[0].seq <= after:
        telling.remember(rest.pop(0))  # type: ignore[arg-type]
    events = telling.begin(NOW)
    for each in rest:
        events += telling.tell(each)
    return events, telling


LETTERS = st.text("ab \U0001f600é", max_size=8)


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Happening], list[str], int]:
    """A run with what its replies say, and how much of it had happened before somebody came."""
    pen, texts = Pen(), []
    pen.begins()
    for step in range(1, draw(st.integers(1, 3)) + 1):
        text = ""
        for attempt in range(1, draw(st.integers(1, 3)) + 1):
            text = draw(LETTERS)
            cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
            pen.drafts(step, attempt, text, cuts)
        if draw(st.booleans()):
            # A draft of an attempt that was given up, which comes late.
            pen.drafts(step, 0, "late", [4])
        landed = draw(st.sampled_from([text, text + "!", draw(LETTERS)]))
        calls = draw(st.integers(0, 3))
        pen.replies(step, landed, calls)
        texts.append(landed)
        names = [pen.calls(step, index + 1) for index in range(calls)]
        for name in draw(st.permutations(names)):
            pen.results(name)
    pen.stops()
    return pen.happened, texts, draw(st.integers(0, 2))


@settings(max_examples=40)
@given(runs())
def test_whatever_happens_conforms_and_every_reply_is_read_once_as_it_landed(
    scenario: tuple[list[Happening], list[str], int],
) -> None:
    happened, texts, after = scenario
    events, telling = told(happened, after)
    events += telling.finish()
    assert faults(events) == []
    reader = Reader()
    reader.read(events)
    said = [content for role, content in reader.texts if role == "assistant"]
    assert said == [text for text in texts if text]
    restated = [message.model_dump(mode="json", by_alias=True) for message in telling.messages]
    assert reader.texts == [(message["role"], message["content"]) for message in restated if message.get("content")]
    assert set(reader.messages) == {message["id"] for message in restated}


@settings(max_examples=25)
@given(runs(), st.integers(2, 40))
def test_whoever_comes_later_has_the_same_conversation_in_the_end(
    scenario: tuple[list[Happening], list[str], int], after: int
) -> None:
    entries = [each for each in scenario[0] if isinstance(each, Entry)]
    events, telling = told(entries, after)
    late = Reader({"id": "stale", "role": "assistant", "content": "Something else."})
    events += telling.finish()
    late.read(events)
    first = Reader()
    first.read(told(entries)[0])
    assert late.texts == first.texts
    assert faults(events) == []


def test_a_second_attempt_goes_on_where_the_first_broke_off_if_it_says_the_same() -> None:
    pen = Pen()
    pen.begins()
    pen.drafts(1, 1, "The payment service fails.", [11, 19])
    pen.drafts(1, 2, "The payment service fails.", [3, 12, 26])
    pen.replies(1, "The payment service fails.")
    events, _ = told(pen.happened, 2)
    deltas = [event.delta for event in events if event.type == "TEXT_MESSAGE_CONTENT"]  # type: ignore[attr-defined]
    assert deltas == ["The payment", " service", " fails."]
    assert sum(event.type == "TEXT_MESSAGE_START" for event in events) == 1


def test_a_second_attempt_that_says_something_else_takes_the_first_one_back() -> None:
    pen = Pen()
    pen.begins()
    pen.drafts(1, 1, "The payment service", [19])
    pen.drafts(1, 2, "It is the database.", [5, 19])
    events, _ = told(pen.happened, 2, said=UserMessage(id="m1", content="Why?"))
    reader = Reader()
    reader.read(events)
    assert reader.texts == [("user", "Why?"), ("assistant", "It is the database.")]
    pen.replies(1, "It is the database.")
    events, telling = told(pen.happened, 2)
    assert faults([*events, *telling.fail("It is gone.", "gone")]) == []


def test_last_words_at_a_limit_are_a_message_of_their_own() -> None:
    pen = Pen()
    pen.begins()
    pen.replies(1, "I look.", 1)
    pen.results(pen.calls(1, 1))
    pen.drafts(1, 1, "I found nothing.", [7])
    pen.replies(1, "I found nothing.", final="max_steps")
    pen.stops("max_steps", "Stopped after 1 steps.")
    events, telling = told(pen.happened)
    reader = Reader()
    events += telling.finish()
    reader.read(events)
    assert [content for role, content in reader.texts if role == "assistant"] == [
        "I look.",
        "I found nothing.",
        "Stopped after 1 steps.",
    ]
    assert faults(events) == []


def test_usage_is_of_what_is_told_in_this_run_alone() -> None:
    pen = Pen()
    pen.begins()
    pen.replies(1, "One.")
    pen.replies(2, "Two.")
    pen.stops()
    _, telling = told(pen.happened, 3)
    finished = telling.finish()[-1].model_dump(mode="json", by_alias=True)
    assert finished["usage"] == [
        {
            "provider": "p",
            "model": "m",
            "inputTokens": 10,
            "outputTokens": 2,
            "totalTokens": 12,
            "cachedInputTokens": 4,
        }
    ]


def test_the_state_follows_and_the_other_sides_part_stays() -> None:
    pen = Pen()
    pen.begins()
    pen.replies(1, "", 1)
    pen.asks(pen.calls(1, 1, "write", "confirm"))
    events, telling = told(pen.happened, state={"theme": "dark"})
    reader = Reader()
    reader.read(events)
    assert reader.state["theme"] == "dark"
    assert reader.state["opspilot"] == {
        "session": "talk",
        "run": RUN,
        "status": "waiting",
        "step": 1,
        "waiting": 1,
        "stopReason": None,
    }
    assert telling.waits


@pytest.mark.parametrize(
    ("calls", "asked", "done", "waits"),
    [
        (["rr"], [], [], False),
        (["wc"], [1], [], True),
        (["wc", "wc"], [1], [], False),
        (["wc", "wc"], [1, 2], [], True),
        (["rr", "wc"], [2], [], False),
        (["rr", "wc"], [2], [1], True),
        (["wc", "wr"], [1], [], True),
        (["wc", "rr"], [1], [], False),
        (["wr", "wc"], [2], [], False),
        (["rr", "rr"], [1], [], False),
        (["rr", "rr"], [1], [2], True),
    ],
)
def test_it_waits_once_only_people_can_move_it_on(
    calls: list[str], asked: list[int], done: list[int], waits: bool
) -> None:
    """Each call is read or write, and runs or has to be confirmed."""
    pen = Pen()
    pen.begins()
    pen.replies(1, "", len(calls))
    effects, gates = {"r": "read", "w": "write"}, {"r": "run", "c": "confirm"}
    names = [pen.calls(1, index, effects[call[0]], gates[call[1]]) for index, call in enumerate(calls, start=1)]
    for index in asked:
        pen.asks(names[index - 1])
    for index in done:
        pen.results(names[index - 1])
    assert told(pen.happened)[1].waits is waits


def test_a_settled_question_is_not_waited_for_but_what_it_agreed_to_waits_for_the_others() -> None:
    pen = Pen()
    pen.begins()
    pen.replies(1, "", 2)
    first, second = (pen.calls(1, index, "write", "confirm") for index in (1, 2))
    pen.asks(first)
    pen.asks(second)
    pen.answers(first)
    assert told(pen.happened)[1].waits is True
    pen.answers(second)
    assert told(pen.happened)[1].waits is False


def test_what_utf8_can_not_carry_is_told_all_the_same() -> None:
    pen = Pen()
    pen.begins("Why \ud800?")
    pen.drafts(1, 1, "Because \udfff", [9])
    pen.replies(1, "Because \udfff of\u2028it")
    pen.entry(
        Kind.TOOL_CALL, {"name": "look", "arguments": "not \ud800 json", "effect": "read", "gate": "run"}, 1, "1.1"
    )
    pen.stops()
    events, telling = told(pen.happened)
    assert faults(events + telling.finish()) == []


def test_an_unknown_end_is_told_as_an_error() -> None:
    pen = Pen()
    pen.begins()
    pen.stops("of_tomorrow", "Nobody knows yet.")
    _, telling = told(pen.happened)
    (ended,) = (event.model_dump(mode="json", by_alias=True) for event in telling.finish())
    assert (ended["type"], ended["message"]) == ("RUN_ERROR", "Nobody knows yet.")


def test_a_text_that_is_shorter_in_the_end_is_taken_back_and_an_empty_one_leaves_nothing() -> None:
    writing = Writing(lambda: Telling("talk", "r")._snapshot())
    assert writing.land("a", "") == ("a", [])
    writing.goes_on("b", 1, "abc")
    id_, events = writing.land("b", "")
    assert id_ == "b/2"
    assert [event.type for event in events] == ["TEXT_MESSAGE_END", "MESSAGES_SNAPSHOT"]
    assert writing.close() == []
