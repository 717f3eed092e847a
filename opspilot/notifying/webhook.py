"""Tells people by an HTTP POST: one attempt, in bounded time, to one address and no other.

The address may be a secret (those of chats are): of it only scheme, host and port are ever said.
"""

import asyncio
import re
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

import httpx

from opspilot.core.errors import NotificationError
from opspilot.core.ports import Notification
from opspilot.notifying.bodies import Body, chat_body, encoded
from opspilot.notifying.message import Wording
from opspilot.notifying.refusing import MOST_BYTES, refusal
from opspilot.notifying.signing import signed

__all__ = ["Webhook", "public_address"]

SECONDS = 10.0
CONNECT_SECONDS = 5.0
READ_SECONDS = 2.0
_MAX_WORD_BYTES = 64
_WORD = re.compile(rb"[a-z]+(?:_[a-z]+)+")
"""Slack says in such a word what it minds: `invalid_payload`, `channel_is_archived`. No other answer is repeated."""


def public_address(url: str) -> str:
    """Scheme, host and port: what may be said of an address. Of what is no address, nothing."""
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    except ValueError:
        return "…"
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}" + (f":{port}" if port else "")


@dataclass(frozen=True)
class Webhook:
    """The channel of one address. With a `key` it is signed (`signing.py`)."""

    name: str
    url: str = field(repr=False)
    wording: Wording
    body: Body = chat_body
    key: bytes | None = field(default=None, repr=False)
    seconds: float = SECONDS
    clock: Callable[[], float] = time.time

    async def send(self, notification: Notification) -> None:
        """POST it. Any answer but 2xx is a failure, and a 2xx in which a chat says that it minds something.

        A redirect isn't followed, since it could lead anywhere.
        """
        body = encoded(self.body(self.wording.facts(notification)))
        headers = {
            "content-type": "application/json",
            "accept-encoding": "identity",
            "user-agent": "opspilot",
            **signed(self.key, notification.id, int(self.clock()), body),
        }
        try:
            async with asyncio.timeout(self.seconds):
                status, said = await self._post(headers, body)
        except TimeoutError:
            raise self._failed(f"did not answer within {self.seconds:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise self._failed(_what_happened(error, self.seconds)) from None
        if 300 <= status < 400:
            raise self._failed(f"answered with a redirect ({status}), which is not followed; name the final address")
        if 200 <= status < 300:
            if minded := refusal(self.url, said):
                raise self._failed(f"answered {status}, but did not take it ({minded})")
            return
        word = said.decode() if len(said) <= _MAX_WORD_BYTES and _WORD.fullmatch(said) else ""
        raise self._failed(f"answered {status}" + (f" ({word})" if word and word not in self.url else ""))

    async def _post(self, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """The status, and the beginning of what was said."""
        timeout = httpx.Timeout(self.seconds, connect=min(CONNECT_SECONDS, self.seconds))
        async with (
            httpx.AsyncClient(timeout=timeout, verify=_certificates()) as client,
            client.stream("POST", self.url, headers=dict(headers), content=body) as response,
        ):
            return response.status_code, await _read(response)

    def _failed(self, what: str) -> NotificationError:
        return NotificationError(f"The webhook {self.name} at {public_address(self.url)} {what}.")


async def _read(response: httpx.Response) -> bytes:
    """What is said beside a status, as far as it comes: whoever got a message and is slow to say more did get it."""
    said = b""
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(READ_SECONDS):
            async for packet in response.aiter_raw():
                said += packet
                if len(said) > MOST_BYTES:
                    break
    return said


def _what_happened(error: Exception, seconds: float) -> str:
    """In our own words: a library's may hold the address or a header."""
    match error:
        case httpx.ConnectTimeout():
            return f"did not accept a connection within {min(CONNECT_SECONDS, seconds):g} seconds"
        case httpx.TimeoutException():
            return f"did not answer within {seconds:g} seconds"
        case httpx.ProxyError():
            return "can't be reached: the proxy refused"
        case httpx.ConnectError():
            return f"can't be reached ({error})"
        case httpx.InvalidURL() | httpx.UnsupportedProtocol() | httpx.LocalProtocolError() | ValueError():
            return "can't be asked: its address is not valid"
    return "closed the connection before it had answered"


@cache
def _certificates() -> ssl.SSLContext:
    """Loaded once: it takes some 20 ms."""
    return httpx.create_ssl_context()
