"""Serves an application to a browser, or to any HTTP client, from the process of the test."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Serve `app` on a free loopback port from a thread with an event loop of its own; gives its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, log_config=None, ws="none", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="web server of a test")
        thread.start()
        try:
            while not server.started and thread.is_alive():
                thread.join(0.01)
            assert thread.is_alive(), "The server ended before it served: see the log."
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
        assert not thread.is_alive(), "The server did not stop within 10 s."
