"""Entries of a session, folded into runs, steps, calls and questions; each entry says which parts of a page it changes.

A page is all parts at once, and a live page each part when it changes, so that both come to the same. Entries are
given in order, as they may leave the journal. Knows nothing of HTML, people or journals.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, TypeAlias

from opspilot.core.calls import Gate
from opspilot.core.entries import VOID, Entry, Kind
from opspilot.core.limits import Limits
from opspilot.core.messages import Json
from opspilot.core.ports import Draft
from opspilot.texts.endings import limits_of

ROOT = "timeline"
SHOWN_NOTICES = frozenset({Kind.ANSWER_IGNORED, Kind.BUDGET_WARNED, Kind.NOTIFICATION_FAILED})


class CallState(StrEnum):
    """How far a call has come."""

    PROPOSED = "proposed"
    ASKING = "asking"
    RUNNING = "running"
    DONE = "done"


@dataclass
class Question:
    """A question to people. `ended` is how it was settled; `closed`: nobody will settle it any more."""

    kind: ClassVar[str] = "question"
    opened: Entry
    parent: str
    approved: list[Entry] = field(default_factory=list)
    climbed: list[Entry] = field(default_factory=list)
    ended: Entry | None = None
    closed: bool = False

    @property
    def interrupt(self) -> str:
        """Its name."""
        return str(self.opened.data["interrupt"])

    @property
    def is_open(self) -> bool:
        """Whether it waits for people."""
        return self.ended is None and not self.closed


@dataclass
class Call:
    """A proposed call. `beside`: it runs side by side with its neighbour."""

    kind: ClassVar[str] = "call"
    id: str
    name: str
    entry: Entry
    beside: bool = False
    state: CallState = CallState.PROPOSED
    started_at: datetime | None = None
    result: Entry | None = None
    questions: list[Question] = field(default_factory=list)

    @property
    def tool(self) -> str:
        """What is called."""
        return str(self.entry.data.get("name", ""))

    @property
    def may_run_beside(self) -> bool:
        """Whether it runs together with neighbours of its kind."""
        return bool(self.entry.data.get("concurrent")) and self.entry.data.get("gate") == Gate.RUN.value


@dataclass
class Step:
    """One turn: what the model said, and the calls that it proposed."""

    kind: ClassVar[str] = "step"
    id: str
    entry: Entry
    calls: list[Call] = field(default_factory=list)

    @property
    def is_answer(self) -> bool:
        """Whether this is what the run had to say in the end."""
        return not self.entry.data.get("tool_calls")


@dataclass
class Message:
    """What a person said; `author` is what they are called, empty when nobody knows."""

    kind: ClassVar[str] = "message"
    id: str
    entry: Entry
    author: str


@dataclass
class Notice:
    """Something that people should know, beside the story."""

    kind: ClassVar[str] = "notice"
    id: str
    entry: Entry


@dataclass
class End:
    """A run stopped. `answer` is what nobody has said before."""

    kind: ClassVar[str] = "end"
    id: str
    entry: Entry
    limits: Limits
    answer: str


Item: TypeAlias = Message | Step | Notice | Question | End


@dataclass
class Run:
    """One run, with what happened in it in order."""

    kind: ClassVar[str] = "run"
    id: str
    name: str
    items: list[Item] = field(default_factory=list)
    started: Entry | None = None
    end: End | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def steps(self) -> list[Step]:
        """Its turns."""
        return [item for item in self.items if isinstance(item, Step)]

    @property
    def calls(self) -> list[Call]:
        """All calls of all steps."""
        return [call for step in self.steps for call in step.calls]

    @property
    def questions(self) -> list[Question]:
        """All of its questions."""
        of_calls = [question for call in self.calls for question in call.questions]
        return of_calls + [item for item in self.items if isinstance(item, Question)]


@dataclass(frozen=True)
class Part:
    """A part of the page that is new, at the end of `parent`, or that replaces the one of its kind (`parent` empty)."""

    view: Run | Item | Call
    parent: str = ""


class Timeline:
    """Grows with `add`. `runs` is the whole story."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.last = 0
        self._written: dict[tuple[str, int], int] = {}
        self._apply: Mapping[Kind, Callable[[Run, Entry], list[Part]]] = {
            Kind.RUN_STARTED: self._started,
            Kind.USER_MESSAGE: self._message,
            Kind.ASSISTANT_MESSAGE: self._step,
            Kind.TOOL_CALL: self._call,
            Kind.TOOL_STARTED: self._runs,
            Kind.TOOL_RESULT: self._result,
            Kind.INTERRUPT_OPENED: self._opened,
            Kind.INTERRUPT_APPROVED: self._approved,
            Kind.INTERRUPT_REMINDED: self._climbed,
            Kind.INTERRUPT_ESCALATED: self._climbed,
            Kind.INTERRUPT_ANSWERED: self._settled,
            Kind.INTERRUPT_EXPIRED: self._settled,
            Kind.RUN_STOPPED: self._stopped,
        }

    @property
    def current(self) -> Run | None:
        """The latest run."""
        return self.runs[-1] if self.runs else None

    @property
    def is_going_on(self) -> bool:
        """Whether the latest run has not stopped."""
        return self.current is not None and self.current.end is None

    @property
    def open_questions(self) -> list[Question]:
        """What the latest run waits for."""
        return [question for question in self.current.questions if question.is_open] if self.current else []

    @property
    def running(self) -> list[Call]:
        """Calls that run right now."""
        return [call for call in self.current.calls if call.state is CallState.RUNNING] if self.current else []

    def add(self, entry: Entry) -> list[Part]:
        """The next entry; gives what it changes, in the order in which it has to be done."""
        self.last = entry.seq
        parts: list[Part] = []
        run = next((each for each in reversed(self.runs) if each.name == entry.run), None)
        is_new = run is None
        if run is None:
            run = Run(f"r{len(self.runs) + 1}", entry.run)
            self.runs.append(run)
            parts.append(Part(run, ROOT))
        if entry.kind in self._apply:
            parts += self._apply[entry.kind](run, entry)
        elif entry.kind in SHOWN_NOTICES:
            parts.append(self._item(run, Notice(f"{run.id}-n{entry.seq}", entry)))
        # A run that is new has everything in it.
        return parts[:1] if is_new else parts

    def takes(self, draft: Draft) -> bool:
        """Whether this is the latest of what is being written: not of an attempt that was given up, nor said by now."""
        run = self.current
        if run is None or run.name != draft.run or any(step.entry.step == draft.step for step in run.steps):
            return False
        key = (draft.run, draft.step)
        if draft.attempt < self._written.get(key, 0):
            return False
        self._written[key] = draft.attempt
        return True

    # ---------------------------------------------------------------- one kind each

    def _started(self, run: Run, entry: Entry) -> list[Part]:
        run.started = entry
        run.limits = limits_of(entry.data)
        return []

    def _message(self, run: Run, entry: Entry) -> list[Part]:
        run.end = None
        user = run.started.data.get("user") if run.started else None
        asker = str(user.get("name") or user.get("id") or "") if isinstance(user, Mapping) else ""
        author = str(entry.data.get("name") or entry.data.get("by") or "") or asker
        return [self._item(run, Message(f"{run.id}-m{entry.seq}", entry, author))]

    def _step(self, run: Run, entry: Entry) -> list[Part]:
        run.end = None
        last_words = "-last" if entry.data.get("final") else ""
        return [self._item(run, Step(f"{run.id}-s{entry.step}{last_words}", entry))]

    def _call(self, run: Run, entry: Entry) -> list[Part]:
        step = next((each for each in reversed(run.steps) if each.entry.step == entry.step), None)
        if step is None or entry.call is None:
            return []
        call = Call(f"{run.id}-c{entry.call.replace('.', '-')}", entry.call, entry)
        parts = [Part(call, f"{step.id}-calls")]
        if step.calls and step.calls[-1].may_run_beside and call.may_run_beside:
            call.beside = True
            if not step.calls[-1].beside:
                step.calls[-1].beside = True
                parts.append(Part(step.calls[-1]))
        step.calls.append(call)
        return parts

    def _runs(self, run: Run, entry: Entry) -> list[Part]:
        call = _of(run, entry.call)
        if call is None or entry.data.get(VOID):
            return []
        call.state = CallState.RUNNING
        call.started_at = entry.at
        return [Part(call)]

    def _result(self, run: Run, entry: Entry) -> list[Part]:
        call = _of(run, entry.call)
        if call is None:
            return []
        call.state = CallState.DONE
        call.result = entry
        for question in call.questions:
            question.closed = question.ended is None
        return [Part(call)]

    def _opened(self, run: Run, entry: Entry) -> list[Part]:
        call = _of(run, entry.call)
        if call is None:
            return [self._item(run, Question(entry, run.id))]
        question = Question(entry, f"{call.id}-asks")
        call.questions.append(question)
        call.state = CallState.ASKING
        return [Part(call)]

    def _approved(self, run: Run, entry: Entry) -> list[Part]:
        question = _asked(run, entry)
        if question is None:
            return []
        question.approved.append(entry)
        return [Part(question)]

    def _climbed(self, run: Run, entry: Entry) -> list[Part]:
        question = _asked(run, entry)
        if question is None:
            return []
        question.climbed.append(entry)
        return [Part(question)]

    def _settled(self, run: Run, entry: Entry) -> list[Part]:
        question = _asked(run, entry)
        if question is None:
            return []
        question.ended = entry
        call = _of(run, entry.call)
        if call is None:
            return [Part(question)]
        if call.state is CallState.ASKING:
            call.state = CallState.PROPOSED
        return [Part(call)]

    def _stopped(self, run: Run, entry: Entry) -> list[Part]:
        said = run.steps[-1].entry.data.get("text") if run.steps else ""
        answer = str(entry.data.get("answer") or "").strip()
        run.end = End(f"{run.id}-e{entry.seq}", entry, run.limits, "" if answer == str(said or "").strip() else answer)
        left = [question for question in run.questions if question.is_open]
        for question in left:
            question.closed = True
        cut_off = [call for call in run.calls if call.state in {CallState.RUNNING, CallState.ASKING}]
        for call in cut_off:
            call.state = CallState.PROPOSED
        closed = [Part(question) for question in left if question.parent == run.id]
        return [*closed, *map(Part, cut_off), self._item(run, run.end)]

    @staticmethod
    def _item(run: Run, item: Item) -> Part:
        run.items.append(item)
        return Part(item, run.id)


def _of(run: Run, call: str | None) -> Call | None:
    return next((each for each in reversed(run.calls) if each.name == call), None)


def _asked(run: Run, entry: Entry) -> Question | None:
    return next((each for each in reversed(run.questions) if each.interrupt == entry.data.get("interrupt")), None)


def arguments_of(call: Call) -> Json:
    """What the call is made with by now: an answer may have changed it."""
    for question in reversed(call.questions):
        if question.ended is not None and isinstance(question.ended.data.get("arguments"), Mapping):
            return question.ended.data["arguments"]
    return call.entry.data.get("arguments")
