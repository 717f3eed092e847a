"""The section `[web]`: where the web UI and its API are served, and how people are known there."""

import ipaddress
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from opspilot.core.errors import UsageError
from opspilot.sections.section import Section, Word
from opspilot.settings_errors import Origin
from opspilot.texts.language import text

Auth: TypeAlias = Literal["local", "oidc", "proxy", "token"]
Header: TypeAlias = Annotated[str, Field(pattern=r"^[\w.:-]{1,100}$")]

MOST_SESSION_MINUTES = 7 * 24 * 60
Minutes: TypeAlias = Annotated[float, Field(gt=0, le=MOST_SESSION_MINUTES, allow_inf_nan=False)]

DEFAULT_PORT = 8321


class ProxySettings(Section):
    """`auth = "proxy"`: a server in front has signed people in, and says in headers who they are.

    Headers count from `addresses` alone (IP addresses or networks such as `10.0.0.0/8`); `groups` are separated by
    commas. The defaults are those of oauth2-proxy with `--pass-user-headers`.
    """

    addresses: tuple[str, ...] = ()
    user_header: Header = "X-Forwarded-User"
    name_header: Header = "X-Forwarded-Preferred-Username"
    groups_header: Header = "X-Forwarded-Groups"


class OidcSettings(Section):
    """`auth = "oidc"`: people sign in with an OpenID Connect provider (authorization code with PKCE).

    The secret comes from `OPSPILOT_WEB__OIDC__CLIENT_SECRET` or a file; a public client has none. The claims say where
    in the ID token a person's id, name and groups are.
    """

    issuer: str = ""
    client_id: str = ""
    client_secret: SecretStr | None = None
    client_secret_file: Path | None = None
    scopes: str = "openid profile email"
    user_claim: Header = "sub"
    name_claim: Header = "name"
    groups_claim: Header = "groups"


class WebSettings(Section):
    """The web server. Without `auth` it is `local` for the local stack and `token` elsewhere.

    `url` is the address by which people reach it: also where the command line sends answers outside local mode.
    `console` is that of Temporal's web console, for links to runs.
    `groups` says which roles the people of a group have (`proxy` and `oidc`), `everyone` those of all who sign in.
    """

    auth: Auth | None = None
    host: Annotated[str, Field(min_length=1, max_length=200)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = DEFAULT_PORT
    url: str = ""
    console: str = ""
    tokens_file: Path | None = None
    session_minutes: Minutes = 12 * 60
    groups: dict[str, tuple[Word, ...]] = Field(default_factory=dict)
    everyone: tuple[Word, ...] = ()
    proxy: ProxySettings = ProxySettings()
    oidc: OidcSettings = OidcSettings()

    @property
    def mode(self) -> Auth:
        """How people are known here. A process that belongs to the local stack is told so by `auth`."""
        return self.auth or "token"


LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def resolve_web(web: WebSettings, base: Path, state_dir: Path, origin: Origin) -> WebSettings:
    """Make paths absolute, fetch the provider's secret, and refuse what only the whole can show to be wrong."""
    if web.url and not _is_origin(web.url):
        raise UsageError(text("settings.web.url", where=origin.where("web", "url")))
    if web.auth == "local" and web.host not in LOOPBACK:
        raise UsageError(text("settings.web.loopback", where=origin.where("web", "host")))
    for address in web.proxy.addresses:
        try:
            ipaddress.ip_network(address)
        except ValueError:
            raise UsageError(
                text("settings.web.address", where=origin.where("web", "proxy", "addresses"), address=repr(address))
            ) from None
    if web.auth == "proxy" and not web.proxy.addresses:
        raise UsageError(text("settings.web.no_addresses", where=origin.where("web", "proxy", "addresses")))
    oidc = web.oidc
    if web.auth == "oidc":
        for name, there in (("issuer", oidc.issuer), ("client_id", oidc.client_id)):
            if not there:
                raise UsageError(text("settings.web.oidc", where=origin.where("web", "oidc", name)))
        if not web.url:
            raise UsageError(text("settings.web.oidc_url", where=origin.where("web", "url")))
        if not _is_safe(oidc.issuer):
            raise UsageError(text("settings.web.issuer", where=origin.where("web", "oidc", "issuer")))
    if oidc.client_secret_file is not None and oidc.client_secret is None:
        secret = _read_secret(base / oidc.client_secret_file.expanduser(), origin)
        oidc = oidc.model_copy(update={"client_secret": secret})
    tokens = base / web.tokens_file.expanduser() if web.tokens_file else state_dir / "tokens.json"
    return web.model_copy(update={"tokens_file": tokens, "oidc": oidc})


def _is_origin(url: str) -> bool:
    """`https://ops.example.com`: cookies, and what a browser calls the origin of a request, know no more than that."""
    parts = urlsplit(url)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and url == f"{parts.scheme}://{parts.netloc}"


def _is_safe(issuer: str) -> bool:
    parts = urlsplit(issuer)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


def _read_secret(path: Path, origin: Origin) -> SecretStr:
    try:
        secret = path.read_bytes().decode().strip()
    except (OSError, ValueError):
        where = origin.where("web", "oidc", "client_secret_file")
        raise UsageError(text("settings.key_file.unreadable", where=where, path=path)) from None
    return SecretStr(secret)
