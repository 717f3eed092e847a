"""Who has signed in, remembered by their browser: in a cookie that is signed, expires, and that no script can read.

The server keeps only who signed out, until their cookies would have expired anyway.
"""

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

SUBKEY = b"opspilot web sessions"


@dataclass(frozen=True)
class Session:
    """One signing in: its number, and what was remembered of who it was."""

    id: str
    about: dict[str, Any]


class Sessions:
    """`key` is at least 32 bytes; `seconds` is how long a session lasts. `secure`: the server is reached by HTTPS."""

    def __init__(self, key: bytes, seconds: float, *, name: str = "opspilot-session", secure: bool = False) -> None:
        self._key = hmac.new(key, SUBKEY, hashlib.sha256).digest()
        self._signer = URLSafeTimedSerializer(
            self._key, salt="session", signer_kwargs={"digest_method": hashlib.sha256}
        )
        self._seconds = seconds
        self._name = f"__Host-{name}" if secure else name
        self._secure = secure
        self._ended: dict[str, float] = {}

    def begin(self, response: Response, about: dict[str, Any]) -> None:
        """Sign somebody in: `about` is what `read` gives back, as JSON. It is signed, not hidden."""
        value: str = self._signer.dumps([secrets.token_hex(16), about])
        response.set_cookie(
            self._name,
            value,
            max_age=int(self._seconds),
            path="/",
            secure=self._secure,
            httponly=True,
            samesite="strict",
        )

    def read(self, request: Request) -> Session | None:
        """The session that the browser has; None when it has none, or one that is forged, has expired or has ended."""
        cookie = request.cookies.get(self._name)
        if not cookie:
            return None
        try:
            id_, about = self._signer.loads(cookie, max_age=int(self._seconds))
        except (BadSignature, ValueError, TypeError):
            return None
        return None if id_ in self._ended else Session(id_, about)

    def end(self, request: Request, response: Response) -> None:
        """Sign out: the cookie is good no more, also where it was copied to."""
        now = time.time()
        self._ended = {id_: until for id_, until in self._ended.items() if until > now}
        if session := self.read(request):
            self._ended[session.id] = now + self._seconds
        response.delete_cookie(self._name, path="/", secure=self._secure, httponly=True, samesite="strict")

    def csrf(self, bound_to: str) -> str:
        """What proves that a request comes from a page of ours: it is for one session, or one person."""
        return hmac.new(self._key, f"csrf {bound_to}".encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
