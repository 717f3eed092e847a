"""The scripted model over HTTP: an OpenAI Chat Completions server on loopback, for end-to-end tests.

    python -m opspilot.models.scripted_server script.json --port 0

prints its base URL and serves until it is ended. `GET /requests` lists what it was sent, `GET /left-over` the steps
that nobody asked for. Streams are unkind on purpose: packets end inside characters, the arguments of parallel calls
interleave.
"""

import argparse
import json
import select
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, zip_longest
from pathlib import Path
from threading import Thread
from typing import Self

from opspilot.core.calls import digest
from opspilot.core.errors import ModelFault, UsageError
from opspilot.core.messages import Finish, Json
from opspilot.models.scripted import Asked, Played, Script, ScriptedError, Step, UnexpectedCall, pieces

PACKET_BYTES = 61
"""Small and odd, so that packets end anywhere."""
ARGUMENT_PIECE_CHARS = 7
TEXT_PIECE_CHARS = 12

_STATUS = {
    ModelFault.RATE_LIMIT: 429,
    ModelFault.QUOTA: 429,
    ModelFault.OVERLOADED: 503,
    ModelFault.AUTH: 401,
    ModelFault.BAD_REQUEST: 400,
    ModelFault.CONTEXT_LENGTH: 400,
    ModelFault.SERVER: 500,
}
"""`NETWORK` closes the connection and `BAD_REPLY` answers with nothing."""

_CODES = {ModelFault.QUOTA: "insufficient_quota", ModelFault.CONTEXT_LENGTH: "context_length_exceeded"}


@dataclass
class Received:
    """One request. `authorization` is masked. `disconnected`: the client left before it was answered."""

    path: str
    headers: Mapping[str, str]
    body: Json
    step: int | None = None
    attempt: int | None = None
    disconnected: bool = False


@dataclass(frozen=True)
class _Answer:
    """What goes on the wire. `packets` None closes the connection without a word."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    packets: Iterable[bytes] | None = ()
    cut: bool = False


class ScriptedServer:
    """Serves a script from a thread of its own, as a context manager or between `start` and `close`."""

    def __init__(self, script: Script | Iterable[Step | Mapping[str, Json]], port: int = 0) -> None:
        self.script = script if isinstance(script, Script) else Script(script)
        self.requests: list[Received] = []
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def wait(self) -> None:
        """Serve until the thread ends."""
        self._thread.join()

    def close(self) -> None:
        """Stop listening; answers that are being sent are abandoned."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def assert_done(self) -> None:
        """Fail if any step was never played."""
        self.script.assert_done()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], owner: ScriptedServer) -> None:
        super().__init__(address, _Handler)
        self.owner = owner


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Silent: `requests` is the log."""

    def do_GET(self) -> None:
        owner = self.server.owner
        found = {
            "/requests": lambda: [asdict(received) for received in owner.requests],
            "/left-over": owner.script.left_over,
        }.get(self.path)
        self._send(_whole(200, found()) if found else _error(404, f"There is no {self.path} here."))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            body = json.loads(raw)
        except ValueError:
            self._send(_error(400, "The request is not JSON."))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        if "authorization" in headers:
            headers["authorization"] = "[set]"
        received = Received(self.path, headers, body)
        self.server.owner.requests.append(received)
        if not self.path.partition("?")[0].endswith("/chat/completions"):
            self._send(_error(404, f"There is no {self.path} here."))
            return
        try:
            played = self.server.owner.script.play(_asked(body))
        except UnexpectedCall as error:
            self._send(_error(400, str(error)))
            return
        received.step, received.attempt = played.number, played.attempt
        received.disconnected = self._client_left_within(played.step.delay_seconds)
        if not received.disconnected:
            self._send(_answer(played, body))

    def _client_left_within(self, seconds: float) -> bool:
        readable, _, _ = select.select([self.connection], [], [], seconds)
        return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""

    def _send(self, answer: _Answer) -> None:
        """A client that hangs up is no fault of the server's."""
        with suppress(ConnectionError):
            if answer.packets is None:
                self._hang_up()
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for packet in answer.packets:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(packet), packet))
                self.wfile.flush()
            if answer.cut:
                self._hang_up()
            else:
                self.wfile.write(b"0\r\n\r\n")

    def _hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _asked(body: Mapping[str, Json]) -> Asked:
    messages = body.get("messages") or []
    replies = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    fresh = messages[replies[-1] + 1 :] if replies else messages
    return Asked(
        replies=len(replies),
        said=tuple(str(message.get("content")) for message in fresh if message["role"] != "system"),
        tools=frozenset(tool["function"]["name"] for tool in body.get("tools") or []),
        fingerprint=digest(messages),
    )


