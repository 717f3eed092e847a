"""Pages: the one environment of the templates, and what every page may use. Knows nothing of what pages show.

Whatever a template prints is escaped. A page may use `text` and `counted` (the catalogue), what `showing` offers,
`language` ("en" or "zh"), `visitor` (who looks, or None) and `request`.
"""

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from opspilot.texts.language import counted, spoken, text
from opspilot.web.prose import prose
from opspilot.web.showing import FOR_TEMPLATES, finished

TEMPLATES = Path(__file__).parent / "templates"

environment = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=finished,
)


def fresh_id() -> str:
    """For a form: whoever sends it twice means it once."""
    return uuid.uuid4().hex


environment.globals |= {"fresh_id": fresh_id, "text": text, "counted": counted, "prose": prose, **FOR_TEMPLATES}


def is_partial(request: Request) -> bool:
    """Whether htmx asks, for a part of a page."""
    return request.headers.get("hx-request") == "true"


def page(
    request: Request, template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any
) -> HTMLResponse:
    """A template as a reply. Who looks is taken from the request, where the guard has left them."""
    return HTMLResponse(part(request, template, **values), status, dict(headers or {}))


def part(request: Request, template: str, **values: Any) -> str:
    """A template as HTML, such as for one of many pieces of a page."""
    known = {"request": request, "visitor": getattr(request.state, "visitor", None), "language": spoken().value}
    return environment.get_template(template).render(known | values)


def plain_page(
    request: Request,
    message: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    again: str = "",
    link: tuple[str, str] | None = None,
) -> HTMLResponse:
    """A page with one sentence. `again` is an address that it goes on to by itself, `link` one to go to, with words."""
    return page(request, "plain.html", status=status, headers=headers, message=message, again=again, link=link)
