"""What people call a service, and what it is called in the logs. Pure."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from opspilot.tools.builtin.logs.files import LogFile
from opspilot.tools.builtin.logs.line import service_of_path

_NEAR = 3
_MIN_PART_CHARACTERS = 3
_REFERENCE = re.compile(r"^(?:component|resource|system|api):(?:[\w.-]+/)?(?=.)")


@dataclass(frozen=True)
class OtherServices:
    """Services instead of one that isn't there: all with their lines, those whose names are near, the one surely meant.

    `services` comes with the most frequent first. `surely` is None when none or several could be meant. `certain`: all
    lines were looked at for the one that isn't there; `counted`: the lines that `services` are counted in, 0 for all.
    """

    services: tuple[tuple[str, int], ...]
    near: tuple[str, ...]
    surely: str | None
    certain: bool = True
    counted: int = 0


def normal_service(name: str) -> str:
    """A service's name without what people add to it or leave out: case, `-service`, `-svc`, separators.

    A reference of the service catalogue (`component:default/payment`) is the name in it.
    """
    plain = _REFERENCE.sub("", name.strip().lower())
    lowered = re.sub(r"[\s_.]+", "-", plain)
    return re.sub(r"-?(?:service|svc)$", "", lowered) or lowered


def unknown_service(wanted: str, seen: Counter[str], files: Iterable[LogFile]) -> OtherServices | None:
    """What there is instead of the service that was asked for; None when there is such a service."""
    name = normal_service(wanted)
    known = {normal_service(service): service for service in seen}
    if name in known or name in {normal_service(service_of_path(file.name)) for file in files}:
        return None
    parts = [known[other] for other in known if _is_part(name, other) or _is_part(other, name)]
    alike = [known[other] for other in difflib.get_close_matches(name, known, n=_NEAR, cutoff=0.6)]
    near = tuple(dict.fromkeys(parts + alike))[:_NEAR]
    sure = parts or [known[other] for other in difflib.get_close_matches(name, known, n=2, cutoff=0.8)]
    return OtherServices(tuple(seen.most_common()), near, sure[0] if len(sure) == 1 else None)


def _is_part(part: str, whole: str) -> bool:
    return len(part) >= _MIN_PART_CHARACTERS and part in whole
