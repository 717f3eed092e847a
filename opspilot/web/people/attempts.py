"""How often somebody may try to sign in from one address: guessing is hopeless, and trying it is slowed down."""

import time
from collections import deque

from starlette.requests import Request

from opspilot.texts.language import text
from opspilot.web.refusing import Refused

MOST = 20
WITHIN_SECONDS = 60.0
MOST_ADDRESSES = 10_000


class Attempts:
    """Counts failures by the address that a connection comes from."""

    def __init__(self) -> None:
        self._failed: dict[str, deque[float]] = {}

    def check(self, request: Request) -> None:
        """Raises `Refused` when this address has failed too often lately."""
        times = self._failed.get(_address(request))
        while times and times[0] < time.monotonic() - WITHIN_SECONDS:
            times.popleft()
        if times and len(times) >= MOST:
            wait = {"Retry-After": f"{WITHIN_SECONDS:.0f}"}
            raise Refused(429, "too_many_attempts", text("web.too_many_attempts"), wait)

    def failed(self, request: Request) -> None:
        """It was not them."""
        if len(self._failed) >= MOST_ADDRESSES:
            self._failed.clear()
        self._failed.setdefault(_address(request), deque(maxlen=MOST)).append(time.monotonic())


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
