"""Who is it, did they mean it, may they: each way of knowing people, over HTTP, and everything that is refused."""

import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from structlog.testing import capture_logs
from temporalio.client import Client

from opspilot.access.links import new_link_token
from opspilot.core.errors import JournalError
from opspilot.sections.web import WebSettings
from opspilot.web.people import sessions
from opspilot.web.people.attempts import MOST
from opspilot.web.people.forgery import HEADER
from opspilot.web.people.guard import Looker
from opspilot.web.protecting import HEADERS, MOST_BODY_BYTES
from tests.web.stand import URL, Stand, behind_proxy

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOCAL = WebSettings(auth="local")
PAGE = {"Accept": "text/html"}


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path) as stand:
        yield stand


# ---------------------------------------------------------------- tokens


async def test_a_token_says_who_it_is_until_it_is_removed(stand: Stand) -> None:
    ann = await stand.program("ann", "operator", "sre")
    me = (await ann.get("/api/me")).json()
    assert (me["id"], me["roles"], me["method"], me["csrf"]) == ("ann", ["operator", "sre"], "token", "")
    assert me["rights"] == ["look", "ask", "answer"]
    stand.tokens.remove("ann")
    gone = await ann.get("/api/me")
    assert (gone.status_code, gone.json()["code"]) == (401, "sign_in_needed")
    assert gone.headers["www-authenticate"].startswith("Bearer")


async def test_nobody_is_told_to_sign_in_as_a_program_or_led_to_the_form_as_a_person(stand: Stand) -> None:
    anybody = await stand.anybody()
    assert (await anybody.get("/api/sessions")).json() == {"code": "sign_in_needed", "message": "Sign in first."}
    # The session's page, and any other that needs somebody, leads there and back.
    form = await anybody.get("/sign-in", params={"next": "/sessions/a"})
    assert (form.status_code, 'name="token"' in form.text, 'value="/sessions/a"' in form.text) == (200, True, True)


async def test_a_browser_signed_in_with_a_token_is_signed_out_when_the_token_is_removed(stand: Stand) -> None:
    bob = await stand.browser("bob", "approver")
    assert (await bob.get("/api/me")).json()["id"] == "bob"
    stand.tokens.remove("bob")
    assert (await bob.get("/api/me")).status_code == 401


async def test_after_many_wrong_tokens_the_next_has_to_wait_but_nobody_keeps_the_right_one_out(stand: Stand) -> None:
    token = stand.tokens.add("ann", ("viewer",))
    anybody = await stand.anybody(Origin=URL)
    for _ in range(MOST):
        wrong = await anybody.post("/sign-in", data={"token": "ops_wrong"})
        assert wrong.status_code == 403
    one_more = await anybody.post("/sign-in", data={"token": "ops_wrong"})
    assert (one_more.status_code, one_more.headers["retry-after"]) == (429, "60")
    elsewhere = await stand.anybody("203.0.113.9", Origin=URL)
    assert (await elsewhere.post("/sign-in", data={"token": "ops_wrong"})).status_code == 403
    # Behind one proxy everybody comes from one address.
    assert (await anybody.post("/sign-in", data={"token": token})).status_code == 303


async def test_a_file_of_tokens_that_is_spoilt_is_the_logs_business_not_that_of_whoever_knocks(stand: Stand) -> None:
    ann, bot, anybody = (
        await stand.browser("ann", "viewer"),
        await stand.program("bot", "viewer"),
        await stand.anybody(Origin=URL),
    )
    stand.tokens.file.write_text("spoilt", encoding="utf-8")
    for said in (
        await ann.get("/api/me"),
        await bot.get("/api/me"),
        await anybody.post("/sign-in", data={"token": "ops_x"}),
    ):
        assert (said.status_code, said.json()["code"]) == (503, "tokens")
        assert "tokens.json" not in said.text


async def test_without_a_role_one_is_known_and_may_do_nothing(stand: Stand) -> None:
    nobody = await stand.program("new")
    assert (await nobody.get("/api/me")).json()["rights"] == []
    refused = await nobody.get("/api/sessions")
    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")


