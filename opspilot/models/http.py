"""The one way to a model server: a POST whose answer is read as it comes.

One attempt, no retries (they belong to Temporal), and one connection for each call: a cancelled call closes it and with
it the provider's work and bill, and no stale idle connection can fail the next. Proxies and certificates are the
environment's (`HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`), as httpx reads them, unless a `Route` is given. Knows no
wire format.
"""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import httpx

from opspilot.core.errors import ModelError, ModelFault, UsageError
from opspilot.core.retry import classify

CONNECT_TIMEOUT_SECONDS = 10.0
WRITE_TIMEOUT_SECONDS = 60.0
MAX_REPLY_BYTES = 64 * 1024 * 1024
"""No honest reply is longer; an endless one must not fill the worker's memory."""
MAX_ERROR_BYTES = 64 * 1024


@dataclass(frozen=True)
class Route:
    """How to get to the server: through `proxy` (a URL, which may hold a password), trusting `ca_file` alone.

    Both are checked when the route is made (`UsageError`); None leaves them to the environment.
    """

    proxy: str | None = field(default=None, repr=False)
    ca_file: Path | None = None

    def __post_init__(self) -> None:
        if self.proxy is not None:
            try:
                httpx.Proxy(self.proxy)
            except (ValueError, httpx.InvalidURL):
                raise UsageError("The model's proxy must look like http://host:port.") from None
        if self.ca_file is not None:
            _certificates(self.ca_file)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must be shown nowhere."""
        return () if self.proxy is None else (self.proxy, httpx.URL(self.proxy).password)


DIRECT = Route()
"""As the environment says."""


@asynccontextmanager
async def posted(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    read_timeout_seconds: float,
    server: str,
    route: Route = DIRECT,
) -> AsyncIterator[AsyncIterator[bytes]]:
    """Send `body`; gives the packets of a successful answer. Leaving the block closes the connection.

    Raises `ModelError` for everything that can go wrong, also while the packets are read. `read_timeout_seconds` is how
    long the server may be silent; `server` is what people know it by.
    """
    timeout = httpx.Timeout(read_timeout_seconds, connect=CONNECT_TIMEOUT_SECONDS, write=WRITE_TIMEOUT_SECONDS)
    try:
        async with (
            httpx.AsyncClient(timeout=timeout, verify=_certificates(route.ca_file), proxy=route.proxy) as client,
            client.stream("POST", url, headers=dict(headers), content=body) as response,
        ):
            if not response.is_success:
                said = await _error_body(response)
                raise classify(response.status_code, response.headers, said, datetime.now(UTC)).as_error(server)
            yield _bounded(response.aiter_bytes(), server)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _as_model_error(error, server, read_timeout_seconds) from None


async def _bounded(packets: AsyncIterator[bytes], server: str) -> AsyncIterator[bytes]:
    size_bytes = 0
    async for packet in packets:
        size_bytes += len(packet)
        if size_bytes > MAX_REPLY_BYTES:
            message = f"The model server {server} sent more than {MAX_REPLY_BYTES // 1024**2} MiB in one answer."
            raise ModelError(ModelFault.BAD_REPLY, message, retryable=True)
        yield packet


async def _error_body(response: httpx.Response) -> str:
    said = b""
    async for packet in response.aiter_bytes():
        said += packet
        if len(said) >= MAX_ERROR_BYTES:
            break
    return said[:MAX_ERROR_BYTES].decode(errors="replace")


def _as_model_error(error: httpx.HTTPError | httpx.InvalidURL, server: str, read_timeout_seconds: float) -> ModelError:
    """Everything on the way is worth another attempt, but for a request that can't be sent at all.

    The texts are ours and nothing is chained: httpx and h11 put header values, and so keys, into some of theirs.
    """
    fault, retryable = ModelFault.NETWORK, True
    if isinstance(error, httpx.ConnectTimeout):
        what = f"did not accept a connection within {CONNECT_TIMEOUT_SECONDS:g} seconds."
    elif isinstance(error, httpx.ConnectError):
        what = f"can't be reached ({error}); is it running, and is the base URL right?"
    elif isinstance(error, httpx.ReadTimeout):
        what = f"sent nothing for {read_timeout_seconds:g} seconds."
    elif isinstance(error, httpx.WriteTimeout):
        what = f"did not take the request within {WRITE_TIMEOUT_SECONDS:g} seconds."
    elif isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        fault, retryable = ModelFault.BAD_REQUEST, False
        what = "can't be asked: the base URL or a header is not valid."
    elif isinstance(error, httpx.ProxyError):
        what = "can't be reached: the proxy refused."
    else:
        what = "closed the connection before its answer was complete."
    return ModelError(fault, f"The model server {server} {what}", retryable)


@cache
def _certificates(ca_file: Path | None) -> ssl.SSLContext:
    """Loaded once: it takes some 20 ms, and each call has a client of its own."""
    if ca_file is None:
        return httpx.create_ssl_context()
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError:  # SSLError is one
        raise UsageError(f"The model's ca_file {ca_file} can't be read as certificates (PEM).") from None
