"""The files of a configured folder: which of them may be read, and opening one without waiting for anything."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class LeftOut(OSError):
    """A file that is not read; `strerror` says why."""


def look_at(path: Path) -> os.stat_result:
    """What the file looks like from outside. Raises `LeftOut` for what is no regular file, `OSError` otherwise."""
    status = path.stat()
    _must_be_regular(status)
    return status


def open_file(path: Path) -> BinaryIO:
    """The file's bytes. Raises as `look_at` does; a pipe or a device, for which one might wait, is never opened."""
    look_at(path)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        # Another may have taken its place meanwhile.
        _must_be_regular(os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _must_be_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise LeftOut(errno.EINVAL, "it is not a regular file")
