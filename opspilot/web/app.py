"""The application: what is served, behind what protection. Made of parts that are handed in; reads no settings."""

from collections.abc import Collection
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from opspilot.core.errors import OpsPilotError
from opspilot.web.agui import route as agui
from opspilot.web.api import answers, interrupts, me, numbers, runs, sessions, stream
from opspilot.web.backend import Backend
from opspilot.web.pages import PAGES
from opspilot.web.pages.waiting import count_waiting
from opspilot.web.people.guard import People
from opspilot.web.people.oidc import SIGNING_IN_SECONDS, Oidc
from opspilot.web.protecting import Protection
from opspilot.web.refusing import Problem, Refused, tell
from opspilot.web.speaking import Speaking

STATIC = Path(__file__).parent / "static"

API: tuple[APIRouter, ...] = (
    me.router,
    interrupts.router,
    answers.router,
    sessions.router,
    runs.router,
    stream.router,
    numbers.router,
)
ABOUT = (
    "Ask OpsPilot, look on, and answer what it asks. A program sends its token as `Authorization: Bearer ops_…`; a "
    "browser's session is accepted with the `X-CSRF-Token` that `/api/me` gives."
)


def create_app(backend: Backend, people: People, *, hosts: Collection[str] = ()) -> FastAPI:
    """Everything that is served. `hosts`: the names that we may be called by, empty for any."""
    app = FastAPI(
        title="OpsPilot",
        version="1",
        description=ABOUT,
        openapi_url="/api/openapi.json",
        # Their pages take scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        responses={401: {"model": Problem}, 403: {"model": Problem}, 422: {"model": Problem}},
    )
    app.state.backend = backend
    app.state.people = people
    app.state.hosts = hosts
    for router in API:
        app.include_router(router, prefix="/api")
    app.include_router(agui.router)
    app.include_router(people.way.routes())
    for router in PAGES:
        app.include_router(router, include_in_schema=False, dependencies=[Depends(count_waiting)])
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    for error in (Refused, OpsPilotError, RequestValidationError, HTTPException):
        app.add_exception_handler(error, _tell)
    https = people.public_url.startswith("https://")
    if isinstance(people.way, Oidc):
        # Only while somebody is at the provider; who has signed in is remembered elsewhere.
        app.add_middleware(
            SessionMiddleware,
            secret_key=people.way.state_key,
            session_cookie="opspilot-signing-in",
            max_age=SIGNING_IN_SECONDS,
            path="/sign-in",
            same_site="lax",
            https_only=https,
        )
    app.add_middleware(Protection, hosts=hosts, https=https)
    app.add_middleware(Speaking)
    return app


async def _tell(request: Request, error: Exception) -> Response:
    return await tell(request, error)
