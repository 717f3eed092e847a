"""Asks the person at a terminal what a run waits for, and reads the reply. Knows neither Temporal nor the journal."""

import asyncio
import json
import os
import sys
import termios
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from opspilot.cli.blanks import blanks
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Answer, AnswerAction, InterruptType, Principal
from opspilot.core.messages import Json
from opspilot.core.sensitive import in_answer
from opspilot.texts.endings import is_about_limit
from opspilot.texts.folding import compact, printable
from opspilot.texts.language import text

Question = Mapping[str, Json]
"""The data of an `interrupt.opened` entry."""

LINE_BYTES = 65536
SHOWN_CHARACTERS = 60
"""How much of a value stands in the line in which it may be changed; all of it was shown before."""

_YES = frozenset({"a", "approve", "y", "yes", "是", "好", "同意", "批准"})
_NO = frozenset({"r", "reject", "n", "no", "否", "不", "拒绝"})
_EDIT = frozenset({"e", "edit", "改", "修改", "编辑"})
"""Understood whatever the language: people type what they are used to."""


class Prompt:
    """A terminal with a person at it; `keyboard` is its file descriptor.

    Replies are read without a thread, so that waiting for one can be given up.
    """

    def __init__(self, keyboard: int, say: Callable[[str], None]) -> None:
        self._keyboard = keyboard
        self._say = say
        self._prompt = self._set_aside = ""

    async def ask(self, question: Question, principal: Principal) -> Answer | None:
        """One reply to one question; None when the person leaves it open (an empty line, or end of input)."""
        if question.get("kind") == InterruptType.CONFIRM_RISKY:
            return await self._confirm(question, principal)
        return await self._fill_in(question, principal)

    async def _fill_in(self, question: Question, principal: Principal) -> Answer | None:
        """A value for each field; an empty line at any of them asks what else is meant."""
        values: dict[str, Json] = {}
        for blank in blanks(question):
            reply = await self._line(f"{_named(question)}{blank}: ", hidden=is_sensitive(question, blank.name))
            if not reply:
                word, _, why = (await self._line(text("prompt.instead"))).partition(" ")
                return await self._rejection(question, principal, why) if word.lower() in _NO else None
            values[blank.name] = value(reply)
        return make_answer(question, principal, AnswerAction.PROVIDE, values=values)

    async def _confirm(self, question: Question, principal: Principal) -> Answer | None:
        prompt = text("prompt.limit" if is_about_limit(question) else "prompt.confirm")
        while True:
            reply = await self._line(_named(question) + prompt)
            if not reply:
                return None
            word, _, rest = reply.partition(" ")
            if word.lower() in _YES:
                return make_answer(question, principal, AnswerAction.APPROVE, comment=rest.strip())
            if word.lower() in _NO:
                return await self._rejection(question, principal, rest)
            pair = rest if word.lower() in _EDIT else reply
            if pair and "=" not in pair:
                self._say(text("prompt.unclear", typed=repr(pair)))
                continue
            try:
                values = await self._changed(question, pair) if pair else await self._edited(question)
            except UsageError as error:
                self._say(str(error))
                continue
            if values:
                return make_answer(question, principal, AnswerAction.PROVIDE, values=values)
            self._say(text("prompt.edit.nothing"))

    async def _rejection(self, question: Question, principal: Principal, why: str) -> Answer:
        """Why is worth asking for: the model reads it, and does something else."""
        comment = why.strip() or await self._line(text("prompt.why"))
        return make_answer(question, principal, AnswerAction.REJECT, comment=comment)

    async def _edited(self, question: Question) -> dict[str, Json]:
        """What the person changes, argument by argument; an empty line leaves one as it is."""
        values: dict[str, Json] = {}
        arguments = question.get("arguments")
        for name, now in (arguments if isinstance(arguments, Mapping) else {}).items():
            prompt = f"{printable(name)} [{compact(now, SHOWN_CHARACTERS)}]: "
            reply = await self._line(prompt, hidden=is_sensitive(question, name))
            if reply and value(reply) != now and reply != compact(now, len(reply) + 1):
                values[name] = value(reply)
        return values

    async def _changed(self, question: Question, pair: str) -> dict[str, Json]:
        """`name=value`; of a sensitive one `code=` asks, so that nobody has to type it where it can be read."""
        values = parse_values([pair])
        for name in [name for name, typed in values.items() if typed == "" and is_sensitive(question, name)]:
            reply = await self._line(f"{printable(name)}: ", hidden=True)
            return {name: value(reply)} if reply else {}
        return values

    async def _line(self, prompt: str, *, hidden: bool = False) -> str:
        """One line; `hidden`: what is typed isn't shown."""
        if hidden:
            with _without_echo(self._keyboard):
                return await self._line(prompt.removesuffix(": ") + text("prompt.hidden"))
        self._begin(printable(prompt))
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[str] = loop.create_future()

        def read() -> None:
            # A terminal becomes readable when a whole line is there and gives one at a time, so this never blocks.
            if not typed.done():
                typed.set_result(os.read(self._keyboard, LINE_BYTES).decode("utf-8", "replace"))

        loop.add_reader(self._keyboard, read)
        try:
            return (await typed).strip()
        finally:
            loop.remove_reader(self._keyboard)
            self._prompt = ""

    def step_aside(self) -> bool:
        """End the line in which a reply is waited for, so that something can be shown; False: there is none."""
        if not self._prompt:
            return False
        self._set_aside, self._prompt = self._prompt, ""
        sys.stdout.write("\n")
        sys.stdout.flush()
        return True

    def come_back(self) -> None:
        """Begin that line again."""
        self._begin(self._set_aside)

    def _begin(self, prompt: str) -> None:
        self._prompt = prompt
        sys.stdout.write(prompt)
        sys.stdout.flush()


