"""The one place where a request is let through or not: who it is, whether they meant it, whether they may.

A route says what it needs by the type of a parameter: `who: Looker`, `who: Asker`, `who: Answerer`; `who: Anybody` is
whoever has signed in.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

import structlog
from fastapi import Depends
from starlette.requests import Request

from opspilot.access.tokens import PREFIX, Tokens
from opspilot.core.errors import UsageError
from opspilot.texts.language import text
from opspilot.web.people.forgery import check_meant
from opspilot.web.people.rights import Right
from opspilot.web.people.visitors import Visitor, Way
from opspilot.web.refusing import Refused, SignInNeeded

log = structlog.stdlib.get_logger("web")

BEARER = f"Bearer {PREFIX}"


class People:
    """How people are known here: by tokens, which programs bring, and in one way more. `public_url` is our origin."""

    def __init__(self, way: Way, tokens: Tokens, public_url: str = "") -> None:
        self.way = way
        self.tokens = tokens
        self.public_url = public_url

    async def known(self, request: Request) -> Visitor | None:
        """Who it is; None: nobody knows. Raises `Refused` for a token that is none of ours."""
        bearer = request.headers.get("authorization", "")
        if not bearer.startswith(BEARER):
            return await self.way.known(request)
        try:
            token = await asyncio.to_thread(self.tokens.find, bearer.removeprefix("Bearer ").strip())
        except UsageError as error:
            raise unreadable(error) from None
        if token is None:
            raise SignInNeeded(text("web.sign_in.no_token"))
        return Visitor(token.principal)


def unreadable(error: UsageError) -> Refused:
    """The file of tokens can't be used: why, and where it is, is nobody's business but the log's."""
    log.warning("tokens can't be read", why=str(error))
    return Refused(503, "tokens", text("web.tokens"))


def people_of(request: Request) -> People:
    """The people of the application that serves this request."""
    people = request.app.state.people
    assert isinstance(people, People)
    return people


async def _anybody(request: Request) -> Visitor:
    people = people_of(request)
    visitor = await people.known(request)
    if visitor is None:
        raise SignInNeeded
    await check_meant(request, visitor, people.public_url)
    request.state.visitor = visitor
    return visitor


Anybody = Annotated[Visitor, Depends(_anybody)]


def _who_may(right: Right) -> Callable[[Visitor], Awaitable[Visitor]]:
    async def check(visitor: Anybody) -> Visitor:
        if not visitor.may(right):
            raise Refused(403, "not_allowed", text(f"web.may_not.{right.value}"))
        return visitor

    return check


Looker = Annotated[Visitor, Depends(_who_may(Right.LOOK))]
Asker = Annotated[Visitor, Depends(_who_may(Right.ASK))]
Answerer = Annotated[Visitor, Depends(_who_may(Right.ANSWER))]
