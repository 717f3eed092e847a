"""Stands between a person and a run: shows what happens, asks what the run waits for, and takes Ctrl-C as a wish.

The first Ctrl-C asks the run to stop and goes on showing until it has; the second leaves it alone. Knows the client and
a view; knows nothing of processes, settings or how an entry is drawn.
"""

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from enum import IntEnum
from typing import Protocol

from opspilot.cli.blanks import blanks
from opspilot.cli.prompting import Prompt, Question
from opspilot.cli.questions import call_of, headline, standing, terms, what_it_shows
from opspilot.cli.remote import Told
from opspilot.client import OpsPilot
from opspilot.core.contract import Status
from opspilot.core.entries import Entry, Kind
from opspilot.core.errors import OpsPilotError, UsageError
from opspilot.core.interrupts import Answer, Principal
from opspilot.core.limits import AT_A_LIMIT, StopReason
from opspilot.core.ports import Draft
from opspilot.fate import Outcome
from opspilot.journal.queries import InterruptRow
from opspilot.texts.endings import asked, is_about_limit
from opspilot.texts.language import text

LEAVE_SECONDS = 2.0
GLANCE_SECONDS = 0.2
QUIET_SECONDS = 0.4
"""A run that has asked and written nothing for this long may be waiting: it is asked whether it is."""
CHECK_SECONDS = 5.0
"""How long the run may take to judge an answer before the person is asked again."""
HINDRANCE_SECONDS = 5.0
"""Silence after which it is worth a look, this often, whether something is in the way."""


UNSEEN = frozenset({Kind.TOOL_STARTED, Kind.ANSWER_KEPT, Kind.NOTIFICATION_SENT})
"""Of these nothing is shown."""


class ExitStatus(IntEnum):
    """What a command ends with. A shell reads these."""

    ANSWERED = 0
    FAILED = 1
    USAGE = 2
    LIMIT = 3
    WAITS_FOR_PERSON = 4
    UNREACHABLE = 5
    CANCELLED = 130

    @classmethod
    def of(cls, reason: StopReason) -> "ExitStatus":
        """The status that a run's end gives to the command that followed it."""
        if reason in (StopReason.ANSWERED, StopReason.NOTHING_TO_DO):
            return cls.ANSWERED
        if reason in AT_A_LIMIT:
            return cls.LIMIT
        return cls.CANCELLED if reason is StopReason.CANCELLED else cls.FAILED


class View(Protocol):
    """Where entries go."""

    def show(self, entry: Entry) -> None:
        """An entry."""

    def recall(self, entry: Entry) -> None:
        """An entry that was there before: not to be shown, but what follows may be about it."""

    def draft(self, drafts: tuple[Draft, ...]) -> None:
        """What is being written right now: called a few times a second while nothing else happens."""

    def pause(self) -> None:
        """Something else wants the screen."""


