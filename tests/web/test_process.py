"""`python -m opspilot.web` as a process: it serves without a Temporal, drains on SIGTERM, and refuses in a sentence."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import httpx

from opspilot.access.links import new_link_token, read_address
from opspilot.access.tokens import Tokens
from opspilot.core.entries import Kind, NewEntry
from opspilot.core.interrupts import Principal
from opspilot.journal.store import SqlJournal

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "OPSPILOT_STATE_DIR": str(folder), "PYTHONPATH": str(ROOT), **more}


@contextmanager
def running(folder: Path, **more: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "opspilot.web"],
        cwd=folder,
        env=environment(folder, OPSPILOT_WEB__PORT="0", **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_address(folder: Path, process: subprocess.Popen[str]) -> str:
    deadline = time.monotonic() + 30
    while not (address := read_address(folder)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return address


def test_it_serves_what_the_journal_holds_and_leaves_when_it_is_told_to_with_a_stream_open(tmp_path: Path) -> None:
    with closing(SqlJournal(f"sqlite:///{tmp_path / 'journal.sqlite'}")) as journal:
        journal.begin_run("talk", "run", NOW, Principal("ann"))
        journal.append("talk", "run", [NewEntry("note", Kind.BUDGET_WARNED, NOW, {})])
    with running(tmp_path, OPSPILOT_WEB__AUTH="local", TEMPORAL_ADDRESS="127.0.0.1:1") as process:
        address = wait_for_address(tmp_path, process)
        with httpx.Client(base_url=address, timeout=30) as browser:
            token = new_link_token(tmp_path)
            assert browser.get("/sign-in", params={"token": token}).status_code == 303
            assert [session["id"] for session in browser.get("/api/sessions").json()["sessions"]] == ["talk"]
            assert [(tmp_path / name).stat().st_mode & 0o077 for name in ("sign-in", "web.key")] == [0, 0]
            csrf = browser.get("/api/me").json()["csrf"]
            asked = browser.post("/api/sessions", json={"text": "Hello?"}, headers={"X-CSRF-Token": csrf})
            assert (asked.status_code, asked.json()["code"]) == (503, "unreachable")
            evil = browser.get("/api/me", headers={"Host": "evil.test"})
            assert evil.status_code == 421
            with browser.stream("GET", "/api/sessions/talk/events") as stream:
                lines = stream.iter_lines()
                assert next(lines) == "id: 1"
                process.send_signal(signal.SIGTERM)
                # It is cut short, and a browser would come back with the id that it saw last.
                with suppress(httpx.RemoteProtocolError):
                    assert "id: 2" not in list(lines)
        printed, logged = process.communicate(timeout=30)
    assert process.returncode == 0, logged
    assert address in printed
    assert "web server is down" in logged
    assert token not in printed + logged
    assert "Traceback" not in logged
    assert read_address(tmp_path) == ""


def test_outside_local_mode_it_lets_in_who_has_a_token_and_needs_the_key(tmp_path: Path) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "opspilot.web"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "OPSPILOT_APPROVALS__KEY" in refused.stderr
    assert "Traceback" not in refused.stderr

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        key = {"OPSPILOT_APPROVALS__KEY": "0123456789abcdef0123456789abcdef", "OPSPILOT_WEB__PORT": port}
        there = subprocess.run(
            [sys.executable, "-m", "opspilot.web"],
            cwd=tmp_path,
            env=environment(tmp_path, **key),
            capture_output=True,
            text=True,
            check=False,
        )
    assert there.returncode == 2
    assert f"can't have 127.0.0.1:{port}" in there.stderr

    token = Tokens(tmp_path / "tokens.json").add("ann", ("viewer",))
    process = subprocess.Popen(
        [sys.executable, "-m", "opspilot.web"],
        cwd=tmp_path,
        env=environment(tmp_path, **key),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        me = _when_it_is_up(f"http://127.0.0.1:{port}/api/me", token, process)
        assert (me.json()["id"], me.json()["method"]) == ("ann", "token")
    finally:
        process.terminate()
        _, logged = process.communicate(timeout=30)
    assert process.returncode == 0, logged
    assert key["OPSPILOT_APPROVALS__KEY"] not in logged


def _when_it_is_up(url: str, token: str, process: subprocess.Popen[str]) -> httpx.Response:
    deadline = time.monotonic() + 30
    while True:
        try:
            return httpx.get(url, headers={"Authorization": f"Bearer {token}"})
        except httpx.ConnectError:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_journal_that_can_not_be_opened_ends_it_with_another_status(tmp_path: Path) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "opspilot.web"],
        cwd=tmp_path,
        env=environment(
            tmp_path, OPSPILOT_WEB__AUTH="local", OPSPILOT_JOURNAL="sqlite:///missing/x.sqlite", OPSPILOT_WEB__PORT="0"
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (refused.returncode, "can't be opened" in refused.stderr) == (5, True)
    assert "Traceback" not in refused.stderr
