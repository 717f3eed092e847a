"""A machine that refuses (no space, no folder, no streams) gets one calm sentence and an exit status, no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from opspilot import stack

ROOT = Path(__file__).parents[1]


def shell(words: str, folder: Path, state: Path | str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`opspilot` with these words, typed into a shell."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPSPILOT_", "TEMPORAL_"))}
    return subprocess.run(
        ["/bin/sh", "-c", f'"$0" "$1" {words}', sys.executable, str(ROOT / "starter.py")],
        cwd=folder,
        env={**kept, "OPSPILOT_STATE_DIR": str(state), "LC_ALL": "C.UTF-8", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("words", ["sessions", "up", "ask --local Why?"])
@pytest.mark.parametrize("state", ["file", "/proc/opspilot", "x" * 256])
def test_a_state_folder_that_cannot_be_made_is_refused_by_name(words: str, state: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    ended = shell(words, tmp_path, state)

    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith(f"The state folder {tmp_path / state} can't be made: ")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        ("sessions --json > /dev/full", 0, ""),
        ("--help > /dev/full", 1, "This machine can't go on with it: No space left on device."),
        ("doctor > /dev/full", 1, "This machine can't go on with it: No space left on device."),
        ("doctor > /dev/full 2> /dev/full", 1, ""),
        ("sessions >&-", 2, "Standard output is closed. Give it a place to go, such as `> /dev/null`."),
        ("sessions >&- 2>&-", 2, ""),
        ("ask - <&-", 2, "The question is empty."),
        ("sessions <&- 2>&-", 0, ""),
        ("down", 0, ""),
    ],
)
def test_streams_that_are_full_or_closed_end_a_command_calmly(
    words: str, status: int, sentence: str, tmp_path: Path
) -> None:
    ended = shell(words, tmp_path, "state")

    assert (ended.stderr.strip(), ended.returncode) == (sentence, status)


def test_down_in_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    ended = shell("down", tmp_path, "x" * 256)

    assert (ended.returncode, ended.stderr) == (1, f"{tmp_path / ('x' * 256)} can't be used: File name too long.\n")


def test_what_a_locale_cannot_write_is_replaced(tmp_path: Path) -> None:
    ended = shell("down --lang zh", tmp_path, "state", PYTHONIOENCODING="latin-1:strict")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert set(ended.stdout.strip()) == {"?"}


@pytest.mark.parametrize("pid", [-1, "seven", 1.5])
def test_a_stack_file_with_impossible_numbers_remembers_nothing(pid: object, tmp_path: Path) -> None:
    file = tmp_path / "stack.json"
    file.write_text(f'{{"server_pid": {pid!r}, "port": 7233}}'.replace("'", '"'), encoding="utf-8")

    assert stack.load(file) == stack.StackFile()
