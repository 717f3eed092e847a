"""How a run looks in a terminal: each entry of the journal as lines for people.

Calm and plain when nobody looks at it live: no colour, no spinner, nothing rewritten, one line for one thing. Whatever
came from a model or a tool is stripped of control characters before it is shown. Knows entries; knows nothing of how
they get here.
"""

import time
from datetime import datetime
from typing import TextIO

from markdown_it import MarkdownIt
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from opspilot.cli.livearea import Doing, LiveArea
from opspilot.cli.questions import HAPPENINGS, call_of, happening, headline, terms, what_it_shows
from opspilot.cli.senders import other_sender
from opspilot.core.entries import VOID, Entry, Kind
from opspilot.core.limits import Limits
from opspilot.core.ports import Draft
from opspilot.texts.endings import ending, failure, figures, limits_of, told_of_budgets
from opspilot.texts.folding import (
    RESULT_CHARACTERS,
    arguments_line,
    compact,
    printable,
    result_lines,
    seconds,
)
from opspilot.texts.language import text

OFFLINE = "(offline)"
"""A model that carries this in its name is the demo, and the header says how to get a real one."""

_ANSWERS = {Kind.INTERRUPT_APPROVED, Kind.INTERRUPT_ANSWERED}

NARROWEST = 20
"""A window may be narrower; text is not folded any narrower than this."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave what to do about it to the command; rich would end the process from inside."""
        raise BrokenPipeError


def console_on(output: TextIO) -> Console:
    """A console that takes text as it is. `NO_COLOR`, `TERM` and the window's size are rich's to respect."""
    return _Console(file=output, highlight=False, soft_wrap=True, markup=False, emoji=False)


def is_live(console: Console) -> bool:
    """Does a person look at it who can see lines being rewritten? A forced colour makes no terminal of a pipe."""
    return console.file.isatty() and not console.is_dumb_terminal


