"""Syslog: RFC 3164 without a year, the same with an ISO time, and RFC 5424 with structured data."""

import re

from opspilot.tools.builtin.logs.levels import Level, level_in_words, level_named
from opspilot.tools.builtin.logs.line import Clock, LogLine, parse_time
from opspilot.tools.builtin.logs.times import time_without_year

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|\s?[+-]\d\d:?\d\d)?"
_PROGRAM = r"(?P<program>[^\s:\[(]{1,64})(?:\([^)\s]*\))?(?:\[(?P<pid>\d+)\])?"
_PRIORITY = r"(?:<(?P<priority>\d{1,3})>)?"
_SYSLOG = re.compile(
    rf"{_PRIORITY}(?P<month>[A-Z][a-z]{{2}}) +(?P<day>\d{{1,2}}) (?P<clock>\d\d:\d\d:\d\d)"
    rf" (?P<machine>[^\s:\[\]]+) (?:{_PROGRAM}: ?)?(?P<message>.*)",
    re.DOTALL,
)
_SYSLOG_ISO = re.compile(
    rf"{_PRIORITY}(?P<time>{_ISO}) (?P<machine>[^\s:\[\]]+) {_PROGRAM}: ?(?P<message>.*)", re.DOTALL
)
_RFC5424 = re.compile(
    r"<(?P<priority>\d{1,3})>\d{1,2} (?P<time>-|\d{4}-\d\d-\d\dT\S+) (?P<machine>\S+) (?P<program>\S+) (?P<pid>\S+)"
    r' (?P<msgid>\S+) (?P<data>-|(?:\[(?:[^\]"\\]|\\.|"(?:[^"\\]|\\.)*")*\])+)(?: (?:\ufeff)?(?P<message>.*))?$',
    re.DOTALL,
)
_ELEMENT = re.compile(r'\[(?P<id>[^\s=\]"]+)(?P<parameters>(?:[^\]"\\]|\\.|"(?:[^"\\]|\\.)*")*)\]')
_PARAMETER = re.compile(r'(?P<name>[^\s=\]"]+)="(?P<value>(?:[^"\\]|\\.)*)"')

SEVERITIES: tuple[Level, ...] = ("critical", "critical", "critical", "error", "warning", "notice", "info", "debug")
"""By number: emergency, alert and critical are one level here (RFC 5424, section 6.2.1)."""


def parse_syslog(text: str, clock: Clock) -> LogLine | None:
    """RFC 3164, section 5.4 (`Dec 10 06:55:46 host sshd[24200]: …`), or the same with an ISO time. Service: program."""
    match = _SYSLOG.match(text)
    year_assumed = match is not None
    if match is not None:
        time = time_without_year(match["month"], int(match["day"]), match["clock"], clock)
    else:
        match = _SYSLOG_ISO.match(text)
        if match is None or level_named(match["machine"]) is not None:
            return None
        time = parse_time(match["time"], clock)
    if time is None:
        return None
    fields = {key: match[key] for key in ("machine", "program", "pid") if match[key]}
    message = match["message"]
    level = _severity(match["priority"]) or level_in_words(message)
    return LogLine(message, time, level, match["program"], fields, year_assumed)


def parse_rfc5424(text: str, clock: Clock) -> LogLine | None:
    """RFC 5424, section 6 (`<165>1 2003-10-11T22:14:15.003Z host app 123 ID47 [id key="value"] …`)."""
    if not text.startswith("<"):
        return None
    match = _RFC5424.match(text)
    if match is None:
        return None
    fields = {key: match[key] for key in ("machine", "program", "pid", "msgid") if match[key] != "-"}
    if match["data"] != "-":
        for element in _ELEMENT.finditer(match["data"]):
            for parameter in _PARAMETER.finditer(element["parameters"]):
                value = re.sub(r'\\(["\\\]])', r"\1", parameter["value"])
                fields.setdefault(parameter["name"], value)
                fields[f"{element['id']}.{parameter['name']}"] = value
    message = match["message"] or ""
    time = parse_time(match["time"], clock) if match["time"] != "-" else None
    return LogLine(message, time, _severity(match["priority"]), fields.get("program"), fields)


def _severity(priority: str | None) -> Level | None:
    """The level in `<165>`, whose last three bits are the severity; None when there is none."""
    return SEVERITIES[int(priority) % 8] if priority and int(priority) < 192 else None
