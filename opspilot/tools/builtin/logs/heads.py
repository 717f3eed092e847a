"""Lines that begin with a time and go on as text, as programs write them themselves: Python, Java, Go, OpenStack."""

import re

from opspilot.tools.builtin.logs.levels import LETTERS, Level, level_in_words, level_named
from opspilot.tools.builtin.logs.line import Clock, LogLine, service_of_path
from opspilot.tools.builtin.logs.times import TimeAtStart, time_at, time_without_year

_BEFORE = re.compile(
    r"(?:(?P<origin>\S+\.log\S*) |(?P<process>\d+:[A-Z]) |[\[<(](?P<level>[A-Za-z]{1,9}) *[\])>] +)?(?P<open>\[)?"
)
_AFTER = re.compile(r"[ \t|,;:-]*")
_REST = re.compile(
    r"(?:- +)?(?:(?P<pid>\d+|\[\d+\]) +)?(?:\[(?P<thread>[^\]]{1,80})\] +)?"
    r"(?:[\[(<]?(?P<level>[A-Za-z]{3,13}) *[\])>]?(?: *[|:-])?(?:[ \t]+|(?=\[)))"
    r"(?:\d+ --- )?(?:\[(?P<thread2>[^\]]{1,80})\] *(?=\S))?"
    r"(?:(?P<logger>[A-Za-z_][\w.$/:-]*?)(?: +(?:-|:|\|) +|: +| (?=\[req-|\[-\])))?"
    r"(?P<message>.*)",
    re.DOTALL,
)
_REQUEST = re.compile(r"\[(?P<request>req-[0-9a-f-]{36})?[^\]]*\] ")
_ANDROID = re.compile(
    r" *(?P<pid>\d+) +(?P<tid>\d+) (?P<letter>[VDIWEFA]) (?P<tag>[^:]{1,80}?) *: (?P<message>.*)", re.DOTALL
)
_REDIS_MARK = re.compile(r"(?P<mark>[.\-*#]) (?P<message>.*)", re.DOTALL)
_MARKS: dict[str, Level] = {".": "debug", "-": "info", "*": "notice", "#": "warning"}
_CLUSTER = re.compile(r"\S+ (?P<epoch>\d{10}) \d{4}\.\d\d\.\d\d (?P<machine>\S+) (?P<message>.*)", re.DOTALL)


def parse_timed(text: str, clock: Clock) -> LogLine | None:
    """A line that begins with a time: Python, Java, OpenStack (`2017-05-16 00:00:00.008 25746 INFO nova.api …`).

    The name of the file that the line came from may stand before it (`nova-api.log.1 2017-…`), and is its service.
    """
    before = _BEFORE.match(text)
    if before is None:
        return None
    time = time_at(text, before.end(), clock)
    if time is None:
        return _parse_cluster(text)
    end = time.end
    if before["open"]:
        if text[end : end + 1] != "]":
            return None
        end += 1
    after = _AFTER.match(text, end)
    if after is None or (after.end() == end < len(text) and text[end] != "["):
        return None
    rest_text = text[after.end() :] if after[0].strip(" \t") != "-" or before["process"] is None else text[end + 1 :]
    service = service_of_path(before["origin"]) if before["origin"] else None
    if before["process"] is not None or before["level"] is not None:
        return _parse_marked(before, text[end:].lstrip(), rest_text, time)
    android = _ANDROID.match(rest_text) if time.year_assumed else None
    if android is not None:
        fields = {"pid": android["pid"], "tid": android["tid"], "tag": android["tag"]}
        return LogLine(android["message"], time.seconds, LETTERS[android["letter"]], None, fields, year_assumed=True)
    rest = _REST.match(rest_text)
    level = level_named(rest["level"]) if rest is not None else None
    if rest is None or level is None:
        return LogLine(rest_text, time.seconds, level_in_words(rest_text), service, year_assumed=time.year_assumed)
    message = rest["message"]
    fields = {key: rest[key].strip("[]") for key in ("pid", "thread", "logger") if rest[key]}
    if rest["thread2"]:
        fields["thread"] = rest["thread2"].strip()
    request = _REQUEST.match(message)
    if request is not None and rest["logger"]:
        if request["request"]:
            fields["request"] = request["request"]
        message = message[request.end() :]
    return LogLine(message, time.seconds, level, service, fields, time.year_assumed)


def _parse_marked(before: re.Match[str], behind: str, message: str, time: TimeAtStart) -> LogLine | None:
    """`[E] 2026-11-30 10:00:00 …`, and what Redis writes: something that isn't the time stands first."""
    if before["process"] is not None:
        return _parse_redis(behind, time.seconds, before["process"])
    level = level_named(before["level"]) or LETTERS.get(before["level"])
    return None if level is None else LogLine(message, time.seconds, level, None, year_assumed=time.year_assumed)


def _parse_redis(text: str, seconds: float, process: str) -> LogLine | None:
    """`7:M 30 Nov 2026 10:00:00.123 # Out of memory`: the mark is the level."""
    mark = _REDIS_MARK.match(text)
    if mark is None:
        return None
    return LogLine(mark["message"], seconds, _MARKS[mark["mark"]], None, {"pid": process.partition(":")[0]})


def _parse_cluster(text: str) -> LogLine | None:
    """Logs of clusters in which a label, seconds, a date and the node stand first: `- 1117838570 2005.06.03 R02 …`."""
    match = _CLUSTER.match(text)
    if match is None:
        return None
    message = match["message"]
    return LogLine(message, float(match["epoch"]), level_in_words(message), None, {"machine": match["machine"]})


_KLOG = re.compile(
    r"(?P<letter>[DIWEF])(?P<month>\d\d)(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)\.(?P<fraction>\d+) +(?P<tid>\d+) "
    r"(?P<source>[^\s\]]+:\d+)\] (?P<message>.*)",
    re.DOTALL,
)
_MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def parse_klog(text: str, clock: Clock) -> LogLine | None:
    """What Kubernetes and other programs with Google's logger write: `E1130 10:00:00.123456   1 main.go:7] …`."""
    match = _KLOG.match(text)
    if match is None or not 1 <= int(match["month"]) <= 12:
        return None
    time = time_without_year(_MONTH_NAMES[int(match["month"]) - 1], int(match["day"]), match["clock"], clock)
    if time is None:
        return None
    fields = {"tid": match["tid"], "source": match["source"]}
    seconds = time + float(f"0.{match['fraction']}")
    return LogLine(match["message"], seconds, LETTERS[match["letter"]], None, fields, year_assumed=True)