def _answer(played: Played, body: Mapping[str, Json]) -> _Answer:
    fault = played.http
    if fault and fault.status is not None:
        said = (
            fault.body if fault.body is not None else {"error": {"message": "scripted fault", "type": "server_error"}}
        )
        return _whole(fault.status, said, fault.headers)
    if played.error:
        return _failure(played.error)
    streamed = bool(body.get("stream"))
    if streamed:
        with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        data = "".join(_events(played, str(body.get("model")), with_usage=with_usage)).encode()
    else:
        data = json.dumps(_completion(played, str(body.get("model"))), ensure_ascii=False).encode()
    kind = "text/event-stream" if streamed else "application/json"
    cut = fault.cut_after_bytes if fault else None
    return _Answer(200, {"content-type": kind}, _packets(data[:cut]), cut=cut is not None)


def _failure(error: ScriptedError) -> _Answer:
    if error.fault is ModelFault.NETWORK:
        return _Answer(200, packets=None)
    if error.fault is ModelFault.BAD_REPLY:
        return _Answer(200, {"content-type": "text/event-stream"})
    headers = {"x-should-retry": "true" if error.retryable else "false"}
    if error.retry_after_seconds is not None:
        headers["retry-after"] = f"{error.retry_after_seconds:g}"
    return _error(_STATUS[error.fault], error.message, _CODES.get(error.fault), headers)


def _error(status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None) -> _Answer:
    error = {"message": message, "type": "invalid_request_error" if status == 400 else "error", "code": code}
    return _whole(status, {"error": error}, headers or {})


def _whole(status: int, value: Json, headers: Mapping[str, str] | None = None) -> _Answer:
    data = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode()
    return _Answer(status, {"content-type": "application/json"} | dict(headers or {}), _packets(data))


def _packets(data: bytes) -> Iterator[bytes]:
    return (data[start : start + PACKET_BYTES] for start in range(0, len(data), PACKET_BYTES))


def _finish(played: Played) -> str:
    return "content_filter" if played.finish is Finish.REFUSAL else played.finish.value


def _usage(played: Played) -> dict[str, Json]:
    usage = played.step.usage
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


def _completion(played: Played, model: str) -> dict[str, Json]:
    message: dict[str, Json] = {"role": "assistant", "content": played.text}
    if played.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in played.calls
        ]
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(played)}],
        "usage": _usage(played),
    }


def _events(played: Played, model: str, *, with_usage: bool) -> Iterator[str]:
    head = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": model}

    def event(value: Mapping[str, Json]) -> str:
        return f"data: {json.dumps(head | dict(value), ensure_ascii=False)}\n\n"

    def choice(delta: Mapping[str, Json], finish: str | None = None) -> str:
        return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield choice({"role": "assistant", "content": ""})
    for piece in pieces(played.text, TEXT_PIECE_CHARS):
        yield choice({"content": piece})
    for index, call in enumerate(played.calls):
        function = {"name": call.name, "arguments": ""}
        yield choice({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
    cut = [
        [(index, piece) for piece in pieces(call.arguments, ARGUMENT_PIECE_CHARS)]
        for index, call in enumerate(played.calls)
    ]
    for fragment in chain.from_iterable(zip_longest(*cut)):
        if fragment is not None:
            index, piece = fragment
            yield choice({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield choice({}, _finish(played))
    if with_usage:
        yield event({"choices": [], "usage": _usage(played)})
    yield "data: [DONE]\n\n"


def main() -> int:
    """Serve one script until ended."""
    parser = argparse.ArgumentParser(
        prog="python -m opspilot.models.scripted_server", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("script", type=Path, help="JSON file with a list of steps")
    parser.add_argument("--port", type=int, default=0, help="port on loopback; 0 takes a free one")
    options = parser.parse_args()
    try:
        server = ScriptedServer(Script.load(options.script), options.port)
    except (UsageError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    server.start()
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt):
        server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
