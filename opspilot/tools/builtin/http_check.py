"""The tool `http_check`: a GET to a host of an allow-list: does it answer, how fast, how long is its certificate good.

Every address that a name stands for is looked at before it is connected to, and the connection goes to that very
address, so that a name can't lead into a network that it wasn't allowed for (DNS rebinding). Redirects are judged anew.
"""

import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urljoin

import httpx
from pydantic import BaseModel, ConfigDict, Field, field_validator

from opspilot.core.errors import UsageError
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode
from opspilot.tools.spec import Tool, ToolError, ToolPlace, tool

_MAX_REDIRECTS = 5
_BODY_BYTES = 16 * 1024
_BODY_CHARACTERS = 500
_HOSTS_SHOWN = 30
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(
    r"(?P<name>(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?"
)
_SAFE_HEADERS = {"user-agent": "opspilot-http-check", "accept": "*/*"}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Config(BaseModel):
    """Settings of `[tools.http_check]`.

    `hosts` may be asked: `shop.example` at its usual ports, `shop.example:8443`, `*.shop.example` for what is below it.
    """

    model_config = ConfigDict(extra="forbid")

    hosts: tuple[str, ...] = Field(min_length=1)
    private: bool = False
    """May these names stand for addresses of private networks and of this machine? Link-local ones stay refused."""
    seconds: float = Field(default=10.0, gt=0, le=60)
    """Time for one check, with all its redirects."""
    ca_file: Path | None = None
    """Certificates that are trusted besides those of the system."""

    @field_validator("hosts")
    @classmethod
    def _known_form(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for host in value:
            if _HOST.fullmatch(host) is None:
                raise ValueError(f"{host!r} is not a host: write shop.example, shop.example:8443 or *.shop.example")
        return tuple(host.lower() for host in value)


class _Refused(Exception):
    """This may not be asked. The text says why."""


class _Failed(Exception):
    """It was asked, and gave no answer. The text says why."""


@dataclass(frozen=True)
class _Answer:
    status: int
    reason: str
    milliseconds: float
    address: str
    location: str
    content_type: str
    body: str
    certificate: dict[str, Json]


def build(name: str, config: Config, place: ToolPlace) -> Tool:
    """The tool for one list of hosts."""
    trusted = ssl.create_default_context()
    if config.ca_file is not None:
        file = place.base / config.ca_file.expanduser()
        try:
            trusted.load_verify_locations(file)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(f"tools.{name}.ca_file: {file} can't be read: {error}.") from error

    def http_check(
        url: Annotated[
            str, Field(min_length=1, max_length=2000, description="The whole address, with http:// or https://.")
        ],
    ) -> dict[str, Json]:
        try:
            return _check(url, config, trusted)
        except _Refused as refused:
            hosts = ", ".join(config.hosts[:_HOSTS_SHOWN])
            raise ToolError(f"{refused} Hosts that may be asked: {hosts}.", ErrorCode.INVALID_ARGUMENTS) from refused

    shown = ", ".join(config.hosts[:_HOSTS_SHOWN])
    http_check.__doc__ = (
        "Ask a web address with GET and see whether it answers: use it to find out if a service is up, how fast it "
        "is, where it redirects to, and how long its certificate is valid.\n"
        "Returns whether it is ok (status below 400), the status, the latency in milliseconds, days left of the "
        f"certificate, and the beginning of the answer's text. Only these hosts may be asked: {shown}."
    )
    return tool(name=name, effect="read", timeout_seconds=config.seconds + 5.0)(http_check)


def _check(url: str, config: Config, trusted: ssl.SSLContext) -> dict[str, Json]:
    deadline = time.monotonic() + config.seconds
    redirects: list[Json] = []
    while True:
        try:
            answer = _ask(url, config, trusted, deadline)
        except _Refused as refused:
            if not redirects:
                raise
            return {
                "ok": False,
                "problem": f"It redirects to where must not be asked: {refused}",
                "redirects": redirects,
            }
        except _Failed as failed:
            return {"ok": False, "problem": str(failed), "url": url, **({"redirects": redirects} if redirects else {})}
        if answer.location and len(redirects) < _MAX_REDIRECTS:
            target = urljoin(url, answer.location)
            redirects.append({"status": answer.status, "from": url, "to": target})
            url = target
            continue
        return _result(url, answer, redirects)


def _result(url: str, answer: _Answer, redirects: list[Json]) -> dict[str, Json]:
    result: dict[str, Json] = {"ok": answer.status < 400 and not answer.location, "status": answer.status}
    if answer.location:
        result["problem"] = f"It redirects more than {_MAX_REDIRECTS} times."
    result |= {"reason": answer.reason, "latency_ms": round(answer.milliseconds, 1), "url": url}
    if answer.certificate:
        result["certificate"] = answer.certificate
    if redirects:
        result["redirects"] = redirects
    result |= {"address": answer.address, "content_type": answer.content_type, "body": answer.body}
    return {key: value for key, value in result.items() if value != ""}


def _ask(url: str, config: Config, trusted: ssl.SSLContext, deadline: float) -> _Answer:
    target = _allowed(url, config.hosts)
    port = target.port or _DEFAULT_PORTS[target.scheme]
    address = _address(target.host, port, private=config.private)
    left = deadline - time.monotonic()
    if left <= 0:
        raise _Failed(f"No answer within {config.seconds:g} seconds.")
    literal = f"[{address}]" if address.version == 6 else str(address)
    headers = {**_SAFE_HEADERS, "host": target.netloc.decode("ascii")}
    started = time.perf_counter()
    try:
        with (
            httpx.Client(verify=trusted, timeout=left, trust_env=False, follow_redirects=False) as client,
            client.stream(
                "GET", target.copy_with(host=literal), headers=headers, extensions={"sni_hostname": target.host}
            ) as response,
        ):
            milliseconds = (time.perf_counter() - started) * 1000
            certificate = _certificate(response)  # before the text is read: the connection may end with it
            return _Answer(
                response.status_code,
                response.reason_phrase,
                milliseconds,
                str(address),
                response.headers.get("location", "") if response.is_redirect else "",
                response.headers.get("content-type", ""),
                _beginning(response, deadline),
                certificate,
            )
    except httpx.TimeoutException as error:
        raise _Failed(f"No answer within {config.seconds:g} seconds.") from error
    except httpx.HTTPError as error:
        raise _Failed(_why(error, target.host, port)) from error


def _allowed(url: str, hosts: Sequence[str]) -> httpx.URL:
    try:
        target = httpx.URL(url.strip())
    except (httpx.InvalidURL, TypeError, ValueError) as error:
        raise _Refused(f"{url[:200]!r} is not a web address.") from error
    if target.scheme not in _DEFAULT_PORTS or not target.host:
        raise _Refused(f"{url[:200]!r} is not a whole web address with http:// or https://.")
    if target.userinfo:
        raise _Refused("An address with a user name or a password is not asked.")
    host = target.raw_host.decode("ascii").lower().rstrip(".")
    usual = target.port is None or target.port == _DEFAULT_PORTS[target.scheme]
    for allowed in hosts:
        match = _HOST.fullmatch(allowed)
        if match is None:
            continue
        name = match["name"].strip("[]")
        named = host.endswith(name[1:]) and host != name[2:] if name.startswith("*.") else host.strip("[]") == name
        port = target.port or _DEFAULT_PORTS[target.scheme]
        if named and (usual if match["port"] is None else port == int(match["port"])):
            return target
    where = host if usual else f"{host}:{target.port}"
    raise _Refused(f"{where} is not among the hosts that may be asked.")


def _address(host: str, port: int, *, private: bool) -> Address:
    """The address to connect to. Raises when any that the name stands for is one that must not be asked."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _Failed(f"The name {host} can't be resolved ({getattr(error, 'strerror', None) or error}).") from error
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    for address in addresses:
        fault = _fault(address, private=private)
        if fault:
            raise _Refused(f"{host} stands for {address}, which is {fault}.")
    if not addresses:
        raise _Failed(f"The name {host} stands for no address.")
    return addresses[0]


def _fault(address: Address, *, private: bool) -> str:
    plain: Address = getattr(address, "ipv4_mapped", None) or address
    if plain.is_link_local:
        return "link-local, where machines of clouds keep their secrets"
    if plain.is_multicast or plain.is_unspecified:
        return "no address of one machine"
    if not plain.is_global and not private:
        return "private (the setting private = true would allow it)"
    return ""


def _beginning(response: httpx.Response, deadline: float) -> str:
    """The start of a text; empty for anything else."""
    kind = response.headers.get("content-type", "").partition(";")[0].lower()
    if not (kind.startswith("text/") or kind.endswith(("json", "xml"))):
        return ""
    data = b""
    try:
        for piece in response.iter_bytes(4096):
            data += piece
            if len(data) >= _BODY_BYTES or time.monotonic() > deadline:
                break
    except httpx.HTTPError:
        pass  # what came is enough: the answer itself arrived
    text = data.decode(response.charset_encoding or "utf-8", "replace") if _known(response) else ""
    shown = " ".join(text.split())
    return shown if len(shown) <= _BODY_CHARACTERS else shown[: _BODY_CHARACTERS - 1] + "…"


def _known(response: httpx.Response) -> bool:
    try:
        "".encode(response.charset_encoding or "utf-8")
    except LookupError:
        return False
    return True


def _certificate(response: httpx.Response) -> dict[str, Json]:
    stream: Any = response.extensions.get("network_stream")
    secured = stream.get_extra_info("ssl_object") if stream is not None else None
    certificate = secured.getpeercert() if secured is not None else None
    if not certificate:
        return {}
    expires = datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
    issuer = {key: value for part in certificate.get("issuer", ()) for key, value in part}
    return {
        "days_left": (expires - datetime.now(UTC)).days,
        "expires": expires.isoformat().replace("+00:00", "Z"),
        "issuer": issuer.get("organizationName") or issuer.get("commonName") or "",
    }


def _why(error: httpx.HTTPError, host: str, port: int) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate of {host} is not valid: {cause.verify_message}."
        if isinstance(cause, ssl.SSLError):
            return f"{host}:{port} doesn't speak TLS as expected ({cause.reason or 'the handshake failed'})."
        if isinstance(cause, ConnectionRefusedError):
            return f"{host}:{port} refuses connections: nothing listens there."
        cause = cause.__cause__ or cause.__context__
    return f"{host}:{port} gave no usable answer ({error})."
