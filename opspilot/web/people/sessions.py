"""Who has signed in, remembered by their browser: in a cookie that is signed, expires, and that no script can read.

What is kept here is only who signed out: in the journal, so that it holds after a restart, and on every web server.
"""

import asyncio
import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from opspilot.sections.web import MOST_SESSION_MINUTES

SUBKEY = b"opspilot web sessions"
CHECK_SECONDS = 2.0
"""For so long nobody is looked up again: by then who signed out at another server is out here, too."""
MOST_LOOKED_UP = 10_000


class SignOuts(Protocol):
    """Where is kept who signed out: the journal. Both raise `JournalError`, and may wait for the disk."""

    def sign_out(self, id: str, now: datetime, until: datetime) -> None:
        """Remember until then that this one has signed out."""

    def is_signed_out(self, id: str) -> bool:
        """Whether this one has."""


@dataclass(frozen=True)
class Session:
    """One signing in: its number, and what was remembered of who it was."""

    id: str
    about: dict[str, Any]


class Sessions:
    """`key` is at least 32 bytes; `seconds` is how long a session lasts. `secure`: the server is reached by HTTPS."""

    def __init__(
        self,
        key: bytes,
        seconds: float,
        sign_outs: SignOuts,
        *,
        name: str = "opspilot-session",
        secure: bool = False,
    ) -> None:
        self._key = hmac.new(key, SUBKEY, hashlib.sha256).digest()
        self._signer = URLSafeTimedSerializer(
            self._key, salt="session", signer_kwargs={"digest_method": hashlib.sha256}
        )
        self._seconds = seconds
        self._name = f"__Host-{name}" if secure else name
        self._secure = secure
        self._sign_outs = sign_outs
        self._ended: set[str] = set()
        self._good_until: dict[str, float] = {}

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

    async def read(self, request: Request) -> Session | None:
        """The session that the browser has; None when it has none, or one that is forged, has expired or has ended.

        Raises `JournalError` when nobody can tell whether it has ended.
        """
        cookie = request.cookies.get(self._name)
        if not cookie:
            return None
        try:
            id_, about = self._signer.loads(cookie, max_age=int(self._seconds))
        except (BadSignature, ValueError, TypeError):
            return None
        return None if await self._has_ended(id_) else Session(id_, about)

    async def end(self, request: Request, response: Response) -> None:
        """Sign out: the cookie is good no more, also where it was copied to. Raises `JournalError`, and it still is."""
        if session := await self.read(request):
            now = datetime.now(UTC)
            # Not by our own setting: it may be another one tomorrow, or at another server.
            until = now + timedelta(minutes=MOST_SESSION_MINUTES)
            await asyncio.to_thread(self._sign_outs.sign_out, session.id, now, until)
            self._ended.add(session.id)
        response.delete_cookie(self._name, path="/", secure=self._secure, httponly=True, samesite="strict")

    async def _has_ended(self, id_: str) -> bool:
        now = time.monotonic()
        if id_ not in self._ended and self._good_until.get(id_, now) <= now:
            if max(len(self._ended), len(self._good_until)) >= MOST_LOOKED_UP:
                self._ended.clear()
                self._good_until.clear()
            if await asyncio.to_thread(self._sign_outs.is_signed_out, id_):
                self._ended.add(id_)
            self._good_until[id_] = now + CHECK_SECONDS
        # Whoever signed out meanwhile is out, whatever was found before.
        return id_ in self._ended

    def csrf(self, bound_to: str) -> str:
        """What proves that a request comes from a page of ours: it is for one session, or one person."""
        return hmac.new(self._key, f"csrf {bound_to}".encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
