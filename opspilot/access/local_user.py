"""Who is at this machine: its user, taken at their word."""

import getpass
import os
from collections.abc import Sequence

from opspilot.core.interrupts import Principal


def local_principal(roles: Sequence[str]) -> Principal:
    """The user of the operating system, with these roles."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = str(os.getuid())
    return Principal(user, user, tuple(roles), "local")
