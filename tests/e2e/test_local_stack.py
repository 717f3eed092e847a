"""The local stack comes back from every kind of damage, and never runs twice over one state folder."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from opspilot import embedded, stack
from opspilot.core.errors import Unreachable, UsageError
from opspilot.place import Deadlines, Endpoint, Place

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
STUB = Path(__file__).with_name("stub_worker.py")


def place_in(state: Path, **changes: str) -> Place:
    return Place(
        state=state,
        worker=STUB,
        digest="1",
        environment={**os.environ, **changes},
        folder=ROOT,
        deadlines=Deadlines(server_answer=3, worker_answer=15, drain=5),
    )


def processes(place: Place) -> tuple[list[psutil.Process], list[psutil.Process]]:
    return stack.find(place.server_mark, 0), stack.find(place.worker_mark, 0)


def kill(process: psutil.Process) -> None:
    process.kill()
    process.wait(10)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One stack for the whole module; each test damages it in its own way and brings it back."""
    place = place_in(tmp_path_factory.mktemp("stack").resolve())
    try:
        yield place
    finally:
        for found in processes(place):
            for process in found:
                kill(process)


@pytest.fixture
def place(running: Place) -> Place:
    embedded.ensure(running)
    return running


# ---------------------------------------------------------------- damages


def nothing(place: Place) -> None:
    """The stack is well."""


def dead_server(place: Place) -> None:
    kill(processes(place)[0][0])


def dead_worker(place: Place) -> None:
    kill(processes(place)[1][0])


def both_dead(place: Place) -> None:
    dead_worker(place)
    dead_server(place)


def rebooted(place: Place) -> None:
    both_dead(place)
    recycled = stack.load(place.file).model_copy(update={"server_pid": os.getpid(), "worker_pid": os.getppid()})
    stack.save(place.file, recycled)


def corrupt_file(place: Place) -> None:
    place.file.write_bytes(b'{"port": 12')


def foreign_json(place: Place) -> None:
    place.file.write_text('{"port": "seven", "server_pid": [1]}')


def lost_file(place: Place) -> None:
    place.file.unlink()


def half_started(place: Place) -> None:
    dead_worker(place)
    stack.save(place.file, stack.load(place.file).model_copy(update={"server_pid": 0, "worker_pid": 0, "digest": ""}))


def hung_server(place: Place) -> None:
    processes(place)[0][0].suspend()


