"""Tokens by which programs, and people at another machine, are let in: a file of hashes, never of tokens.

A token is 256 random bits, so that a plain SHA-256 of it can neither be turned back nor guessed at. The file is written
as a whole under another name and then renamed: whoever reads it sees all of it, before or after.
"""

import hashlib
import hmac
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import AcquireReturnProxy, FileLock, Timeout
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from opspilot.access.key_file import write_private
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Principal
from opspilot.texts.language import text

PREFIX = "ops_"
"""By which scanners of leaked secrets can know one."""
LOCK_SECONDS = 10.0


class Token(BaseModel):
    """What is known of one token. `sha256` is of the token as text, in hexadecimal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    roles: tuple[str, ...]
    sha256: str
    created_at: datetime

    @property
    def principal(self) -> Principal:
        """Who comes with this token."""
        return Principal(self.name, self.name, self.roles, "token")


_FILE = TypeAdapter(tuple[Token, ...])


def hash_of(token: str) -> str:
    """What the file keeps of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Tokens:
    """The tokens in one file; a missing file holds none. Every method raises `UsageError` for a file it can't use."""

    file: Path

    def all(self) -> tuple[Token, ...]:
        """Oldest first."""
        try:
            return _FILE.validate_json(self.file.read_bytes())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise UsageError(text("access.tokens.unreadable", path=self.file, why=error.strerror)) from None
        except ValidationError:
            raise UsageError(text("access.tokens.spoilt", path=self.file)) from None

    def find(self, token: str) -> Token | None:
        """The token as it is known, if it is. Takes as long for a wrong one as for a right one."""
        return self.by_hash(hash_of(token))

    def by_hash(self, sha256: str) -> Token | None:
        """The token of which this is the hash, if it is still known."""
        found = None
        for known in self.all():
            if hmac.compare_digest(known.sha256.encode(), sha256.encode("utf-8", "surrogatepass")):
                found = known
        return found

    def add(self, name: str, roles: tuple[str, ...]) -> str:
        """Make a token for somebody of this name, which is who they are from then on. The only time that it is seen."""
        token = PREFIX + secrets.token_urlsafe(32)
        with self._alone():
            known = self.all()
            if any(other.name == name for other in known):
                raise UsageError(text("access.tokens.taken", name=name))
            made = Token(name=name, roles=roles, sha256=hash_of(token), created_at=datetime.now(UTC))
            self._write((*known, made))
        return token

    def remove(self, name: str) -> None:
        """Forget the token of this name; whoever signed in with it is signed out."""
        with self._alone():
            known = self.all()
            if all(other.name != name for other in known):
                raise UsageError(text("access.tokens.unknown", name=name))
            self._write(tuple(other for other in known if other.name != name))

    def _alone(self) -> AcquireReturnProxy[FileLock]:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            return FileLock(self.file.with_name(f"{self.file.name}.lock"), timeout=LOCK_SECONDS).acquire()
        except Timeout:
            raise UsageError(text("access.tokens.locked", path=self.file)) from None
        except OSError as error:
            raise UsageError(text("access.tokens.unwritable", path=self.file, why=error.strerror)) from None

    def _write(self, tokens: tuple[Token, ...]) -> None:
        made = self.file.with_name(f"{self.file.name}.{secrets.token_hex(8)}")
        lines = json.dumps([token.model_dump(mode="json") for token in tokens], ensure_ascii=False, indent=1)
        try:
            write_private(made, lines.encode() + b"\n")
            made.replace(self.file)
        except OSError as error:
            raise UsageError(text("access.tokens.unwritable", path=self.file, why=error.strerror)) from None
        finally:
            with suppress(OSError):
                made.unlink(missing_ok=True)
