"""A server that answers each request with the next of the given bodies, and remembers what it was asked."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Canned:
    """What was asked so far: path, headers, body of each request."""

    url: str
    answers: list[str]
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)

    def handler(self) -> type[BaseHTTPRequestHandler]:
        canned = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                """Silent."""

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                canned.asked.append((self.path, headers, body))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                self.wfile.write(canned.answers.pop(0).encode())

        return Handler


@contextmanager
def canned(*answers: str) -> Iterator[Canned]:
    """Serve these on loopback."""
    told = Canned("", list(answers))
    server = ThreadingHTTPServer(("127.0.0.1", 0), told.handler())
    told.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
