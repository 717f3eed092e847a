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
import pytest

from opspilot.access.links import new_link_token, read_address
from opspilot.core.entries import Kind, NewEntry
from opspilot.core.errors import JournalError, UsageError
from opspilot.core.interrupts import Principal
from opspilot.journal.store import SqlJournal
from opspilot.settings import load_settings
from opspilot.web.__main__ import serve

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
            page = browser.get("/ask").text
            assert all(f'<span class="mono">{name}</span>' in page for name in ("ask_human", "read_more"))
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


def test_what_can_not_be_ends_it_with_a_sentence_and_a_status(tmp_path: Path) -> None:
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


async def test_a_port_that_somebody_has_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("OPSPILOT_WEB__AUTH", "local")
        monkeypatch.setenv("OPSPILOT_WEB__PORT", str(port))
        with pytest.raises(UsageError, match=rf"can't have 127\.0\.0\.1:{port}: Address already in use"):
            await serve(load_settings(), print)


async def test_a_journal_that_can_not_be_opened_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPSPILOT_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("OPSPILOT_WEB__AUTH", "local")
    monkeypatch.setenv("OPSPILOT_WEB__PORT", "0")
    monkeypatch.setenv("OPSPILOT_JOURNAL", "sqlite:///missing/x.sqlite")
    with pytest.raises(JournalError, match="can't be opened"):
        await serve(load_settings(), print)