# ---------------------------------------------------------------- sessions, and what another page may make of them


async def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(stand: Stand) -> None:
    token = stand.tokens.add("ann", ("viewer",))
    anybody = await stand.anybody()
    response = await anybody.post("/sign-in", data={"token": token, "next": "/sessions/a?x=1"})
    assert response.headers["location"] == "/sessions/a?x=1"
    cookie = response.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "max-age=43200", "path=/"))
    assert token not in cookie


async def test_by_https_the_cookie_is_for_this_host_alone_and_sent_by_https_alone(
    temporal: Client, tmp_path: Path
) -> None:
    async with Stand(temporal, tmp_path, web=WebSettings(auth="token", url="https://ops.test")) as stand:
        token = stand.tokens.add("ann", ("viewer",))
        response = await (await stand.anybody()).post("/sign-in", data={"token": token})
    assert response.headers["set-cookie"].startswith("__Host-opspilot-session=")
    assert "; secure" in response.headers["set-cookie"].lower()
    assert response.headers["strict-transport-security"].startswith("max-age=")


@pytest.mark.parametrize(
    "wanted", ["//evil.test", "https://evil.test", "/\\evil.test", "/sign-out", "x\ny", "", f"/{'a' * 4000}"]
)
async def test_signing_in_leads_nowhere_else(stand: Stand, wanted: str) -> None:
    token = stand.tokens.add("ann", ("viewer",))
    response = await (await stand.anybody()).post("/sign-in", data={"token": token, "next": wanted})
    assert (response.status_code, response.headers["location"]) == (303, "/")


async def test_a_request_of_another_page_is_refused_though_the_cookie_comes_along(stand: Stand) -> None:
    ann = await stand.browser("ann", "operator")
    token = ann.headers.pop(HEADER)
    body = {"text": ""}

    missing = await ann.post("/api/sessions", json=body)
    assert (missing.status_code, missing.json()["code"]) == (403, "csrf")
    wrong = await ann.post("/api/sessions", json=body, headers={HEADER: "0" * 64})
    assert (wrong.status_code, wrong.json()["code"]) == (403, "csrf")
    for origin in ("https://evil.test", "null", f"{URL}.evil.test", "http://ops.test:81"):
        foreign = await ann.post("/api/sessions", json=body, headers={HEADER: token, "Origin": origin})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "origin")
    # With both it gets through, to where its empty text is refused.
    meant = await ann.post("/api/sessions", json=body, headers={HEADER: token})
    assert (meant.status_code, meant.json()["code"]) == (422, "not_understood")
    # A form says it in a field.
    form = await ann.post("/sign-out", data={"csrf": token})
    assert (form.status_code, form.headers["location"]) == (303, "/signed-out")


async def test_what_repeats_the_token_of_another_session_is_refused(stand: Stand) -> None:
    ann, bob = await stand.browser("ann", "operator"), await stand.browser("bob", "operator")
    crossed = await ann.post("/api/sessions", json={"text": "x"}, headers={HEADER: bob.headers[HEADER]})
    assert (crossed.status_code, crossed.json()["code"]) == (403, "csrf")


async def test_a_sign_in_from_another_page_is_refused(stand: Stand) -> None:
    token = stand.tokens.add("eve", ("viewer",))
    response = await (await stand.anybody(Origin="https://evil.test")).post("/sign-in", data={"token": token})
    assert (response.status_code, "set-cookie" in response.headers) == (403, False)


async def test_who_signs_out_is_out_also_with_a_copy_of_the_cookie(stand: Stand) -> None:
    ann = await stand.browser("ann", "viewer")
    copy = dict(ann.cookies)
    assert (await ann.post("/sign-out")).status_code == 303
    assert (await ann.get("/api/me")).status_code == 401
    thief = await stand.anybody()
    thief.cookies.update(copy)
    assert (await thief.get("/api/me")).status_code == 401