class TerminalView:
    """Standard output for people. `console_address` is the web console's, empty when it is not known."""

    def __init__(self, output: TextIO, namespace: str = "default", console_address: str = "") -> None:
        self._console = console_on(output)
        self._live = is_live(self._console)
        self._area = LiveArea(self._console)
        self._namespace = namespace
        self._address = console_address
        self._limits = Limits()
        self._begun: Entry | None = None
        self._step: int | None = None
        self._asked_at: datetime | None = None
        self._said = ""
        self._names: dict[str, str] = {}
        self._running: dict[str, float] = {}
        self._thinking_since = time.monotonic()

    def show(self, entry: Entry) -> None:
        """Print an entry; kinds that people need not see print nothing."""
        if entry.kind in {Kind.ASSISTANT_MESSAGE, Kind.INTERRUPT_OPENED, Kind.RUN_STOPPED}:
            # What was being written is there, or never will be.
            self._area.clear()
        self._print(entry)
        self._keep(entry)
        if not self._running:
            self._thinking_since = time.monotonic()
        elif self._area.visible:
            self.draft(())

    def recall(self, entry: Entry) -> None:
        """Keep in mind an entry that was there before anybody looked on: what follows may be about it."""
        self._keep(entry)

    def draft(self, drafts: tuple[Draft, ...]) -> None:
        """Show what goes on right now, on lines that are rewritten; only where somebody looks at it live."""
        if not self._live:
            return
        if drafts:
            latest = drafts[-1]
            label = text("doing.writing") if latest.attempt < 2 else text("doing.again", attempt=latest.attempt)
            self._area.show((Doing(label, self._thinking_since),), printable(latest.text))
        elif self._running:
            names = ((f"{call} {self._names.get(call, '')}".strip(), since) for call, since in self._running.items())
            self._area.show(tuple(Doing(printable(name), since) for name, since in names))
        else:
            self._area.show((Doing(text("doing.thinking"), self._thinking_since),))

    def pause(self) -> None:
        """Take the moving lines away, for a prompt or for good."""
        self._area.clear()

    def _keep(self, entry: Entry) -> None:
        call = entry.call or call_of(str(entry.data.get("interrupt", "")))
        match entry.kind:
            case Kind.RUN_STARTED:
                self._limits = limits_of(entry.data)
                self._begun = entry
                self._running.clear()
            case Kind.RUN_STOPPED:
                self._running.clear()
            case Kind.USER_MESSAGE:
                self._asked_at = entry.at
            case Kind.TOOL_CALL:
                self._names[call] = str(entry.data.get("name", ""))
            case Kind.INTERRUPT_OPENED:
                self._names[call] = str(entry.data.get("tool", ""))
                self._running.pop(call, None)
            case Kind.TOOL_STARTED if not entry.data.get(VOID):
                self._running[call] = time.monotonic()
            case Kind.TOOL_RESULT:
                self._running.pop(call, None)
                self._names.pop(call, None)
            case _:
                pass

    # ---------------------------------------------------------------- one kind each

    def _print(self, entry: Entry) -> None:
        match entry.kind:
            case Kind.RUN_STARTED:
                self._started(entry)
            case Kind.USER_MESSAGE:
                self._line()
                lead = f"{printable(other_sender(entry, self._begun))}> "
                self._line(compact(str(entry.data.get("text", "")), 1000), "cyan", lead=lead)
            case Kind.ASSISTANT_MESSAGE:
                self._assistant(entry)
            case Kind.TOOL_CALL:
                self._call(entry)
            case Kind.TOOL_RESULT:
                self._result(entry)
            case Kind.INTERRUPT_OPENED:
                self._interrupt(entry)
            case kind if kind in HAPPENINGS:
                self._happened(entry)
            case Kind.BUDGET_WARNED:
                self._line(warning(entry), "yellow", 2)
            case Kind.RUN_STOPPED:
                self._stopped(entry)
            case _:
                pass

    def _line(self, line: str = "", style: str = "", indent: int = 0, lead: str = "") -> None:
        """Where somebody looks, long lines are folded under their beginning; elsewhere they stay whole, for `grep`."""
        whole, indent = Text(printable(line), style=style), indent + len(lead)
        folded = whole.wrap(self._console, max(self._console.width - indent, NARROWEST)) if self._live else [whole]
        for number, each in enumerate(folded or [whole]):
            before = " " * indent if number else lead.rjust(indent)
            self._console.print(Text(before, style=style) + each)

    def _lines(self, lines: list[str], indent: int, style: str = "") -> None:
        for line in lines:
            self._line(line, style, indent)

    def _head(self, entry: Entry) -> None:
        if entry.step is not None and entry.step != self._step:
            self._step = entry.step
            self._line()
            self._line(text("step", number=entry.step), "bold")

    def _started(self, entry: Entry) -> None:
        model = str(entry.data.get("model", ""))
        tools = ", ".join(entry.data.get("tools") or []) or text("header.no_tools")
        self._step = None
        self._line(text("header", session=entry.session, model=model, tools=tools), "dim")
        if OFFLINE in model:
            self._line(text("header.offline"), "yellow")

    def _assistant(self, entry: Entry) -> None:
        said = printable(str(entry.data.get("text") or "")).strip()
        if not said:
            return
        self._said = said
        if entry.data.get("tool_calls"):
            self._head(entry)
            self._lines(said.split("\n"), 2, "italic")
        else:
            self._answer(said)

    def _answer(self, answer: str) -> None:
        self._console.print()
        if self._live:
            self._console.print(markdown(answer), soft_wrap=False)
        else:
            self._line(answer)

    def _call(self, entry: Entry) -> None:
        name = str(entry.data.get("name", ""))
        self._head(entry)
        self._line(f"→ {entry.call} {name} {arguments_line(entry.data.get('arguments'))}".rstrip(), indent=2)

    def _result(self, entry: Entry) -> None:
        called = f"{entry.call} {self._names.get(entry.call or '', '')}".strip()
        data = entry.data
        duration = data.get("duration_ms")
        took = f" ({seconds(duration)})" if duration else ""
        if data.get("ok"):
            self._line(f"✓ {called}{took}", "green", 2)
            self._lines(result_lines(data.get("data"), self._fold), 6, "dim")
        else:
            message = compact(failure(data), 500)
            self._line(f"✗ {called}: {data.get('errorCode')}{took}: {message}", "red", 2)

    @property
    def _fold(self) -> int:
        """How much of a value is shown: two lines at most where somebody looks."""
        return (
            min(RESULT_CHARACTERS, max(2 * (self._console.width - 6), NARROWEST)) if self._live else RESULT_CHARACTERS
        )

    def _interrupt(self, entry: Entry) -> None:
        data = entry.data
        self._line()
        self._line(headline(data), "bold yellow", 2)
        self._lines(what_it_shows(data, entry.session), 6)
        if said := terms(data):
            self._line(said, "dim", 6)

    def _happened(self, entry: Entry) -> None:
        call = call_of(str(entry.data.get("interrupt", "")))
        line = text("happened", call=call, what=happening(entry)) if call else f"! {happening(entry)}"
        self._line(line, "" if entry.kind in _ANSWERS else "yellow", 2)

    def _stopped(self, entry: Entry) -> None:
        data = entry.data
        answer = printable(str(data.get("answer") or "")).strip()
        if answer and answer != self._said:
            self._answer(answer)
        parts = figures(data)
        if self._asked_at is not None:
            parts.append(seconds((entry.at - self._asked_at).total_seconds() * 1000))
        self._line()
        self._line(ending(data, self._limits), "bold")
        self._line(" · ".join(parts), "dim")
        if self._address:
            # In one piece, whatever the width: terminals make a link of it.
            path = f"/namespaces/{self._namespace}/workflows/{entry.session}/{entry.run}/history"
            self._console.print(Text(printable(self._address + path), style="dim"))
        self._said = ""


def warning(warned: Entry) -> str:
    """`! Budget: Session ops-1 has used 1,612,345 of its 2,000,000 tokens.`."""
    return text("budget.warned", message=told_of_budgets(str(warned.data.get("message", ""))))


def markdown(answer: str) -> Markdown:
    """Markdown as rich draws it, but with what looks like HTML kept: `<none>` and `<n>` are text in operations."""
    drawn = Markdown(answer)
    drawn.parsed = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).parse(answer)
    return drawn
