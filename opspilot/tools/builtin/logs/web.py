"""Logs of web servers: the access log of Apache and nginx, and the error log of either."""

import re

from opspilot.tools.builtin.logs.levels import Level, level_named
from opspilot.tools.builtin.logs.line import Clock, LogLine
from opspilot.tools.builtin.logs.times import MONTHS, moment_of, time_at

_APACHE = re.compile(
    r"\[(?:[A-Z][a-z]{2} )?(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) "
    r"(?P<clock>\d\d:\d\d:\d\d)(?:\.\d+)? (?P<year>\d{4})\] "
    r"\[(?:(?P<module>[\w-]*):)?(?P<level>\w+)\] (?:\[pid (?P<pid>[^\]]*)\] )?"
    r"(?P<message>(?:\[(?:remote|client) (?P<client>[^\]]+)\] )?.*)",
    re.DOTALL,
)


def parse_apache_error(text: str, clock: Clock) -> LogLine | None:
    """Apache's error log, 2.2 (`[Sun Dec 04 04:47:44 2005] [error] …`) and 2.4 (with module, pid, client)."""
    match = _APACHE.match(text)
    if match is None or match["month"] not in MONTHS:
        return None
    hour, minute, second = (int(part) for part in match["clock"].split(":"))
    naive = moment_of(int(match["year"]), MONTHS[match["month"]], int(match["day"]), (hour, minute, second))
    if naive is None:
        return None
    fields = {key: match[key] for key in ("module", "pid", "client") if match[key]}
    level = "debug" if match["level"].startswith("trace") else level_named(match["level"])
    return LogLine(match["message"], clock.seconds(naive), level, None, fields)


_NGINX = re.compile(
    r" \[(?P<level>\w+)\] (?P<pid>\d+)#(?P<tid>\d+): (?:\*(?P<connection>\d+) )?(?P<message>.*)", re.DOTALL
)
_NGINX_DETAIL = re.compile(r', (?P<key>client|server|request|upstream|host|referrer): (?P<value>"[^"]*"|[^,]*)')


def parse_nginx_error(text: str, clock: Clock) -> LogLine | None:
    """The error log of nginx: `2026/11/30 10:00:00 [error] 7#7: *5 connect() failed …, client: 10.0.0.1, …`."""
    if text[4:5] != "/":
        return None
    time = time_at(text, 0, clock)
    match = _NGINX.match(text, time.end) if time is not None else None
    level = level_named(match["level"]) if match is not None else None
    if time is None or match is None or level is None:
        return None
    fields = {key: match[key] for key in ("pid", "tid", "connection") if match[key]}
    fields |= {detail["key"]: detail["value"].strip('"') for detail in _NGINX_DETAIL.finditer(match["message"])}
    return LogLine(match["message"], time.seconds, level, None, fields)


_ACCESS = re.compile(
    r"(?:(?P<vhost>[\w.-]+:\d{1,5}) )?(?P<client>[\w.:%-]+) \S+ (?P<user>\S+) \[(?P<time>[^\]]{20,30})\] "
    r'"(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}) (?P<bytes>\d+|-)'
    r'(?: "(?P<referrer>(?:[^"\\]|\\.)*)" "(?P<agent>(?:[^"\\]|\\.)*)")?(?P<more>.*)',
    re.DOTALL,
)
_REQUEST = re.compile(r"(?P<method>[A-Z]{3,10}) (?P<url>\S+)(?: (?P<protocol>HTTP/[\d.]+))?$")
_LONE_NUMBER = re.compile(r'(?:^|\s)"?(?P<number>\d+(?:\.\d+)?)"?(?=\s|$)')
_NAMED_TIME = re.compile(r'(?:^|\s)(?:rt|request_time|duration|time)=?:?\s?"?(?P<number>\d+(?:\.\d+)?)"?')


def parse_access(text: str, clock: Clock) -> LogLine | None:
    """The common and combined formats of Apache and nginx, with a virtual host before and a duration behind.

    What the server writes behind them is its operator's choice: a number named `rt` or `request_time`, or the first
    one alone with a decimal point, else the only whole number, is taken as `duration`, as it is written.
    """
    match = _ACCESS.match(text)
    if match is None:
        return None
    time = time_at(match["time"], 0, clock)
    if time is None:
        return None
    fields = {key: match[key] for key in ("client", "status", "referrer", "agent") if match[key] not in (None, "-", "")}
    if match["user"] != "-":
        fields["user"] = match["user"]
    fields["bytes"] = match["bytes"] if match["bytes"] != "-" else "0"
    fields["request"] = match["request"]
    if match["vhost"]:
        fields["vhost"] = match["vhost"]
    message = match["request"]
    request = _REQUEST.match(match["request"])
    if request is not None:
        path, _, query = request["url"].partition("?")
        fields |= {"method": request["method"], "path": path, "url": request["url"]}
        fields |= {"query": query} if query else {}
        fields |= {"protocol": request["protocol"]} if request["protocol"] else {}
        message = f"{request['method']} {path}"
    duration = _duration(match["more"])
    if duration:
        fields["duration"] = duration
    return LogLine(f"{message} {match['status']}", time.seconds, _level(match["status"]), None, fields)


def _level(status: str) -> Level:
    """What a status says of a request: the server's errors are errors, the client's are warnings."""
    return "error" if status >= "500" else "warning" if status >= "400" else "info"


def _duration(more: str) -> str:
    named = _NAMED_TIME.search(more)
    if named is not None:
        return named["number"]
    numbers = [number["number"] for number in _LONE_NUMBER.finditer(more)]
    with_point = [number for number in numbers if "." in number]
    return with_point[0] if with_point else numbers[0] if len(numbers) == 1 else ""
