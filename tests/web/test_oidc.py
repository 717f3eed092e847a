"""Signing in with an OpenID Connect provider that nobody here wrote."""

import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import pytest_asyncio
from pydantic import SecretStr
from temporalio.client import Client

from opspilot.sections.web import OidcSettings, WebSettings
from opspilot.web.people.attempts import MOST
from tests.web.stand import URL, Stand

with warnings.catch_warnings():
    # The provider uses an older part of a library that it shares with us.
    warnings.simplefilter("ignore")
    import oidc_provider_mock

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.filterwarnings("ignore:get_jwt_config")]

ANN = oidc_provider_mock.User(
    sub="248289761001",
    claims={"name": "Ann", "email": "ann@ops.test", "email_verified": True, "groups": ["sre", "other"]},
)
UNVERIFIED: list[dict[str, Any]] = [
    {},
    {"verified_email": True},
    *({"email_verified": said} for said in (False, "false", "true", "True", 1, None, [True])),
]
PRETENDERS = {
    f"eve-{number}": {"email": "ann@ops.test", "groups": "sre", **said} for number, said in enumerate(UNVERIFIED)
}
PRETENDING = [oidc_provider_mock.User(sub=sub, claims=claims) for sub, claims in PRETENDERS.items()]
NAMELESS: dict[str, Any] = {
    "none": None, "empty": "", "number": 7, "list": ["ann"], "long": "x" * 201, "bidi": "ann\u202e", "nul": "ann\0",
}  # fmt: skip
NOBODIES = [oidc_provider_mock.User(sub=sub, claims={"nick": nick}) for sub, nick in NAMELESS.items()]


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with oidc_provider_mock.run_server_in_thread(
        user_claims=[ANN, *PRETENDING, *NOBODIES], require_nonce=True
    ) as server:
        yield f"http://localhost:{server.server_port}"


def settings(issuer: str, **more: Any) -> WebSettings:
    oidc = OidcSettings(issuer=issuer, client_id="opspilot", client_secret=SecretStr("hush"), **more)
    return WebSettings(auth="oidc", url=URL, oidc=oidc, groups={"sre": ("operator", "approver")}, everyone=("viewer",))


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path, issuer: str) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path, web=settings(issuer)) as stand:
        yield stand


async def leave(browser: httpx.AsyncClient, wanted: str = "/sessions/a") -> str:
    """Where the provider's page is, to which the browser is sent."""
    response = await browser.get("/sign-in", params={"next": wanted})
    assert response.status_code == 302, response.text
    return response.headers["location"]


async def sign_in(provider: str, **form: str) -> str:
    """Where the provider's page sends the browser back to."""
    async with httpx.AsyncClient() as client:
        response = await client.post(provider, data=form)
    assert response.status_code == 302, response.text
    return response.headers["location"]


async def test_who_signs_in_there_is_known_here_with_the_roles_of_their_groups(stand: Stand) -> None:
    browser = await stand.anybody(Origin=URL)
    back = await sign_in(await leave(browser), sub=ANN.sub)
    assert back.startswith(f"{URL}/sign-in/callback?")
    page = await browser.get(back)
    assert (page.status_code, 'content="0;url=/sessions/a"' in page.text) == (200, True)
    assert "samesite=strict" in page.headers["set-cookie"].lower()

    me = (await browser.get("/api/me")).json()
    assert (me["id"], me["name"], me["method"]) == (ANN.sub, "Ann", "oidc")
    assert me["roles"] == ["viewer", "operator", "approver"]

    out = await browser.post("/sign-out", headers={"X-CSRF-Token": me["csrf"]})
    assert (out.status_code, (await browser.get("/api/me")).status_code) == (303, 401)


