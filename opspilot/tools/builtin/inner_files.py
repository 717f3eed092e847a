"""The files of a configured folder: which of them may be read, and opening one without waiting for anything."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class LeftOut(OSError):
    """A file that is not read; `strerror` says why."""


def look_at(path: Path, folder: Path) -> os.stat_result:
    """What a file that was met on a walk through the folder looks like from outside.

    Raises `LeftOut` for a link that leads out of the folder and for what is no regular file, `OSError` otherwise. The
    folder itself may be a link, and so may a file to another in the folder, as where logs are rotated.
    """
    # A walk doesn't enter folders by links, so that only the file itself can be one.
    if path.is_symlink():
        _real(path, folder)
    status = path.stat()
    _must_be_regular(status)
    return status


def open_file(path: Path, folder: Path) -> BinaryIO:
    """The file's bytes. Raises as `look_at` does; a pipe or a device, for which one might wait, is never opened."""
    real = _real(path, folder)
    _must_be_regular(real.stat())
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(real, flags)
    try:
        # Another may have taken its place meanwhile.
        _must_be_regular(os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _real(path: Path, folder: Path) -> Path:
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(folder)):
        raise LeftOut(errno.EPERM, "it is a link that leads out of the folder")
    return real


def _must_be_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise LeftOut(errno.EINVAL, "it is not a regular file")
