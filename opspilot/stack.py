"""The processes of a local stack: how they are recognised, spawned, ended, and remembered in `stack.json`.

A process is ours when its command line carries our mark, which names the state folder. A process id alone proves
nothing after a reboot, and a start time moves with the machine's clock. `stack.json` is therefore a hint that may be
stale, damaged or missing. Knows nothing of Temporal, of readiness, or of when to start what: see `embedded.py`.
"""

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, Field, ValidationError

_LOG_BYTES = 10 * 1024 * 1024
_TAIL_BYTES = 4096
_KILL_SECONDS = 10.0
_COLLECTED_SECONDS = 1.0
_LOOK_SECONDS = 0.02


class StackFile(BaseModel):
    """What `stack.json` remembers: ports are kept once chosen, pids are hints (0: ended by `down`)."""

    model_config = ConfigDict(frozen=True)

    port: int = Field(0, ge=0, le=65535)
    ui_port: int = Field(0, ge=0, le=65535)
    server_pid: int = Field(0, ge=0)
    worker_pid: int = Field(0, ge=0)
    web_port: int = Field(0, ge=0, le=65535)
    web_pid: int = Field(0, ge=0)
    version: str = ""
    digest: str = ""
    web_digest: str = ""


def load(path: Path) -> StackFile:
    """What is remembered; nothing when the file is missing or damaged."""
    try:
        return StackFile.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return StackFile()


def save(path: Path, remembered: StackFile) -> None:
    """Replace the file in one piece, so that a reader or a crash never sees half of it."""
    fresh = path.with_suffix(".json.new")
    fresh.write_text(remembered.model_dump_json(indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


def find(mark: str, pid: int) -> list[psutil.Process]:
    """Our living processes with this mark: the one at `pid` when it is ours, else whatever a search finds."""
    if pid and (hinted := _ours(pid, mark)):
        return [hinted]
    return [process for other in psutil.pids() if other != os.getpid() and (process := _ours(other, mark))]


def _ours(pid: int, mark: str) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        if mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
            return process
    except psutil.Error:
        pass
    return None


def alive(process: psutil.Process) -> bool:
    """Is it still running? A zombie, which nobody has collected yet, is not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def spawn(command: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> psutil.Process:
    """Start a process that outlives us: a session of its own, no terminal, no inherited files but its log."""
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(log.with_suffix(log.suffix + ".1"))
    with log.open("ab") as output:
        child = subprocess.Popen(
            list(command),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    # It outlives us on purpose; without this, Python warns of a child that nobody has waited for.
    child.returncode = 0
    return psutil.Process(child.pid)


def end(process: psutil.Process, grace_seconds: float) -> bool:
    """Ask a process to stop, and kill it after the grace. True when it stopped by itself."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.terminate()
        if _ends_within(process, grace_seconds):
            return True
        process.kill()
        _ends_within(process, _KILL_SECONDS)
        return False
    return True


def _ends_within(process: psutil.Process, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    # Not `process.wait`, which waits for a zombie for ever where nobody collects orphans, as in many containers.
    while alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_SECONDS)
    # A zombie's other threads may still hold its ports; when it has been collected they are free.
    with contextlib.suppress(psutil.TimeoutExpired):
        process.wait(_COLLECTED_SECONDS)
    return True


def last_line(log: Path) -> str:
    """The last line of a log that isn't blank, cut to 300 characters; empty when there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


def free_port(preferred: int, *, other_than: int = 0) -> int:
    """The preferred port when nobody listens on it, else one that the system picks. On 127.0.0.1."""
    for port in (preferred, 0):
        if port and port == other_than:
            continue
        with socket.socket() as probe:
            # A port whose server has just been killed has connections in TIME_WAIT; it is free all the same.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                probe.listen()
            except OSError:
                continue
            chosen = int(probe.getsockname()[1])
        if chosen != other_than:
            return chosen
    return free_port(0, other_than=other_than)
