"""Who makes a request, as the guard has found out, and the ways of finding out."""

from dataclasses import dataclass
from typing import Protocol

from fastapi import APIRouter
from starlette.requests import Request

from opspilot.core.interrupts import Principal
from opspilot.web.people.rights import Right, may


@dataclass(frozen=True)
class Visitor:
    """Who it is. `csrf`: what a request of theirs that changes something has to repeat.

    It is empty where nothing is sent by a browser of its own accord: a program brought a token. `by_request_alone`:
    nobody but their next request can tell whether they have left.
    """

    principal: Principal
    csrf: str = ""
    by_request_alone: bool = False

    def may(self, right: Right) -> bool:
        """Whether some role of theirs gives this right."""
        return may(self.principal, right)

    @property
    def may_ask(self) -> bool:
        """For pages: may they ask?"""
        return self.may(Right.ASK)

    @property
    def may_answer(self) -> bool:
        """For pages: may they answer anything at all?"""
        return self.may(Right.ANSWER)


class Way(Protocol):
    """One way in which people are known, beside tokens that programs bring."""

    @property
    def name(self) -> str:
        """As in `web.auth`."""

    async def known(self, request: Request) -> Visitor | None:
        """Who it is; None: nobody who has signed in. Raises `Refused` for who pretends to be somebody."""

    def routes(self) -> APIRouter:
        """How to sign in and out. Has a route named `sign_in` that takes `next`."""
