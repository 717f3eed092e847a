"""`auth = "oidc"`: people sign in with an OpenID Connect provider: authorization code with PKCE, done by Authlib.

The ID token (signature, issuer, audience, nonce and expiry are checked there) says who it is; groups become roles.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx2
import structlog
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.starlette_client import OAuth
from fastapi import APIRouter
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.responses import Response

from opspilot.core.interrupts import Principal
from opspilot.sections.web import OidcSettings
from opspilot.texts.language import text
from opspilot.web.own_paths import own_path
from opspilot.web.people.attempts import Attempts
from opspilot.web.people.sessions import Sessions
from opspilot.web.people.signing import add_sign_out
from opspilot.web.people.visitors import Visitor
from opspilot.web.refusing import Refused
from opspilot.web.rendering import plain_page

log = structlog.stdlib.get_logger("web")

SIGNING_IN_SECONDS = 600
"""How long somebody may take at the provider."""
CALLBACK = "/sign-in/callback"
MOST_CHARACTERS = 200


class Oidc:
    """`public_url` is where the provider sends people back to; `roles_of` maps groups to roles."""

    name = "oidc"

    def __init__(
        self,
        oidc: OidcSettings,
        roles_of: Callable[[Sequence[str]], tuple[str, ...]],
        sessions: Sessions,
        attempts: Attempts,
        public_url: str,
    ) -> None:
        self._oidc = oidc
        self._roles_of = roles_of
        self._sessions = sessions
        self._attempts = attempts
        self._callback = public_url + CALLBACK
        secret = oidc.client_secret
        self._provider = OAuth().register(
            "provider",
            client_id=oidc.client_id,
            client_secret=secret.get_secret_value() if secret else None,
            server_metadata_url=f"{oidc.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={"scope": oidc.scopes, "code_challenge_method": "S256"},
        )

    @property
    def state_key(self) -> str:
        """Signs what a browser remembers while somebody is at the provider; the same for servers that share a key."""
        return self._sessions.csrf("at the provider")

    async def known(self, request: Request) -> Visitor | None:
        """Who signed in with this browser."""
        session = await self._sessions.read(request)
        if session is None or session.about.get("way") != self.name:
            return None
        about = session.about
        who = Principal(about["id"], about["name"], tuple(about["roles"]), self.name)
        return Visitor(who, self._sessions.csrf(session.id))

    def routes(self) -> APIRouter:
        """To the provider, and back."""
        router = APIRouter(include_in_schema=False)

        @router.get("/sign-in", name="sign_in")
        async def leave(request: Request, next: str = "/") -> Response:
            request.session["next"] = own_path(next)
            try:
                to_provider: Response = await self._provider.authorize_redirect(request, self._callback)
            except (httpx2.HTTPError, AuthlibBaseError, ValueError) as error:
                raise self._silent(error) from None
            return to_provider

        @router.get(CALLBACK)
        async def come_back(request: Request) -> Response:
            wanted = own_path(str(request.session.get("next", "/")))
            try:
                token = await self._provider.authorize_access_token(request)
            except (AuthlibBaseError, JoseError) as error:
                # Whoever comes with a right one is let in, however often others have tried behind the same address.
                self._attempts.check(request)
                self._attempts.failed(request)
                log.warning("signing in failed", why=type(error).__name__, error=getattr(error, "error", ""))
                return plain_page(
                    request, text("web.sign_in.failed"), status=403, link=("/", text("web.sign_in.again"))
                )
            except (httpx2.HTTPError, ValueError) as error:
                raise self._silent(error) from None
            who = self._principal(token.get("userinfo") or {})
            # From the provider's page no SameSite=Strict cookie comes along: a page of ours has to go on.
            response = plain_page(request, text("web.one_moment"), again=wanted)
            about = {"way": self.name, "id": who.id, "name": who.name, "roles": list(who.roles)}
            request.session.clear()
            self._sessions.begin(response, about)
            return response

        add_sign_out(router, self._sessions)
        return router

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        id_ = claims.get(self._oidc.user_claim)
        if not isinstance(id_, str) or not 0 < len(id_) <= MOST_CHARACTERS or not id_.isprintable():
            raise Refused(403, "no_name", text("web.oidc.claim", claim=self._oidc.user_claim))
        # Many providers let people write any address into their profile, and say only here whether it is theirs.
        if self._oidc.user_claim == "email" and claims.get("email_verified") is not True:
            raise Refused(403, "not_verified", text("web.oidc.unverified", email=id_))
        groups = claims.get(self._oidc.groups_claim) or []
        listed = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        name = str(claims.get(self._oidc.name_claim) or id_)[:MOST_CHARACTERS]
        return Principal(id_, name, self._roles_of([str(group) for group in listed]), self.name)

    def _silent(self, error: Exception) -> Refused:
        log.error("the provider can't be used", issuer=self._oidc.issuer, why=str(error) or type(error).__name__)
        return Refused(503, "provider", text("web.oidc.silent"), {"Retry-After": "10"})
