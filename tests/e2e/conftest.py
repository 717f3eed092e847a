"""One desk for the tests of the command line: a real stack whose model plays whatever script a test puts on."""

import codecs
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest
from typer.testing import CliRunner

import starter
from opspilot import stack
from opspilot.models.scripted import Script
from opspilot.models.scripted_server import ScriptedServer

ROOT = Path(__file__).parents[2]
TOOLS = ("look", "nap", "fail", "restart", "place", "wipe")
SECONDS = 40.0


@dataclass(frozen=True)
class Ended:
    """What came of a command."""

    status: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard output as events; fails when anything else is on it."""
        return [json.loads(line) for line in self.out.split("\n")[:-1]]


def run_command(folder: Path, environment: Mapping[str, str], *arguments: str, typed: str = "") -> Ended:
    """A command to its end, inside this process, which saves it a second of imports."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in set(os.environ) - set(environment):
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        result = CliRunner().invoke(starter.app, list(arguments), input=typed, catch_exceptions=False)
    return Ended(result.exit_code, result.stdout, result.stderr)


@dataclass
class Desk:
    """A folder with settings, a model server, and the command line in processes of its own."""

    folder: Path
    server: ScriptedServer
    environment: dict[str, str] = field(default_factory=dict)

    def play(self, *steps: Mapping[str, Any]) -> None:
        """What the model says from now on, in conversations that begin now."""
        self.server.script = Script(list(steps))

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """A command that goes on by itself."""
        return subprocess.Popen(
            [sys.executable, str(ROOT / "starter.py"), *arguments],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, typed: str = "", **environment: str) -> Ended:
        """A command to its end, inside this process."""
        return run_command(self.folder, {**self.environment, **environment}, *arguments, typed=typed)

    def finish(self, process: subprocess.Popen[str], typed: str = "") -> Ended:
        """Wait for a command that was started."""
        out, err = process.communicate(typed, timeout=SECONDS)
        return Ended(process.returncode, out, err)

    def at_terminal(self, *arguments: str, **environment: str) -> "AtTerminal":
        """A command with a person in front of it."""
        command = [sys.executable, str(ROOT / "starter.py"), *arguments]
        return AtTerminal(command, self.folder, {"TERM": "xterm", **self.environment, **environment})


class AtTerminal:
    """A command in a pseudo-terminal that it controls, so that a typed Ctrl-C is the kernel's own."""

    def __init__(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(command[0], command, dict(environment))
        self.shown = ""
        # A read may end in the middle of a character.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def until(self, text: str, after: str = "") -> str:
        """Read until the screen has shown this, behind something else; returns everything that it has shown."""
        deadline = time.monotonic() + SECONDS
        while text not in (self.shown.partition(after)[2] if after else self.shown):
            assert time.monotonic() < deadline, f"{text!r} did not come; there was: {self.shown}"
            if not self._read():
                raise AssertionError(f"It ended without {text!r}: {self.shown}")
        return self.shown

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._terminal, keys.encode())

    def end(self) -> int:
        """Wait for the end; the exit status."""
        deadline = time.monotonic() + SECONDS
        while self._read():
            assert time.monotonic() < deadline, f"It does not end; there was: {self.shown}"
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._terminal], [], [], SECONDS)
        assert ready, f"Nothing happens any more; there was: {self.shown}"
        try:
            data = os.read(self._terminal, 65536)
        except OSError:
            return False
        self.shown += self._decoder.decode(data)
        return bool(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        os.close(self._terminal)


@pytest.fixture(scope="session")
def running_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One stack for all tests of a session; it starts with the first command that needs it."""
    folder = tmp_path_factory.mktemp("desk").resolve()
    state = folder / "state"
    with ScriptedServer([]) as server:
        tools = "".join(f'[tools.{name}]\nuse = "tests.e2e.desk_tools:{name}"\n' for name in TOOLS)
        model = f'[model]\nprovider = "openai"\nname = "scripted"\nbase_url = "{server.url}"\n'
        model += '[models.tiny]\nname = "tiny-1"\n'
        rules = '[[policy.rules]]\nname = "asks-itself"\ntool = "place"\nverdict = "run"\n'
        rules += '[[policy.rules]]\nname = "two-people"\ntool = "wipe"\nverdict = "confirm"\nrole = "approver"\n'
        rules += 'quorum = 2\nrisk = "high"\nexpire_after = "1d"\n'
        budget = "[budget]\nsession_tokens = 100000\n"
        (folder / "opspilot.toml").write_text(f'state_dir = "state"\n{model}{tools}{rules}{budget}')
        environment = {**os.environ, "LOGNAME": "dana", "PYTHONWARNINGS": "error", "COLUMNS": "100"}
        for name in ("OPSPILOT_STATE_DIR", "NO_COLOR", "FORCE_COLOR", "TERM"):
            environment.pop(name, None)
        try:
            yield Desk(folder, server, environment)
        finally:
            marks = (f"opspilot-web={state}", f"opspilot-state={state}", f"--db-filename={state / 'temporal.db'}")
            for mark in marks:
                for process in stack.find(mark, 0):
                    process.kill()


@pytest.fixture
def desk(running_desk: Desk) -> Desk:
    """The desk, with a model that has nothing to say until the test says what."""
    running_desk.play()
    running_desk.server.requests.clear()
    return running_desk
