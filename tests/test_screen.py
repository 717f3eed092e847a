"""What stands on the screen of a real terminal while a run is shown, and what is left of it when it has stopped."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TMUX = shutil.which("tmux")
SPINNER = re.compile("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")
SECONDS = 20.0

pytestmark = pytest.mark.skipif(TMUX is None, reason="needs tmux, the terminal that these tests look at")


class Screen:
    """A terminal of a given size in which the player runs."""

    def __init__(self, folder: Path, columns: int, lines: int, environment: dict[str, str]) -> None:
        self._socket = folder / "tmux"
        pipe = folder / "orders"
        os.mkfifo(pipe)
        settings = [f"{name}={value}" for name, value in {"LC_ALL": "C.UTF-8", **environment}.items()]
        # Its size is what the terminal says, whatever the test runner's variables do.
        command = [
            "env",
            "-u",
            "COLUMNS",
            "-u",
            "LINES",
            *settings,
            sys.executable,
            "-m",
            "tests.screen_player",
            str(pipe),
        ]
        # It stays open after the player's end, so that what is left can be read.
        shell = " ".join(f"'{word}'" for word in command) + "; cat"
        self._tmux("-f", os.devnull, "new-session", "-d", "-x", str(columns), "-y", str(lines), "-c", str(ROOT), shell)
        self._orders = pipe.open("w", encoding="utf-8")

    def _tmux(self, *arguments: str) -> str:
        command = [str(TMUX), "-u", "-S", str(self._socket), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout

    def do(self, what: str, **more: Any) -> None:
        self._orders.write(json.dumps({"do": what, **more}) + "\n")
        self._orders.flush()

    def show(self, kind: str, data: dict[str, Any], **more: Any) -> None:
        self.do("show", kind=kind, data=data, at="2030-01-01T00:00:00+00:00", **more)

    def read(self) -> str:
        """Everything on it, with what has scrolled away."""
        return self._tmux("capture-pane", "-p", "-S", "-").rstrip()

    def until(self, holds: Callable[[str], object]) -> str:
        deadline = time.monotonic() + SECONDS
        while not holds(text := self.read()):
            assert time.monotonic() < deadline, text
            time.sleep(0.05)
        return text

    def close(self) -> None:
        self._orders.close()
        self._tmux("kill-server")


@pytest.fixture
def screen(tmp_path: Path) -> Callable[..., Any]:
    @contextmanager
    def opened(columns: int = 80, lines: int = 30, **environment: str) -> Iterator[Screen]:
        made = Screen(tmp_path, columns, lines, environment)
        try:
            yield made
        finally:
            made.close()

    return opened


def two_calls(screen: Screen) -> None:
    screen.show("run.started", {"model": "gpt", "tools": ["search_logs", "search_docs"]})
    screen.show("user.message", {"text": "Why?"})
    screen.show("assistant.message", {"text": "", "tool_calls": [{}, {}]}, step=1)
    for call, name in (("1.1", "search_logs"), ("1.2", "search_docs")):
        screen.show("tool.call", {"name": name, "arguments": {"query": "payment " * 8}}, step=1, call=call)
    for call in ("1.1", "1.2"):
        screen.show("tool.started", {"round": 1}, step=1, call=call)
    screen.do("draft", attempt=1, texts=[])


def finish(screen: Screen, answer: str) -> str:
    for call in ("1.2", "1.1"):
        data = {"ok": True, "data": {"lines": ["x" * 400], "count": 7}, "duration_ms": 1200}
        screen.show("tool.result", data, step=1, call=call)
        screen.do("draft", attempt=1, texts=[])
    screen.show("assistant.message", {"text": answer, "tool_calls": []}, step=2)
    screen.show("run.stopped", {"stop_reason": "answered", "answer": answer, "message": "Answered.", "steps": 2})
    screen.do("pause")
    return screen.until(lambda text: "2 steps" in text and not SPINNER.search(text))


def test_parallel_calls_turn_side_by_side_and_leave_nothing_behind(screen: Callable[..., Any]) -> None:
    with screen() as terminal:
        two_calls(terminal)

        moving = terminal.until(
            lambda text: re.search(r"[⠋-⠿] 1\.1 search_logs \d s +[⠋-⠿] 1\.2 search_docs \d s", text)
        )
        assert len(SPINNER.findall(moving)) == 2
        terminal.until(lambda text: re.search(r"1\.1 search_logs [1-9] s", text))
        left = finish(terminal, "It was **the pool**.")

    lines = left.split("\n")
    assert [line for line in lines if "✓" in line] == ["  ✓ 1.2 search_docs (1.2 s)", "  ✓ 1.1 search_logs (1.2 s)"]
    assert sum("→" in line for line in lines) == 2
    assert "It was the pool." in lines
    assert left.count("Answered.") == 1


@pytest.mark.parametrize("columns", [40, 20])
def test_a_narrow_window_folds_what_is_long_and_keeps_the_moving_lines_inside(
    screen: Callable[..., Any], columns: int
) -> None:
    answer = (
        "# Why\n\n- the pool of the payment service was exhausted\n\n| name | count |\n|---|---|\n| payment | 7 |\n"
    )
    with screen(columns=columns) as terminal:
        two_calls(terminal)
        moving = terminal.until(lambda text: len(SPINNER.findall(text)) == 2)
        time.sleep(0.5)
        again = terminal.read()
        left = finish(terminal, answer)

    assert moving.count("Step 1") == again.count("Step 1") == left.count("Step 1") == 1
    assert moving.count("\n") == again.count("\n"), "rewritten in place"
    assert left.count("✓") == 2
    assert sum("→" in line for line in left.split("\n")) == 2


def test_text_appears_while_it_is_written_and_is_not_repeated_by_another_attempt(screen: Callable[..., Any]) -> None:
    with screen() as terminal:
        terminal.show("user.message", {"text": "Why?"})
        terminal.do("draft", attempt=1, texts=["The pool was exhausted, because of a deploy"])
        terminal.until(lambda text: "because of a deploy" in text and "writing" in text)
        terminal.do("draft", attempt=2, texts=["The pool was"])
        second = terminal.until(lambda text: "writing, attempt 2" in text)
        assert "because" not in second
        terminal.show("assistant.message", {"text": "The pool was exhausted.", "tool_calls": []}, step=1)
        terminal.show("run.stopped", {"stop_reason": "answered", "answer": "The pool was exhausted.", "steps": 1})
        terminal.do("pause")
        left = terminal.until(lambda text: "1 step" in text)

    assert left.count("The pool was") == 1
    assert "writing" not in left


def test_a_long_draft_shows_its_end_and_never_fills_the_window(screen: Callable[..., Any]) -> None:
    with screen(columns=40, lines=12) as terminal:
        terminal.show("user.message", {"text": "Why?"})
        for words in range(100, 1000, 100):
            terminal.do("draft", attempt=1, texts=[" ".join(f"word{number}" for number in range(words))])
        text = terminal.until(lambda text: "word899" in text)

    assert "word100 " not in text
    assert text.count("> Why?") == 1
    assert sum("word" in line for line in text.split("\n")) <= 4


def test_a_dumb_terminal_gets_lines_and_no_escape_sequences(screen: Callable[..., Any]) -> None:
    with screen(TERM="dumb") as terminal:
        two_calls(terminal)
        left = finish(terminal, "It was **the pool**.")

    assert "It was **the pool**." in left
    assert "\x1b" not in left
    assert not SPINNER.search(left)


def test_the_view_speaks_chinese_where_the_player_does(screen: Callable[..., Any]) -> None:
    with screen(PLAYER_LANGUAGE="zh") as terminal:
        two_calls(terminal)
        terminal.until(lambda text: "第 1 步" in text)
        terminal.show("run.stopped", {"stop_reason": "answered", "message": "Answered.", "steps": 1})
        terminal.do("pause")
        terminal.until(lambda text: "已回答。" in text and "1 步" in text)
