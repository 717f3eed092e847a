"""A session as AG-UI tells it: entries and drafts in, protocol events out. Knows no request and no journal.

One AG-UI run is what one request is told: from what it says (or answers) to the end of our run, or to where it waits
for people. What was there before is restated as snapshots, as the specification asks (AG-UI 1.0, "Several runs on one
stream"); what is new is streamed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ag_ui.core import (
    PROTOCOL_VERSION,
    AssistantMessage,
    BaseEvent,
    FunctionCall,
    Message,
    MessagesSnapshotEvent,
    RunErrorEvent,
    RunFinishedEvent,
    RunStartedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    StepFinishedEvent,
    StepStartedEvent,
    TokenUsage,
    ToolCall,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
    ToolMessage,
    UserMessage,
)
from ag_ui.core import Interrupt as AskedOutside

from opspilot.core.calls import Effect, Gate
from opspilot.core.contract import Status
from opspilot.core.entries import Entry, Kind
from opspilot.core.limits import StopReason
from opspilot.core.messages import Json
from opspilot.core.ports import Draft
from opspilot.texts.endings import ending
from opspilot.web.agui.writing import Writing, whole

OURS = "opspilot"
"""Where our part of the shared state is, and what our custom events begin with."""
FAULTS = frozenset({StopReason.MODEL_FAILED, StopReason.JOURNAL_BEHIND, StopReason.INTERNAL_ERROR})
"""Reasons that are told as an error. At any other end, limits included, there is something to read."""


OBSERVATION = ("ok", "data", "errorCode", "message")
"""What of a result the model is shown, too."""


@dataclass
class _Call:
    """A call of the current step that has no result yet. `asked`: people were asked about it."""

    effect: str
    gate: str
    asked: bool = False


@dataclass
class Telling:
    """Tells one AG-UI run of one thread. `client` are the messages that whoever asks has, `state` is theirs.

    First `remember` what was there before, then `begin`, then `tell` what happens, then `finish`, `interrupt` or
    `fail`.
    """

    thread: str
    run: str
    client: Sequence[Message] = ()
    said: UserMessage | None = None
    """What they say with this run; it comes into the journal a moment later."""
    state: Any = None
    messages: list[Message] = field(default_factory=list, init=False)
    stopped: Entry | None = field(default=None, init=False)
    """How our run ended, once it has, and while it doesn't go on for a late message."""
    _own: dict[str, Json] = field(default_factory=dict, init=False)
    _told: dict[str, Json] = field(default_factory=dict, init=False)
    _calls: dict[str, _Call] = field(default_factory=dict, init=False)
    _open: set[str] = field(default_factory=set, init=False)
    _landed: set[str] = field(default_factory=set, init=False)
    _step: str = field(default="", init=False)
    _usage: dict[tuple[str, str], TokenUsage] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Nothing has happened yet."""
        self._writing = Writing(self._snapshot)
        self._own = {"session": self.thread, "run": None, "status": None, "step": 0, "waiting": 0, "stopReason": None}
        self.messages += [message for message in self.client if message.role in {"system", "developer"}]

    @property
    def waits(self) -> bool:
        """Whether only people can move our run on, as far as the entries tell: the rule of `opspilot.core.batches`."""
        held = False
        for call in self._calls.values():
            if call.asked:
                held = True
            elif call.gate == Gate.CONFIRM or not (held and call.effect == Effect.WRITE):
                return False
        return bool(self._open)

    def remember(self, entry: Entry) -> None:
        """Take in what happened before, without a word."""
        self._take(entry)
        self._step = ""
        self._usage.clear()

    def begin(self, at: datetime) -> list[BaseEvent]:
        """The run is open, and this is what there is."""
        self._told = dict(self._own)
        given = self.state if isinstance(self.state, Mapping) else {}
        started = RunStartedEvent(thread_id=self.thread, run_id=self.run, protocol_version=PROTOCOL_VERSION)
        events: list[BaseEvent] = [started, StateSnapshotEvent(snapshot={**given, OURS: dict(self._own)})]
        if self.messages or self.said is not None:
            events.append(self._snapshot())
        return _at(at, events)

    def tell(self, happening: Entry | Draft) -> list[BaseEvent]:
        """What happens, in the protocol's words; often nothing."""
        if isinstance(happening, Draft):
            return self._draft(happening)
        return _at(happening.at, [*self._take(happening), *self._changes()])

    def finish(self) -> list[BaseEvent]:
        """Our run has ended."""
        assert self.stopped is not None
        data = self.stopped.data
        try:
            reason = StopReason(str(data.get("stop_reason")))
        except ValueError:
            reason = StopReason.INTERNAL_ERROR
        if reason in FAULTS:
            return self.fail(ending(data), reason.value)
        outcome = {"type": "cancelled" if reason is StopReason.CANCELLED else "success"}
        result = {"stopReason": reason.value, "message": sound(ending(data))}
        return self._close(outcome=outcome, result=result)

    def interrupt(self, questions: Sequence[AskedOutside]) -> list[BaseEvent]:
        """Our run waits for people, who are asked this."""
        return self._close(outcome={"type": "interrupt", "interrupts": list(questions)})

    def fail(self, message: str, code: str) -> list[BaseEvent]:
        """It can't go on."""
        return [*self._at_rest(), RunErrorEvent(message=sound(message), code=code, usage=self._spent())]

    # ---------------------------------------------------------------- what happened

    def _take(self, entry: Entry) -> list[BaseEvent]:
        data = entry.data
        match entry.kind:
            case Kind.RUN_STARTED:
                self._calls.clear()
                self._open.clear()
                self._own |= {"run": entry.run, "step": 0}
                self._goes_on()
            case Kind.USER_MESSAGE:
                self._goes_on()
                return self._user(str(data.get("id")), str(data.get("text") or ""))
            case Kind.ASSISTANT_MESSAGE:
                self._goes_on()
                return self._reply(entry)
            case Kind.TOOL_CALL:
                return self._call(entry)
            case Kind.TOOL_RESULT:
                return self._result(entry)
            case Kind.INTERRUPT_OPENED:
                self._open.add(str(data.get("interrupt")))
                if entry.call in self._calls:
                    self._calls[str(entry.call)].asked = True
            case Kind.INTERRUPT_ANSWERED | Kind.INTERRUPT_EXPIRED:
                self._open.discard(str(data.get("interrupt")))
            case Kind.RUN_STOPPED:
                return self._stop(entry)
            case _:
                return []
        self._own["waiting"] = len(self._open)
        if self.stopped is None:
            self._own["status"] = (Status.WAITING if self._open else Status.RUNNING).value
        return []

    def _draft(self, draft: Draft) -> list[BaseEvent]:
        reply = _reply_name(draft.run, draft.step, final=False)
        if reply in self._landed:
            # The last words at a limit have the number of the step before them.
            reply = _reply_name(draft.run, draft.step, final=True)
        text = sound(draft.text)
        if reply in self._landed or not text or self._own["run"] not in {None, draft.run}:
            return []
        return [*self._stepped(reply), *self._writing.goes_on(reply, draft.attempt, text)]

    def _goes_on(self) -> None:
        self.stopped = None
        self._own |= {"status": Status.RUNNING.value, "waiting": len(self._open), "stopReason": None}

    def _user(self, id_: str, text: str) -> list[BaseEvent]:
        text = sound(text)
        self.messages.append(UserMessage(id=id_, content=text))
        if any(message.id == id_ for message in self.client):
            # To stream a message that the other side has would append to it.
            return []
        return whole(id_, "user", text)

    def _reply(self, entry: Entry) -> list[BaseEvent]:
        self._calls.clear()
        reply = _reply_name(entry.run, entry.step or 0, final=bool(entry.data.get("final")))
        self._own["step"] = entry.step or 0
        self._spend(entry.data)
        text = sound(str(entry.data.get("text") or ""))
        id_, said = self._writing.land(reply, text)
        self._landed.add(reply)
        if text or entry.data.get("tool_calls"):
            self.messages.append(AssistantMessage(id=id_, content=text or None))
        return [*self._stepped(reply), *said]

    def _call(self, entry: Entry) -> list[BaseEvent]:
        data = entry.data
        id_ = call_id(entry.run, str(entry.call))
        arguments = json.dumps(data.get("arguments"), ensure_ascii=True)
        name = sound(str(data.get("name") or ""))
        self._calls[str(entry.call)] = _Call(str(data.get("effect")), str(data.get("gate")))
        said = next((message for message in reversed(self.messages) if isinstance(message, AssistantMessage)), None)
        if said is not None:
            call = ToolCall(id=id_, function=FunctionCall(name=name, arguments=arguments))
            said.tool_calls = [*(said.tool_calls or ()), call]
        return [
            ToolCallStartEvent(
                tool_call_id=id_, tool_call_name=name, parent_message_id=None if said is None else said.id
            ),
            ToolCallArgsEvent(tool_call_id=id_, delta=arguments),
            ToolCallEndEvent(tool_call_id=id_),
        ]

    def _result(self, entry: Entry) -> list[BaseEvent]:
        if entry.run == self._own["run"]:
            self._calls.pop(str(entry.call), None)
        id_ = call_id(entry.run, str(entry.call))
        observation = {name: entry.data[name] for name in OBSERVATION if name in entry.data}
        content = json.dumps(observation, ensure_ascii=True)
        message = ToolMessage(id=f"{id_}/result", tool_call_id=id_, content=content)
        self.messages.append(message)
        return [ToolCallResultEvent(message_id=message.id, tool_call_id=id_, content=content, role="tool")]

    def _stop(self, entry: Entry) -> list[BaseEvent]:
        if entry.run != self._own["run"]:
            # What the run before had left open was closed by the one that goes on.
            return []
        self._open.clear()
        self._calls.clear()
        self.stopped = entry
        reason = str(entry.data.get("stop_reason"))
        self._own |= {"status": Status.DONE.value, "waiting": 0, "stopReason": reason}
        sentence = sound(ending(entry.data))
        if reason == StopReason.ANSWERED or reason in FAULTS or not sentence:
            return []
        id_ = entry.key
        self.messages.append(AssistantMessage(id=id_, content=sentence))
        return whole(id_, "assistant", sentence)

    # ---------------------------------------------------------------- around it

    def _stepped(self, reply: str) -> list[BaseEvent]:
        name = f"step {reply.partition('/')[2]}"
        if name == self._step:
            return []
        before, self._step = self._step, name
        events: list[BaseEvent] = [StepFinishedEvent(step_name=before)] if before else []
        return [*events, StepStartedEvent(step_name=name)]

    def _at_rest(self) -> list[BaseEvent]:
        """Nothing stays open: the protocol wants it closed before a run ends."""
        events = self._writing.close()
        if self._step:
            events.append(StepFinishedEvent(step_name=self._step))
            self._step = ""
        return events

    def _close(self, **how: Any) -> list[BaseEvent]:
        finished = RunFinishedEvent(thread_id=self.thread, run_id=self.run, usage=self._spent(), **how)
        return [*self._at_rest(), finished]

    def _changes(self) -> list[BaseEvent]:
        """Our part of the state, as far as it has changed."""
        changed = {name: value for name, value in self._own.items() if self._told.get(name) != value}
        if not changed:
            return []
        self._told = dict(self._own)
        patch: list[Any] = [
            {"op": "replace", "path": f"/{OURS}/{name}", "value": value} for name, value in changed.items()
        ]
        return [StateDeltaEvent(delta=patch)]

    def _snapshot(self) -> MessagesSnapshotEvent:
        known = [message.model_copy(deep=True) for message in self.messages]
        if self.said is not None and all(message.id != self.said.id for message in known):
            known.append(self.said)
        return MessagesSnapshotEvent(messages=known)

    def _spend(self, reply: Mapping[str, Json]) -> None:
        """Only what is told in this run: the one before has told of its own."""
        usage = reply.get("usage")
        if not usage:
            return
        of = (str(reply.get("provider") or ""), str(reply.get("model") or ""))
        known = self._usage.get(of) or TokenUsage(provider=of[0] or None, model=of[1] or None)
        read = (known.input_tokens or 0) + int(usage.get("input_tokens") or 0)
        written = (known.output_tokens or 0) + int(usage.get("output_tokens") or 0)
        cached = (known.cached_input_tokens or 0) + int(usage.get("cached_tokens") or 0)
        counts = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
        self._usage[of] = known.model_copy(update={**counts, "cached_input_tokens": cached or None})

    def _spent(self) -> list[TokenUsage] | None:
        return list(self._usage.values()) or None


def sound(text: str) -> str:
    """Text that UTF-8 can carry: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode()


def call_id(run: str, call: str) -> str:
    """The name of a call: unlike any other's in the thread, which the numbers of steps are not."""
    return f"{run}/{call}"


def _reply_name(run: str, step: int, *, final: bool) -> str:
    return f"{run}/{step}/final" if final else f"{run}/{step}"


def _at(at: datetime, events: Iterable[BaseEvent]) -> list[BaseEvent]:
    milliseconds = round(at.timestamp() * 1000)
    return [event.model_copy(update={"timestamp": milliseconds}) for event in events]
