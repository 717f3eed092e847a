"""What a matching line is counted under: a captured group, a property, a field, or a value in its text."""

import ipaddress
import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

import regex

from opspilot.tools.builtin.logs.line import LogLine
from opspilot.tools.builtin.logs.shapes import shape_of

MAX_VALUE_CHARACTERS = 120

_NAMED_ADDRESS = re.compile(
    r"""\b(?:rhost|rip|src|client|client_ip|remote_addr|remote_ip|peer)(?:\s?[=:]\s?|\ )"?"""
    r"""(?P<address>[^\s"',;()\[\]]+)"""
)
_ADDRESSES = (
    re.compile(r"\bfrom:? \[?(?P<address>[0-9A-Fa-f:.]{3,45})(?![\w.])"),
    re.compile(r"\[(?P<address>[0-9A-Fa-f:.]{3,45})\]"),
    re.compile(r"(?<![\w.:])(?P<address>\d{1,3}(?:\.\d{1,3}){3})(?![\w.]*\d)"),
    re.compile(r"(?<![\w.:])(?P<address>[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})(?![\w.:])"),
)
"""Where an IP address stands, the surest first. Of several places of the first kind the last one counts: a user name,
which strangers choose, comes before the address that the server itself writes at the end."""
_HOST_AFTER_FROM = re.compile(r"\bfrom (?P<address>[\w-]+(?:\.[\w-]+)+)")
_SEARCHED_CHARACTERS = 4000
_ADDRESS_FIELDS = ("client", "client_ip", "remote_addr", "remote_ip", "client.ip", "source.ip", "ip", "peer", "host")
_ADDRESS_NAMES = frozenset(
    {"host", "hosts", "ip", "ips", "address", "client", "client_ip", "remote", "rhost", "source"}
)
_BUCKETS = {"minute": "%Y-%m-%dT%H:%M", "hour": "%Y-%m-%dT%H", "day": "%Y-%m-%d"}


@dataclass(frozen=True, slots=True)
class Found:
    """A matching line or entry, and where its first line stands; `at` is where in its text the match is.

    `service` is the file's when the line has none, `time` that of the line before it when it has none. `offset` is in
    bytes, from the file's beginning; `lines` are how many it has, `cause` the exception that its stack trace ends in.
    """

    line: LogLine
    text: str
    file: str
    number: int
    service: str
    time: float | None
    groups: regex.Match[str] | None = None
    at: int = 0
    offset: int = 0
    lines: int = 1
    cause: str = ""

    @property
    def shape(self) -> str:
        """The shape of its first line, and of the exception below it."""
        if self.lines == 1:
            return shape_of(self.line.message)
        head = shape_of(self.line.message.partition("\n")[0])
        return f"{head} … {shape_of(self.cause)}" if self.cause else head


def value_of(found: Found, name: str, zone: tzinfo = UTC) -> str | None:
    """The value of `name` in a line, None when it has none.

    Looked for in this order: a group of the pattern (by name or number); level, service, file, shape, minute, hour,
    day; a field of the line; for `host` and its kin the address that the line's text speaks of; `name=value` or
    `name: value` in the text.
    """
    value = group_of(found.groups, name)
    if value is None:
        value = _property(found, name.lower(), zone)
    if value is None:
        value = field_of(found.line, name)
    if value is None and name.lower() in _ADDRESS_NAMES:
        value = address_in(found.line)
    if value is None:
        value = _pair(found.text, name)
    return value[:MAX_VALUE_CHARACTERS] if value else None


def group_of(groups: regex.Match[str] | None, name: str) -> str | None:
    """What a group of the pattern captured, by its name or number."""
    if groups is None:
        return None
    if name.isdecimal() and int(name) <= len(groups.groups()):
        return groups[int(name)]
    return groups[name] if name in groups.groupdict() else None


def _property(found: Found, name: str, zone: tzinfo) -> str | None:
    if name == "level":
        return found.line.level
    if name == "service":
        return found.service
    if name == "file":
        return found.file
    if name in {"shape", "message"}:
        return found.shape
    if name == "exception":
        return found.cause.partition(":")[0] or None
    if name in _BUCKETS and found.time is not None:
        return datetime.fromtimestamp(found.time, zone).strftime(_BUCKETS[name])
    return None


def field_of(line: LogLine, name: str) -> str | None:
    """A field of a line, its name in any case."""
    if name in line.fields:
        return line.fields[name]
    wanted = name.lower()
    return next((value for key, value in line.fields.items() if key.lower() == wanted), None)


def address_in(line: LogLine) -> str | None:
    """The other machine that a line speaks of: an address field, `rhost=`, `from …`, or any IP address."""
    for key in _ADDRESS_FIELDS:
        if line.fields.get(key):
            return _without_port(line.fields[key])
    text = line.message[:_SEARCHED_CHARACTERS]
    named = _NAMED_ADDRESS.search(text)
    if named is not None and ("=" in named[0] or _is_ip(_without_port(named["address"]))):
        return _without_port(named["address"])
    for kind, places in enumerate(_ADDRESSES):
        addresses = [place["address"].rstrip(".:") for place in places.finditer(text)]
        addresses = [address for address in map(_without_port, addresses) if _is_ip(address)]
        if addresses:
            return addresses[-1 if kind == 0 else 0]
    host = _HOST_AFTER_FROM.search(text)
    return host["address"] if host is not None else None


def _without_port(address: str) -> str:
    host, colon, port = address.rpartition(":")
    return host.strip("[]") if colon and port.isdigit() and (":" not in host or host.endswith("]")) else address


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _pair(text: str, name: str) -> str | None:
    match = re.search(rf'(?i)(?<![\w.]){re.escape(name)}"?\s?[=:]\s?(?:"([^"]*)"|([^\s,;)\]}}]+))', text)
    return (match[1] if match[1] is not None else match[2]) if match is not None else None


_PAIR = re.compile(r'(?<![\w.])([A-Za-z_][\w.-]{0,60})"?\s?[=:]\s?(?:"([^"]{0,200})"|([^\s,;)\]}]{1,200}))')


def pairs_in(text: str) -> list[tuple[str, str]]:
    """The `name=value` and `name: value` in a text, from its first 4,000 characters."""
    return [(pair[1], pair[2] or pair[3] or "") for pair in _PAIR.finditer(text[:_SEARCHED_CHARACTERS])]
