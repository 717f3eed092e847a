"""`/api`: what the HTTP API offers, as a page. The whole description for programs is `/api/openapi.json`."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from opspilot.web.people.guard import Anybody
from opspilot.web.rendering import page

router = APIRouter()


@dataclass(frozen=True)
class Endpoint:
    """One address with one method, and what it does: the first line of its description."""

    method: str
    path: str
    does: str


@router.get("/api")
async def show_endpoints(request: Request, _: Anybody) -> Response:
    """The endpoints, as the application describes them to programs."""
    description = request.app.openapi()
    return page(request, "endpoints.html", endpoints=endpoints_of(description))


def endpoints_of(description: dict[str, Any]) -> list[Endpoint]:
    """What an OpenAPI description lists, in its order."""
    return [
        Endpoint(method.upper(), path, str(operation.get("description") or "").partition("\n")[0])
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
    ]
