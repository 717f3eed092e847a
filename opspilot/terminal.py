"""How a run looks in a terminal: each entry of the journal as lines for people, or as one JSON object a line.

Calm and plain when nobody looks at it live: no colour, no spinner, nothing rewritten. Whatever came from a model or a
tool is stripped of control characters before it is shown. Knows entries; knows nothing of how they get here.
"""

import json
import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import TextIO

from markdown_it import MarkdownIt
from rich.console import Console
from rich.markdown import Markdown
from rich.status import Status
from rich.text import Text

from opspilot.core.entries import Entry, Kind
from opspilot.core.interrupts import InterruptType
from opspilot.core.messages import Json
from opspilot.core.ports import Draft

RESULT_LINES = 5
RESULT_CHARACTERS = 160
ARGUMENT_CHARACTERS = 200
DRAFT_CHARACTERS = 60
OFFLINE = "(offline)"
"""A model that carries this in its name is the demo, and the header says how to get a real one."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Text without what could move the cursor, change colours, or turn the direction of writing."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def compact(value: Json, characters: int) -> str:
    """A value as JSON on one line, cut to a length; text stands without quotes."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(printable(text).split())
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def arguments_line(arguments: Json) -> str:
    """`service=payment level=error`; arguments that aren't an object are shown as they came."""
    if not isinstance(arguments, Mapping):
        return compact(arguments, ARGUMENT_CHARACTERS)
    pairs = (f"{name}={json.dumps(value, ensure_ascii=False, default=str)}" for name, value in arguments.items())
    return compact(" ".join(pairs), ARGUMENT_CHARACTERS)


def result_lines(data: Json) -> list[str]:
    """The first keys of a result, one a line, each cut; they answer the question, by convention of the tools."""
    if not isinstance(data, Mapping):
        return [compact(data, RESULT_CHARACTERS)] if data not in (None, "") else []
    lines = [f"{name}: {compact(value, RESULT_CHARACTERS)}" for name, value in data.items()]
    if len(lines) <= RESULT_LINES:
        return lines
    return [*lines[:RESULT_LINES], f"… and {len(lines) - RESULT_LINES} more"]


def seconds(duration_ms: float) -> str:
    """`34 ms`, `2.1 s`, `3 min 20 s`."""
    if duration_ms < 1000:
        return f"{duration_ms:.0f} ms"
    if duration_ms < 60_000:
        return f"{duration_ms / 1000:.1f} s"
    return f"{duration_ms // 60_000:.0f} min {duration_ms % 60_000 / 1000:.0f} s"


class JsonView:
    """Standard output for programs: one event a line, and nothing else."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def show(self, entry: Entry) -> None:
        """Print an entry as its event."""
        self._output.write(json.dumps(entry.as_event(), ensure_ascii=False) + "\n")
        self._output.flush()

    def draft(self, drafts: tuple[Draft, ...]) -> None:
        """Unfinished text is no event."""

    def pause(self) -> None:
        """Nothing moves here."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave what to do about it to the command; rich would end the process from inside."""
        raise BrokenPipeError


