"""From settings to the way in which people are known, with what it needs."""

from collections.abc import Sequence
from pathlib import Path

from opspilot.access.key_file import WEB_KEY, load_or_make_key
from opspilot.access.tokens import Tokens
from opspilot.sections.web import WebSettings
from opspilot.web.people.attempts import Attempts
from opspilot.web.people.guard import People
from opspilot.web.people.local import Local
from opspilot.web.people.oidc import Oidc
from opspilot.web.people.proxy import Proxy
from opspilot.web.people.sessions import Sessions, SignOuts
from opspilot.web.people.token import ByToken
from opspilot.web.people.visitors import Way


def people(
    web: WebSettings,
    state: Path,
    local_roles: Sequence[str],
    sign_outs: SignOuts,
    *,
    approval_key: bytes | None,
    port: int,
) -> People:
    """Who can be known, and how. Several servers that share an approval key share their sessions, too.

    `sign_outs` is the journal, which keeps who signed out;
    `state` is the folder of links and of the key that signs sessions, `local_roles` are those of the machine's user;
    `port` is the one that is served: browsers don't tell cookies of one host's ports apart. Raises `UsageError`.
    """
    assert web.tokens_file is not None
    tokens, attempts = Tokens(web.tokens_file), Attempts()
    key = approval_key or load_or_make_key(state / WEB_KEY)
    secure = web.url.startswith("https://")
    sessions = Sessions(key, web.session_minutes * 60, sign_outs, name=_cookie(web.url, port), secure=secure)

    def roles_of(groups: Sequence[str]) -> tuple[str, ...]:
        roles = [role for group in groups for role in web.groups.get(group, ())]
        return tuple(dict.fromkeys([*web.everyone, *roles]))

    way: Way
    match web.mode:
        case "local":
            way = Local(state, local_roles, sessions, attempts)
        case "token":
            way = ByToken(tokens, sessions, attempts, web.url)
        case "proxy":
            way = Proxy(web.proxy, roles_of, sessions)
        case "oidc":
            way = Oidc(web.oidc, roles_of, sessions, attempts, web.url)
    return People(way, tokens, web.url)


def _cookie(url: str, port: int) -> str:
    return "opspilot-session" if url else f"opspilot-session-{port}"
