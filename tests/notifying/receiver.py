"""A receiver of webhooks on loopback: a real HTTP server that keeps what it got and answers as it is told."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opspilot.core.contract import Notice
from opspilot.core.ports import Notification

SECRET_PATH = "/services/T01ABCDEF/B02GHIJKL/tHeSecretPart4711abcdef"

ASKED = Notification(
    id="0123456789abcdef0123456789abcdef",
    notice=Notice.ASKED,
    session="ops-1",
    interrupt="3.1#0",
    reason="Restart payment in production?",
    tool="restart_service",
    risk="high",
    role="sre",
    requester="alice",
    due="2026-12-01T12:00:00+00:00",
)


@dataclass(frozen=True)
class Got:
    """One request. `headers` are by lower-case name."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """`answers` are used up one by one, the last one stays; each is a status, or what writes to the connection."""

    answers: list[int | Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=lambda: [200])
    headers: dict[str, str] = field(default_factory=dict)
    said: bytes = b"ok"
    url: str = ""
    got: list[Got] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


@contextmanager
def receiving(receiver: Receiver | None = None, path: str = SECRET_PATH) -> Iterator[Receiver]:
    """Serve on a free port until the block is left."""
    here = receiver or Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            here.got.append(Got(self.path, headers, self.rfile.read(length)))
            answer = here.answers.pop(0) if len(here.answers) > 1 else here.answers[0]
            if callable(answer):
                answer(self)
                return
            self.send_response(answer)
            for name, value in here.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(here.said)))
            self.end_headers()
            self.wfile.write(here.said)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Tests print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.closing = here.closing  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    here.url = f"http://127.0.0.1:{server.server_port}{path}"
    try:
        yield here
    finally:
        here.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
