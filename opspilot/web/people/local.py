"""`auth = "local"`: whoever opens a one-time link that this machine's user was given is that user."""

from collections.abc import Sequence
from pathlib import Path

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from opspilot.access.links import use_link_token
from opspilot.access.local_user import local_principal
from opspilot.texts.language import text
from opspilot.web.people.attempts import Attempts
from opspilot.web.people.rights import VIEWER
from opspilot.web.people.sessions import Sessions
from opspilot.web.people.signing import add_sign_out, sign_in
from opspilot.web.people.visitors import Visitor
from opspilot.web.rendering import plain_page

ABOUT = {"way": "local"}


class Local:
    """`state` is the folder that the links are in, `roles` those of the machine's user."""

    name = "local"

    def __init__(self, state: Path, roles: Sequence[str], sessions: Sessions, attempts: Attempts) -> None:
        self._state = state
        self._principal = local_principal(tuple(dict.fromkeys([VIEWER, *roles])))
        self._sessions = sessions
        self._attempts = attempts

    async def known(self, request: Request) -> Visitor | None:
        """The machine's user, if this browser has signed in."""
        session = await self._sessions.read(request)
        if session is None or session.about != ABOUT:
            return None
        return Visitor(self._principal, self._sessions.csrf(session.id))

    def routes(self) -> APIRouter:
        """`GET /sign-in?token=…`."""
        router = APIRouter(include_in_schema=False)

        @router.get("/sign-in", name="sign_in")
        async def enter(request: Request, token: str = "", next: str = "/") -> Response:
            if token:
                # Whoever has the right one is let in, however often others have tried from the same address.
                if await run_in_threadpool(use_link_token, self._state, token):
                    return sign_in(self._sessions, dict(ABOUT), next)
                self._attempts.check(request)
                self._attempts.failed(request)
            said = text("web.sign_in.used" if token else "web.sign_in.local")
            return plain_page(request, said, status=403 if token else 401)

        add_sign_out(router, self._sessions)
        return router
