"""What container runtimes put around each line of a program: its time, its stream, and pieces of long lines."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What was around a line and what is in it. `partial`: the line goes on in the next one of its stream."""

    time: str
    stream: str
    partial: bool
    content: str


_CRI = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) (?P<stream>stdout|stderr) "
    r"(?P<tag>[PF])(?::\S*)?(?: (?P<content>.*))?$",
    re.DOTALL,
)
_DOCKER_KEYS = frozenset({"log", "stream", "time", "attrs"})


def unwrap_cri(text: str) -> Wrapped | None:
    """Kubernetes' container runtime interface: `2026-11-30T10:00:00.1Z stderr F words`, P for a piece of a line."""
    match = _CRI.match(text)
    return Wrapped(match["time"], match["stream"], match["tag"] == "P", match["content"] or "") if match else None


def unwrap_docker(text: str) -> Wrapped | None:
    """The json-file driver of Docker, objects with `log`, `stream` and `time`; a piece's `log` has no line feed."""
    if not text.startswith('{"'):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not {"log", "stream", "time"} <= value.keys() <= _DOCKER_KEYS:
        return None
    log = str(value["log"])
    content = log.removesuffix("\n").removesuffix("\r").encode("utf-8", "replace").decode()
    return Wrapped(str(value["time"]), str(value["stream"]), not log.endswith("\n"), content)


Unwrap = Callable[[str], Wrapped | None]
WRAPPERS: dict[str, Unwrap] = {"cri": unwrap_cri, "docker": unwrap_docker}


def detect_wrapper(sample: Iterable[str]) -> str:
    """Which wrapper most of these lines have; empty when they have none."""
    lines = [text for text in sample if text.strip()]
    for name, unwrap in WRAPPERS.items():
        if lines and sum(unwrap(text) is not None for text in lines) * 2 > len(lines):
            return name
    return ""
