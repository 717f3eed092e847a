"""`/api/me`: who one is here, and what one may do."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from opspilot.web.people.guard import Anybody
from opspilot.web.people.rights import Right

router = APIRouter(tags=["people"])


class Me(BaseModel):
    """Who made the request. `csrf`: to be sent as `X-CSRF-Token` with what changes something; programs need none."""

    id: str = Field(examples=["alice"])
    name: str = Field(examples=["Alice"])
    roles: tuple[str, ...] = Field(examples=[["viewer", "approver"]])
    method: str = Field(examples=["oidc"])
    rights: tuple[Right, ...]
    csrf: str


@router.get("/me")
async def me(who: Anybody) -> Me:
    """Who made this request."""
    person = who.principal
    rights = tuple(right for right in Right if who.may(right))
    return Me(id=person.id, name=person.name, roles=person.roles, method=person.method, rights=rights, csrf=who.csrf)