class Attendant:
    """Follows one run. `say` is given sentences for the person, apart from the view; `prompt` None: nobody to ask."""

    def __init__(
        self,
        pilot: OpsPilot,
        principal: Principal,
        view: View,
        say: Callable[[str], None],
        prompt: Prompt | None = None,
    ) -> None:
        self._pilot = pilot
        self._principal = principal
        self._view = view
        self._say = say
        self._prompt = prompt
        self._open: dict[str, Question] = {}
        self._unseen: dict[str, InterruptRow] = {}
        self._left: set[str] = set()
        self._agreed: set[str] = set()
        self._given: set[str] = set()
        self._judged: set[str] = set()
        self._settled = asyncio.Event()
        self._written_at = time.monotonic()
        self._seen = 0
        self._asking = ""
        self._unread = ""
        self._stopping = False

    async def attend(self, session: str, message_id: str | None, after: int, *, stoppable: bool) -> ExitStatus:
        """Follow until the run has stopped, waits for somebody who isn't here, or is left by Ctrl-C.

        With `stoppable` False, who only looks on, the first Ctrl-C leaves.
        """
        left = asyncio.Event()
        following = asyncio.create_task(self._follow(session, message_id, after))
        assisting = asyncio.create_task(self._assist(session))
        leaving = asyncio.create_task(left.wait())
        tasks: set[asyncio.Task[ExitStatus | bool]] = {following, assisting, leaving}
        try:
            with self._on_interrupt(session, left, stoppable=stoppable):
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            self._view.pause()
            if following.done():
                return following.result()
            if assisting.done():
                return assisting.result()
            self._interject(text("attend.left_stopping" if self._stopping else "attend.left", session=session))
            return ExitStatus.CANCELLED
        finally:
            self._view.pause()
            for task in tasks:
                task.cancel()
            # A task that is deaf must not keep the person waiting: the process ends right after.
            ended, _ = await asyncio.wait(tasks, timeout=LEAVE_SECONDS)
            for task in ended:
                if not task.cancelled():
                    task.exception()

    async def _follow(self, session: str, message_id: str | None, after: int) -> ExitStatus:
        reason, self._seen, self._unread = StopReason.INTERNAL_ERROR, after, message_id or ""
        for entry in await self._pilot.show(session) if after else ():
            if entry.seq <= after:
                self._view.recall(entry)
        async for entry in self._pilot.follow(session, message_id, after):
            self._written_at, self._seen = time.monotonic(), entry.seq
            self._note(entry)
            self._show(entry)
            if entry.kind is Kind.RUN_STOPPED:
                reason = StopReason(str(entry.data["stop_reason"]))
        return ExitStatus.of(reason)

    def _show(self, entry: Entry) -> None:
        """Beside a question that waits for a reply, too, which is asked again behind it unless it is settled by it."""
        aside = self._prompt is not None and entry.kind not in UNSEEN and self._prompt.step_aside()
        self._view.show(entry)
        if aside and self._prompt is not None and self._asking in self._open:
            self._prompt.come_back()

    def _interject(self, sentence: str) -> None:
        """Say something in the middle of whatever is asked, on a line of its own."""
        if self._prompt is not None:
            self._prompt.step_aside()
        self._say(sentence)

    def _note(self, entry: Entry) -> None:
        """Keep in mind which questions are open."""
        if entry.kind is Kind.USER_MESSAGE and entry.data.get("id") == self._unread:
            self._unread = ""
        if entry.kind is Kind.INTERRUPT_OPENED:
            self._open[str(entry.data["interrupt"])] = entry.data
            self._unseen.pop(str(entry.data["interrupt"]), None)
            return
        if entry.kind in {Kind.INTERRUPT_APPROVED, Kind.INTERRUPT_ANSWERED, Kind.ANSWER_IGNORED}:
            self._judged.add(str(entry.data.get("answer_id") or entry.key.rpartition("/")[2]))
        if entry.kind is Kind.INTERRUPT_APPROVED:
            # Others have to agree as well; whoever has is not asked again.
            self._agreed |= {str(entry.data["interrupt"])} if entry.data.get("answer_id") in self._given else set()
        elif entry.kind in {Kind.INTERRUPT_ANSWERED, Kind.INTERRUPT_EXPIRED}:
            self._open.pop(str(entry.data["interrupt"]), None)
        elif entry.kind is Kind.TOOL_RESULT:
            self._open = {name: data for name, data in self._open.items() if name.partition("#")[0] != entry.call}
        elif entry.kind is Kind.RUN_STOPPED:
            self._open.clear()
        self._settled.set()

    async def _assist(self, session: str) -> ExitStatus:
        """Between entries: show what is going on, ask what is open. Returns only when nobody is here to be asked."""
        # What was asked before this question came is open all the same, and keeps the run from reading it.
        for row in await self._pilot.questions(session):
            if row.interrupt not in self._open:
                self._open[row.interrupt] = asdict(row)
                self._unseen[row.interrupt] = row
        looked_at, told = time.monotonic(), ""
        while True:
            await asyncio.sleep(GLANCE_SECONDS)
            silent_seconds = time.monotonic() - self._written_at
            asking = self._open and not self._stopping and silent_seconds > QUIET_SECONDS
            # The run may be further than what was shown of it: what it has written comes first.
            if asking and await self._waits(session) and (await self._pilot.session(session)).last_seq <= self._seen:
                name = next((name for name in self._open if name not in self._left | self._agreed), "")
                if self._prompt is None or not name:
                    self._view.pause()
                    self._say_how(session)
                    return ExitStatus.WAITS_FOR_PERSON
                await self._ask(session, self._prompt, name)
                continue
            self._view.draft(await self._pilot.drafts(session))
            if time.monotonic() - max(looked_at, self._written_at) > HINDRANCE_SECONDS:
                looked_at = time.monotonic()
                hindrance = await self._pilot.hindrance(session)
                if hindrance and hindrance != told:
                    told = hindrance
                    self._view.pause()
                    self._say(hindrance)

    async def _waits(self, session: str) -> bool:
        status = await self._pilot.status(session)
        # Without a worker to say so, an open question is reason enough.
        return status is None or status.status is Status.WAITING

    async def _ask(self, session: str, prompt: Prompt, name: str) -> None:
        """Ask about one open question, until it is answered here or settled elsewhere, or left open."""
        question, self._asking = self._open[name], name
        self._view.pause()
        if row := self._unseen.pop(name, None):
            self._tell(row)
        self._settled.clear()
        asking = asyncio.create_task(prompt.ask(question, self._principal))
        try:
            while not asking.done() and name in self._open:
                settling = asyncio.create_task(self._settled.wait())
                await asyncio.wait({asking, settling}, return_when=asyncio.FIRST_COMPLETED)
                settling.cancel()
                self._settled.clear()
        finally:
            if not asking.done():
                asking.cancel()
                with suppress(asyncio.CancelledError):
                    await asking
        if asking.cancelled():
            return
        answer = asking.result()
        if answer is None:
            self._left.add(name)
            return
        await self._give(session, answer)

    async def _give(self, session: str, answer: Answer) -> None:
        self._given.add(answer.id)
        name = answer.interrupt
        try:
            receipt = await self._pilot.answer(session, answer)
        except UsageError as error:
            self._say(str(error))
            self._written_at = time.monotonic()
            return
        if receipt.message == text("answer.kept"):
            # It is answered, as far as anybody can do that here.
            self._say(receipt.message)
            self._open.pop(name, None)
        if isinstance(receipt, Told) and receipt.outcome is Outcome.COUNTED:
            self._agreed.add(name)
        # The journal says what became of it: this question settled or agreed to, or the answer refused.
        # Not `wait_for`: on Python 3.11 it loses a cancel that comes with the result (python/cpython#86296).
        with suppress(TimeoutError):
            async with asyncio.timeout(CHECK_SECONDS):
                while name in self._open and name not in self._agreed and answer.id not in self._judged:
                    self._settled.clear()
                    await self._settled.wait()
        self._written_at = time.monotonic()

    def _tell(self, row: InterruptRow) -> None:
        """A question that was asked before anybody looked on here."""
        question = asdict(row)
        self._say(headline(question))
        now = datetime.now(UTC)
        for line in (*what_it_shows(question, row.session), terms(question), standing(row, now)):
            if line:
                self._say(f"    {line}")

    def _say_how(self, session: str) -> None:
        several = len(self._open) > 1
        for name, question in self._open.items():
            call = call_of(name)
            which = f" --call {call}" if several or is_about_limit(question) else ""
            if is_about_limit(question):
                self._say(text("attend.waits.limit", question=asked(question), session=session, which=which))
                continue
            what = f"{call} {question.get('tool', '')}".strip()
            if name in self._agreed:
                self._say(text("attend.waits.others", what=what, session=session))
                continue
            given = [f"--set {blank.name}=VALUE" for blank in blanks(question)]
            action = f"{' '.join(given) or '--approve'} | --reject"
            self._say(text("attend.waits", what=what, session=session, which=which, action=action))
        if self._unread:
            self._say(text("attend.unread"))

    @contextmanager
    def _on_interrupt(self, session: str, left: asyncio.Event, *, stoppable: bool) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        stopping: set[asyncio.Task[None]] = set()

        def interrupted() -> None:
            if self._stopping or not stoppable:
                left.set()
                return
            self._stopping = True
            self._view.pause()
            self._interject(text("attend.stopping"))
            stopping.add(asyncio.create_task(self._stop(session)))

        loop.add_signal_handler(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            for task in stopping:
                task.cancel()

    async def _stop(self, session: str) -> None:
        try:
            await self._pilot.stop(session, "Ctrl-C")
        except OpsPilotError as error:
            self._say(str(error))