async def test_who_signs_out_is_out_after_a_restart_and_on_every_server_of_the_journal(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "CHECK_SECONDS", 0.2)
    async with stand.another() as other:
        ann, bob = await stand.browser("ann", "viewer"), await stand.browser("bob", "viewer")
        there, elsewhere = await other.anybody(), await other.anybody()
        there.cookies.update(dict(ann.cookies))
        elsewhere.cookies.update(dict(bob.cookies))
        assert [(await client.get("/api/me")).status_code for client in (there, elsewhere)] == [200, 200]
        await ann.post("/sign-out")
        deadline = time.monotonic() + 5
        while (await there.get("/api/me")).status_code == 200:
            assert time.monotonic() < deadline
        assert (await elsewhere.get("/api/me")).status_code == 200
    async with stand.another() as restarted:
        again, kept = await restarted.anybody(), await restarted.anybody()
        again.cookies.update(dict(there.cookies))
        kept.cookies.update(dict(bob.cookies))
        assert [(await client.get("/api/me")).status_code for client in (again, kept)] == [401, 200]


async def test_of_somebody_at_work_the_journal_is_asked_now_and_then_and_of_who_is_out_never_again(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await stand.browser("ann", "viewer")
    asked: list[str] = []
    look = stand.desk.journal.is_signed_out

    def counted(id_: str) -> bool:
        asked.append(id_)
        return look(id_)

    monkeypatch.setattr(stand.desk.journal, "is_signed_out", counted)
    cookies = dict(ann.cookies)
    for _ in range(20):
        assert (await ann.get("/api/me")).status_code == 200
    assert len(asked) <= 1
    await ann.post("/sign-out")
    asked.clear()
    ann.cookies.update(cookies)
    for _ in range(5):
        assert (await ann.get("/api/me")).status_code == 401
    assert asked == []


async def test_while_nobody_can_tell_who_signed_out_nobody_is_let_in_or_told_that_they_are_out(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "CHECK_SECONDS", 0.0)
    ann = await stand.browser("ann", "viewer")
    with monkeypatch.context() as patch:
        patch.setattr(stand.desk.journal, "sign_out", _on_fire)
        refused = await ann.post("/sign-out")
        assert (refused.status_code, refused.json()["code"]) == (503, "journal")
        patch.setattr(stand.desk.journal, "is_signed_out", _on_fire)
        assert (await ann.get("/api/me")).status_code == 503
    assert (await ann.get("/api/me")).status_code == 200


def _on_fire(*_: object) -> None:
    raise JournalError("It is on fire.")


@pytest.mark.parametrize("forge", ["flip", "cut", "other"])
async def test_a_cookie_that_we_did_not_sign_is_nobodys(stand: Stand, forge: str) -> None:
    ann = await stand.browser("ann", "viewer")
    ((name, value),) = ann.cookies.items()
    forged = {"flip": value[:5] + ("A" if value[5] != "A" else "B") + value[6:], "cut": value[:-1], "other": "x.y.z"}
    thief = await stand.anybody()
    thief.cookies.set(name, forged[forge])
    assert (await thief.get("/api/me")).status_code == 401


async def test_a_session_ends_when_its_time_is_up(
    temporal: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Stand(temporal, tmp_path, web=WebSettings(auth="token", url=URL, session_minutes=1)) as stand:
        ann = await stand.browser("ann", "viewer")
        assert (await ann.get("/api/me")).status_code == 200
        later = time.time() + 62
        monkeypatch.setattr(time, "time", lambda: later)
        assert (await ann.get("/api/me")).status_code == 401


# ---------------------------------------------------------------- local


@pytest_asyncio.fixture(loop_scope="session")
async def local(temporal: Client, tmp_path: Path) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path, web=LOCAL, key=None) as stand:
        yield stand


async def test_a_link_signs_in_once_as_the_user_of_this_machine(local: Stand) -> None:
    token = new_link_token(local.state)
    first, second = await local.anybody(), await local.anybody()
    entered = await first.get("/sign-in", params={"token": token, "next": "/sessions/a"})
    assert (entered.status_code, entered.headers["location"]) == (303, "/sessions/a")
    me = (await first.get("/api/me")).json()
    assert (me["method"], me["roles"]) == ("local", ["viewer", "operator", "approver"])
    used = await second.get("/sign-in", params={"token": token}, headers=PAGE)
    assert (used.status_code, "has been used" in used.text) == (403, True)
    assert (await second.get("/api/me")).status_code == 401


async def test_a_link_of_yesterday_signs_nobody_in_and_is_gone(local: Stand) -> None:
    token = new_link_token(local.state)
    (file,) = (local.state / "sign-in").iterdir()
    os.utime(file, (1, 1))
    anybody = await local.anybody()
    assert (await anybody.get("/sign-in", params={"token": token})).status_code == 403
    assert not file.exists()


async def test_without_a_link_one_is_told_how_to_get_one(local: Stand) -> None:
    page = await (await local.anybody()).get("/sign-in", headers=PAGE)
    assert (page.status_code, "starter.py url" in page.text) == (401, True)


# ---------------------------------------------------------------- a proxy in front


PROXY = behind_proxy("127.0.0.1", "10.1.0.0/16", sre=("operator", "approver"), staff=("viewer",))
NAMED: dict[bytes, bytes] = {
    b"X-Forwarded-User": b"ann",
    b"X-Forwarded-Preferred-Username": "Änn".encode(),
    b"X-Forwarded-Groups": b"staff, sre",
}


@pytest_asyncio.fixture(loop_scope="session")
async def proxied(temporal: Client, tmp_path: Path) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path, web=PROXY) as stand:
        yield stand


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3"])
async def test_what_the_proxy_says_counts_and_groups_become_roles(proxied: Stand, address: str) -> None:
    me = (await (await proxied.anybody(address)).get("/api/me", headers=NAMED)).json()
    assert (me["id"], me["name"], me["method"]) == ("ann", "Änn", "proxy")
    assert me["roles"] == ["viewer", "operator", "approver"]


