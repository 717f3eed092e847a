"""One local stack as a thing: its folder, what its processes run and are recognised by, and where it answers.

Pure data. What is done with it is in `embedded.py` (server and worker) and `stack_web.py` (the web server).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from opspilot.core.contract import TASK_QUEUE


@dataclass(frozen=True)
class Deadlines:
    """How long each part may take, in seconds. Generous: the machine may be busy.

    `drain` is how long a worker may finish its running calls before it is killed.
    """

    server_start: float = 60.0
    server_answer: float = 10.0
    worker_start: float = 60.0
    worker_answer: float = 15.0
    web_start: float = 60.0
    drain: float = 100.0


@dataclass(frozen=True)
class Place:
    """One stack: its folder, and what its worker runs (script, environment, folder), with the digest of all that.

    `web` is the folder from which the web server is imported, None for a stack without one; `web_port` is the port that
    it has to have, 0 for any.
    """

    state: Path
    worker: Path
    digest: str
    environment: Mapping[str, str]
    folder: Path
    task_queue: str = TASK_QUEUE
    deadlines: Deadlines = field(default_factory=Deadlines)
    web: Path | None = None
    web_port: int = 0

    @property
    def file(self) -> Path:
        """Where the stack is remembered."""
        return self.state / "stack.json"

    @property
    def server_log(self) -> Path:
        """What the Temporal server writes."""
        return self.state / "server.log"

    @property
    def worker_log(self) -> Path:
        """What the worker writes."""
        return self.state / "worker.log"

    @property
    def web_log(self) -> Path:
        """What the web server writes."""
        return self.state / "web.log"

    @property
    def server_mark(self) -> str:
        """The argument by which our server is recognised."""
        return f"--db-filename={self.state / 'temporal.db'}"

    @property
    def worker_mark(self) -> str:
        """The argument by which our worker is recognised; Python takes any `-X` and does nothing with ours."""
        return f"opspilot-state={self.state}"

    @property
    def web_mark(self) -> str:
        """The argument by which our web server is recognised."""
        return f"opspilot-web={self.state}"

    def at(self, address: str) -> dict[str, str]:
        """The environment of a process that works with the server at this address.

        A profile, key or certificate for another Temporal must not reach ours.
        """
        return {**without_temporal(self.environment), "TEMPORAL_ADDRESS": address, "TEMPORAL_NAMESPACE": NAMESPACE}


@dataclass(frozen=True)
class Endpoint:
    """A running stack: the server's address, where its console is, and where the web UI is (empty without one)."""

    address: str
    console: str
    web: str = ""


NAMESPACE = "default"


def without_temporal(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment that names no Temporal."""
    kept = {name: value for name, value in environment.items() if not name.upper().startswith("TEMPORAL_")}
    return {**kept, "TEMPORAL_CONFIG_FILE": os.devnull}
