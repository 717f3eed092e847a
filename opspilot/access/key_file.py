"""A secret in a file that only its owner can read, made by whichever process needs it first.

Two processes that come at the same time get the same secret: what is linked to its name is whole, and only the first
link is made.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from opspilot.core.errors import UsageError
from opspilot.core.signatures import KEY_BYTES
from opspilot.texts.language import text

OWNER_ONLY = 0o600
WEB_KEY = "web.key"
"""In the state folder: what a web server signs sessions with where there is no approval key."""


def load_key(path: Path) -> bytes:
    """The secret in this file. Raises `UsageError` when it can't be read or is too short to be one."""
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise UsageError(text("access.key.unreadable", path=path, why=error.strerror)) from None
    if len(key) < KEY_BYTES:
        raise UsageError(text("access.key.short", where=path, least=KEY_BYTES))
    return key


def load_or_make_key(path: Path) -> bytes:
    """The secret in this file, which is made if it is missing. Raises `UsageError` when it can't be."""
    if not path.exists():
        made = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_private(made, secrets.token_hex(KEY_BYTES).encode() + b"\n")
            with suppress(FileExistsError):
                os.link(made, path)
        except OSError as error:
            raise UsageError(text("access.key.unmade", path=path, why=error.strerror)) from None
        finally:
            with suppress(OSError):
                made.unlink(missing_ok=True)
    return load_key(path)


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that only its owner can read, down to the disk. Raises `OSError`, also when it is there."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