@pytest.mark.parametrize("address", ["10.2.0.1", "203.0.113.9", "::1", "testclient"])
async def test_from_anywhere_else_it_is_a_forgery(proxied: Stand, address: str) -> None:
    refused = await (await proxied.anybody(address)).get("/api/me", headers=NAMED)
    assert (refused.status_code, refused.json()["code"]) == (403, "forged")
    groups_alone = await (await proxied.anybody(address)).get("/api/me", headers={"X-Forwarded-Groups": "sre"})
    assert groups_alone.status_code == 403


async def test_a_name_that_is_given_twice_is_nobodys(proxied: Stand) -> None:
    client = await proxied.anybody()
    twice = [("X-Forwarded-User", "eve"), ("X-Forwarded-User", "ann")]
    assert (await client.get("/api/me", headers=twice)).json()["code"] == "forged"
    assert (await client.get("/api/me", headers={"X-Forwarded-Groups": "sre"})).status_code == 401


async def test_behind_a_proxy_too_another_page_changes_nothing(proxied: Stand) -> None:
    client = await proxied.anybody(**{"X-Forwarded-User": "ann", "X-Forwarded-Groups": "sre"})
    csrf = (await client.get("/api/me")).json()["csrf"]
    assert (await client.post("/api/sessions", json={"text": ""})).json()["code"] == "csrf"
    assert (await client.post("/api/sessions", json={"text": ""}, headers={HEADER: csrf})).status_code == 422
    other = {HEADER: csrf, "X-Forwarded-User": "bob"}
    assert (await client.post("/api/sessions", json={"text": ""}, headers=other)).json()["code"] == "csrf"


async def test_a_program_with_a_token_needs_no_proxy(proxied: Stand) -> None:
    token = proxied.tokens.add("bot", ("viewer",))
    client = await proxied.anybody("203.0.113.9", Authorization=f"Bearer {token}")
    assert (await client.get("/api/me")).json()["method"] == "token"


# ---------------------------------------------------------------- every request, every reply


@pytest.mark.parametrize("path", ["/api/me", "/sign-in", "/nowhere", "/static/vendor/htmx.min.js", "/api/openapi.json"])
async def test_every_reply_forbids_what_no_page_of_ours_needs(stand: Stand, path: str) -> None:
    response = await (await stand.anybody()).get(path)
    assert {name: response.headers[name] for name in HEADERS} == HEADERS
    policy = response.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "server" not in response.headers


