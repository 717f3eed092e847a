"""Which format a file has, found by looking at its first lines, and the reading of any line by it.

A line that its file's format doesn't know is tried with the others, and is plain text at last.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from opspilot.tools.builtin.logs.fields import parse_json, parse_logfmt
from opspilot.tools.builtin.logs.heads import parse_klog, parse_timed
from opspilot.tools.builtin.logs.levels import level_in_words
from opspilot.tools.builtin.logs.line import Clock, LogLine, Parser
from opspilot.tools.builtin.logs.syslog import parse_rfc5424, parse_syslog
from opspilot.tools.builtin.logs.web import parse_access, parse_apache_error, parse_nginx_error

FORMATS: dict[str, Parser] = {
    "json": parse_json,
    "logfmt": parse_logfmt,
    "rfc5424": parse_rfc5424,
    "syslog": parse_syslog,
    "apache-error": parse_apache_error,
    "nginx-error": parse_nginx_error,
    "access": parse_access,
    "klog": parse_klog,
    "timed": parse_timed,
}
TEXT = "text"
"""The format of a file in which no other is found."""


def detect_format(sample: Iterable[str]) -> str:
    """The format that most of these lines have, `text` when none has any."""
    hits = dict.fromkeys(FORMATS, 0)
    clock = Clock(latest=datetime(2000, 1, 1, tzinfo=UTC))
    for text in sample:
        for name, parser in FORMATS.items():
            if parser(text, clock) is not None:
                hits[name] += 1
                break
    best = max(hits, key=lambda name: hits[name])
    return best if hits[best] else TEXT


def parse_line(text: str, format_name: str, clock: Clock) -> LogLine:
    """A line of a file in this format. What no format knows is plain text, with the level that its words speak of."""
    own = FORMATS.get(format_name)
    if own is not None and (line := own(text, clock)) is not None:
        return line
    if format_name != TEXT:
        if text[:1] in (" ", "\t", ""):
            return LogLine(text)
        for parser in FORMATS.values():
            if parser is not own and (line := parser(text, clock)) is not None:
                return line
    return LogLine(text, level=level_in_words(text))
