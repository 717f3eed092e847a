"""`auth = "token"`: a person signs in with a token as programs have them; when it is removed, they are signed out."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from opspilot.access.tokens import Tokens
from opspilot.core.errors import UsageError
from opspilot.texts.language import text
from opspilot.web.own_paths import own_path
from opspilot.web.people.attempts import Attempts
from opspilot.web.people.forgery import check_origin
from opspilot.web.people.guard import unreadable
from opspilot.web.people.sessions import Sessions
from opspilot.web.people.signing import add_sign_out, sign_in
from opspilot.web.people.visitors import Visitor
from opspilot.web.rendering import page


class ByToken:
    """The tokens that are known, and the server's public address."""

    name = "token"

    def __init__(self, tokens: Tokens, sessions: Sessions, attempts: Attempts, public_url: str) -> None:
        self._tokens = tokens
        self._sessions = sessions
        self._attempts = attempts
        self._public_url = public_url

    async def known(self, request: Request) -> Visitor | None:
        """Whose token this browser has signed in with, as long as it is known."""
        session = await self._sessions.read(request)
        if session is None or not isinstance(session.about.get("sha256"), str):
            return None
        try:
            token = await run_in_threadpool(self._tokens.by_hash, session.about["sha256"])
        except UsageError as error:
            raise unreadable(error) from None
        return None if token is None else Visitor(token.principal, self._sessions.csrf(session.id))

    def routes(self) -> APIRouter:
        """A form for the token."""
        router = APIRouter(include_in_schema=False)

        @router.get("/sign-in", name="sign_in")
        async def form(request: Request, next: str = "/") -> Response:
            return _form(request, text("web.sign_in.needed"), next, 200)

        @router.post("/sign-in")
        async def enter(
            request: Request,
            token: Annotated[str, Form(max_length=200)],
            next: Annotated[str, Form()] = "/",
        ) -> Response:
            check_origin(request, self._public_url)
            try:
                found = await run_in_threadpool(self._tokens.find, token.strip())
            except UsageError as error:
                raise unreadable(error) from None
            if found is None:
                # Whoever has a right one is let in, however often others have tried behind the same address.
                self._attempts.check(request)
                self._attempts.failed(request)
                return _form(request, text("web.sign_in.no_token"), next, 403)
            return sign_in(self._sessions, {"sha256": found.sha256}, next)

        add_sign_out(router, self._sessions)
        return router


def _form(request: Request, message: str, wanted: str, status: int) -> Response:
    return page(request, "sign_in.html", status=status, message=message, next=own_path(wanted), again="", link=None)