class TerminalView:
    """Standard output for people. `console_address` is the web console's, empty when it is not known."""

    def __init__(self, output: TextIO, namespace: str = "default", console_address: str = "") -> None:
        self._console = _Console(file=output, highlight=False, soft_wrap=True, markup=False, emoji=False)
        self._live = self._console.is_terminal and not self._console.is_dumb_terminal
        self._namespace = namespace
        self._address = console_address
        self._spinner: Status | None = None
        self._step: int | None = None
        self._asked_at: datetime | None = None
        self._said = ""
        self._running: dict[str, tuple[str, float]] = {}

    def show(self, entry: Entry) -> None:
        """Print an entry; kinds that people need not see print nothing."""
        match entry.kind:
            case Kind.RUN_STARTED:
                self._started(entry)
            case Kind.USER_MESSAGE:
                self._asked_at = entry.at
                self._line()
                self._line(f"> {compact(str(entry.data.get('text', '')), 1000)}", "cyan")
            case Kind.ASSISTANT_MESSAGE:
                self._assistant(entry)
            case Kind.TOOL_CALL:
                self._call(entry)
            case Kind.TOOL_STARTED:
                self._running[entry.call or ""] = (self._running.get(entry.call or "", ("", 0.0))[0], time.monotonic())
            case Kind.TOOL_RESULT:
                self._result(entry)
            case Kind.INTERRUPT_OPENED:
                self._interrupt(entry)
            case Kind.INTERRUPT_ANSWERED | Kind.INTERRUPT_EXPIRED | Kind.ANSWER_IGNORED:
                self._settled(entry)
            case Kind.RUN_STOPPED:
                self._stopped(entry)
            case _:
                pass

    def draft(self, drafts: tuple[Draft, ...]) -> None:
        """Show what is going on right now, on a line that is rewritten; only where somebody looks at it live."""
        if not self._live:
            return
        started = [(name, since) for name, since in self._running.values() if since]
        if drafts:
            tail = " ".join(printable(drafts[-1].text).split())[-DRAFT_CHARACTERS:]
            text = f"writing … {tail}"
        elif started:
            names = ", ".join(name for name, _ in started)
            text = f"{names} … {time.monotonic() - min(since for _, since in started):.0f} s"
        else:
            text = "thinking …"
        if self._spinner is None:
            self._spinner = self._console.status(Text(text), spinner="dots")
            self._spinner.start()
        else:
            self._spinner.update(Text(text))

    def pause(self) -> None:
        """Take the moving line away, for a prompt or for good."""
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    # ---------------------------------------------------------------- one kind each

    def _line(self, text: str = "", style: str = "") -> None:
        self._console.print(Text(printable(text), style=style))

    def _head(self, entry: Entry) -> None:
        if entry.step is not None and entry.step != self._step:
            self._step = entry.step
            self._line()
            self._line(f"Step {entry.step}", "bold")

    def _started(self, entry: Entry) -> None:
        model = str(entry.data.get("model", ""))
        tools = entry.data.get("tools") or []
        self._running.clear()
        self._step = None
        self._line(f"Session {entry.session} · {model} · {', '.join(tools) or 'no tools configured'}", "dim")
        if OFFLINE in model:
            self._line(
                "This is the offline demo model, which plans by rules. For a real one set OPENAI_API_KEY "
                "(see README, Models).",
                "yellow",
            )

    def _assistant(self, entry: Entry) -> None:
        text = printable(str(entry.data.get("text") or "")).strip()
        if not text:
            return
        self._said = text
        if entry.data.get("tool_calls"):
            self._head(entry)
            self._indented(text.split("\n"), "  ", "italic")
        else:
            self._answer(text)

    def _answer(self, text: str) -> None:
        self._console.print()
        if self._live:
            self._console.print(_markdown(text), soft_wrap=False)
        else:
            self._line(text)

    def _call(self, entry: Entry) -> None:
        name = str(entry.data.get("name", ""))
        self._running[entry.call or ""] = (name, 0.0)
        self._head(entry)
        self._line(f"  → {entry.call} {name} {arguments_line(entry.data.get('arguments'))}".rstrip())

    def _result(self, entry: Entry) -> None:
        name, _ = self._running.pop(entry.call or "", ("", 0.0))
        data = entry.data
        duration = data.get("duration_ms")
        took = f" ({seconds(duration)})" if duration else ""
        if data.get("ok"):
            self._line(f"  ✓ {entry.call} {name}{took}", "green")
            self._indented(result_lines(data.get("data")), "      ", "dim")
        else:
            message = compact(str(data.get("message", "")), 500)
            self._line(f"  ✗ {entry.call} {name}: {data.get('errorCode')}{took}: {message}", "red")

    def _interrupt(self, entry: Entry) -> None:
        data = entry.data
        call, _, _ = str(data.get("interrupt", "")).partition("#")
        self._line()
        self._line(f"  ? {call} {data.get('tool', '')} waits for a person: {data.get('reason', '')}", "bold yellow")
        self._running[entry.call or call] = (str(data.get("tool", "")), 0.0)
        arguments = dict(data.get("arguments") or {}) if data.get("kind") != InterruptType.QUESTION else {}
        lines = [f"{name} = {compact(value, RESULT_CHARACTERS)}" for name, value in arguments.items()]
        payload = dict(data.get("payload") or {})
        # Tools tend to repeat the arguments in what they show.
        lines += [f"{name}: {compact(payload[name], 500)}" for name in payload if payload[name] != arguments.get(name)]
        self._indented(lines, "      ")

    def _settled(self, entry: Entry) -> None:
        data = entry.data
        call, _, _ = str(data.get("interrupt", "")).partition("#")
        match entry.kind:
            case Kind.INTERRUPT_EXPIRED:
                self._line(f"  ! {call}: nobody decided in time", "yellow")
            case Kind.ANSWER_IGNORED:
                self._line(f"  ! {call}: the answer was not taken: {data.get('message', '')}", "yellow")
            case _:
                comment = f": {data['comment']}" if data.get("comment") else ""
                self._line(f"  ! {call}: {data.get('action', '')} by {data.get('by', '')}{comment}")

    def _stopped(self, entry: Entry) -> None:
        data = entry.data
        answer = printable(str(data.get("answer") or "")).strip()
        if answer and answer != self._said:
            self._answer(answer)
        usage = data.get("usage") or {}
        steps = data.get("steps", 0)
        parts = [f"{steps} step{'' if steps == 1 else 's'}"]
        if total := usage.get("input_tokens", 0) + usage.get("output_tokens", 0):
            parts.append(
                f"{total:,} tokens ({usage.get('input_tokens', 0):,} in, {usage.get('output_tokens', 0):,} out)"
            )
        if (cost := data.get("cost")) is not None:
            parts.append(f"cost {cost:.4f}")
        if self._asked_at is not None:
            parts.append(seconds((entry.at - self._asked_at).total_seconds() * 1000))
        self._line()
        self._line(str(data.get("message") or data.get("stop_reason", "")), "bold")
        self._line(" · ".join(parts), "dim")
        if self._address:
            self._line(
                f"{self._address}/namespaces/{self._namespace}/workflows/{entry.session}/{entry.run}/history", "dim"
            )
        self._said = ""
        self._running.clear()

    def _indented(self, lines: list[str], indent: str, style: str = "") -> None:
        for line in lines:
            self._line(indent + line, style)


def _markdown(text: str) -> Markdown:
    """Markdown as rich draws it, but with what looks like HTML kept: `<none>` and `<n>` are text in operations."""
    drawn = Markdown(text)
    drawn.parsed = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).parse(text)
    return drawn
