"""Formats whose lines begin with a time and go on as text: syslog, Apache, and what programs write themselves."""

import re
from datetime import datetime

from opspilot.tools.builtin.logs.levels import level_in_words, level_named
from opspilot.tools.builtin.logs.line import Clock, LogLine, parse_time, service_of_path

_MONTHS = dict(
    zip(("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), range(1, 13), strict=True)
)
"""Not `calendar.month_abbr`, which follows the machine's language; logs don't."""

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|\s?[+-]\d\d:?\d\d)?"
_PROGRAM = r"(?P<program>[^\s:\[(]{1,64})(?:\([^)\s]*\))?(?:\[(?P<pid>\d+)\])?"
_SYSLOG = re.compile(
    r"(?:<\d{1,3}>)?(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) (?P<clock>\d\d:\d\d:\d\d)"
    rf" (?P<machine>[^\s:\[\]]+) (?:{_PROGRAM}: ?)?(?P<message>.*)",
    re.DOTALL,
)
_SYSLOG_ISO = re.compile(
    rf"(?:<\d{{1,3}}>)?(?P<time>{_ISO}) (?P<machine>[^\s:\[\]]+) {_PROGRAM}: ?(?P<message>.*)", re.DOTALL
)


def parse_syslog(text: str, clock: Clock) -> LogLine | None:
    """RFC 3164, section 5.4 (`Dec 10 06:55:46 host sshd[24200]: …`), or the same with an ISO time. Service: program."""
    match = _SYSLOG.match(text)
    year_assumed = match is not None
    if match is not None:
        time = _time_without_year(match["month"], int(match["day"]), match["clock"], clock)
    else:
        match = _SYSLOG_ISO.match(text)
        if match is None or level_named(match["machine"]) is not None:
            return None
        time = parse_time(match["time"], clock)
    if time is None:
        return None
    fields = {key: match[key] for key in ("machine", "program", "pid") if match[key]}
    message = match["message"]
    return LogLine(message, time, level_in_words(message), match["program"], fields, year_assumed)


def _time_without_year(month: str, day: int, clock_text: str, clock: Clock) -> float | None:
    number = _MONTHS.get(month)
    if number is None:
        return None
    hour, minute, second = (int(part) for part in clock_text.split(":"))
    year = clock.year_of(number, day)
    if (number, day) == (2, 29):
        year -= year % 4
    try:
        return clock.seconds(datetime(year, number, day, hour, minute, min(second, 59)))  # noqa: DTZ001 - zone follows
    except ValueError:
        return None


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
    if match is None or match["month"] not in _MONTHS:
        return None
    hour, minute, second = (int(part) for part in match["clock"].split(":"))
    try:
        naive = datetime(  # noqa: DTZ001 - the clock gives it its zone
            int(match["year"]), _MONTHS[match["month"]], int(match["day"]), hour, minute, min(second, 59)
        )
    except ValueError:
        return None
    fields = {key: match[key] for key in ("module", "pid", "client") if match[key]}
    level = "debug" if match["level"].startswith("trace") else level_named(match["level"])
    return LogLine(match["message"], clock.seconds(naive), level, None, fields)


_TIMED = re.compile(
    rf"(?:(?P<origin>\S+\.log\S*) )?(?P<open>\[)?(?P<time>{_ISO})(?(open)\])[ \t|]+(?P<rest>.*)", re.DOTALL
)
_REST = re.compile(
    r"(?:(?P<pid>\d+) +)?(?:\[(?P<thread>[^\]]{1,80})\] +)?"
    r"(?:[\[(<]?(?P<level>[A-Za-z]{3,13})[\])>]?(?: *[|:-])?[ \t]+)"
    r"(?:\d+ --- )?(?:\[(?P<thread2>[^\]]{1,80})\] +)?"
    r"(?:(?P<logger>[A-Za-z_][\w.$/:-]*?)(?: +(?:-|:|\|) +|: +| (?=\[req-|\[-\])))?"
    r"(?P<message>.*)",
    re.DOTALL,
)
_REQUEST = re.compile(r"\[(?P<request>req-[0-9a-f-]{36})?[^\]]*\] ")


def parse_timed(text: str, clock: Clock) -> LogLine | None:
    """A line that begins with an ISO time: Python, Java, OpenStack (`2017-05-16 00:00:00.008 25746 INFO nova.api …`).

    The name of the file that the line came from may stand before it (`nova-api.log.1 2017-…`), and is its service.
    """
    match = _TIMED.match(text)
    if match is None:
        return None
    time = parse_time(match["time"], clock)
    service = service_of_path(match["origin"]) if match["origin"] else None
    rest = _REST.match(match["rest"])
    level = level_named(rest["level"]) if rest is not None else None
    if rest is None or level is None:
        return LogLine(match["rest"], time, level_in_words(match["rest"]), service)
    message = rest["message"]
    fields = {key: rest[key] for key in ("pid", "thread", "logger") if rest[key]}
    if rest["thread2"]:
        fields["thread"] = rest["thread2"].strip()
    request = _REQUEST.match(message)
    if request is not None and rest["logger"]:
        if request["request"]:
            fields["request"] = request["request"]
        message = message[request.end() :]
    return LogLine(message, time, level, service, fields)
