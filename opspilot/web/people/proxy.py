"""`auth = "proxy"`: a server in front has signed people in, and says in headers who they are.

Headers count when the connection comes from a proxy's address. From anywhere else they are a forgery, and refused.
"""

import ipaddress
from collections.abc import Callable, Sequence

import structlog
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from opspilot.core.interrupts import Principal
from opspilot.sections.web import ProxySettings
from opspilot.texts.language import text
from opspilot.web.people.sessions import Sessions
from opspilot.web.people.visitors import Visitor
from opspilot.web.refusing import Refused
from opspilot.web.rendering import plain_page

log = structlog.stdlib.get_logger("web")

MOST_CHARACTERS = 200


class Proxy:
    """`roles_of` maps groups to roles."""

    name = "proxy"

    def __init__(
        self, proxy: ProxySettings, roles_of: Callable[[Sequence[str]], tuple[str, ...]], sessions: Sessions
    ) -> None:
        self._proxy = proxy
        self._networks = [ipaddress.ip_network(address) for address in proxy.addresses]
        self._roles_of = roles_of
        self._sessions = sessions

    async def known(self, request: Request) -> Visitor | None:
        """Who the proxy says it is. Raises `Refused` when somebody else says so, or more than one name is given."""
        names = [self._proxy.user_header, self._proxy.name_header, self._proxy.groups_header]
        if not any(name in request.headers for name in names):
            return None
        if not self._from_proxy(request):
            log.warning("headers of a proxy from another address", address=request.client and request.client.host)
            raise Refused(403, "forged", text("web.proxy.forged"))
        user, name, groups = (_one(request, header) for header in names)
        if not user:
            return None
        roles = self._roles_of([group.strip() for group in groups.split(",") if group.strip()])
        csrf = self._sessions.csrf(f"proxy {user}")
        return Visitor(Principal(user, name or user, roles, "proxy"), csrf, by_request_alone=True)

    def routes(self) -> APIRouter:
        """Signing in and out is the proxy's business."""
        router = APIRouter(include_in_schema=False)

        @router.get("/sign-in", name="sign_in")
        async def elsewhere(request: Request) -> Response:
            return plain_page(request, text("web.sign_in.proxy"), status=401)

        @router.post("/sign-out", name="sign_out")
        async def not_here(request: Request) -> Response:
            return plain_page(request, text("web.sign_out.proxy"))

        return router

    def _from_proxy(self, request: Request) -> bool:
        try:
            address = ipaddress.ip_address(request.client.host if request.client else "")
        except ValueError:
            return False
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return any((mapped or address) in network for network in self._networks)


def _one(request: Request, header: str) -> str:
    values = request.headers.getlist(header)
    if len(values) > 1 or len("".join(values)) > MOST_CHARACTERS * 20:
        # A proxy that adds its header beside one that came from outside tells nothing about who it is.
        raise Refused(403, "forged", text("web.proxy.twice", header=header))
    try:
        return "".join(values).encode("latin-1").decode().strip()
    except UnicodeError:
        raise Refused(400, "not_understood", text("web.proxy.no_text", header=header)) from None
