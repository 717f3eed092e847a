"""Did they mean it: what a browser may have been made to send by another server's page is refused.

A request that changes something, with credentials that a browser sends by itself, has to show that a page of ours made
it: by its origin, and by repeating what only such a page could read.
"""

import hmac
from urllib.parse import urlsplit

from starlette.datastructures import UploadFile
from starlette.requests import Request

from opspilot.texts.language import text
from opspilot.web.people.visitors import Visitor
from opspilot.web.refusing import Refused

HEADER = "X-CSRF-Token"
FIELD = "csrf"
HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


async def check_meant(request: Request, visitor: Visitor, public_url: str) -> None:
    """Raises `Refused` for a request that a page of another server may have made."""
    if request.method in HARMLESS or not visitor.csrf:
        return
    check_origin(request, public_url)
    given = request.headers.get(HEADER) or await _field(request)
    if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), visitor.csrf.encode()):
        raise Refused(403, "csrf", text("web.csrf.token", header=HEADER))


def check_origin(request: Request, public_url: str) -> None:
    """Raises `Refused` when the page that made this request is another server's."""
    origin = request.headers.get("origin")
    if origin is None or origin == public_url:
        return
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if origin != own or not urlsplit(own).netloc:
        raise Refused(403, "origin", text("web.csrf.origin", origin=repr(origin[:200])))


async def _field(request: Request) -> str:
    if not request.headers.get("content-type", "").startswith(FORMS):
        return ""
    # Starlette keeps the form for whoever asks for it next.
    value = (await request.form()).get(FIELD)
    return "" if value is None or isinstance(value, UploadFile) else value