async def test_the_code_alone_is_worth_nothing_it_takes_what_only_this_browser_and_server_know(stand: Stand) -> None:
    browser, thief = await stand.anybody(), await stand.anybody()
    provider = await leave(browser)
    asked = parse_qs(urlsplit(provider).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert {"code_challenge", "state", "nonce"} <= asked.keys()
    back = await sign_in(provider, sub=ANN.sub)
    stolen = await thief.get(back)
    assert (stolen.status_code, "set-cookie" in stolen.headers) == (403, False)
    assert (await thief.get("/api/me")).status_code == 401
    for forged in (back.replace("state=", "state=x"), back.replace("code=", "code=x")):
        assert (await browser.get(forged)).status_code == 403
    assert (await browser.get("/api/me")).status_code == 401


async def test_a_code_is_good_once(stand: Stand) -> None:
    browser = await stand.anybody()
    back = await sign_in(await leave(browser), sub=ANN.sub)
    assert (await browser.get(back)).status_code == 200
    assert (await browser.get(back)).status_code == 403


async def test_who_is_refused_there_is_told_so_here(stand: Stand) -> None:
    browser = await stand.anybody()
    back = await sign_in(await leave(browser), action="deny")
    page = await browser.get(back)
    assert (page.status_code, "Signing in did not work." in page.text) == (403, True)


async def test_an_address_counts_when_the_provider_says_true_and_else_names_nobody(
    temporal: Client, tmp_path: Path, issuer: str
) -> None:
    async with Stand(temporal, tmp_path, web=settings(issuer, user_claim="email")) as stand:
        for sub in PRETENDERS:
            eve = await stand.anybody(Accept="text/html")
            page = await eve.get(await sign_in(await leave(eve), sub=sub))
            assert (page.status_code, "opspilot-session" in page.headers["set-cookie"]) == (403, False), sub
            assert "does not say that ann@ops.test is verified" in page.text
            assert "web.oidc.user_claim" in page.text
            assert (await eve.get("/api/me")).status_code == 401
        ann = await stand.anybody()
        await ann.get(await sign_in(await leave(ann), sub=ANN.sub))
        assert (await ann.get("/api/me")).json()["id"] == "ann@ops.test"


async def test_what_is_no_name_names_nobody(temporal: Client, tmp_path: Path, issuer: str) -> None:
    async with Stand(temporal, tmp_path, web=settings(issuer, user_claim="nick")) as stand:
        for sub in NAMELESS:
            browser = await stand.anybody()
            assert (await browser.get(await sign_in(await leave(browser), sub=sub))).status_code == 403, sub
            assert (await browser.get("/api/me")).status_code == 401


async def test_a_claim_that_is_not_there_names_nobody(temporal: Client, tmp_path: Path, issuer: str) -> None:
    async with Stand(temporal, tmp_path, web=settings(issuer, user_claim="employee")) as stand:
        browser = await stand.anybody()
        page = await browser.get(await sign_in(await leave(browser), sub=ANN.sub))
        assert (page.status_code, "(claim employee)" in page.text) == (403, True)


async def test_a_provider_that_is_away_is_said(temporal: Client, tmp_path: Path) -> None:
    async with Stand(temporal, tmp_path, web=settings("http://localhost:1")) as stand:
        page = await (await stand.anybody(Accept="text/html")).get("/sign-in")
    assert (page.status_code, "does not answer" in page.text) == (503, True)


async def test_one_leads_nowhere_else_after_signing_in(stand: Stand) -> None:
    browser = await stand.anybody()
    page = await browser.get(await sign_in(await leave(browser, "https://evil.test/"), sub=ANN.sub))
    assert 'content="0;url=/"' in page.text


async def test_guessing_at_codes_is_slowed_down_and_keeps_nobody_out_who_comes_with_a_right_one(stand: Stand) -> None:
    browser = await stand.anybody(Origin=URL)
    for number in range(MOST):
        assert (await browser.get(f"/sign-in/callback?code={number}&state=x")).status_code == 403
    assert (await browser.get("/sign-in/callback?code=x&state=x")).status_code == 429
    back = await sign_in(await leave(browser), sub=ANN.sub)
    assert (await browser.get(back)).status_code == 200
    assert (await browser.get("/api/me")).json()["id"] == ANN.sub
