"""Which language a reply is in: the one that the browser's user likes best of those that we speak."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from opspilot.texts.language import Language, speak


def language_for(accept: str) -> Language:
    """From an `Accept-Language` header (RFC 9110, section 12.5.4), such as `zh-CN,zh;q=0.9,en;q=0.8`; else English."""
    best, liked_most = Language.ENGLISH, 0.0
    for wish in accept.split(","):
        tag, _, quality = wish.strip().partition(";q=")
        try:
            liked = float(quality or 1)
        except ValueError:
            continue
        primary = tag.partition("-")[0].lower()
        if primary in (Language.ENGLISH, Language.CHINESE) and liked > liked_most:
            best, liked_most = Language(primary), liked
    return best


class Speaking:
    """Chooses the language of each request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request in its language."""
        if scope["type"] == "http":
            speak(language_for(Headers(scope=scope).get("accept-language", "")))
        await self._app(scope, receive, send)
