"""Who else on this machine can get at a file or folder, judged by its mode. For servers and commands.

What lies in a folder that only its owner can enter is safe, whatever its own mode says.
"""

import stat
from pathlib import Path

OTHERS = stat.S_IRWXG | stat.S_IRWXO
ENTER = stat.S_IXGRP | stat.S_IXOTH


def is_open(path: Path) -> bool:
    """Whether anybody but its owner may do something with this file or folder. One that isn't there is not."""
    try:
        mode, folder_mode = path.stat().st_mode, path.parent.stat().st_mode
    except OSError:
        return False
    return bool(mode & OTHERS and (stat.S_ISDIR(mode) or folder_mode & ENTER))


def make_private(path: Path) -> None:
    """Take from everybody else what they may do with it. Raises `OSError`."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~OTHERS)
