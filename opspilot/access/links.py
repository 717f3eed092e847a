"""One-time links by which the person at this machine signs in to the web server of their own state folder.

A link's token is good once, for an hour, and only while its file is there: the file is named by the token's hash, and
whoever manages to remove it has used it. So making and using one can be done by different processes.
"""

import secrets
import time
from contextlib import suppress
from pathlib import Path

from opspilot.access.key_file import write_private
from opspilot.access.tokens import hash_of
from opspilot.core.errors import UsageError
from opspilot.texts.language import text

LINK_SECONDS = 3600.0


def new_link_token(state: Path) -> str:
    """Make a token that signs in once. Raises `UsageError` when the folder can't be written to."""
    folder, token = _folder(state), secrets.token_urlsafe(32)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for file in folder.iterdir():
            if _age_seconds(file) > LINK_SECONDS:
                file.unlink(missing_ok=True)
        write_private(folder / hash_of(token), b"")
    except OSError as error:
        raise UsageError(text("access.link.unmade", folder=folder, why=error.strerror)) from None
    return token


def use_link_token(state: Path, token: str) -> bool:
    """Whether this token signs somebody in, now and never again."""
    file = _folder(state) / hash_of(token)
    in_time = _age_seconds(file) <= LINK_SECONDS
    try:
        file.unlink()
    except OSError:
        return False
    return in_time


def write_address(state: Path, address: str) -> None:
    """Note where the web server of this state folder is. Raises `OSError`."""
    made = _noted(state).with_suffix(f".{secrets.token_hex(8)}")
    write_private(made, address.encode())
    made.replace(_noted(state))


def forget_address(state: Path, address: str) -> None:
    """It is there no more; unless another one has taken its place."""
    if read_address(state) == address:
        with suppress(OSError):
            _noted(state).unlink()


def read_address(state: Path) -> str:
    """Where the web server of this state folder is, empty when none has said so."""
    try:
        return _noted(state).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def sign_in_url(address: str, token: str) -> str:
    """What to open in a browser."""
    return f"{address}/sign-in?token={token}"


def _folder(state: Path) -> Path:
    return state / "sign-in"


def _noted(state: Path) -> Path:
    return state / "web.address"


def _age_seconds(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except OSError:
        return float("inf")
