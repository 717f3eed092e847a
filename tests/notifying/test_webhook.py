"""A webhook is one POST to one address: signed, in bounded time; what goes wrong is said without the secret address."""

import asyncio
import json
import logging
import re
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from opspilot.core.errors import NotificationError, UsageError
from opspilot.notifying.bodies import Template
from opspilot.notifying.message import Wording
from opspilot.notifying.signing import signing_key
from opspilot.notifying.webhook import Webhook, public_address
from tests.notifying.receiver import ASKED, SECRET_PATH, Receiver, receiving

SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
WORDING = Wording("https://ops.example")
OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def webhook(receiver: Receiver, **more: object) -> Webhook:
    return Webhook("chat", receiver.url, WORDING, **more)  # type: ignore[arg-type]


async def failure(channel: Webhook) -> str:
    """The sentence that it fails with."""
    with pytest.raises(NotificationError) as raised:
        await channel.send(ASKED)
    assert raised.value.__cause__ is None
    return str(raised.value)


async def test_people_and_programs_get_what_they_need_to_know(receiver: Receiver) -> None:
    await webhook(receiver).send(ASKED)
    (got,) = receiver.got
    assert (got.path, got.headers["content-type"]) == (SECRET_PATH, "application/json")
    body = json.loads(got.body)
    assert body["text"] == (
        "OpsPilot waits for a person: Restart payment in production?\n"
        "tool restart_service · risk high · for sre · asked for by alice · until 2026-12-01 12:00 UTC\n"
        "https://ops.example/sessions/ops-1#3.1%230"
    )
    assert body["metadata"] == {
        "event_type": "opspilot_asked",
        "event_payload": {
            "id": ASKED.id,
            "notice": "asked",
            "session": "ops-1",
            "interrupt": "3.1#0",
            "reason": "Restart payment in production?",
            "tool": "restart_service",
            "risk": "high",
            "role": "sre",
            "requester": "alice",
            "due": "2026-12-01T12:00:00+00:00",
            "link": "https://ops.example/sessions/ops-1#3.1%230",
        },
    }


async def test_a_receiver_verifies_the_signature_with_the_standards_own_library(receiver: Receiver) -> None:
    await webhook(receiver, key=signing_key(SECRET, "secret")).send(ASKED)
    (got,) = receiver.got
    assert Verifier(SECRET).verify(got.body, got.headers) == json.loads(got.body)
    assert got.headers["webhook-id"] == ASKED.id
    for body, headers in (
        (got.body.replace(b"production", b"staging"), got.headers),
        (got.body, {**got.headers, "webhook-id": "another"}),
        (got.body, {**got.headers, "webhook-timestamp": str(int(got.headers["webhook-timestamp"]) + 1)}),
    ):
        with pytest.raises(WebhookVerificationError):
            Verifier(SECRET).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Verifier("whsec_" + "QUFB" * 8).verify(got.body, got.headers)


