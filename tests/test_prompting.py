"""A person at a terminal is asked: what they type into a sensitive field is not shown, and afterwards everything is."""

import asyncio
import os
import pty
import termios
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from opspilot.cli.prompting import Prompt
from opspilot.core.interrupts import Answer, AnswerAction, Principal

ANN = Principal("ann")
SCHEMA = {
    "type": "object",
    "properties": {"queue": {"type": "string"}, "code": {"type": "string", "writeOnly": True}},
}
FORM = {
    "interrupt": "1.1#1",
    "tool": "open",
    "kind": "params_required",
    "payload": {"fields": ["queue", "code"], "schema": SCHEMA},
    "schema": SCHEMA,
}
CONFIRM = {
    "interrupt": "1.1#0",
    "kind": "confirm_risky",
    "arguments": {"queue": "orders", "code": "[redacted:sensitive]"},
    "schema": SCHEMA,
}
HIDDEN = " (not shown while you type): "


@dataclass
class Terminal:
    """A pseudo-terminal: `ours` is the keyboard and screen, `theirs` what the program reads from."""

    ours: int
    theirs: int
    capture: pytest.CaptureFixture[str]
    printed: str = ""
    said: list[str] = field(default_factory=list)

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO)

    def shown(self) -> str:
        """What was printed."""
        self.printed += self.capture.readouterr().out
        return self.printed

    def screen(self) -> str:
        """What was echoed of what was typed."""
        os.set_blocking(self.ours, False)
        try:
            return os.read(self.ours, 65536).decode()
        except BlockingIOError:
            return ""

    def ask(self, question: dict[str, Any]) -> asyncio.Task[Answer | None]:
        return asyncio.create_task(Prompt(self.theirs, self.said.append).ask(question, ANN))

    async def prompted(self, prompt: str) -> None:
        """Wait until this is the last that was printed."""
        async with asyncio.timeout(5):
            while not self.shown().endswith(prompt):
                await asyncio.sleep(0.002)

    async def type(self, line: str, prompt: str) -> None:
        await self.prompted(prompt)
        os.write(self.ours, f"{line}\n".encode())


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str]) -> Iterator[Terminal]:
    terminal = Terminal(*pty.openpty(), capsys)
    yield terminal
    os.close(terminal.ours)
    os.close(terminal.theirs)


async def test_a_sensitive_field_of_a_form_is_typed_unseen_and_the_others_are_seen(terminal: Terminal) -> None:
    asking = terminal.ask(FORM)
    await terminal.type("orders", "queue: ")
    await terminal.prompted(f"1.1 open: code{HIDDEN}")
    assert not terminal.echoes
    await terminal.type("lemon tree", HIDDEN)
    answer = await asking

    assert answer is not None
    assert (answer.action, answer.values) == (AnswerAction.PROVIDE, {"queue": "orders", "code": "lemon tree"})
    assert terminal.echoes
    assert terminal.screen() == "orders\r\n"
    assert terminal.shown() == f"1.1 open: queue: 1.1 open: code{HIDDEN}\n", (
        "the line break that nobody saw is made up for"
    )


async def test_so_it_is_when_arguments_are_edited(terminal: Terminal) -> None:
    asking = terminal.ask(CONFIRM)
    await terminal.type("edit", "leave it open: ")
    await terminal.type("", "queue [orders]: ")
    await terminal.type("plum tree", f"code [[redacted:sensitive]]{HIDDEN}")
    answer = await asking

    assert answer is not None
    assert answer.values == {"code": "plum tree"}
    assert "plum" not in terminal.screen()


@pytest.mark.parametrize("typed", ["code=", "edit code="])
async def test_a_name_with_nothing_behind_it_asks_for_the_sensitive_value_unseen(
    terminal: Terminal, typed: str
) -> None:
    asking = terminal.ask(CONFIRM)
    await terminal.type(typed, "leave it open: ")
    await terminal.type("", f"code{HIDDEN}")
    await terminal.type(typed, "leave it open: ")
    await terminal.type("plum tree", f"code{HIDDEN}")
    answer = await asking

    assert answer is not None
    assert answer.values == {"code": "plum tree"}
    assert terminal.said == ["Nothing is changed."], "an empty line leaves it as it is"
    assert "plum" not in terminal.screen()


async def test_of_a_value_that_is_not_sensitive_nothing_behind_the_name_is_an_empty_text(terminal: Terminal) -> None:
    asking = terminal.ask(CONFIRM)
    await terminal.type("queue=", "leave it open: ")
    answer = await asking
    assert answer is not None
    assert answer.values == {"queue": ""}


async def test_a_question_that_is_settled_meanwhile_leaves_a_terminal_that_shows_what_is_typed(
    terminal: Terminal,
) -> None:
    asking = terminal.ask(FORM)
    await terminal.type("orders", "queue: ")
    await terminal.prompted(HIDDEN)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert terminal.echoes


async def test_what_is_no_terminal_has_nothing_to_hide() -> None:
    reading, writing = os.pipe()
    only = {**FORM, "payload": {"fields": ["code"], "schema": SCHEMA}}
    os.write(writing, b"lemon tree\n")
    answer = await Prompt(reading, print).ask(only, ANN)
    os.close(writing)
    os.close(reading)
    assert answer is not None
    assert answer.values == {"code": "lemon tree"}


async def test_something_else_is_shown_between_a_prompt_and_itself(terminal: Terminal) -> None:
    prompt = Prompt(terminal.theirs, terminal.said.append)
    assert not prompt.step_aside(), "nothing is asked"
    asking = asyncio.create_task(prompt.ask({**FORM, "payload": {"fields": ["queue"]}}, ANN))
    await terminal.prompted("queue: ")
    assert prompt.step_aside()
    assert not prompt.step_aside(), "it has stepped aside already"
    print("news")
    prompt.come_back()
    await terminal.type("orders", "queue: ")
    await asking
    assert terminal.shown() == "1.1 open: queue: \nnews\n1.1 open: queue: "
    assert not prompt.step_aside(), "it is answered"
