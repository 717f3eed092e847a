"""Whatever a request holds, it is answered in a sentence, and the database is asked for nothing that none can hold.

Databases differ: SQLite fails on integers beyond 64 bits, PostgreSQL on NUL in texts. Here both are looked for, in each
parameter of each address that there is.
"""

import socket
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from sqlalchemy import event
from temporalio.client import Client

from opspilot.web.app import API, create_app
from opspilot.web.pages import PAGES
from tests.web.seeds import finished
from tests.web.serving import serving
from tests.web.stand import Stand

pytestmark = pytest.mark.asyncio(loop_scope="session")

ODD = {
    "empty": "",
    "nul": "\0",
    "nul inside": "a\0b",
    "negative": "-1",
    "beyond 64 bits": str(2**63),
    "no number to Python": "9" * 5000,
    "float": "1e400",
    "nan": "nan",
    "infinity": "-inf",
    "before the first year": "0001-01-01T00:00:00+14:00",
    "after the last year": "9999-12-31T23:59:59.999999-14:00",
    "first day": "0001-01-01",
    "last day": "9999-12-31",
    "no year": "10000-01-01T00:00:00Z",
    "epoch": "99999999999999",
    "long": "x" * 20_000,
    "quotes": "'\"`;--%_\\",
    "other scripts": "１２\u202e\u2028\U0001f980",
    "path": "../../etc/passwd",
    "cursor": "0001-01-01T00:00:00+14:00~\0",
    "shown": ",".join(["a~b~c~d~e"] * 100),
}
THERE = {"session": "talk", "run": "r1", "call": "1.1", "interrupt": "2.1#0"}


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path) as stand:
        finished(stand.desk.journal, "talk")
        yield stand


@pytest.fixture
def impossible(stand: Stand) -> Iterator[list[Any]]:
    """What some database was asked for that it can't hold: has to stay empty."""
    found: list[Any] = []

    def look(_: Any, __: Any, statement: str, parameters: Any, ___: Any, ____: Any) -> None:
        for value in parameters.values() if isinstance(parameters, dict) else parameters:
            too_large = isinstance(value, int) and abs(value) >= 2**63
            found.extend([(statement, value)] if too_large or (isinstance(value, str) and "\0" in value) else [])

    engine = stand.desk.journal._database._engine
    event.listen(engine, "before_cursor_execute", look)
    yield found
    event.remove(engine, "before_cursor_execute", look)
    assert found == []


def _parameters(dependant: Dependant) -> Iterator[tuple[str, str]]:
    """What a route reads of an address and its headers: where, and by which name."""
    for where, fields in (("query", dependant.query_params), ("header", dependant.header_params)):
        for field in fields:
            yield where, field.alias
    for inner in dependant.dependencies:
        yield from _parameters(inner)


def _routes(stand: Stand) -> list[tuple[str, APIRoute]]:
    """Every address that something can be had from."""
    pages = (*PAGES, stand.app.state.people.way.routes())
    routers = [*(("/api", router) for router in API), *(("", router) for router in pages)]
    found = [
        (prefix + route.path, route)
        for prefix, router in routers
        for route in router.routes
        if isinstance(route, APIRoute) and "GET" in (route.methods or ())
    ]
    assert len(found) > 15
    return found


