"""What the ways of signing in have in common: where one goes on to, and signing out."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from opspilot.texts.language import text
from opspilot.web.own_paths import HOME, own_path
from opspilot.web.people.guard import Anybody
from opspilot.web.people.sessions import Sessions
from opspilot.web.rendering import plain_page


def sign_in(sessions: Sessions, about: dict[str, object], wanted: str) -> Response:
    """Go on, as somebody who is known from now on."""
    response = RedirectResponse(own_path(wanted), 303)
    sessions.begin(response, about)
    return response


def add_sign_out(router: APIRouter, sessions: Sessions) -> None:
    """`POST /sign-out`, and the page that one lands on."""

    @router.post("/sign-out", name="sign_out")
    async def sign_out(request: Request, _: Anybody) -> Response:
        response = RedirectResponse("/signed-out", 303)
        await sessions.end(request, response)
        return response

    @router.get("/signed-out")
    async def signed_out(request: Request) -> Response:
        return plain_page(request, text("web.signed_out"), link=(HOME, text("web.sign_in.again")))
