"""Formats whose lines are nothing but named fields: JSON lines and logfmt."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from opspilot.tools.builtin.logs.levels import Level, level_in_words, level_named
from opspilot.tools.builtin.logs.line import Clock, LogLine, parse_time
from opspilot.tools.builtin.logs.syslog import SEVERITIES

TIME_KEYS = (
    *("time", "timestamp", "@timestamp", "ts", "datetime", "date", "asctime", "eventTime", "t", "@t"),
    *("timeMillis", "epoch", "__REALTIME_TIMESTAMP", "log.time", "created_at", "instant.epochSecond"),
)
LEVEL_KEYS = (
    *("level", "severity", "lvl", "levelname", "log.level", "loglevel", "logLevel", "severity_text", "severityText"),
    *("level_name", "log_level", "@l", "PRIORITY", "priority", "l"),
)
_MESSAGE_KEYS = (
    *("message", "msg", "event", "text", "log", "body", "short_message", "MESSAGE", "textPayload", "@m", "@mt"),
    *("jsonPayload.message", "jsonPayload.msg", "m"),
)
_SERVICE_KEYS = (
    *("service", "service.name", "service_name", "serviceName", "app", "application", "app_name", "program"),
    *("component", "container", "container_name", "kubernetes.container_name", "k8s.container.name", "job"),
    *("resource.service.name", "SYSLOG_IDENTIFIER", "_SYSTEMD_UNIT", "logger_service"),
)


def parse_json(text: str, clock: Clock) -> LogLine | None:
    """A line that is one JSON object; nested objects are known by dotted names."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    fields = _flat(value)
    if "\\u" in text:
        fields = {_encodable(key): _encodable(item) for key, item in fields.items()}
    return _from_fields(fields, clock)


def _encodable(text: str) -> str:
    """JSON can spell half of a surrogate pair, which no text that leaves this process may contain."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _flat(value: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, str]:
    fields: dict[str, str] = {}
    for key, item in value.items():
        name = prefix + key
        if isinstance(item, dict) and depth < 4:
            fields.update(_flat(item, f"{name}.", depth + 1))
        elif isinstance(item, str):
            fields[name] = item
        elif item is not None:
            fields[name] = json.dumps(item, ensure_ascii=False)
    return fields


_PAIR = re.compile(r'([A-Za-z_@][\w.@-]*)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?:\s+|$)')


def parse_logfmt(text: str, clock: Clock) -> LogLine | None:
    """A line of `key=value` pairs and nothing else, with a time, level or message among them."""
    fields: dict[str, str] = {}
    position = 0
    while (pair := _PAIR.match(text, position)) is not None and pair.end() > position:
        value = pair[2]
        fields[pair[1]] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
        position = pair.end()
    if position < len(text.rstrip()) or len(fields) < 2:
        return None
    if not any(key in fields for key in (*TIME_KEYS, *LEVEL_KEYS, *_MESSAGE_KEYS)):
        return None
    return _from_fields(fields, clock, whole=text)


def _from_fields(fields: dict[str, str], clock: Clock, whole: str = "") -> LogLine:
    message = _first(fields, _MESSAGE_KEYS)
    if message is None:
        message = whole or " ".join(f"{key}={value}" for key, value in fields.items() if key not in TIME_KEYS)
    time_text = _first(fields, TIME_KEYS)
    return LogLine(
        message=message,
        time=parse_time(time_text, clock) if time_text is not None else None,
        level=_level(fields, message),
        service=_first(fields, _SERVICE_KEYS),
        fields=fields,
    )


def _level(fields: Mapping[str, str], message: str) -> Level | None:
    text = _first(fields, LEVEL_KEYS)
    if text is None:
        return level_in_words(message)
    if len(text) == 1 and text.isdecimal() and int(text) < len(SEVERITIES):
        return SEVERITIES[int(text)]
    level = level_named(text)
    return level if level is not None else level_in_words(message)


def _first(fields: Mapping[str, str], keys: Iterable[str]) -> str | None:
    """The first of these keys that has a value; in other capitals only if none has one as it is written here."""
    for key in keys:
        found = fields.get(key)
        if found:
            return found
    if all(key.islower() for key in fields):
        return None
    lower = {key.lower(): value for key, value in fields.items() if value}
    return next((lower[key.lower()] for key in keys if key.lower() in lower), None)
