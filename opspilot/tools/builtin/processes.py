"""Running a configured command for a tool: no shell, no secrets of ours, bounded time and output."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from opspilot.child_environment import child_environment

MAX_OUTPUT_BYTES = 8 * 1024
_FLOOD_BYTES = 64 * 1024 * 1024
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_POLL_SECONDS = 0.05
_TERMINATE_SECONDS = 3.0


@dataclass(frozen=True)
class Outcome:
    """How a command ended. `output` is the end of stdout and stderr together.

    `status` None: it did not end by itself, and `ended` says why we ended it. `not_started`: why it could not be run.
    """

    status: int | None
    output: str
    seconds: float
    ended: str = ""
    not_started: str = ""


def run_process(
    command: Sequence[str],
    *,
    values: Mapping[str, str],
    folder: Path,
    seconds: float,
    pass_environment: Sequence[str] = (),
    cancelled: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Run a command in `folder` and wait for it. When its time is up, or on `cancelled`, its whole group is killed.

    `{name}` in an argument becomes `values[name]`, and `{python}` this interpreter; an argument stays one argument
    whatever it contains. The child is told the idempotency key as `OPSPILOT_IDEMPOTENCY_KEY`.
    """
    arguments = [_filled(argument, {"python": sys.executable, **values}) for argument in command]
    began = time.monotonic()
    with TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                arguments,
                cwd=folder,
                env=child_environment(os.environ, pass_environment) | {"OPSPILOT_IDEMPOTENCY_KEY": values["key"]},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            return Outcome(None, "", 0.0, not_started=f"{arguments[0]}: {reason}")
        ended = ""
        try:
            while process.poll() is None and not ended:
                _wait(process, _POLL_SECONDS)
                if time.monotonic() - began > seconds:
                    ended = f"it took longer than {seconds:g} seconds"
                elif cancelled():
                    ended = "the run was stopped"
                elif os.fstat(output.fileno()).st_size > _FLOOD_BYTES:
                    ended = f"it wrote more than {_FLOOD_BYTES:,} bytes"
        finally:
            if process.poll() is None:
                _kill_group(process)
            else:
                # What a command that ended well leaves running, such as the restarted service, is none of our business.
                ended = ""
        status = process.returncode if not ended else None
        return Outcome(status, _end_of(output), time.monotonic() - began, ended)


def _filled(argument: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), argument)


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End the command and all that it started: politely, then for certain."""
    _signal_group(process, signal.SIGTERM)
    _wait(process, _TERMINATE_SECONDS)
    _signal_group(process, signal.SIGKILL)
    process.wait()


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _end_of(output: BinaryIO) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - MAX_OUTPUT_BYTES))
    text = output.read(MAX_OUTPUT_BYTES).decode("utf-8", "replace").strip()
    return f"… {text}" if size > MAX_OUTPUT_BYTES else text