@contextmanager
def _without_echo(keyboard: int) -> Iterator[None]:
    """The terminal shows nothing of what is typed inside the block; the line break, which it swallows, comes behind."""
    try:
        before = termios.tcgetattr(keyboard)
    except termios.error:
        # No terminal, no echo.
        yield
        return
    silent = [*before]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(keyboard, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
        sys.stdout.write("\n")
        sys.stdout.flush()


def _named(question: Question) -> str:
    """`3.1 restart_service: `, since it need not be the one that was shown last; empty for the one about a limit."""
    call = str(question["interrupt"]).partition("#")[0]
    return "" if is_about_limit(question) else text("prompt.about", call=call, tool=question.get("tool", ""))


def is_sensitive(question: Question, name: str) -> bool:
    """Is what is answered under this name for nobody else to see?"""
    return bool(in_answer(question, {name: "any text"}))


def value(typed: str) -> Json:
    """What was typed: JSON where it looks like a list, an object or a quoted text, else the text itself.

    Numbers stay text; a tool's schema makes of them what it needs, and `007` is no number to a tool that wants text.
    """
    if typed[:1] in {"[", "{", '"'}:
        try:
            return json.loads(typed)
        except ValueError:
            return typed
    return typed


def parse_values(pairs: Sequence[str]) -> dict[str, Json]:
    """`["environment=staging"]` as values. Raises `UsageError` for what has no `=`."""
    values: dict[str, Json] = {}
    for pair in pairs:
        name, equals, typed = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(text("refused.pair", pair=repr(pair)))
        values[name.strip()] = value(typed.strip())
    return values


def make_answer(
    question: Question,
    principal: Principal,
    action: AnswerAction,
    *,
    values: Mapping[str, Json] | None = None,
    comment: str = "",
) -> Answer:
    """An answer that is bound to what was shown."""
    return Answer(
        id=uuid.uuid4().hex,
        interrupt=str(question["interrupt"]),
        action=action,
        principal=principal,
        values=values or {},
        comment=comment,
        digest=str(question.get("digest") or ""),
    )