async def test_the_receiver_of_the_documentation_knows_what_is_ours(receiver: Receiver) -> None:
    page = await asyncio.to_thread(OPERATIONS.read_text, encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    example: dict[str, Any] = {}
    exec(code, example)
    is_genuine: Callable[[str, dict[str, str], bytes], bool] = example["is_genuine"]
    await webhook(receiver, key=signing_key(SECRET, "secret")).send(ASKED)
    (got,) = receiver.got
    assert is_genuine(SECRET, got.headers, got.body)
    assert not is_genuine(SECRET, got.headers, got.body + b" ")
    assert not is_genuine("whsec_" + "QUFB" * 8, got.headers, got.body)
    await webhook(receiver, key=signing_key(SECRET, "secret"), clock=lambda: time.time() - 301).send(ASKED)
    assert not is_genuine(SECRET, receiver.got[1].headers, receiver.got[1].body)


async def test_what_was_sent_long_ago_is_not_taken_for_new(receiver: Receiver) -> None:
    await webhook(receiver, key=signing_key(SECRET, "secret"), clock=lambda: time.time() - 3600).send(ASKED)
    with pytest.raises(WebhookVerificationError, match="too old"):
        Verifier(SECRET).verify(receiver.got[0].body, receiver.got[0].headers)


async def test_a_secret_in_plain_words_is_its_own_bytes(receiver: Receiver) -> None:
    plain = "correct horse battery staple"
    await webhook(receiver, key=signing_key(plain, "secret")).send(ASKED)
    (got,) = receiver.got
    at = datetime.fromtimestamp(int(got.headers["webhook-timestamp"]), UTC)
    assert Verifier(plain.encode()).sign(ASKED.id, at, got.body.decode()) == got.headers["webhook-signature"]


async def test_without_a_secret_it_says_which_notification_it_is_and_signs_nothing(receiver: Receiver) -> None:
    await webhook(receiver).send(ASKED)
    headers = receiver.got[0].headers
    assert headers["webhook-id"] == ASKED.id
    assert "webhook-signature" not in headers


@pytest.mark.parametrize(
    ("secret", "sentence"),
    [
        ("short", "notify: the secret must have 24 bytes at least."),
        ("whsec_QUFB", "notify: the secret must have 24 bytes at least."),
        ("whsec_not base64!", "notify: what follows whsec_ in the secret must be base64."),
    ],
)
def test_what_is_no_secret_is_refused(secret: str, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        signing_key(secret, "notify")
    assert str(raised.value) == sentence


async def test_a_template_is_what_is_sent(receiver: Receiver) -> None:
    template = Template({"msgtype": "text", "text": {"content": "{reason} {link}"}, "at": [1, None, True]})
    await webhook(receiver, body=template).send(ASKED)
    assert json.loads(receiver.got[0].body) == {
        "msgtype": "text",
        "text": {"content": "Restart payment in production? https://ops.example/sessions/ops-1#3.1%230"},
        "at": [1, None, True],
    }


# ---------------------------------------------------------------- what goes wrong


async def test_nobody_answers_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}{SECRET_PATH}"
        said = await failure(Webhook("chat", url, WORDING))
    assert said.startswith(f"The webhook chat at {public_address(url)} can't be reached (")


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Takes the request and says nothing until the other side gives up."""
    handler.connection.settimeout(10)
    while handler.connection.recv(1):
        pass


def dripping(handler: BaseHTTPRequestHandler) -> None:
    """An answer that comes byte by byte and never ends: no single wait is long."""
    handler.wfile.write(b"HTTP/1.1 500 Sorry\r\n")
    try:
        while True:
            handler.wfile.write(b"x: y\r\n")
            handler.wfile.flush()
            time.sleep(0.02)
    except OSError:
        pass


@pytest.mark.parametrize("slow", [silent, dripping])
async def test_a_slow_one_is_given_up_in_bounded_time(receiver: Receiver, slow: object) -> None:
    receiver.answers = [slow]  # type: ignore[list-item]
    began = time.monotonic()
    said = await failure(webhook(receiver, seconds=0.3))
    assert said == f"The webhook chat at {public_address(receiver.url)} did not answer within 0.3 seconds."
    assert time.monotonic() - began < 3


def hanging_up(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.close()


async def test_one_that_hangs_up(receiver: Receiver) -> None:
    receiver.answers = [hanging_up]
    assert (await failure(webhook(receiver))).endswith("closed the connection before it had answered.")


@pytest.mark.parametrize(
    ("status", "said", "sentence"),
    [
        (400, b"invalid_payload", "answered 400 (invalid_payload)"),
        (404, b"<html>no such hook: tHeSecretPart4711abcdef</html>", "answered 404"),
        (410, b"channel_is_archived", "answered 410 (channel_is_archived)"),
        (429, b"", "answered 429"),
        (500, b"x" * 100_000, "answered 500"),
        (503, b"\xff\xfe", "answered 503"),
    ],
)
async def test_a_refusal_is_told_with_its_status_and_no_more_than_a_word(
    receiver: Receiver, status: int, said: bytes, sentence: str
) -> None:
    receiver.answers, receiver.said = [status], said
    assert await failure(webhook(receiver)) == f"The webhook chat at {public_address(receiver.url)} {sentence}."


@pytest.mark.parametrize(
    ("said", "minded"),
    [
        (b'{"errcode":310000,"errmsg":"keywords not in content, token tHeSecretPart4711abcdef"}', "errcode 310000"),
        (b'{"ok": false, "error": "channel_not_found"}', "ok false"),
    ],
)
async def test_a_chat_that_answers_200_and_minds_something_was_not_told(
    receiver: Receiver, said: bytes, minded: str
) -> None:
    receiver.said = said
    assert await failure(webhook(receiver)) == (
        f"The webhook chat at {public_address(receiver.url)} answered 200, but did not take it ({minded})."
    )


def slow_to_say_more(handler: BaseHTTPRequestHandler) -> None:
    """Has the message, says so, and never ends what else it says."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
    handler.wfile.write(b"o")
    handler.wfile.flush()
    silent(handler)


def breaking_off(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\no")


@pytest.mark.parametrize("answer", [slow_to_say_more, breaking_off])
async def test_whoever_has_taken_it_is_not_told_again_for_what_they_say_badly(
    receiver: Receiver, answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opspilot.notifying.webhook.READ_SECONDS", 0.1)
    receiver.answers = [answer]  # type: ignore[list-item]
    await webhook(receiver).send(ASKED)
    assert len(receiver.got) == 1


async def test_a_word_that_is_part_of_the_address_is_not_repeated() -> None:
    with receiving(Receiver(answers=[403], said=b"my_secret_hook"), "/hooks/my_secret_hook") as receiver:
        assert (await failure(webhook(receiver))).endswith("answered 403.")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(receiver: Receiver, status: int) -> None:
    with receiving() as elsewhere:
        receiver.answers, receiver.headers = [status], {"location": elsewhere.url}
        said = await failure(webhook(receiver))
        assert elsewhere.got == []
    assert said.endswith(f"answered with a redirect ({status}), which is not followed; name the final address.")


@pytest.mark.parametrize("scheme", ["ftp://", "", "http://user:hunter2@[::1"])
async def test_an_address_that_is_none_is_a_failure_like_any_other(scheme: str) -> None:
    said = await failure(Webhook("chat", f"{scheme}x/tHeSecretPart", WORDING))
    assert said.endswith(" can't be asked: its address is not valid.")
    assert "tHeSecretPart" not in said


@pytest.mark.parametrize("answer", [200, 302, 404, 500, hanging_up, silent])
async def test_the_secret_of_the_address_stands_in_no_error_and_no_log(
    receiver: Receiver, answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers = [answer]  # type: ignore[list-item]
    receiver.headers = {"location": receiver.url}
    url = receiver.url.replace("http://", "http://me:hunter2@") + "?token=s3cr3t-query"
    channel = Webhook("chat", url, WORDING, key=signing_key(SECRET, "secret"), seconds=0.3)
    for name in ("httpx", "httpcore"):
        # As the worker logs: opspilot/logging.py keeps these two at warnings.
        caplog.set_level(logging.WARNING, name)
    caplog.set_level(logging.DEBUG, "asyncio")
    said = repr(channel)
    try:
        await channel.send(ASKED)
    except NotificationError as error:
        said += f"{error} {error!r}"
    for secret in ("tHeSecretPart", "hunter2", "s3cr3t-query", SECRET, "T01ABCDEF"):
        assert secret not in said + caplog.text


async def test_a_cancelled_send_lets_go_of_the_connection(receiver: Receiver) -> None:
    receiver.answers = [silent]
    sending = asyncio.create_task(webhook(receiver).send(ASKED))
    while not receiver.got:
        await asyncio.sleep(0.01)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://hooks.slack.com/services/T/B/x", "https://hooks.slack.com"),
        ("https://me:pw@chat.example:8443/hooks/x?y=z#w", "https://chat.example:8443"),
        ("http://[::1]:8080/x", "http://[::1]:8080"),
        ("http://[::1/x", "…"),
        ("http://host:99999999/x", "…"),
    ],
)
def test_of_an_address_scheme_host_and_port_are_public(url: str, public: str) -> None:
    assert public_address(url) == public
