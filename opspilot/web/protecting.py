"""What holds for every request and reply: headers, the host's name, the size of a body, an error nobody foresaw.

Such an error is logged, and told in a sentence.
"""

from collections.abc import Collection

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from opspilot.texts.language import text
from opspilot.web.refusing import Refused, tell

log = structlog.stdlib.get_logger("web")

MOST_BODY_BYTES = 1024 * 1024
"""A question may have 256 KiB; as JSON with every character escaped it is still smaller than this."""
MOST_CONVERSATION_BYTES = 16 * 1024 * 1024
"""Of a request that repeats the whole conversation, as that protocol wants it."""
MOST_DIGITS = 18
"""Of a length that somebody declares: one with more is too large, and may be no number to Python any more."""
REPEATING = frozenset({"/agui"})

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`: with that a browser hides the origin of forms, too, and it is what tells them from forgeries.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
YEAR_SECONDS = 365 * 86_400


class Protection:
    """Wraps the whole application. `hosts`: the names that we go by, empty for any; `https`: we are reached by it."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str] = (), https: bool = False) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._headers = dict(HEADERS)
        if https:
            self._headers["Strict-Transport-Security"] = f"max-age={YEAR_SECONDS}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        begun = False

        async def protected_send(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                # Files are asked for anew each time, and sent only when they have changed.
                headers.setdefault("Cache-Control", "no-cache" if scope["path"].startswith("/static/") else "no-store")
            await send(message)

        try:
            self._check_host(scope)
            _check_address(scope)
            await self._app(scope, _bounded(scope, receive), protected_send)
        except Exception as error:
            if not isinstance(error, Refused):
                log.exception("a request failed", method=scope["method"], path=scope["path"])
            if begun:
                raise
            response = await tell(request, error)
            await response(scope, receive, protected_send)

    def _check_host(self, scope: Scope) -> None:
        """A name of somebody else's that leads to this machine must not lead into it (DNS rebinding)."""
        host = Headers(scope=scope).get("host", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if self._hosts and name.strip("[]").lower() not in self._hosts:
            raise Refused(421, "host", text("web.host", host=repr(host[:200])))


def _check_address(scope: Scope) -> None:
    """Nothing here has a NUL in its name, and some databases fail when they are asked for it."""
    if "\0" in scope["path"]:
        raise Refused(404, "not_found", text("web.not_found"))
    if b"%00" in scope["query_string"]:
        raise Refused(422, "not_understood", text("web.not_understood", what="%00"))


def _bounded(scope: Scope, receive: Receive) -> Receive:
    most = MOST_CONVERSATION_BYTES if scope["path"] in REPEATING else MOST_BODY_BYTES
    declared = Headers(scope=scope).get("content-length", "")
    if declared.isdecimal() and (len(declared) > MOST_DIGITS or int(declared) > most):
        raise _too_large(most)
    read = 0

    async def bounded() -> Message:
        nonlocal read
        message = await receive()
        if message["type"] == "http.request":
            read += len(message.get("body", b""))
            if read > most:
                raise _too_large(most)
        return message

    return bounded


def _too_large(most: int) -> Refused:
    return Refused(413, "too_large", text("web.too_large", most=f"{most:,}"), {"Connection": "close"})