@pytest.fixture
def _streams_end(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that never ends would never be seen by a client in memory."""

    async def nothing(*_: object) -> AsyncGenerator[None, None]:
        return
        yield

    async def once(*_: object) -> AsyncGenerator[None, None]:
        yield

    monkeypatch.setattr(stand.backend.live, "happenings", nothing)
    monkeypatch.setattr(stand.backend.live, "inbox_changes", once)


@pytest.mark.usefixtures("impossible", "_streams_end")
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
async def test_an_odd_parameter_of_any_page_is_refused_or_means_nothing(stand: Stand, odd: str) -> None:
    viewer = await stand.program("vic", "viewer", "approver", "operator")
    asked = 0
    for path, route in _routes(stand):
        usual = {name: value for name, value in THERE.items() if f"{{{name}}}" in path}
        tries: list[tuple[str, dict[str, str], dict[str, str]]] = [
            (_address(path, usual | {name: odd or "x"}), {}, {}) for name in usual
        ]
        for where, name in _parameters(route.dependant):
            if where == "query":
                tries.append((_address(path, usual), {name: odd}, {}))
            elif odd.isascii() and odd.isprintable():
                tries.append((_address(path, usual), {}, {name: odd}))
        for address, query, headers in tries:
            response = await viewer.get(address, params=query, headers=headers)
            assert response.status_code < 500, (address[:100], query, headers, response.text[:300])
            asked += 1
    assert asked > 40


def _address(path: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", "".join(f"%{byte:02X}" for byte in value.encode()))
    return path


@pytest.mark.usefixtures("impossible")
@pytest.mark.parametrize(
    "odd", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-01", "nan", "1e400", "-1e400", "later"]
)
@pytest.mark.parametrize("path", ["/api/numbers", "/api/sessions"])
@pytest.mark.parametrize("name", ["since", "until"])
async def test_a_moment_that_no_calendar_has_is_refused_in_a_sentence(
    stand: Stand, path: str, name: str, odd: str
) -> None:
    viewer = await stand.program("vic", "viewer")
    refused = await viewer.get(path, params={name: odd})
    assert (refused.status_code, refused.json()["code"]) == (422, "not_understood")
    assert f"query.{name}" in refused.json()["message"]


@pytest.mark.parametrize(("since", "until"), [("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z")])
async def test_the_first_and_the_last_moment_there_are_hold_everything(stand: Stand, since: str, until: str) -> None:
    viewer = await stand.program("vic", "viewer")
    listed = await viewer.get("/api/sessions", params={"since": since, "until": until})
    assert [session["id"] for session in listed.json()["sessions"]] == ["talk"]
    assert (await viewer.get("/api/numbers", params={"since": since, "until": until})).json()["runs"] == 1


BODIES = [
    ("/api/sessions", '{{"text": "x", "session": {0}}}'),
    ("/api/sessions", '{{"text": {0}, "session": "../x"}}'),
    ("/api/sessions", '{{"text": "x", "session": "talk", "id": {0}, "only": {0}, "model": {0}}}'),
    ("/api/sessions", '{{"text": "x", "limits": {{"steps": {0}, "active_seconds": {0}, "tokens": {0}}}}}'),
    ("/api/sessions/talk/messages", '{{"text": {0}, "id": "/"}}'),
    ("/api/sessions/nowhere/stop", '{{"reason": {0}}}'),
    ("/api/interrupts/talk/2.1%230/answer", '{{"action": "provide", "digest": {0}, "values": {{"a": {0}}}}}'),
    ("/api/interrupts/talk/2.1%230/answer", '{{"action": {0}, "digest": "x", "comment": {0}, "id": {0}}}'),
    ("/agui", '{{"threadId": "nowhere", "runId": "r", "messages": [{{"id": {0}, "role": "user", "content": ""}}]}}'),
    ("/agui", '{{"threadId": {0}, "runId": {0}, "messages": [], "state": {0}}}'),
    (
        "/agui",
        '{{"threadId": "talk", "runId": "r", "messages": [], "resume": [{{"interruptId": {0}, "status": {0}}}]}}',
    ),
]
VALUES = [
    '"\\u0000"', '"\\ud800"', '{"\\u0000": "\\ud800"}', "NaN", "-Infinity", "1e400", "-1", "{}", "9" * 400,
    "9" * 5000,
    "[" * 3000 + "]" * 3000,
]  # fmt: skip


@pytest.mark.usefixtures("impossible")
@pytest.mark.parametrize("value", VALUES, ids=[value[:12] for value in VALUES])
async def test_an_odd_value_in_a_body_is_refused(stand: Stand, value: str) -> None:
    boss = await stand.program("boss", "admin")
    for path, form in BODIES:
        response = await boss.post(
            path, content=form.format(value), headers={"Content-Type": "application/json", "Accept": "application/json"}
        )
        assert 400 <= response.status_code < 500, (path, form, response.status_code, response.text[:300])
        assert response.json()["message"]


FORM = b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: "
RAW = [
    b"GET /?role=\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /sessions/\xff%ff%c0%af HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET //evil.test/ HTTP/1.1\r\nHost: [::1\r\nAccept: text/html\r\n\r\n",
    b'GET / HTTP/1.1\r\nHost: a b"<>\r\nAccept: text/html\r\n\r\n',
    b"GET http://evil.test/ HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nSec-Fetch-Site: cross-site\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nCookie: opspilot-session-80=\xff.\xfe.x; a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ops_\xff\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nAccept-Language: zh;q=" + b"9" * 400 + b",\xff;q=nan\r\n\r\n",
    b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
    FORM + b"multipart/form-data; boundary=x\r\nContent-Length: 3\r\n\r\n--x",
    FORM + b"multipart/form-data\r\nContent-Length: 3\r\n\r\n--x",
    FORM + b"application/x-www-form-urlencoded\r\nContent-Length: 12\r\n\r\ntoken=%ff%00",
    b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n",
]


async def test_what_no_browser_would_send_breaks_nothing(stand: Stand) -> None:
    with serving(create_app(stand.backend, stand.app.state.people)) as url:
        where = urlsplit(url)
        for raw in RAW:
            with socket.create_connection((where.hostname, where.port), timeout=10) as connection:
                connection.sendall(raw.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
                status = connection.recv(65_536).split(b"\r\n", 1)[0]
            assert status.split(b" ")[1][:1] in {b"2", b"3", b"4"}, (raw, status)
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"{url}/sign-in")).status_code == 200