def held_lock_of_a_killed_command(place: Place) -> None:
    code = (
        "import sys, time, filelock\n"
        "filelock.FileLock(sys.argv[1]).acquire()\n"
        "print('held', flush=True)\n"
        "time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(place.state / "stack.lock")], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.wait()
    holder.stdout.close()


@pytest.mark.parametrize(
    ("damage", "server_survives", "worker_survives"),
    [
        (nothing, True, True),
        (dead_server, False, True),
        (dead_worker, True, False),
        (both_dead, False, False),
        (rebooted, False, False),
        (corrupt_file, False, False),
        (foreign_json, False, False),
        (lost_file, False, False),
        (half_started, True, False),
        pytest.param(hung_server, False, True, marks=pytest.mark.slow),
        (held_lock_of_a_killed_command, True, True),
    ],
)
def test_the_next_command_brings_the_stack_back(
    place: Place, damage: Callable[[Place], None], server_survives: bool, worker_survives: bool
) -> None:
    (server,), (worker,) = processes(place)
    damage(place)

    endpoint = embedded.ensure(place)

    assert embedded._serves(endpoint.address)
    (server_after,), (worker_after,) = processes(place)
    remembered = stack.load(place.file)
    assert (remembered.server_pid, remembered.worker_pid) == (server_after.pid, worker_after.pid)
    assert (server_after == server) is server_survives
    assert (worker_after == worker) is worker_survives


def test_ports_are_kept_over_a_restart(place: Place) -> None:
    before = embedded.ensure(place)
    dead_server(place)

    assert embedded.ensure(place) == before


def test_a_kept_port_that_somebody_else_took_is_given_up(place: Place) -> None:
    before = embedded.ensure(place)
    both_dead(place)
    with socket.socket() as foreign:
        foreign.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        foreign.bind(("127.0.0.1", stack.load(place.file).port))
        foreign.listen()

        after = embedded.ensure(place)

    assert after.address != before.address
    assert after.console == before.console
    assert embedded._serves(after.address)


def test_commands_that_start_at_the_same_moment_share_one_stack(place: Place) -> None:
    embedded.shut_down(place)
    endpoints: list[Endpoint] = []
    threads = [threading.Thread(target=lambda: endpoints.append(embedded.ensure(place))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(endpoints) == 2
    assert endpoints[0] == endpoints[1]
    servers, workers = processes(place)
    assert (len(servers), len(workers)) == (1, 1)


def test_changed_code_or_settings_restart_the_worker_alone(place: Place) -> None:
    (server,), (worker,) = processes(place)
    said: list[str] = []

    embedded.ensure(replace(place, digest="2"), said.append)

    (server_after,), (worker_after,) = processes(place)
    assert server_after == server
    assert worker_after != worker
    assert any("settings have changed" in sentence for sentence in said)


def test_a_command_that_only_looks_on_leaves_another_worker_alone(place: Place) -> None:
    before = processes(place)

    embedded.ensure(replace(place, digest="3"), any_worker=True)

    assert processes(place) == before


def test_the_stack_lives_in_sessions_of_its_own(place: Place) -> None:
    (server,), (worker,) = processes(place)
    groups = {os.getsid(process.pid) for process in (server, worker)}

    assert groups == {server.pid, worker.pid}


def test_the_stack_inherits_neither_the_lock_nor_a_terminal(place: Place) -> None:
    for process in (*processes(place)[0], *processes(place)[1]):
        links = Path(f"/proc/{process.pid}/fd").iterdir()
        assert "stack.lock" not in {link.readlink().name for link in links if link.is_symlink()}
        assert process.terminal() is None


def test_down_ends_worker_and_server_and_says_so_and_may_be_repeated(place: Place) -> None:
    said: list[str] = []
    embedded.shut_down(place, said.append)

    assert said == ["The local worker is stopped.", "The local Temporal server is stopped."]
    assert processes(place) == ([], [])
    assert not embedded.wanted(place.state)

    said.clear()
    embedded.shut_down(place, said.append)
    assert said == ["No local stack is running."]


def test_down_ends_what_a_lost_stack_file_no_longer_names(place: Place) -> None:
    place.file.unlink()

    embedded.shut_down(place)

    assert processes(place) == ([], [])


def test_a_worker_that_gives_up_is_reported_with_its_last_line(place: Place) -> None:
    dead_worker(place)
    broken = replace(place, environment={**os.environ, "STUB_SAYS": "opspilot.toml: colour is not a setting."})

    with pytest.raises(Unreachable, match=r"worker\.log.*colour is not a setting") as caught:
        embedded.ensure(broken)

    assert "within" not in str(caught.value), "it ended at once; nobody waited for a deadline"


def test_a_worker_that_works_is_not_lost_to_settings_that_none_can_start_with(place: Place) -> None:
    before = processes(place)[1]
    says = "opspilot.toml: colour is not a setting."

    with pytest.raises(UsageError, match=f"^{says}$"):
        embedded.ensure(replace(place, digest="2", environment={**os.environ, "STUB_SAYS": says}))

    assert processes(place)[1] == before
    embedded.ensure(place)
    assert processes(place)[1] == before


def test_a_server_that_never_becomes_ready_is_reported_with_its_log(tmp_path: Path) -> None:
    (tmp_path / "temporal.db").write_bytes(b"no database at all, but long enough to be looked at" * 100)

    with pytest.raises(Unreachable, match=r"server\.log"):
        embedded.ensure(place_in(tmp_path))


def test_another_temporal_of_the_environment_does_not_reach_the_worker(place: Place) -> None:
    dead_worker(place)
    cloud = {"TEMPORAL_ADDRESS": "cloud.invalid:7233", "TEMPORAL_API_KEY": "not-for-localhost", "TEMPORAL_TLS": "true"}
    embedded.ensure(replace(place, environment={**os.environ, **cloud}))

    given = processes(place)[1][0].environ()
    assert "TEMPORAL_API_KEY" not in given
    assert given["TEMPORAL_ADDRESS"] == f"127.0.0.1:{stack.load(place.file).port}"


def test_preparation_runs_first_and_its_output_is_shown_only_when_it_fails(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    made = place.state / "made"
    embedded.ensure(place, prepare=("{python}", "-c", f"print('noise'); open({str(made)!r}, 'w')"))

    assert made.exists()
    assert capfd.readouterr() == ("", "")
    with pytest.raises(UsageError, match=r"ended with 3\.\nno data"):
        embedded.ensure(place, prepare=("{python}", "-c", "import sys; print('no data'); sys.exit(3)"))


def test_a_killed_server_keeps_what_it_has_acknowledged(place: Place) -> None:
    binary = str(embedded.server_binary())
    address = embedded.ensure(place).address
    start = ["workflow", "start", "--task-queue", "none", "--type", "Any", "--workflow-id", "kept"]
    subprocess.run([binary, *start, "--address", address], check=True, stdout=subprocess.DEVNULL)
    dead_server(place)

    again = embedded.ensure(place).address

    shown = subprocess.run(
        [binary, "workflow", "describe", "--workflow-id", "kept", "--address", again, "--output", "json"],
        check=True,
        stdout=subprocess.PIPE,
    )
    assert json.loads(shown.stdout)["workflowExecutionInfo"]["status"] == "WORKFLOW_EXECUTION_STATUS_RUNNING"


def test_a_process_that_nobody_collects_counts_as_ended() -> None:
    code = "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); sys.stdin.read()"
    parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))

    assert stack.end(child, 5)

    assert child.status() == psutil.STATUS_ZOMBIE
    parent.communicate("")


def test_an_interrupted_start_is_finished_by_the_next_command(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    code = (
        "import sys, pathlib\n"
        "from tests.e2e.test_local_stack import embedded, place_in\n"
        "embedded.ensure(place_in(pathlib.Path(sys.argv[1])))"
    )
    command = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, start_new_session=True)
    try:
        while not stack.find(place.server_mark, 0):
            assert command.poll() is None
        os.killpg(command.pid, signal.SIGKILL)
        command.wait()
        (server,) = stack.find(place.server_mark, 0)

        embedded.ensure(place)

        assert processes(place)[0] == [server]
    finally:
        embedded.shut_down(place)