async def test_a_body_that_is_too_large_is_refused_however_it_comes(stand: Stand) -> None:
    ann = await stand.program("ann", "operator")
    said = await ann.post("/api/sessions", json={"text": "x" * (MOST_BODY_BYTES + 1)})
    assert (said.status_code, said.json()["code"]) == (413, "too_large")

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(MOST_BODY_BYTES // 65536 + 2):
            yield b"x" * 65536

    unsaid = await ann.post("/api/sessions", content=pieces(), headers={"Content-Type": "application/json"})
    assert (unsaid.status_code, unsaid.json()["code"]) == (413, "too_large")


async def test_an_error_that_nobody_foresaw_is_a_sentence_and_a_line_in_the_log(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("the secret is hunter2")

    monkeypatch.setattr(stand.backend.journal, "find_sessions", broken)
    ann = await stand.program("ann", "viewer")
    with capture_logs() as logged:
        response = await ann.get("/api/sessions")
    assert (response.status_code, response.json()["code"]) == (500, "failed")
    (line,) = [line for line in logged if line["log_level"] == "error"]
    assert (line["event"], line["path"], line["exc_info"]) == ("a request failed", "/api/sessions", True)
    assert "hunter2" not in response.text
    assert {name: response.headers[name] for name in HEADERS} == HEADERS


async def test_sentences_are_in_the_language_of_whoever_asks(stand: Stand) -> None:
    anybody = await stand.anybody()
    for accept, sentence in (
        ("zh-CN,zh;q=0.9,en;q=0.8", "请先登录。"),
        ("de,en;q=0.7,zh;q=0.3", "Sign in first."),
        ("fr", "Sign in first."),
        ("zh;q=zero,en;q=0.1", "Sign in first."),
    ):
        response = await anybody.get("/api/me", headers={"Accept-Language": accept})
        assert response.json()["message"] == sentence


async def test_a_link_from_another_site_goes_on_from_a_page_of_ours_so_that_the_cookie_comes_along(
    stand: Stand,
) -> None:
    stand.app.add_api_route("/page", _page)
    anybody = await stand.anybody(**PAGE)
    bounced = await anybody.get("/page", params={"a": "1"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert (bounced.status_code, 'content="0;url=/page?a=1"' in bounced.text) == (200, True)
    led = await anybody.get("/page", params={"a": "1"}, headers={"Sec-Fetch-Site": "same-origin"})
    assert (led.status_code, led.headers["location"]) == (303, "/sign-in?next=%2Fpage%3Fa%3D1")


@pytest.mark.parametrize("path", ["//evil.test/a", "//evil.test", "///evil.test"])
async def test_an_address_that_looks_like_another_server_leads_to_the_front_page(stand: Stand, path: str) -> None:
    stand.app.add_api_route("/{anything:path}", _page)
    anybody = await stand.anybody(**PAGE)
    bounced = await anybody.get(f"{URL}{path}", headers={"Sec-Fetch-Site": "cross-site"})
    assert (bounced.status_code, "evil" in bounced.text) == (200, False)
    led = await anybody.get(f"{URL}{path}")
    assert (led.status_code, led.headers["location"]) == (303, "/sign-in?next=%2F")


async def _page(_: Looker) -> str:
    return "seen"


async def test_names_of_other_machines_do_not_lead_here(temporal: Client, tmp_path: Path) -> None:
    from opspilot.sections.web import LOOPBACK
    from opspilot.web.app import create_app

    async with Stand(temporal, tmp_path, web=LOCAL, key=None) as stand:
        stand.app = create_app(stand.backend, stand.app.state.people, hosts=LOOPBACK)
        client = await stand.anybody()
        for host in ("127.0.0.1:8321", "localhost", "[::1]:8321", "LOCALHOST:1"):
            assert (await client.get("/api/me", headers={"Host": host})).status_code == 401
        for host in ("evil.test", "evil.test:8321", "127.0.0.1.evil.test", ""):
            refused = await client.get("/api/me", headers={"Host": host})
            assert (refused.status_code, refused.json()["code"]) == (421, "host")
