"""What is refused, as a status and a sentence for whoever asked, and how each of our own failures is told.

A browser that wants a page gets a page, everybody else JSON. Nobody is shown a stack trace.
"""

import structlog
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from opspilot.core.errors import JournalError, OpsPilotError, Unreachable, UsageError
from opspilot.texts.language import text
from opspilot.web.own_paths import own_path
from opspilot.web.rendering import is_partial, page, plain_page

log = structlog.stdlib.get_logger("web")


class Refused(Exception):
    """A request that is not done, with what whoever asked is told. `code` is for programs."""

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}


class SignInNeeded(Refused):
    """Nobody knows who this is."""

    def __init__(self, message: str = "") -> None:
        super().__init__(
            401,
            "sign_in_needed",
            message or text("web.sign_in.needed"),
            {"WWW-Authenticate": 'Bearer realm="opspilot"'},
        )


class Problem(BaseModel):
    """Why a request was not done."""

    code: str = Field(examples=["settled"])
    message: str = Field(examples=["Alice has approved this already."])


def wants_page(request: Request) -> bool:
    """Whether a person looks at the reply in a browser's window."""
    return not request.url.path.startswith(("/api", "/agui", "/static")) and "text/html" in request.headers.get(
        "accept", ""
    )


def refused_of(error: Exception) -> Refused:
    """The refusal that an error means; for one that nobody foresaw, that there was one."""
    match error:
        case Refused():
            return error
        case OpsPilotError():
            return _ours(error)
        case RequestValidationError():
            return not_understood(error)
        case HTTPException(__cause__=Refused() as cause):
            # What is raised while a body is read reaches us wrapped.
            return cause
        case HTTPException(status_code=404):
            return Refused(404, "not_found", text("web.not_found"))
        case HTTPException(status_code=405):
            return Refused(405, "method_not_allowed", text("web.method"), dict(error.headers or {}))
        case HTTPException():
            return Refused(error.status_code, "refused", str(error.detail), dict(error.headers or {}))
        case _:
            return Refused(500, "failed", text("web.failed"))


def _ours(error: OpsPilotError) -> Refused:
    match error:
        case UsageError():
            return Refused(400, "not_possible", str(error))
        case Unreachable():
            return Refused(503, "unreachable", str(error), {"Retry-After": "5"})
        case JournalError():
            log.warning("the journal failed", why=str(error))
            return Refused(503, "journal", text("web.journal"), {"Retry-After": "5"})
        case _:
            return Refused(500, "failed", str(error))


async def tell(request: Request, error: Exception) -> Response:
    """The reply that tells of an error. Who has to sign in first is led there."""
    refused = refused_of(error)
    if is_partial(request):
        # Above what is there, which stays: somebody may have typed into it.
        where = {"HX-Reswap": "innerHTML" if request.method == "GET" else "afterbegin"}
        return page(
            request, "_refused.html", status=refused.status, headers=where | refused.headers, message=refused.message
        )
    if not wants_page(request):
        problem = Problem(code=refused.code, message=refused.message)
        return JSONResponse(problem.model_dump(), refused.status, refused.headers)
    if isinstance(refused, SignInNeeded) and request.method in {"GET", "HEAD"}:
        return _lead_to_sign_in(request)
    return plain_page(request, refused.message, status=refused.status, headers=refused.headers)


def _lead_to_sign_in(request: Request) -> Response:
    wanted = own_path(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
    if request.headers.get("sec-fetch-site") == "cross-site":
        # A link from elsewhere brings no SameSite=Strict cookie along; the same address again, from here, does.
        return plain_page(request, text("web.one_moment"), again=wanted)
    return RedirectResponse(
        str(request.url_for("sign_in").include_query_params(next=wanted).replace(scheme="", netloc="")), 303
    )


def not_understood(error: RequestValidationError | ValidationError) -> Refused:
    """What the first fault of a request is."""
    fault = error.errors()[0]
    what = f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
    return Refused(422, "not_understood", text("web.not_understood", what=what))
