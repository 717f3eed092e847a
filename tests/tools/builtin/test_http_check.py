"""The tool `http_check`: what it says of a server, and that it asks none but those it may."""

import contextlib
import ipaddress
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from opspilot.tools.builtin import http_check as module
from opspilot.tools.builtin.http_check import Config
from opspilot.tools.spec import ToolError
from tests.tools.builtin.calls import BuildTool, CallTool


class Pages(BaseHTTPRequestHandler):
    """A few answers, by path."""

    seen: list[str]

    def do_GET(self) -> None:
        self.seen.append(f"{self.headers['host']}{self.path}")
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("location", self.path.removeprefix("/to/"))
            self.send_header("content-length", "0")
            self.end_headers()
            return
        if self.path == "/slow":
            time.sleep(0.6)
        status = 503 if self.path == "/down" else 200
        body = b"\x89PNG" if self.path == "/image" else b'{"state":  "up"}\n' + b"x" * 2_000
        self.send_response(status)
        self.send_header("content-type", "image/png" if self.path == "/image" else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def seen() -> list[str]:
    return []


@pytest.fixture
def server(seen: list[str]) -> Iterator[ThreadingHTTPServer]:
    handler = type("Handler", (Pages,), {"seen": seen})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def host(server: ThreadingHTTPServer) -> str:
    return f"127.0.0.1:{server.server_address[1]}"


@pytest.fixture
def check(build_tool: BuildTool, run_tool: CallTool, host: str) -> Any:
    tool = build_tool("http_check", hosts=[host], private=True, seconds=5)
    return lambda url: run_tool(tool, {"url": url})


def test_an_answer_comes_with_status_latency_and_its_beginning(check: Any, host: str, seen: list[str]) -> None:
    result = check(f"http://{host}/health")
    assert list(result)[:3] == ["ok", "status", "reason"]
    assert (result["ok"], result["status"], result["address"]) == (True, 200, "127.0.0.1")
    assert 0 < result["latency_ms"] < 5_000
    assert result["body"].startswith('{"state": "up"} xxx')
    assert len(result["body"]) == 500
    assert seen == [f"{host}/health"]


def test_a_server_error_is_an_answer_and_not_ok(check: Any, host: str) -> None:
    result = check(f"http://{host}/down")
    assert (result["ok"], result["status"]) == (False, 503)
    assert "body" not in check(f"http://{host}/image")


def test_redirects_are_followed_and_told(check: Any, host: str) -> None:
    result = check(f"http://{host}/to//health")
    assert (result["ok"], result["url"]) == (True, f"http://{host}/health")
    assert result["redirects"] == [{"status": 302, "from": f"http://{host}/to//health", "to": f"http://{host}/health"}]
    loop = check(f"http://{host}/to/" + "/to/" * 9 + "/health")
    assert (loop["ok"], loop["problem"], len(loop["redirects"])) == (False, "It redirects more than 5 times.", 5)


@pytest.mark.parametrize("target", ["http://169.254.169.254/latest", "http://other.example/", "file:///etc/passwd"])
def test_a_redirect_to_where_must_not_be_asked_is_not_followed(check: Any, host: str, target: str) -> None:
    result = check(f"http://{host}/to/{target}")
    assert result["ok"] is False
    assert result["problem"].startswith("It redirects to where must not be asked: ")


@pytest.mark.parametrize(
    "url",
    [
        "http://other.example/",
        "http://127.0.0.1:1/",
        "http://user:pass@{host}/",
        "ftp://{host}/",
        "{host}",
        "http://{host}.evil.example/",
        "http://evil.example#{host}",
        "http://evil.example/{host}",
        "http://[::1]:80/",
        "http://2130706433/",
        "http://",
        "\x00",
        "http://a b/",
    ],
)
def test_only_what_is_on_the_list_is_asked(check: Any, host: str, seen: list[str], url: str) -> None:
    with pytest.raises(ToolError, match=r"Hosts that may be asked: 127\.0\.0\.1:\d+\."):
        check(url.format(host=host))
    assert seen == []


def answers(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Names stand for these addresses."""

    def resolve(host: str, port: int, *arguments: Any, **more: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


@pytest.mark.parametrize(
    ("addresses", "private", "refused"),
    [
        (("127.0.0.1",), False, "127.0.0.1, which is private"),
        (("10.1.2.3",), False, "10.1.2.3, which is private"),
        (("93.184.216.34", "192.168.0.1"), False, "192.168.0.1, which is private"),
        (("::1",), False, "::1, which is private"),
        (("::ffff:10.0.0.1",), False, "which is private"),
        (("169.254.169.254",), True, "which is link-local"),
        (("fe80::1%eth0",), True, "which is link-local"),
        (("0.0.0.0",), True, "which is no address of one machine"),
        (("224.0.0.1",), True, "which is no address of one machine"),
    ],
)
def test_a_name_that_stands_for_an_address_that_must_not_be_asked_is_refused(
    build_tool: BuildTool,
    run_tool: CallTool,
    monkeypatch: pytest.MonkeyPatch,
    addresses: tuple[str, ...],
    private: bool,
    refused: str,
) -> None:
    answers(monkeypatch, *addresses)
    tool = build_tool("http_check", hosts=["shop.example"], private=private)
    with pytest.raises(ToolError, match=refused):
        run_tool(tool, {"url": "http://shop.example/"})


def test_the_connection_goes_to_the_very_address_that_was_looked_at(
    build_tool: BuildTool,
    run_tool: CallTool,
    monkeypatch: pytest.MonkeyPatch,
    server: ThreadingHTTPServer,
    seen: list[str],
) -> None:
    """A second look at the name, which would lead elsewhere, never happens."""
    port = server.server_address[1]
    looked: list[str] = []
    really = socket.getaddrinfo

    def resolve(host: str, *arguments: Any, **more: Any) -> list[Any]:
        looked.append(host)
        return list(really("127.0.0.1", port, type=socket.SOCK_STREAM))

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    tool = build_tool("http_check", hosts=[f"shop.example:{port}"], private=True)
    assert run_tool(tool, {"url": f"http://shop.example:{port}/x"})["ok"] is True
    assert seen == [f"shop.example:{port}/x"]
    assert [name for name in looked if name == "shop.example"] == ["shop.example"]


@pytest.mark.parametrize(
    ("allowed", "url", "may"),
    [
        ("shop.example", "https://shop.example/a", True),
        ("shop.example", "http://SHOP.example:80/a", True),
        ("shop.example", "http://shop.example./a", True),
        ("shop.example", "http://shop.example:8080/", False),
        ("shop.example", "http://a.shop.example/", False),
        ("*.shop.example", "http://a.b.shop.example/", True),
        ("*.shop.example", "http://shop.example/", False),
        ("*.shop.example", "http://evilshop.example/", False),
        ("shop.example:8443", "https://shop.example:8443/", True),
        ("shop.example:8443", "https://shop.example/", False),
        ("[2001:db8::1]", "http://[2001:db8::1]/", True),
    ],
)
def test_a_host_is_allowed_by_name_and_port(allowed: str, url: str, may: bool) -> None:
    try:
        module._allowed(url, [allowed])
    except module._Refused:
        assert not may
    else:
        assert may


def test_no_answer_is_said_with_its_reason(build_tool: BuildTool, run_tool: CallTool, host: str) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    tool = build_tool("http_check", hosts=[f"127.0.0.1:{port}", host], private=True, seconds=0.3)
    assert run_tool(tool, {"url": f"http://127.0.0.1:{port}/"})["problem"].endswith("nothing listens there.")
    assert run_tool(tool, {"url": f"http://{host}/slow"})["problem"] == "No answer within 0.3 seconds."
    assert "doesn't speak TLS" in run_tool(tool, {"url": f"https://{host}/"})["problem"]


def test_a_name_that_stands_for_nothing_is_said(
    build_tool: BuildTool, run_tool: CallTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(*arguments: Any, **more: Any) -> list[Any]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    result = run_tool(build_tool("http_check", hosts=["shop.example"]), {"url": "http://shop.example/"})
    assert result["problem"] == "The name shop.example can't be resolved (Name or service not known)."


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost that is good for 30 days, with its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl here to make a certificate with")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost/O=Shop"]
    made = subprocess.run(
        [openssl, *request, "-addext", "subjectAltName=DNS:localhost", "-keyout", str(file), "-out", f"{file}.crt"],
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    return file


def test_the_days_that_a_certificate_is_left_are_said(
    build_tool: BuildTool,
    run_tool: CallTool,
    monkeypatch: pytest.MonkeyPatch,
    server: ThreadingHTTPServer,
    certificate: Path,
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    answers(monkeypatch, "127.0.0.1")
    url = f"https://localhost:{server.server_address[1]}/"
    hosts = [f"localhost:{server.server_address[1]}"]
    trusting = build_tool("http_check", hosts=hosts, private=True, ca_file=f"{certificate}.crt")
    result = run_tool(trusting, {"url": url})
    assert result["ok"] is True
    assert result["certificate"]["days_left"] in (29, 30)
    assert result["certificate"]["issuer"] == "Shop"
    wary = build_tool("http_check", hosts=hosts, private=True)
    assert run_tool(wary, {"url": url})["problem"].startswith("The certificate of localhost is not valid: self")


@pytest.mark.parametrize("host", ["", "http://shop.example", "shop.example/", "a b", "*", "user@shop.example", "*."])
def test_a_host_that_is_none_is_refused_in_the_settings(host: str) -> None:
    with pytest.raises(ValidationError, match="is not a host"):
        Config(hosts=(host,))


def test_addresses_of_documentation_count_as_private() -> None:
    assert module._fault(ipaddress.ip_address("192.0.2.1"), private=False)
    assert not module._fault(ipaddress.ip_address("93.184.216.34"), private=False)
