"""What of our environment a command that we run may see: not what is ours alone, nor what looks like a secret."""

import re
from collections.abc import Collection, Mapping

_SECRET_NAME = re.compile(
    r"(?i)^OPSPILOT|^TEMPORAL_|TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|(?:^|_)(?:KEYS?|PASS|DSN)(?:_|$)"
)
_SECRET_VALUE = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
"""A password inside an address, as in `postgres://user:password@host`."""


def child_environment(ours: Mapping[str, str], passed: Collection[str] = ()) -> dict[str, str]:
    """Our environment without what is ours alone or looks like a secret, but for the names in `passed`."""
    return {
        name: value
        for name, value in ours.items()
        if name in passed or not (_SECRET_NAME.search(name) or _SECRET_VALUE.search(value))
    }
